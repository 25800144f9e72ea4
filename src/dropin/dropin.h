/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The drop-in layer: Pawl's locks under MPI_Win_lock, for unmodified programs. It uses the MPI's
 * profiling interface: it defines MPI_Win_lock and calls PMPI_Win_lock.
 *
 *   calls.c    the MPI_* and PMPI_* calls of C; fortran.c has those of Fortran
 *   next.c     the definitions behind this layer: a tool's, and the MPI's own
 *   bypass.c   calls that do not go through this layer
 *   epochs.c   what locking and unlocking a window means
 *   completion.c  complete operations at a target that may not be running
 *   attach.c   give new windows Pawl locks
 *   request.c  what is requested for a window
 *   agree.c    in which pool a window gets locks, the same on all processes
 *   pool.c     tables of locks for windows over one group of processes
 *   windows.c  from an MPI_Win to its struct window
 *   report.c   statistics (PAWL_STATS=1)
 *   ranges.c   pawl_win_lock_range(): byte ranges of a target
 *   atomics/   Pawl's atomics under MPI_Accumulate and its like, where they are asked for
 *
 * Each lock opens the native epoch with MPI_MODE_NOCHECK, so the MPI still knows which targets may
 * be accessed, detects misuse, and completes operations at the unlock. Only the locking is Pawl's.
 * Fence and post-start-complete-wait remain the MPI's.
 */
#ifndef DROPIN_DROPIN_H
#define DROPIN_DROPIN_H

#include <mpi.h>
#include <pawl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "layers/layers.h"

/* What a process holds at a target. BUSY: one of its threads is changing this state. RANGES: a
 * shared lock and an epoch that this layer has opened for byte ranges. */
enum held { HELD_NOT, HELD_BUSY, HELD_NOCHECK, HELD_SHARED, HELD_EXCLUSIVE, HELD_RANGES };

/* The calls that may wait, for statistics. */
enum call { CALL_EXCLUSIVE, CALL_SHARED, CALL_ALL, CALL_RANGE, N_CALLS };

struct waits {
	uint64_t calls, waited; /* waited: calls that took longer than WAITED_NS */
	double total_ns, max_ns;
};

/* Whether a target is asked before the MPI completes operations (completion.c); NEXT: not this
 * time, since accumulates were last, which need no target. */
enum asks { ASK_NEVER, ASK, ASK_NEXT };

struct prober;
struct atomics;
struct exposures;
struct pool;
struct ranges;

struct window {
	MPI_Win win;
	struct pool *pool; /* NULL: the window keeps the MPI's locks */
	int id;            /* in the pool */
	int size;          /* of the window's communicator */
	bool alone;        /* of one process: the MPI opens its epochs, without locks */

	_Atomic(unsigned char) *held; /* [size], enum held */
	_Atomic(unsigned char) all;   /* enum held, for lock_all */
	_Atomic(int) locks;           /* number of targets held; lock_all counts as one */
	int exclusive; /* exclusive targets, which share the process's intent; under intent_mutex */
	pthread_mutex_t intent_mutex;
	pthread_mutex_t epochs; /* one thread at a time opens and closes native epochs */

	struct ranges *ranges; /* NULL: the window has no byte ranges */
	/* [size] ranges that use an epoch of HELD_RANGES; changed while the target is BUSY */
	int *epoch_users;

	atomic_bool taken;   /* this process has acquired one of its locks through this layer */
	bool threads;        /* threads of this process may lock at the same time */
	atomic_bool in_free; /* the process is in MPI_Win_free */
	atomic_bool has_attributes;  /* the program has set one (MPI_Win_set_attr in C) */
	_Atomic(uint64_t) asides;    /* how often a client stood aside (epochs.c) */
	_Atomic(unsigned char) asks; /* enum asks */
	struct atomics *atomics;     /* NULL: accumulates are the MPI's */

	/* Its locks have observers: calls pass on the program's line. */
	bool observed;
	/* Its locks have statistics (PAWL_STATS). */
	MPI_Comm comm; /* a duplicate, or MPI_COMM_NULL: no statistics */
	char kind[32];
	char name[MPI_MAX_OBJECT_NAME]; /* when it was freed */
	struct waits waits[N_CALLS];
};

