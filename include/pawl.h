/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pawl: distributed locks for MPI programs.
 *
 * The unit is the lock table: n locks spread over the ranks of a communicator, created and freed
 * collectively. The state of a lock is at its home, a rank; clients change it by one-sided
 * operations only, so no rank has to answer.
 *
 * Errors
 *   Calls return PAWL_SUCCESS (0), a PAWL_ERR_* code, or PAWL_RECOVERED, which is no failure: what
 *   was asked for is held. A call that fails changes nothing: the client holds the same locks as
 *   before. There are two exceptions. A release that returns
 *   PAWL_ERR_LEASE_LOST, PAWL_ERR_PEER or PAWL_ERR_MPI has ended the hold. After PAWL_ERR_PEER or
 *   PAWL_ERR_MPI from an acquire, release, try or read, one of the max_held slots is lost for good
 *   (two, if the call was about a part and its whole), and the lock may stay closed: no client gets
 *   it any more, and those that wait for it get the same code after a second. The error never lets
 *   two clients hold a lock. Other locks go on, but a wait of a second may end in the same way,
 *   whatever it waits for; free the table.
 *   pawl_strerror() names the code; pawl_error_message() has the message of the calling thread's
 *   last failure, with the wrong option or argument and the accepted values. Unknown options and
 *   modes are refused before anything else happens. Collective calls return the same code on all
 *   ranks.
 *
 * Thread safety
 *   Every thread of every rank is a client. Several threads may call functions on one table at the
 *   same time if MPI was initialised with MPI_THREAD_MULTIPLE; at lower levels MPI's rule for the
 *   calling thread applies. The thread that has acquired a lock releases it, unless option owner
 *   says that locks belong to the process. (Locks of mpi-win-lock always do, as in MPI.) Creating
 *   and freeing a table are collective over the communicator, with one thread of each rank.
 *
 * Memory
 *   A release makes all loads and stores of the critical section visible to the next holder on the
 *   same node. One-sided operations on the application's own windows are the application's
 *   business: flush them (MPI_Win_flush) before the release.
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
	PAWL_ERR_KIND,        /* no kind of lock has this name */
	PAWL_ERR_OPTION,      /* unknown option, or a value out of range */
	PAWL_ERR_UNSUPPORTED, /* this kind of lock does not support the call */
	PAWL_ERR_THREAD,      /* the MPI thread level is too low */
	PAWL_ERR_WINDOW,      /* the MPI could not provide a usable window */
	PAWL_ERR_TOPOLOGY,    /* the topology string or file does not fit the job */
	PAWL_ERR_MPI,         /* an MPI call failed, or MPI cannot be used now */
	PAWL_ERR_NOMEM,       /* out of memory */
	PAWL_ERR_RANGE,       /* no such lock or space, or no such units */
	PAWL_ERR_TOO_MANY,    /* all of option max_held is in use, or all locks have names */
	PAWL_ERR_HELD,        /* the lock is held: it cannot be freed, or acquired again */
	PAWL_ERR_NOT_HELD,    /* the calling thread does not hold the lock, or in another mode */
	PAWL_ERR_BUSY,        /* try: another client has the lock; upgrade: it does the same */
	PAWL_ERR_TIMEOUT,     /* timed acquire or upgrade: the deadline has passed */
	PAWL_ERR_LEASE_LOST,  /* others took the holder for dead before its release */
	PAWL_ERR_PEER,        /* a rank that the lock needs has died or is lost (transport ucx) */
	PAWL_ERR_CONNECT, /* a rank cannot be reached: no descriptors, memory or network (ucx) */
	PAWL_RECOVERED    /* not an error: acquired, after a recovery; pawl_lock_consistent() */
};

/* A constant text for a code; never NULL. Thread safe. */
const char *pawl_strerror(int code);

/* The message of this thread's last failed call; "" if none has failed. Valid until the next call
 * of this thread fails. */
const char *pawl_error_message(void);

/* The version of the library: "0.1.0". Local, thread safe, may be called before MPI_Init. */
const char *pawl_version(void);

/* ------------------------------------------------------------- lock kinds */

/* Capabilities of a kind: a bit set. */
enum {
	PAWL_CAP_SHARED = 1,       /* several clients may hold a lock with PAWL_SHARED */
	PAWL_CAP_TRY = 2,          /* pawl_lock_try_acquire() */
	PAWL_CAP_TIMED = 4,        /* pawl_lock_timed_acquire() */
	PAWL_CAP_FAIR = 8,         /* no client waits for ever while others acquire */
	PAWL_CAP_INTENT = 16,      /* PAWL_INTENT, PAWL_INTENT_SHARED; parts of a whole */
	PAWL_CAP_RECOVERS = 32,    /* with option lease, a lock whose holder died is recovered */
	PAWL_CAP_THREADS = 64,     /* its tables need MPI_THREAD_MULTIPLE */
	PAWL_CAP_RANGES = 128,     /* pawl_range_*() instead of pawl_lock_*() */
	PAWL_CAP_OPTIMISTIC = 256, /* pawl_lock_read_begin() */
	PAWL_CAP_UPGRADE = 512     /* pawl_lock_upgrade(), pawl_lock_downgrade() */
};

struct pawl_kind {
	const char *name;      /* "d-mcs", "rma-rw", ...: the same everywhere */
	const char *summary;   /* one line */
	const char *reference; /* paper and section */
	const char *options;   /* names of its options, besides the common ones */
	unsigned capabilities; /* PAWL_CAP_* */
};

