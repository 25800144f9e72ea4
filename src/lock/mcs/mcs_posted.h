/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MCS queue of mcs.h for transports that complete an operation without further calls of the
 * origin (rma_post()), for d-mcs and the remote cohort of alock. A release does not wait for its
 * answer: it takes no round trip, and never waits for a successor to link itself.
 *
 * NEXT says which slot comes next, or that its owner has left. Holder and successor both swap it,
 * and the second one sees the first. A holder that finds a successor grants it the lock, as in
 * mcs.h. A successor that finds that the holder has left has the lock at once (in alock: is the
 * leader, without what a grant carries). So no client needs
 * the releasing client any more, whatever the operation that empties the queue finds.
 *
 * The queue node of a client that has left may be used again when that operation has been answered,
 * and has either emptied the queue, or a successor has taken the lock over from NEXT. Until then a
 * client may still read its id from TAIL, and write its NEXT.
 *
 * A releaser that passes over an abandoned node leaves the queue for it in the same way, with the
 * number that its owner has put into STATUS. It waits for the answers, because no other client
 * does.
 *
 * Other than in the root queue of rma-mcs (posted_root.h), TAIL does not say which stay it is, and
 * so a queue node is not free at once. An element has 24 bits there, and 36 are left for the number
 * of its stay; a slot's id has 40 (slot.h), and numbers of the other 23 would be used again within
 * seconds: a client that is stopped between A2 and A3 for as long could link itself to another
 * stay.
 *
 * Ordering guarantees: (A), (C), (D) and (E) of mcs.h, and
 *   (F) At the end of a stay, NEXT is swapped once by its owner or by the releaser that passes over
 *       it, and once by the successor, if there is one: the client that got the owner's id from
 *       TAIL. Both see the order.
 *   (G) The operation that empties the queue is answered before the queue node is used again, so it
 *       cannot remove the same node in a later stay in the same queue.
 * A grant is not waited for either: the successor waits for it, and it writes no word of this slot.
 *
 * The steps A1 ... S3 are those of models/dmcs_posted.pml.
 */
#ifndef LOCK_MCS_MCS_POSTED_H
#define LOCK_MCS_MCS_POSTED_H

#include "lock/mcs/mcs.h"

/* NEXT of an owner that has left is stays, negated; ids are positive. */
struct mcs_slot {
	struct rma_word tail; /* TAIL of the lock */
	int64_t answer;       /* result of the operation that empties the queue */
	int64_t stays;        /* how often the owner has left, or abandoned its place */
	bool asked;           /* dmcs.c: an operation on TAIL has been issued for a release */
};
_Static_assert(sizeof(struct mcs_slot) <= LOCK_OWN_BYTES, "it fits into a slot");

RMA_INLINE struct mcs_slot *mcs_slot(struct lock_slot *slot)
{
	return lock_own(slot);
}

static inline bool mcs_has_left(int64_t next)
{
	return next < 0;
}

/* STATUS of an abandoned place: the value that NEXT will have when the place has been passed
 * over. */
static inline int64_t mcs_posted_abandoned(struct lock_slot *slot)
{
	return -mcs_slot(slot)->stays;
}

/* A4 and A5; *status is what the grant carries. False: the place is abandoned. */
static inline bool mcs_posted_await(struct lock_slot *slot, enum rma_domain d, int64_t *status)
{
	if (mcs_is_granted(slot, d, status))
		return true;
	mcs_slot(slot)->stays++;
	return !mcs_abandon(slot, d, mcs_posted_abandoned(slot), status);
}

/* A3 to A5. *status is what the grant carries; MCS_WAIT: there is none, because the predecessor has
 * left. False: the place is abandoned. */
static inline bool mcs_posted_queue(const struct lock_setup *s, struct lock_slot *slot,
				    enum rma_domain d, int64_t pred, int64_t *status)
{
	struct rma_client *c = &slot->client;
	struct rma_word link = slot_next(s, c, d, pred);
	int64_t old;

	slot->from = pred;
	/* A3: link to the predecessor, or find that it has left; (F). */
	rma_fao(c, link, RMA_REPLACE, mcs_link_of(slot), &old);
	rma_flush(c, link); /* orders the swap before the look at old; pairs with R1 */
	*status = MCS_WAIT;
	return mcs_has_left(old) || mcs_posted_await(slot, d, status);
}

/* A1 to A5. False: the place is abandoned. */
static inline bool mcs_posted_enter(const struct lock_setup *s, struct lock_slot *slot,
				    enum rma_domain d, struct rma_word tail)
{
	int64_t pred = mcs_enter(slot, d, tail), status;

	return !pred || mcs_posted_queue(s, slot, d, pred, &status);
}

/* A6 and A4. */
static inline int mcs_posted_resume(struct lock_slot *slot, enum rma_domain d)
{
	int rc = mcs_resume(slot, d, mcs_posted_abandoned(slot));
	int64_t status;

	if (rc != PAWL_SUCCESS)
		return rc;
	return mcs_posted_await(slot, d, &status) ? PAWL_SUCCESS : LOCK_QUEUED;
}

/* T1 and T2: enter only if no client has the lock. If the last client in the queue has left, the
 * operation that empties the queue will arrive, so try again. If another client has become the last
 * one meanwhile, or has left, a client has had the lock meanwhile. An owner that has not left may
 * be about to enter with the same queue node again, after the queue was empty; so it has to be the
 * last one still. */
