/* SPDX-License-Identifier: BSD-3-Clause */
/* A lock table. */
#ifndef TABLE_TABLE_H
#define TABLE_TABLE_H

#include <mpi.h>
#include <pawl.h>

#include "client/client.h"
#include "lock/lock.h"
#include "observe/observe.h"
#include "options/options.h"
#include "rma/progress.h"
#include "rma/rma.h"
#include "table/kept.h"

struct pawl_table {
	struct client_set clients;
	/* setup.n; 0 if calls on locks have to look closer: for a table with ranges or observers,
	 * and if usable is false */
	uint64_t plain;
	uint32_t plain_modes; /* bit m: the kind has mode m */
	bool usable;          /* false: life_check() has to look closer (life.c) */
	bool ranges;          /* the kind has ranges instead of locks */
	struct lock_setup setup;
	struct rma rma;
	struct observe *observe; /* NULL: no observers */
	uint64_t bytes;          /* of this rank's segment */
	MPI_Comm comm;           /* of kept: a duplicate of the program's */
	struct kept *kept;
	const struct topo_job *job;    /* of kept */
	struct rma_progress *progress; /* option progress=thread, over several nodes */
	MPI_Win homes_win;             /* LOCK_HOME_MAP: the map, in memory that the node shares */
	int64_t asked_lease_us;        /* the lease option, if the lease was made longer; else 0 */
	char parameters[256];
	char name[64];          /* info key pawl_name, pawl_table_set_name(); "" */
	char of_name[80];       /* ' of "NAME"', for messages about its locks; "" without a name */
	char about[160];        /* name, kind and number of locks, for messages */
	pawl_table *next;       /* in the list of live tables (life.c) */
	struct options options; /* as they were asked for */
	int era;                /* how often pawl_table_shrink() has replaced it */
	uint64_t moves;         /* how often pawl_table_rehome() has moved its locks */
	bool in_session;        /* created without MPI_Init */
	bool of_layer;     /* of a layer under another interface: the program does not know it */
	bool freed;        /* life_bury() */
	_Atomic(int) left; /* threads of left.c */
	_Atomic(bool) left_stop;
};

/* create.c ---------------------------------------------------------------- */

/* PAWL_ERR_ARG if it is no name for a table. */
int table_check_name(const char *name);
/* Set the texts of the table for messages. */
void table_describe(pawl_table *t, const struct lock_protocol *p, uint64_t n);

/* The worst code of all ranks. A rank whose own code is PAWL_SUCCESS gets a message that another
 * rank has failed. Collective. */
int table_agree(MPI_Comm comm, int code);
/* PAWL_ERR_MPI, with the MPI's text for what its call returned. */
int table_mpi_failed(const char *call, int rc);
/* What a table is made of. */
struct table_request {
	MPI_Comm comm;
	const char *call; /* of the program, for messages */
	const struct lock_protocol *protocol;
	const char *kind, *name;
	struct options *options;
	uint64_t n;
	bool homed; /* the homes are those of a function */
	pawl_home_fn *home;
	void *arg;
	int era;
};
/* PAWL_ERR_ARG if it is no communicator for a table. */
int table_check_comm(MPI_Comm comm, const char *what);
/* Make a table, unless rc or that of another rank is a failure. The options are the table's then,
 * and freed otherwise. Collective. */
int table_build(const struct table_request *q, int rc, pawl_table **table);
/* Choose the layout of a table and make its segments, by the homes of a function, or, if that is
 * NULL, of the options. Collective. */
int table_make_segments(pawl_table *t, const struct lock_protocol *p, const struct options *o,
			uint64_t n, pawl_home_fn *home, void *arg);
/* The worst rc of all ranks; or PAWL_ERR_HELD with the message of the lowest rank that holds or
 * awaits something. call: that of the program, for messages. Collective. */
int table_check_idle(pawl_table *t, int rc, const char *call);
/* Free what is left of t after the MPI has ended (KEPT_ENDED), or ranks of it (KEPT_LEAVE): what
 * the MPI has of it, and shared memory, stay. Local. */
