/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mutual exclusion: ranks add to words by get, modify and put, or to their own words by load and
 * store, under exclusive locks. In windows of
 * every flavour; on one target, on all targets in turn, on the own rank.
 */
#include "tests/dropin/area.h"

static int64_t add_once(struct area *a, int target, bool by_load)
{
	area_lock(a, MPI_LOCK_EXCLUSIVE, target);
	if (by_load && target == a->rank)
		area_add_mine(a, 0, 1);
	else
		area_add_plainly(a, target, 0, 1);
	MPI_Win_unlock(target, a->win);
	return 1;
}

static void one_target(struct area *a, bool by_load)
{
	int target = a->size - 1;
	int64_t done = 0, before = area_sum(a, 0);

	now_doing("%s: one target", area_flavour_name[a->flavour]);
	meet();
	for (struct turns t = turns(3); turn(&t);)
		done += add_once(a, target, by_load);
	area_expect(a, done, area_sum(a, 0) - before, "one target");
	result("%s: one target%s", area_flavour_name[a->flavour],
	       by_load ? ", its owner by load and store" : "");
}

static void all_targets(struct area *a)
{
	uint64_t seed = (uint64_t)a->rank + 1;
	int64_t done = 0, before = area_sum(a, 0);

	now_doing("%s: all targets", area_flavour_name[a->flavour]);
	meet();
	for (struct turns t = turns(3); turn(&t);)
		done += add_once(a, (int)random_below(&seed, (uint32_t)a->size), true);
	area_expect(a, done, area_sum(a, 0) - before, "all targets");
	result("%s: all targets", area_flavour_name[a->flavour]);
}

/* The next holder loads what a holder has stored, without flush or MPI_Win_sync between. */
static void handed_on(struct area *a)
{
	int64_t done = 0, word, before = area_sum(a, 0);

	now_doing("%s: put without flush", area_flavour_name[a->flavour]);
	meet();
	for (struct turns t = turns(3); turn(&t); done++) {
		area_lock(a, MPI_LOCK_EXCLUSIVE, 0);
		area_get(a, 0, 0, 1, &word);
		linger(10e-6);
		word++;
		MPI_Put(&word, 1, MPI_INT64_T, 0, a->at[0], 1, MPI_INT64_T, a->win);
		MPI_Win_unlock(0, a->win);
	}
	area_expect(a, done, area_sum(a, 0) - before, "put without flush");
	result("%s: unlock completes what was put", area_flavour_name[a->flavour]);
}

int main(int argc, char **argv)
{
	struct area a;

	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	for (int f = 0; f < AREA_FLAVOURS; f++) {
		if (!area_possible((enum area_flavour)f)) {
			skip("several hosts", "%s", area_flavour_name[f]);
			continue;
		}
		area_open(&a, (enum area_flavour)f, MPI_COMM_WORLD, 1, MPI_INFO_NULL);
		one_target(&a, false);
		one_target(&a, true);
		all_targets(&a);
		handed_on(&a);
		area_close(&a);
	}
	return tap_end();
}
