/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Win_lock_all is a shared lock of every target: its holders change words by
 * accumulates, all at the same time, and an exclusive holder of a target changes the
 * same words by get, modify and put, with which no accumulate may interfere.
 */
#include "tests/dropin/area.h"

enum { WORDS = 4 };

static int64_t accumulate_everywhere(struct area *a)
{
	area_lock_all(a);
	for (int t = 0; t < a->size; t++)
		for (int i = 0; i < WORDS; i++)
			area_add_atomically(a, t, i, 1);
	MPI_Win_unlock_all(a->win);
	return a->size;
}

static int64_t change_plainly(struct area *a, int target)
{
	int64_t w[WORDS];

	area_lock(a, MPI_LOCK_EXCLUSIVE, target);
	area_get(a, target, 0, WORDS, w);
	linger(20e-6);
	for (int i = 1; i < WORDS; i++)
		expect(w[i] == w[0], "violation: an exclusive holder found %lld and %lld",
		       (long long)w[0], (long long)w[i]);
	for (int i = 0; i < WORDS; i++)
		w[i]++;
	area_put(a, target, 0, WORDS, w);
	MPI_Win_unlock(target, a->win);
	return 1;
}

/* The owner does so by load and store. */
static int64_t change_mine(struct area *a)
{
	area_lock(a, MPI_LOCK_EXCLUSIVE, a->rank);
	for (int i = 0; i < WORDS; i++)
		area_add_mine(a, i, 1);
	MPI_Win_unlock(a->rank, a->win);
	return 1;
}

static void run(enum area_flavour f)
{
	uint64_t seed = (uint64_t)tap_rank * 31 + 5;
	int64_t done = 0;
	struct area a;

	area_open(&a, f, MPI_COMM_WORLD, WORDS, MPI_INFO_NULL);
	now_doing("%s: lock_all and exclusive locks", area_flavour_name[f]);
	for (struct turns t = turns(4); turn(&t);) {
		uint32_t what = random_below(&seed, 5);

		if (what < 2)
			done += accumulate_everywhere(&a);
		else if (what < 4)
			done += change_plainly(&a, (int)random_below(&seed, (uint32_t)a.size));
		else
			done += change_mine(&a);
	}
	for (int i = 0; i < WORDS; i++)
		area_expect(&a, done, area_sum(&a, i), "accumulates and plain changes");
	area_close(&a);
	result("%s: MPI_Win_lock_all against exclusive locks", area_flavour_name[f]);
}

int main(int argc, char **argv)
{
	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	for (int f = 0; f < AREA_FLAVOURS; f++)
		if (area_possible((enum area_flavour)f))
			run((enum area_flavour)f);
	return tap_end();
}
