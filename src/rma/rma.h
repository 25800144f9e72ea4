/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operations of Listing 1 of the RMA-RW paper on 64-bit words.
 *
 * Every rank has one segment; a word is a rank and an offset into its segment.
 * Segments have equal layouts on all ranks.
 *
 * Atomicity domains. CPU atomics and network atomics on one word are not atomic
 * with each other, so each word belongs to one domain for its life:
 *   RMA_NODE  read-modify-written by C11 atomics only, by ranks of its node only
 *   RMA_NET   read-modify-written by the transport only, also by its own node
 * Plain aligned reads and writes (get, put, peek, poke) may cross.
 *
 * Asynchrony. An operation on a mapped NODE word is complete when the call
 * returns. Any other is complete, and its result valid, only after a flush of
 * its target; until then operations may take effect in any order. Operands are
 * copied, results must stay where they are until the flush.
 *
 * Failures. Over a transport that can fail (ucx, and worlds of the simulator) a flush, an await or
 * a pause may not return: it leaves by longjmp() to the client's escape, where that is set
 * (client/guard.c). Else an operation that failed leaves its result undefined.
 *
 * Counting. Each call counts once, by kind and by whether its target is on
 * another node. peek and poke are a rank's own loads and stores, not counted.
 */
#ifndef RMA_RMA_H
#define RMA_RMA_H

#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum rma_domain { RMA_NODE, RMA_NET };
enum rma_op { RMA_REPLACE, RMA_SUM };
enum rma_cond { RMA_EQ, RMA_NE };
/* What a protocol knows of how long it will wait: for the next hand-over of a
 * queue, or until others have had the lock for a long while. */
enum rma_patience { RMA_SOON, RMA_LATER };

/* Kinds of operations in the statistics. */
enum rma_kind { RMA_ATOMIC, RMA_GET, RMA_PUT, RMA_FLUSH, RMA_NKINDS };

/* The first cache line of every segment: how many clients are parked on words
 * of this segment, so that a writer knows whether to wake somebody. Words are
 * dealt out over a few counts by their offset, lest one sleeper make every
 * writer of the segment call the kernel. */
enum { RMA_PARKED_COUNTS = 8, RMA_HEADER_BYTES = 64 };
_Static_assert(RMA_PARKED_COUNTS * sizeof(int64_t) == RMA_HEADER_BYTES, "one cache line");

enum {
	RMA_CPU = 1,      /* a NODE word that is mapped: CPU atomics, complete at once */
	RMA_FAR = 2,      /* on another node */
	RMA_NODE_WORD = 4 /* a NODE word of a virtual rank: the transport does the same */
};

struct rma_word {
	_Atomic(int64_t) *map; /* where this process sees it, or NULL */
	uint64_t offset;
	int32_t rank;
	uint32_t flags; /* RMA_CPU, RMA_FAR, RMA_NODE_WORD */
};

struct rma_client;

/* What a transport provides, for words that are not mapped NODE words. One for
 * tables of NODE words only has but a name and progress. That of virtual ranks,
 * which map nothing, serves NODE words too: its operations on them are atomic,
 * complete on return, and go on with no flush. */
