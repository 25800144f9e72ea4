/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenSHMEM locks: static ones, in arrays, and in the symmetric heap. Prints
 * TAP; natively and under libpawl-shmem the same. TEST_BREAK=1 in the
 * environment leaves the locks out. With an argument it does not get to its
 * end: twice, unlocked, of-another, deadlock. With "numbers" it looks at the words of locks, which
 * are numbers under the layer, in memory that is freed and allocated again.
 */
#include <shmem.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

enum { ROUNDS = 50, LOCKS = 5 };

static long lock, others[LOCKS], pair[2];
static long word, words[LOCKS], sum, bad, work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static long sync_words[SHMEM_REDUCE_SYNC_SIZE];
static int me, pes;
static bool broken;

static long sum_of(long value)
{
	static long mine;

	mine = value;
	shmem_barrier_all();
	shmem_long_sum_to_all(&sum, &mine, 1, 0, 0, pes, work, sync_words);
	shmem_barrier_all();
	return sum;
}

static void report(bool good, const char *name)
{
	bad = sum_of(!good);
	ok(!bad, "%s", name);
}

static void set(long *l)
{
	if (!broken)
		shmem_set_lock(l);
}

static void clear(long *l)
{
	if (!broken)
		shmem_clear_lock(l);
}

/* Read the word at a PE, and write it; without locks all PEs read before one writes. */
static void add(long *at, int pe)
{
	long was = shmem_long_g(at, pe);

	if (broken)
		shmem_barrier_all();
	shmem_long_p(at, was + 1, pe);
	shmem_quiet();
}

static void one_lock(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		set(&lock);
		add(&word, 0);
		clear(&lock);
	}
	shmem_barrier_all();
	report(shmem_long_g(&word, 0) == (long)ROUNDS * pes, "a lock");
}

static void many_locks(void)
{
	long mine = 0;

	for (int i = 0; i < ROUNDS; i++) {
		int l = (i + me) % LOCKS;

		set(&others[l]);
		add(&words[l], pes - 1);
		clear(&others[l]);
	}
	shmem_barrier_all();
	for (int l = 0; l < LOCKS; l++)
		mine += shmem_long_g(&words[l], pes - 1);
	report(mine == (long)ROUNDS * pes, "an array of locks");
}

static void test_lock(void)
{
	bool good = true;

	if (me == 0)
		shmem_set_lock(&lock);
	shmem_barrier_all();
	if (me != 0)
		good = shmem_test_lock(&lock) != 0;
	shmem_barrier_all();
	if (me == 0)
		shmem_clear_lock(&lock);
	shmem_barrier_all();
	report(good, "shmem_test_lock of a lock that is set");

	for (int pe = 0; pe < pes; pe++) {
		if (pe == me) {
			good = shmem_test_lock(&lock) == 0;
			if (good)
				shmem_clear_lock(&lock);
		}
		shmem_barrier_all();
	}
	report(good, "shmem_test_lock of a free lock");
}

/* All locks of a heap array at a time; and the memory again for other locks. */
static void heap_locks(void)
{
	bool good = true;

	for (int turn = 0; turn < 3; turn++) {
		long *locks = shmem_malloc(LOCKS * sizeof *locks);

		memset(locks, 0, LOCKS * sizeof *locks);
		shmem_barrier_all();
		if (me == turn % pes) {
			for (int l = 0; l < LOCKS; l++)
				good = good && shmem_test_lock(&locks[l]) == 0;
			for (int l = 0; l < LOCKS; l++)
				shmem_clear_lock(&locks[l]);
		}
		shmem_barrier_all();
		shmem_free(locks);
	}
	report(good, "locks in the symmetric heap");
}

static void misuse(const char *what)
{
	shmem_barrier_all();
	if (strcmp(what, "twice") == 0 && me == 0) {
		shmem_set_lock(&lock);
		shmem_set_lock(&lock);
	} else if (strcmp(what, "unlocked") == 0 && me == 0) {
		shmem_clear_lock(&lock);
	} else if (strcmp(what, "of-another") == 0) {
		if (me == 0)
			shmem_set_lock(&lock);
		shmem_barrier_all();
		if (me == 1)
			shmem_clear_lock(&lock);
	} else if (strcmp(what, "deadlock") == 0) {
		shmem_set_lock(&pair[me % 2]);
		shmem_barrier_all();
		shmem_set_lock(&pair[1 - me % 2]);
	}
	shmem_barrier_all();
	puts("not stopped");
}

/* Memory for locks comes and goes, at other addresses, too, and locks are set to 0 again. */
static void numbers(void)
{
	enum { TIMES = 40, AT_ONCE = 100 };
	static long here; /* symmetric */
	long most = 0;

	for (int i = 0; i < TIMES; i++) {
		long *gap = shmem_malloc((size_t)i * 64 + 8);
		long *locks = shmem_calloc(AT_ONCE, sizeof *locks);

		/* Open MPI zeroes the memory behind its barrier. */
		shmem_barrier_all();
		for (int k = 0; k < AT_ONCE; k++) {
			shmem_set_lock(&locks[k]);
			shmem_clear_lock(&locks[k]);
			most = locks[k] > most ? locks[k] : most;
		}
		shmem_barrier_all();
		locks = shmem_realloc(locks, 3 * AT_ONCE * sizeof *locks);
		shmem_barrier_all();
		shmem_set_lock(&locks[AT_ONCE - 1]);
		shmem_clear_lock(&locks[AT_ONCE - 1]);
		shmem_set_lock(&here);
		shmem_clear_lock(&here);
		most = here > most ? here : most;
		shmem_barrier_all();
		here = 0;
		shmem_free(gap);
		shmem_free(locks);
	}
	report(most <= 2L * pes * (AT_ONCE + 1), "the numbers of locks that are gone come again");
	if (me == 0)
		printf("# %ld\n", most);
}

int main(int argc, char **argv)
{
	int status;

	shmem_init();
	me = shmem_my_pe();
	pes = shmem_n_pes();
	tap_silent = me != 0;
	broken = getenv("TEST_BREAK") && strcmp(getenv("TEST_BREAK"), "1") == 0;
	for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
		sync_words[i] = SHMEM_SYNC_VALUE;
	shmem_barrier_all();
	if (argc > 1 && strcmp(argv[1], "numbers") == 0) {
		numbers();
	} else if (argc > 1) {
		misuse(argv[1]);
		shmem_finalize();
		return 0;
	} else {
		one_lock();
		many_locks();
		test_lock();
		heap_locks();
	}
	status = tap_plan();
	shmem_finalize();
	return status;
}
