/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks of Global Arrays: all processes add to the words of an array by get and put, each word
 * under its lock. Prints TAP; with the runtime's mutexes and with libpawl-armci the same.
 * TEST_BREAK=1 in the environment leaves the locks out.
 *
 * A process has one lock at a time: GA_Lock() of Global Arrays 5.8 takes the same ARMCI mutex,
 * whichever its argument is.
 */
#include <ga.h>
#include <macdecls.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

/* The share of each process is a multiple of 16 bytes: MPICH 4.0 misplaces what goes to others. */
enum { LOCKS = 4, WORDS = 16 * LOCKS };

static int array;
static bool broken;

static long get(int word)
{
	int at[] = {word}, ld[] = {1};
	long value;

	NGA_Get(array, at, at, &value, ld);
	return value;
}

/* Read a word, and write it; without locks all processes read before one writes. */
static void add(int word)
{
	int at[] = {word}, ld[] = {1};
	long value = get(word);

	if (broken)
		GA_Sync();
	value++;
	GA_Init_fence();
	NGA_Put(array, at, at, &value, ld);
	GA_Fence();
}

int main(int argc, char **argv)
{
	int dims[] = {WORDS}, rank, size, rounds, good;
	char name[] = "words";

	MPI_Init(&argc, &argv);
	GA_Initialize();
	rank = GA_Nodeid();
	size = GA_Nnodes();
	broken = getenv("TEST_BREAK") && strcmp(getenv("TEST_BREAK"), "1") == 0;
	rounds = 40 / size;
	array = NGA_Create(C_LONG, 1, dims, name, NULL);
	GA_Zero(array);
	good = GA_Create_mutexes(LOCKS);
	for (int i = 0; i < rounds * LOCKS; i++) {
		int l = (i + (broken ? 0 : rank)) % LOCKS;

		if (!broken)
			GA_Lock(l);
		add(l * (WORDS / LOCKS));
		if (!broken)
			GA_Unlock(l);
	}
	GA_Sync();
	for (int l = 0; l < LOCKS; l++)
		good &= get(l * (WORDS / LOCKS)) == (long)rounds * size;
	GA_Sync();
	good &= GA_Destroy_mutexes();
	MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	tap_silent = rank != 0;
	ok(good, "words under locks");
	tap_plan();
	GA_Destroy(array);
	GA_Terminate();
	MPI_Finalize();
	return !good;
}