struct rma_transport {
	const char *name;
	void (*put)(struct rma_client *c, struct rma_word w, int64_t value);
	void (*get)(struct rma_client *c, struct rma_word w, int64_t *result);
	void (*acc)(struct rma_client *c, struct rma_word w, int64_t value); /* SUM */
	void (*fao)(struct rma_client *c, struct rma_word w, enum rma_op op, int64_t value,
		    int64_t *result);
	void (*cas)(struct rma_client *c, struct rma_word w, int64_t expected, int64_t value,
		    int64_t *result);
	void (*flush)(struct rma_client *c, int rank);
	void (*flush_all)(struct rma_client *c);
	/* rma_post() and rma_answered(); NULL where operations need a flush to take effect. */
	bool (*post)(struct rma_client *c, struct rma_word w);
	bool (*answered)(struct rma_client *c, const int64_t *result);
	/* Let the MPI do what others, and the application, ask of this rank. */
	void (*progress)(struct rma_client *c);
	/* Virtual time replaces these five; NULL on real machines. await is for
	 * words of the client's node, and counts c->waits; pause is rma_pause(). */
	int64_t (*peek)(struct rma_client *c, struct rma_word w);
	void (*poke)(struct rma_client *c, struct rma_word w, int64_t value);
	bool (*await)(struct rma_client *c, struct rma_word w, int64_t mask, enum rma_cond cond,
		      int64_t ref, uint64_t deadline_ns, const char *what, int64_t *value);
	bool (*pause)(struct rma_client *c, uint64_t nanoseconds, uint64_t deadline_ns,
		      const char *what);
	/* And this one the clock of rma_clock(). */
	uint64_t (*clock)(const struct rma_client *c);
	/* Where a thread of the transport brings others' operations: sleep for at most ns
	 * while a mapped NET word has this value, and be woken when it changes. NULL: only
	 * who drives the transport sees a change. */
	void (*sleep)(struct rma_client *c, struct rma_word w, int64_t value, uint64_t ns);
};

/* How clients of a process wait; see wait.c. */
struct rma_waiting {
	uint64_t spin_ns[2]; /* look again and again for so long, by enum rma_patience */
	bool crowded;        /* ranks outnumber cores: give way between looks */
	bool park;           /* then sleep on the word; or else give way for ever */
	double watchdog;     /* seconds until the first report on stderr; 0: never */
	const char *self;    /* for reports: this rank, */
	const char *table;   /* and the table */
	unsigned looks;      /* at the word between two calls that drive the MPI */
	/* Whether those who hold what c waits for are likely to need this process to
	 * drive the MPI, so that it must not sleep yet; NULL: no. */
	bool (*serves)(const struct rma_client *c);
	const void *space; /* for serves */
};

/* The clock that the ranks of a table share: that of rank 0, as far as this rank
 * knows it. Between hosts it is compared once, and drifts apart from then on. */
struct rma_shared_clock {
	int64_t offset_ns;  /* to add to rma_now_ns() */
	uint64_t error_ns;  /* the most by which the sum was wrong */
	uint64_t since_ns;  /* at that time, */
	uint64_t drift_ppm; /* and how fast it gets worse */
};

/* A process's view of the segments of a table. */
struct rma {
	const struct rma_transport *transport;
	char **map;      /* [nranks] segments mapped here, NULL for other nodes */
	const int *node; /* [nranks] */
	int rank, my_node;
	bool net;      /* others operate on this segment through what this process drives */
	bool outlives; /* waits end also if who is awaited died: the kind recovers */
	struct rma_waiting waiting;
	struct rma_shared_clock clock; /* of kinds that ask for it; else this rank's own */
	void *state;                   /* the transport's own */
	struct rma_ucx *ucx;           /* of the transport over UCX; else NULL */
};

enum { RMA_OPERANDS = 64, RMA_NO_TARGET = -1, RMA_MANY_TARGETS = -2 };

/* One client: a thread of a rank at one lock. Never used by two at a time. */
struct rma_client {
	struct rma *rma;
	uint64_t count[RMA_NKINDS][2];
	uint64_t waits, parks;
	bool sleeps_on_upper;          /* half of the word; wait.c */
	uint64_t lock;                 /* the one being worked on, for reports */
	unsigned operands;             /* the transport's: operations in flight, */
	int target;                    /* the one rank they go to, if it is one, */
	int64_t operand[RMA_OPERANDS]; /* and their origin buffers; */
	int64_t *answer[RMA_OPERANDS]; /* where the results come, as far as it looks there; */
	int64_t ignored[RMA_OPERANDS]; /* and those that nobody wants */
	/* Where ranks may die: operations that were not answered yet, whether one of them
	 * failed, and where to go on then, if not behind the operation. */
	_Atomic(unsigned) flying;
	bool failed;
	struct ucx_batch *open; /* what was issued and is not on its way */
	jmp_buf *escape;
	uint64_t mourning_ns, mourning_wait; /* since when, and in which wait */
};