/* next.c ------------------------------------------------------------------ */

/* The calls that this layer defines: X(name, parameters, arguments). */
#define DROPIN_INITS(X)                                  \
	X(Init, (int *argc, char ***argv), (argc, argv)) \
	X(Init_thread, (int *argc, char ***argv, int level, int *got), (argc, argv, level, got))
/* Passed on, so that a tool behind this layer gets it if it got MPI_Init. Linked statically, on
 * MPICH it is libpawl's. */
#ifdef PIC
#define DROPIN_ENDS(X) X(Finalize, (void), ())
#else
#define DROPIN_ENDS(X)
#endif

#if MPI_VERSION >= 4
#define DROPIN_SESSIONS(X)                                                              \
	X(Session_init, (MPI_Info info, MPI_Errhandler handler, MPI_Session * session), \
	  (info, handler, session))
#else
#define DROPIN_SESSIONS(X)
#endif

#define DROPIN_LOCKS(X)                                                 \
	X(Win_free, (MPI_Win * win), (win))                             \
	X(Win_lock, (int type, int rank, int assertion, MPI_Win win),   \
	  (type, rank, assertion, win))                                 \
	X(Win_unlock, (int rank, MPI_Win win), (rank, win))             \
	X(Win_lock_all, (int assertion, MPI_Win win), (assertion, win)) \
	X(Win_unlock_all, (MPI_Win win), (win))

/* Open MPI calls the delete callbacks of a window's attributes when it has ended the window
 * (attach.c). */
#ifdef OPEN_MPI
#define DROPIN_ATTRIBUTES(X) X(Win_set_attr, (MPI_Win win, int key, void *value), (win, key, value))
#else
#define DROPIN_ATTRIBUTES(X)
#endif

/* The MPI yields where it waits for targets and its launcher knows that ranks outnumber cores. */
#ifdef OPEN_MPI
#define DROPIN_YIELDS 1
#else
#define DROPIN_YIELDS 0
#endif

/* The calls that wait for targets within an epoch (completion.c). */
#define DROPIN_FLUSHES(X)                                        \
	X(Win_flush, (int rank, MPI_Win win), (rank, win))       \
	X(Win_flush_all, (MPI_Win win), (win))                   \
	X(Win_flush_local, (int rank, MPI_Win win), (rank, win)) \
	X(Win_flush_local_all, (MPI_Win win), (win))

/* The calls of MPI-3, where unit is an int; and of MPI-4, where it is an MPI_Aint. */
#define DROPIN_MAKERS_OF(X, suffix, unit_t)                                                     \
	X(Win_create##suffix,                                                                   \
	  (void *base, MPI_Aint size, unit_t unit, MPI_Info info, MPI_Comm comm, MPI_Win *win), \
	  (base, size, unit, info, comm, win))                                                  \
	X(Win_allocate_shared##suffix,                                                          \
	  (MPI_Aint size, unit_t unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win), \
	  (size, unit, info, comm, base, win))
#define DROPIN_MAKERS_3(X)         \
	DROPIN_MAKERS_OF(X, , int) \
	X(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win * win), (info, comm, win))
#define DROPIN_ALLOCATE_OF(X, suffix, unit_t)                                                   \
	X(Win_allocate##suffix,                                                                 \
	  (MPI_Aint size, unit_t unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win), \
	  (size, unit, info, comm, base, win))
#if MPI_VERSION >= 4
#define DROPIN_MAKERS(X) DROPIN_MAKERS_3(X) DROPIN_MAKERS_OF(X, _c, MPI_Aint)
#define DROPIN_ALLOCATE(X) DROPIN_ALLOCATE_OF(X, , int) DROPIN_ALLOCATE_OF(X, _c, MPI_Aint)
#else
#define DROPIN_MAKERS(X) DROPIN_MAKERS_3(X)
#define DROPIN_ALLOCATE(X) DROPIN_ALLOCATE_OF(X, , int)
#endif

