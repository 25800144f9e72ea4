/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Observers of a table: statistics and traces of what its locks do.
 *
 *   observe.c    which observers a table has, and the calls of the API layer (observe_begin() etc.)
 *   observers.h  the observers that exist; observe.c has their list
 *   job.c        the job: which files are its own, and numbers of its tables and processes
 *   watchdog/    option watchdog
 *   stats.c      statistics, PAWL_STATS; stats_print.c prints them
 *   tallies.c    counts by lock and call site, in fixed memory; histogram.h: times
 *   trace.c      time lines, PAWL_TRACE; trace_file.c writes them, into the file that
 *                trace_claim.c gives to this job
 *   probes.c     probes for bpftrace and perf, PAWL_PROBES
 *   sites.c      call sites as text
 *   inject.c     delays, PAWL_INJECT
 *
 * The API layer (api/lock.c, api/range.c) is the only place that reports, so every acquire and
 * release of a program, of the drop-in layer and of the other languages comes here:
 *
 *   begin      a client has a slot and is about to acquire
 *   acquired   that call is about to return; code says how
 *   release    a holder is about to release
 *   released   the release has returned
 *   waiting    a client has waited for some time, and waits still (rma/wait.c)
 *
 * An observer is a structure of these functions (struct observer), each of them may be NULL, with a
 * pointer to its own state. observe.c has the list of those that exist; each has an open() that
 * decides by the environment of rank 0, which all ranks get (observe_setting()), whether it
 * observes this table. A table without observers has t->observe NULL.
 *
 * Cost. A table with observers has t->plain 0, so that an acquire and a release leave the fast
 * path at a comparison that they make anyway (table/life.c): a table without observers has no
 * additional instruction. In a table with observers, each event reads the clock.
 *
 * Threads. All functions but waiting are called by the thread that acquires or releases; several
 * threads may call at the same time if set->threaded. waiting is called by the waiting thread, at
 * intervals of some microseconds to two milliseconds.
 */
#ifndef OBSERVE_OBSERVE_H
#define OBSERVE_OBSERVE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "client/client.h"
#include "rma/tasks.h"

/* How far a hand-over went: the smallest element of the topology that has both clients. The levels
 * that the topology does not have, because they would not divide its ranks, count as the next one
 * that it has. */
enum observe_level {
	OBSERVE_COMPLEX, /* cores that share a cache */
	OBSERVE_PACKAGE, /* package or NUMA domain */
	OBSERVE_NODE,
	OBSERVE_NETWORK,
	OBSERVE_UNKNOWN, /* the protocol does not know from where the lock came */
	OBSERVE_LEVELS
};

/* What is known of one acquire, from begin to released. Times are those of rma_now_ns(); 0: not
 * yet. */
struct observe_record {
	uint64_t lock;                    /* or the space */
	int64_t first, last;              /* of a range; kinds with PAWL_CAP_RANGES */
	int mode;                         /* PAWL_EXCLUSIVE, ... */
	int slot;                         /* index of the client's slot in this process */
	const void *site;                 /* return address of the public call that acquires, ... */
	const void *release_site;         /* ... and of the one that releases */
	uint64_t begin_ns, acquired_ns;   /* of the acquire: the call, and its return */
	uint64_t release_ns, released_ns; /* of the release */
	int code;    /* of the last call: PAWL_SUCCESS, PAWL_ERR_BUSY, PAWL_ERR_TIMEOUT ... */
	bool waited; /* the client has waited for another one (contended) */
	int from;    /* acquired after a wait: rank of the table that had the lock; -1: unknown */
	enum observe_level level; /* acquired after a wait: how far the hand-over went */
	uint64_t far;             /* operations on other nodes, of acquire and release so far */
	uint64_t waits_before, far_before; /* counts of the slot at begin, and at release */
};

struct observe;

