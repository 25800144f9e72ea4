/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared locks: any number of holders at the same time, shown by barriers
 * of all holders; and no exclusive holder together with
 * them, shown by related words that must agree.
 */
#include "tests/dropin/area.h"

enum { COUNT, INVERSE, WORDS };

static struct area a;

/* Reading the word makes sure that the MPI has acquired the lock. */
static void look(int target)
{
	int64_t word;

	area_get(&a, target, 0, 1, &word);
}

static void all_hold_one(void)
{
	now_doing("shared locks across a barrier");
	for (int i = 0; i < 5; i++) {
		MPI_Win_lock(MPI_LOCK_SHARED, i % a.size, 0, a.win);
		look(i % a.size);
		meet();
		look(i % a.size);
		MPI_Win_unlock(i % a.size, a.win);
	}
	result("every rank holds a shared lock of one target at a time");
}

static void all_hold_all(void)
{
	now_doing("lock_all across a barrier");
	for (int i = 0; i < 5; i++) {
		MPI_Win_lock_all(0, a.win);
		for (int t = 0; t < a.size; t++)
			look(t);
		meet();
		look(i % a.size);
		MPI_Win_unlock_all(a.win);
	}
	result("every rank holds MPI_Win_lock_all at a time");
}

/* Some hold MPI_Win_lock_all, some a shared lock of each target, or of one. */
static void mixed(void)
{
	now_doing("lock_all and shared locks across a barrier");
	for (int i = 0; i < 6; i++) {
		int way = (a.rank + i) % 3, last = way == 2 ? 0 : a.size - 1;

		if (way == 0)
			MPI_Win_lock_all(0, a.win);
		for (int t = 0; way != 0 && t <= last; t++)
			MPI_Win_lock(MPI_LOCK_SHARED, t, 0, a.win);
		for (int t = 0; t <= last; t++)
			look(t);
		meet();
		if (way == 0)
			MPI_Win_unlock_all(a.win);
		for (int t = 0; way != 0 && t <= last; t++)
			MPI_Win_unlock(t, a.win);
	}
	result("MPI_Win_lock_all and shared locks go together");
}

/* A lock with MPI_MODE_NOCHECK, by which the program promises that there is no conflict, need not
 * wait. */
static void nocheck(void)
{
	now_doing("NOCHECK across a barrier");
	MPI_Win_lock_all(MPI_MODE_NOCHECK, a.win);
	look(0);
	meet();
	MPI_Win_unlock_all(a.win);
	meet();
	MPI_Win_lock(a.rank == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, a.rank, MPI_MODE_NOCHECK,
		     a.win);
	look(a.rank);
	meet();
	MPI_Win_unlock(a.rank, a.win);
	result("MPI_MODE_NOCHECK");
}

static void write_pair(int target)
{
	int64_t w[WORDS];

	area_lock(&a, MPI_LOCK_EXCLUSIVE, target);
	area_get(&a, target, 0, WORDS, w);
	expect(w[INVERSE] == -w[COUNT], "violation: an exclusive holder found %lld and %lld",
	       (long long)w[COUNT], (long long)w[INVERSE]);
	w[COUNT]++;
	area_put(&a, target, COUNT, 1, &w[COUNT]);
	linger(20e-6);
	w[INVERSE]--;
	area_put(&a, target, INVERSE, 1, &w[INVERSE]);
	MPI_Win_unlock(target, a.win);
}

static void read_pair(int target, bool all)
{
	int64_t w[WORDS], again[WORDS];

	if (all)
		area_lock_all(&a);
	else
		area_lock(&a, MPI_LOCK_SHARED, target);
	area_get(&a, target, 0, WORDS, w);
	linger(10e-6);
	area_get(&a, target, 0, WORDS, again);
	if (all)
		MPI_Win_unlock_all(a.win);
	else
		MPI_Win_unlock(target, a.win);
	expect(w[INVERSE] == -w[COUNT], "violation: a shared holder found %lld and %lld",
	       (long long)w[COUNT], (long long)w[INVERSE]);
	expect(w[COUNT] == again[COUNT] && w[INVERSE] == again[INVERSE],
	       "violation: words changed under a shared holder");
}

static void against_exclusive(int flavour, bool all)
{
	uint64_t seed = (uint64_t)tap_rank + 77;
	int64_t done = 0;

	area_open(&a, (enum area_flavour)flavour, MPI_COMM_WORLD, WORDS, MPI_INFO_NULL);
	now_doing("%s: readers and writers", area_flavour_name[flavour]);
	for (struct turns t = turns(4); turn(&t);) {
		int target = (int)random_below(&seed, (uint32_t)a.size) / 2;

		if (random_below(&seed, 3) == 0) {
			write_pair(target);
			done++;
		} else {
			read_pair(target, all);
		}
	}
	area_expect(&a, done, area_sum(&a, COUNT), "exclusive holders");
	area_close(&a);
	result("%s: %s against exclusive locks", area_flavour_name[flavour],
	       all ? "MPI_Win_lock_all" : "shared locks");
}

int main(int argc, char **argv)
{
	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	area_open(&a, AREA_ALLOCATE, MPI_COMM_WORLD, WORDS, MPI_INFO_NULL);
	all_hold_one();
	all_hold_all();
	mixed();
	nocheck();
	area_close(&a);
	for (int f = 0; f < AREA_FLAVOURS; f++) {
		if (!area_possible((enum area_flavour)f))
			continue;
		against_exclusive(f, false);
		against_exclusive(f, true);
	}
	return tap_end();
}