/* The kinds of this build, by index 0, 1, ...; NULL after the last. Local, thread safe, may be
 * called before MPI_Init. */
const struct pawl_kind *pawl_kind_get(int index);

/* The kind of this name, or NULL. Local, thread safe. */
const struct pawl_kind *pawl_kind_find(const char *name);

/* An option of tables, for pawl_table_create(). */
struct pawl_option {
	const char *name;    /* "t_r": info key "pawl_t_r", environment variable PAWL_T_R */
	const char *values;  /* what it accepts: "1 .. 65535", "block | cyclic" */
	const char *preset;  /* the default; in parentheses, kinds with another default */
	const char *summary; /* one line */
	int common;          /* 1: every kind has it; 0: the kinds that list it in options */
};

/* All options, by index 0, 1, ...; NULL after the last. Local, thread safe, may be called before
 * MPI_Init. */
const struct pawl_option *pawl_option_get(int index);

/* ------------------------------------------------------------ lock tables */

typedef struct pawl_table pawl_table;

/*
 * Modes, and which of them several clients may hold on one lock (Gray's X, S, IX and IS):
 *
 *                               X    S    IX   IS
 *   PAWL_EXCLUSIVE         X    -    -    -    -
 *   PAWL_SHARED            S    -    yes  -    yes
 *   PAWL_INTENT            IX   -    -    yes  yes
 *   PAWL_INTENT_SHARED     IS   -    yes  yes  yes
 *
 * The intents are for a lock that stands for a whole, whose parts are other locks. Only the program
 * knows which lock is part of which, so each client announces at the whole what it does to a part:
 *
 *   to                      acquire the whole with  and then the part with
 *   change a part           PAWL_INTENT             PAWL_EXCLUSIVE
 *   read a part             PAWL_INTENT_SHARED      PAWL_SHARED
 *   read all parts          PAWL_SHARED             (none)
 *   change any part         PAWL_EXCLUSIVE          (none)
 *
 * pawl_lock_acquire_part() acquires both in one step. A holder of the whole does not exclude a
 * client that reads a part without an intent; that is correct only if no client ever acquires the
 * whole exclusively. A client that reads a part and may want to change another one acquires
 * PAWL_INTENT first, which serves for both.
 *
 * A client that already holds a part without an intent acquires the intent with PAWL_AHEAD added
 * (PAWL_INTENT | PAWL_AHEAD). It then waits for holders, but not behind waiters, because these may
 * be waiting for that part.
 *
 * PAWL_INTENT_EXCLUSIVE is another name for PAWL_INTENT.
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
 * Create a table of n locks (1 <= n < 2^40) of the given kind over comm. Collective; kind, n and
 * the options must be the same on all ranks. *table is NULL after a failure. If kind is NULL or
 * "auto", the table gets the default kind, adaptive, which has all modes.
 *
 * Options are pairs of strings in info, with the key "pawl_" + name. info may be MPI_INFO_NULL;
 * keys without this prefix are ignored. The environment variable PAWL_NAME (upper case) overrides
 * the option name; variables with this prefix that are not options have no effect (pawl(3),
 * OPTIONS). Key pawl_name names the table, as pawl_table_set_name() does. For the tables named
 * "cache", PAWL_NAME_CACHE comes before PAWL_NAME. PAWL_KIND_CACHE and PAWL_KIND are kinds for
 * tables for which the program names none.
 * Options of all kinds:
 *   distribution  block | cyclic: the home of lock l is rank l / ceil(n/P) or l mod P
 *   max_held  how many locks one process may hold or await at a time, with all its threads,
 *             including those in whose queues it still is after a timed acquire; 1 .. 65535,
 *             default 16, or the half and so on that a kind can count for all ranks
 *   owner     thread | process: a lock is released by the thread that has acquired it, or by any
 *             thread of its process (which then must not acquire it twice at a time)
 *   threads   auto | single | multiple: single saves the atomics that tell the threads of a rank
 *             apart; multiple fails if MPI does not provide MPI_THREAD_MULTIPLE
 *   topology  a synthetic string such as "rack:2 node:2 package:2 core:4", instead of discovery;
 *             see pawl(3)
 *   topology_file, groups   the groups of nodes; see pawl(3)
 *   transport  auto | mpi | ucx: the transport between nodes; auto: UCX between hosts, if the build
 *              has it and it works, else the MPI
 *   wait      auto | spin | yield | park: how a client waits
 *   progress  lazy | far | eager | thread: how often a waiting rank drives the MPI. lazy: now and
 *             then. eager: at almost every look, and without sleeping if it is the lock's home; for
 *             programs whose critical sections operate on windows at the home. far: like eager if
 *             the ranks are on several hosts, else like lazy; for programs whose operations within
 *             a host are loads and stores. thread: like lazy,
 *             and if the table spans several nodes, a thread of each rank drives the MPI while the
 *             application computes; PAWL_ERR_THREAD if MPI does not provide MPI_THREAD_MULTIPLE
 *   events    no | yes: whether locks have conditions, semaphores and counters (pawl_lock_wait(),
 *             pawl_semaphore_acquire(), pawl_counter_add())
 *   names     no | yes: whether locks can have names (pawl_lock_named())
 *   spin      microseconds (or 10us, 2ms) to spin before yielding or parking; 0 .. 1000000
 *   watchdog  seconds (0.5, 2, 300ms) after which a waiter reports on stderr what it waits for, the
 *             holders, and the cycle if it is a deadlock; again after twice this time, and so
 *             on; 0 (off) .. 86400. Creating and freeing the table, a rank says so if it has
 *             waited that long (creating, without this option 30 s) for others to make the call
 * Options of some kinds (t_l, t_dc, t_r, t_w, backoff_min, backoff_max, local_budget,
 * remote_budget, lease, recoveries, native_window, units, units_most, growth, k, m, fast_path,
 * segments, segment_units): see pawl(3).
 *
 * Cost: one window in memory that the node shares. If comm spans several nodes, or if the kind
 * always uses the network (rdma-mcs, mcs-printed, rdma-spin): also a window over all ranks; or with
 * UCX a thread, two UCX workers, and a connection to each rank that is used. The tables of comm
 * share a duplicate of it, for the collective calls on them: threads must not create or free two of
 * them at a time.
 */