/* Uncontended acquires take some ten nanoseconds; what is on their path must
 * not go through memory. */
#define RMA_INLINE static inline __attribute__((always_inline))
/* What happens only under contention stays out of the way of what is not. */
#define RMA_SLOW_PATH __attribute__((noinline, cold))

RMA_INLINE struct rma_word rma_word(const struct rma *r, enum rma_domain domain, int rank,
				    uint64_t offset)
{
	char *base = r->map[rank];
	struct rma_word w = {0, offset, rank, 0};

	if (base) {
		w.map = (_Atomic(int64_t) *)(void *)(base + offset);
		w.flags = domain == RMA_NODE ? RMA_CPU : 0;
	} else if (r->node[rank] != r->my_node) {
		w.flags = RMA_FAR;
	} else if (domain == RMA_NODE) {
		w.flags = RMA_NODE_WORD;
	}
	return w;
}

/* Whether operations on it are CPU atomics, complete when the call returns. */
RMA_INLINE bool rma_is_cpu(struct rma_word w)
{
	return w.flags & (RMA_CPU | RMA_NODE_WORD);
}

/* Whether this process performs them itself. */
RMA_INLINE bool rma_is_mapped_cpu(struct rma_word w)
{
	return w.flags & RMA_CPU;
}

RMA_INLINE void rma_count(struct rma_client *c, enum rma_kind kind, struct rma_word w)
{
	c->count[kind][(w.flags & RMA_FAR) != 0]++;
}

/* Wake who is parked on a NODE word that has just changed (wait.c). */
void rma_wake_parked(struct rma_word w);

RMA_INLINE _Atomic(int64_t) *rma_parked_at(char *segment, struct rma_word w)
{
	uint64_t which = (w.offset * UINT64_C(0x9e3779b97f4a7c15)) >> 61;

	return (_Atomic(int64_t) *)(void *)(segment + which * sizeof(int64_t));
}

RMA_INLINE _Atomic(int64_t) *rma_parked(const struct rma *r, struct rma_word w)
{
	return rma_parked_at(r->map[w.rank], w);
}

RMA_INLINE void rma_wake(struct rma_client *c, struct rma_word w)
{
	/* The caller's seq_cst write of the word comes before this load of the
	 * parked count; pairs with the parker, who counts itself in before it
	 * looks at the word for the last time (wait.c). */
	_Atomic(int64_t) *parked = rma_parked(c->rma, w);

	if (__builtin_expect(atomic_load_explicit(parked, memory_order_seq_cst) != 0, 0))
		rma_wake_parked(w);
}

/* Place value in the word, and wake who waits for it. */
RMA_INLINE void rma_put(struct rma_client *c, struct rma_word w, int64_t value)
{
	if (rma_is_mapped_cpu(w)) {
		c->count[RMA_PUT][0]++;
		atomic_store_explicit(w.map, value, memory_order_seq_cst);
		rma_wake(c, w);
		return;
	}
	rma_count(c, RMA_PUT, w);
	c->rma->transport->put(c, w, value);
}

RMA_INLINE void rma_get(struct rma_client *c, struct rma_word w, int64_t *result)
{
	if (rma_is_mapped_cpu(w)) {
		c->count[RMA_GET][0]++;
		*result = atomic_load_explicit(w.map, memory_order_seq_cst);
		return;
	}
	rma_count(c, RMA_GET, w);
	c->rma->transport->get(c, w, result);
}

/* Add value to the word, and wake who waits for it. */
RMA_INLINE void rma_acc(struct rma_client *c, struct rma_word w, int64_t value)
{
	if (rma_is_mapped_cpu(w)) {
		c->count[RMA_ATOMIC][0]++;
		atomic_fetch_add_explicit(w.map, value, memory_order_seq_cst);
		rma_wake(c, w);
		return;
	}
	rma_count(c, RMA_ATOMIC, w);
	c->rma->transport->acc(c, w, value);
}

