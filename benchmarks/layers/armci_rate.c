/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sections a second under one ARMCI mutex of process 0, by all processes
 * together, for benchmarks/layers/run.
 *   armci_rate SECONDS empty|counter [turns]
 * All processes execute the same number of sections; more and more of them,
 * until they take SECONDS. counter: each section adds 1 to a word of process 0.
 * turns: one process after the other, without locks.
 */
#include <armci.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "turns.h"

static void add(void *at)
{
	long word;

	ARMCI_Get(at, &word, sizeof word, 0);
	word++;
	ARMCI_Put(&word, at, sizeof word, 0);
	ARMCI_Fence(0);
}

static void execute(long sections, void *counter)
{
	for (long i = 0; i < sections; i++) {
		ARMCI_Lock(0, 0);
		if (counter)
			add(counter);
		ARMCI_Unlock(0, 0);
	}
}

static void execute_in_turn(long sections, void *counter, int rank, int size)
{
	turns_begin(rank);
	for (long i = 0; i < sections; i++)
		add(counter);
	turns_end(rank, size);
}

int main(int argc, char **argv)
{
	const double seconds = argc > 1 ? atof(argv[1]) : 0.3;
	const int count = argc > 2 && strcmp(argv[2], "counter") == 0, turns = argc > 3;
	long sections = 5, total = 0, more, word = 0;
	int rank, size;
	double took;
	void **at;

	MPI_Init(&argc, &argv);
	ARMCI_Init();
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	at = calloc((size_t)size, sizeof *at);
	ARMCI_Malloc(at, 16);
	ARMCI_Put(&word, at[rank], sizeof word, rank);
	ARMCI_Create_mutexes(1);
	for (;;) {
		ARMCI_Barrier();
		took = MPI_Wtime();
		if (turns)
			execute_in_turn(sections, at[0], rank, size);
		else
			execute(sections, count ? at[0] : NULL);
		ARMCI_Barrier();
		took = MPI_Wtime() - took;
		total += sections;
		MPI_Bcast(&took, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
		if (took >= seconds)
			break;
		more = (long)(1.2 * seconds / took);
		sections *= more < 2 ? 2 : more > 8 ? 8 : more;
	}
	ARMCI_Get(at[0], &word, sizeof word, 0);
	if (count && word != total * size)
		MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
	if (rank == 0)
		printf("%.1f\n", (double)(sections * size) / took);
	ARMCI_Barrier();
	ARMCI_Destroy_mutexes();
	ARMCI_Free(at[rank]);
	free(at);
	ARMCI_Finalize();
	MPI_Finalize();
	return 0;
}
