/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI calls that this layer defines, for C. */
#include "dropin/calls.h"

#define INIT(name, parameters, arguments)               \
	static int body_##name parameters               \
	{                                               \
		int rc;                                 \
                                                        \
		if (is_behind())                        \
			return next_mpi.name arguments; \
		presence_before_init();                 \
		rc = next_##name arguments;             \
		if (rc == MPI_SUCCESS)                  \
			dropin_begin();                 \
		return rc;                              \
	}

#define MAKE(name, parameters, arguments)                                       \
	static int body_##name parameters                                       \
	{                                                                       \
		int rc;                                                         \
                                                                                \
		if (is_behind())                                                \
			return next_mpi.name arguments;                         \
		presence_announce();                                            \
		rc = next_##name arguments;                                     \
		return rc == MPI_SUCCESS ? dropin_attach(comm, info, win) : rc; \
	}

DROPIN_INITS(INIT)
DROPIN_MAKERS(MAKE)

#if MPI_VERSION >= 4
static int body_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session *session)
{
	int rc;

	if (is_behind())
		return next_mpi.Session_init(info, handler, session);
	presence_before_init();
	rc = next_Session_init(info, handler, session);
	if (rc == MPI_SUCCESS)
		presence_session(*session);
	return rc;
}
#endif

#ifdef OPEN_MPI
static int body_Win_set_attr(MPI_Win win, int key, void *value)
{
	struct window *w = is_behind() ? NULL : windows_find(win);

	if (w)
		w->has_attributes = true;
	return PASS(Win_set_attr(win, key, value));
}
#endif

#define body_Finalize() PASS(Finalize())
#define body_Win_free(win) call_free(win)
#define body_Win_lock(type, rank, assertion, win) call_lock(site, type, rank, assertion, win)
#define body_Win_unlock(rank, win) call_unlock(site, rank, win)
#define body_Win_lock_all(assertion, win) call_lock_all(site, assertion, win)
#define body_Win_unlock_all(win) call_unlock_all(site, win)

/* The program and tools link these in place of the MPI's. */
#pragma GCC visibility push(default)

#define UNDER_MPI(name, parameters, arguments)                        \
	int MPI_##name parameters                                     \
	{                                                             \
		const void *const site = __builtin_return_address(0); \
                                                                      \
		(void)site;                                           \
		return body_##name arguments;                         \
	}
DROPIN_LOCKING(UNDER_MPI)

/* A tool in front of this layer calls the MPI by its PMPI_* names, and so does a tool behind it,
 * also in calls that this layer does not have (next.c). Not the flushes: Pawl calls PMPI_Win_flush
 * for its own windows, and that is the MPI's. */
#ifdef PIC
#define UNDER_PMPI(name, parameters, arguments)                       \
	int PMPI_##name parameters                                    \
	{                                                             \
		const void *const site = __builtin_return_address(0); \
		const bool behind = next_is_tool && next_has(site);   \
		int rc;                                               \
                                                                      \
		behind_depth += behind;                               \
		rc = body_##name arguments;                           \
		behind_depth -= behind;                               \
		return rc;                                            \
	}
DROPIN_LOCKING(UNDER_PMPI)
#endif

/* NULL: the window has the MPI's locks, or the call is from behind this layer. */
static inline const struct window *expect(MPI_Win win, bool all, int rank)
{
	const struct window *w = is_behind() ? NULL : windows_find(win);

	if (!w || !w->pool)
		return NULL;
	if (!DROPIN_YIELDS)
		completion_expect(w, all ? 0 : rank, all ? w->size - 1 : rank);
	return w;
}

/* Between hosts Open MPI's osc/ucx does not look at the network in a flush of the own rank. A
 * process that polls a word of its own window would never see what others write there. */
static inline int flushed(const struct window *w, bool all, int rank, int rc)
{
	if (w && w->pool->far && (all || rank == w->pool->rank))
		dropin_drive(w);
	return rc;
}

int MPI_Win_flush(int rank, MPI_Win win)
{
	const struct window *w = expect(win, false, rank);

	return flushed(w, false, rank, PASS(Win_flush(rank, win)));
}

int MPI_Win_flush_local(int rank, MPI_Win win)
{
	const struct window *w = expect(win, false, rank);

	return flushed(w, false, rank, PASS(Win_flush_local(rank, win)));
}

int MPI_Win_flush_all(MPI_Win win)
{
	const struct window *w = expect(win, true, 0);

	return flushed(w, true, 0, PASS(Win_flush_all(win)));
}

int MPI_Win_flush_local_all(MPI_Win win)
{
	const struct window *w = expect(win, true, 0);

	return flushed(w, true, 0, PASS(Win_flush_local_all(win)));
}

#pragma GCC visibility pop
#define FLUSH_ALIAS(name, parameters, arguments) \
	int dropin_##name parameters __attribute__((alias("MPI_" #name)));
DROPIN_FLUSHES(FLUSH_ALIAS)
