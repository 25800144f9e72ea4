/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests: acquires that do not wait; and descriptors and requests of the MPI for them. */
#include "base/error.h"
#include "table/table.h"

/* What the caller's pawl_request has; all zero: no request. */
enum { TABLE, SLOT, CLAIM };

static bool is_null(const pawl_request *request)
{
	return !request->opaque[TABLE];
}

/* Tell the observers, once, of an acquire that began with the request. The slot's record of the
 * predecessor is as the acquire has left it. */
static struct observe_record tell_begin(pawl_table *t, struct client_request *q)
{
	struct lock_slot *slot = q->slot;
	const struct client_units units = {slot->first, slot->last};
	int64_t from = slot->from;
	struct observe_record r;

	if (q->told)
		r = t->observe->records[slot->index];
	else
		r = observe_begin(t->observe, slot, slot->mode, q->is_range ? &units : NULL,
				  q->site);
	q->told = true;
	slot->from = from;
	r.begin_ns = q->begin_ns;
	r.waits_before = q->waits_before;
	r.far_before = q->far_before;
	return r;
}

int call_request(pawl_table *t, uint64_t lock, int mode, const struct client_units *units,
		 bool timed, pawl_request *request, const void *site)
{
	struct client_request *q;
	uint64_t begin_ns = rma_now_ns(), never = timed ? UINT64_MAX / 4 : 0;
	int rc;

	if (t->setup.protocol->mpi)
		return error_set(PAWL_ERR_UNSUPPORTED,
				 "%s waits within the MPI: it has no requests",
				 t->setup.protocol->kind.name);
	q = client_request(&t->clients, lock, mode, units, never, &rc);
	if (!q && rc == PAWL_ERR_NOMEM)
		return error_set(rc, "out of memory for the stack of a request");
	if (!q)
		return units ? call_refused_range(t, lock, units, rc)
			     : call_refused_lock(t, lock, rc);
	q->begin_ns = begin_ns;
	q->site = site;
	q->far_before = t->observe ? rma_far_operations(&q->slot->client) : 0;
	*request = (pawl_request){{
	    [TABLE] = (uint64_t)(uintptr_t)t,
	    [SLOT] = (uint64_t)q->slot->index,
	    [CLAIM] = slots_uses(&t->clients.claims[q->slot->index]),
	}};
	return PAWL_SUCCESS;
}

int pawl_lock_iacquire(pawl_table *t, uint64_t lock, int mode, pawl_request *request)
{
	int rc;

	if (!request)
		return error_set(PAWL_ERR_ARG, "request is null");
	*request = (pawl_request){{0}};
	rc = call_check_lock(t, lock, mode);
	if (rc != PAWL_SUCCESS)
		return rc;
	return call_request(t, lock, mode, NULL,
			    t->setup.protocol->kind.capabilities & PAWL_CAP_TIMED, request,
			    OBSERVE_SITE());
}

/* NULL: *rc is the code. */
static struct client_request *find(const pawl_request *request, pawl_table **t, int *rc)
{
	struct client_request *q = NULL;
	struct lock_slot *slot;

	*t = (pawl_table *)(uintptr_t)request->opaque[TABLE];
	*rc = life_check(*t);
	if (*rc != PAWL_SUCCESS)
		return NULL;
	slot = slots_find_request(&(*t)->clients, request->opaque[SLOT], request->opaque[CLAIM]);
	if (slot)
		q = (*t)->clients.requests[slot->index];
	if (q && client_request_is_mine(q))
		return q;
	*rc =
	    error_set(PAWL_ERR_ARG, "request: it has ended already, or another thread has made it");
	return NULL;
}

/* until_ns: of a step that waits. */
static int step(pawl_request *request, enum client_step how, uint64_t until_ns, int *done)
{
	struct observe_record r = {.slot = -1};
	struct client_request *q;
	struct client_units units;
	struct lock_slot *slot;
	bool is_range;
	pawl_table *t;
	uint64_t lock;
	int rc;

	*done = 1;
	if (is_null(request))
		return PAWL_SUCCESS;
	q = find(request, &t, &rc);
	if (!q)
		return rc;
	if (q->thread_of_steps && !steps_are_over(t, q, how == CLIENT_WAIT, until_ns)) {
		*done = 0;
		return PAWL_SUCCESS;
	}
	slot = q->slot;
	lock = slot->lock;
	is_range = q->is_range;
	units = (struct client_units){slot->first, slot->last};
	if (t->observe && (how == CLIENT_WAIT || q->told))
		r = tell_begin(t, q);
	rc = how == CLIENT_WAIT ? client_request_wait(&t->clients, q, until_ns)
				: client_request_step(&t->clients, q, how);
	if (rc == CLIENT_PENDING) {
		*done = 0;
		return PAWL_SUCCESS;
	}
	*request = (pawl_request){{0}};
	if (client_has_got(rc)) {
		client_request_end(&t->clients, q);
		if (t->observe && r.slot < 0)
			r = tell_begin(t, q);
	}
	if (r.slot >= 0)
		observe_acquired(t->observe, &r, slot, rc);
	if (rc == PAWL_SUCCESS)
		return rc;
	return is_range ? call_refused_range(t, lock, &units, rc) : call_refused_lock(t, lock, rc);
}

