/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MCS queue of mcs.h for transports that bring an operation to its target by themselves
 * (rma_post()): a release does not wait for its answer. It takes no round trip, and never waits
 * for a successor to link itself.
 *
 * NEXT tells not only who comes next, but also that its owner has left. Holder and successor both
 * swap it: who comes second sees the other. A holder that finds a successor grants it the lock, as
 * always. A successor that finds that it has left has the lock at once. So whatever becomes of the
 * operation that empties the queue, nobody needs the releasing client any more.
 *
 * The queue node of a client that has left serves again when that operation was answered, and
 * either has emptied the queue, or a successor has taken the lock over from NEXT. Until then
 * somebody may yet learn its id from TAIL, and write its NEXT.
 *
 * Ordering guarantees: (A) and (C) of mcs.h, and
 *   (D) NEXT is swapped once by its owner, at the end, and once by a successor, if there is one:
 *       the one who got the owner's id from TAIL. Either order is seen by both.
 *   (E) The operation that empties the queue is answered before the queue node serves again, so
 *       it cannot take away a later stay of the same node in the same queue.
 * A grant is not waited for either: its successor waits for it, and it touches no word of ours.
 *
 * The steps A1 ... R4 are those of models/dmcs_posted.pml.
 */
#ifndef LOCKS_MCS_POSTED_H
#define LOCKS_MCS_POSTED_H

#include "locks/mcs.h"

/* The scratch of a slot: where the answer comes, and how often its owner has left. NEXT is the
 * latter, negated, for an owner that has left; ids are positive. */
enum { MCS_ANSWER, MCS_STAYS, MCS_POSTED_SCRATCH };

static inline bool mcs_has_left(int64_t next)
{
	return next < 0;
}

/* A1 to A4. */
static inline void mcs_posted_enter(const struct lock_space *s, struct lock_slot *slot,
				    enum rma_domain d, struct rma_word tail)
{
	struct rma_client *c = &slot->client;
	int64_t pred = mcs_enter(slot, d, tail), old;
	struct rma_word link;

	if (!pred)
		return;
	/* A3: the predecessor sees us, or we that it has left; (D). */
	link = slot_next(s, c, d, pred);
	rma_fao(c, link, RMA_REPLACE, slot->id, &old);
	rma_flush(c, link); /* orders the swap before the look at old; pairs with R1 */
	if (!mcs_has_left(old))
		mcs_await_grant(slot, d);
}

/* T1 and T2: only if nobody has the lock. Where the last in the queue has left, what empties the
 * queue is on its way: it will arrive, so ask again. Whoever else has been last, or left, meanwhile
 * had the lock. An owner that has not left may yet be about to enter with the same queue node,
 * after the queue was empty: so it has to be the last still. */
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

/* Whether the queue node of a client that has left may serve again; (E). */
static inline bool mcs_posted_settled(struct lock_slot *slot, enum rma_domain d)
{
	const int64_t *answer = &slot->scratch[MCS_ANSWER];

#ifdef BREAK_POSTED_ANSWER
	return true;
#endif
	if (!rma_answered(&slot->client, answer))
		return false;
#ifdef BREAK_POSTED_SETTLED
	return true;
#endif
	return *answer == slot->id || !mcs_has_left(rma_peek(&slot->client, slot->next[d]));
}

/* R4: grant to the successor. */
static inline int mcs_posted_grant(const struct lock_space *s, struct lock_slot *slot,
				   enum rma_domain d, int64_t succ, int64_t status)
{
	struct rma_client *c = &slot->client;
	struct rma_word grant = slot_status(s, c, d, succ);

	rma_put(c, grant, status);
	if (rma_post(c, grant)) {
		slot->scratch[MCS_ANSWER] = slot->id; /* it settles with the answer */
		return LOCK_LEFT;
	}
	rma_flush(c, grant); /* orders the grant before our return; pairs with A4 */
	return PAWL_SUCCESS;
}

/* R1 to R4: PAWL_SUCCESS, or LOCK_LEFT if the slot has not settled. */
static inline int mcs_posted_leave(const struct lock_space *s, struct lock_slot *slot,
				   enum rma_domain d, struct rma_word tail, int64_t status)
{
	struct rma_client *c = &slot->client;
	int64_t left = -++slot->scratch[MCS_STAYS], succ;

	/* R1: is somebody linked to us? If not, whoever comes finds that we have left; (D). */
#ifdef BREAK_POSTED_SWAP
	succ = rma_peek(c, slot->next[d]);
	rma_poke(c, slot->next[d], left);
#else
	rma_fao(c, slot->next[d], RMA_REPLACE, left, &succ);
	rma_flush(c, slot->next[d]); /* orders the swap before the look at succ; pairs with A3 */
#endif
	if (succ)
		return mcs_posted_grant(s, slot, d, succ, status);
	/* R2: if we are still the tail, the queue becomes empty. */
	rma_cas(c, tail, slot->id, 0, &slot->scratch[MCS_ANSWER]);
	if (rma_post(c, tail))
		return LOCK_LEFT;
	rma_flush(c, tail); /* orders the swap before the look at its answer */
	return mcs_posted_settled(slot, d) ? PAWL_SUCCESS : LOCK_LEFT;
}

#endif