int pawl_table_create(MPI_Comm comm, const char *kind, uint64_t n, MPI_Info info,
		      pawl_table **table);

/* The home of a lock: a rank of the table's communicator. Must be a pure function, the same on all
 * ranks. It is called during creation only: on every node for every lock, and by every rank for
 * some locks. PAWL_ERR_ARG if the results differ. */
typedef int pawl_home_fn(uint64_t lock, void *arg);

/* As pawl_table_create(), with homes chosen by the caller. Every node keeps 8 bytes a lock to
 * remember them. Collective. */
int pawl_table_create_homed(MPI_Comm comm, const char *kind, uint64_t n, pawl_home_fn *home,
			    void *arg, MPI_Info info, pawl_table **table);

/*
 * Give the locks of a table other homes, with what the program knows of their use: home(lock, arg)
 * as of pawl_table_create_homed(), which may ask pawl_table_home() where a lock is until then.
 * Collective over the table's communicator, while no other thread makes a call on the table. The
 * handle stays the same, as do options, names, semaphores and counters, numbers of
 * pawl_lock_token(), and statistics; places in queues after a deadline are lost, kinds learn anew
 * which clients use a lock, and spaces that have grown have their first size again.
 *
 * As much work as creating a table, and memory for both at a time: for use that has changed, not
 * for each acquire. An acquire costs what it costs in a table created with these homes.
 *
 * The same code on all ranks, and after a failure nothing has changed. PAWL_ERR_HELD if a rank
 * holds or awaits a lock of the table, or has a request; the message names the first few.
 * PAWL_ERR_BUSY if a lock waits for its recovery, or for pawl_lock_consistent(). PAWL_ERR_PEER
 * after a call has lost one of max_held. PAWL_ERR_UNSUPPORTED of mpi-win-lock, and of spaces with a
 * lease. A read that has begun before is not valid: PAWL_ERR_BUSY at its end.
 */
int pawl_table_rehome(pawl_table *table, pawl_home_fn *home, void *arg);

/* The integer that stands for a handle in Fortran. The ABI of MPI 5.0 has no MPI_Fint. */
#ifdef MPI_ABI_VERSION
typedef int pawl_fint;
#else
typedef MPI_Fint pawl_fint;
#endif

/* Like pawl_table_create() and pawl_table_create_homed(), but with the Fortran handles of the
 * communicator and the info (MPI_Comm_c2f(), MPI_Comm_toint()): for other languages, which have no
 * mpi.h. info may be NULL, for MPI_INFO_NULL. Collective. */
int pawl_table_create_f(pawl_fint comm, const char *kind, uint64_t n, const pawl_fint *info,
			pawl_table **table);
int pawl_table_create_homed_f(pawl_fint comm, const char *kind, uint64_t n, pawl_home_fn *home,
			      void *arg, const pawl_fint *info, pawl_table **table);

/* Free the table and set *table to NULL. Collective. PAWL_ERR_HELD if any rank holds a lock: the
 * table lives on, and the message names the first few locks. A table that still exists at
 * MPI_Finalize is reported on stderr, and all calls on it return PAWL_ERR_MPI from then on; this
 * call then frees what is left of it and sets *table to NULL. The child of a fork does not inherit
 * tables: there all calls return PAWL_ERR_MPI and change nothing. A call on a copy of the handle
 * after this one returns PAWL_ERR_ARG, until 16 more tables have been freed. */
int pawl_table_free(pawl_table **table);

/*
 * Go on with a table over the ranks that are left, after others have died: *table becomes a table
 * of the same kind, number of locks, options and name over survivors, a communicator whose ranks
 * are all of the table's, as MPIX_Comm_shrink() or MPI_Comm_create_group() makes it. Homes are as
 * option distribution says for so many ranks; with a home function they stay at ranks that survive.
 * Collective over survivors, while no other thread makes a call on the table. After a failure
 * *table is as before.
 *
 * Nobody holds a lock of the new table, not even what the caller held: requests have ended without
 * their locks, and names, conditions, semaphores and counters begin anew. So repair what the locks
 * protect before the first acquire, and ask for names again. Acquires do not return PAWL_RECOVERED
 * for what happened before. Numbers of pawl_lock_token() go on to grow; PAWL_ERR_TOO_MANY after 31
 * calls for a table with a lease. Option topology, which is about all ranks, has no effect any
 * more; statistics begin anew. What the MPI has of the former table stays until the process ends.
 */
int pawl_table_shrink(pawl_table **table, MPI_Comm survivors);
/* The same with the handle of Fortran. Collective. */
int pawl_table_shrink_f(pawl_table **table, pawl_fint survivors);