void table_forget(pawl_table *t, enum kept_end end);
/* Whether this rank prints warnings. */
bool table_is_first_rank(MPI_Comm comm);

/* The worst code of all ranks, as table_agree(). If rc is PAWL_SUCCESS it becomes PAWL_ERR_NOMEM on
 * a host that has no room for a shared window with this many bytes for each of its ranks. alike:
 * bytes is the same for all ranks of a node, or would be if rc were. Collective. */
int table_check_memory(pawl_table *t, int rc, uint64_t bytes, bool alike);

/* life.c ------------------------------------------------------------------ */

/* Learn of MPI_Finalize: before the first table of this process. */
int life_watch(void);
/* From life_begin() on the application may call the table's functions; from life_end() on it may
 * not. */
void life_begin(pawl_table *t);
void life_end(pawl_table *t);

/* The last step of freeing a table. Its memory is kept until some more tables have been freed, so
 * that a call on a handle that the program has copied gets an error. */
void life_bury(pawl_table *t);

/* End the threads of the library that act for this table. */
void life_stop_threads(pawl_table *t);
/* MPI_Finalize comes next: end the threads of this rank that call MPI. Those of tables in sessions
 * go on. */
void life_end_threads(void);

/* In a forked child: PAWL_ERR_MPI, with a message. */
int life_check_process(void);
/* The same, and also after MPI_Finalize and after pawl_table_free(). For tables that are not
 * usable. */
int life_look(const pawl_table *t);
/* Whether a call may proceed. */
static inline int life_check(const pawl_table *t)
{
	return __builtin_expect(t->usable, 1) ? PAWL_SUCCESS : life_look(t);
}

/* Whether MPI has ended before the table was freed; and report that on stderr. */
bool life_is_over(const pawl_table *t);
void life_name_late(const pawl_table *t);

/* left.c ------------------------------------------------------------------ */

/* Let a thread end a request that its program has left, and tell the observers so; r->slot -1: they
 * do not know of it, or know already. False: the caller has to. */
bool left_begin(pawl_table *t, struct client_request *q, struct observe_record *r);
/* Wait until these threads have ended. stop: they do not wait for their locks any more. */
void left_await(pawl_table *t, bool stop);

/* steps.c ----------------------------------------------------------------- */

/* Whether a thread may wait for locks in place of the program's: it may call the MPI, or need
 * not. */
bool steps_may_wait(const pawl_table *t);
/* From now on a thread takes the steps of this request, and its descriptor is readable when the
 * acquire has ended. False: no memory for the thread, or no descriptor. */
bool steps_begin(pawl_table *t, struct client_request *q);
int steps_fd(const struct client_request *q);
/* Then, begin a request of the MPI that completes when the acquire has ended. The code of the call:
 * PAWL_ERR_HELD if there is one already. */
int steps_begin_mpi(struct client_request *q, MPI_Request *mpi);
/* Whether the acquire has ended, so that the caller takes the last step. waits: until then, or
 * until a time of rma_now_ns(); 0: without end. */
bool steps_are_over(pawl_table *t, struct client_request *q, bool waits, uint64_t until_ns);
/* The caller takes the further steps; and of all requests. */
void steps_end(struct client_request *q);
void steps_end_all(pawl_table *t);

/* agree.c ----------------------------------------------------------------- */

/* What a rank asks for, and what stands for it in a comparison. */
struct table_asked {
	const struct options *options;
	const char *kind;
	uint64_t n;
	bool homed;
};
enum { TABLE_ITEMS = 128 };
/* valid: the options have been read. */
void table_items(const struct table_asked *a, bool valid, int64_t item[TABLE_ITEMS]);
/* Whether all ranks ask for the same table: least has the minima of their items. Collective if not;
 * the code is the same on all ranks. */
int table_same_items(MPI_Comm comm, const struct table_asked *a, const int64_t *mine,
		     const int64_t *least);

/* call.c: what calls on locks and on ranges share --------------------------- */

