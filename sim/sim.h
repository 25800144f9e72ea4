/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulator: an implementation of the RMA layer with virtual ranks in virtual time. The
 * protocols of src/lock/ and baselines/ run in it unchanged.
 *
 *   engine.cpp     actors and events, on SimGrid
 *   world.c        a world: topology, layout, segments, ranks; its run and end
 *   memory.c       zeroed memory for a world
 *   transport.c    struct rma_transport for virtual ranks
 *   effect.c       an operation takes effect on memory, and wakes ranks that wait there
 *   clients.c      what virtual ranks do with locks, by the functions of src/client/
 *   holds.c        which client holds what, and what must not be
 *   endings.c      the end of a rank and of a world
 *   trace.c        the hash of a schedule, and its time line
 *   recorder.c     the acquires, for a file in the format of PAWL_TRACE
 *   adversary.c    timing that looks for the worst order
 *   machine.c      timing of a machine; machine_file.c reads its description
 *   servers.c      servers on such a machine, for the baselines that ask them
 *   network.cpp    routes between the machine's nodes, on SimGrid
 *
 * Segments are not mapped (map[] of struct rma is all NULL), so every access comes here. What a
 * rank does between two accesses takes no time.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include <setjmp.h>
#include <stdio.h>

#include "client/client.h"
#include "options/options.h"
#include "lock/lock.h"
#include "rma/few.h"
#include "sim/engine.h"

enum sim_call { SIM_PUT, SIM_GET, SIM_ACC, SIM_FAO, SIM_CAS, SIM_PEEK, SIM_POKE };

struct sim_rank;
struct sim_world;

/* An operation through the network, from its issue to the flush that completes it. */
struct sim_op {
	struct sim_op *next; /* of the same rank, the latest first */
	struct sim_rank *rank;
	struct rma_client *client;
	struct rma_word word;
	enum sim_call call;
	enum rma_op op;
	int64_t operand, expected;
	int64_t value; /* fetched */
	int64_t *result;
	bool held;      /* not sent before a flush pushes it */
	bool posted;    /* no flush waits for it */
	bool fails;     /* its client is told so; */
	bool lost;      /* and it is not performed */
	bool arrived;   /* waits for earlier ones, if the transport keeps their order */
	int64_t after;  /* what an adapter is about to write */
	bool effective; /* performed; its rank knows at this time: */
	sim_time known;
};

/* How long everything takes. */
struct sim_timing {
	/* The time until an access by CPU to a word of the rank's node is performed. */
	sim_time (*access)(struct sim_rank *r, struct rma_word w, enum sim_call call);
	/* Send an operation: at some time sim_effect(op) is called. Returns for how long the rank
	 * is busy with sending. May set op->held instead. */
	sim_time (*send)(struct sim_op *op);
	/* Send a held operation, because a flush covers it. */
	void (*push)(struct sim_op *op);
	/* The time from reading to writing the word, if a network adapter performs an atomic. Other
	 * atomics wait meanwhile; stores, loads, puts and gets do not. 0, or NULL: no time. */
	sim_time (*atomic)(const struct sim_op *op);
	/* The time from the operation's effect until its rank knows. */
	sim_time (*answer)(const struct sim_op *op);
	/* The time from a change of a word until a waiting rank of the node looks. */
	sim_time (*notice)(struct sim_rank *r, struct rma_word w);
	/* The time between two looks of a rank that would pause for ns. */
	sim_time (*pause)(struct sim_rank *r, uint64_t ns);
	/* Whether the rank can post now (rma_post()). NULL: always. */
	bool (*may_post)(struct sim_rank *r);
};

/* A cache line of a segment. */
struct sim_line {
	struct sim_rank *watchers; /* ranks that wait for a word of the line */
	sim_time atomic_until;     /* an adapter has read a word of it, and not yet written it */
	sim_time free;             /* of machine.c: when the line can move again */
	int32_t owner;             /* of machine.c: the rank that changed it last, plus 1 */
};

/* At most this many locks, or ranges, are held by a rank at a time, or as many as it has slots. */
enum { SIM_HELD = 3 };

struct sim_hold {
	struct sim_rank *rank;
	struct lock_slot *slot;
	pawl_range range; /* kinds with PAWL_CAP_RANGES */
	uint64_t lock;
	int mode;
	bool counted;     /* counted among the holders of the lock */
	bool part;        /* acquired together with the hold before it */
	sim_time granted; /* when the acquire got it */
};

/* What a rank flushes, if not one rank. */
enum { SIM_NO_TARGET = -1, SIM_ALL_TARGETS = -2 };

