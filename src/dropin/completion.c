/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Complete operations at a target that has to perform them, where ranks outnumber cores.
 *
 * The target may not be running, and MPICH does not yield while it waits for the target: the origin
 * looks for the answer until its time slice is over, and so do the other origins on its core, one
 * after the other, before the target runs. So this layer asks the target first: it gets a byte from
 * a window of the pool, and yields the core between the tests of that request. The answer follows
 * those to operations that were sent before. Where it overtakes one, the MPI waits as it would
 * have.
 *
 * The layer sees epochs and not operations, so an epoch without any asks, too; that costs about as
 * much as to yield to the target without a question. Targets on other nodes are not asked: it would
 * cost a round trip.
 *
 * Open MPI yields by itself where ranks outnumber cores.
 */
#include <sched.h>
#include <stdlib.h>

#include "dropin/dropin.h"

enum {
	TURNS = 2,      /* yields where no target is asked */
	MOST_ASKED = 32 /* targets, at the end of MPI_Win_lock_all */
};

#ifdef OPEN_MPI
static const bool mpi_yields = true;
#else
static const bool mpi_yields = false;
#endif

void dropin_drive(const struct window *w)
{
	int flag;

	PMPI_Iprobe(MPI_ANY_SOURCE, 0, w->pool->comm, &flag, MPI_STATUS_IGNORE);
}

/* For each rank of the pool, its rank among those of this node, or MPI_UNDEFINED. */
static void find_near(const struct pool *p, MPI_Comm node, int *near)
{
	MPI_Group all, here;

	for (int r = 0; r < p->size; r++)
		near[p->size + r] = r;
	PMPI_Comm_group(p->comm, &all);
	PMPI_Comm_group(node, &here);
	PMPI_Group_translate_ranks(all, p->size, near + p->size, here, near);
	PMPI_Group_free(&all);
	PMPI_Group_free(&here);
	near[p->rank] = MPI_UNDEFINED;
}

void completion_begin(struct pool *p)
{
	int able;
	MPI_Comm node;

	if (p->direct || mpi_yields)
		return;
	PMPI_Comm_split_type(p->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	p->near = p->crowded ? malloc(2 * (size_t)p->size * sizeof *p->near) : NULL;
	able = p->near != NULL;
	PMPI_Allreduce(MPI_IN_PLACE, &able, 1, MPI_INT, MPI_MIN, node);
	if (able &&
	    next_mpi.Win_create(&p->answer, 1, 1, MPI_INFO_NULL, node, &p->ask) == MPI_SUCCESS) {
		next_mpi.Win_lock_all(MPI_MODE_NOCHECK, p->ask);
		find_near(p, node, p->near);
	}
	PMPI_Comm_free(&node);
}

void completion_end(struct pool *p)
{
	if (p->ask != MPI_WIN_NULL) {
		next_mpi.Win_unlock_all(p->ask);
		next_mpi.Win_free(&p->ask);
	}
	free(p->near);
}

/* Wait until the targets from first to last that are on this node have answered. False: none is. */
static bool ask(const struct pool *p, int first, int last)
{
	MPI_Request requests[MOST_ASKED];
	MPI_Status statuses[MOST_ASKED];
	char answers[MOST_ASKED];
	int n = 0, done = 0;

	for (int r = first; r <= last && n < MOST_ASKED; r++)
		if (p->near[r] != MPI_UNDEFINED &&
		    PMPI_Rget(&answers[n], 1, MPI_BYTE, p->near[r], 0, 1, MPI_BYTE, p->ask,
			      &requests[n]) == MPI_SUCCESS)
			n++;
	while (PMPI_Testall(n, requests, &done, statuses) == MPI_SUCCESS && !done)
		sched_yield();
	return n > 0;
}

void completion_expect(const struct window *w, int first, int last)
{
	const struct pool *p = w->pool;

	if (w->direct || !p->crowded || first < 0 || last >= w->size ||
	    (first == p->rank && last == p->rank) ||
	    (p->ask != MPI_WIN_NULL && ask(p, first, last)))
		return;
	/* Send the operations, then yield to the target. */
	for (int i = 0; i < TURNS; i++) {
		dropin_drive(w);
		sched_yield();
	}
}
