/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The times of operations on a window of the application: one of MPI_Win_allocate in an epoch of
 * MPI_Win_lock_all, an operation and its MPI_Win_flush, between the pairs of ranks that probe.c
 * chose. Locks use other words (NODE words are CPU atomics), so these times may be much longer
 * than those of locks.
 */
#include <string.h>

#include "info.h"

/* Word 0 is operated on; the others keep a value. */
enum { WINDOW_BYTES = 64, WORDS = WINDOW_BYTES / 8, VECTOR = WORDS / 2, TRIES = 8, KEPT = -1 };

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

/* Whether the data of MPI_Rget with a vector type comes after MPI_Wait, from the next rank. */
static bool is_early(MPI_Win win, MPI_Comm comm, int rank)
{
	int ranks, early = 0;
	MPI_Datatype vector;

	MPI_Comm_size(comm, &ranks);
	MPI_Type_vector(VECTOR, 1, 2, MPI_INT64_T, &vector);
	MPI_Type_commit(&vector);
	for (int i = 0; i < TRIES; i++) {
		int64_t got[VECTOR] = {0};
		int to = (rank + 1) % ranks;
		MPI_Request request;

		MPI_Rget(got, VECTOR, MPI_INT64_T, to, 8, 1, vector, win, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		for (int word = 0; word < VECTOR; word++)
			early |= got[word] != KEPT;
		MPI_Win_flush(to, win); /* completes the get, which writes to got */
	}
	MPI_Type_free(&vector);
	MPI_Allreduce(MPI_IN_PLACE, &early, 1, MPI_INT, MPI_LOR, comm);
	return early;
}

/* Whether operations on a window of MPI_Win_create, of memory that does not begin at a multiple of
 * 16 bytes, access the memory before it. */
static bool is_before(MPI_Comm comm, int rank)
{
	enum { BEFORE, FIRST, ALL = 4 };
	_Alignas(16) int64_t memory[ALL] = {KEPT, KEPT, KEPT, KEPT};
	int64_t one = 1;
	int ranks, before;
	MPI_Win win;

	MPI_Comm_size(comm, &ranks);
	if (MPI_Win_create(memory + FIRST, (ALL - FIRST) * sizeof memory[0], 1, MPI_INFO_NULL, comm,
			   &win) != MPI_SUCCESS)
		return false;
	MPI_Win_fence(0, win);
	MPI_Put(&one, 1, MPI_INT64_T, (rank + 1) % ranks, 0, 1, MPI_INT64_T, win);
	MPI_Win_fence(0, win);
	before = memory[BEFORE] != KEPT;
	MPI_Win_free(&win);
	MPI_Allreduce(MPI_IN_PLACE, &before, 1, MPI_INT, MPI_LOR, comm);
	return before;
}

void info_probe_windows(struct info *in, MPI_Comm comm)
{
	MPI_Win win;
	int64_t *base;
	int rank;

	if (!in->npaths || is_trapped(in, comm))
		return;
	if (MPI_Win_allocate(WINDOW_BYTES, 1, MPI_INFO_NULL, comm, &base, &win) != MPI_SUCCESS)
		return;
	MPI_Comm_rank(comm, &rank);
	base[0] = 0;
	for (int word = 1; word < WORDS; word++)
		base[word] = KEPT;
	choose(in);
	MPI_Win_lock_all(0, win);
	MPI_Barrier(comm);
	for (int i = 0; i < in->nwindows; i++)
		measure(&in->window[i], win, rank, comm);
	in->job.rget_early = is_early(win, comm, rank);
	in->job.create_before = is_before(comm, rank);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
}