int call_request_wait(pawl_request *request, uint64_t until_ns, int *done)
{
	return step(request, CLIENT_WAIT, until_ns, done);
}

int pawl_request_test(pawl_request *request, int *done)
{
	if (!request || !done)
		return error_set(PAWL_ERR_ARG, "%s is null", request ? "done" : "request");
	return step(request, CLIENT_LOOK, 0, done);
}

int pawl_request_wait(pawl_request *request)
{
	int done;

	if (!request)
		return error_set(PAWL_ERR_ARG, "request is null");
	return call_request_wait(request, 0, &done);
}

/* Let a thread take the steps of a request. NULL: *rc is the code. */
static struct client_request *begin_steps(const pawl_request *request, const char *name,
					  const void *result, int *rc)
{
	struct client_request *q;
	pawl_table *t;

	if (!request || !result) {
		*rc = error_set(PAWL_ERR_ARG, "%s is null", request ? name : "request");
		return NULL;
	}
	if (is_null(request)) {
		*rc =
		    error_set(PAWL_ERR_ARG, "request: it has ended, so there is nothing to await");
		return NULL;
	}
	q = find(request, &t, rc);
	if (!q)
		return NULL;
	if (!steps_may_wait(t)) {
		*rc =
		    error_set(PAWL_ERR_THREAD,
			      "a request over transport mpi is awaited by a thread that calls the"
			      " MPI: initialise it with MPI_THREAD_MULTIPLE (MPI_Init_thread), and"
			      " leave option threads at auto or multiple");
		return NULL;
	}
	if (t->observe && !q->told)
		tell_begin(t, q);
	if (steps_begin(t, q))
		return q;
	*rc = error_set(PAWL_ERR_NOMEM,
			"no descriptor, or no memory for a thread, to await a request");
	return NULL;
}

int pawl_request_fd(pawl_request *request, int *fd)
{
	int rc = PAWL_SUCCESS;
	const struct client_request *q = begin_steps(request, "fd", fd, &rc);

	if (q)
		*fd = steps_fd(q);
	return rc;
}

int pawl_request_mpi(pawl_request *request, MPI_Request *mpi)
{
	int level = MPI_THREAD_SINGLE, rc = PAWL_SUCCESS;
	struct client_request *q;

	PMPI_Query_thread(&level);
	if (level < MPI_THREAD_MULTIPLE)
		return error_set(PAWL_ERR_THREAD,
				 "a thread completes the MPI's request for a lock, which needs"
				 " MPI_THREAD_MULTIPLE; MPI was initialised with less (use"
				 " MPI_Init_thread)");
	q = begin_steps(request, "mpi", mpi, &rc);
	return q ? steps_begin_mpi(q, mpi) : rc;
}

/* leave: not to wait for the lock. */
static int cancel(pawl_request *request, bool leave)
{
	struct observe_record r = {.slot = -1};
	struct client_request *q;
	struct lock_slot *slot;
	pawl_table *t;
	uint64_t lock;
	int rc;

	if (!request)
		return error_set(PAWL_ERR_ARG, "request is null");
	if (is_null(request))
		return PAWL_SUCCESS;
	q = find(request, &t, &rc);
	if (!q)
		return rc;
	steps_end(q);
	slot = q->slot;
	lock = slot->lock;
	if (t->observe && q->told)
		r = tell_begin(t, q);
	*request = (pawl_request){{0}};
	if (leave && left_begin(t, q, &r))
		return PAWL_SUCCESS;
	rc = client_request_cancel(&t->clients, q);
	if (r.slot >= 0)
		observe_acquired(t->observe, &r, slot, PAWL_ERR_TIMEOUT);
	return rc == PAWL_SUCCESS || rc == PAWL_ERR_LEASE_LOST ? PAWL_SUCCESS
							       : call_failed_lock(t, lock, rc);
}

int pawl_request_cancel(pawl_request *request)
{
	return cancel(request, false);
}

int call_request_leave(pawl_request *request)
{
	return cancel(request, true);
}
