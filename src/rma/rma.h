/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operations of Listing 1 of the RMA-RW paper on 64-bit words (word.h), with fetch-or and
 * fetch-and besides. An operation on a mapped NODE word is complete when the call returns; any
 * other is the transport's (transport.h says when it is complete, and that it may not return).
 *
 * Counting. Each call counts once, by kind and by whether its target is on
 * another node. peek and poke are a rank's own loads and stores, not counted.
 */
#ifndef RMA_RMA_H
#define RMA_RMA_H

#include "rma/clock.h"
#include "rma/wait.h"

/* Place value in the word, and wake its waiters. */
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

/* Add value to the word, and wake its waiters. */
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
	*result = rma_fetch_by_cpu(w.map, op, value);
}

/* Place value in the word, wake its waiters, and fetch what was there. */
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
	return c->rma->transport->can.posts && !rma_is_cpu(w) && c->rma->transport->post(c, w);
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

#endif
