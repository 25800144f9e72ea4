/* SPDX-License-Identifier: BSD-3-Clause */
/* How clients wait for a word, and how writers wake them; see wait.c. */
#ifndef RMA_WAIT_H
#define RMA_WAIT_H

#include "rma/client.h"

/* How long a protocol expects to wait: until the next hand-over of a queue, or until others have
 * held the lock for a long time. */
enum rma_patience { RMA_SOON, RMA_LATER };

/* Wake the clients that are parked on a NODE word. The caller has just changed the word. */
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
	/* Orders the caller's seq_cst write of the word before this load of the parked count; pairs
	 * with rma_park(), which counts the client in before the kernel looks at the word. */
	_Atomic(int64_t) *parked = rma_parked(c->rma, w);

	if (__builtin_expect(atomic_load_explicit(parked, memory_order_seq_cst) != 0, 0))
		rma_wake_parked(w);
}

static inline bool rma_holds(int64_t value, int64_t mask, enum rma_cond cond, int64_t ref)
{
	return ((value & mask) == ref) == (cond == RMA_EQ);
}

/* The slow path of rma_await and rma_await_until. */
bool rma_await_long(struct rma_client *c, struct rma_word w, int64_t mask, enum rma_cond cond,
		    int64_t ref, enum rma_patience patience, uint64_t deadline_ns, const char *what,
		    int64_t *value);

/*
 * Wait until (word & mask) ==/!= ref and return the word. what names the awaited event in reports.
 * Clients wait only here and in rma_pause(). An unmapped word is polled by get.
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

/* The same until a time of rma_now_ns(); 0: without limit. False if the time has passed; *value is
 * the word as last seen. */
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

/* Whether rma_await() can look at the word without an operation. */
static inline bool rma_is_here(const struct rma_client *c, struct rma_word w)
{
	return w.map || (c->rma->transport->await && !(w.flags & RMA_FAR));
}

/* Sleep for at most ns while a mapped word has this value. A client that writes the word by CPU
 * wakes the sleeper; after other writes somebody has to call rma_wake_parked(). */
void rma_park(struct rma_client *c, struct rma_word w, int64_t value, uint64_t ns);

/* Look for a moment whether (word & mask) ==/!= ref. The word is a mapped NODE word; for any other
 * the result is false at once. */
bool rma_spin_briefly(struct rma_client *c, struct rma_word w, int64_t mask, enum rma_cond cond,
		      int64_t ref);

/* Look at a NODE word at most *looks times whether (word & mask) ==/!= ref. *looks: how many looks
 * are left; the one that finds it so counts, too. Unlike rma_spin_briefly(), it looks at words that
 * are not mapped, as in the simulator, and does not drive the MPI. */
bool rma_look_often(struct rma_client *c, struct rma_word w, int64_t mask, enum rma_cond cond,
		    int64_t ref, int *looks);

/* Whether a mapped NODE word keeps one of its next n values for so long. The result is false for
 * any other word. */
bool rma_is_slow_to_change(struct rma_word w, uint64_t ns, int n);

/* After an operation of the table has failed: whether c has waited for so long that no rank is
 * likely to end its wait. A client cannot tell that from a lock that is held for long. */
bool rma_is_hopeless(struct rma_client *c, struct rma_doubt *d);

/* Leave the core to another process that is ready to run on it. */
void rma_yield(struct rma_client *c);

/* The other way to wait, for protocols that look again themselves (compare-and-swap loops): one
 * call between two looks. Zero it before the first. */
struct rma_pause {
	uint64_t rounds;
	uint64_t since_ns;       /* start of the wait */
	uint64_t min_ns, max_ns; /* truncated exponential back-off; 0: none */
	uint64_t deadline_ns;    /* 0: none */
	bool lazy;               /* after a long time, pauses may grow beyond max_ns */
	uint64_t report_ns;      /* time waited at which the next report is due; 0: the first */
};
/* False once the deadline has passed. */
bool rma_pause(struct rma_client *c, struct rma_pause *p, const char *what);

#endif
