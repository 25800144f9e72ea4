/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All ranks increment one counter that lives at rank 0, by a get and a put
 * under one lock of a table of a thousand.
 *
 *   mpicc counter.c $(pkg-config --cflags --libs pawl) -o counter
 *   mpirun -n 4 ./counter
 *
 * Open MPI 4.1 needs OMPI_MCA_osc=^rdma for MPI_Win_allocate on one node.
 */
#include <pawl.h>
#include <stdio.h>
#include <stdlib.h>

enum { LOCKS = 1000, LOCK = 7, TURNS = 1000 };

static void must(int code)
{
	if (code != PAWL_SUCCESS) {
		fprintf(stderr, "%s: %s\n", pawl_strerror(code), pawl_error_message());
		MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
	}
}

int main(int argc, char **argv)
{
	pawl_table *table;
	MPI_Win win;
	long *mine, value;
	int rank, ranks, wrong;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	must(pawl_table_create(MPI_COMM_WORLD, NULL, LOCKS, MPI_INFO_NULL, &table));
	MPI_Win_allocate(sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
	MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
	*mine = 0;
	MPI_Win_sync(win);
	MPI_Barrier(MPI_COMM_WORLD);

	for (int i = 0; i < TURNS; i++) {
		must(pawl_lock_acquire(table, LOCK, PAWL_EXCLUSIVE));
		MPI_Get(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
		MPI_Win_flush(0, win);
		value++;
		MPI_Put(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
		MPI_Win_flush(0, win); /* so that the next holder sees it */
		must(pawl_lock_release(table, LOCK));
	}

	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Get(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
	MPI_Win_flush(0, win);
	wrong = value != (long)ranks * TURNS;
	if (rank == 0)
		printf("counter: %ld, expected %ld\n", value, (long)ranks * TURNS);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	must(pawl_table_free(&table));
	MPI_Finalize();
	return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
