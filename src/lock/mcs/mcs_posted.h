/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MCS queue of mcs.h for transports that bring an operation to its target by themselves
 * (rma_post()): a release does not wait for its answer. It takes no round trip, and never waits
 * for a successor to link itself.
 *
 * NEXT tells not only which slot comes next, but also that its owner has left. Holder and successor
 * both swap it: the one that comes second sees the other. A holder that finds a successor grants it
 * the lock, as always. A successor that finds that it has left has the lock at once. So whatever
 * becomes of the operation that empties the queue, nobody needs the releasing client any more.
 *
 * The queue node of a client that has left serves again when that operation was answered, and
 * either has emptied the queue, or a successor has taken the lock over from NEXT. Until then
 * somebody may yet learn its id from TAIL, and write its NEXT.
 *
 * A releaser that passes over an abandoned node leaves it in the same way, with the
 * number that its owner has put into STATUS. It waits for the answers, since nobody else will.
 *
 * Ordering guarantees: (A), (C), (D) and (E) of mcs.h, and
 *   (F) NEXT is swapped once at the end, by its owner or by the releaser that passes over it,
 *       and once by a successor, if there is one: the client that got the owner's id from
 *       TAIL. Either order is seen by both.
 *   (G) The operation that empties the queue is answered before the queue node serves again, so
 *       it cannot take away a later stay of the same node in the same queue.
 * A grant is not waited for either: its successor waits for it, and it touches no word of ours.
 *
 * The steps A1 ... S3 are those of models/dmcs_posted.pml.
 */
#ifndef LOCK_MCS_MCS_POSTED_H
#define LOCK_MCS_MCS_POSTED_H

#include "lock/mcs/mcs.h"

/* What a slot keeps. NEXT is stays, negated, for an owner that has left; ids are positive. */
struct mcs_slot {
	struct rma_word tail; /* of its lock */
	int64_t answer;       /* comes here */
	int64_t stays;        /* how often its owner has left, or abandoned its place */
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

/* The slot's STATUS when its place is abandoned: what NEXT will be when it has been passed over. */
static inline int64_t mcs_posted_abandoned(struct lock_slot *slot)
{
	return -mcs_slot(slot)->stays;
}

/* A4 and A5. False: the place is abandoned. */
static inline bool mcs_posted_await(struct lock_slot *slot, enum rma_domain d)
{
	int64_t status;

	if (mcs_is_granted(slot, d, &status))
		return true;
	mcs_slot(slot)->stays++;
	return !mcs_abandon(slot, d, mcs_posted_abandoned(slot), &status);
}

/* A1 to A5. False: the place is abandoned. */
static inline bool mcs_posted_enter(const struct lock_space *s, struct lock_slot *slot,
				    enum rma_domain d, struct rma_word tail)
{
	struct rma_client *c = &slot->client;
	int64_t pred = mcs_enter(slot, d, tail), old;
	struct rma_word link;

	if (!pred)
		return true;
	/* A3: the predecessor sees us, or we that it has left; (F). */
	link = slot_next(s, c, d, pred);
	rma_fao(c, link, RMA_REPLACE, mcs_link_of(slot), &old);
	rma_flush(c, link); /* orders the swap before the look at old; pairs with R1 */
	return mcs_has_left(old) || mcs_posted_await(slot, d);
}

/* A6 and A4. */
static inline int mcs_posted_resume(struct lock_slot *slot, enum rma_domain d)
{
	int rc = mcs_resume(slot, d, mcs_posted_abandoned(slot));

	if (rc != PAWL_SUCCESS)
		return rc;
	return mcs_posted_await(slot, d) ? PAWL_SUCCESS : LOCK_QUEUED;
}

/* T1 and T2: only if nobody has the lock. Where the last in the queue has left, what empties the
 * queue is on its way: it will arrive, so ask again. Which other client has been last, or left,
 * meanwhile had the lock. An owner that has not left may yet be about to enter with the same queue
 * node, after the queue was empty: so it has to be the last still. */
static inline bool mcs_posted_try_enter(const struct lock_space *s, struct lock_slot *slot,
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

/* Whether the queue node of a client that has left may serve again; (G). */
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

/* R4 for a successor that may abandon its place: as mcs_pass_over(). Each abandoned node is left
 * as its owner would leave it, but for the waiting: nobody would look for the answer. */
static RMA_SLOW_PATH int64_t mcs_posted_pass_over(const struct lock_space *s,
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
		/* S3: the node may serve again, now or when a successor has been there. */
		rma_put(c, given, last == id ? MCS_PASSED : MCS_PASSED_ON);
		rma_flush(c, given); /* orders the mark before our return */
	}
	return succ;
}

/* R4: grant to the successor. */
static inline int mcs_posted_grant(const struct lock_space *s, struct lock_slot *slot,
				   enum rma_domain d, int64_t succ, int64_t status)
{
	struct rma_client *c = &slot->client;
	struct rma_word grant = slot_status(s, c, d, succ);

	rma_put(c, grant, status);
	if (rma_post(c, grant)) {
		mcs_slot(slot)->answer = slot->id; /* it settles with the answer */
		return LOCK_LEFT;
	}
	if (!FAULT(d_mcs_grant))
		rma_flush(c, grant); /* orders the grant before our return; pairs with A4 */
	return PAWL_SUCCESS;
}

/* R1 to R4: PAWL_SUCCESS, or LOCK_LEFT if the slot has not settled. */
static inline int mcs_posted_leave(const struct lock_space *s, struct lock_slot *slot,
				   enum rma_domain d, struct rma_word tail, int64_t status)
{
	struct rma_client *c = &slot->client;
	int64_t left = -++mcs_slot(slot)->stays, succ;

	/* R1: is somebody linked to us? If not, the client that comes finds that we have left; (F).
	 */
	if (FAULT(d_mcs_swap)) {
		succ = rma_peek(c, slot->next[d]);
		rma_poke(c, slot->next[d], left);
	} else {
		rma_fao(c, slot->next[d], RMA_REPLACE, left, &succ);
		/* Orders the swap before the look at succ; pairs with A3. */
		rma_flush(c, slot->next[d]);
	}
	if (__builtin_expect((succ & MCS_TIMED) != 0, 0)) {
		mcs_slot(slot)->answer = slot->id; /* it settles with the answer */
		succ = mcs_posted_pass_over(s, slot, d, tail, succ, status);
		if (!succ)
			return PAWL_SUCCESS;
	}
	if (succ)
		return mcs_posted_grant(s, slot, d, succ, status);
	/* R2: if we are still the tail, the queue becomes empty. */
	rma_cas(c, tail, slot->id, 0, &mcs_slot(slot)->answer);
	if (rma_post(c, tail))
		return LOCK_LEFT;
	rma_flush(c, tail); /* orders the swap before the look at its answer */
	return mcs_posted_settled(slot, d) ? PAWL_SUCCESS : LOCK_LEFT;
}

#endif
