/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of a run. */
#ifndef BENCH_TEAM_H
#define BENCH_TEAM_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* The ranks and where they are. */
struct team {
	MPI_Comm comm, node_comm;
	int rank, ranks;
	int nodes;    /* hosts, whatever option topology says */
	int *node_of; /* by rank */
};

void team_create(struct team *t);
void team_free(struct team *t);

/* A barrier that drives the MPI. Eager: look again at once. */
void team_wait(const struct team *t, bool eager);
uint64_t team_sum(const struct team *t, uint64_t value);

#endif
