/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a program needs fails on one rank: the n-th of the calls that are replaced, in one thread.
 * For one file of a program that is linked with $(wrap_failing) of tests/Makefile.inc: what goes
 * through these functions are the calls of the library's objects, and not those of the MPI or of
 * libraries. A program adds its own by MAY_FAIL() and MPI_CALL().
 */
#ifndef FAILING_H
#define FAILING_H

#include <errno.h>
#include <execinfo.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/hash.h"
#include "ranks.h"
#include "wrap.h"

/* Calls of this thread that can fail, and how many succeed before one fails; -1: all do. */
static _Thread_local int calls_made, left = -1;

/* In place of that: the one fails that none has been before, by the place of the code from which it
 * comes, and the number of those of this place before it since begin(). */
static bool by_place;
enum { MOST_CALLS = 400 };
static uint64_t had[MOST_CALLS]; /* places since begin() */
static int n_had;

static bool is_new_place(void)
{
	enum { MOST_FAILED = 1024, FRAMES = 16 };
	static uint64_t failed[MOST_FAILED];
	static int n;
	void *frames[FRAMES];
	uint64_t here = HASH_BEGIN, before = 0;

	/* The return addresses of all callers. */
	for (int i = backtrace(frames, FRAMES); i-- > 0;)
		here = hash_add(here, (uint64_t)(uintptr_t)frames[i]);
	for (int i = 0; i < n_had; i++)
		before += had[i] == here;
	if (n_had < MOST_CALLS)
		had[n_had++] = here;
	here = hash_add(here, before);
	for (int i = 0; i < n; i++)
		if (failed[i] == here)
			return false;
	if (n < MOST_FAILED)
		failed[n++] = here;
	return true;
}

static bool fails(void)
{
	calls_made++;
	if (left < 0 || (by_place ? !is_new_place() : left-- > 0))
		return false;
	left = -1;
	errno = ENOMEM;
	return true;
}

/* Let the call after n others fail on this rank. */
static void begin(int victim, int n)
{
	left = tap_rank == victim ? n : -1;
	n_had = 0;
}

/* Whether it has failed since begin(). Collective. */
static bool has_failed(int victim)
{
	int failed = tap_rank == victim && left < 0;

	left = -1;
	MPI_Bcast(&failed, 1, MPI_INT, victim, MPI_COMM_WORLD);
	return failed;
}

/* ------------------------------------------------------------------ allocations */

MAY_FAIL(void *, malloc, NULL, (size_t size), (size))
MAY_FAIL(void *, calloc, NULL, (size_t n, size_t size), (n, size))
MAY_FAIL(void *, realloc, NULL, (void *old, size_t size), (old, size))

/* ---------------------------------------------------------------- calls of the MPI */

/* Performed, because they are collective or because what they return is used, and then reported as
 * failed. */
#define MPI_CALL(name, parameters, arguments)        \
	WRAP(int, name, parameters)                  \
	{                                            \
		int rc = __real_##name arguments;    \
                                                     \
		return fails() ? MPI_ERR_OTHER : rc; \
	}

MPI_CALL(PMPI_Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made))
MPI_CALL(PMPI_Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made),
	 (comm, type, key, info, made))
MPI_CALL(PMPI_Comm_group, (MPI_Comm comm, MPI_Group *group), (comm, group))
MPI_CALL(PMPI_Comm_set_attr, (MPI_Comm comm, int key, void *value), (comm, key, value))
MPI_CALL(PMPI_Group_translate_ranks,
	 (MPI_Group from, int n, const int ranks[], MPI_Group to, int result[]),
	 (from, n, ranks, to, result))
MPI_CALL(PMPI_Win_get_attr, (MPI_Win win, int key, void *value, int *flag), (win, key, value, flag))
MPI_CALL(PMPI_Win_shared_query, (MPI_Win win, int rank, MPI_Aint *size, int *unit, void *base),
	 (win, rank, size, unit, base))

#endif
