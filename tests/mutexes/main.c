/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program around the code of doc/mutexes.md (BLOCK, a file): all ranks change a counter at rank 0
 * under the mutex, by a get and a put, and no change may be lost. WINDOW: the block has add(), and
 * with WINDOW 2 also start() and stop(). Ends with 0 if all is well.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include BLOCK

enum { TURNS = 100 };

static long *words;

int main(int argc, char **argv)
{
	int rank, ranks, lost;
	MPI_Win win;

	alarm(50);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	/* 16 bytes, because of MPICH 4.0's trap with other sizes (pawl-info) */
	MPI_Win_allocate(2 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &words,
			 &win);
	*words = 0;
	MPI_Barrier(MPI_COMM_WORLD);
#if defined WINDOW
#if WINDOW == 2
	start(MPI_COMM_WORLD, win);
#endif
	for (int i = 0; i < TURNS; i++)
		add(win, 0, 1);
	MPI_Barrier(MPI_COMM_WORLD);
#if WINDOW == 2
	stop(win);
#endif
#else
	mutex_create(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
	for (int i = 0; i < TURNS; i++) {
		long value;

		mutex_acquire();
		MPI_Get(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
		MPI_Win_flush(0, win);
		value++;
		MPI_Put(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
		MPI_Win_flush(0, win);
		mutex_release();
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_unlock_all(win);
	mutex_free();
#endif
	MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
	lost = rank == 0 && *words != (long)TURNS * ranks;
	MPI_Win_unlock(rank, win);
	if (lost)
		printf("%ld changes of %ld\n", *words, (long)TURNS * ranks);
	MPI_Win_free(&win);
	MPI_Finalize();
	return lost ? EXIT_FAILURE : EXIT_SUCCESS;
}