struct observer {
	/* The record is the caller's; an observer copies what it needs later. */
	void (*begin)(void *state, const struct observe_record *r);
	void (*acquired)(void *state, const struct observe_record *r);
	void (*release)(void *state, const struct observe_record *r);
	void (*released)(void *state, const struct observe_record *r);
	/* A client has waited for so long. NULL: not within an acquire; a release may wait as well,
	 * for the link of a successor. */
	void (*waiting)(void *state, const struct observe_record *r, uint64_t waited_ns);
	/* The table is about to be freed; no client has a lock. report: collective over comm, MPI
	 * works. close: local, may come without report. */
	void (*report)(void *state);
	void (*close)(void *state);
	/* Report locks first to first + n - 1, and lock extra, under this title, and forget them:
	 * those of a window that is freed. Collective over comm, which has the table's ranks in
	 * their order, and which no other thread uses meanwhile. */
	void (*report_locks)(void *state, MPI_Comm comm, uint64_t first, uint64_t n, uint64_t extra,
			     const char *title);
	/* The table gets other segments, with other homes, and no client has a lock: before rma and
	 * setup change, and after that. Local; other threads may act on other tables. */
	void (*before_move)(void *state);
	void (*after_move)(void *state);
	/* A percentile of this rank's acquires, or holds. */
	void (*percentile)(void *state, bool holds, double percent, uint64_t *ns);
};

/* What observers may know of a table. */
struct observe_table {
	MPI_Comm comm; /* the table's own */
	const struct lock_setup *setup;
	const struct client_set *clients;
	struct rma *rma;
	const char *name;  /* pawl_table_set_name(), may change; "" */
	const char *about; /* name, kind and number of locks, for messages; may change */
	uint64_t number;   /* of the table; no other one of the job has it (job.h) */
	uint64_t board;    /* offset of the boards of option watchdog in each segment (board.h) */
};

enum { OBSERVERS = 8 };

struct observe {
	struct observe_table table;
	int n;
	const struct observer *calls[OBSERVERS];
	void *state[OBSERVERS];
	/* [max_held] The acquires in progress and the holds, by slot. An entry belongs to the
	 * client that has the slot; slots_is_claimed() says whether there is one. acquired_ns 0: it
	 * waits. */
	struct observe_record *records;
};

/*
 * Three steps: prepare, local; then ask, whose words the caller reduces to their maxima over all
 * ranks; then, if the words say that an observer is asked for, open, collective over table->comm:
 * o->n of the observers want this table. PAWL_ERR_*, with a message: the code of this rank. The
 * caller closes o if there is none, and else sets rma->waiting.observe, and the table's plain to 0.
 */
enum { OBSERVE_WORDS = 2 };
int observe_prepare(struct observe **o, const struct observe_table *table);
void observe_ask(const struct observe_table *table, int64_t word[OBSERVE_WORDS]);
bool observe_is_asked(const int64_t word[OBSERVE_WORDS]);
int observe_open(struct observe *o, const int64_t word[OBSERVE_WORDS]);
/* Let all observers report. Collective. */
void observe_report(struct observe *o);
void observe_close(struct observe *o);
/* Tell them before the table gets other segments, and after that; o may be NULL. */
void observe_before_move(struct observe *o);
void observe_after_move(struct observe *o, uint64_t board);
void observe_report_locks(struct observe *o, MPI_Comm comm, uint64_t first, uint64_t n,
			  uint64_t extra, const char *title);
/* Whether an observer reports locks. */
bool observe_reports_locks(const struct observe *o);
/* False: no observer has them. */
bool observe_percentile(struct observe *o, bool holds, double percent, uint64_t *ns);

/* The value that a variable of the environment has on rank 0 of the communicator. Collective.
 * Launchers often do not pass the environment to other hosts. "" if it is not set, empty or a word
 * for off (0, no, off, false); "1" for the words 1, 2, yes, on, true; in any case of letters.
 * PAWL_ERR_OPTION, on all ranks: it is too long. */
