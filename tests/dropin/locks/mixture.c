/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A random mixture: exclusive and shared locks of random targets,
 * some of several at a time, and MPI_Win_lock_all, in two windows. Each target
 * has words that are changed by gets and puts under exclusive locks and must agree
 * whenever they are read, and one that shared holders change by accumulates.
 * MPI does not say in which order MPI_Win_lock_all locks its targets, so a process that holds a
 * target and locks another could wait for a holder of lock_all for ever. So locks of
 * several targets are in the first window, MPI_Win_lock_all in the second. Pawl promises
 * more, so under it (TEST_STRICT=1) both are in both windows.
 * TEST_SEED in the environment: another sequence (a number; default 1).
 */
#include "tests/dropin/area.h"

#include <stdlib.h>
#include <string.h>

enum { COUNT, INVERSE, TRIPLE, ATOMIC, WORDS, WINDOWS = 2 };

struct job {
	struct area area[WINDOWS];
	uint64_t seed;
	int64_t writes, accumulates;
};

static void look(struct area *a, int target)
{
	int64_t w[WORDS], again[WORDS];

	area_get(a, target, 0, ATOMIC, w);
	linger(5e-6);
	area_get(a, target, 0, ATOMIC, again);
	expect(w[INVERSE] == ~w[COUNT] && w[TRIPLE] == 3 * w[COUNT],
	       "violation: a shared holder of %d found %lld %lld %lld", target, (long long)w[COUNT],
	       (long long)w[INVERSE], (long long)w[TRIPLE]);
	expect(again[COUNT] == w[COUNT] && again[TRIPLE] == w[TRIPLE],
	       "violation: words of %d changed under a shared holder", target);
}

static void change(struct job *j, struct area *a, int target)
{
	int64_t w[WORDS];

	area_get(a, target, 0, WORDS, w);
	expect(w[INVERSE] == ~w[COUNT] && w[TRIPLE] == 3 * w[COUNT],
	       "violation: an exclusive holder of %d found %lld %lld %lld", target,
	       (long long)w[COUNT], (long long)w[INVERSE], (long long)w[TRIPLE]);
	w[COUNT]++;
	area_put(a, target, COUNT, 1, &w[COUNT]);
	linger(10e-6);
	w[INVERSE] = ~w[COUNT];
	w[TRIPLE] = 3 * w[COUNT];
	w[ATOMIC]++;
	area_put(a, target, INVERSE, WORDS - 1, &w[INVERSE]);
	j->writes++;
	j->accumulates++;
}

static void accumulate(struct job *j, struct area *a, int target)
{
	area_add_atomically(a, target, ATOMIC, 1);
	j->accumulates++;
}

static void one_lock(struct job *j, struct area *a)
{
	int target = (int)random_below(&j->seed, (uint32_t)a->size);
	bool exclusive = random_below(&j->seed, 2);

	area_lock(a, exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target);
	if (exclusive) {
		change(j, a, target);
	} else {
		look(a, target);
		accumulate(j, a, target);
	}
	MPI_Win_unlock(target, a->win);
}

static void all_locks(struct job *j, struct area *a)
{
	area_lock_all(a);
	for (int i = 0; i < 2; i++) {
		int target = (int)random_below(&j->seed, (uint32_t)a->size);

		look(a, target);
		accumulate(j, a, target);
	}
	MPI_Win_unlock_all(a->win);
}

/* Targets in ascending order, each in its own mode. */
static void several_locks(struct job *j, struct area *a)
{
	uint32_t chosen = random_below(&j->seed, 16), exclusive = random_below(&j->seed, 16);

	for (int t = 0; t < a->size && t < 4; t++)
		if (chosen >> t & 1)
			area_lock(a, exclusive >> t & 1 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, t);
	for (int t = 0; t < a->size && t < 4; t++) {
		if (!(chosen >> t & 1))
			continue;
		if (exclusive >> t & 1)
			change(j, a, t);
		else
			look(a, t);
		MPI_Win_unlock(t, a->win);
	}
}

/* A lock of the second window within one of the first. */
static void both_windows(struct job *j)
{
	struct area *a = j->area;
	int t = (int)random_below(&j->seed, (uint32_t)a->size);

	area_lock(&a[0], MPI_LOCK_SHARED, t);
	area_lock(&a[1], MPI_LOCK_EXCLUSIVE, 0);
	look(&a[0], t);
	change(j, &a[1], 0);
	MPI_Win_unlock(t, a[0].win);
	MPI_Win_unlock(0, a[1].win);
}

static void step(struct job *j)
{
	const char *strict = getenv("TEST_STRICT");
	bool apart = !strict || strcmp(strict, "1") != 0;
	struct area *a = &j->area[random_below(&j->seed, WINDOWS)];

	switch (random_below(&j->seed, 8)) {
	case 0:
		all_locks(j, apart ? &j->area[1] : a);
		break;
	case 1:
		several_locks(j, apart ? &j->area[0] : a);
		break;
	case 2:
		both_windows(j);
		break;
	default:
		one_lock(j, a);
		break;
	}
}

static void open_area(struct area *a, enum area_flavour f)
{
	area_open(a, f, MPI_COMM_WORLD, WORDS, MPI_INFO_NULL);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, a->rank, 0, a->win);
	a->mine[INVERSE] = -1;
	MPI_Win_unlock(a->rank, a->win);
	MPI_Barrier(a->comm);
}

static void run(enum area_flavour first, enum area_flavour second, uint64_t seed)
{
	int64_t found[WORDS] = {0};
	struct job j = {.seed = seed + (uint64_t)tap_rank * 7919};

	open_area(&j.area[0], first);
	open_area(&j.area[1], second);
	now_doing("%s and %s: a mixture", area_flavour_name[first], area_flavour_name[second]);
	for (struct turns t = turns(6); turn(&t);)
		step(&j);
	meet();
	for (int i = 0; i < WORDS; i++)
		found[i] = area_sum(&j.area[0], i) + area_sum(&j.area[1], i);
	area_expect(&j.area[0], j.writes, found[COUNT], "changes");
	area_expect(&j.area[0], j.accumulates, found[ATOMIC], "accumulates and changes");
	area_close(&j.area[1]);
	area_close(&j.area[0]);
	result("%s and %s, seed %llu", area_flavour_name[first], area_flavour_name[second],
	       (unsigned long long)seed);
}

int main(int argc, char **argv)
{
	const char *text = getenv("TEST_SEED");
	uint64_t seed = text ? strtoull(text, NULL, 10) : 1;

	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	tap_budget *= 2;
	run(AREA_ALLOCATE, AREA_CREATE, seed);
	run(AREA_CREATE, AREA_DYNAMIC, seed + 1);
	if (area_possible(AREA_SHARED))
		run(AREA_SHARED, AREA_ALLOCATE, seed + 2);
	return tap_end();
}
