/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI calls that this layer defines, for C. */
#include "dropin/calls.h"
#include "dropin/request.h"

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

#define ALLOCATE(name, parameters, arguments)                                     \
	static int body_##name parameters                                         \
	{                                                                         \
		struct making m;                                                  \
		int rc;                                                           \
                                                                                  \
		if (is_behind())                                                  \
			return next_mpi.name arguments;                           \
		presence_announce();                                              \
		if (!dropin_allocate(&m, comm, info, size, unit, base, win, &rc)) \
			return rc;                                                \
		return dropin_allocated(&m, next_##name arguments, win);          \
	}

DROPIN_INITS(INIT)
DROPIN_MAKERS(MAKE)
DROPIN_ALLOCATE(ALLOCATE)

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

/* ------------------------------------------------------------------ atomics */

/* NULL: the window's accumulates are the MPI's. */
static inline struct window *with_atomics(MPI_Win win)
{
	struct window *w;

	if (__builtin_expect(atomic_load_explicit(&atomics_windows, memory_order_relaxed) == 0, 1))
		return NULL;
	w = windows_find(win);
	return w && w->atomics ? w : NULL;
}

#define FROM_ORIGIN                                                                     \
	.origin = origin, .ocount = ocount, .otype = otype, .rank = rank, .disp = disp, \
	.tcount = tcount, .ttype = ttype, .op = op
#define TO_RESULT .fetches = true, .result = result, .rcount = rcount, .rtype = rtype

#define INSTEAD_Accumulate atomics_access(w, &(struct access){FROM_ORIGIN}, NULL)
#define INSTEAD_Raccumulate atomics_access(w, &(struct access){FROM_ORIGIN}, request)
#define INSTEAD_Get_accumulate atomics_access(w, &(struct access){FROM_ORIGIN, TO_RESULT}, NULL)
#define INSTEAD_Rget_accumulate atomics_access(w, &(struct access){FROM_ORIGIN, TO_RESULT}, request)
#define INSTEAD_Accumulate_c INSTEAD_Accumulate
#define INSTEAD_Raccumulate_c INSTEAD_Raccumulate
#define INSTEAD_Get_accumulate_c INSTEAD_Get_accumulate
#define INSTEAD_Rget_accumulate_c INSTEAD_Rget_accumulate
#define INSTEAD_Fetch_and_op atomics_fetch_and_op(w, origin, result, type, rank, disp, op)
#define INSTEAD_Compare_and_swap \
	atomics_compare_and_swap(w, origin, compare, result, type, rank, disp)
#define INSTEAD_Win_fence atomics_fence(w, assertion)
#define INSTEAD_Win_post matched(w, group, PASS(Win_post(group, assertion, win)), true)
#define INSTEAD_Win_start matched(w, group, PASS(Win_start(group, assertion, win)), false)
#define INSTEAD_Win_complete completed(w, win)
#define INSTEAD_Win_attach attached(w, base, size, PASS(Win_attach(win, base, size)))
#define INSTEAD_Win_detach detached(w, base, PASS(Win_detach(win, base)))
#define INSTEAD_Win_get_attr flavor(w, key, value, flag, PASS(Win_get_attr(win, key, value, flag)))

static inline int matched(struct window *w, MPI_Group group, int rc, bool posts)
{
	return rc == MPI_SUCCESS ? atomics_matched(w, group, posts) : rc;
}

static inline int completed(struct window *w, MPI_Win win)
{
	const int ours = atomics_complete(w, -1, false), rc = PASS(Win_complete(win));

	atomics_ended(w);
	return ours == MPI_SUCCESS ? rc : ours;
}

static inline int attached(struct window *w, void *base, MPI_Aint size, int rc)
{
	return rc == MPI_SUCCESS ? atomics_attached(w, base, size) : rc;
}

static inline int detached(struct window *w, const void *base, int rc)
{
	if (rc == MPI_SUCCESS)
		atomics_detached(w, base);
	return rc;
}

static inline int flavor(const struct window *w, int key, void *value, const int *flag, int rc)
{
	static int allocated = MPI_WIN_FLAVOR_ALLOCATE;

	if (rc == MPI_SUCCESS && key == MPI_WIN_CREATE_FLAVOR && *flag && atomics_hide_flavor(w))
		*(int **)value = &allocated;
	return rc;
}

#define OF_ATOMICS(name, parameters, arguments)                   \
	static inline int body_##name parameters                  \
	{                                                         \
		struct window *w = with_atomics(win);             \
                                                                  \
		return w ? INSTEAD_##name : PASS(name arguments); \
	}
DROPIN_ATOMICS(OF_ATOMICS)

/* --------------------------------------------------------------------- locks */

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
#ifdef PIC
DROPIN_ATOMICS(UNDER_MPI)
#endif

/* A tool in front of this layer calls the MPI by its PMPI_* names, and so does a tool behind it,
 * also in calls that this layer does not have (next.c). */
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
DROPIN_ATOMICS(UNDER_PMPI)
#endif

/* NULL: the window has the MPI's locks, or the call is from behind this layer. */
static inline struct window *expect(MPI_Win win, int rank)
{
	struct window *w = is_behind() ? NULL : windows_find(win);

	if (!w || !w->pool)
		return NULL;
	if (!DROPIN_YIELDS)
		completion_expect(w, rank < 0 ? 0 : rank, rank < 0 ? w->size - 1 : rank);
	return w;
}

/* Between hosts Open MPI's osc/ucx does not look at the network in a flush of the own rank. A
 * process that polls a word of its own window would never see what others write there. */
static inline int flushed(const struct window *w, int rank, int rc)
{
	if (w && w->pool->far && (rank < 0 || rank == w->pool->rank))
		dropin_drive(w);
	return rc;
}

/* The target of each; -1: all. Whether it completes at the origin only. */
#define RANK_Win_flush rank
#define RANK_Win_flush_local rank
#define RANK_Win_flush_all -1
#define RANK_Win_flush_local_all -1
#define LOCAL_Win_flush false
#define LOCAL_Win_flush_all false
#define LOCAL_Win_flush_local true
#define LOCAL_Win_flush_local_all true

#define FLUSH(name, parameters, arguments)                                       \
	int MPI_##name parameters                                                \
	{                                                                        \
		struct window *w = expect(win, RANK_##name);                     \
		const int ours = atomics_complete(w, RANK_##name, LOCAL_##name), \
			  rc = flushed(w, RANK_##name, PASS(name arguments));    \
                                                                                 \
		return ours == MPI_SUCCESS ? rc : ours;                          \
	}
DROPIN_FLUSHES(FLUSH)

/* A tool in front of this layer calls these. For Pawl's own windows they are the MPI's. */
#ifdef PIC
#define FLUSH_BY_TOOL(name, parameters, arguments)                               \
	int PMPI_##name parameters                                               \
	{                                                                        \
		struct window *w = with_atomics(win);                            \
		const int ours = atomics_complete(w, RANK_##name, LOCAL_##name), \
			  rc = next_mpi.name arguments;                          \
                                                                                 \
		return ours == MPI_SUCCESS ? rc : ours;                          \
	}
DROPIN_FLUSHES(FLUSH_BY_TOOL)
#endif

#pragma GCC visibility pop
#define FLUSH_ALIAS(name, parameters, arguments) \
	int dropin_##name parameters __attribute__((alias("MPI_" #name)));
DROPIN_FLUSHES(FLUSH_ALIAS)