/* The calls that change with a window's atomics. A static library does not define them: the MPI's
 * Fortran calls would bypass it. */
#define DROPIN_ACCUMULATES_OF(X, suffix, count_t)                                                \
	X(Accumulate##suffix,                                                                    \
	  (const void *origin, count_t ocount, MPI_Datatype otype, int rank, MPI_Aint disp,      \
	   count_t tcount, MPI_Datatype ttype, MPI_Op op, MPI_Win win),                          \
	  (origin, ocount, otype, rank, disp, tcount, ttype, op, win))                           \
	X(Raccumulate##suffix,                                                                   \
	  (const void *origin, count_t ocount, MPI_Datatype otype, int rank, MPI_Aint disp,      \
	   count_t tcount, MPI_Datatype ttype, MPI_Op op, MPI_Win win, MPI_Request *request),    \
	  (origin, ocount, otype, rank, disp, tcount, ttype, op, win, request))                  \
	X(Get_accumulate##suffix,                                                                \
	  (const void *origin, count_t ocount, MPI_Datatype otype, void *result, count_t rcount, \
	   MPI_Datatype rtype, int rank, MPI_Aint disp, count_t tcount, MPI_Datatype ttype,      \
	   MPI_Op op, MPI_Win win),                                                              \
	  (origin, ocount, otype, result, rcount, rtype, rank, disp, tcount, ttype, op, win))    \
	X(Rget_accumulate##suffix,                                                               \
	  (const void *origin, count_t ocount, MPI_Datatype otype, void *result, count_t rcount, \
	   MPI_Datatype rtype, int rank, MPI_Aint disp, count_t tcount, MPI_Datatype ttype,      \
	   MPI_Op op, MPI_Win win, MPI_Request *request),                                        \
	  (origin, ocount, otype, result, rcount, rtype, rank, disp, tcount, ttype, op, win,     \
	   request))
#define DROPIN_ATOMICS_3(X)                                                                    \
	DROPIN_ACCUMULATES_OF(X, , int)                                                        \
	X(Fetch_and_op,                                                                        \
	  (const void *origin, void *result, MPI_Datatype type, int rank, MPI_Aint disp,       \
	   MPI_Op op, MPI_Win win),                                                            \
	  (origin, result, type, rank, disp, op, win))                                         \
	X(Compare_and_swap,                                                                    \
	  (const void *origin, const void *compare, void *result, MPI_Datatype type, int rank, \
	   MPI_Aint disp, MPI_Win win),                                                        \
	  (origin, compare, result, type, rank, disp, win))                                    \
	X(Win_fence, (int assertion, MPI_Win win), (assertion, win))                           \
	X(Win_post, (MPI_Group group, int assertion, MPI_Win win), (group, assertion, win))    \
	X(Win_start, (MPI_Group group, int assertion, MPI_Win win), (group, assertion, win))   \
	X(Win_complete, (MPI_Win win), (win))                                                  \
	X(Win_attach, (MPI_Win win, void *base, MPI_Aint size), (win, base, size))             \
	X(Win_detach, (MPI_Win win, const void *base), (win, base))                            \
	X(Win_get_attr, (MPI_Win win, int key, void *value, int *flag), (win, key, value, flag))
#if MPI_VERSION >= 4
#define DROPIN_ATOMICS(X) DROPIN_ATOMICS_3(X) DROPIN_ACCUMULATES_OF(X, _c, MPI_Count)
#else
#define DROPIN_ATOMICS(X) DROPIN_ATOMICS_3(X)
#endif

/* The calls that the layer defines under their PMPI_* names, too. */
#define DROPIN_LOCKING(X)  \
	DROPIN_INITS(X)    \
	DROPIN_SESSIONS(X) \
	DROPIN_ENDS(X)     \
	DROPIN_MAKERS(X) DROPIN_ALLOCATE(X) DROPIN_LOCKS(X) DROPIN_ATTRIBUTES(X)
