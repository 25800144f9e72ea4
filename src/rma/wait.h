/* SPDX-License-Identifier: BSD-3-Clause */
/* How clients wait for a word, and wake others that wait; see wait.c. */
#ifndef RMA_WAIT_H
#define RMA_WAIT_H

#include "rma/client.h"

/* What a protocol knows of how long it will wait: for the next hand-over of a
 * queue, or until others have had the lock for a long while. */
enum rma_patience { RMA_SOON, RMA_LATER };

/* Wake the clients that are parked on a NODE word that has just changed (wait.c). */
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
	 * parked count; pairs with the parker, which counts itself in before it
	 * looks at the word for the last time (wait.c). */
	_Atomic(int64_t) *parked = rma_parked(c->rma, w);

	if (__builtin_expect(atomic_load_explicit(parked, memory_order_seq_cst) != 0, 0))
		rma_wake_parked(w);
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

/* Sleep for at most ns while a mapped word has this value, until a client that writes it by CPU, or
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

#endif