/* Fetch and op. Wakes nobody; rma_give() does. */
RMA_INLINE void rma_fao(struct rma_client *c, struct rma_word w, enum rma_op op, int64_t value,
			int64_t *result)
{
	if (!rma_is_mapped_cpu(w)) {
		rma_count(c, RMA_ATOMIC, w);
		c->rma->transport->fao(c, w, op, value, result);
		return;
	}
	c->count[RMA_ATOMIC][0]++;
	if (op == RMA_REPLACE)
		*result = atomic_exchange_explicit(w.map, value, memory_order_seq_cst);
	else
		*result = atomic_fetch_add_explicit(w.map, value, memory_order_seq_cst);
}

/* Place value in the word, wake who waits for it, and fetch what was there. */
RMA_INLINE void rma_give(struct rma_client *c, struct rma_word w, int64_t value, int64_t *result)
{
	rma_fao(c, w, RMA_REPLACE, value, result);
	/* Where this process has performed it. Elsewhere nobody is parked, or is woken by the
	 * thread that performs it. */
	if (w.map)
		rma_wake(c, w);
}

/* Compare and swap; *result is what was there. Wakes nobody. */
RMA_INLINE void rma_cas(struct rma_client *c, struct rma_word w, int64_t expected, int64_t value,
			int64_t *result)
{
	if (rma_is_mapped_cpu(w)) {
		c->count[RMA_ATOMIC][0]++;
		*result = expected;
		atomic_compare_exchange_strong_explicit(w.map, result, value, memory_order_seq_cst,
							memory_order_seq_cst);
		return;
	}
	rma_count(c, RMA_ATOMIC, w);
	c->rma->transport->cas(c, w, expected, value, result);
}

/* Complete everything this client has started at the word's rank. Nothing to do
 * for mapped NODE words, whose operations are complete at once. */
RMA_INLINE void rma_flush(struct rma_client *c, struct rma_word w)
{
	if (rma_is_cpu(w))
		return;
	rma_count(c, RMA_FLUSH, w);
	c->rma->transport->flush(c, w.rank);
}

/* The same for all targets; far says whether any of them was on another node. */
static inline void rma_flush_all(struct rma_client *c, bool far)
{
	if (!c->rma->transport->flush_all)
		return;
	c->count[RMA_FLUSH][far]++;
	c->rma->transport->flush_all(c);
}

/* Instead of a flush: what this client has issued at the word's rank since its last flush takes
 * effect, and is answered, without another call of this process. The client issues nothing more
 * until that is so. False: flush, for the transport cannot, or not now. */
static inline bool rma_post(struct rma_client *c, struct rma_word w)
{
	return c->rma->transport->post && !rma_is_cpu(w) && c->rma->transport->post(c, w);
}

/* Whether the operation that was posted, or flushed, with this place for its result has been
 * answered, so that the result is there. Does not wait. */
static inline bool rma_answered(struct rma_client *c, const int64_t *result)
{
	return !c->rma->transport->answered || c->rma->transport->answered(c, result);
}

/* A rank's load and store of words in its own segment; it may also look so at NODE
 * words of its node, for a hint. */
RMA_INLINE int64_t rma_peek(struct rma_client *c, struct rma_word w)
{
	if (__builtin_expect(!w.map, 0))
		return c->rma->transport->peek(c, w);
	return atomic_load_explicit(w.map, memory_order_acquire);
}

RMA_INLINE void rma_poke(struct rma_client *c, struct rma_word w, int64_t value)
{
	if (__builtin_expect(!w.map, 0))
		c->rma->transport->poke(c, w, value);
	else
		atomic_store_explicit(w.map, value, memory_order_release);
}

