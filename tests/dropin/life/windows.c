/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows over different communicators, many at the same time, and one after the
 * other. The ranks in calls are those of the window's communicator.
 */
#include "tests/dropin/area.h"

#include <stdlib.h>

enum { MANY = 70 };

/* Exclusive locks of each target in turn: target t must have all changes, which each rank
 * counts. */
static void exercise(struct area *a, int least)
{
	int64_t *done = calloc((size_t)a->size, sizeof *done);
	uint64_t seed = (uint64_t)tap_rank + 21;
	int64_t found;

	/* The initial values count as changes by the owner. */
	area_lock(a, MPI_LOCK_SHARED, a->rank);
	done[a->rank] = a->mine[0];
	MPI_Win_unlock(a->rank, a->win);
	MPI_Barrier(a->comm);
	for (struct turns t = turns(least); turn(&t);) {
		int target = (int)random_below(&seed, (uint32_t)a->size);

		area_lock(a, MPI_LOCK_EXCLUSIVE, target);
		area_add_plainly(a, target, 0, 1);
		MPI_Win_unlock(target, a->win);
		done[target]++;
	}
	MPI_Allreduce(MPI_IN_PLACE, done, a->size, MPI_INT64_T, MPI_SUM, a->comm);
	for (int t = 0; t < a->size; t++) {
		found = area_word(a, t, 0);
		expect(found == done[t], "violation: target %d has %lld, and %lld were done", t,
		       (long long)found, (long long)done[t]);
	}
	/* Check that the rank in the call is the owner of the memory. */
	area_lock(a, MPI_LOCK_SHARED, a->rank);
	found = a->mine[0];
	MPI_Win_unlock(a->rank, a->win);
	expect(found == done[a->rank], "my word is %lld, and %lld were done", (long long)found,
	       (long long)done[a->rank]);
	free(done);
}

static void over(MPI_Comm comm, const char *name)
{
	struct area a;

	now_doing("a window over %s", name);
	if (comm != MPI_COMM_NULL) {
		for (int f = 0; f < AREA_FLAVOURS; f++) {
			if (!area_possible((enum area_flavour)f))
				continue;
			area_open(&a, (enum area_flavour)f, comm, 1, MPI_INFO_NULL);
			exercise(&a, 2);
			area_close(&a);
		}
	}
	result("windows over %s", name);
}

static void communicators(void)
{
	MPI_Comm comm;

	over(MPI_COMM_SELF, "MPI_COMM_SELF");
	MPI_Comm_split(MPI_COMM_WORLD, 0, -tap_rank, &comm);
	over(comm, "all ranks in reverse order");
	MPI_Comm_free(&comm);
	MPI_Comm_split(MPI_COMM_WORLD, tap_rank % 2, tap_rank, &comm);
	over(comm, "even and odd ranks");
	MPI_Comm_free(&comm);
	MPI_Comm_split(MPI_COMM_WORLD, tap_rank == 0 ? MPI_UNDEFINED : 1, -tap_rank, &comm);
	over(comm, "all ranks but the first, in reverse order");
	if (comm != MPI_COMM_NULL)
		MPI_Comm_free(&comm);
}

/* A communicator may be freed before the window. */
static void freed_communicator(void)
{
	MPI_Comm comm;
	struct area a;

	now_doing("a window whose communicator is freed");
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	area_open(&a, AREA_ALLOCATE, comm, 1, MPI_INFO_NULL);
	MPI_Comm_free(&comm);
	a.comm = MPI_COMM_WORLD;
	exercise(&a, 2);
	area_close(&a);
	result("a window outlives its communicator");
}

/* Windows over a rank and its neighbour, which overlap in ranks. */
static void overlapping(void)
{
	struct area all, pair;
	MPI_Comm comm;

	now_doing("windows that share ranks");
	MPI_Comm_split(MPI_COMM_WORLD, (tap_rank + 1) / 2, tap_rank, &comm);
	area_open(&all, AREA_ALLOCATE, MPI_COMM_WORLD, 1, MPI_INFO_NULL);
	area_open(&pair, AREA_ALLOCATE, comm, 1, MPI_INFO_NULL);
	exercise(&pair, 2);
	exercise(&all, 2);
	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, all.win);
	exercise(&pair, 2 * (tap_rank % 2));
	MPI_Win_unlock(0, all.win);
	area_close(&all);
	area_close(&pair);
	MPI_Comm_free(&comm);
	result("windows that share ranks");
}

static void many(void)
{
	struct area *a = calloc(MANY, sizeof *a);
	double budget = tap_budget;

	for (int i = 0; i < MANY; i++) {
		now_doing("window %d of %d", i, MANY);
		area_open(&a[i], i % 2 ? AREA_CREATE : AREA_ALLOCATE, MPI_COMM_WORLD, 1,
			  MPI_INFO_NULL);
	}
	now_doing("locks of %d windows at once", MANY);
	for (int i = 0; i < MANY; i++)
		MPI_Win_lock(MPI_LOCK_SHARED, i % tap_size, 0, a[i].win);
	meet();
	for (int i = MANY - 1; i >= 0; i--)
		MPI_Win_unlock(i % tap_size, a[i].win);
	now_doing("work in %d windows", MANY);
	tap_budget = 0;
	exercise(&a[0], 2);
	exercise(&a[MANY - 1], 2);
	tap_budget = budget;
	for (int i = 0; i < MANY; i++) {
		now_doing("window %d of %d is freed", i, MANY);
		area_close(&a[(i * 3 + 1) % MANY]);
	}
	free(a);
	result("%d windows at once", MANY);
}

/* At full length up to 300 windows, or as many as a busy machine creates in a minute. */
static void in_turn(void)
{
	enum { LEAST = 15, MOST = 300, SECONDS = 60 };
	double end = seconds_now() + SECONDS, budget = tap_budget;
	struct area a;
	int n = 0, more;

	tap_budget = 0;
	do {
		now_doing("window %d in a row", n);
		area_open(&a, n % 2 ? AREA_CREATE : AREA_ALLOCATE, MPI_COMM_WORLD, 1,
			  MPI_INFO_NULL);
		exercise(&a, 1);
		area_close(&a);
		n++;
		more = n < LEAST || (tap_long && n < MOST && seconds_now() < end);
		MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
	} while (more);
	tap_budget = budget;
	note("%d windows", n);
	result("windows in a row");
}

int main(int argc, char **argv)
{
	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	tap_budget /= 5;
	communicators();
	freed_communicator();
	overlapping();
	many();
	in_turn();
	return tap_end();
}