enum { OBSERVE_SETTING = 512 };
int observe_setting(MPI_Comm comm, const char *name, char value[OBSERVE_SETTING]);
/* The same of a text without such words. */
int observe_text(MPI_Comm comm, const char *name, char value[OBSERVE_SETTING]);
/* The same of a number, which stays as it is if the variable is not set or empty. */
int observe_number(MPI_Comm comm, const char *name, uint64_t least, uint64_t most, uint64_t *value);

/* ------------------------------------------------------------ for the API layer */

/* A slot has been claimed for a lock or range; client_enter() comes next. Returns a copy of the
 * record, for observe_acquired(): after a failure the slot may be another thread's. */
struct observe_record observe_begin(struct observe *o, struct lock_slot *slot, int mode,
				    const struct client_units *units, const void *site);
void observe_acquired(struct observe *o, struct observe_record *r, struct lock_slot *slot,
		      int code);
/* Before client_leave(), and between it and client_give_back(). */
void observe_release(struct observe *o, const struct lock_slot *slot, const void *site);
void observe_released(struct observe *o, const struct lock_slot *slot, int code);
/* Before client_abandon(): release and released, with code PAWL_ERR_LEASE_LOST. */
void observe_abandon(struct observe *o, const struct lock_slot *slot, const void *site);
/* The acquire in which this client of a slot waits; NULL: it waits within a release. */
const struct observe_record *observe_awaiting(const struct observe *o, const struct rma_client *c);
/* For rma->waiting.observe; o is a struct observe. */
void observe_waiting(void *o, const struct rma_client *c, uint64_t waited_ns, const char *what);

/* Exported for the layers; in no installed header. The next calls of this thread come from this
 * place in the program; NULL: from the place that calls Pawl. */
__attribute__((visibility("default"))) void pawl_private_set_site(const void *site);
extern _Thread_local const void *observe_given_site
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The same: the table is a layer's, so that no message tells the program to free it. Returns its
 * communicator, for the layer's own calls; the layer does not free it. */
__attribute__((visibility("default"))) MPI_Comm pawl_private_adopt(pawl_table *t);
/* The same: whether a table has observers, and whether it has statistics. Equal on all ranks. */
__attribute__((visibility("default"))) void
pawl_private_get_observed(const pawl_table *t, bool *observed, bool *has_statistics);
/* The same: report these locks of a table now and forget them, if it has statistics. extra:
 * UINT64_MAX for none. Collective over comm, which has the table's ranks in their order, and which
 * no other thread uses meanwhile. */
__attribute__((visibility("default"))) void pawl_private_report_locks(pawl_table *t, MPI_Comm comm,
								      uint64_t first, uint64_t n,
								      uint64_t extra,
								      const char *title);

/* In a public function: the place that calls it. */
#define OBSERVE_SITE() \
	(observe_given_site ? observe_given_site : (const void *)__builtin_return_address(0))

/* The same: tasks of one rank for another (rma/tasks.h). From now on fn performs those for this
 * rank; others have some only after that. False: the table's transport has none. Local, the same on
 * all ranks. */
__attribute__((visibility("default"))) bool pawl_private_serve(pawl_table *t, rma_serve *fn,
							       void *arg);
/* The same: whose tasks for others one thread at a time sends and awaits. NULL: out of memory. */
__attribute__((visibility("default"))) struct rma_client *pawl_private_tasks(pawl_table *t);
__attribute__((visibility("default"))) void pawl_private_tasks_free(struct rma_client *c);
/* The same: send a task to the rank. lock: one whose home it is, for messages. */
__attribute__((visibility("default"))) void
pawl_private_send(struct rma_client *c, int rank, uint64_t lock, const struct rma_task *task);
/* The same: await the answers to all that has been sent. PAWL_ERR_PEER: a rank is dead.
 * PAWL_ERR_CONNECT: one cannot be reached, and gets nothing. Some of the tasks may have been
 * performed then. */
__attribute__((visibility("default"))) int pawl_private_await(struct rma_client *c);

#endif
