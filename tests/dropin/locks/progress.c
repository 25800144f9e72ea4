/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that compute and do not call the MPI for a while: the owner of the memory,
 * the holder of the lock, and a rank that uses neither.
 * Others may have to wait for them, but not for ever, and no data is lost.
 */
#include "tests/dropin/area.h"

#define BUSY_S 0.3

static struct area a;

static int64_t add_some(int target, int times)
{
	for (int i = 0; i < times; i++) {
		area_lock(&a, MPI_LOCK_EXCLUSIVE, target);
		area_add_plainly(&a, target, 0, 1);
		MPI_Win_unlock(target, a.win);
	}
	return times;
}

static void busy_target(void)
{
	int64_t before = area_sum(&a, 0), done = 0;
	double start = seconds_now();

	now_doing("the target computes");
	meet();
	if (a.rank == 0)
		area_compute(BUSY_S);
	else
		done = add_some(0, 3);
	note("the target computes for %.1f s, the others are ready after %.1f s", BUSY_S,
	     seconds_now() - start);
	area_expect(&a, done, area_sum(&a, 0) - before, "a busy target");
	result("the target computes");
}

static void busy_holder(void)
{
	int64_t before = area_sum(&a, 0), done = 1;
	int holder = a.size - 1;

	now_doing("the holder computes");
	if (a.rank == holder) {
		int64_t word;

		area_lock(&a, MPI_LOCK_EXCLUSIVE, 0);
		area_get(&a, 0, 0, 1, &word);
		meet();
		area_compute(BUSY_S);
		word++;
		area_put(&a, 0, 0, 1, &word);
		MPI_Win_unlock(0, a.win);
	} else {
		meet();
		done = add_some(0, 2);
	}
	area_expect(&a, done, area_sum(&a, 0) - before, "a busy holder");
	result("the holder computes");
}

/* Rank 1 computes, the others lock rank 0's words. */
static void busy_bystander(void)
{
	int64_t before = area_sum(&a, 0), done = 0;

	now_doing("a bystander computes");
	meet();
	if (a.rank == 1)
		area_compute(BUSY_S);
	else
		done = add_some(0, 4);
	area_expect(&a, done, area_sum(&a, 0) - before, "a busy bystander");
	result("a bystander computes");
}

/* Holders of lock_all compute while one waits for an exclusive lock. */
static void busy_readers(void)
{
	int64_t before = area_sum(&a, 0), done = 0;

	now_doing("holders of lock_all compute");
	if (a.rank != 0) {
		area_lock_all(&a);
		area_add_atomically(&a, 0, 0, 1);
		MPI_Win_flush(0, a.win);
		meet();
		area_compute(BUSY_S / 3);
		MPI_Win_unlock_all(a.win);
		done = 1;
	} else {
		meet();
		done = add_some(0, 2);
	}
	area_expect(&a, done, area_sum(&a, 0) - before, "busy holders of lock_all");
	result("holders of MPI_Win_lock_all compute");
}

int main(int argc, char **argv)
{
	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	if (tap_size < 2) {
		skip("one rank", "progress");
		return tap_end();
	}
	for (int f = AREA_CREATE; f <= AREA_ALLOCATE; f++) {
		note("%s", area_flavour_name[f]);
		area_open(&a, (enum area_flavour)f, MPI_COMM_WORLD, 1, MPI_INFO_NULL);
		busy_target();
		busy_holder();
		busy_bystander();
		busy_readers();
		area_close(&a);
	}
	return tap_end();
}