/* All calls that it defines. */
#define DROPIN_CALLS(X) DROPIN_LOCKING(X) DROPIN_ATOMICS(X) DROPIN_FLUSHES(X)

struct next {
#define MEMBER(name, parameters, arguments) int(*name) parameters;
	DROPIN_CALLS(MEMBER)
#undef MEMBER
};

/* The functions that the program would call without this layer, a tool's or the MPI's; and the
 * MPI's. */
extern struct next next_calls, next_mpi;
/* A tool's functions in front of this layer, which call it by its PMPI_* names; NULL: none. */
extern struct next next_front;
/* Whether there is a tool behind this layer. It calls PMPI_*, which the layer passes on. */
extern bool next_is_tool;
/* Whether an address is in such a tool. */
bool next_has(const void *address);

/* How often the calling thread has entered code behind this layer: a tool that the layer has
 * called, or the MPI's Fortran symbol. Calls of this layer from there go to the MPI. */
extern _Thread_local int behind_depth __attribute__((tls_model("initial-exec")));

static inline bool is_behind(void)
{
	return behind_depth > 0;
}

/* next_Win_lock(...), and so on. */
#define NEXT_CALL(name, parameters, arguments)   \
	static inline int next_##name parameters \
	{                                        \
		int rc;                          \
                                                 \
		behind_depth += next_is_tool;    \
		rc = next_calls.name arguments;  \
		behind_depth -= next_is_tool;    \
		return rc;                       \
	}
DROPIN_CALLS(NEXT_CALL)
#undef NEXT_CALL

/* calls.c ----------------------------------------------------------------- */

/* dropin_Win_flush(), and so on: as MPI_Win_flush(), past a tool in front of this layer. */
#define FLUSH_HERE(name, parameters, arguments) int dropin_##name parameters;
DROPIN_FLUSHES(FLUSH_HERE)
#undef FLUSH_HERE

/* bypass.c ---------------------------------------------------------------- */

/* The program has called a function of this layer. */
void bypass_seen(void);
/* The program locks or unlocks a window whose creation did not go through this layer. */
void bypass_unknown(MPI_Win win);
/* The MPI has given a new window the handle of one that was not freed through this layer. */
void bypass_stale(MPI_Comm comm);
/* An unlock (rank -1: of all targets) without a lock through this layer. If the MPI has an epoch,
 * end it; else raise the error for an unlock without a lock. */
int bypass_unlock(struct window *w, int rank);

/* attach.c ---------------------------------------------------------------- */

/* The MPI has created a window over comm: give it Pawl locks, unless it is to keep the MPI's, and
 * Pawl's atomics, if they are asked for. Collective over comm. A mistake of the user raises an MPI
 * error and frees the window. */
int dropin_attach(MPI_Comm comm, MPI_Info info, MPI_Win *win);

/* The same for MPI_Win_allocate, before the MPI makes the window. True: the MPI is to make it now,
 * and dropin_allocated() gets its code. False: *rc is what the call returns; *base (of whatever
 * type) has got the memory. */
struct making;
bool dropin_allocate(struct making *m, MPI_Comm comm, MPI_Info info, MPI_Aint size, MPI_Aint unit,
		     void *base, MPI_Win *win, int *rc);
int dropin_allocated(struct making *m, int rc, MPI_Win *win);

/* MPI_Init has returned. */
void dropin_begin(void);

/* Complete info, which has the layer's options and the window's, with the options that variables
 * PAWL_* must not change. */
void dropin_fix_options(MPI_Info info, MPI_Comm comm);

/* Whether MPI provides MPI_THREAD_MULTIPLE. */
bool dropin_has_threads(void);

/* epochs.c ---------------------------------------------------------------- */

int dropin_lock(struct window *w, int type, int rank, int assertion);
int dropin_unlock(struct window *w, int rank);
int dropin_lock_all(struct window *w, int assertion);
int dropin_unlock_all(struct window *w);
/* MPI_Win_free: collective. w may be NULL. */
int dropin_free(struct window *w, MPI_Win *win);

