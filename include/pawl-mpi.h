/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pawl's locks under MPI_Win_lock: what libpawl-mpi adds to the MPI.
 *
 * A program need not use this header: when libpawl-mpi is preloaded, or linked before the MPI, it
 * replaces the locking in MPI_Win_lock, MPI_Win_unlock, MPI_Win_lock_all and MPI_Win_unlock_all;
 * see pawl-mpi(7). The calls here are for programs that know of the library. They return MPI error
 * codes, and raise errors at the window's error handler, like the MPI's own calls.
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
 * Lock the bytes first .. last, both included, of the window memory of rank, and wait as long as it
 * takes. The window was created with info key pawl_ranges=1 (or the name of a kind of lock with
 * ranges). Bytes count from the base of that rank's memory, whatever its displacement unit; in
 * dynamic windows they are addresses. mode is PAWL_EXCLUSIVE or, if the kind has it (the kind of
 * pawl_ranges=1 does not), PAWL_SHARED, of pawl.h. Local (one-sided).
 *
 * In an epoch of the caller at that target (MPI_Win_lock, MPI_Win_lock_all), the range is locked
 * within that epoch and unlocked before it ends. Otherwise the call opens an epoch, with a shared
 * lock of the target, which all ranges of the target use until the last one is unlocked. So the
 * caller may use operations on the range, and a process that locks the target exclusively waits for
 * the ranges.
 *
 * MPI_ERR_UNSUPPORTED_OPERATION if the window has no ranges, or the kind does not have the mode;
 * MPI_ERR_RMA_SYNC if ranges of this process already include some of the bytes (with
 * MPI_THREAD_MULTIPLE the call waits until another thread unlocks them); nothing is locked then.
 */
int pawl_win_lock_range(MPI_Win win, int rank, MPI_Aint first, MPI_Aint last, int mode);

/* Complete all operations of the caller on that rank, then unlock the range with the same bounds.
 * MPI_ERR_RMA_SYNC if there is none. */
int pawl_win_unlock_range(MPI_Win win, int rank, MPI_Aint first, MPI_Aint last);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