/* Whether the table has this lock, or this space. */
int call_check_name(const pawl_table *t, uint64_t lock);
/* Whether the kind has try-acquires; timed acquires (*deadline_ns is the deadline); recovery of
 * abandoned locks. */
int call_check_try(const pawl_table *t);
/* The time that lies so many seconds ahead; 0: none that ends a wait. */
int call_deadline(double seconds, uint64_t *deadline_ns);
int call_check_time(const pawl_table *t, double seconds, uint64_t *deadline_ns);
int call_check_abandon(const pawl_table *t);
/* Set the message for those codes of client_enter() that mean the same for locks and ranges, and
 * return the code of the call. */
int call_refused(const pawl_table *t, uint64_t lock, int rc);
/* Why a call has lost its slot (client_has_lost()): died, or what the MPI says, in why. */
enum { CALL_LOSS_LENGTH = 384 };
const char *call_loss(const pawl_table *t, int rc, const char *died, char *why);

/* lock.c: what calls on one lock and on several share ------------------------- */

/* Whether the table has this lock, in this mode. */
int call_check_lock(const pawl_table *t, uint64_t lock, int mode);
/* Set the message for a code of client_enter() and of client_release() about a lock; return the
 * code of the call. */
int call_refused_lock(const pawl_table *t, uint64_t lock, int rc);
int call_failed_lock(const pawl_table *t, uint64_t lock, int rc);
int call_not_held(const pawl_table *t, uint64_t lock);
/* The slot of a lock that this thread holds, in whatever mode; NULL: *code says why not. */
struct lock_slot *call_held_lock(pawl_table *t, uint64_t lock, int *code);
/* Acquire or release a lock after these checks, for a call from site; set the message, and return
 * the code of the call. */
int call_acquire_lock(pawl_table *t, uint64_t lock, int mode, const void *site);
int call_release_lock(pawl_table *t, uint64_t lock, const void *site);

/* range.c: the same for ranges; request.c: requests of both ------------------ */

int call_check_range(const pawl_table *t, uint64_t id, int64_t first, int64_t last, int mode,
		     const pawl_range *range);
/* The slot of a range that this thread holds; NULL: *code says why not. */
struct lock_slot *call_held_range(pawl_table *t, const pawl_range *range, int *code);
int call_refused_range(const pawl_table *t, uint64_t id, const struct client_units *units, int rc);
int call_failed_range(const pawl_table *t, uint64_t id, const struct client_units *units, int rc);
/* Begin a request of a lock (units is NULL) or a range, after these checks. timed: its cancellation
 * ends the wait, for kinds with PAWL_CAP_TIMED. */
int call_request(pawl_table *t, uint64_t lock, int mode, const struct client_units *units,
		 bool timed, pawl_request *request, const void *site);
/* pawl_request_wait() until a time of rma_now_ns() at most; 0: without end. *done as of
 * pawl_request_test(). */
int call_request_wait(pawl_request *request, uint64_t until_ns, int *done);
/* pawl_request_cancel(), but without a wait for the lock, if threads of the process may call the
 * MPI at a time. */
int call_request_leave(pawl_request *request);

/* events.c: wait for a permit until a time; PAWL_ERR_TIMEOUT: not yet, and the client is queued
 * from then on. Leave the queue; PAWL_SUCCESS: with a permit. */
int call_semaphore_wait(pawl_table *t, uint64_t semaphore, bool queued, uint64_t until_ns);
int call_semaphore_leave(pawl_table *t, uint64_t semaphore);

/* lease.c ----------------------------------------------------------------- */

/* Whether the table has a lease. Make it longer if it is too short for the machine. Collective. */
bool lease_counts(const pawl_table *t);
int lease_fit(pawl_table *t);
/* Report a longer lease in t->parameters. */
void lease_describe(pawl_table *t);

/* homes.c ----------------------------------------------------------------- */

/* Build the map for a home function and set setup.block. Collective over t->comm; the code is the
 * same on all ranks. */
int homes_create(pawl_table *t, pawl_home_fn *home, void *arg);
void homes_free(pawl_table *t);

#endif
