/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The times of operations on a window of the application: one of MPI_Win_allocate in an epoch of
 * MPI_Win_lock_all, an operation and its MPI_Win_flush, between the pairs of ranks that probe.c
 * chose. Locks use other words (NODE words are CPU atomics), so these times may be much longer
 * than those of locks.
 */
#include <string.h>

#include "info.h"

enum { WINDOW_BYTES = 64 };

struct target {
	MPI_Win win;
	int rank;
};

static void operate(void *arg, enum info_op op)
{
	const struct target *t = arg;
	int64_t one = 1, two = 2, result;

	switch (op) {
	case OP_FETCH_ADD:
		MPI_Fetch_and_op(&one, &result, MPI_INT64_T, t->rank, 0, MPI_SUM, t->win);
		break;
	case OP_SWAP:
		MPI_Fetch_and_op(&one, &result, MPI_INT64_T, t->rank, 0, MPI_REPLACE, t->win);
		break;
	case OP_CAS:
		MPI_Compare_and_swap(&two, &one, &result, MPI_INT64_T, t->rank, 0, t->win);
		break;
	case OP_PUT:
		MPI_Put(&one, 1, MPI_INT64_T, t->rank, 0, 1, MPI_INT64_T, t->win);
		break;
	default:
		MPI_Get(&result, 1, MPI_INT64_T, t->rank, 0, 1, MPI_INT64_T, t->win);
	}
	MPI_Win_flush(t->rank, t->win); /* completes the operation, which is what is measured */
}

static void measure(struct info_path *p, MPI_Win win, int rank, MPI_Comm comm)
{
	struct target t = {win, p->to};

	info_meet(comm, true);
	for (int op = 0; rank == p->from && op < OPS; op++)
		p->ns[op] = info_round_trip(operate, &t, (enum info_op)op, 1);
	info_meet(comm, rank == p->to || rank == p->from);
	MPI_Bcast(p->ns, OPS, MPI_DOUBLE, p->from, comm);
}

/* A pair for each class. */
static void choose(struct info *in)
{
	for (int i = 0; i < in->npaths; i++) {
		const struct info_path *p = &in->path[i];

		if (in->nwindows && strcmp(in->window[in->nwindows - 1].between, p->between) == 0)
			continue;
		in->window[in->nwindows++] =
		    (struct info_path){.between = p->between, .from = p->from, .to = p->to};
	}
}

/* The first trap of the job in which windows fail or are wrong, found by rank 0. */
static bool is_trapped(struct info *in, MPI_Comm comm)
{
	int trapped = -1, n = traps_find(&in->job, in->traps);

	for (int i = 0; i < n && trapped < 0; i++)
		if (in->traps[i].grave && strncmp(in->traps[i].name, "openmpi-osc", 11) == 0)
			trapped = i;
	MPI_Bcast(&trapped, 1, MPI_INT, 0, comm);
	if (trapped >= 0)
		in->no_windows = in->traps[trapped].name;
	return trapped >= 0;
}

void info_probe_windows(struct info *in, MPI_Comm comm)
{
	MPI_Win win;
	void *base;
	int rank;

	if (!in->npaths || is_trapped(in, comm))
		return;
	if (MPI_Win_allocate(WINDOW_BYTES, 1, MPI_INFO_NULL, comm, &base, &win) != MPI_SUCCESS)
		return;
	MPI_Comm_rank(comm, &rank);
	memset(base, 0, WINDOW_BYTES);
	choose(in);
	MPI_Win_lock_all(0, win);
	MPI_Barrier(comm);
	for (int i = 0; i < in->nwindows; i++)
		measure(&in->window[i], win, rank, comm);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
}
