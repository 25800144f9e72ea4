/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI calls that this layer defines, for C. */
#include "dropin/dropin.h"
#include "observe/observe.h"

/* The program and tools link these in place of the MPI's. */
#pragma GCC visibility push(default)

/* A tool in front of this layer calls the MPI by its PMPI_* names (next.c). */
#ifdef PIC
#define UNDER_BOTH_NAMES(name, parameters, arguments) \
	extern __typeof__(MPI_##name) PMPI_##name __attribute__((alias("MPI_" #name)));
#else
#define UNDER_BOTH_NAMES(name, parameters, arguments)
#endif

#define INIT(name, parameters, arguments)               \
	int MPI_##name parameters                       \
	{                                               \
		int rc;                                 \
                                                        \
		if (is_behind())                        \
			return next_mpi.name arguments; \
		rc = next_##name arguments;             \
		if (rc == MPI_SUCCESS)                  \
			dropin_begin();                 \
		return rc;                              \
	}

#define MAKE(name, parameters, arguments)                                       \
	int MPI_##name parameters                                               \
	{                                                                       \
		int rc;                                                         \
                                                                                \
		if (is_behind())                                                \
			return next_mpi.name arguments;                         \
		rc = next_##name arguments;                                     \
		return rc == MPI_SUCCESS ? dropin_attach(comm, info, win) : rc; \
	}

DROPIN_INITS(INIT)
DROPIN_MAKERS(MAKE)

/* NULL: the call is for the MPI. If there is a tool behind this layer, the call may come from the
 * tool; if not, a known window is the program's. */
static inline struct window *ours(MPI_Win win)
{
	struct window *w = next_is_tool && is_behind() ? NULL : windows_find(win);

	if (__builtin_expect(w != NULL, 1))
		return w->pool ? w : NULL;
	if (!is_behind())
		bypass_unknown(win);
	return NULL;
}

int MPI_Win_free(MPI_Win *win)
{
	return is_behind() ? next_mpi.Win_free(win)
			   : dropin_free(win ? windows_find(*win) : NULL, win);
}

#ifdef OPEN_MPI
int MPI_Win_set_attr(MPI_Win win, int key, void *value)
{
	struct window *w = is_behind() ? NULL : windows_find(win);

	if (w)
		w->has_attributes = true;
	return is_behind() ? next_mpi.Win_set_attr(win, key, value)
			   : next_Win_set_attr(win, key, value);
}
#endif

static int unset_site(int rc)
{
	pawl_private_set_site(NULL);
	return rc;
}

/* A call for another window goes to the tool or the MPI unchanged. */
#define PASS(call) (is_behind() ? next_mpi.call : next_##call)

/* To observers the locks of the call come from the program's line, not from this layer's. */
#define FROM_HERE(call)                                                               \
	(__builtin_expect(w->observed, 0)                                             \
	     ? (pawl_private_set_site(__builtin_return_address(0)), unset_site(call)) \
	     : (call))

int MPI_Win_lock(int type, int rank, int assertion, MPI_Win win)
{
	struct window *w = ours(win);

	return w ? FROM_HERE(dropin_lock(w, type, rank, assertion))
		 : PASS(Win_lock(type, rank, assertion, win));
}

int MPI_Win_unlock(int rank, MPI_Win win)
{
	struct window *w = ours(win);

	return w ? FROM_HERE(dropin_unlock(w, rank)) : PASS(Win_unlock(rank, win));
}

int MPI_Win_lock_all(int assertion, MPI_Win win)
{
	struct window *w = ours(win);

	return w ? FROM_HERE(dropin_lock_all(w, assertion)) : PASS(Win_lock_all(assertion, win));
}

int MPI_Win_unlock_all(MPI_Win win)
{
	struct window *w = ours(win);

	return w ? FROM_HERE(dropin_unlock_all(w)) : PASS(Win_unlock_all(win));
}

#if !DROPIN_YIELDS

static inline void expect(MPI_Win win, bool all, int rank)
{
	const struct window *w = is_behind() ? NULL : windows_find(win);

	if (w && w->pool)
		completion_expect(w, all ? 0 : rank, all ? w->size - 1 : rank);
}

int MPI_Win_flush(int rank, MPI_Win win)
{
	expect(win, false, rank);
	return PASS(Win_flush(rank, win));
}

int MPI_Win_flush_local(int rank, MPI_Win win)
{
	expect(win, false, rank);
	return PASS(Win_flush_local(rank, win));
}

int MPI_Win_flush_all(MPI_Win win)
{
	expect(win, true, 0);
	return PASS(Win_flush_all(win));
}

int MPI_Win_flush_local_all(MPI_Win win)
{
	expect(win, true, 0);
	return PASS(Win_flush_local_all(win));
}

#endif

/* Without the flushes: Pawl calls PMPI_Win_flush for its own windows, and that is the MPI's. */
DROPIN_LOCKING(UNDER_BOTH_NAMES)