/* What a rank spends its time on: operations, by the dearest one that it waits for, with the pauses
 * between looks at words of others; and waiting for its own words. */
enum sim_kind_of_time {
	SIM_ON_LOOKS,
	SIM_ON_PUTS,
	SIM_ON_ATOMICS,
	SIM_ON_WAITS,
	SIM_KINDS_OF_TIME
};

struct sim_rank {
	struct sim_world *world;
	int id;
	/* Itself; or the rank whose request this one ends, as a thread of table/left.c. */
	struct sim_rank *process;
	struct sim_rank *next_thread; /* of the world */
	int threads;                  /* of this rank that have not ended */
	bool joins;                   /* it waits for them */
	bool done;
	struct rma rma;
	struct client_set clients;
	struct sim_hold *held; /* the latest last */
	int nheld;
	int unsettled;      /* number of calls after which a slot may not have been free */
	int requested;      /* open requests */
	bool told;          /* its last acquire said that the lock was recovered */
	uint64_t kept;      /* bits of slots of abandoned locks, which may not be used again yet */
	struct sim_op *ops; /* of the process */
	uint64_t random;
	struct engine_actor *actor;
	jmp_buf out;  /* jump target when the world is over */
	void *bottom; /* the frame of that target */
	/* While it waits: what for, ... */
	const char *what;
	struct rma_word word;
	bool has_word;
	/* ... by watching a line, ... */
	struct sim_rank *next_watcher;
	struct sim_line *line;
	int64_t mask, ref;
	enum rma_cond cond;
	sim_time alarm; /* 0: none */
	/* ... or for operations to become known. */
	int unfinished, flushing;
	const struct rma_client *flusher;
	sim_time spent[SIM_KINDS_OF_TIME];
	/* The acquire that is under way. */
	uint64_t lock;
	int mode; /* 0: none */
	bool waited;
	uint64_t seen; /* exclusive grants of the lock at the start of its wait */
	sim_time began;
	bool dead;
	uint64_t lives;       /* dies after this many more accesses; 0: never */
	uint64_t nap_after;   /* stops after this many more accesses; 0: never */
	sim_time nap;         /* for at most this long, */
	int naps;             /* this often, */
	uint64_t nap_within;  /* with at most this many accesses between */
	int64_t skew_ns;      /* error of what it takes for the clock of rank 0 */
	uint64_t stood_ns;    /* for which its machine was suspended: its own clock stood still */
	uint64_t fails_after; /* an operation or a flush fails after this many more; 0: never */
	int cut;              /* the rank to which it has lost its connection; -1: none */
	int apart;            /* a rank that it cannot reach before this time; -1: none */
	sim_time apart_until;
	bool was_apart; /* a call has ended for that reason */
	int losses;     /* slots that calls may have lost, because an operation failed */
	void (*body)(struct sim_rank *thread); /* of a thread */
	void *user;
};

/* How a rank asks for a lock. */
enum sim_how { SIM_ACQUIRE, SIM_TRY, SIM_TIMED, SIM_REQUEST, SIM_HOWS };
/* How a rank ends a request that has not got its lock. */
enum sim_end { SIM_AWAITS, SIM_CANCELS, SIM_LEAVES };

/* How operations of living ranks fail (sim_rank.fails_after, apart): the MPI reports an error for a
 * call; the connection to another rank is lost; the first operations on another rank cannot be
 * sent yet. */
enum sim_errors { SIM_NO_ERRORS, SIM_MPI_ERRORS, SIM_CUTS, SIM_UNREACHED };

/* What the network performs: all operations; or only puts, gets, additions and compare-and-swaps,
 * of which few.c makes the others. SIM_FEW_ONCE: without repeating them, which the test has to
 * find. */
enum sim_atomics { SIM_ALL_ATOMICS, SIM_FEW_ATOMICS, SIM_FEW_ONCE };

/* The outcome of a world. */
enum sim_verdict { SIM_FINE, SIM_VIOLATION, SIM_STUCK, SIM_STARVED, SIM_NOT_IDLE, SIM_MISUSE };

