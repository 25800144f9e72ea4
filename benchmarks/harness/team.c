/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of the run: their nodes, and their barriers. */
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "bench.h"

void team_create(struct team *t)
{
	int first;

	MPI_Comm_dup(MPI_COMM_WORLD, &t->comm);
	MPI_Comm_rank(t->comm, &t->rank);
	MPI_Comm_size(t->comm, &t->ranks);
	MPI_Comm_split_type(t->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &t->node_comm);
	/* A node is named by its lowest rank, then by a number. */
	first = t->rank;
	MPI_Bcast(&first, 1, MPI_INT, 0, t->node_comm);
	t->node_of = malloc(sizeof *t->node_of * (size_t)t->ranks);
	MPI_Allgather(&first, 1, MPI_INT, t->node_of, 1, MPI_INT, t->comm);
	t->nodes = 0;
	for (int r = 0; r < t->ranks; r++)
		t->node_of[r] = t->node_of[r] == r ? t->nodes++ : t->node_of[t->node_of[r]];
}

void team_free(struct team *t)
{
	free(t->node_of);
	MPI_Comm_free(&t->node_comm);
	MPI_Comm_free(&t->comm);
}

/*
 * Many MPIs serve one-sided operations only inside MPI calls of the target, so a rank that is done
 * must go on calling the MPI. A rank that no other rank needs sleeps instead, to leave the cores to
 * the ranks that are measured.
 */
void team_wait(const struct team *t, bool eager)
{
	MPI_Request request;
	int done = 0;

	MPI_Ibarrier(t->comm, &request);
	for (;;) {
		MPI_Test(&request, &done, MPI_STATUS_IGNORE);
		if (done)
			return;
		if (eager)
			sched_yield();
		else
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
}

uint64_t team_sum(const struct team *t, uint64_t value)
{
	MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_UINT64_T, MPI_SUM, t->comm);
	return value;
}
