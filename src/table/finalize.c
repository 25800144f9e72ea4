/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Finalize on MPICH, in front of the MPI's.
 *
 * MPICH (4.0.2 and, by its source, up to 4.2) turns its locks off at the start of MPI_Finalize, and
 * deletes the attributes of MPI_COMM_SELF after that. A thread that is inside an MPI call
 * meanwhile leaves it without the unlock, and MPICH aborts when it destroys the mutex (an
 * assertion in src/mpi/init/mutex.c); a thread that enters one runs beside the main thread
 * without any lock. So threads that call the MPI for a table have to end before: an attribute, as
 * life.c has it, comes too late. It is still there, for programs in which these definitions are not
 * in front: those that load this library by dlopen(), and, linked statically, those of a PMPI tool.
 *
 * Both names are defined, for a tool that is loaded before this library calls PMPI_Finalize, and
 * one that is loaded after it is next under the name MPI_Finalize. In a static library the linker
 * would find the MPI's PMPI_Finalize twice.
 */
#include <dlfcn.h>
#include <string.h>

#include "table/table.h"

#ifdef MPICH_VERSION
#ifdef PIC
#define PUBLIC __attribute__((visibility("default")))

static int finalize_next(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);
	int (*next)(void);

	life_end_threads();
	if (!found)
		return MPI_ERR_INTERN;
	memcpy(&next, &found, sizeof next);
	return next();
}

PUBLIC int MPI_Finalize(void)
{
	return finalize_next("MPI_Finalize");
}

PUBLIC int PMPI_Finalize(void)
{
	return finalize_next("PMPI_Finalize");
}
#else
__attribute__((weak)) int MPI_Finalize(void)
{
	life_end_threads();
	return PMPI_Finalize();
}
#endif
#endif
