/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pawl's locks under MPI_Win_lock: what libpawl-mpi adds to the MPI.
 *
 * A program needs nothing from this header to profit: preloaded, or linked before
 * the MPI, libpawl-mpi replaces the locking in MPI_Win_lock, MPI_Win_unlock,
 * MPI_Win_lock_all and MPI_Win_unlock_all; see pawl-mpi(7). The calls here are
 * for programs that know it. They return MPI error codes, and errors go to the
 * window's error handler, as those of the MPI's own calls.
 */
#ifndef PAWL_MPI_H
#define PAWL_MPI_H

#include <mpi.h>
#include <pawl.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/*
 * Lock the bytes first .. last of the window memory of rank, in the mode
 * PAWL_EXCLUSIVE or PAWL_SHARED of pawl.h, and wait as long as it takes; the window
 * was made with info key pawl_ranges=1. Local (one-sided).
 * This version of the library has no range locks: MPI_ERR_UNSUPPORTED_OPERATION,
 * and nothing is locked.
 */
int pawl_win_lock_range(MPI_Win win, int rank, MPI_Aint first, MPI_Aint last, int mode);

/* Unlock what was locked with the same bounds, after all operations of the caller
 * on that rank are complete. MPI_ERR_UNSUPPORTED_OPERATION as above. */
int pawl_win_unlock_range(MPI_Win win, int rank, MPI_Aint first, MPI_Aint last);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
