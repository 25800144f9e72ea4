/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulator: a backend of the RMA layer with virtual ranks in virtual time.
 * The protocols of src/lock/ and baselines/ run in it as they are.
 *
 *   engine.cpp     actors and events, on SimGrid
 *   world.c        a world: topology, layout, segments, ranks; its run and end
 *   memory.c       zeroed memory for it
 *   transport.c    struct rma_transport for virtual ranks
 *   effect.c       an operation takes effect on memory, and wakes ranks that wait there
 *   clients.c      what virtual ranks do with locks, by the functions of src/client/, and what must
 *                  hold while they do
 *   trace.c        the hash of a schedule, and its time line for people
 *   adversary.c    timing that looks for the worst order
 *   machine.c      timing of a machine, and machine_file.c its description
 *   network.cpp    routes between its nodes, on SimGrid
 *
 * Segments are not mapped (struct rma's map[] is all NULL), so that every access
 * comes here. What a rank does between two of them takes no time.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include <setjmp.h>
#include <stdio.h>

#include "client/client.h"
#include "options/options.h"
#include "lock/lock.h"
#include "sim/engine.h"

enum sim_kind { SIM_PUT, SIM_GET, SIM_ACC, SIM_FAO, SIM_CAS, SIM_PEEK, SIM_POKE };

struct sim_rank;
struct sim_world;

/* An operation through the network, from its issue to the flush that ends it. */
struct sim_op {
	struct sim_op *next; /* of the same rank, the latest first */
	struct sim_rank *rank;
	struct rma_client *client;
	struct rma_word word;
	enum sim_kind kind;
	enum rma_op op;
	int64_t operand, expected;
	int64_t value; /* fetched */
	int64_t *result;
	bool held;      /* not on its way before a flush pushes it */
	bool posted;    /* no flush waits for it */
	bool effective; /* performed, and known to its rank at that time: */
	sim_time known;
};

/* How long things take. */
struct sim_timing {
	/* Until an access by CPU, of that rank to a word of its node, is performed. */
	sim_time (*access)(struct sim_rank *r, struct rma_word w, enum sim_kind kind);
	/* Send an operation on its way: sooner or later sim_effect(op) is called, and
	 * the span it returns is how long the rank is busy with the sending. May
	 * leave it op->held. */
	sim_time (*send)(struct sim_op *op);
	/* A flush covers the held operation: now send it. */
	void (*push)(struct sim_op *op);
	/* From its effect until its rank knows. */
	sim_time (*answer)(const struct sim_op *op);
	/* From a change of a word until a rank of the node that waits for it looks. */
	sim_time (*notice)(struct sim_rank *r, struct rma_word w);
	/* Between two looks of a rank that would pause so long. */
	sim_time (*pause)(struct sim_rank *r, uint64_t ns);
};

/* A cache line of a segment. */
struct sim_line {
	struct sim_rank *watchers; /* ranks that wait for a word of it */
	sim_time free;             /* the machine's: when the line can move again */
	int32_t owner;             /* the machine's: rank that changed it last, plus 1 */
};

/* Locks, or ranges, that a rank holds at a time, at the most. */
enum { SIM_HELD = 2 };

/* One of them. */
struct sim_hold {
	struct sim_rank *rank;
	struct lock_slot *slot;
	pawl_range range; /* kinds with PAWL_CAP_RANGES */
	uint64_t lock;
	int mode;
	bool counted;     /* among the holders of the lock: nobody else came in */
	bool part;        /* it was acquired with the one before */
	sim_time granted; /* when */
};

struct sim_rank {
	struct sim_world *world;
	int id;
	bool done;
	struct rma rma;
	struct client_set clients;
	struct sim_hold held[SIM_HELD]; /* the latest last */
	int nheld;
	int unsettled; /* calls after which a slot may not have been free, so far */
	uint64_t
	    kept; /* slots of locks that were forgotten, which may not serve again yet; by bits */
	struct sim_op *ops;
	uint64_t random;
	struct engine_actor *actor;
	jmp_buf out;  /* of a world that is over */
	void *bottom; /* the frame that out leads to */
	/* While it waits: for what, */
	const char *what;
	struct rma_word word;
	bool has_word;
	/* by watching a line, */
	struct sim_rank *next_watcher;
	struct sim_line *line;
	int64_t mask, ref;
	enum rma_cond cond;
	sim_time alarm; /* 0: none */
	/* or for operations to be known. */
	int unfinished, flushing;
	const struct rma_client *flusher;
	/* The acquire that goes on. */
	uint64_t lock;
	int mode; /* 0: none */
	bool waited;
	uint64_t seen; /* exclusive grants when it began to wait */
	sim_time began;
	bool dead;
	uint64_t lives;      /* so many accesses more; 0: to the end */
	uint64_t nap_after;  /* it stops at that place, unless it holds the lock; 0: never, */
	sim_time nap;        /* for so long at most, */
	int naps;            /* so many times, */
	uint64_t nap_within; /* with at most so many places between */
	int64_t skew_ns;     /* of its clock, against the true time */
	void *user;
};

/* What becomes of a world. */
enum sim_verdict { SIM_FINE, SIM_VIOLATION, SIM_STUCK, SIM_STARVED, SIM_NOT_IDLE, SIM_MISUSE };

struct sim_request {
	const struct lock_protocol *protocol;
	const struct options *options; /* read for that protocol */
	const char *topology;          /* synthetic */
	int ranks;
	int slots;              /* of a rank: option max_held; 0: one */
	bool posts;             /* the transport of NET words can rma_post() */
	uint64_t death_wait_ns; /* operations on ranks of other nodes that died fail, and after a
				   death no wait takes longer; 0: neither */
	uint64_t locks;
	const uint64_t *homes; /* rank << 40 | index, by lock; NULL: as the options say */
	uint64_t block;        /* with homes: locks a rank, the most */
	uint64_t seed;
	const struct sim_timing *timing;
	void *timing_state;
	bool paced;     /* critical sections take longer than releases */
	bool aged;      /* counters start next to their wrap, where there are any */
	uint64_t extra; /* bytes for the application: at offset space.bytes, of any one rank */
	uint64_t most_accesses;  /* of all ranks, from one acquire to the next; 0: any */
	uint64_t lease_ns;       /* a holder may lose the lock after that; 0: never */
	bool prompt;             /* nobody dies, and nobody is late: nobody is to be given up */
	uint64_t clock_error_ns; /* the most that a rank's clock is wrong */
	FILE *timeline;          /* where to print what happens, or NULL */
	void (*play)(struct sim_rank *r); /* what each rank does */
	void *user;
};

struct sim_lock { /* what is true of a lock, whatever its words say */
	int writers, readers, intents, intents_shared, last;
	uint64_t exclusive; /* grants so far */
};

struct sim_world {
	struct sim_request request;
	struct topo *topo;
	struct lock_protocol protocol; /* that of the request, with sim_abandon() */
	struct lock_space space;
	struct sim_rank *ranks;
	char **map; /* [ranks] NULL */
	int64_t *words;
	struct sim_line *lines;
	uint64_t bytes; /* of words */
	struct sim_lock *locks;
	struct sim_op *spare;
	uint64_t random;
	int unfinished;
	bool over;  /* ranks leave at their next access */
	int deaths; /* of ranks, and locks that were forgotten */
	uint64_t hash, acquires;
	uint64_t accesses;  /* since the last acquire */
	uint64_t peers;     /* calls that ended with PAWL_ERR_PEER */
	uint64_t shortages; /* and acquires that found no slot */
	uint64_t most_overtakes;
	sim_time end; /* when the last rank was done */
	enum sim_verdict verdict;
	char why[300];
};

/* memory.c ------------------------------------------------------------------ */

/* NULL: no memory. Freed with the same number of bytes. */
void *sim_zeroed(size_t bytes);
void sim_zeroed_free(void *at, size_t bytes);

/* world.c ------------------------------------------------------------------- */

/* A new world, or NULL with the thread's error set. */
struct sim_world *sim_world_create(const struct sim_request *q);
/* Let all ranks play to their end. In an actor that has the engine to itself. */
enum sim_verdict sim_world_run(struct sim_world *w);
void sim_world_free(struct sim_world *w);
/* The world is over for this reason, unless it is already. */
void sim_fail(struct sim_world *w, enum sim_verdict v, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* A rank's actor sleeps, or blocks until woken; leaves for good if the world is
 * over. */
void sim_sleep(struct sim_rank *r, sim_time span);
void sim_block(struct sim_rank *r);
/* Each access of memory: counts, and leaves if there were too many. */
void sim_step(struct sim_rank *r);
/* Before a longjmp() on a rank's stack, which AddressSanitizer does not know. */
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

/* 0 .. n-1 */
static inline uint64_t sim_below(uint64_t *state, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)sim_random(state) * n) >> 64);
}

