/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks in a ring of a few places: rank 0 makes them, the other ranks take them. Who finds the ring
 * full, or empty, waits for a condition of the lock, and every change is notified. A semaphore lets
 * two ranks work at a time.
 *
 *   mpirun -n 4 ./tasks
 */
#include <limits.h>
#include <pawl.h>
#include <stdio.h>
#include <stdlib.h>

enum { TASKS = 100, PLACES = 4, WORKERS = 2 };
/* Numbers of the table: a lock with its condition, a semaphore, counters. */
enum { RING, WORKING, MADE, TAKEN, DONE, NUMBERS };

static pawl_table *table;

static void must(int code)
{
	if (code != PAWL_SUCCESS) {
		fprintf(stderr, "%s: %s\n", pawl_strerror(code), pawl_error_message());
		MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
	}
}

static int64_t add(int counter, int64_t value)
{
	int64_t before;

	must(pawl_counter_add(table, (uint64_t)counter, value, &before));
	return before;
}

/* Whether this rank has to wait: for a place, or for a task. */
static int must_wait(int rank)
{
	int64_t waiting = add(MADE, 0) - add(TAKEN, 0);

	return rank == 0 ? waiting == PLACES : waiting == 0 && add(TAKEN, 0) < TASKS;
}

/* Make a task, or take one; its number, or TASKS after the last one. */
static int64_t next(int rank)
{
	int64_t task;

	must(pawl_lock_acquire(table, RING, PAWL_EXCLUSIVE));
	while (must_wait(rank))
		must(pawl_lock_wait(table, RING));
	task = add(rank == 0 ? MADE : TAKEN, 0);
	if (task < TASKS)
		add(rank == 0 ? MADE : TAKEN, 1);
	must(pawl_lock_notify(table, RING, INT_MAX, NULL));
	must(pawl_lock_release(table, RING));
	return task;
}

int main(int argc, char **argv)
{
	int64_t done;
	MPI_Info info;
	int rank, ranks;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Info_create(&info);
	MPI_Info_set(info, "pawl_events", "yes");
	must(pawl_table_create(MPI_COMM_WORLD, NULL, NUMBERS, info, &table));
	MPI_Info_free(&info);
	if (rank == 0)
		must(pawl_semaphore_init(table, WORKING, WORKERS));
	MPI_Barrier(MPI_COMM_WORLD);

	while (ranks > 1 && next(rank) < TASKS) {
		if (rank == 0)
			continue;
		must(pawl_semaphore_acquire(table, WORKING));
		add(DONE, 1); /* the work */
		must(pawl_semaphore_release(table, WORKING, 1, WORKERS));
	}

	MPI_Barrier(MPI_COMM_WORLD);
	done = add(DONE, 0);
	if (rank == 0)
		printf("%lld tasks of %d\n", (long long)done, TASKS);
	if (ranks > 1 && done != TASKS)
		MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
	must(pawl_table_free(&table));
	MPI_Finalize();
	return 0;
}
