/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See server.h. This file calls MPI, because these baselines show locks by messages.
 */
#include "baselines/server/server.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

const struct server_carrier *server_carrier;

/* A server without requests polls for this long, then sleeps between polls: for an eighth of the
 * time since the last request, up to a millisecond. */
enum { ALERT_NS = 200000, NAP_SHARE = 8, NAP_MAX_NS = 1000000 };

/* ----------------------------------------------------------------------- server */

static void rest(uint64_t idle_ns)
{
	uint64_t nap = idle_ns / NAP_SHARE;

	if (idle_ns < ALERT_NS)
		sched_yield();
	else
		nanosleep(
		    &(struct timespec){.tv_nsec = (long)(nap < NAP_MAX_NS ? nap : NAP_MAX_NS)},
		    NULL);
}

static void *serve(void *arg)
{
	struct server *v = arg;
	uint64_t asked = rma_now_ns();
	struct server_request r;
	MPI_Request next;
	MPI_Status status;

	PMPI_Irecv(&r, sizeof r, MPI_BYTE, MPI_ANY_SOURCE, SERVER_REQUEST_TAG, v->comm, &next);
	while (!atomic_load_explicit(&v->stop, memory_order_acquire)) {
		int done;

		PMPI_Test(&next, &done, &status);
		if (!done) {
			rest(rma_now_ns() - asked);
			continue;
		}
		v->calls->serve(v, &r, status.MPI_SOURCE);
		asked = rma_now_ns();
		PMPI_Irecv(&r, sizeof r, MPI_BYTE, MPI_ANY_SOURCE, SERVER_REQUEST_TAG, v->comm,
			   &next);
	}
	PMPI_Cancel(&next);
	PMPI_Wait(&next, &status);
	return NULL;
}

void server_answer(const struct server *v, int rank, int tag, bool yes)
{
	int answer = yes;

	if (server_carrier) {
		server_carrier->answer(v, rank, yes);
		return;
	}
	PMPI_Send(&answer, 1, MPI_INT, rank, tag, v->comm);
}

/* The server of each home, and the number of the home's first lock there. */
static void deal_out(struct server *v, const struct lock_setup *s, int rank)
{
	const int *node = s->topo->node;

	for (int home = 0; home < s->topo->nranks; home++) {
		int before = 0;

		v->host[home] = home;
		for (int r = home - 1; r >= 0; r--) {
			if (node[r] != node[home])
				continue;
			v->host[home] = v->host[r];
			before = (int)(v->first[r] / s->block) + 1;
			break;
		}
		v->first[home] = (uint64_t)before * s->block;
		if (v->host[home] == rank)
			v->mine += s->block;
	}
}

int server_layout(struct lock_setup *s, const struct server_calls *calls)
{
	struct server *v = s->state;

	v->comm = MPI_COMM_NULL;
	v->calls = calls;
	return PAWL_SUCCESS;
}

/* Determine the ranks that serve. */
static int prepare(struct server *v, const struct lock_setup *s, void *mpi_comm, char *err,
		   size_t errlen)
{
	size_t ranks = (size_t)s->topo->nranks;
	int rank;

	if (server_carrier)
		return server_carrier->prepare(v, s, mpi_comm, err, errlen);
	if (PMPI_Comm_dup(*(MPI_Comm *)mpi_comm, &v->comm) != MPI_SUCCESS) {
		v->comm = MPI_COMM_NULL;
		snprintf(err, errlen, "MPI_Comm_dup failed");
		return PAWL_ERR_MPI;
	}
	PMPI_Comm_rank(v->comm, &rank);
	v->host = calloc(ranks, sizeof *v->host);
	v->first = calloc(ranks, sizeof *v->first);
	if (!v->host || !v->first) {
		snprintf(err, errlen, "out of memory");
		return PAWL_ERR_NOMEM;
	}
	deal_out(v, s, rank);
	return PAWL_SUCCESS;
}

int server_open(struct lock_setup *s, void *mpi_comm, char *err, size_t errlen)
{
	struct server *v = s->state;
	int rc = prepare(v, s, mpi_comm, err, errlen);

	if (rc != PAWL_SUCCESS || !v->mine)
		return rc;
	if (!v->calls->create(v, s)) {
		snprintf(err, errlen, "out of memory");
		return PAWL_ERR_NOMEM;
	}
	v->serves = !server_carrier && pthread_create(&v->thread, NULL, serve, v) == 0;
	if (v->serves || server_carrier)
		return PAWL_SUCCESS;
	snprintf(err, errlen, "%s could not start the thread that answers its clients",
		 s->protocol->kind.name);
	return PAWL_ERR_NOMEM;
}

void server_halt(struct lock_setup *s)
{
	struct server *v = s->state;

	if (!v->serves)
		return;
	atomic_store_explicit(&v->stop, true, memory_order_release);
	pthread_join(v->thread, NULL);
	v->serves = false;
}

void server_close(struct lock_setup *s)
{
	struct server *v = s->state;

	server_halt(s);
	if (server_carrier)
		server_carrier->close(v);
	if (v->comm != MPI_COMM_NULL)
		PMPI_Comm_free(&v->comm);
	free(v->host);
	free(v->first);
	v->calls->destroy(v);
}

/* ---------------------------------------------------------------------- clients */

bool server_ask(const struct lock_setup *s, struct lock_slot *slot, int what, int cancel)
{
	const struct server *v = s->state;
	struct rma_pause p = {.deadline_ns = cancel == SERVER_NO_CANCEL ? 0 : slot->deadline_ns};
	struct server_request r = {
	    .first = slot->first,
	    .last = slot->last,
	    .what = what,
	    .tag = SERVER_FIRST_TAG + slot->index,
	};
	MPI_Request answer;
	int home, yes = 0, done;

	lock_home(s, slot->lock, &home, &r.index);
	r.index += v->first[home];
	if (server_carrier)
		return server_carrier->ask(v, slot, v->host[home], &r);
	PMPI_Irecv(&yes, 1, MPI_INT, v->host[home], r.tag, v->comm, &answer);
	PMPI_Send(&r, sizeof r, MPI_BYTE, v->host[home], SERVER_REQUEST_TAG, v->comm);
	for (PMPI_Test(&answer, &done, MPI_STATUS_IGNORE); !done;
	     PMPI_Test(&answer, &done, MPI_STATUS_IGNORE)) {
		if (rma_pause(&slot->client, &p, "the server's answer"))
			continue;
		p.deadline_ns = 0;
		r.what = cancel;
		PMPI_Send(&r, sizeof r, MPI_BYTE, v->host[home], SERVER_REQUEST_TAG, v->comm);
	}
	return yes;
}
