/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ARMCI mutexes: different numbers at each process, several sets one after the
 * other. Prints TAP; with the runtime's mutexes and with libpawl-armci the
 * same. TEST_BREAK=1 in the environment leaves the locks out. With an argument
 * it does not get to its end: twice, unlocked, of-another, no-mutex,
 * created-twice, deadlock.
 */
#include <armci.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

enum { SETS = 3 };

static int rank, size, rounds;
static bool broken;

static void report(int good, const char *name)
{
	MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	ok(good, "%s", name);
}

/* Read a word at a process, and write it; without locks all processes read before one writes. */
static void add(void *at, int proc)
{
	long word;

	ARMCI_Get(at, &word, sizeof word, proc);
	if (broken)
		ARMCI_Barrier();
	word++;
	ARMCI_Put(&word, at, sizeof word, proc);
	ARMCI_Fence(proc);
}

static long sum_of(void **at)
{
	long word, sum = 0;

	ARMCI_Barrier();
	for (int p = 0; p < size; p++) {
		ARMCI_Get(at[p], &word, sizeof word, p);
		sum += word;
	}
	ARMCI_Barrier();
	return sum;
}

/* Process p has p + 1 mutexes, of which all processes use the last one. */
static void one_set(void **at, int set)
{
	long zero = 0;
	char name[40];

	ARMCI_Put(&zero, at[rank], sizeof zero, rank);
	ARMCI_Create_mutexes(rank + 1);
	ARMCI_Barrier();
	for (int i = 0; i < rounds; i++) {
		int p = i % 2 ? size - 1 : (rank + i) % size;

		if (!broken)
			ARMCI_Lock(p, p);
		add(at[p], p);
		if (!broken)
			ARMCI_Unlock(p, p);
	}
	snprintf(name, sizeof name, "set %d of mutexes", set);
	report(sum_of(at) == (long)rounds * size, name);

	/* All mutexes of all processes at a time. */
	if (rank == set % size) {
		for (int p = 0; p < size; p++)
			for (int m = 0; m <= p; m++)
				ARMCI_Lock(m, p);
		for (int p = 0; p < size; p++)
			for (int m = 0; m <= p; m++)
				ARMCI_Unlock(m, p);
	}
	ARMCI_Barrier();
	ARMCI_Destroy_mutexes();
}

static void misuse(const char *what)
{
	ARMCI_Create_mutexes(2);
	ARMCI_Barrier();
	if (strcmp(what, "twice") == 0 && rank == 0) {
		ARMCI_Lock(0, 1);
		ARMCI_Lock(0, 1);
	} else if (strcmp(what, "unlocked") == 0 && rank == 0) {
		ARMCI_Unlock(0, 1);
	} else if (strcmp(what, "of-another") == 0) {
		if (rank == 0)
			ARMCI_Lock(0, 1);
		ARMCI_Barrier();
		if (rank == 1)
			ARMCI_Unlock(0, 1);
	} else if (strcmp(what, "no-mutex") == 0 && rank == 0) {
		ARMCI_Lock(2, 1);
	} else if (strcmp(what, "created-twice") == 0) {
		ARMCI_Create_mutexes(2);
	} else if (strcmp(what, "deadlock") == 0) {
		ARMCI_Lock(rank % 2, 0);
		ARMCI_Barrier();
		ARMCI_Lock(1 - rank % 2, 0);
	}
	ARMCI_Barrier();
	puts("not stopped");
}

int main(int argc, char **argv)
{
	void **at;
	int status;

	MPI_Init(&argc, &argv);
	ARMCI_Init();
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	tap_silent = rank != 0;
	broken = getenv("TEST_BREAK") && strcmp(getenv("TEST_BREAK"), "1") == 0;
	rounds = 40 / size;
	if (argc > 1) {
		misuse(argv[1]);
		ARMCI_Finalize();
		MPI_Finalize();
		return 0;
	}
	at = calloc((size_t)size, sizeof *at);
	ARMCI_Malloc(at, 16);
	for (int set = 0; set < SETS; set++)
		one_set(at, set);
	ARMCI_Free(at[rank]);
	free(at);
	status = tap_plan();
	ARMCI_Finalize();
	MPI_Finalize();
	return status;
}
