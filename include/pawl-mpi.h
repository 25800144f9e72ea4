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
 * Lock the bytes first .. last, both included, of the window memory of rank, and wait as long as
 * it takes; the window was made with info key pawl_ranges=1 (or the name of a kind of lock with
 * ranges). Bytes count from the base of that rank's memory, whatever its displacement unit; in
 * dynamic windows they are addresses. mode is PAWL_EXCLUSIVE or, if the kind has it (that of
 * pawl_ranges=1 has not), PAWL_SHARED, of pawl.h. Local (one-sided).
 *
 * Within an epoch of the caller for that target (MPI_Win_lock, MPI_Win_lock_all) the range is
 * locked in it, and unlocked before the epoch ends. Otherwise the call opens one, with a shared
 * lock of the target, which all ranges of the target use until the last one is unlocked. So
 * operations are allowed in between, and who locks the target exclusively waits for the ranges.
 *
 * MPI_ERR_UNSUPPORTED_OPERATION if the window has no ranges, or the kind no such mode;
 * MPI_ERR_RMA_SYNC if ranges of this process keep the bytes already (under MPI_THREAD_MULTIPLE
 * it waits for another thread to unlock them); nothing is locked then.
 */
int pawl_win_lock_range(MPI_Win win, int rank, MPI_Aint first, MPI_Aint last, int mode);

/* Complete all operations of the caller on that rank, then unlock what was locked with the
 * same bounds. MPI_ERR_RMA_SYNC if nothing was. */
int pawl_win_unlock_range(MPI_Win win, int rank, MPI_Aint first, MPI_Aint last);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