/* Information about a table. Local. */
struct pawl_table_info {
	const struct pawl_kind *kind;
	uint64_t n;               /* number of locks */
	int ranks, nodes, levels; /* of the communicator and its topology */
	int max_held;             /* the value in force: the default falls with many ranks */
	uint64_t bytes;           /* of lock state on this rank, including queue nodes */
	const char *transport;    /* "node" (shared memory only), "mpi" or "ucx" */
	const char *topology;     /* the levels, outermost first, as text */
	const char *parameters;   /* the thresholds in force, as text */
	int crowded;              /* ranks of this host outnumber the cores they may use */
	const char *name;         /* pawl_table_set_name(); "" if there is none */
};
static inline int pawl_table_get_info(const pawl_table *table, struct pawl_table_info *info);

/* Like pawl_table_get_info(), which calls it with the size of the structure in the caller's pawl.h:
 * at most so many bytes are filled, and members that this version of the library does not have are
 * 0. For other languages. Local. */
int pawl_table_get_info_sized(const pawl_table *table, struct pawl_table_info *info, size_t size);

/*
 * Name a table: error messages, the watchdog and statistics of this rank contain the name from then
 * on. It has at most 63 bytes, without quotation marks and control characters; NULL or "" removes
 * it. Local: for messages of all ranks, call it on all ranks. No other thread of this rank may use
 * the table during the call.
 */
int pawl_table_set_name(pawl_table *table, const char *name);

/*
 * The lock of a name, in a table with option names: *lock is the same on all ranks, and no other
 * name gets it. A name takes a lock that has none when it is first asked for, and keeps it.
 * name: 1 to 63 bytes, without quotation marks and control characters. Any number of names up to n.
 * Local (one-sided): a name that is known takes one round trip, or some more if the table is nearly
 * full; keep the number. Needs one of max_held during the call. A table whose program also uses
 * numbers of its own choice may lock what a name stands for. PAWL_ERR_TOO_MANY: all locks have
 * other names; PAWL_ERR_UNSUPPORTED: the table has no option names. On kinds with PAWL_CAP_RANGES,
 * spaces have the names.
 */
int pawl_lock_named(pawl_table *table, const char *name, uint64_t *lock);

/* The home rank of a lock. Local. */
int pawl_table_home(const pawl_table *table, uint64_t lock, int *rank);

/* ------------------------------------------------------------------ locks */

/*
 * Acquire lock (0 <= lock < n) in mode PAWL_EXCLUSIVE, PAWL_SHARED, PAWL_INTENT or
 * PAWL_INTENT_SHARED; wait as long as it takes. Local (one-sided): calls no collective. Allocates
 * nothing, except with transport ucx: for the first connection to a rank, and when more messages
 * are in flight than ever before. PAWL_ERR_UNSUPPORTED for PAWL_SHARED and the intents on kinds
 * without PAWL_CAP_SHARED and PAWL_CAP_INTENT; PAWL_ERR_HELD if this thread already holds the lock.
 */
int pawl_lock_acquire(pawl_table *table, uint64_t lock, int mode);

/* As pawl_lock_acquire(), but do not wait for other clients: PAWL_ERR_BUSY if one has the lock, or
 * is trying to acquire it in a mode that excludes this one; with transport ucx also while the
 * release by another process is on its way. Kinds with PAWL_CAP_TRY. */
int pawl_lock_try_acquire(pawl_table *table, uint64_t lock, int mode);

/*
 * As pawl_lock_acquire(), but wait for at most this many seconds (>= 0), then return
 * PAWL_ERR_TIMEOUT. Kinds with PAWL_CAP_TIMED. If waiters queue, the deadline may pass while this
 * process is in the queue. Its place there counts towards option max_held (PAWL_ERR_TOO_MANY if
 * nothing is left) until the hand-over passes it, at the latest when the lock is free. A call for
 * the same lock and mode resumes from that place.
 */
int pawl_lock_timed_acquire(pawl_table *table, uint64_t lock, int mode, double seconds);

/*
 * Release a lock that this thread holds, in whatever mode. PAWL_ERR_LEASE_LOST, on kinds with
 * option lease: the hold and its release took longer than the lease, and others may have taken this
 * thread for dead and had the lock since, also if the machine was suspended and its clock stood
 * still meanwhile. The thread does not hold it any more.
 */
int pawl_lock_release(pawl_table *table, uint64_t lock);

/*
 * Make a lock exclusive that this thread holds with PAWL_SHARED, without releasing it: wait until
 * all other holders have left; newcomers, and those that queue, wait meanwhile. One client at a
 * time: PAWL_ERR_BUSY, at once, if another holder does the same. That one waits for this thread,
 * which has to release the lock, and to read what it protects again when it has it back. So two
 * upgrades of one lock do not deadlock. After PAWL_ERR_BUSY the lock is held shared, as before. A
 * part of a whole needs the whole with PAWL_INTENT. Kinds with PAWL_CAP_UPGRADE, else
 * PAWL_ERR_UNSUPPORTED; PAWL_ERR_NOT_HELD: this thread does not hold the lock, or in another mode.
 * Local (one-sided).
 */
int pawl_lock_upgrade(pawl_table *table, uint64_t lock);

/* As pawl_lock_upgrade(), but wait for at most this many seconds (>= 0); then PAWL_ERR_TIMEOUT, and
 * the lock is held shared, as before. */
int pawl_lock_timed_upgrade(pawl_table *table, uint64_t lock, double seconds);

