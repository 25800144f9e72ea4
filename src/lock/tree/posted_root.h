/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The root queue of the tree for transports that complete an operation without further calls of the
 * origin (rma_post()): a release that leaves the root does not wait for an answer. Used if the
 * elements of level 2 lie within nodes (rma_mcs.c).
 *
 * The members of the root queue are the elements of level 2. Each of them numbers its stays in the
 * queue, and TAIL has the member: element and stay. In the memory of its node an element has
 *   STAY  a NODE word: the number of its last stay, whether that has ended or not
 *   NEXT  a NET word: -k if stay k has ended and no client waits behind stay k + 1 yet; or the link
 *         of the client that waits behind the current stay (queue_tree.c, (E) and (F))
 * in place of its LINK at the home. (In mcs_posted.h, which says why, TAIL has no stay.) A client
 * that comes behind stay k changes NEXT from -(k - 1) to its link by a compare-and-swap (A3). A
 * client that ends stay k swaps NEXT for -k (R1), which is an operation within its node. If it
 * finds -(k - 1), it posts the compare-and-swap of TAIL from this member to null (R2); else it
 * grants, and posts the grant.
 *
 * Ordering guarantees, besides those of queue_tree.c
 *   (H) STAY is changed by the head of the element's queue, after its swap of TAIL, and read by the
 *       clients that hold for the element: their order is that of the element's queue.
 *   (I) A compare-and-swap of A3 fails if and only if the stay has ended. Until A3, NEXT is
 *       -(k - 1) during stay k: only the client that got the member from TAIL may change it to a
 *       link. Afterwards it never is -(k - 1) again. So a client whose A3 fails is the head of the
 *       queue, and has the lock, because the clients ahead of it have left.
 *   (J) A compare-and-swap of R2 that takes effect late changes TAIL only if no client has come
 *       since, because no later stay has that number. So the element may enter again at once, and
 *       no client waits for the answer. Numbers are used again after 2^36 stays.
 *   (K) An element has at most one link that is still to be made to an earlier stay: the client
 *       behind stay k has it made before it gets the lock, so before any client behind it does,
 *       also the element in stay k + 1. So one word NEXT serves all stays.
 *   (L) A withdrawn place (F) is passed over by a swap of its element's NEXT for -k, after which
 *       the releaser writes none of the element's words. That is the mark by which the element
 *       knows that it may enter again; it stays until then. There is no other mark.
 *   (M) A try that finds a member in TAIL which has left takes its place: it changes TAIL from that
 *       member to its own. By (I) the client that then is the head has the lock, and by (J) the
 *       compare-and-swap of R2 fails. A try that returns "busy" has seen a stay that had not ended,
 *       or a member that came while it tried.
 * The slot that has posted settles with the answer, because its result goes there.
 */
#ifndef LOCK_TREE_POSTED_ROOT_H
#define LOCK_TREE_POSTED_ROOT_H

#include "lock/tree/queue_tree.h"
#include "lock/tree/queue_tree_words.h"

RMA_INLINE bool is_posted(const struct lock_setup *s, const struct queue_tree *t, int i)
{
	return i == 1 && s->posts && t->posts;
}

static inline int64_t root_member(int element, int64_t stay)
{
	return stay << ROOT_ELEMENT_BITS | (element + 1);
}

static inline int root_element(int64_t member)
{
	return (int)(member & ((INT64_C(1) << ROOT_ELEMENT_BITS) - 1)) - 1;
}

static inline int64_t root_stay(int64_t member)
{
	return member >> ROOT_ELEMENT_BITS;
}

/* The number of stays later; -1: before. */
static inline int64_t root_count(int64_t stay, int by)
{
	if (FAULT(rma_mcs_number))
		return stay;
	return (stay + by) & ((INT64_C(1) << ROOT_STAY_BITS) - 1);
}

/* NEXT when the stay has ended, and before a client waits behind it. */
static inline int64_t root_left(int64_t member)
{
	return -root_stay(member);
}

static inline int64_t root_no_link(int64_t member)
{
	return -root_count(root_stay(member), -1);
}

static inline struct rma_word root_word(const struct lock_setup *s, const struct queue_tree *t,
					struct lock_slot *slot, enum rma_domain d, int element,
					uint64_t offset)
{
	int rank;
	uint64_t at = lock_area_place(s, &t->root, element, slot->lock, &rank);

	return rma_word(slot->client.rma, d, rank, at + offset);
}

static inline struct rma_word root_next(const struct lock_setup *s, const struct queue_tree *t,
					struct lock_slot *slot, int64_t member)
{
	return root_word(s, t, slot, RMA_NET, root_element(member), ROOT_NEXT);
}

static inline struct rma_word root_tail(const struct lock_setup *s, const struct queue_tree *t,
					struct lock_slot *slot)
{
	return lock_home_word(s, &slot->client, RMA_NET, t->level[0].base + TAIL_OFFSET,
			      t->level[0].stride, slot->lock);
}

