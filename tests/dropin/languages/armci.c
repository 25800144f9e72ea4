/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that uses ARMCI, the base of Global Arrays; ARMCI-MPI is ARMCI on MPI_Win_lock
 * and MPI_Win_lock_all. Mutexes, put and get, accumulate, read-modify-write.
 */
#include <armci.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/tap.h"

enum { ROUNDS = 20, WORDS = 8 };

static int rank, size;

static void report(int good, const char *name)
{
	MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	ok(good, "%s", name);
}

/* Add to a word by get and put under a mutex, of this process and of all. */
static void mutexes(long **at)
{
	long word, sum = 0;

	for (int i = 0; i < ROUNDS; i++) {
		int target = i % 2 ? 0 : (rank + i) % size;

		ARMCI_Lock(0, target);
		ARMCI_Get(at[target], &word, sizeof word, target);
		word++;
		ARMCI_Put(&word, at[target], sizeof word, target);
		ARMCI_Fence(target);
		ARMCI_Unlock(0, target);
	}
	ARMCI_Barrier();
	for (int i = 0; i < size; i++) {
		ARMCI_Get(at[i], &word, sizeof word, i);
		sum += word;
	}
	report(sum == (long)ROUNDS * size, "mutexes, get and put");
	ARMCI_Barrier();
}

static void put_and_get(long **at)
{
	int right = (rank + 1) % size, left = (rank + size - 1) % size;
	long out[WORDS], in[WORDS] = {0};
	int good = 1;

	for (int i = 0; i < WORDS; i++)
		out[i] = rank * 100 + i;
	ARMCI_Put(out, at[right], sizeof out, right);
	ARMCI_Fence(right);
	ARMCI_Barrier();
	ARMCI_Get(at[rank], in, sizeof in, rank);
	for (int i = 0; i < WORDS; i++)
		good &= in[i] == left * 100 + i;
	report(good, "put and get");
	ARMCI_Barrier();
}

static void accumulate(void)
{
	void **at = calloc((size_t)size, sizeof *at);
	long scale = 2, three = 3, zero = 0, word = 0;

	ARMCI_Malloc(at, sizeof(long));
	ARMCI_Put(&zero, at[rank], sizeof zero, rank);
	ARMCI_Barrier();
	for (int i = 0; i < ROUNDS; i++)
		ARMCI_Acc(ARMCI_ACC_LNG, &scale, &three, at[i % size], sizeof three, i % size);
	ARMCI_AllFence();
	ARMCI_Barrier();
	ARMCI_Get(at[rank], &word, sizeof word, rank);
	MPI_Allreduce(MPI_IN_PLACE, &word, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	report(word == 6L * ROUNDS * size, "accumulate");
	ARMCI_Barrier();
	ARMCI_Free(at[rank]);
	free(at);
}

static void read_modify_write(void)
{
	void **at = calloc((size_t)size, sizeof *at);
	long zero = 0, before, highest = -1, word = 0;

	ARMCI_Malloc(at, sizeof(long));
	ARMCI_Put(&zero, at[rank], sizeof zero, rank);
	ARMCI_Barrier();
	for (int i = 0; i < ROUNDS; i++) {
		ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, at[0], 1, 0);
		highest = before > highest ? before : highest;
	}
	ARMCI_Barrier();
	ARMCI_Get(at[0], &word, sizeof word, 0);
	MPI_Allreduce(MPI_IN_PLACE, &highest, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
	report(word == (long)ROUNDS * size && highest == word - 1, "read-modify-write");
	ARMCI_Barrier();
	ARMCI_Free(at[rank]);
	free(at);
}

int main(int argc, char **argv)
{
	long zeros[WORDS] = {0};
	void **at;
	int status;

	MPI_Init(&argc, &argv);
	ARMCI_Init();
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	tap_silent = rank != 0;
	at = calloc((size_t)size, sizeof *at);
	ARMCI_Malloc(at, sizeof zeros);
	ARMCI_Put(zeros, at[rank], sizeof zeros, rank);
	ARMCI_Create_mutexes(1);
	ARMCI_Barrier();
	mutexes((long **)at);
	put_and_get((long **)at);
	ARMCI_Destroy_mutexes();
	ARMCI_Free(at[rank]);
	free(at);
	accumulate();
	read_modify_write();
	status = tap_plan();
	ARMCI_Finalize();
	MPI_Finalize();
	return status;
}