struct sim_request {
	const struct lock_protocol *protocol;
	const struct options *options; /* options of that protocol */
	const char *topology;          /* synthetic */
	int ranks;
	int slots;    /* max_held of a rank; 0: one */
	bool posts;   /* the transport of NET words has rma_post() */
	bool ordered; /* ... and keeps the order of a client's operations on a rank */
	enum sim_atomics atomics;
	uint64_t doubt_ns; /* operations on dead ranks of other nodes fail, and after a death or
			      another failure no wait takes longer than this; 0: neither */
	enum sim_errors errors;
	bool calm; /* no wait takes that long, unless an operation on its lock has failed */
	uint64_t locks;
	const uint64_t *homes; /* [locks] rank << 40 | index; NULL: as the options say */
	uint64_t block;        /* with homes: the largest number of locks at a rank */
	uint64_t seed;
	const struct sim_timing *timing;
	void *timing_state;
	/* The servers of kinds with lock_mpi_calls.by_server; NULL: those cannot run. */
	const struct server_carrier *servers;
	bool paced;     /* critical sections take longer than releases */
	bool aged;      /* counters start just before they wrap */
	uint64_t extra; /* bytes for the application, once in the world, at offset setup.bytes of
			   any rank */
	uint64_t most_accesses;  /* of all ranks, between two acquires; 0: any number */
	uint64_t lease_ns;       /* a holder may lose the lock after this time; 0: never */
	bool prompt;             /* no rank dies or is late, so no client may be given up */
	uint64_t clock_error_ns; /* bound on the error of a rank's clock */
	FILE *timeline;          /* where to print the time line, or NULL */
	bool recorded;           /* keep the acquires for sim_recorder_write() */
	void (*play)(struct sim_rank *r); /* the program of each rank */
	void *user;
};

/* Holds that ended without a release and that no holder has repaired since, and numbers of holds:
 * the last of each (lock/life.c). */
enum { SIM_NOTES = 32 };

struct sim_note {
	uint64_t lock;
	int64_t first, last; /* units; 0 of a lock */
	sim_time granted;
	int64_t term;  /* of its life */
	int64_t token; /* 0: of a hold that was not released */
	bool shared;
};

struct sim_lock { /* the true state of a lock, whatever its words say */
	int writers, readers, intents, intents_shared, last;
	uint64_t exclusive; /* number of grants */
	bool broken;        /* a client has left it where an operation failed */
	/* 1 + the only rank that has asked for it so far, by acquires and tries alone; -1: there
	 * are several, or other calls. */
	int only;
	struct lock_life repaired; /* of the holder that has last repaired it */
	/* Calls that make it exclusive: under way, and begun so far. */
	uint64_t upgraders, upgrades;
	uint64_t changed; /* grants that were changes of mode */
};

struct sim_world {
	struct sim_request request;
	struct topo *topo;
	struct lock_protocol protocol;      /* the request's, with sim_abandon() */
	struct lock_recovery_calls recover; /* its block, if it has one */
	struct rma_transport transport;     /* for tables on several nodes */
	struct rma_few *few;                /* [ranks], unless the network has all atomics */
	struct lock_setup setup;
	struct sim_rank *ranks, *threads;
	char **map; /* [ranks] all NULL */
	int64_t *words;
	struct sim_line *lines;
	uint64_t bytes; /* of words */
	struct sim_lock *locks;
	struct sim_op *spare;
	uint64_t random;
	int unfinished;
	bool over;  /* ranks leave at their next access */
	int deaths; /* number of dead ranks and abandoned locks */
	uint64_t hash, acquires;
	uint64_t accesses;                          /* since the last acquire, or failure of one */
	uint64_t failures;                          /* failed operations of living ranks */
	uint64_t peers;                             /* calls that a death has ended, */
	uint64_t ended[SIM_UNREACHED + 1];          /* and failed operations, by their sort */
	uint64_t shortages;                         /* acquires that found no slot */
	uint64_t calls[SIM_HOWS], beside[SIM_HOWS]; /* acquires, and those beside a request */
	uint64_t left;   /* requests that others than their ranks ended with the lock */
	uint64_t second; /* locks that a rank got while it held another one, by an own call */
	uint64_t upgrades, refusals, downgrades; /* changes of mode */
	uint64_t leases_lost;                    /* releases that said so */
	uint64_t told, repairs, tokens; /* acquires after a recovery, and what holders did */
	struct sim_note notes[SIM_NOTES];
	int last_note;
	uint64_t most_overtakes;
	struct sim_recorder *recorder; /* NULL: not recorded */
	sim_time end;                  /* when the last rank ended */
	enum sim_verdict verdict;
	char why[300];
};

/* memory.c ------------------------------------------------------------------ */

/* NULL: no memory. Free with the same number of bytes. */
void *sim_zeroed(size_t bytes);
void sim_zeroed_free(void *at, size_t bytes);

/* world.c ------------------------------------------------------------------- */