/* Hold a lock with PAWL_SHARED that this thread holds exclusively. No other client is exclusive in
 * between: what this thread has written is what it goes on to read. Does not wait. Codes as of
 * pawl_lock_upgrade(). */
int pawl_lock_downgrade(pawl_table *table, uint64_t lock);

/*
 * Acquire n locks, locks[i] in mode modes[i], or all of them exclusively if modes is NULL; wait as
 * long as it takes. n may be 0. A lock that is named twice: PAWL_ERR_ARG. A call that fails
 * acquires none of them.
 *
 * Clients that acquire by this call, and hold no lock with a higher number than one they ask for,
 * do not deadlock with each other. With kinds whose acquire is one atomic on a free lock (d-mcs),
 * free locks cost the latency of one, wherever they live. If some are not free, the client acquires
 * in the order of the numbers, and waits for a lock only while it holds those with lower numbers.
 * Other kinds acquire in this order one by one.
 *
 * Local. Allocates nothing for up to 32 locks, but for the exceptions of pawl_lock_acquire(). Each
 * lock counts towards option max_held. A lease begins when its lock is acquired, which may be long
 * before the call returns. pawl_lock_release() may release each lock by itself.
 */
int pawl_lock_acquire_many(pawl_table *table, size_t n, const uint64_t locks[], const int modes[]);

/* As pawl_lock_acquire_many(), but do not wait for other clients: PAWL_ERR_BUSY, with none of the
 * locks acquired, if one has or tries some of them. Kinds with PAWL_CAP_TRY. */
int pawl_lock_try_acquire_many(pawl_table *table, size_t n, const uint64_t locks[],
			       const int modes[]);

/* As pawl_lock_acquire_many(), but wait for at most this many seconds (>= 0) in all, then release
 * what was acquired and return PAWL_ERR_TIMEOUT. Kinds with PAWL_CAP_TIMED. The place in the queue
 * of the lock that was awaited last stays as for pawl_lock_timed_acquire(). */
int pawl_lock_timed_acquire_many(pawl_table *table, size_t n, const uint64_t locks[],
				 const int modes[], double seconds);

/* Release n locks that this thread holds, in whatever modes, and however they were acquired.
 * PAWL_ERR_NOT_HELD, with none released, if it does not hold one of them. PAWL_ERR_LEASE_LOST and
 * PAWL_ERR_PEER and PAWL_ERR_MPI are about at least one of them; all have been released. */
int pawl_lock_release_many(pawl_table *table, size_t n, const uint64_t locks[]);

/*
 * Give up a lock that this thread holds without a release, as a process that dies does; for tests
 * of recovery. Others get the lock when its lease is over. Kinds with PAWL_CAP_RECOVERS and a
 * lease, else PAWL_ERR_UNSUPPORTED. The hold counts towards option max_held until the kind knows
 * that the lock has been recovered (PAWL_ERR_TOO_MANY if nothing is left).
 */
int pawl_lock_abandon(pawl_table *table, uint64_t lock);

/*
 * What a lock protects is consistent again after a recovery (kinds with PAWL_CAP_RECOVERS and a
 * lease). When a holder has died, or was taken for dead, the client that gets its lock next is told
 * so: acquires, tries and requests return PAWL_RECOVERED in place of PAWL_SUCCESS. The lock is held
 * then, and to be released as ever; what it protects may be half changed. (That a client has died
 * which only awaited the lock cannot be told apart.) All further acquires, in any mode, return the
 * same until an exclusive holder calls this function, which it does after the repair and before
 * its release. So a holder that does not call it, or dies meanwhile, leaves the repair to the next.
 * A call for several locks returns PAWL_RECOVERED if this is so of at least one.
 *
 * Local (one-sided). Does nothing if the lock was not recovered, or has no lease.
 * PAWL_ERR_NOT_HELD: this thread does not hold it exclusively. PAWL_ERR_UNSUPPORTED, as from the
 * next two calls: the kind recovers and does not tell (dslr, a baseline of pawl-bench).
 */
int pawl_lock_consistent(pawl_table *table, uint64_t lock);

/* Whether a lock that this thread holds, in whatever mode, is consistent: *consistent is 0 after
 * PAWL_RECOVERED, until pawl_lock_consistent(); else 1. Local (one-sided). */
int pawl_lock_is_consistent(pawl_table *table, uint64_t lock, int *consistent);

/*
 * A number for what the holder of a lock writes to storage (a fencing token). It is larger than
 * any number that earlier holders have got or will get, also if they were taken for dead and go on;
 * holders that share the lock get theirs in the order in which they ask.
 * A storage that keeps the largest number that it has seen, and refuses writes with smaller ones,
 * is safe from such holders. Take the number after the acquire and keep it; another call gives a
 * larger one. Numbers begin at 1 with the table. Local (one-sided): an atomic at the lock's home.
 * PAWL_ERR_UNSUPPORTED without a lease; PAWL_ERR_NOT_HELD.
 */
int pawl_lock_token(pawl_table *table, uint64_t lock, int64_t *token);

/* An acquire that goes on while its thread does something else. Filled in by pawl_lock_iacquire();
 * all zero when it has ended; the contents belong to the library. */
typedef struct pawl_request {
	uint64_t opaque[4];
} pawl_request;

