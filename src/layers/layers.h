/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the layers under the locks of other interfaces have in common. libpawl-mpi (src/dropin) uses
 * messages and options; libpawl-caf, libpawl-armci and libpawl-shmem use all of it.
 *
 *   message.c  messages to the user, and calls that bypass a layer
 *   options.c  options that the environment cannot change
 *   locks.c    tables of locks over the communicator of a runtime
 *   next.c     the runtime's functions behind a layer
 *   presence.c which processes have the layer
 */
#ifndef LAYERS_LAYERS_H
#define LAYERS_LAYERS_H

#include <mpi.h>
#include <pawl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The name of the layer's library ("libpawl-caf"), which the layer defines. */
extern const char layer_library[];

/* message.c --------------------------------------------------------------- */

/* Rank 0 of comm prints a message on stderr, once for each reason in this process. */
void message_once(MPI_Comm comm, const char *what, const char *why);
/* End the process with a message if its MPI is not the one that this library was built for: calls
 * with the MPI's handles would fail. */
void message_check_mpi(void);
/* Whether this may be rank 0, by the launcher's variables, because MPI may be finalized. */
bool message_may_be_first(void);

/* options.c --------------------------------------------------------------- */

/* What messages say about variables that have no effect. */
struct option_words {
	const char *locks;    /* "windows" */
	const char *lease;    /* why PAWL_LEASE has none, and what has */
	const char *max_held; /* why a low PAWL_MAX_HELD has none, and what has */
};

/* Complete info, which has the layer's options, with the options that variables PAWL_* must not
 * change. */
void options_fix(MPI_Info info, MPI_Comm comm, const struct option_words *words);
/* Whether a kind has this option, besides the common ones; kind may be NULL. */
bool options_has(const char *kind, const char *name);
/* Whether a code of pawl.h is a mistake of the user. */
bool options_is_mistake(int code);

/* locks.c ----------------------------------------------------------------- */

struct layer {
	const char *runtime; /* "OpenCoarrays": whose locks are used if Pawl's cannot be */
	struct option_words words;
	bool direct; /* the runtime's operations within a host do not need the MPI's progress */
};

/* Locks of one table, as many at each process of its communicator. */
struct layer_table;
struct layer_locks {
	pawl_table *table;
	uint64_t first, count; /* of each process */
	int size, rank;        /* of the communicator */
	bool far;              /* the processes are on several nodes */
	bool observed;         /* observers of the table ask where calls come from */
	struct layer_table *in;
};

/*
 * Take count locks at each process of comm. Collective: all processes take and give the locks over
 * a group of processes in the same order, one thread of each, so that they choose the same ones
 * without a message. False, on all processes: the runtime's locks have to serve; a message says
 * why, unless PAWL_LOCK=native. A mistake of the user (PAWL_LOCK=no-such-kind) ends the job.
 */
bool layer_take(const struct layer *l, MPI_Comm comm, uint64_t count, struct layer_locks *locks);

/* Give them back. No process holds or awaits one of them, or does before its next layer_take(). */
void layer_give(const struct layer_locks *locks);

/* The communicator of the locks. */
MPI_Comm layer_comm(const struct layer_locks *locks);

/* Free all tables. Collective over each table's communicator. MPI_Finalize does it, if it has not
 * been done. */
void layer_end(void);

static inline uint64_t layer_lock(const struct layer_locks *s, uint64_t index, int rank)
{
	return (s->first + index) * (uint64_t)s->size + (uint64_t)rank;
}

/* The next calls of this thread come from this place in the program; NULL: from the place that
 * calls Pawl. */
void layer_set_site(const void *site);

/* In an entry point of a layer: to observers of the locks, the calls of Pawl in this statement come
 * from the program's line, not from the layer's. */
#define LAYER_FROM_HERE(locks, statement)                            \
	do {                                                         \
		if (__builtin_expect((locks)->observed, 0)) {        \
			layer_set_site(__builtin_return_address(0)); \
			statement;                                   \
			layer_set_site(NULL);                        \
		} else {                                             \
			statement;                                   \
		}                                                    \
	} while (0)

/* Within a node, the locks' atomics order loads and stores. Data from another node was stored by
 * the runtime: orders that before this process's accesses, and these before the release; pairs with
 * the call at the other end, acquire with release. */
static inline void layer_order_memory(const struct layer_locks *s)
{
	if (s->far)
		atomic_thread_fence(memory_order_seq_cst);
}

/* The lock of this index at a process: a code of pawl.h. */
static inline int layer_acquire(const struct layer_locks *s, uint64_t index, int rank)
{
	int rc = pawl_lock_acquire(s->table, layer_lock(s, index, rank), PAWL_EXCLUSIVE);

	layer_order_memory(s);
	return rc;
}

static inline int layer_try_acquire(const struct layer_locks *s, uint64_t index, int rank)
{
	int rc = pawl_lock_try_acquire(s->table, layer_lock(s, index, rank), PAWL_EXCLUSIVE);

	layer_order_memory(s);
	return rc;
}

static inline int layer_release(const struct layer_locks *s, uint64_t index, int rank)
{
	layer_order_memory(s);
	return pawl_lock_release(s->table, layer_lock(s, index, rank));
}

/* next.c ------------------------------------------------------------------ */

/* Store in *call, a pointer to a function, the definition of a name behind this library; else that
 * of the library that has this address (not if it is NULL), or of one that it was linked with; else
 * the first one in the program; else NULL. Never this library's own. */
void next_find(const char *name, const void *caller, void *call);
/* At exit, say that the library was loaded but no call of the runtime reached it. */
void next_say_unused(const char *runtime);

/* presence.c -------------------------------------------------------------- */

/* Tell other processes that this one has the layer: before MPI_Init, and before a call after which
 * a communicator is asked about. */
void presence_before_init(void);
void presence_announce(void);
#if MPI_VERSION >= 4
/* MPI_Session_init has returned. */
void presence_session(MPI_Session session);
#endif
/* MPI_Init has returned, and other threads may use the connection to the launcher later. */
void presence_look_at_all(void);

/* Whether the layer may send messages over comm, because all its processes have the layer. If not,
 * one of those that have it prints a message that begins with what. No message is sent. All
 * processes of comm that have the layer ask after the same collective call of the MPI. */
bool presence_is_full(MPI_Comm comm, const char *what);
/* Whether all processes of comm had the layer in MPI_Init, and are known to: then they may ask
 * presence_is_full() without such a call. The same on all that have the layer, at any time. If the
 * launcher, the MPI or the memory does not let this process know, it takes it that they had. */
bool presence_was_full(MPI_Comm comm);
/* The first message over comm: MPI_Allreduce with MPI_BAND, in place. If presence_is_full() could
 * not know, a message says so when it takes long. */
void presence_allreduce(MPI_Comm comm, uint64_t *words, int n);

#endif