/* A new world; NULL: the thread's error is set. */
struct sim_world *sim_world_create(const struct sim_request *q);
/* Run the programs of all ranks to their ends. Called by an actor when no other runs. */
enum sim_verdict sim_world_run(struct sim_world *w);
void sim_world_free(struct sim_world *w);
/* The next of all ranks and threads; NULL after the last. */
struct sim_rank *sim_next(const struct sim_rank *r);
/* Run body as a thread of the rank; sim_join() waits for all of them. */
void sim_fork(struct sim_rank *r, void (*body)(struct sim_rank *thread), void *user);
void sim_join(struct sim_rank *r);
/* End the world with this verdict and reason, unless it is over already. */
void sim_fail(struct sim_world *w, enum sim_verdict v, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* A rank's actor sleeps, or blocks until it is woken. It does not return if the world is over. */
void sim_sleep(struct sim_rank *r, sim_time span);
/* The rank's own clock, to which deadlines refer; and when that shows ns. */
uint64_t sim_now_ns(const struct sim_rank *r);
sim_time sim_time_of(const struct sim_rank *r, uint64_t ns);
void sim_block(struct sim_rank *r);
/* Called after a step of a request, whose stack may have been left for good. */
void sim_leave_if_over(struct sim_rank *r);
/* Called at each access: counts it, and ends the world if there were too many. */
void sim_step(struct sim_rank *r);
/* Called before a longjmp() on a rank's stack, which AddressSanitizer does not know. */
void sim_unwind(struct sim_rank *r);

static inline uint64_t sim_random(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * UINT64_C(2685821657736338717);
}

/* A random number from 0 to n-1. */
static inline uint64_t sim_below(uint64_t *state, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)sim_random(state) * n) >> 64);
}

uint64_t sim_seed(uint64_t seed, uint64_t stream);

/* transport.c --------------------------------------------------------------- */

/* Called where a rank may stop for a long time and then continue. */
void sim_nap(struct sim_rank *r);
/* The transports for tables on one node and on several. */
extern const struct rma_transport sim_node_transport, sim_net_transport;
/* The client leaves its protocol, or will: its locks may stay as they are, and its slots are lost.
 */
void sim_break(struct rma_client *c);

/* effect.c ------------------------------------------------------------------ */

/* The address of a rank's bytes in the memory of the world. */
static inline uint64_t sim_address(const struct sim_world *w, int rank, uint64_t offset)
{
	if (offset >= w->setup.bytes)
		rank = w->request.ranks - 1;
	return (uint64_t)rank * w->setup.bytes + offset;
}

static inline int64_t *sim_word(struct sim_world *w, int rank, uint64_t offset)
{
	return &w->words[sim_address(w, rank, offset) / sizeof(int64_t)];
}

static inline struct sim_line *sim_line(struct sim_world *w, struct rma_word x)
{
	return &w->lines[sim_address(w, x.rank, x.offset) / 64];
}

/* Drop posted operations that have taken effect and have no result (transport.c). */
void sim_reap(struct sim_rank *r);
/* Perform an operation and return the fetched value. */
int64_t sim_perform(struct sim_rank *r, struct rma_word w, enum sim_call call, enum rma_op op,
		    int64_t operand, int64_t expected);
/* An operation arrives: perform it, and let its rank know. */
void sim_effect(void *op);
void sim_watch(struct sim_rank *r, struct rma_word w, int64_t mask, enum rma_cond cond,
	       int64_t ref);
/* A rank that watches a word has reached its time limit. */
void sim_alarm(void *rank);

/* clients.c ----------------------------------------------------------------- */

/* The library's calls, with their codes; ns: the time limit of SIM_TIMED. A rank holds at most
 * SIM_HELD locks, or as many as it has slots. A code that is not valid here ends the world. */
int sim_acquire(struct sim_rank *r, uint64_t lock, int mode, enum sim_how how, uint64_t ns);
/* The same for units first to last of a space; kinds with PAWL_CAP_RANGES. */
int sim_acquire_range(struct sim_rank *r, uint64_t space, int64_t first, int64_t last, int mode,
		      enum sim_how how, uint64_t ns);
/* Acquire whole and part, by a rank that holds nothing; kinds with PAWL_CAP_INTENT. */
int sim_acquire_part(struct sim_rank *r, uint64_t whole, uint64_t part, int mode, enum sim_how how,
		     uint64_t ns);
/* Acquire n locks, in ascending order, by a rank that holds nothing; release all that it holds. */
int sim_acquire_many(struct sim_rank *r, int n, const uint64_t *locks, const int *modes,
		     enum sim_how how, uint64_t ns);
