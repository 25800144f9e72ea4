/* SPDX-License-Identifier: BSD-3-Clause */
/* The C half of fortran.F90: the same critical section in the same window. */
#include <mpi.h>

int add_in_c(int handle, int target, int assertion);

int add_in_c(int handle, int target, int assertion)
{
	MPI_Win win = MPI_Win_f2c(handle);
	MPI_Aint word;

	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, assertion, win);
	MPI_Get(&word, 1, MPI_AINT, target, 0, 1, MPI_AINT, win);
	MPI_Win_flush(target, win);
	for (double end = MPI_Wtime() + 20e-6; MPI_Wtime() < end;) {
		int flag;

		MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	}
	word++;
	MPI_Put(&word, 1, MPI_AINT, target, 0, 1, MPI_AINT, win);
	return MPI_Win_unlock(target, win);
}
