/* SPDX-License-Identifier: BSD-3-Clause */
/* A window and a lock of it, for tests/two-mpis.sh, which preloads the layer. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	MPI_Win win;
	int *base;

	MPI_Init(&argc, &argv);
	MPI_Win_allocate(16, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
	MPI_Win_unlock(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
