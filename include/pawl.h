/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pawl: distributed locks for MPI programs.
 *
 * The unit is the lock table: n locks spread over the ranks of a communicator,
 * created and freed collectively. Lock state lives at the lock's home rank and
 * is moved by one-sided operations only; no rank has to answer.
 *
 * Error contract, stated once for every call below
 *   Calls return PAWL_SUCCESS (0) or one of the PAWL_ERR_* codes. A call that
 *   fails has changed nothing: locks held before are still held, and no lock
 *   has been acquired. Two codes of a release say more: after PAWL_ERR_LEASE_LOST
 *   and PAWL_ERR_PEER this client does not hold the lock any more. After
 *   PAWL_ERR_PEER, of whatever call, one of the max_held slots is lost for good.
 *   pawl_strerror() names the code; pawl_error_message() has the sentence about
 *   the last failure in the calling thread, with the option or argument at fault
 *   and the accepted values. Unknown options and modes are rejected before
 *   anything else happens. Collective calls return the same code on every rank.
 *
 * Thread safety
 *   Every thread of every rank is a lock client of its own. Calls on one table
 *   may run concurrently in several threads if MPI was initialised with
 *   MPI_THREAD_MULTIPLE; at lower levels the MPI rule for the calling thread
 *   applies. The thread that acquired a lock releases it, unless option owner says
 *   that locks are the process's. (Those of mpi-win-lock always are, as MPI has it.)
 *   Creating and freeing are collective over the communicator, one thread a rank.
 *
 * Memory
 *   A release makes every load and store of the critical section visible to
 *   the next holder on the same node. One-sided operations that the critical
 *   section issued on windows of the application are the application's: flush
 *   them (MPI_Win_flush) before the release.
 */
#ifndef PAWL_H
#define PAWL_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

#define PAWL_VERSION_MAJOR 0
#define PAWL_VERSION_MINOR 1
#define PAWL_VERSION_PATCH 0

/* ------------------------------------------------------------------ errors */

enum {
	PAWL_SUCCESS = 0,
	PAWL_ERR_ARG,         /* a null handle, a bad count, an unknown mode */
	PAWL_ERR_KIND,        /* no lock of that name */
	PAWL_ERR_OPTION,      /* unknown option, or a value out of range */
	PAWL_ERR_UNSUPPORTED, /* this kind of lock cannot do that */
	PAWL_ERR_THREAD,      /* the MPI thread level is too low */
	PAWL_ERR_WINDOW,      /* the MPI could not provide a usable window */
	PAWL_ERR_TOPOLOGY,    /* the topology string or file does not fit the job */
	PAWL_ERR_MPI,         /* another MPI call failed, or MPI is not to be used */
	PAWL_ERR_NOMEM,       /* out of memory */
	PAWL_ERR_RANGE,       /* there is no such lock or space, or no such units */
	PAWL_ERR_TOO_MANY,    /* more locks at once than option max_held */
	PAWL_ERR_HELD,        /* held: cannot be freed, or acquired once more */
	PAWL_ERR_NOT_HELD,    /* released by a thread that does not hold it */
	PAWL_ERR_BUSY,        /* try-acquire: another client is in the way */
	PAWL_ERR_TIMEOUT,     /* timed acquire: the deadline has passed */
	PAWL_ERR_LEASE_LOST,  /* released after others took the holder for dead */
	PAWL_ERR_PEER         /* a rank died that the lock needs (transport ucx) */
};

/* A constant phrase for a code; never NULL. Thread safe. */
const char *pawl_strerror(int code);

/* The sentence about the last failed call of this thread, or "" if none failed
 * yet. Valid until the next failing call of this thread. */
const char *pawl_error_message(void);

/* The version of the library: "0.1.0". Local, thread safe, may be called before MPI_Init. */
const char *pawl_version(void);

/* ------------------------------------------------------------- lock kinds */