uint64_t sim_seed(uint64_t seed, uint64_t stream);

/* transport.c --------------------------------------------------------------- */

/* Where a rank may be stopped for long, and go on where it was. */
void sim_nap(struct sim_rank *r);
/* For tables on one node, and on several. */
extern const struct rma_transport sim_node_transport, sim_net_transport;

/* effect.c ------------------------------------------------------------------ */

/* Where the bytes of a rank are in the memory of all. */
static inline uint64_t sim_address(const struct sim_world *w, int rank, uint64_t offset)
{
	if (offset >= w->space.bytes)
		rank = w->request.ranks - 1;
	return (uint64_t)rank * w->space.bytes + offset;
}

static inline int64_t *sim_word(struct sim_world *w, int rank, uint64_t offset)
{
	return &w->words[sim_address(w, rank, offset) / sizeof(int64_t)];
}

static inline struct sim_line *sim_line(struct sim_world *w, struct rma_word x)
{
	return &w->lines[sim_address(w, x.rank, x.offset) / 64];
}

/* Forget what was posted, has taken effect, and has no answer to come (transport.c). */
void sim_reap(struct sim_rank *r);
/* Perform it; what it fetched. */
int64_t sim_perform(struct sim_rank *r, struct rma_word w, enum sim_kind kind, enum rma_op op,
		    int64_t operand, int64_t expected);