/*
 * Begin to acquire a lock: as pawl_lock_acquire(), but return where that would wait for other
 * clients. On kinds whose waiters queue, the request has its place in the queue from then on; the
 * others try at each test. The lock is held when pawl_request_test() or pawl_request_wait() says
 * so, and not before, even if it was free. After a failure there is no request.
 *
 * A request goes on only within the calls that take it, unless pawl_request_fd() or
 * pawl_request_mpi() has given it a thread. It may get the lock between two of them,
 * and then others wait for the next one: test often. With option lease, test several times a lease,
 * or others may take this thread for dead. As with a lock that is held, this thread must not wait
 * for threads that wait for the lock.
 *
 * A request counts towards option max_held. Until it ends, an acquire of its lock by the same
 * thread is refused with PAWL_ERR_HELD, and so is pawl_table_free(). Only the thread that has made
 * it may use it, also with option owner=process; one that ends with a request leaves it in the
 * queue, where those behind it wait for ever. The first requests of a process allocate stacks, of
 * 512 KiB of addresses each.
 */
int pawl_lock_iacquire(pawl_table *table, uint64_t lock, int mode, pawl_request *request);

/* Look once whether a request has got its lock, without waiting for other clients: *done is 1 if
 * the lock is held now, or if the request has ended before. Other codes than PAWL_SUCCESS, those of
 * pawl_lock_acquire(), end the request without the lock; but PAWL_ERR_ARG if it is not one of this
 * thread's. */
int pawl_request_test(pawl_request *request, int *done);

/* Wait until a request has got its lock. Codes as of pawl_request_test(). */
int pawl_request_wait(pawl_request *request);

/* End a request without the lock: as at the deadline of a timed acquire, so that its place in the
 * queue may stay for a while, or by a release if it has got the lock. Kinds without PAWL_CAP_TIMED
 * wait for the lock and release it. */
int pawl_request_cancel(pawl_request *request);

/*
 * Await a request together with other things, by poll(), epoll or select(): *fd is readable when
 * the request has ended, with the lock or without; then pawl_request_test() says so at once. The
 * descriptor is the library's: do not read or close it. It is closed when pawl_request_test() has
 * set *done, and by pawl_request_wait() and pawl_request_cancel(), so take it out of what polls it
 * before. Another call for the same request gives the same descriptor.
 *
 * From this call until then a thread of the library goes on with the request, and sleeps meanwhile
 * as an acquire does; the lock may be held by the time at which the program calls
 * pawl_request_test(), and with option lease the lease runs. With transport mpi the thread calls
 * the MPI: PAWL_ERR_THREAD below MPI_THREAD_MULTIPLE, or with threads=single. It does not drive the
 * MPI for the program below MPI_THREAD_MULTIPLE, so a rank that sleeps in poll() delays others then
 * that operate on its windows. PAWL_ERR_NOMEM: no descriptor, or no memory for a thread;
 * PAWL_ERR_ARG: the request has ended, or is another thread's. After a failure the request goes on
 * as before. Local.
 */
int pawl_request_fd(pawl_request *request, int *fd);

/*
 * The same as a request of the MPI (a generalised request), for MPI_Waitany(), MPI_Waitsome() and
 * others over locks and messages: *mpi completes when the request has ended; then call
 * pawl_request_test(). One at a time for each request: PAWL_ERR_HELD. The program completes or
 * frees *mpi as any other. MPI_Cancel() completes it as cancelled within some milliseconds, and
 * pawl_request_cancel() at once; the former leaves the request as it is. PAWL_ERR_THREAD below
 * MPI_THREAD_MULTIPLE; other codes as of pawl_request_fd().
 */
int pawl_request_mpi(pawl_request *request, MPI_Request *mpi);

/* As pawl_request_mpi(), with the handle of Fortran: MPI_Request_c2f(), MPI_Request_toint(). */
int pawl_request_mpi_f(pawl_request *request, pawl_fint *mpi);

/* A read without the lock. All zero (PAWL_READ_INIT) before the first; the contents belong to the
 * library. */
typedef struct pawl_read {
	uint64_t opaque[4];
} pawl_read;
#define PAWL_READ_INIT             \
	{                          \
		{                  \
			0, 0, 0, 0 \
		}                  \
	}

/*
 * Read what a lock protects without acquiring it. The library looks at the lock before the read and
 * after it, and says whether an exclusive client was in meanwhile; then the program reads again:
 *
 *   pawl_read read = PAWL_READ_INIT;
 *   do {
 *           if (pawl_lock_read_begin(table, lock, &read) != PAWL_SUCCESS)
 *                   ...;
 *           copy = *data;
 *           rc = pawl_lock_read_validate(table, lock, &read);
 *   } while (rc == PAWL_ERR_BUSY);
 *
 * The two calls change no word at the home, so readers do not disturb each other, and take one get
 * each. After a few failures in a row pawl_lock_read_begin() waits for the lock in mode
 * PAWL_SHARED, and the read then ends with it. So each read that has begun is to be ended, by one
 * pawl_lock_read_validate() of the same thread, with the same pawl_read.
 *
 * What is read may change during the read. Until pawl_lock_read_validate() has returned
 * PAWL_SUCCESS, the program may copy it, but not rely on it: not follow a pointer or an index that
 * may be half written. Reads by one-sided operations are flushed (MPI_Win_flush) in between. Reads
 * from memory of the node should be atomic for the compiler (atomic_load_explicit() with
 * memory_order_relaxed, or volatile), as should the writes of the exclusive holder.
 *
 * PAWL_ERR_UNSUPPORTED on kinds without PAWL_CAP_OPTIMISTIC; PAWL_ERR_HELD if this thread holds the
 * lock; PAWL_ERR_TOO_MANY if option max_held leaves no slot for the duration of the call.
 */