/* Capabilities, a bit set. */
enum {
	PAWL_CAP_SHARED = 1,    /* PAWL_SHARED is granted to many at a time */
	PAWL_CAP_TRY = 2,       /* pawl_lock_try_acquire() */
	PAWL_CAP_TIMED = 4,     /* pawl_lock_timed_acquire() */
	PAWL_CAP_FAIR = 8,      /* no client waits for ever while others acquire */
	PAWL_CAP_INTENT = 16,   /* PAWL_INTENT, PAWL_INTENT_SHARED; parts of a whole */
	PAWL_CAP_RECOVERS = 32, /* with option lease, a lock whose holder died goes on */
	PAWL_CAP_THREADS = 64,  /* its tables need MPI_THREAD_MULTIPLE */
	PAWL_CAP_RANGES = 128   /* pawl_range_*() instead of pawl_lock_*() */
};

struct pawl_kind {
	const char *name;      /* "d-mcs", "rma-rw", ...: the same everywhere */
	const char *summary;   /* one line */
	const char *reference; /* paper and section */
	const char *options;   /* names of the options it takes beyond the common ones */
	unsigned capabilities; /* PAWL_CAP_* */
};

/* The kinds of this build, index 0, 1, ...; NULL past the last one.
 * Local, thread safe, may be called before MPI_Init. */
const struct pawl_kind *pawl_kind_get(int index);

/* The kind of that name, or NULL. Local, thread safe. */
const struct pawl_kind *pawl_kind_find(const char *name);

/* An option of tables, as pawl_table_create() takes it. */
struct pawl_option {
	const char *name;    /* "t_r": info key "pawl_t_r", environment variable PAWL_T_R */
	const char *values;  /* what it accepts: "1 .. 65535", "block | cyclic" */
	const char *preset;  /* its default, and in parentheses where that is another one */
	const char *summary; /* one line */
	int common;          /* 1: every kind takes it; 0: those that name it in field options */
};

/* An option of tables: all of them have an index, 0, 1, ...; NULL past the last one. Local, thread
 * safe, may be called before MPI_Init. */
const struct pawl_option *pawl_option_get(int index);

/* ------------------------------------------------------------ lock tables */

typedef struct pawl_table pawl_table;

/*
 * Modes, and which of them may hold one lock together (Gray's X, S, IX and IS):
 *
 *                               X    S    IX   IS
 *   PAWL_EXCLUSIVE         X    -    -    -    -
 *   PAWL_SHARED            S    -    yes  -    yes
 *   PAWL_INTENT            IX   -    -    yes  yes
 *   PAWL_INTENT_SHARED     IS   -    yes  yes  yes
 *
 * The intents are for a lock that stands for a whole, of which other locks are the
 * parts. Only the program knows which lock is part of which, so each client
 * announces at the whole what it does to a part:
 *
 *   to                      acquire the whole with, then the part with
 *   change a part           PAWL_INTENT             PAWL_EXCLUSIVE
 *   read a part             PAWL_INTENT_SHARED      PAWL_SHARED
 *   read all parts          PAWL_SHARED             (none)
 *   change any part         PAWL_EXCLUSIVE          (none)
 *
 * pawl_lock_acquire_part() takes both in one step. A client that reads a part without
 * an intent is not seen by a holder of the whole: that is right only where no client
 * ever acquires the whole exclusively. A client that may come to change another
 * part while it reads one takes PAWL_INTENT at first, which is good for both.
 *
 * A client that holds a part already without an intent acquires that intent with
 * PAWL_AHEAD added (PAWL_INTENT | PAWL_AHEAD): it waits for holders, and not behind
 * clients that wait, for they may be waiting for that part.
 *
 * PAWL_INTENT_EXCLUSIVE is PAWL_INTENT by its long name.
 */
enum {
	PAWL_EXCLUSIVE = 1,
	PAWL_SHARED = 2,
	PAWL_INTENT = 4,
	PAWL_INTENT_EXCLUSIVE = PAWL_INTENT,
	PAWL_AHEAD = 8,
	PAWL_INTENT_SHARED = 16
};

