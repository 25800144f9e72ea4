/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The drop-in layer: Pawl's locks under MPI_Win_lock, for unmodified programs. It uses the
 * profiling interface of the MPI: it defines MPI_Win_lock and calls PMPI_Win_lock.
 *
 *   calls.c    the MPI_* and PMPI_* calls of C; fortran.c those of Fortran
 *   next.c     the definitions behind this layer: a tool's, and the MPI's own
 *   bypass.c   calls that did not come by this layer
 *   epochs.c   what locking and unlocking a window means
 *   attach.c   the windows that have locks of Pawl
 *   request.c  what is asked for a window
 *   agree.c    in which pool a window gets locks: all processes alike
 *   pool.c     tables of locks for windows over one group of processes
 *   windows.c  from an MPI_Win to its struct window
 *   report.c   messages to the user, and statistics (PAWL_STATS=1)
 *   ranges.c   pawl_win_lock_range(): byte ranges of a target
 *
 * Each lock opens the native epoch with MPI_MODE_NOCHECK, so the MPI still knows which targets
 * may be accessed, finds misuse, and completes operations at the unlock; only the locking is
 * Pawl's. Fence and post-start-complete-wait are the MPI's.
 */
#ifndef DROPIN_DROPIN_H
#define DROPIN_DROPIN_H

#include <mpi.h>
#include <pawl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What a process holds of a target. BUSY: one of its threads is changing that. RANGES: a shared
 * lock and an epoch that this layer opened for byte ranges. */
enum held { HELD_NOT, HELD_BUSY, HELD_NOCHECK, HELD_SHARED, HELD_EXCLUSIVE, HELD_RANGES };

/* What can be waited for, for the statistics. */
enum call { CALL_EXCLUSIVE, CALL_SHARED, CALL_ALL, CALL_RANGE, CALL_KINDS };

struct waits {
	uint64_t calls, waited; /* waited: took longer than WAITED_NS */
	double total_ns, max_ns;
};

struct pool;
struct ranges;

struct window {
	MPI_Win win;
	struct pool *pool; /* NULL: it keeps the locks of the MPI */
	int id;            /* in the pool */
	int size;          /* of its communicator */

	_Atomic(unsigned char) *held; /* [size], enum held */
	_Atomic(unsigned char) all;   /* by lock_all */
	_Atomic(int) locks;           /* targets held, and lock_all */
	int exclusive; /* targets that share the process's intent; under intent_mutex */
	pthread_mutex_t intent_mutex;
	pthread_mutex_t epochs; /* native ones are opened and closed by one thread at a time */

	struct ranges *ranges; /* NULL: none */
	int *
	    riders; /* [size] ranges in an epoch of HELD_RANGES; changed while the target is BUSY */

	atomic_bool taken; /* this process has acquired a lock of it through this layer */
	bool threads;      /* of this process may lock at one time */
	bool direct; /* its operations are loads and stores, which need no progress of the target */

	/* With PAWL_STATS=1 */
	MPI_Comm comm; /* a duplicate, or MPI_COMM_NULL */
	char kind[32];
	struct waits waits[CALL_KINDS];
};

/* next.c ------------------------------------------------------------------ */

/* The calls that this layer defines: name, parameters, arguments. */
#define DROPIN_INITS(X)                                  \
	X(Init, (int *argc, char ***argv), (argc, argv)) \
	X(Init_thread, (int *argc, char ***argv, int level, int *got), (argc, argv, level, got))

#define DROPIN_LOCKS(X)                                                 \
	X(Win_free, (MPI_Win * win), (win))                             \
	X(Win_lock, (int type, int rank, int assertion, MPI_Win win),   \
	  (type, rank, assertion, win))                                 \
	X(Win_unlock, (int rank, MPI_Win win), (rank, win))             \
	X(Win_lock_all, (int assertion, MPI_Win win), (assertion, win)) \
	X(Win_unlock_all, (MPI_Win win), (win))

/* Of MPI-3, with int and MPI_Aint for unit; and the same of MPI-4. */
#define DROPIN_MAKERS_OF(X, suffix, unit_t)                                                     \
	X(Win_create##suffix,                                                                   \
	  (void *base, MPI_Aint size, unit_t unit, MPI_Info info, MPI_Comm comm, MPI_Win *win), \
	  (base, size, unit, info, comm, win))                                                  \
	X(Win_allocate##suffix,                                                                 \
	  (MPI_Aint size, unit_t unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win), \
	  (size, unit, info, comm, base, win))                                                  \
	X(Win_allocate_shared##suffix,                                                          \
	  (MPI_Aint size, unit_t unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win), \
	  (size, unit, info, comm, base, win))
#define DROPIN_MAKERS_3(X)         \
	DROPIN_MAKERS_OF(X, , int) \
	X(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win * win), (info, comm, win))
#if MPI_VERSION >= 4
#define DROPIN_MAKERS(X) DROPIN_MAKERS_3(X) DROPIN_MAKERS_OF(X, _c, MPI_Aint)
#else
#define DROPIN_MAKERS(X) DROPIN_MAKERS_3(X)
#endif

#define DROPIN_CALLS(X) DROPIN_INITS(X) DROPIN_MAKERS(X) DROPIN_LOCKS(X)

struct next {
#define MEMBER(name, parameters, arguments) int(*name) parameters;
	DROPIN_CALLS(MEMBER)
#undef MEMBER
};

/* The functions that the program would call without this layer, of a tool or of the MPI; and
 * those of the MPI. */
extern struct next next_calls, next_mpi;
/* Whether there is a tool behind this layer. It calls PMPI_*; the layer passes these calls on. */
extern bool next_is_tool;

