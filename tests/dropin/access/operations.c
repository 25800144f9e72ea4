/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All operations that an epoch allows: those with a request, atomic ones,
 * the four flushes, MPI_Win_sync; displacement units that differ by rank; and calls of
 * MPI_Win_allocate with an error. With TEST_ONE_REFUSED, only one such call, of one rank, which
 * ends the job.
 */
#include "tests/dropin/area.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS = 8 };

static struct area a;

static MPI_Aint place(int target, int index)
{
	return a.at[target] + index * (a.flavour == AREA_DYNAMIC ? (MPI_Aint)sizeof(int64_t) : 1);
}

/* The ways in which an epoch begins and ends. */
enum way { EXCLUSIVE, SHARED, ALL, WAYS };
static const char *const way_name[WAYS] = {"an exclusive lock", "a shared lock",
					   "MPI_Win_lock_all"};

static void begin(enum way w, int target)
{
	if (w == ALL)
		MPI_Win_lock_all(0, a.win);
	else
		MPI_Win_lock(w == EXCLUSIVE ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0,
			     a.win);
}

static void end(enum way w, int target)
{
	if (w == ALL)
		MPI_Win_unlock_all(a.win);
	else
		MPI_Win_unlock(target, a.win);
}

#define expect_word(got, wanted, what)                                                \
	expect((got) == (wanted), "%s: %lld instead of %lld", what, (long long)(got), \
	       (long long)(wanted))

