/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Complete operations at a target that has to perform them, where ranks outnumber cores.
 *
 * The target may not be running, and MPICH does not yield while it waits for the target: the origin
 * looks for the answer until its time slice is over, and so do the other origins on its core, one
 * after the other, before the target runs. So this layer asks the target first: it gets a byte from
 * a window of the pool, and yields the core between the tests of that request. The answer comes
 * after the answers to operations that were sent before, unless it overtakes one; then the MPI
 * waits as it would have.
 *
 * The layer sees epochs and not operations, so it asks at the end of an epoch without operations,
 * too. There the MPI would not wait, and the target may be computing, or be waiting for this
 * process. So the layer waits for PATIENT_NS at most, keeps the request, and does not ask that
 * target again before it has answered.
 *
 * Targets on other nodes are not asked: it would cost a round trip. No target is asked where
 * the MPI yields by itself (DROPIN_YIELDS), or after accumulates that the layer has performed
 * (atomics/): the process then mostly has issued nothing else.
 */
#include <sched.h>
#include <stdlib.h>

#include "base/agree.h"
#include "base/ranks.h"
#include "dropin/dropin.h"

enum {
	TURNS = 2,             /* yields where no target is asked */
	MOST_ASKED = 32,       /* at once: the first ones, at the end of MPI_Win_lock_all */
	PATIENT_NS = 10000000, /* two time slices */
};

/* For each rank of the pool. */
struct probe {
	int rank;            /* among those of this node; MPI_UNDEFINED: not to be asked */
	char answer;         /* where its byte goes */
	bool waits;          /* the request has not been answered */
	MPI_Request request; /* of the last probe */
};

struct prober {
	MPI_Win win; /* of the ranks of this node */
	char byte;   /* the memory of that window */
	pthread_mutex_t mutex;
	struct probe to[];
};

void dropin_drive(const struct window *w)
{
	int flag;

	PMPI_Iprobe(MPI_ANY_SOURCE, 0, w->pool->comm, &flag, MPI_STATUS_IGNORE);
}

/* ------------------------------------------------------------- the window */

static struct prober *prober_new(const struct pool *p, MPI_Comm node)
{
	struct prober *a = calloc(1, sizeof *a + (size_t)p->size * sizeof a->to[0]);
	int n, *ranks = ranks_in(p->comm, node, &n);

	if (!a || !ranks) {
		free(a);
		free(ranks);
		return NULL;
	}
	for (int r = 0; r < p->size; r++)
		a->to[r] = (struct probe){
		    .rank = r == p->rank ? MPI_UNDEFINED : ranks[r],
		    .request = MPI_REQUEST_NULL,
		};
	free(ranks);
	pthread_mutex_init(&a->mutex, NULL);
	return a;
}

/* The ranks of a node ask each other if they all can. */
static struct prober *prober_among(const struct pool *p, MPI_Comm node)
{
	struct prober *a = p->crowded ? prober_new(p, node) : NULL;
	bool made;

	if (!all_agree(node, a != NULL)) {
		free(a);
		return NULL;
	}
	made = next_mpi.Win_create(&a->byte, 1, 1, MPI_INFO_NULL, node, &a->win) == MPI_SUCCESS;
	if (made)
		PMPI_Win_set_errhandler(a->win, MPI_ERRORS_RETURN);
	made = made && next_mpi.Win_lock_all(MPI_MODE_NOCHECK, a->win) == MPI_SUCCESS;
	/* A window that some ranks have cannot be freed. */
	return all_agree(node, made) ? a : NULL;
}

void completion_begin(struct pool *p)
{
	int crowded = p->crowded;
	MPI_Comm node;

	if (p->direct || DROPIN_YIELDS)
		return;
	PMPI_Allreduce(MPI_IN_PLACE, &crowded, 1, MPI_INT, MPI_MAX, p->comm);
	if (!crowded)
		return;
	/* The program can do without. The new communicator inherits this. */
	PMPI_Comm_set_errhandler(p->comm, MPI_ERRORS_RETURN);
	if (!all_agree(p->comm, PMPI_Comm_split_type(p->comm, MPI_COMM_TYPE_SHARED, 0,
						     MPI_INFO_NULL, &node) == MPI_SUCCESS))
		return;
	p->prober = prober_among(p, node);
	PMPI_Comm_free(&node);
}

void completion_end(struct pool *p)
{
	struct prober *a = p->prober;

	if (!a)
		return;
	for (int r = 0; r < p->size; r++)
		PMPI_Wait(&a->to[r].request, MPI_STATUS_IGNORE);
	next_mpi.Win_unlock_all(a->win);
	next_mpi.Win_free(&a->win);
	pthread_mutex_destroy(&a->mutex);
	free(a);
}

/* --------------------------------------------------------------- probing */

static bool is_answered(struct probe *q)
{
	int done;

	if (q->waits && (PMPI_Test(&q->request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done))
		q->waits = false;
	return !q->waits;
}

/* Ask a target that is to be asked and owes no answer. */
static bool ask(const struct prober *a, struct probe *q)
{
	if (q->rank == MPI_UNDEFINED || !is_answered(q))
		return false;
	q->waits = PMPI_Rget(&q->answer, 1, MPI_BYTE, q->rank, 0, 1, MPI_BYTE, a->win,
			     &q->request) == MPI_SUCCESS;
	return q->waits;
}

/* Ask the targets from first to last, and wait for their answers. False: none was to be asked. */
static bool await_answers(struct prober *a, int first, int last)
{
	struct probe *to[MOST_ASKED];
	const uint64_t end = report_now() + PATIENT_NS;
	bool some, waited = false;
	int n = 0;

	for (int r = first; r <= last && n < MOST_ASKED; r++)
		if (ask(a, &a->to[r]))
			to[n++] = &a->to[r];
	some = n > 0;
	for (;;) {
		for (int i = n - 1; i >= 0; i--)
			if (is_answered(to[i]))
				to[i] = to[--n];
		if (n == 0 || (waited && report_now() > end))
			return some;
		sched_yield();
		waited = true;
	}
}

void completion_expect(struct window *w, int first, int last)
{
	const unsigned char asks = atomic_load_explicit(&w->asks, memory_order_relaxed);
	const struct pool *p = w->pool;
	bool asked = false;

	if (asks == ASK_NEVER)
		return;
	if (asks == ASK_NEXT)
		atomic_store_explicit(&w->asks, ASK, memory_order_relaxed);
	if (asks == ASK_NEXT || first < 0 || last >= w->size ||
	    (first == p->rank && last == p->rank))
		return;
	if (p->prober && pthread_mutex_trylock(&p->prober->mutex) == 0) {
		asked = await_answers(p->prober, first, last);
		pthread_mutex_unlock(&p->prober->mutex);
	}
	/* Send the operations, then yield to the target. */
	for (int i = 0; !asked && i < TURNS; i++) {
		dropin_drive(w);
		sched_yield();
	}
}