void sim_release_many(struct sim_rank *r);
/* Request a lock, test it a few times with at most ns between, and wait for it, or cancel it, or
 * leave it to a thread: PAWL_ERR_BUSY. beside: called before each test, with the lock; it may ask
 * for other locks, and has released them when it returns. NULL: nothing. */
int sim_acquire_by_steps(struct sim_rank *r, uint64_t lock, int mode, int tests, uint64_t ns,
			 enum sim_end end, void (*beside)(struct sim_rank *r, uint64_t lock));
/* Read without the lock, for at most ns, until the read is valid: PAWL_ERR_BUSY; or acquire it in
 * mode PAWL_SHARED. For kinds with PAWL_CAP_OPTIMISTIC. */
int sim_read(struct sim_rank *r, uint64_t lock, uint64_t ns);
/* Release the lock that was acquired last, or both locks of sim_acquire_part(). */
void sim_release(struct sim_rank *r);
/* Release the lock that was acquired first, by its own call. */
void sim_release_first(struct sim_rank *r);
/* Change the mode of the lock that was acquired last: from shared to exclusive, until a time limit
 * (0: none), or the reverse. False: the hold has ended by a failure. */
bool sim_upgrade(struct sim_rank *r, uint64_t ns);
bool sim_downgrade(struct sim_rank *r);
/* Repair what the lock protects that was acquired last; false: the hold has ended by a failure.
 * Take a number for it. */
bool sim_repair(struct sim_rank *r);
bool sim_number(struct sim_rank *r);
/* Abandon the lock that was acquired last: other ranks have to recover it. */
void sim_forget(struct sim_rank *r);
/* Call the protocol's abandon(), and record its result. */
bool sim_abandon(const struct lock_setup *s, struct lock_slot *slot);

/* holds.c ------------------------------------------------------------------- */

/* The rank starts to wait for a word. */
void sim_begin_wait(struct sim_rank *r);

/* endings.c ----------------------------------------------------------------- */

/* At the end of a rank's program: check its slots, and wait for its operations. */
void sim_settle(struct sim_rank *r);
/* The counts of the rank's slots. */
void sim_count(const struct sim_rank *r, struct pawl_stats *stats);
uint64_t sim_waits(const struct sim_rank *r);
/* An operation has failed, or a rank has died: each waiting rank looks how long it waits on. */
void sim_doubt(struct sim_world *w);
/* The rank dies: other ranks have to recover its locks. */
void sim_die(struct sim_rank *r);
/* All ranks have ended: check that the words of all locks say "free". */
void sim_check_idle(struct sim_world *w);
/* Check that each spare copy that is taken has replaced another one. */
void sim_check_spares(struct sim_world *w);
/* Check that no client was given up in a world without deaths and delays. */
void sim_check_recoveries(struct sim_world *w);
/* Let the counters start just before they wrap. */
void sim_age(struct sim_world *w);

/* trace.c ------------------------------------------------------------------- */

/* Record an event in the hash and on the time line. */
void sim_trace(struct sim_rank *r, const char *verb, struct rma_word w, int64_t a, int64_t b);
void sim_note(struct sim_rank *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The name of a word, as "STATUS (node) of rank 2". */
const char *sim_name(const struct sim_world *w, struct rma_word x, char *text, size_t len);

/* recorder.c ---------------------------------------------------------------- */

struct sim_recorder *sim_recorder_create(const struct sim_world *w); /* NULL: no memory */
void sim_recorder_free(struct sim_recorder *c);
/* The events of an acquire and of a release, as in observe/observe.h. They do nothing in a world
 * that is not recorded. */
void sim_recorder_begin(struct sim_rank *r, struct lock_slot *slot, int mode);
void sim_recorder_acquired(struct sim_rank *r, const struct lock_slot *slot, int code);
void sim_recorder_release(struct sim_rank *r, const struct lock_slot *slot);
void sim_recorder_released(struct sim_rank *r, const struct lock_slot *slot);
/* The rank dies: record what it holds or awaits. */
void sim_recorder_end(struct sim_rank *r);
/* The world ends, or has failed: the same for all ranks. Nothing is recorded from then on. */
void sim_recorder_stop(struct sim_world *w);
/* Begin a file. False: it cannot be written. */
bool sim_recorder_begin_file(const char *path);
/* After the run: add the world to the file as table number, from 1, with this description. False:
 * it cannot be written, or there was no memory for the records. */
bool sim_recorder_write(const struct sim_world *w, const char *path, unsigned number,
			const char *about);

#endif
