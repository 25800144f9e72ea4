/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that did not come by this layer.
 *
 * A program, or a library that it uses, may take a function from the MPI's library itself, by
 * dlsym(). That call is the MPI's alone, and nothing tells of it. What the layer can see of it
 * later is noticed here:
 *
 *   a window that was made so is locked       it has the locks of the MPI, on all processes
 *   a window that was freed so                its handle comes back with a new window
 *   a lock that was taken so is unlocked      the MPI has an epoch that the layer did not open
 *   nothing came by this layer                MPI was initialised, and not by this layer
 *
 * In all but the third case everything is the MPI's, and right. In the third, a window whose
 * locks all pass by is right, too. One with locks of both sorts is not: they do not exclude each
 * other. This process tells the two apart by whether it has had one of the layer's; then the
 * unlock is an error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dropin/dropin.h"

static atomic_bool seen;

void bypass_seen(void)
{
	atomic_store_explicit(&seen, true, memory_order_relaxed);
}

/* Of a process that may not be able to ask the MPI any more, by what launchers tell it. */
static bool may_be_first(void)
{
	static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
					    "SLURM_PROCID"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const char *rank = getenv(names[i]);

		if (rank)
			return strcmp(rank, "0") == 0;
	}
	return true;
}

__attribute__((destructor)) static void at_exit(void)
{
	int initialized = 0;

	if (atomic_load_explicit(&seen, memory_order_relaxed))
		return;
	PMPI_Initialized(&initialized);
	if (initialized && may_be_first())
		fprintf(stderr,
			"pawl: libpawl-mpi was loaded, but no call came by it: this program takes"
			" MPI's functions from the MPI's library itself, or from a library before"
			" this one; its windows kept the locks of the MPI\n");
}

void bypass_unknown(MPI_Win win)
{
	static atomic_flag told = ATOMIC_FLAG_INIT;

	bypass_seen();
	/* The MPI knows what that means. */
	if (win == MPI_WIN_NULL || atomic_flag_test_and_set(&told) || !may_be_first())
		return;
	fprintf(stderr, "pawl: a window keeps the locks of the MPI: the call that made it did not"
			" come by libpawl-mpi\n");
}

void bypass_stale(struct window *w, MPI_Comm comm)
{
	report_once(comm, "a window was freed past libpawl-mpi",
		    "the MPI has made another one with its handle; the locks of the old one are"
		    " not used again");
	windows_remove(w);
}

/* The MPI's answer, without its error handler. */
static int unlock_quietly(MPI_Win win, int rank)
{
	MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
	int rc;

	PMPI_Win_get_errhandler(win, &handler);
	PMPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	rc = rank < 0 ? next_mpi.Win_unlock_all(win) : next_mpi.Win_unlock(rank, win);
	PMPI_Win_set_errhandler(win, handler);
	if (handler != MPI_ERRHANDLER_NULL)
		PMPI_Errhandler_free(&handler);
	return rc;
}

static int unlock_without_lock(struct window *w, int rank)
{
	if (rank < 0)
		return dropin_raise(w->win, MPI_ERR_RMA_SYNC,
				    "MPI_Win_unlock_all without MPI_Win_lock_all");
	return dropin_raise(w->win, MPI_ERR_RMA_SYNC,
			    "MPI_Win_unlock of target %d, which is not locked", rank);
}

int bypass_unlock(struct window *w, int rank)
{
	static atomic_flag told = ATOMIC_FLAG_INIT;

	/* Some MPIs abort if there are other epochs of the window. */
	if (atomic_load_explicit(&w->locks, memory_order_relaxed) != 0 ||
	    unlock_quietly(w->win, rank) != MPI_SUCCESS)
		return unlock_without_lock(w, rank);
	if (atomic_load_explicit(&w->taken, memory_order_relaxed))
		return dropin_raise(w->win, MPI_ERR_RMA_SYNC,
				    "MPI_Win_unlock%s: the lock did not come by libpawl-mpi, and"
				    " others of this window did, which it does not exclude"
				    " (PAWL_LOCK=native gives all of them to the MPI)",
				    rank < 0 ? "_all" : "");
	if (!atomic_flag_test_and_set(&told))
		fprintf(stderr, "pawl: a lock of a window did not come by libpawl-mpi: it is the"
				" MPI's, and does not exclude those of this layer (PAWL_LOCK=native"
				" gives all of them to the MPI)\n");
	return MPI_SUCCESS;
}