/* The member as which this client's element stands in the queue, or by stays later. */
static inline int64_t root_own(const struct lock_setup *s, const struct queue_tree *t,
			       struct lock_slot *slot, int by)
{
	int element = topo_element(s->topo, slot->client.rma->rank, 2);
	struct rma_word stay = root_word(s, t, slot, RMA_NODE, element, ROOT_STAY);
	int64_t number;

	rma_get(&slot->client, stay, &number); /* in node memory: complete at once; (H) */
	return root_member(element, root_count(number, by));
}

/* This client's element is in the queue as this member. */
static inline void root_stays(const struct lock_setup *s, const struct queue_tree *t,
			      struct lock_slot *slot, int64_t member)
{
	rma_put(&slot->client, root_word(s, t, slot, RMA_NODE, root_element(member), ROOT_STAY),
		root_stay(member));
}

/* A2: become the tail. Returns the member that was; 0: none. */
static inline int64_t root_enter(const struct lock_setup *s, const struct queue_tree *t,
				 struct lock_slot *slot)
{
	struct rma_word tail = root_tail(s, t, slot);
	int64_t me = root_own(s, t, slot, 1), pred;

	rma_fao(&slot->client, tail, RMA_REPLACE, me, &pred);
	rma_flush(&slot->client, tail); /* orders the swap before the look at pred, and A3 */
	root_stays(s, t, slot, me);
	return pred;
}

/* A2 if no client has the lock; (M). */
static inline bool root_try_enter(const struct lock_setup *s, const struct queue_tree *t,
				  struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct rma_word tail = root_tail(s, t, slot), next;
	int64_t me = root_own(s, t, slot, 1), expected = 0, seen, state;

	for (;;) {
		rma_cas(c, tail, expected, me, &seen);
		rma_flush(c, tail); /* orders the swap before the look at seen */
		if (seen == expected)
			break;
		if (seen && expected)
			return false;
		expected = seen;
		if (!seen)
			continue;
		next = root_next(s, t, slot, seen);
		rma_get(c, next, &state);
		rma_flush(c, next); /* orders the get before the look at state */
		if (state != root_left(seen) && !FAULT(rma_mcs_try))
			return false;
	}
	root_stays(s, t, slot, me);
	return true;
}

/* A3. False: the predecessor has left; (I). */
static inline bool root_link(const struct lock_setup *s, const struct queue_tree *t,
			     struct lock_slot *slot, int64_t pred, int64_t flag)
{
	struct rma_word next = root_next(s, t, slot, pred);
	int64_t no_link = root_no_link(pred), seen;

	if (FAULT(rma_mcs_link)) {
		rma_put(&slot->client, next, slot->id | flag);
		rma_flush(&slot->client, next); /* orders the link before the wait */
		return true;
	}
	rma_cas(&slot->client, next, no_link, slot->id | flag, &seen);
	rma_flush(&slot->client, next); /* orders the swap before the wait; pairs with R1 */
	return seen == no_link;
}

/* R1, and T4 for a member that has withdrawn: end the stay. Returns the link; 0: there is none. */
static inline int64_t root_end(const struct lock_setup *s, const struct queue_tree *t,
			       struct lock_slot *slot, int64_t member)
{
	struct rma_client *c = &slot->client;
	struct rma_word next = root_next(s, t, slot, member);
	int64_t link;

	if (FAULT(rma_mcs_swap)) {
		rma_get(c, next, &link);
		rma_flush(c, next); /* orders the get before the look at link, and the put */
		rma_put(c, next, root_left(member));
	} else {
		rma_give(c, next, root_left(member), &link); /* wakes T3; (L) */
	}
	rma_flush(c, next); /* orders the swap before R2 and before any grant; pairs with A3 */
	return link > 0 ? link : 0;
}

/* R1 to R4. The successor, if any, gets this grant. PAWL_SUCCESS; LOCK_LEFT: the slot has yet to
 * settle. */
static inline int root_leave(const struct lock_setup *s, const struct queue_tree *t,
			     struct lock_slot *slot, int64_t status)
{
	struct rma_client *c = &slot->client;
	int64_t member = root_own(s, t, slot, 0), link = root_end(s, t, slot, member);
	struct rma_word last;

	while (link & LINK_AWAY) { /* T4: stand in the place of a member that has withdrawn */
		member = link & ~LINK_FLAGS;
		link = root_end(s, t, slot, member);
	}
	if (link) {
		last = slot_status(s, c, RMA_NET, link & ~LINK_FLAGS);
		rma_put(c, last, status);
	} else {
		last = root_tail(s, t, slot);
		rma_cas(c, last, member, 0, &queue_slot(slot)->answer);
	}
	if (rma_post(c, last))
		return LOCK_LEFT;
	rma_flush(c, last); /* orders the grant, or the swap of TAIL, before the return */
	return PAWL_SUCCESS;
}

#endif