int pawl_lock_read_begin(pawl_table *table, uint64_t lock, pawl_read *read);

/* End a read. PAWL_ERR_BUSY: what was read is not valid, because the lock was acquired exclusively
 * since pawl_lock_read_begin(), or many shared holders have released it; begin again with the same
 * pawl_read. PAWL_ERR_ARG if no read of the lock has begun with it. */
int pawl_lock_read_validate(pawl_table *table, uint64_t lock, pawl_read *read);

/*
 * Acquire lock part in mode PAWL_EXCLUSIVE and lock whole with PAWL_INTENT, or part in mode
 * PAWL_SHARED and whole with PAWL_INTENT_SHARED; in one round trip if no other client has or awaits
 * them. PAWL_ERR_UNSUPPORTED on kinds without PAWL_CAP_INTENT. Each of the two locks may also be
 * released by itself, in any order.
 */
int pawl_lock_acquire_part(pawl_table *table, uint64_t whole, uint64_t part, int mode);

/* Release both locks of pawl_lock_acquire_part(). PAWL_ERR_NOT_HELD unless this thread holds both:
 * whole with an intent, and part exclusively or shared. */
int pawl_lock_release_part(pawl_table *table, uint64_t whole, uint64_t part);

/* ------------------------------------------- conditions, semaphores, counters */

/*
 * Tables with option events have for each lock number a condition, a semaphore and a counter, which
 * do not depend on each other; not tables with a lease, and ranges have counters alone. All calls
 * are local (one-sided), and may fail as pawl_lock_acquire() may. PAWL_ERR_UNSUPPORTED without
 * option events.
 */

/*
 * Wait for a notification: release a lock that this thread holds exclusively, wait, and acquire it
 * again. A notification by any holder since the release is not missed. As with conditions of
 * threads, what is waited for may have gone again: test it in a loop. PAWL_ERR_NOT_HELD: the thread
 * does not hold the lock exclusively. After PAWL_ERR_PEER and PAWL_ERR_MPI it does not hold it.
 */
int pawl_lock_wait(pawl_table *table, uint64_t lock);

/* The same for at most this many seconds (>= 0), and as long as the acquire takes;
 * PAWL_ERR_TIMEOUT: there was no notification, and the thread holds the lock. */
int pawl_lock_timed_wait(pawl_table *table, uint64_t lock, double seconds);

/* Wake the n clients (INT_MAX: all) that have waited longest for lock, which this thread holds
 * exclusively; they go on when they have acquired it. *woken (may be NULL): how many there were. */
int pawl_lock_notify(pawl_table *table, uint64_t lock, int n, int *woken);

/* Give a semaphore that no client uses this number of permits (>= 0), in place of 0. Local: one
 * rank makes the call, and others wait for it, by MPI_Barrier or the like. */
int pawl_semaphore_init(pawl_table *table, uint64_t semaphore, int64_t value);
/* The number of permits; if it is negative, that of clients that wait. */
int pawl_semaphore_get_value(pawl_table *table, uint64_t semaphore, int64_t *value);

/*
 * Take a permit; wait as long as it takes, in the order of arrival. One atomic if there is a
 * permit. Else the client queues, with the lock of this number, and so does a release that finds
 * it: a program that uses this lock, too, holds it for short times. PAWL_ERR_HELD: this thread
 * holds it. Needs one of max_held during the call.
 */
int pawl_semaphore_acquire(pawl_table *table, uint64_t semaphore);
/* As pawl_semaphore_acquire(), but do not wait: PAWL_ERR_BUSY. */
int pawl_semaphore_try_acquire(pawl_table *table, uint64_t semaphore);
/* As pawl_semaphore_acquire(), but wait for at most this many seconds (>= 0), and for a release
 * that has begun; then return PAWL_ERR_TIMEOUT. */
int pawl_semaphore_timed_acquire(pawl_table *table, uint64_t semaphore, double seconds);

/* Give n permits (>= 1), by any client. PAWL_ERR_RANGE, with nothing changed: there would be more
 * than most (0: any number). */
int pawl_semaphore_release(pawl_table *table, uint64_t semaphore, int64_t n, int64_t most);

/* Add value to a counter, 0 at first, by one atomic; *before (may be NULL) is what it was. */
int pawl_counter_add(pawl_table *table, uint64_t counter, int64_t value, int64_t *before);

/* ----------------------------------------------------------------- ranges */

/*
 * Tables of kinds with PAWL_CAP_RANGES have address spaces instead of locks. Each of the n spaces
 * has units 0, 1, 2, ... without end, and a client locks some of them. The program decides what a
 * unit is (a byte, a block, a slot). Spaces have homes like locks. Citron paper (FAST'23).
 */

/* The last unit that a range can name. A range up to this unit has no end. */
#define PAWL_RANGE_END INT64_MAX

/* A range that is held, until its release. Filled in by an acquire; may be copied; the contents
 * belong to the library. */
typedef struct pawl_range {
	uint64_t opaque[2];
} pawl_range;

/*
 * Acquire units first to last, both included (0 <= first <= last <= PAWL_RANGE_END), of a space (0
 * <= space < n), in mode PAWL_EXCLUSIVE or, on kinds with PAWL_CAP_SHARED, PAWL_SHARED; wait as
 * long as it takes. Local (one-sided): calls no collective, and allocates nothing, with the
 * exceptions of pawl_lock_acquire(). A client may hold several ranges at a time, also of one space
 * (option max_held). If they overlap, the call waits for ever, or returns PAWL_ERR_HELD on kinds
 * that notice it. Kinds that round long ranges up (citron, unless option k is 0) may also return
 * this for ranges that are close together. PAWL_ERR_UNSUPPORTED on kinds without PAWL_CAP_RANGES.
 */