/* Enter an epoch for a byte range of a target: the program's, if it has one there; else (*own) a
 * shared one, which all such ranges of the target share. */
int epochs_enter(struct window *w, int rank, bool *own);
/* Before a range is unlocked: complete the operations at the target. After it: leave the epoch. The
 * same thread calls both, in this order. */
int epochs_complete(struct window *w, int rank, bool own);
int epochs_leave(struct window *w, int rank, bool own);

/* Release what this process still holds of a window that the MPI has freed. */
void epochs_drop(struct window *w);

/* Raise an error of this class on the window. */
int dropin_raise(MPI_Win win, int class, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* completion.c ------------------------------------------------------------ */

/* Let the MPI make progress. */
void dropin_drive(const struct window *w);
/* p is created, and freed. Collective. */
void completion_begin(struct pool *p);
void completion_end(struct pool *p);
/* The MPI is about to complete operations at the targets from first to last. */
void completion_expect(struct window *w, int first, int last);

/* atomics/ ---------------------------------------------------------------- */

/* The number of windows of this process that have Pawl's atomics. */
extern _Atomic(int) atomics_windows;

/* An accumulate, as the program has called it. */
struct access {
	const void *origin;
	MPI_Count ocount;
	MPI_Datatype otype;
	void *result;
	MPI_Count rcount;
	MPI_Datatype rtype;
	bool fetches; /* it has a result */
	int rank;
	MPI_Aint disp;
	MPI_Count tcount;
	MPI_Datatype ttype;
	MPI_Op op;
};

/* The calls of a window that has Pawl's atomics. request may be NULL. */
int atomics_access(struct window *w, const struct access *x, MPI_Request *request);
int atomics_fetch_and_op(struct window *w, const void *origin, void *result, MPI_Datatype type,
			 int rank, MPI_Aint disp, MPI_Op op);
int atomics_compare_and_swap(struct window *w, const void *origin, const void *compare,
			     void *result, MPI_Datatype type, int rank, MPI_Aint disp);
int atomics_fence(struct window *w, int assertion);
/* Complete the window's accumulates at a target, or at all (rank -1), also at the target; or,
 * local, at the origin only. w may be NULL, or have none. */
int atomics_complete(struct window *w, int rank, bool local);
/* The MPI has attached memory to a dynamic window; or has detached it. */
int atomics_attached(struct window *w, void *base, MPI_Aint size);
void atomics_detached(struct window *w, const void *base);
/* The MPI has done MPI_Win_post (posts) or MPI_Win_start. */
int atomics_matched(struct window *w, MPI_Group group, bool posts);
/* For the windows of a pool over one node. Collective. */
void atomics_begin(struct pool *p);
void atomics_end(struct pool *p);
/* MPI_Win_complete is being called. */
void atomics_ended(struct window *w);
/* Whether the program called MPI_Win_allocate, and the window is a shared one. */
bool atomics_hide_flavor(const struct window *w);
/* Perform a task of another process for a window of the pool, in the thread of the transport. */
int atomics_serve(void *pool, int from, const void *bytes, size_t length, int64_t *result);

/* pool.c ------------------------------------------------------------------ */

enum { POOL_IDS = 64 };

/* Locks for up to POOL_IDS windows over congruent communicators. */
struct pool {
	pawl_table *targets, *wholes; /* the same table if its kind has intents */
	MPI_Comm comm;                /* of targets */
	uint64_t key;                 /* hash of the request */
	uint64_t group;               /* hash of its processes and their order */
	uint64_t name;                /* the same on all processes; different for each pool */
	int ids, size;
	int rank;
	bool far;      /* the processes are on several nodes */
	bool by_whole; /* lock_all takes the lock of the whole window, not those of all targets */
	bool crowded;  /* on this node, processes outnumber cores */
	bool direct;   /* operations on its windows are loads and stores: the target has no part */
	bool races;    /* a process has MPI_THREAD_MULTIPLE; the same on all */
	bool serves;   /* a thread of each process performs tasks for others (rma/tasks.h) */
	bool connects; /* this process has sent tasks to all others */
	_Atomic(struct atomics *) served[POOL_IDS]; /* for the windows with these ids, or NULL */
	bool is_brief;    /* never kept: the MPI of its processes may end at different times */
	bool is_repeated; /* another one of this group and key has ended lately */
	pthread_mutex_t leaving; /* for the decision whether it ends (agree.c) */
	/* Under the mutex of agree.c: */
	bool is_leaving;             /* no thread takes an id */
	int choosers;                /* threads that are choosing an id */
	uint64_t used;               /* bit set of ids in use by this process */
	struct prober *prober;       /* NULL: no target is asked (completion.c) */
	struct exposures *exposures; /* NULL: each window with atomics has its own */
	struct pool *next;
};

/* NULL: the window has no such attribute, or the MPI does not tell. */
static inline void *window_attribute(MPI_Win win, int key)
{
	void *value;
	int flag = 0;

	return PMPI_Win_get_attr(win, key, &value, &flag) == MPI_SUCCESS && flag ? value : NULL;
}

struct request;
/* For windows with this request. Collective. Returns a code of pawl.h, the same on all ranks;
 * r->why gets the reason of a failure. */
int pool_create(MPI_Comm comm, struct request *r, int ids, struct pool **pool);
void pool_free(struct pool *p);
/* Whether its processes are all in comm. */
bool pool_is_within(const struct pool *p, MPI_Comm comm);

static inline uint64_t pool_target(const struct pool *p, int id, int rank)
{
	return (uint64_t)id * (uint64_t)p->size + (uint64_t)rank;
}

/* The lock of the whole window. */
uint64_t pool_whole(const struct pool *p, int id);

/* Within a node, the locks' atomics order loads and stores. Data from another node was stored by
 * the MPI: orders that before this process's accesses, and these before the release; pairs with the
 * call at the other end, lock with unlock. */
static inline void dropin_order_memory(const struct window *w)
{
	if (w->pool->far)
		atomic_thread_fence(memory_order_seq_cst);
}

/* ranges.c ---------------------------------------------------------------- */

/* The kind that info key pawl_ranges names; NULL for none. False, with a message in why: the value
 * is not accepted. */
bool ranges_kind(const char *value, const char **kind, char *why, size_t len);
/* Give w a table of byte ranges. Collective. Returns a code of pawl.h, with its message, or
 * RANGES_NOMEM; the same on all ranks. */
enum { RANGES_NOMEM = -1 };
int ranges_open(struct window *w, MPI_Comm comm, const char *kind, MPI_Info options);
void ranges_close(struct window *w);
/* NULL: the window has no byte ranges. */
pawl_table *ranges_table(const struct window *w);
/* The number of ranges that this process has locked at a target; rank -1: at all. */
int ranges_held(const struct window *w, int rank);

/* windows.c --------------------------------------------------------------- */

/* NULL: the window was not created through this layer. */
struct window *windows_find(MPI_Win win);
/* False: out of memory. *stale: the MPI has given w the handle of another window in the list, whose
 * MPI_Win_free was not called; that one is removed. */
bool windows_add(struct window *w, bool *stale);
/* Room for one more window, so that windows_add() does not fail. False: out of memory. */
bool windows_make_room(void);
void windows_remove(struct window *w);

/* report.c ---------------------------------------------------------------- */

uint64_t report_now(void); /* nanoseconds */
/* The same, if the window has statistics; else 0. */
static inline uint64_t report_clock(const struct window *w)
{
	return __builtin_expect(w->comm != MPI_COMM_NULL, 0) ? report_now() : 0;
}
/* Count a call that began at this time and returns now. */
void report_wait(struct window *w, enum call call, uint64_t begin_ns);
/* w has got locks: start its statistics, if its tables have them. Collective. */
void report_begin(struct window *w, MPI_Comm comm, const char *kind);
/* Add up the waits of all ranks of w, to be printed at the end of the program. Collective. */
void report_window(struct window *w);
void report_print(void);
/* Print the statistics of the window's locks, and of its call sites. Collective. */
void report_locks(struct window *w);

#endif