static inline bool rma_holds(int64_t value, int64_t mask, enum rma_cond cond, int64_t ref)
{
	return ((value & mask) == ref) == (cond == RMA_EQ);
}

/* The slow half of rma_await (wait.c). */
bool rma_await_long(struct rma_client *c, struct rma_word w, int64_t mask, enum rma_cond cond,
		    int64_t ref, enum rma_patience patience, uint64_t deadline_ns, const char *what,
		    int64_t *value);

/*
 * Wait until (word & mask) ==/!= ref and return the word. what says for people
 * what is awaited. The one place where clients wait, with rma_pause. On an
 * unmapped word this polls by get.
 */
static inline int64_t rma_await(struct rma_client *c, struct rma_word w, int64_t mask,
				enum rma_cond cond, int64_t ref, enum rma_patience patience,
				const char *what)
{
	int64_t value;

	if (w.map) {
		value = atomic_load_explicit(w.map, memory_order_seq_cst);
		if (rma_holds(value, mask, cond, ref))
			return value;
	}
	rma_await_long(c, w, mask, cond, ref, patience, 0, what, &value);
	return value;
}

/* The same until a time of rma_clock() (without offset); 0: for ever. False if it is over;
 * *value is the word as last seen. */
static inline bool rma_await_until(struct rma_client *c, struct rma_word w, int64_t mask,
				   enum rma_cond cond, int64_t ref, enum rma_patience patience,
				   uint64_t deadline_ns, const char *what, int64_t *value)
{
	if (w.map) {
		*value = atomic_load_explicit(w.map, memory_order_seq_cst);
		if (rma_holds(*value, mask, cond, ref))
			return true;
	}
	return rma_await_long(c, w, mask, cond, ref, patience, deadline_ns, what, value);
}

/* Whether rma_await() looks at it without an operation. */
static inline bool rma_is_here(const struct rma_client *c, struct rma_word w)
{
	return w.map || (c->rma->transport->await && !(w.flags & RMA_FAR));
}

/* Sleep for at most ns while a mapped word has this value, until who writes it by CPU, or
 * anybody by rma_wake_parked(), wakes us. */
void rma_park(struct rma_client *c, struct rma_word w, int64_t value, uint64_t ns);

/* Look for a moment whether (word & mask) ==/!= ref, of a mapped NODE word. False if not; at once
 * for all other words. */
bool rma_glance(struct rma_word w, int64_t mask, enum rma_cond cond, int64_t ref);

/* The other way to wait, for protocols that look again by themselves (compare
 * and swap loops): one pause between two looks. Zero it before the first. */
struct rma_pause {
	uint64_t rounds;
	uint64_t since_ns;       /* when it began */
	uint64_t min_ns, max_ns; /* truncated exponential back-off; 0: none */
	uint64_t deadline_ns;    /* 0: none */
	bool lazy;               /* after a long time pauses may grow beyond max_ns */
	uint64_t report_ns;      /* after so much, the next report; 0: the first one */
};
/* False once the deadline has passed. */
bool rma_pause(struct rma_client *c, struct rma_pause *p, const char *what);

/* Monotonic time; and no later than that, by some milliseconds at most, in less time. */
uint64_t rma_now_ns(void);
uint64_t rma_coarse_now_ns(void);

/* The time for leases: monotonic, virtual where time is, and of all ranks together
 * for kinds that ask for it. */
static inline uint64_t rma_clock(const struct rma_client *c)
{
	const struct rma *r = c->rma;

	if (r->transport->clock)
		return r->transport->clock(c);
	return rma_now_ns() + (uint64_t)r->clock.offset_ns;
}

/* The most by which it may differ from that of rank 0, as of now. */
static inline uint64_t rma_clock_error(const struct rma_client *c, uint64_t now)
{
	const struct rma_shared_clock *k = &c->rma->clock;

	return k->error_ns + (k->drift_ppm ? (now - k->since_ns) / 1000000 * k->drift_ppm : 0);
}

#endif
