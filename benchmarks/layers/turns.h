/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What any lock is measured against: the processes execute their sections one process after the
 * other, without a lock, and pass the turn by a message. Of those that wait, process 0, which has
 * the data, drives the MPI all the time, and the others sleep, so that the cores are for process 0
 * and for the one that has the turn.
 */
#ifndef LAYERS_TURNS_H
#define LAYERS_TURNS_H

#include <mpi.h>
#include <time.h>

static inline void turns_await_from(int from, int rank)
{
	const struct timespec nap = {0, 200000};
	int here = 0;

	for (;;) {
		MPI_Iprobe(from, 0, MPI_COMM_WORLD, &here, MPI_STATUS_IGNORE);
		if (here)
			break;
		if (rank != 0)
			nanosleep(&nap, NULL);
	}
	MPI_Recv(NULL, 0, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static inline void turns_begin(int rank)
{
	if (rank > 0)
		turns_await_from(rank - 1, rank);
}

/* Process 0 serves the others until the last has ended, and then all go on. */
static inline void turns_end(int rank, int size)
{
	const int next = (rank + 1) % size;

	if (size == 1)
		return;
	MPI_Send(NULL, 0, MPI_INT, next, 0, MPI_COMM_WORLD);
	turns_await_from((rank + size - 1) % size, rank);
	if (next != 0)
		MPI_Send(NULL, 0, MPI_INT, next, 0, MPI_COMM_WORLD);
}

#endif
