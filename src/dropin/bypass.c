/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that do not go through this layer.
 *
 * A program, or a library that it uses, may get a function from the MPI's library itself by
 * dlsym(). The layer does not see such calls. It notices these consequences:
 *
 *   a window was created so        a lock of an unknown window: all processes use the MPI's locks
 *   a window was freed so          its handle comes back with a new window
 *   a lock was acquired so         at the unlock, the MPI has an epoch that the layer did not open
 *   all calls are made so          at exit, MPI was initialised, but not through this layer
 *
 * Only the third case can be wrong: the layer's locks and the MPI's do not exclude each other. If
 * this process has acquired one of the layer's locks on the window, the unlock is an error. If all
 * locks of the window bypass the layer, exclusion holds.
 */
#include <stdio.h>

#include "dropin/dropin.h"

const char layer_library[] = "libpawl-mpi";

static atomic_bool seen;

void bypass_seen(void)
{
	if (!atomic_load_explicit(&seen, memory_order_relaxed) &&
	    !atomic_exchange_explicit(&seen, true, memory_order_relaxed))
		message_check_mpi();
}

__attribute__((destructor)) static void at_exit(void)
{
	int initialized = 0;

	if (atomic_load_explicit(&seen, memory_order_relaxed))
		return;
	PMPI_Initialized(&initialized);
	if (initialized && message_may_be_first())
		fprintf(stderr,
			"pawl: libpawl-mpi was loaded, but no call reached it: this program gets"
			" MPI's functions from the MPI's library itself, or from a library before"
			" this one; its windows kept the locks of the MPI\n");
}

void bypass_unknown(MPI_Win win)
{
	static atomic_flag warned = ATOMIC_FLAG_INIT;

	bypass_seen();
	/* The MPI raises the error. */
	if (win == MPI_WIN_NULL || atomic_flag_test_and_set(&warned) || !message_may_be_first())
		return;
	fprintf(stderr,
		"pawl: a window keeps the locks of the MPI: it was created by a call that did"
		" not reach libpawl-mpi\n");
}

void bypass_stale(MPI_Comm comm)
{
	message_once(comm, "a window was freed past libpawl-mpi",
		     "the MPI has made another one with its handle; the locks of the old one are"
		     " not used again");
}

/* The MPI's unlock; errors are returned and not raised. */
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
	static atomic_flag warned = ATOMIC_FLAG_INIT;

	/* Some MPIs abort at an unlock without a lock if the window has other epochs. */
	if (atomic_load_explicit(&w->locks, memory_order_relaxed) != 0 ||
	    unlock_quietly(w->win, rank) != MPI_SUCCESS)
		return unlock_without_lock(w, rank);
	if (atomic_load_explicit(&w->taken, memory_order_relaxed))
		return dropin_raise(
		    w->win, MPI_ERR_RMA_SYNC,
		    "MPI_Win_unlock%s: this lock was acquired past libpawl-mpi, and"
		    " others of this window through it; they do not exclude each other"
		    " (PAWL_LOCK=native gives all of them to the MPI)",
		    rank < 0 ? "_all" : "");
	if (!atomic_flag_test_and_set(&warned))
		fprintf(stderr, "pawl: a lock of a window was acquired past libpawl-mpi: it is the"
				" MPI's, and does not exclude those of this layer (PAWL_LOCK=native"
				" gives all of them to the MPI)\n");
	return MPI_SUCCESS;
}