/* How deep the calling thread is behind this layer: in a tool that the layer has called, or in the
 * MPI's Fortran symbol. Calls of this layer from there go to the MPI. */
extern _Thread_local int behind_depth __attribute__((tls_model("initial-exec")));

static inline bool is_behind(void)
{
	return behind_depth > 0;
}

/* next_Win_lock(...) and so on. */
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

/* bypass.c ---------------------------------------------------------------- */

/* The program has called a function of this layer. */
void bypass_seen(void);
/* A lock or unlock of a window that this layer has not seen made. */
void bypass_unknown(MPI_Win win);
/* The MPI has given a new window the handle of this one, which was not freed by this layer. */
void bypass_stale(struct window *w, MPI_Comm comm);
/* An unlock (of all targets: rank -1) without a lock by this layer: end the epoch that the MPI
 * has, if it has one. Else an error is raised, as for an unlock without a lock. */
int bypass_unlock(struct window *w, int rank);

/* attach.c ---------------------------------------------------------------- */

/* The MPI has made a window over comm: give it locks, if it is to have those of Pawl. Collective
 * over comm. A mistake of the user is an MPI error, which is raised, and frees the window. */
int dropin_attach(MPI_Comm comm, MPI_Info info, MPI_Win *win);

/* MPI_Init has returned. */
void dropin_begin(void);

/* Whether MPI_THREAD_MULTIPLE is given. */
bool dropin_has_threads(void);

/* Whether a kind takes an option beyond those of all kinds; kind may be NULL. */
bool dropin_has_option(const char *kind, const char *name);

/* epochs.c ---------------------------------------------------------------- */

int dropin_lock(struct window *w, int type, int rank, int assertion);
int dropin_unlock(struct window *w, int rank);
int dropin_lock_all(struct window *w, int assertion);
int dropin_unlock_all(struct window *w);
/* MPI_Win_free: collective. w may be NULL. */
int dropin_free(struct window *w, MPI_Win *win);

/* An epoch for a byte range of a target: the program's, if it has one there; else (*own) a shared
 * one, which all such ranges of the target use together. */
int epochs_enter(struct window *w, int rank, bool *own);
/* Before a range is unlocked: complete the operations at the target; and the end of it, when
 * it is unlocked. Both in turn, by one thread. */
int epochs_complete(struct window *w, int rank, bool own);
int epochs_leave(struct window *w, int rank, bool own);

/* Raise an error of that class on the window. */
int dropin_raise(MPI_Win win, int class, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* pool.c ------------------------------------------------------------------ */

enum { POOL_IDS = 64 };

/* Locks for up to POOL_IDS windows over congruent communicators. */
struct pool {
	pawl_table *targets, *wholes; /* the same table if its kind has intents */
	MPI_Comm comm;                /* a duplicate */
	uint64_t key;                 /* hash of what was asked for */
	uint64_t name;                /* the same on all processes, and of no other pool */
	int ids, size;
	int rank;
	bool far;      /* not all of them share memory */
	bool by_whole; /* lock_all is the lock of the whole window; else those of all targets */
	bool crowded;  /* on this node they outnumber the cores */
	uint64_t used; /* bit set: ids in use by this process; under the mutex of agree.c */
	struct pool *next;
};

/* Collective. A code of pawl.h, with its message, on all ranks alike. */
int pool_create(MPI_Comm comm, const char *kind, MPI_Info options, int ids, struct pool **pool);
void pool_free(struct pool *p);

static inline uint64_t pool_target(const struct pool *p, int id, int rank)
{
	return (uint64_t)id * (uint64_t)p->size + (uint64_t)rank;
}

/* The lock of the whole window. */
uint64_t pool_whole(const struct pool *p, int id);

/* Within a node the locks' own atomics order loads and stores. What came from
 * another node was put by the MPI: orders it before this process's own accesses,
 * and those before the release; pairs with itself, at lock and unlock. */
static inline void dropin_order_memory(const struct window *w)
{
	if (w->pool->far)
		atomic_thread_fence(memory_order_seq_cst);
}

/* fixed.c ----------------------------------------------------------------- */

/* Complete info, which has the layer's values and those of the window, by what variables PAWL_* do
 * not change. */
void fixed_options(MPI_Info info, MPI_Comm comm);

/* ranges.c ---------------------------------------------------------------- */

/* The kind that info key pawl_ranges names, NULL for none; false, with a sentence in why, if
 * the value is not accepted. */
bool ranges_kind(const char *value, const char **kind, char *why, size_t len);
/* Give w a table of byte ranges. Collective. A code of pawl.h, on all ranks alike. */
int ranges_open(struct window *w, MPI_Comm comm, const char *kind, MPI_Info options);
void ranges_close(struct window *w);
/* How many this process has locked of a target, or of any (-1). */
int ranges_held(const struct window *w, int rank);

/* windows.c --------------------------------------------------------------- */

/* NULL: it was not made by this layer. */
struct window *windows_find(MPI_Win win);
bool windows_add(struct window *w);
void windows_remove(struct window *w);

/* report.c ---------------------------------------------------------------- */

/* PAWL_STATS=1 */
bool report_wanted(void);
/* A message on stderr, each reason once in this process, by rank 0 of comm. */
void report_once(MPI_Comm comm, const char *what, const char *why);
uint64_t report_clock(void); /* nanoseconds */
/* Count a call that began then and returns now. */
void report_wait(struct window *w, enum call call, uint64_t begin_ns);
/* w has locks now: begin its statistics, if they are wanted. Collective. */
void report_begin(struct window *w, MPI_Comm comm, const char *kind);
/* Add up what all ranks of w waited, for the end of the program. Collective. */
void report_window(struct window *w);
void report_print(void);

#endif
