/* SPDX-License-Identifier: BSD-3-Clause */
/* See kept.h. */
#include "table/kept.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/pinned.h"

/* Threads may create and free tables of different communicators at a time. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int key = MPI_KEYVAL_INVALID;
static int users; /* of the key: those that attach() has been called for */

/* The program frees its communicator; the tables live on. */
static int on_free(MPI_Comm comm, int keyval, void *value, void *extra)
{
	(void)comm, (void)keyval, (void)extra;
	pthread_mutex_lock(&mutex);
	for (struct kept *k = value; k; k = k->next)
		k->of = MPI_COMM_NULL;
	pthread_mutex_unlock(&mutex);
	return MPI_SUCCESS;
}

static struct kept *first_of(MPI_Comm comm)
{
	struct kept *k = NULL;
	int found = 0;

	if (key == MPI_KEYVAL_INVALID ||
	    PMPI_Comm_get_attr(comm, key, (void *)&k, &found) != MPI_SUCCESS || !found)
		return NULL;
	return k;
}

static bool is_same(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

/* Allocates nothing, so that all ranks find the same. */
static struct kept *find(MPI_Comm comm, const struct topo_request *req, int64_t connections)
{
	struct kept *k;

	pthread_mutex_lock(&mutex);
	k = first_of(comm);
	while (k && !(is_same(k->asked[0], req->synthetic) && is_same(k->asked[1], req->file) &&
		      is_same(k->asked[2], req->groups) && k->connections == connections))
		k = k->next;
	if (k)
		k->tables++;
	pthread_mutex_unlock(&mutex);
	return k;
}

/* Let the communicator have k; false: the MPI reports an error. */
static bool attach(struct kept *k, MPI_Comm comm)
{
	bool ok = true;

	pin_library_of((void *)on_free);
	pthread_mutex_lock(&mutex);
	users++;
	if (key == MPI_KEYVAL_INVALID)
		ok = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_free, &key, NULL) ==
		     MPI_SUCCESS;
	if (!ok)
		key = MPI_KEYVAL_INVALID;
	k->next = first_of(comm);
	pthread_mutex_unlock(&mutex);
	/* Setting it may call on_free for the old value. */
	ok = ok && PMPI_Comm_set_attr(comm, key, k) == MPI_SUCCESS;
	pthread_mutex_lock(&mutex);
	for (struct kept *i = k; i; i = i->next)
		i->of = comm;
	pthread_mutex_unlock(&mutex);
	return ok;
}

/* The communicator has k no more. */
static void detach(struct kept *k)
{
	MPI_Comm comm = k->of;
	struct kept *first;

	if (comm == MPI_COMM_NULL || key == MPI_KEYVAL_INVALID)
		return;
	pthread_mutex_lock(&mutex);
	first = first_of(comm);
	if (first == k)
		first = k->next;
	else
		for (struct kept **at = &first; *at; at = &(*at)->next)
			if (*at == k) {
				*at = k->next;
				break;
			}
	pthread_mutex_unlock(&mutex);
	if (first)
		PMPI_Comm_set_attr(comm, key, first);
	else
		PMPI_Comm_delete_attr(comm, key);
	pthread_mutex_lock(&mutex);
	for (; first; first = first->next)
		first->of = comm;
	pthread_mutex_unlock(&mutex);
}

/* After detach(). */
static void leave_key(void)
{
	pthread_mutex_lock(&mutex);
	if (--users == 0 && key != MPI_KEYVAL_INVALID) {
		PMPI_Comm_free_keyval(&key);
		key = MPI_KEYVAL_INVALID;
	}
	pthread_mutex_unlock(&mutex);
}

static void forget(struct kept *k)
{
	for (int i = 0; i < 3; i++)
		free(k->asked[i]);
	free(k);
}

/* Without MPI. NULL: there is no memory. */
static struct kept *allocate(const struct topo_request *req)
{
	const char *asked[] = {req->synthetic, req->file, req->groups};
	struct kept *k = calloc(1, sizeof *k);
	bool ok = k != NULL;

	for (int i = 0; ok && i < 3; i++) {
		k->asked[i] = strdup(asked[i] ? asked[i] : "");
		ok = k->asked[i] != NULL;
	}
	if (k && !ok) {
		forget(k);
		return NULL;
	}
	if (k) {
		k->of = MPI_COMM_NULL;
		k->tables = 1;
	}
	return k;
}

static int make(MPI_Comm comm, const struct topo_request *req, int64_t connections,
		struct kept **to, char *err, size_t errlen)
{
	struct topo_request with = *req;
	struct kept *k = allocate(req);
	struct topo_job job;
	int rc;

	if (!k) {
		with.trouble = "out of memory";
		with.failure = TOPO_NO_MEMORY;
	} else if (!attach(k, comm)) {
		with.trouble =
		    "a table needs an attribute of its communicator, which the MPI refuses (free"
		    " keys of attributes that are not used any more)";
		with.failure = TOPO_MPI;
	}
	rc = topo_discover(comm, &with, &job, err, errlen);
	if (rc == 0) {
		k->job = job;
		k->connections = connections;
		*to = k;
		return 0;
	}
	if (k) {
		detach(k);
		leave_key();
		forget(k);
	}
	return rc;
}

int kept_take(MPI_Comm comm, const struct topo_request *req, int64_t connections, struct kept **k,
	      char *err, size_t errlen)
{
	*k = find(comm, req, connections);
	return *k ? 0 : make(comm, req, connections, k, err, errlen);
}

void kept_leave(struct kept *k, enum kept_end end)
{
	bool last;

	pthread_mutex_lock(&mutex);
	last = --k->tables == 0;
	pthread_mutex_unlock(&mutex);
	if (!last)
		return;
	if (end != KEPT_ENDED) {
		detach(k);
		leave_key();
	}
	if (end == KEPT_FREE)
		topo_job_free(&k->job);
	else
		topo_job_forget(&k->job);
	forget(k);
}
