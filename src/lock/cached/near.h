/* SPDX-License-Identifier: BSD-3-Clause */
/* Lock caching: W, the count of holders of a node, and hits: H1, H2 and R of README. */
#ifndef LOCK_CACHED_NEAR_H
#define LOCK_CACHED_NEAR_H

#include "lock/cached/policy.h"

/* NEAR_WAIT: W excludes the client. NEAR_MISS: MODE does not admit it. NEAR_DRAINS: it is counted,
 * and in when no uncached sharer is left. */
enum near { NEAR_IN, NEAR_WAIT, NEAR_MISS, NEAR_DRAINS };

RMA_INLINE int64_t near_get(struct lock_slot *slot)
{
	int64_t w;

	rma_get(&slot->client, cached_word(slot, LINE_W), &w);
	return w;
}

/* What a client in the slot's mode has in W, and the holders that exclude it. */
RMA_INLINE int64_t near_one(const struct lock_slot *slot)
{
	if (is_exclusive(slot))
		return WRITER;
	return slot->mode & PAWL_SHARED   ? SHARER
	       : slot->mode & PAWL_INTENT ? INTENT
					  : SHARED_INTENT;
}

RMA_INLINE int64_t near_others(const struct lock_slot *slot)
{
	if (is_exclusive(slot))
		return HOLDERS;
	if (slot->mode & PAWL_INTENT_SHARED)
		return EXCLUSIVE;
	return EXCLUSIVE | (slot->mode & PAWL_SHARED ? INTENTS : SHARERS);
}

/* The holders that are in the way of a recall to this mode. */
RMA_INLINE int64_t near_conflict(int64_t mode)
{
	mode &= MODE_MASK;
	return mode == MODE_N ? HOLDERS : EXCLUSIVE | (mode == MODE_S ? INTENTS : SHARERS);
}

/* Change W from one value to another, and wake those that await it. */
bool near_swap(struct lock_slot *slot, int64_t old, int64_t new);
/* Whether one more client may pass the head of QUEUE, by this W. */
bool near_may_pass(const struct lock_setup *s, struct lock_slot *slot, int64_t w);
/* Wake those that await W, if this old value says that there are any. */
void near_wake(struct lock_slot *slot, int64_t old);
/* H1 and H2. is_head: of the node's queue. counted: the client is in, or its count has to be taken
 * back (H3). */
enum near near_hit(const struct lock_setup *s, struct lock_slot *slot, bool is_head, bool *counted);
/* U6: NEAR_DRAINS becomes NEAR_IN, or NEAR_WAIT when the deadline has passed. */
enum near near_drain(const struct lock_setup *s, struct lock_slot *slot, enum near n);
/* A1, A2: a client ahead. NEAR_WAIT: its deadline has passed. In both other cases than NEAR_IN, and
 * if counted, its count has to be taken back. */
enum near near_ahead(const struct lock_setup *s, struct lock_slot *slot, bool *counted);
/* S2: the head of the queue of nodes, and of its own node, counts itself. False: a holder is in its
 * way. */
bool near_count(struct lock_slot *slot);
/* L1: take W, which has been handed over, as an exclusive holder. */
bool near_take_handed(const struct lock_setup *s, struct lock_slot *slot, bool is_head);
/* G: W, which the client has, is to have so many uses of the node's turn. */
void near_note_uses(struct lock_slot *slot, int uses);
/* S3: whether the node keeps the queue of nodes for sharers. */
RMA_INLINE bool near_keeps(struct lock_slot *slot)
{
	const int64_t w = near_get(slot);

	return (w & KEEPS) && (w & SHARERS);
}

/* S3: count oneself in beside sharers for which the node keeps the queue of nodes. stays: whatever
 * the node's stay is. */
bool near_join(const struct lock_setup *s, struct lock_slot *slot, bool is_head, bool stays);
/* Complete an operation whose answer decides nothing; LOCK_LEFT only if it may post. */
RMA_INLINE int near_end(const struct lock_setup *s, struct lock_slot *slot, struct rma_word w,
			bool posts)
{
	if (posts)
		return lock_end_release(s, slot, w);
	/* Orders the put or swap before the return; pairs with C3, Q4. */
	rma_flush(&slot->client, w);
	return PAWL_SUCCESS;
}

/* Put this into ACK of that node. PAWL_SUCCESS; LOCK_LEFT only if it may post. */
int near_tell(const struct lock_setup *s, struct lock_slot *slot, int head, int64_t value,
	      bool posts);
/* R2 to R4, by a client that has taken this back: acknowledge a recall, if no holder is in its way.
 * PAWL_SUCCESS; LOCK_LEFT only if it may post. */
int near_acknowledge(const struct lock_setup *s, struct lock_slot *slot, int64_t one, bool posts);

#endif