static inline bool mcs_posted_try_enter(const struct lock_setup *s, struct lock_slot *slot,
					enum rma_domain d, struct rma_word tail)
{
	struct rma_client *c = &slot->client;
	struct rma_pause p = {.rounds = 0};
	int64_t last, first = 0, next = 0;

	while ((last = mcs_try_enter(slot, d, tail))) {
		struct rma_word link = slot_next(s, c, d, last);
		int64_t before = next;

		if (first && (last != first || !mcs_has_left(before)))
			return false;
		first = last;
		rma_get(c, link, &next);
		rma_flush(c, link); /* orders the get before the look at next */
		if (next > 0 || (before && next != before))
			return false;
		if (next)
			rma_pause(c, &p, "a release to arrive");
	}
	return true;
}

/* Whether the queue node of a client that has left may be used again; (G). */
static inline bool mcs_posted_settled(struct lock_slot *slot, enum rma_domain d)
{
	const int64_t *answer = &mcs_slot(slot)->answer;

	if (FAULT(d_mcs_answer))
		return true;
	if (!rma_answered(&slot->client, answer))
		return false;
	if (FAULT(d_mcs_settled))
		return true;
	return *answer == slot->id || !mcs_has_left(rma_peek(&slot->client, slot->next[d]));
}

/* R4 for a successor that may abandon its place, as mcs_pass_over(). Leaves for each abandoned node
 * as its owner would, but waits for the answers, because no client looks for them later. */
static RMA_SLOW_PATH int64_t mcs_posted_pass_over(const struct lock_setup *s,
						  struct lock_slot *slot, enum rma_domain d,
						  struct rma_word tail, int64_t succ,
						  int64_t status)
{
	struct rma_client *c = &slot->client;

	while (succ & MCS_TIMED) {
		int64_t id = succ & ~MCS_TIMED, old, last = id;
		struct rma_word given = slot_status(s, c, d, id), next = slot_next(s, c, d, id);

		rma_give(c, given, status, &old);
		rma_flush(c,
			  given); /* orders the grant before the look at old; pairs with A4, A5 */
		if (old == MCS_WAIT)
			return 0;
		/* S1 */
		rma_fao(c, next, RMA_REPLACE, old, &succ);
		rma_flush(c, next); /* orders the swap before the look at succ; pairs with A3 */
		if (!succ) {        /* S2 */
			rma_cas(c, tail, id, 0, &last);
			rma_flush(c, tail); /* orders the swap before S3 */
		}
		/* S3: the node may be used again, now or after a successor has found it. */
		rma_put(c, given, last == id ? MCS_PASSED : MCS_PASSED_ON);
		rma_flush(c, given); /* orders the mark before the return */
	}
	return succ;
}

/* R4: grant to the successor. */
static inline int mcs_posted_grant(const struct lock_setup *s, struct lock_slot *slot,
				   enum rma_domain d, int64_t succ, int64_t status)
{
	struct rma_client *c = &slot->client;
	struct rma_word grant = slot_status(s, c, d, succ);

	rma_put(c, grant, status);
	if (rma_post(c, grant)) {
		mcs_slot(slot)->answer = slot->id; /* settles with the answer */
		return LOCK_LEFT;
	}
	if (!FAULT(d_mcs_grant))
		rma_flush(c, grant); /* orders the grant before the return; pairs with A4 */
	return PAWL_SUCCESS;
}

/* R1: look for a successor. If there is none, a client that comes later finds that this one has
 * left; (F). */
static inline int64_t mcs_posted_look(struct lock_slot *slot, enum rma_domain d)
{
	struct rma_client *c = &slot->client;
	int64_t left = -++mcs_slot(slot)->stays, succ;

	if (FAULT(d_mcs_swap)) {
		succ = rma_peek(c, slot->next[d]);
		rma_poke(c, slot->next[d], left);
	} else {
		rma_fao(c, slot->next[d], RMA_REPLACE, left, &succ);
		/* Orders the swap before the look at succ; pairs with A3. */
		rma_flush(c, slot->next[d]);
	}
	return succ;
}

/* R1 to R4. PAWL_SUCCESS; LOCK_LEFT: the slot has yet to settle. */
static inline int mcs_posted_leave(const struct lock_setup *s, struct lock_slot *slot,
				   enum rma_domain d, struct rma_word tail, int64_t status)
{
	struct rma_client *c = &slot->client;
	int64_t succ = mcs_posted_look(slot, d);

	if (__builtin_expect((succ & MCS_TIMED) != 0, 0)) {
		mcs_slot(slot)->answer = slot->id; /* settles with the answer */
		succ = mcs_posted_pass_over(s, slot, d, tail, succ, status);
		if (!succ)
			return PAWL_SUCCESS;
	}
	if (succ)
		return mcs_posted_grant(s, slot, d, succ, status);
	/* R2: if this node is still the tail, the queue becomes empty. */
	rma_cas(c, tail, slot->id, 0, &mcs_slot(slot)->answer);
	if (rma_post(c, tail))
		return LOCK_LEFT;
	rma_flush(c, tail); /* orders the swap before the look at its result */
	return mcs_posted_settled(slot, d) ? PAWL_SUCCESS : LOCK_LEFT;
}

#endif
