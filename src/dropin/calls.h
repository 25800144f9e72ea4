/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that lock, for C (calls.c) and Fortran (fortran.c). site is the return address of the
 * program's call, for observers of the locks. */
#ifndef DROPIN_CALLS_H
#define DROPIN_CALLS_H

#include "dropin/dropin.h"
#include "observe/observe.h"

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

/* MPICH 4.0 never grants an exclusive lock after one with MPI_MODE_NOCHECK. A window of one process
 * needs no locks, so all of its epochs are opened in that way. */
static inline int alone(MPI_Win win)
{
	const struct window *w = is_behind() ? NULL : windows_find(win);

	return w && w->alone ? MPI_MODE_NOCHECK : 0;
}

static inline int unset_site(int rc)
{
	pawl_private_set_site(NULL);
	return rc;
}

/* A call for another window goes to the tool or the MPI unchanged. */
#define PASS(call) (is_behind() ? next_mpi.call : next_##call)

/* To observers the locks of the call come from the program's line, not from this layer's. */
#define FROM(site, call)                                                                    \
	(__builtin_expect(w->observed, 0) ? (pawl_private_set_site(site), unset_site(call)) \
					  : (call))

static inline int call_free(MPI_Win *win)
{
	return is_behind() ? next_mpi.Win_free(win)
			   : dropin_free(win ? windows_find(*win) : NULL, win);
}

static inline int call_lock(const void *site, int type, int rank, int assertion, MPI_Win win)
{
	struct window *w = ours(win);

	return w ? FROM(site, dropin_lock(w, type, rank, assertion))
		 : PASS(Win_lock(type, rank, assertion | alone(win), win));
}

static inline int call_unlock(const void *site, int rank, MPI_Win win)
{
	struct window *w = ours(win);

	return w ? FROM(site, dropin_unlock(w, rank)) : PASS(Win_unlock(rank, win));
}

static inline int call_lock_all(const void *site, int assertion, MPI_Win win)
{
	struct window *w = ours(win);

	return w ? FROM(site, dropin_lock_all(w, assertion))
		 : PASS(Win_lock_all(assertion | alone(win), win));
}

static inline int call_unlock_all(const void *site, MPI_Win win)
{
	struct window *w = ours(win);

	return w ? FROM(site, dropin_unlock_all(w)) : PASS(Win_unlock_all(win));
}

#endif