/* Each rank uses its own target, and its own words there. */
static void with_requests(enum way w)
{
	int target = (a.rank + 1) % a.size;
	int64_t put = 7, got = -1, add = 5, before = -1;
	MPI_Request r;

#if defined OPEN_MPI && OMPI_MAJOR_VERSION < 5
	/* osc/ucx of Open MPI 4.1 uses the wrong key and crashes. */
	if (a.flavour == AREA_DYNAMIC) {
		skip("this MPI has none in dynamic windows", "%s: operations with a request",
		     way_name[w]);
		return;
	}
#endif
	now_doing("%s: operations with a request", way_name[w]);
	begin(w, target);
	MPI_Rput(&put, 1, MPI_INT64_T, target, place(target, 0), 1, MPI_INT64_T, a.win, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Win_flush(target, a.win);
	MPI_Raccumulate(&add, 1, MPI_INT64_T, target, place(target, 0), 1, MPI_INT64_T, MPI_SUM,
			a.win, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Win_flush(target, a.win);
	MPI_Rget(&got, 1, MPI_INT64_T, target, place(target, 0), 1, MPI_INT64_T, a.win, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	expect_word(got, 12, "MPI_Rget");
	MPI_Rget_accumulate(&add, 1, MPI_INT64_T, &before, 1, MPI_INT64_T, target, place(target, 0),
			    1, MPI_INT64_T, MPI_SUM, a.win, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	expect_word(before, 12, "MPI_Rget_accumulate");
	end(w, target);
	begin(w, target);
	area_get(&a, target, 0, 1, &got);
	end(w, target);
	expect_word(got, 17, "the word afterwards");
	result("%s: operations with a request", way_name[w]);
}

static void atomics(enum way w)
{
	int target = (a.rank + 1) % a.size;
	int64_t add = 3, got = -1, expected = 3, new = 40, before = -1, sum = 0;

	now_doing("%s: atomic operations", way_name[w]);
	begin(w, target);
	MPI_Put(&sum, 1, MPI_INT64_T, target, place(target, 1), 1, MPI_INT64_T, a.win);
	MPI_Win_flush(target, a.win);
	MPI_Fetch_and_op(&add, &before, MPI_INT64_T, target, place(target, 1), MPI_SUM, a.win);
	MPI_Win_flush(target, a.win);
	expect_word(before, 0, "MPI_Fetch_and_op");
	MPI_Compare_and_swap(&new, &expected, &before, MPI_INT64_T, target, place(target, 1),
			     a.win);
	MPI_Win_flush(target, a.win);
	expect_word(before, 3, "MPI_Compare_and_swap");
	MPI_Get_accumulate(&add, 1, MPI_INT64_T, &got, 1, MPI_INT64_T, target, place(target, 1), 1,
			   MPI_INT64_T, MPI_REPLACE, a.win);
	MPI_Win_flush(target, a.win);
	expect_word(got, 40, "MPI_Get_accumulate");
	end(w, target);
	result("%s: atomic operations", way_name[w]);
}

static void flushes(enum way w)
{
	int target = (a.rank + 1) % a.size;
	int64_t out[4] = {1, 2, 3, 4}, in[4] = {0};
	int incomplete = 0, wrong = 0;

	now_doing("%s: flushes", way_name[w]);
	begin(w, target);
	for (int i = 0; i < 4; i++) {
		MPI_Put(&out[i], 1, MPI_INT64_T, target, place(target, 2 + i), 1, MPI_INT64_T,
			a.win);
		if (i % 2)
			MPI_Win_flush_local(target, a.win);
		else
			MPI_Win_flush_local_all(a.win);
		out[i] += 100;
	}
	MPI_Win_flush_all(a.win);
	for (int i = 0; i < 4; i++)
		MPI_Get(&in[i], 1, MPI_INT64_T, target, place(target, 2 + i), 1, MPI_INT64_T,
			a.win);
	MPI_Win_flush_all(a.win);
	for (int i = 0; i < 4; i++)
		incomplete += in[i] != i + 1;
	MPI_Win_flush(target, a.win);
	for (int i = 0; i < 4; i++)
		wrong += !expect_word(in[i], i + 1, "after MPI_Win_flush_all and MPI_Win_flush");
	MPI_Win_sync(a.win);
	end(w, target);
#if defined OPEN_MPI && OMPI_MAJOR_VERSION == 5
	/* osc/rdma of 5.0.7. */
	MPI_Allreduce(MPI_IN_PLACE, &incomplete, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	if (incomplete && w != ALL && !wrong) {
		skip("this MPI's MPI_Win_flush_all completes nothing after MPI_Win_lock",
		     "%s: flushes", way_name[w]);
		return;
	}
#endif
	expect(!incomplete, "after MPI_Win_flush_all: %d of 4 gets are not complete", incomplete);
	result("%s: flushes", way_name[w]);
}

/* Others see a stored word after MPI_Win_sync and a barrier, while all ranks have one
 * epoch open. */
static void sync_inside(void)
{
	int64_t got;
	int target = (a.rank + 1) % a.size;

	now_doing("MPI_Win_sync");
	MPI_Win_lock_all(0, a.win);
	for (int64_t round = 1; round < 4; round++) {
		a.mine[6] = round * 10 + a.rank;
		MPI_Win_sync(a.win);
		MPI_Barrier(a.comm);
		area_get(&a, target, 6, 1, &got);
		expect_word(got, round * 10 + target, "a word stored before MPI_Win_sync");
		MPI_Barrier(a.comm);
	}
	MPI_Win_unlock_all(a.win);
	result("MPI_Win_sync within an epoch");
}

/* Rank r counts in units of 1, 2, 4 or 8 bytes. */
static int unit_of(int rank)
{
	return 1 << rank % 4;
}

static void displacement_units(void)
{
	int target = (a.rank + 1) % a.size;
	int64_t word = 1000 + a.rank, *base, got = 0;
	MPI_Win win;

	now_doing("displacement units");
	MPI_Win_allocate(8 * WORDS, unit_of(a.rank), MPI_INFO_NULL, a.comm, &base, &win);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, a.rank, 0, win);
	memset(base, 0, 8 * WORDS);
	MPI_Win_unlock(a.rank, win);
	MPI_Barrier(a.comm);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
	MPI_Put(&word, 1, MPI_INT64_T, target, 3 * 8 / unit_of(target), 1, MPI_INT64_T, win);
	MPI_Win_unlock(target, win);
	MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
	MPI_Get(&got, 1, MPI_INT64_T, target, 3 * 8 / unit_of(target), 1, MPI_INT64_T, win);
	MPI_Win_unlock(target, win);
	expect_word(got, word, "the word put");
	MPI_Barrier(a.comm);
	MPI_Win_lock(MPI_LOCK_SHARED, a.rank, 0, win);
	expect_word(base[3], 1000 + (a.rank + a.size - 1) % a.size, "my third word");
	expect_word(base[2] | base[4], 0, "its neighbours");
	MPI_Win_unlock(a.rank, win);
	MPI_Win_free(&win);
	result("displacement units that differ by rank");
}

static void refused(void)
{
	enum { CALLS = 20 };
	int64_t *base;
	MPI_Win win;

	now_doing("MPI_Win_allocate of a negative size");
	MPI_Comm_set_errhandler(a.comm, MPI_ERRORS_RETURN);
	for (int i = 0; i < CALLS; i++)
		expect(MPI_Win_allocate(-16, 1, MPI_INFO_NULL, a.comm, &base, &win) != MPI_SUCCESS,
		       "it makes a window");
	MPI_Comm_set_errhandler(a.comm, MPI_ERRORS_ARE_FATAL);
	result("MPI_Win_allocate of a negative size");
}

/* The others wait in MPI_Win_allocate, natively, too. */
static int refuse_one(void)
{
	int64_t *base;
	int rank;
	MPI_Win win;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_allocate(rank ? 16 : -16, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	return 0;
}

int main(int argc, char **argv)
{
	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	if (getenv("TEST_ONE_REFUSED"))
		return refuse_one();
	for (int f = 0; f < AREA_FLAVOURS; f++) {
		if (!area_possible((enum area_flavour)f))
			continue;
		note("%s", area_flavour_name[f]);
		area_open(&a, (enum area_flavour)f, MPI_COMM_WORLD, WORDS, MPI_INFO_NULL);
		for (int w = 0; w < WAYS; w++) {
			with_requests((enum way)w);
			atomics((enum way)w);
			flushes((enum way)w);
		}
		sync_inside();
		area_close(&a);
	}
	area_open(&a, AREA_ALLOCATE, MPI_COMM_WORLD, WORDS, MPI_INFO_NULL);
	refused();
	displacement_units();
	area_close(&a);
	return tap_end();
}
