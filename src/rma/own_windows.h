/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls that create, open and free the library's own windows, and its accumulates in them.
 *
 * The library calls PMPI_* throughout, so that a profiling tool sees only the program's calls.
 * libpawl-mpi defines PMPI_* names as well (for tools that are loaded before it), and must not put
 * Pawl's locks under the library's own windows, nor a check under its accumulates. It sets these
 * pointers to the MPI's functions.
 */
#ifndef RMA_OWN_WINDOWS_H
#define RMA_OWN_WINDOWS_H

#include <mpi.h>
#include <stdbool.h>

struct own_windows {
	__typeof__(PMPI_Win_create) *create;
	__typeof__(PMPI_Win_allocate_shared) *allocate_shared;
	__typeof__(PMPI_Win_free) *free;
	__typeof__(PMPI_Win_lock_all) *lock_all;
	__typeof__(PMPI_Win_unlock_all) *unlock_all;
	__typeof__(PMPI_Fetch_and_op) *fetch_and_op;
	__typeof__(PMPI_Compare_and_swap) *compare_and_swap;
};

/* PMPI_*, unless libpawl-mpi has set other functions. */
extern struct own_windows own_windows;

/* After a window was to be created over comm, with result rc on this rank: whether all ranks have
 * it. Its errors return from now on. If some rank lacks it, the others leave it to the MPI and have
 * none, either, because MPI_Win_free() would wait for that rank. Collective. */
bool own_windows_agree(MPI_Comm comm, int rc, MPI_Win *win);

/* Exported for libpawl-mpi; in no installed header. To be called before the first table is
 * created. */
__attribute__((visibility("default"))) void
pawl_private_set_windows(const struct own_windows *calls);

#endif