/*
 * Create a table of n locks (1 <= n < 2^40) of the given kind over comm.
 * Collective. kind, n and the options must agree on all ranks.
 *
 * Options are string pairs in info under the key "pawl_" + name; info may be
 * MPI_INFO_NULL, and keys without that prefix are left to others. The
 * environment variable PAWL_NAME (upper case) overrides the option name; variables
 * with that prefix that are no options have no effect (pawl(3), OPTIONS).
 * *table is NULL after a failure.
 * Common to all kinds:
 *   distribution  block | cyclic: lock l lives at rank l / ceil(n/P) or l mod P
 *   max_held  locks that one process may hold or await at a time, over all its
 *             threads, and those in whose queues it still is since a timed acquire;
 *             1 .. 65535, default 16
 *   owner     thread | process: a lock is released by the thread that acquired
 *             it, or by any thread of its process (which then must not acquire it
 *             twice at a time)
 *   threads   auto | single | multiple: single spares the atomics that keep
 *             threads of a rank apart; multiple fails where MPI does not grant
 *             MPI_THREAD_MULTIPLE
 *   topology  a synthetic string such as "rack:2 node:2 package:2 core:4"
 *             instead of discovery; see pawl(3)
 *   topology_file, groups   where groups of nodes come from; see pawl(3)
 *   transport auto | mpi | ucx: what carries operations between nodes; auto: UCX
 *             between hosts, if the build has it and it works, else the MPI
 *   wait      auto | spin | yield | park: how a client waits
 *   progress  lazy | eager | thread: whether a waiting rank drives the MPI now and
 *             then, or (eager) at almost every look and without sleeping where it is the
 *             lock's home, for programs that hold the lock to operate on windows at
 *             its home. thread is as lazy, and a thread of each rank also drives the MPI
 *             while the application computes, if the table spans several nodes; fails
 *             with PAWL_ERR_THREAD where MPI does not grant MPI_THREAD_MULTIPLE
 *   spin      microseconds to spin before yielding or parking; 0 .. 1000000
 *   watchdog  seconds (0.5, 2) after which a waiting client reports on stderr what it
 *             waits for, and again after twice that, and so on; 0 (off) .. 86400
 * Options of single kinds (t_l, t_dc, t_r, t_w, backoff_min, backoff_max,
 * local_budget, remote_budget, lease, recoveries, native_window, units, units_most, growth, k, m,
 * fast_path, segments, segment_units): see pawl(3).
 *
 * Cost: one window on node-shared memory; one more over all ranks if comm
 * spans several nodes, or if the kind takes the network always (rdma-mcs,
 * rdma-spin). With UCX in place of that one: a thread, two UCX workers, and a
 * connection to each rank that is used. The table keeps a duplicate of comm.
 */
int pawl_table_create(MPI_Comm comm, const char *kind, uint64_t n, MPI_Info info,
		      pawl_table **table);

/* The home of lock l: a rank of the table's communicator. Must be a pure
 * function, the same on all ranks; it is called at creation only, on every node for
 * every lock and by every rank for some of them. PAWL_ERR_ARG if they differ. */
typedef int pawl_home_fn(uint64_t lock, void *arg);

/* As pawl_table_create(), with homes chosen by the caller. Costs 8 bytes a lock
 * on every node to remember them. Collective. */
int pawl_table_create_homed(MPI_Comm comm, const char *kind, uint64_t n, pawl_home_fn *home,
			    void *arg, MPI_Info info, pawl_table **table);

/* Free the table and set *table to NULL. Collective. PAWL_ERR_HELD, and the
 * table lives on, if a lock is held on any rank; the sentence names the first few.
 * A table that lives at MPI_Finalize is named on stderr, and all calls on it return
 * PAWL_ERR_MPI from then on; this one frees what is left of it, and sets *table to NULL
 * all the same. In the child of a fork, which does not inherit tables, all calls return
 * PAWL_ERR_MPI and change nothing. */
int pawl_table_free(pawl_table **table);

/* What the table is: filled in locally. */
struct pawl_table_info {
	const struct pawl_kind *kind;
	uint64_t n;               /* locks */
	int ranks, nodes, levels; /* of the communicator and its topology */
	int max_held;             /* as granted */
	uint64_t bytes;           /* of lock state on this rank, queue nodes included */
	const char *transport;    /* "node" (shared memory only), "mpi" or "ucx" */
	const char *topology;     /* text: the levels, outermost first */
	const char *parameters;   /* text: the thresholds in force */
	int crowded;              /* ranks of this host outnumber the cores they may use */
};
int pawl_table_get_info(const pawl_table *table, struct pawl_table_info *info);