/* An operation arrives: perform it, and let its rank know. */
void sim_effect(void *op);
void sim_watch(struct sim_rank *r, struct rma_word w, int64_t mask, enum rma_cond cond,
	       int64_t ref);
/* The time is over for a rank that watches. */
void sim_alarm(void *rank);

/* clients.c ----------------------------------------------------------------- */

enum sim_how { SIM_ACQUIRE, SIM_TRY, SIM_TIMED };

/* The calls of the library, with their codes: acquires, within ns nanoseconds if timed. A rank
 * holds SIM_HELD locks at the most. Others than the program expects end the world. */
int sim_acquire(struct sim_rank *r, uint64_t lock, int mode, enum sim_how how, uint64_t ns);
/* The same for units first to last of a space; kinds with PAWL_CAP_RANGES. */
int sim_acquire_range(struct sim_rank *r, uint64_t space, int64_t first, int64_t last, int mode,
		      enum sim_how how, uint64_t ns);
/* Both, of a rank that holds nothing; kinds with PAWL_CAP_INTENT. */
int sim_acquire_part(struct sim_rank *r, uint64_t whole, uint64_t part, int mode);
/* Release the lock that it acquired last, or both of sim_acquire_part(). */
void sim_release(struct sim_rank *r);
/* The rank forgets the lock that it acquired last: it is for others to recover. */
void sim_forget(struct sim_rank *r);
/* The protocol's own, and what it says is remembered. */
bool sim_abandon(const struct lock_space *s, struct lock_slot *slot);
/* At the end of its program. */
void sim_settle(struct sim_rank *r);
/* What its slots have counted. */
void sim_count(const struct sim_rank *r, struct pawl_stats *stats);
uint64_t sim_waits(const struct sim_rank *r);
/* The rank is no more: what it had is for others to recover. */
void sim_die(struct sim_rank *r);
/* The rank begins to wait for a word. */
void sim_begin_wait(struct sim_rank *r);
/* All is quiet: whether the words of all locks say so too. */
void sim_check_idle(struct sim_world *w);
/* Nobody was given up where nobody was late. */
void sim_check_recoveries(struct sim_world *w);
/* Let the counters start where they soon wrap. */
void sim_age(struct sim_world *w);

/* trace.c ------------------------------------------------------------------- */

/* Something happened: it goes into the hash, and to the time line. */
void sim_trace(struct sim_rank *r, const char *verb, struct rma_word w, int64_t a, int64_t b);
void sim_note(struct sim_rank *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "rank 2, slot 0, STATUS (node)". */
const char *sim_name(const struct sim_world *w, struct rma_word x, char *text, size_t len);

#endif
