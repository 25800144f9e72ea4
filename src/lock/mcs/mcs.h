/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MCS queue of slots, in pieces: one queue over one TAIL word, with all words in one domain, d
 * (or, with SLOT_INNER, the third pair of words of a slot, in domain NODE).
 * D-MCS is this queue (dmcs.c); ALock has one for each cohort (alock.c). RMA-RW paper (HPDC'16),
 * Section 2.4, Listings 2 and 3.
 *
 * STATUS has what the grant carries: anything above MCS_WAIT.
 *
 * A waiter whose deadline has passed abandons its place: it swaps its STATUS from MCS_WAIT to
 * MCS_ABANDONED, unless the grant came first. Its queue node stays in the queue. A releaser that
 * grants to a waiter with a deadline (the link says so) swaps STATUS, too, and so learns which of
 * the two came first. It passes over an abandoned node: it takes the steps that a holder takes to
 * leave for that node, marks it with MCS_PASSED, and goes on to the next. So a release takes extra
 * steps for the abandoned nodes behind it, and the queue is empty when no client holds or awaits
 * the lock. Until its node is passed over, a client that comes back swaps MCS_ABANDONED for
 * MCS_WAIT and has its place again. (In Scott and Scherer, PPoPP'01, the releaser follows a doubly
 * linked list; here a waiter writes no other client's words to abandon its place.)
 *
 * Ordering guarantees
 *   (A) A client resets its NEXT and STATUS before the swap makes it visible: these are plain
 *       stores into its own memory, and clients that might write them learn of it only from TAIL.
 *   (B) A client writes the link after the swap has returned the predecessor, and before it waits.
 *       At most one client links to a queue node, and once.
 *   (C) What a holder did in node memory is visible to the next holder: the grant is stored after
 *       it and awaited with acquire semantics.
 *   (D) While a client may change STATUS from MCS_WAIT to MCS_ABANDONED and back, both it and the
 *       releaser change it by atomics that fetch the old value: a grant is either seen by the
 *       waiter, which then has the lock, or it finds MCS_ABANDONED.
 *   (E) MCS_PASSED is written after the releaser's last access to the node, and after the node's
 *       successor has linked itself or TAIL no longer names the node, all of that flushed. So no
 *       client writes the node's words for its earlier use when it is used again.
 *
 * The steps A1 ... S3 are those of models/dmcs.pml.
 */
#ifndef LOCK_MCS_MCS_H
#define LOCK_MCS_MCS_H

#include "lock/lock.h"

enum { MCS_WAIT = 0, MCS_ABANDONED = -1 };
/* Passed over; and passed over, but a successor has yet to find that in NEXT (mcs_posted.h). */
#define MCS_PASSED (INT64_MIN + (INT64_C(1) << 30))
#define MCS_PASSED_ON (MCS_PASSED + 1)
/* In a link, above the slot's id: the successor may abandon its place; or a mark that the user of
 * the queue has given to one that may not (mcs_link_with()). */
#define MCS_TIMED (INT64_C(1) << 62)
#define MCS_MARK (INT64_C(1) << 61)

/* The value by which a client links itself. */
RMA_INLINE int64_t mcs_link_of(const struct lock_slot *slot)
{
	return slot->deadline_ns ? slot->id | MCS_TIMED : slot->id;
}

/* A1 and A2 without the flush: enter the queue at its tail. *pred is the predecessor, or 0. */
RMA_INLINE void mcs_post_enter(struct lock_slot *slot, int d, struct rma_word tail, int64_t *pred)
{
	struct rma_client *c = &slot->client;

	/* A1: no successor, no grant; (A). */
	rma_poke(c, slot->next[d], 0);
	rma_poke(c, slot->status[d], MCS_WAIT);
	/* A2. */
	rma_fao(c, tail, RMA_REPLACE, slot->id, pred);
}

/* A1 and A2: enter the queue at its tail. Returns the predecessor, or 0. */
RMA_INLINE int64_t mcs_enter(struct lock_slot *slot, int d, struct rma_word tail)
{
	int64_t pred;

	mcs_post_enter(slot, d, tail, &pred);
	rma_flush(&slot->client, tail); /* orders the swap before the look at pred */
	return pred;
}

/* A1 and A2, only if the queue is empty, without the flush; *last as below. */
static inline void mcs_post_try(struct lock_slot *slot, int d, struct rma_word tail, int64_t *last)
{
	struct rma_client *c = &slot->client;

	rma_poke(c, slot->next[d], 0);
	rma_cas(c, tail, 0, slot->id, last);
}

/* A1 and A2, only if the queue is empty. Returns 0, or the last slot in the queue. */
static inline int64_t mcs_try_enter(struct lock_slot *slot, int d, struct rma_word tail)
{
	struct rma_client *c = &slot->client;
	int64_t last;

	mcs_post_try(slot, d, tail, &last);
	rma_flush(c, tail); /* orders the swap before the look at last */
	return last;
}

/* A3: link to the predecessor; (B). mark: 0, or MCS_MARK of a client without a deadline. */
static inline void mcs_link_with(const struct lock_setup *s, struct lock_slot *slot, int d,
				 int64_t pred, int64_t mark)
{
	struct rma_client *c = &slot->client;
	struct rma_word link = slot_next(s, c, d, pred);

	slot->from = pred;
	rma_put(c, link, mcs_link_of(slot) | mark);
	if (!FAULT(d_mcs_link))
		rma_flush(c, link); /* orders the link before the wait; pairs with R3 */
}

static inline void mcs_link(const struct lock_setup *s, struct lock_slot *slot, int d, int64_t pred)
{
	mcs_link_with(s, slot, d, pred, 0);
}

/* A5: abandon the place by changing STATUS to this value. False: the grant came first, and *status
 * has it. */
static inline bool mcs_abandon(struct lock_slot *slot, int d, int64_t abandoned, int64_t *status)
{
	struct rma_client *c = &slot->client;

	if (FAULT(d_mcs_abandon)) {
		rma_put(c, slot->status[d], abandoned);
		rma_flush(c, slot->status[d]);
		return *status == MCS_WAIT;
	}
	rma_cas(c, slot->status[d], MCS_WAIT, abandoned, status);
	rma_flush(c, slot->status[d]); /* orders the swap before the look at status; (D) */
	return *status == MCS_WAIT;
}

/* A4: wait for the grant of R4; *status is what it carries; (C). False: the deadline has passed. */
static inline bool mcs_is_granted(struct lock_slot *slot, int d, int64_t *status)
{
	return rma_await_until(&slot->client, slot->status[d], -1, RMA_NE, MCS_WAIT, RMA_SOON,
			       slot->deadline_ns, "the grant of its predecessor", status);
}

/* A4 and A5. False: the place is abandoned. */
static inline bool mcs_await_grant(struct lock_slot *slot, int d, int64_t *status)
{
	return mcs_is_granted(slot, d, status) || !mcs_abandon(slot, d, MCS_ABANDONED, status);
}

/* Whether the node of an abandoned place may be used again; (E). */
static inline bool mcs_passed(struct lock_slot *slot, int d)
{
	struct rma_client *c = &slot->client;
	int64_t status = rma_peek(c, slot->status[d]);

	if (FAULT(d_mcs_passed))
		return true;
	return status == MCS_PASSED || (status == MCS_PASSED_ON && rma_peek(c, slot->next[d]) >= 0);
}

/* A6: resume the abandoned place, where STATUS was changed to this value. PAWL_SUCCESS: continue
 * with A4. LOCK_PASSED: the place was passed over. LOCK_QUEUED: it is about to be, and the deadline
 * has passed. */
static inline int mcs_resume(struct lock_slot *slot, int d, int64_t abandoned)
{
	struct rma_client *c = &slot->client;
	struct rma_pause p = {.deadline_ns = slot->deadline_ns};
	int64_t old;

	rma_cas(c, slot->status[d], abandoned, MCS_WAIT, &old);
	rma_flush(c, slot->status[d]); /* orders the swap before the look at old; (D) */
	if (old == abandoned)
		return PAWL_SUCCESS;
	while (!mcs_passed(slot, d))
		if (!rma_pause(c, &p, "a releaser to pass over its abandoned place"))
			return LOCK_QUEUED;
	return LOCK_PASSED;
}

/* R1 and R2: leave the queue if there is no successor. False: there is one, *succ, which is 0 if it
 * has not linked itself yet. */
RMA_INLINE bool mcs_leave(struct lock_slot *slot, int d, struct rma_word tail, int64_t *succ)
{
	struct rma_client *c = &slot->client;
	int64_t last;

	*succ = rma_peek(c, slot->next[d]); /* R1 */
	if (*succ)
		return false;
	/* R2: if this node is still the tail, the queue becomes empty. */
	rma_cas(c, tail, slot->id, 0, &last);
	rma_flush(c, tail); /* orders the swap before the look at last */
	return last == slot->id;
}

/* S1 and S2: the slot behind an abandoned node; 0: the queue is empty now. */
static inline int64_t mcs_behind(const struct lock_setup *s, struct lock_slot *slot, int d,
				 struct rma_word tail, int64_t id)
{
	struct rma_client *c = &slot->client;
	struct rma_word next = slot_next(s, c, d, id);
	int64_t succ, last;

	rma_get(c, next, &succ);
	rma_flush(c, next); /* orders the look before S2 */
	if (succ)
		return succ;
	rma_cas(c, tail, id, 0, &last);
	rma_flush(c, tail); /* orders the swap before the look at last, and before S3; (E) */
	if (last == id)
		return 0;
	/* Pairs with A3. */
	return rma_await(c, next, -1, RMA_NE, 0, RMA_SOON, "a client to link itself");
}

/* R4 for a successor that may abandon its place. Returns a successor that may not, to which the
 * caller has to grant; 0: nothing is left to do, and *is_given says whether a client was granted.
 */
static RMA_SLOW_PATH int64_t mcs_pass_over(const struct lock_setup *s, struct lock_slot *slot,
					   int d, struct rma_word tail, int64_t succ,
					   int64_t status, bool *is_given)
{
	struct rma_client *c = &slot->client;

	*is_given = true;
	while (succ & MCS_TIMED) {
		int64_t id = succ & ~MCS_TIMED, old;
		struct rma_word given = slot_status(s, c, d, id);

		rma_give(c, given, status, &old);
		rma_flush(c,
			  given); /* orders the grant before the look at old; pairs with A4, A5 */
		if (old == MCS_WAIT)
			return 0;
		if (FAULT(d_mcs_early)) {
			rma_put(c, given, MCS_PASSED);
			rma_flush(c, given);
		}
		succ = mcs_behind(s, slot, d, tail, id);
		/* S3: the node may be used again; (E). */
		rma_put(c, given, MCS_PASSED);
		rma_flush(c, given); /* orders the mark before the return */
	}
	*is_given = false;
	return succ;
}

/* R3 and R4: grant to the successor that mcs_leave() has found, or to a client behind it. False:
 * all had abandoned their places, and the queue is empty. */
static inline bool mcs_hand_over(const struct lock_setup *s, struct lock_slot *slot, int d,
				 struct rma_word tail, int64_t succ, int64_t status)
{
	struct rma_client *c = &slot->client;
	struct rma_word grant;
	bool is_given;

	if (!succ) /* R3; pairs with A3 */
		succ = rma_await(c, slot->next[d], -1, RMA_NE, 0, RMA_SOON,
				 "its successor to link itself");
	if (__builtin_expect((succ & MCS_TIMED) != 0, 0)) {
		succ = mcs_pass_over(s, slot, d, tail, succ, status, &is_given);
		if (!succ)
			return is_given;
	}
	grant = slot_status(s, c, d, succ);
	rma_put(c, grant, status);
	if (!FAULT(d_mcs_grant))
		rma_flush(c, grant); /* orders the grant before the return; pairs with A4 */
	return true;
}

#endif
