/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lock sections a second of all PEs together, for benchmarks/layers/run.
 *   shmem_rate SECONDS empty|counter [turns]
 * All PEs execute the same number of sections; more and more of them, until
 * they take SECONDS. counter: each section adds 1 to a word of PE 0. turns: one
 * PE after the other, without locks.
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "turns.h"

static long lock, word;
static double took;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void add(void)
{
	shmem_long_p(&word, shmem_long_g(&word, 0) + 1, 0);
	shmem_quiet();
}

static void execute(long sections, int count)
{
	for (long i = 0; i < sections; i++) {
		shmem_set_lock(&lock);
		if (count)
			add();
		shmem_clear_lock(&lock);
	}
}

static void execute_in_turn(long sections)
{
	turns_begin(shmem_my_pe());
	for (long i = 0; i < sections; i++)
		add();
	turns_end(shmem_my_pe(), shmem_n_pes());
}

int main(int argc, char **argv)
{
	const double seconds = argc > 1 ? atof(argv[1]) : 0.3;
	const int count = argc > 2 && strcmp(argv[2], "counter") == 0, turns = argc > 3;
	long sections = 5, total = 0, more;

	shmem_init();
	for (;;) {
		double begin;

		shmem_barrier_all();
		begin = now();
		if (turns)
			execute_in_turn(sections);
		else
			execute(sections, count);
		shmem_barrier_all();
		total += sections;
		took = now() - begin;
		shmem_barrier_all();
		begin = shmem_double_g(&took, 0);
		if (begin >= seconds) {
			if (shmem_my_pe() == 0)
				printf("%.1f\n", (double)(sections * shmem_n_pes()) / begin);
			break;
		}
		more = (long)(1.2 * seconds / begin);
		sections *= more < 2 ? 2 : more > 8 ? 8 : more;
		shmem_barrier_all();
	}
	if (count && shmem_long_g(&word, 0) != total * shmem_n_pes())
		shmem_global_exit(1);
	shmem_finalize();
	return 0;
}