/* The home rank of a lock. Local. */
int pawl_table_home(const pawl_table *table, uint64_t lock, int *rank);

/* ------------------------------------------------------------------ locks */

/*
 * Acquire lock (0 <= lock < n) in the mode PAWL_EXCLUSIVE, PAWL_SHARED, PAWL_INTENT or
 * PAWL_INTENT_SHARED; wait as long as it takes. Local (one-sided); calls no collective, and
 * allocates nothing, except with transport ucx: when it connects to a rank for the
 * first time, and when more messages are on their way than ever before.
 * PAWL_ERR_UNSUPPORTED for PAWL_SHARED and the intents on kinds
 * without PAWL_CAP_SHARED and PAWL_CAP_INTENT; PAWL_ERR_HELD if this thread has it
 * already.
 */
int pawl_lock_acquire(pawl_table *table, uint64_t lock, int mode);

/* As pawl_lock_acquire(), without waiting for other holders: PAWL_ERR_BUSY if one is in the way.
 * Kinds with PAWL_CAP_TRY. */
int pawl_lock_try_acquire(pawl_table *table, uint64_t lock, int mode);

/*
 * As pawl_lock_acquire(), but wait at most that many seconds (>= 0): then PAWL_ERR_TIMEOUT. Kinds
 * with PAWL_CAP_TIMED. Where waiters queue, the time may be over while this process is in
 * the queue. Its place there counts for option max_held (PAWL_ERR_TOO_MANY if nothing is left)
 * until a client that releases the lock has passed over it, at the latest when the lock is free; a
 * call for the same lock and mode goes on from that place.
 */
int pawl_lock_timed_acquire(pawl_table *table, uint64_t lock, int mode, double seconds);

/*
 * Release a lock held by this thread, whatever its mode. PAWL_ERR_LEASE_LOST, on
 * kinds with option lease: it was held for longer than its lease, others took
 * this thread for dead and may have had the lock since. It is not held any more.
 */
int pawl_lock_release(pawl_table *table, uint64_t lock);

/*
 * Forget a lock held by this thread, without a release, as a process that dies does: for tests
 * of recovery. Others get the lock when its lease is over. Kinds with
 * PAWL_CAP_RECOVERS and a lease; PAWL_ERR_UNSUPPORTED for others. What the holder occupied of
 * option max_held stays occupied until the kind knows that the lock was recovered
 * (PAWL_ERR_TOO_MANY if all of it is).
 */
int pawl_lock_abandon(pawl_table *table, uint64_t lock);

/*
 * Acquire lock part in the mode PAWL_EXCLUSIVE, and lock whole with PAWL_INTENT, or part
 * in the mode PAWL_SHARED, and whole with PAWL_INTENT_SHARED; in one round trip if no
 * other client is in the way. PAWL_ERR_UNSUPPORTED on kinds without PAWL_CAP_INTENT. Each of the
 * two may also be released by itself, in any order.
 */
int pawl_lock_acquire_part(pawl_table *table, uint64_t whole, uint64_t part, int mode);

/* Release both locks that pawl_lock_acquire_part() acquired. PAWL_ERR_NOT_HELD if not both are
 * held, whole with an intent and part exclusively or shared. */
int pawl_lock_release_part(pawl_table *table, uint64_t whole, uint64_t part);

/* ----------------------------------------------------------------- ranges */

/*
 * Tables of kinds with PAWL_CAP_RANGES hold address spaces instead of locks: each of
 * the n spaces has units 0, 1, 2, ... without end, and a client locks some of them. What
 * a unit is (a byte, a block, a slot) is up to the program. Spaces are homed like locks.
 * Citron paper (FAST'23).
 */

/* The last unit that a range can name. A range up to here has no end. */
#define PAWL_RANGE_END INT64_MAX