int pawl_range_acquire(pawl_table *table, uint64_t space, int64_t first, int64_t last, int mode,
		       pawl_range *range);

/* As pawl_range_acquire(), but do not wait for other clients: PAWL_ERR_BUSY if one has some of the
 * units. */
int pawl_range_try_acquire(pawl_table *table, uint64_t space, int64_t first, int64_t last, int mode,
			   pawl_range *range);

/* As pawl_range_acquire(), but wait for at most this many seconds (>= 0), then return
 * PAWL_ERR_TIMEOUT. */
int pawl_range_timed_acquire(pawl_table *table, uint64_t space, int64_t first, int64_t last,
			     int mode, double seconds, pawl_range *range);

/* Release a range that this thread holds. PAWL_ERR_NOT_HELD if it holds none; PAWL_ERR_LEASE_LOST
 * as for pawl_lock_release(). */
int pawl_range_release(pawl_table *table, const pawl_range *range);

/*
 * Let a space grow, if a client has needed units behind its end since it last grew. Spaces of
 * citron can grow (options units_most and growth): all units behind option units share one lock,
 * and are slow, until the space reaches them. With growth=auto the client that needs more units
 * lets the space grow; with growth=call only this call does, while other clients acquire, hold and
 * release. Local (one-sided): takes a few round trips, and waits for the clients that hold units
 * behind the end. *units (may be NULL): the number of units that the space has now.
 * PAWL_ERR_UNSUPPORTED on other kinds. Citron paper, Section 3.9.
 */
int pawl_range_grow(pawl_table *table, uint64_t space, int64_t *units);

/*
 * Reduce a space to units (>= 1; rounded up, and to option units at least), which makes it a
 * little faster. Collective over the table's communicator, with the same values on all ranks. No
 * client may hold or await a range of the table; else the result is PAWL_ERR_BUSY on all ranks, and
 * nothing changes.
 */
int pawl_range_shrink(pawl_table *table, uint64_t space, int64_t units);

/* Give up a range that this thread holds, as pawl_lock_abandon() does with a lock. */
int pawl_range_abandon(pawl_table *table, const pawl_range *range);

/* As pawl_lock_consistent(), for all units of the range's space: a recovery gives up all holders in
 * a space, and all later acquires there return PAWL_RECOVERED. PAWL_ERR_RANGE, unless the range is
 * the whole space, 0 to PAWL_RANGE_END: a client with fewer units repairs these, and cannot say
 * that others are. */
int pawl_range_consistent(pawl_table *table, const pawl_range *range);

/* As pawl_lock_is_consistent() and pawl_lock_token(). A number is larger than those of all earlier
 * holders of some of the units. */
int pawl_range_is_consistent(pawl_table *table, const pawl_range *range, int *consistent);
int pawl_range_token(pawl_table *table, const pawl_range *range, int64_t *token);

/* ------------------------------------------------------------- statistics */

/* Operations of this rank on the table since its creation or the last reset, by type; index 0: the
 * target is on the same node, 1: on another node ("far"). A rank's loads and stores in its own
 * memory do not count. */
struct pawl_stats {
	uint64_t acquires;   /* successful ones, in all modes */
	uint64_t atomics[2]; /* fetch-and-op, compare-and-swap, accumulate */
	uint64_t gets[2];
	uint64_t puts[2];
	uint64_t flushes[2]; /* of the network transport only */
	uint64_t waits;      /* how often a client had to wait for a word */
	uint64_t parks;      /* how often a client slept; a wait may have several */
	uint64_t recoveries; /* locks that this rank recovered after a failure */
	uint64_t aborts;     /* attempts at ranges that met others and were repeated */
};

/* Get the counts of this rank. Local. Exact while no other thread of this rank uses the table. */
static inline int pawl_table_get_stats(const pawl_table *table, struct pawl_stats *stats);

/* Like pawl_table_get_stats(), which calls it with the size of the structure in the caller's
 * pawl.h: at most so many bytes are filled, and members that this version of the library does not
 * have are 0. For other languages. Local. */
int pawl_table_get_stats_sized(const pawl_table *table, struct pawl_stats *stats, size_t size);

/* Times of this rank's calls on the table: of successful and timed out acquires, from call to
 * return; of holds, from the return of the acquire to the call of the release. */
enum { PAWL_TIME_ACQUIRE = 1, PAWL_TIME_HOLD = 2 };

/*
 * Get a percentile of these times: *seconds is what percent (0 .. 100) of them do not exceed, to
 * within 1/32; 0 if there are none. Local. Only for tables created with PAWL_STATS in the
 * environment, else PAWL_ERR_UNSUPPORTED. pawl_table_reset_stats() does not change them.
 */
int pawl_table_get_percentile(const pawl_table *table, int what, double percent, double *seconds);

/* Set the counts to 0. Local. */
int pawl_table_reset_stats(pawl_table *table);

/* -------------------------------------------------------- inline functions */

static inline int pawl_table_get_info(const pawl_table *table, struct pawl_table_info *info)
{
	return pawl_table_get_info_sized(table, info, sizeof *info);
}

static inline int pawl_table_get_stats(const pawl_table *table, struct pawl_stats *stats)
{
	return pawl_table_get_stats_sized(table, stats, sizeof *stats);
}

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
