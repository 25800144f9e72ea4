/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operations of Listing 1 of the RMA-RW paper on 64-bit words (word.h), and fetch-or and
 * fetch-and. An operation on a mapped NODE word is complete when the call returns. All other
 * operations go to the transport; transport.h says when they are complete, and that they may not
 * return.
 *
 * Counting. Each call counts once, by call and by whether its target is on another node. peek and
 * poke are a rank's own loads and stores; they are not counted.
 */
#ifndef RMA_RMA_H
#define RMA_RMA_H

#include "rma/clock.h"
#include "rma/wait.h"

/* Store value in the word and wake the waiters. */
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

/* Add value to the word and wake the waiters. */
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

/* Fetch and op. Wakes no waiter; rma_give() does. */
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

/* Store value in the word, wake the waiters, and fetch the old value. */
RMA_INLINE void rma_give(struct rma_client *c, struct rma_word w, int64_t value, int64_t *result)
{
	rma_fao(c, w, RMA_REPLACE, value, result);
	/* On an unmapped word there is no waiter to wake here: the process that performs the
	 * operation wakes them. */
	if (w.map)
		rma_wake(c, w);
}

/* Compare and swap; *result is the old value. Wakes no waiter. */
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

/* Complete all operations that this client has started at the word's rank. Mapped NODE words need
 * no flush: operations on them are complete at once. */
RMA_INLINE void rma_flush(struct rma_client *c, struct rma_word w)
{
	if (rma_is_cpu(w))
		return;
	rma_count(c, RMA_FLUSH, w);
	c->rma->transport->flush(c, w.rank);
}

/* Order the operations that this client has issued at the word's rank since its last flush, fewer
 * than RMA_ORDERED, before its next ones there: a flush, unless the transport keeps their order. */
RMA_INLINE void rma_order(struct rma_client *c, struct rma_word w)
{
	if (!c->rma->transport->can.ordered)
		rma_flush(c, w);
}

/* Whether rma_order() keeps the order without a flush. */
RMA_INLINE bool rma_keeps_order(const struct rma_client *c)
{
	return c->rma->transport->can.ordered;
}

/* Flush all targets; far says whether any of them was on another node. */
static inline void rma_flush_all(struct rma_client *c, bool far)
{
	if (!c->rma->transport->flush_all)
		return;
	c->count[RMA_FLUSH][far]++;
	c->rma->transport->flush_all(c);
}

/* In place of a flush: the operations that this client has issued at the word's rank since its last
 * flush take effect and are answered without another call of this process. Until rma_answered()
 * says so, the client issues no other operation. False: the caller has to flush, because the
 * transport cannot post, or not now. */
static inline bool rma_post(struct rma_client *c, struct rma_word w)
{
	return c->rma->transport->can.posts && !rma_is_cpu(w) && c->rma->transport->post(c, w);
}

/* Whether the operation with this result buffer, which was posted or flushed, has been answered, so
 * that the result is valid. Does not wait. */
static inline bool rma_answered(struct rma_client *c, const int64_t *result)
{
	return !c->rma->transport->answered || c->rma->transport->answered(c, result);
}

/* Load and store, for words in the rank's own segment. A rank may also load NODE words of its node
 * as a hint. */
RMA_INLINE int64_t rma_peek(struct rma_client *c, struct rma_word w)
{
	if (__builtin_expect(!w.map, 0))
		return c->rma->transport->peek(c, w);
	return atomic_load_explicit(w.map, memory_order_acquire);
}

/* rma_peek() that the client's earlier atomics on NODE words precede. */
RMA_INLINE int64_t rma_peek_ordered(struct rma_client *c, struct rma_word w)
{
	if (__builtin_expect(!w.map, 0))
		return c->rma->transport->peek(c, w);
	return atomic_load_explicit(w.map, memory_order_seq_cst);
}

RMA_INLINE void rma_poke(struct rma_client *c, struct rma_word w, int64_t value)
{
	if (__builtin_expect(!w.map, 0))
		c->rma->transport->poke(c, w, value);
	else
		atomic_store_explicit(w.map, value, memory_order_release);
}

#endif
