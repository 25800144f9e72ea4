/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank waits for a message or for a lock, whichever comes first. Each rank gets numbers from its
 * neighbour and adds them to a total at rank 0, under a lock. While it awaits the lock it takes
 * further numbers, and adds all that have come when it has the lock.
 *
 *   mpirun -n 4 ./whichever
 *
 * Open MPI 4.1 needs OMPI_MCA_osc=^rdma for MPI_Win_allocate on one node.
 */
#include <pawl.h>
#include <stdio.h>
#include <stdlib.h>

enum { NUMBERS = 200, LOCK = 0 };
enum { MESSAGE, LOCKED, BOTH };

static void must(int code)
{
	if (code != PAWL_SUCCESS) {
		fprintf(stderr, "%s: %s\n", pawl_strerror(code), pawl_error_message());
		MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
	}
}

static void add_to_total(MPI_Win win, long sum)
{
	long total;

	MPI_Get(&total, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
	MPI_Win_flush(0, win);
	total += sum;
	MPI_Put(&total, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
	MPI_Win_flush(0, win); /* before the release */
}

/* Take all numbers, and add them; how often this rank had the lock. */
static int take_all(pawl_table *table, MPI_Win win, int from)
{
	MPI_Request both[BOTH] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
	pawl_request request;
	int taken = 0, holds = 0, which, done;
	long number, sum = 0;

	MPI_Irecv(&number, 1, MPI_LONG, from, 0, MPI_COMM_WORLD, &both[MESSAGE]);
	while (taken < NUMBERS || sum > 0) {
		if (sum > 0 && both[LOCKED] == MPI_REQUEST_NULL) {
			must(pawl_lock_iacquire(table, LOCK, PAWL_EXCLUSIVE, &request));
			must(pawl_request_mpi(&request, &both[LOCKED]));
		}
		MPI_Waitany(BOTH, both, &which, MPI_STATUS_IGNORE);
		if (which == MESSAGE) {
			sum += number;
			if (++taken < NUMBERS)
				MPI_Irecv(&number, 1, MPI_LONG, from, 0, MPI_COMM_WORLD,
					  &both[MESSAGE]);
		} else {
			must(pawl_request_test(&request, &done)); /* the lock is held now */
			add_to_total(win, sum);
			must(pawl_lock_release(table, LOCK));
			sum = 0;
			holds++;
		}
	}
	return holds;
}

int main(int argc, char **argv)
{
	MPI_Request sends[NUMBERS];
	long numbers[NUMBERS], *mine, wanted;
	int level, rank, ranks, holds, all_holds;
	pawl_table *table;
	MPI_Win win;

	/* A thread of the library completes the MPI's requests. */
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	must(pawl_table_create(MPI_COMM_WORLD, NULL, 1, MPI_INFO_NULL, &table));
	MPI_Win_allocate(sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
	*mine = 0;
	MPI_Win_lock_all(0, win);
	MPI_Win_sync(win);
	MPI_Barrier(MPI_COMM_WORLD);

	for (int i = 0; i < NUMBERS; i++) {
		numbers[i] = i + 1;
		MPI_Isend(&numbers[i], 1, MPI_LONG, (rank + 1) % ranks, 0, MPI_COMM_WORLD,
			  &sends[i]);
	}
	holds = take_all(table, win, (rank + ranks - 1) % ranks);
	for (int i = 0; i < NUMBERS; i++)
		MPI_Wait(&sends[i], MPI_STATUS_IGNORE);

	MPI_Reduce(&holds, &all_holds, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	MPI_Win_sync(win);
	wanted = (long)ranks * NUMBERS * (NUMBERS + 1) / 2;
	if (rank == 0)
		printf("total %ld of %ld, %d numbers in %d holds\n", *mine, wanted, ranks * NUMBERS,
		       all_holds);
	if (rank == 0 && *mine != wanted)
		MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	must(pawl_table_free(&table));
	MPI_Finalize();
	return 0;
}
