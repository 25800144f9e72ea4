/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MCS queue of slots, in pieces: one queue over one TAIL word, all of it in
 * one domain. D-MCS is just this (dmcs.c), ALock has one for each cohort
 * (alock.c). RMA-RW paper (HPDC'16), section 2.4, Listings 2 and 3.
 *
 * STATUS says what came with the grant: anything but MCS_WAIT.
 *
 * Ordering guarantees
 *   (A) Own NEXT and STATUS are reset before the swap makes this client visible:
 *       they are plain stores into own memory, and who could write them learns
 *       of us only from TAIL.
 *   (B) The link is written after the swap has told whose it is, and before we
 *       wait; at most one client ever links to a queue node, once.
 *   (C) What a holder did in node memory is visible to the next holder: the
 *       grant is stored after it and awaited with acquire semantics.
 *
 * The steps A1 ... R4 are those of models/dmcs.pml.
 */
#ifndef LOCKS_MCS_H
#define LOCKS_MCS_H

#include "locks/lock.h"

enum { MCS_WAIT = 0 };

/* A1 and A2: enter the queue at its tail; the predecessor, or 0. */
RMA_INLINE int64_t mcs_enter(struct lock_slot *slot, enum rma_domain d, struct rma_word tail)
{
	struct rma_client *c = &slot->client;
	int64_t pred;

	/* A1: our queue node says "no successor, not yet ours"; (A). */
	rma_poke(c, slot->next[d], 0);
	rma_poke(c, slot->status[d], MCS_WAIT);
	/* A2. */
	rma_fao(c, tail, RMA_REPLACE, slot->id, &pred);
	rma_flush(c, tail); /* orders the swap before the look at pred */
	return pred;
}

/* A1 and A2, only if the queue is empty; who is in it, or 0. */
static inline int64_t mcs_try_enter(struct lock_slot *slot, enum rma_domain d, struct rma_word tail)
{
	struct rma_client *c = &slot->client;
	int64_t last;

	rma_poke(c, slot->next[d], 0);
	rma_cas(c, tail, 0, slot->id, &last);
	rma_flush(c, tail); /* orders the swap before the look at last */
	return last;
}

/* A3: the predecessor sees us; (B). */
static inline void mcs_link(const struct lock_space *s, struct lock_slot *slot, enum rma_domain d,
			    int64_t pred)
{
	struct rma_client *c = &slot->client;
	struct rma_word link = slot_next(s, c, d, pred);

	rma_put(c, link, slot->id);
	rma_flush(c, link); /* orders the link before our wait; pairs with R3 */
}

/* A4: wait for the grant of R4, and say what came with it; (C). */
static inline int64_t mcs_await_grant(struct lock_slot *slot, enum rma_domain d)
{
	return rma_await(&slot->client, slot->status[d], -1, RMA_NE, MCS_WAIT, RMA_SOON,
			 "the grant of its predecessor");
}

/* R1 and R2: leave the queue if nobody is behind us. If somebody is: false, and
 * *succ is who, or 0 if it has not linked itself yet. */
RMA_INLINE bool mcs_leave(struct lock_slot *slot, enum rma_domain d, struct rma_word tail,
			  int64_t *succ)
{
	struct rma_client *c = &slot->client;
	int64_t last;

	*succ = rma_peek(c, slot->next[d]); /* R1: is somebody linked to us? */
	if (*succ)
		return false;
	/* R2: if we are still the tail, the queue becomes empty. */
	rma_cas(c, tail, slot->id, 0, &last);
	rma_flush(c, tail); /* orders the swap before the look at last */
	return last == slot->id;
}

/* R3 and R4: grant to the successor that mcs_leave() found. */
static inline void mcs_hand_over(const struct lock_space *s, struct lock_slot *slot,
				 enum rma_domain d, int64_t succ, int64_t status)
{
	struct rma_client *c = &slot->client;
	struct rma_word grant;

	if (!succ) /* R3; pairs with A3 */
		succ = rma_await(c, slot->next[d], -1, RMA_NE, 0, RMA_SOON,
				 "its successor to link itself");
	grant = slot_status(s, c, d, succ);
	rma_put(c, grant, status);
	rma_flush(c, grant); /* orders the grant before our return; pairs with A4 */
}

#endif
