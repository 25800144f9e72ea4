/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls that create, open and free the library's own windows.
 *
 * The library calls PMPI_* throughout, so that a profiling tool sees only the program's calls.
 * libpawl-mpi defines PMPI_* names as well (for tools that are loaded before it), and must not put
 * Pawl locks under the library's own windows. It sets these pointers to the MPI's functions.
 */
#ifndef RMA_OWN_WINDOWS_H
#define RMA_OWN_WINDOWS_H

#include <mpi.h>

struct own_windows {
	__typeof__(PMPI_Win_create) *create;
	__typeof__(PMPI_Win_allocate_shared) *allocate_shared;
	__typeof__(PMPI_Win_free) *free;
	__typeof__(PMPI_Win_lock_all) *lock_all;
	__typeof__(PMPI_Win_unlock_all) *unlock_all;
};

/* PMPI_*, unless libpawl-mpi has set other functions. */
extern struct own_windows own_windows;

/* Exported for libpawl-mpi; in no installed header. To be called before the first table is
 * created. */
__attribute__((visibility("default"))) void
pawl_private_set_windows(const struct own_windows *calls);

#endif
