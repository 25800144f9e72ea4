/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that is slow because of one lock: find the lock, the rank that holds it, and the line.
 *
 * All ranks compute, take locks of a table of a thousand at random, and hold each for a moment.
 * Once in each round they also take lock 5. Rank 1 holds it for 3 ms each time.
 *
 *   mpicc -g contended.c $(pkg-config --cflags --libs pawl) -o contended
 *   PAWL_STATS=1 mpirun -n 4 ./contended
 *
 * With argument "window", the locks are those of MPI_Win_lock instead: target 0 of a window is the
 * one that rank 1 holds. Load libpawl-mpi for that (LD_PRELOAD).
 */
#include <pawl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LOCKS = 1000, HOT = 5, SLOW_RANK = 1, ROUNDS = 60, COLD_A_ROUND = 20 };

static void must(int code)
{
	if (code != PAWL_SUCCESS) {
		fprintf(stderr, "%s: %s\n", pawl_strerror(code), pawl_error_message());
		MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
	}
}

static void work(double seconds)
{
	struct timespec t = {0, (long)(seconds * 1e9)};

	nanosleep(&t, NULL);
}

static void update_cold(pawl_table *table, uint64_t lock)
{
	must(pawl_lock_acquire(table, lock, PAWL_EXCLUSIVE));
	must(pawl_lock_release(table, lock));
}

static void update_hot(pawl_table *table, int rank)
{
	must(pawl_lock_acquire(table, HOT, PAWL_EXCLUSIVE)); /* the line to find */
	if (rank == SLOW_RANK)
		work(3e-3);
	must(pawl_lock_release(table, HOT));
}

static void update_target(MPI_Win win, int target, int rank)
{
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win); /* the line to find */
	if (rank == SLOW_RANK && target == 0)
		work(3e-3);
	MPI_Win_unlock(target, win);
}

static void by_window(int rank, int ranks)
{
	static long data;
	MPI_Win win;

	MPI_Win_create(&data, sizeof data, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "data");
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < ROUNDS; i++) {
		work(1e-3);
		update_target(win, rand() % ranks, rank);
		update_target(win, 0, rank);
	}
	MPI_Win_free(&win);
}

static void by_table(int rank)
{
	pawl_table *table;

	/* A kind that knows which client had a lock before, so that the report can say how far
	 * locks travel. */
	must(pawl_table_create(MPI_COMM_WORLD, "rma-mcs", LOCKS, MPI_INFO_NULL, &table));
	must(pawl_table_set_name(table, "directory"));
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < ROUNDS; i++) {
		work(1e-3);
		for (int k = 0; k < COLD_A_ROUND; k++)
			update_cold(table, (uint64_t)rand() % LOCKS);
		update_hot(table, rank);
	}
	must(pawl_table_free(&table));
}

int main(int argc, char **argv)
{
	int rank, ranks;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	srand((unsigned)rank);
	if (argc > 1 && strcmp(argv[1], "window") == 0)
		by_window(rank, ranks);
	else
		by_table(rank);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		puts("done");
	MPI_Finalize();
	return 0;
}
