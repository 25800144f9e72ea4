/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of the MPI that this layer stands before, as C sees them. */
#include "dropin/dropin.h"

/* These are for the program to find instead of the MPI's. */
#pragma GCC visibility push(default)

static int made(int rc, MPI_Comm comm, MPI_Info info, MPI_Win *win)
{
	return rc == MPI_SUCCESS && !dropin_inside() ? dropin_attach(comm, info, win) : rc;
}

int MPI_Win_create(void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
	return made(PMPI_Win_create(base, size, unit, info, comm, win), comm, info, win);
}

int MPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base,
		     MPI_Win *win)
{
	return made(PMPI_Win_allocate(size, unit, info, comm, base, win), comm, info, win);
}

int MPI_Win_allocate_shared(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base,
			    MPI_Win *win)
{
	return made(PMPI_Win_allocate_shared(size, unit, info, comm, base, win), comm, info, win);
}

int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
	return made(PMPI_Win_create_dynamic(info, comm, win), comm, info, win);
}

#if MPI_VERSION >= 4
int MPI_Win_create_c(void *base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm,
		     MPI_Win *win)
{
	return made(PMPI_Win_create_c(base, size, unit, info, comm, win), comm, info, win);
}

int MPI_Win_allocate_c(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void *base,
		       MPI_Win *win)
{
	return made(PMPI_Win_allocate_c(size, unit, info, comm, base, win), comm, info, win);
}

int MPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm,
			      void *base, MPI_Win *win)
{
	return made(PMPI_Win_allocate_shared_c(size, unit, info, comm, base, win), comm, info, win);
}
#endif

int MPI_Win_free(MPI_Win *win)
{
	return dropin_free(win ? windows_find(*win) : NULL, win);
}

int MPI_Win_lock(int type, int rank, int assertion, MPI_Win win)
{
	struct window *w = windows_find(win);

	return w ? dropin_lock(w, type, rank, assertion)
		 : PMPI_Win_lock(type, rank, assertion, win);
}

int MPI_Win_unlock(int rank, MPI_Win win)
{
	struct window *w = windows_find(win);

	return w ? dropin_unlock(w, rank) : PMPI_Win_unlock(rank, win);
}

int MPI_Win_lock_all(int assertion, MPI_Win win)
{
	struct window *w = windows_find(win);

	return w ? dropin_lock_all(w, assertion) : PMPI_Win_lock_all(assertion, win);
}

int MPI_Win_unlock_all(MPI_Win win)
{
	struct window *w = windows_find(win);

	return w ? dropin_unlock_all(w) : PMPI_Win_unlock_all(win);
}
