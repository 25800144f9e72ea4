/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls that make, open and free the windows of the library itself.
 *
 * The library calls PMPI_* throughout, so that a profiling tool sees the calls of the program
 * alone. libpawl-mpi defines PMPI_* names, too (for tools that are loaded before it), and must
 * not give locks of ours to windows of ours: it sets these pointers to the MPI's functions.
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

/* PMPI_*, unless libpawl-mpi has set others. */
extern struct own_windows own_windows;

/* Exported for libpawl-mpi, in no installed header. Before the first table. */
__attribute__((visibility("default"))) void
pawl_private_set_windows(const struct own_windows *calls);

#endif