/* A range that is held, until it is released. Filled in by acquire; may be copied;
 * its contents belong to the library. */
typedef struct pawl_range {
	uint64_t opaque[2];
} pawl_range;

/*
 * Acquire units first to last, both included (0 <= first <= last <= PAWL_RANGE_END), of
 * space id (0 <= id < n), in the mode PAWL_EXCLUSIVE or, on kinds with
 * PAWL_CAP_SHARED, PAWL_SHARED; wait as long as it takes. Local (one-sided);
 * allocates nothing (but see pawl_lock_acquire) and calls no collective. A client may
 * hold several ranges at a time, also of one space (option max_held); it waits for ever
 * if they overlap, or gets PAWL_ERR_HELD on kinds that see it. Kinds that round long ranges
 * up (citron, unless option k is 0) may also return that for ranges that lie close together.
 * PAWL_ERR_UNSUPPORTED on kinds without PAWL_CAP_RANGES.
 */
int pawl_range_acquire(pawl_table *table, uint64_t id, int64_t first, int64_t last, int mode,
		       pawl_range *range);

/* As pawl_range_acquire(), without waiting for other holders: PAWL_ERR_BUSY if one is in the
 * way. */
int pawl_range_try_acquire(pawl_table *table, uint64_t id, int64_t first, int64_t last, int mode,
			   pawl_range *range);

/* As pawl_range_acquire(), but wait at most that many seconds (>= 0): then PAWL_ERR_TIMEOUT. */
int pawl_range_timed_acquire(pawl_table *table, uint64_t id, int64_t first, int64_t last, int mode,
			     double seconds, pawl_range *range);

/* Release a range held by this thread. PAWL_ERR_NOT_HELD if it is not; PAWL_ERR_LEASE_LOST
 * as for pawl_lock_release(). */
int pawl_range_release(pawl_table *table, const pawl_range *range);

/*
 * Let a space grow, if a client has needed units behind its end since it last did. Spaces of
 * citron can (options units_most and growth): units behind option units have one lock for all of
 * them, and are slow, until the space reaches so far. With growth=auto the client that needs more
 * lets it grow; with growth=call only this call does, while others acquire, hold and release. Local
 * (one-sided); a few round trips, and waits for the clients that have units behind the end. *units
 * (may be NULL): how far the space reaches now. PAWL_ERR_UNSUPPORTED on other kinds. Citron paper,
 * section 3.9.
 */
int pawl_range_grow(pawl_table *table, uint64_t id, int64_t *units);

/*
 * Let space id reach only as far as units (>= 1; rounded up, and to option units at
 * the least), which makes it a little faster. Collective over the communicator of the table;
 * all ranks give the same values, and no client holds or awaits a range of the table; else
 * PAWL_ERR_BUSY on all ranks, and nothing has changed.
 */
int pawl_range_shrink(pawl_table *table, uint64_t id, int64_t units);

/* Forget a range held by this thread, as pawl_lock_abandon() does a lock. */
int pawl_range_abandon(pawl_table *table, const pawl_range *range);

/* ------------------------------------------------------------- statistics */

/* Operations of this rank on the table since creation or the last reset, by
 * kind; index 0: the target is on the same node, 1: on another node ("far").
 * Loads and stores of a rank in its own memory are no operations. */
struct pawl_stats {
	uint64_t acquires;   /* successful ones, all modes */
	uint64_t atomics[2]; /* fetch-and-op, compare-and-swap, accumulate */
	uint64_t gets[2];
	uint64_t puts[2];
	uint64_t flushes[2]; /* of the network transport only */
	uint64_t waits;      /* times a client had to wait for a word */
	uint64_t parks;      /* times a client gave up its core; a wait may have several */
	uint64_t recoveries; /* locks that this rank started anew after a failure */
	uint64_t aborts;     /* attempts at ranges that met others and began again */
};

/* Get the counts of this rank. Local. Exact while no other thread of this rank uses the table. */
int pawl_table_get_stats(const pawl_table *table, struct pawl_stats *stats);

/* Set them to 0. Local. */
int pawl_table_reset_stats(pawl_table *table);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
