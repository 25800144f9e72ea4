/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lives of a lock, between its recoveries (kinds with lock_recovery_calls.life): the next
 * holder is told of a recovery until a holder has repaired what the lock protects, and holders get
 * numbers for writes to storage, by which it refuses those of a holder that was taken for dead.
 *
 * Each life has a copy of the protocol's words, which says by itself in which life a client has
 * acquired. REPAIRED, at the home, is the life in which a holder has last said that all is
 * repaired.
 *   M1  acquire. In the first copy nothing was recovered: no look
 *   M2  else get REPAIRED, before the protocol's last look at the clock, so that the lease of the
 *       holder is not shorter. If it has another copy than that of the hold: PAWL_RECOVERED
 *   M3  life_repair(): swap REPAIRED for the life of the hold, unless it has one of a later term
 *   M4  life_number(): add 1 to TOKEN; the number is that sum plus the term times 2^34
 *
 * Ordering guarantees
 *   (A) Clients that are told. An exclusive holder that did not release is followed by a recovery,
 * and the next holder by another copy. REPAIRED has that copy only after M3 of an exclusive holder
 *       of that life, which got the lock after the recovery. So each holder is told until then.
 *   (B) Clients that are not told. M3 is complete before its holder releases, and its life stays in
 * REPAIRED until M3 in a later term. A client that acquires after that release, in this life, finds
 *       it by M2. Before its first copy is left no holder is told.
 *   (C) A holder that was taken for dead changes nothing by M3: in the next life REPAIRED has to
 *       have another copy; and it does not replace a later term.
 *   (D) Numbers grow from hold to hold: TOKEN only grows, and so does the term. A holder of an
 *       earlier life that adds late gets a number from TOKEN that is too large by what the holders
 *       of later lives have added before, less than 2^34; the term outweighs it. A table that
 *       replaces another one starts with new words, and its era outweighs both, as long as a lock
 *       has fewer than 2^24 terms, which take leases. A lock that gets another home while nobody
 *       has it (table/rehome.c) starts with new words, too, and its TOKEN with the number reached.
 * A holder that does not call life_repair() leaves the state as it is, and so does one that dies.
 *
 * Cost: nothing in the first life. After a recovery a get for each acquire, until the slot has
 * seen that the lock is repaired. M3: a get and a compare-and-swap; M4: one atomic.
 *
 * Considered and not chosen: a flag in the protocol's words, which each kind would need room for,
 * and which recovery would have to carry over; a number counted by the acquire itself, which all
 * acquires would pay for, and which has the same order.
 *
 * Model: models/life.pml.
 */
#include "lock/lock.h"

enum { LIFE_COPY_BITS = 25, LIFE_ERA_BIT = 58 };

static struct rma_word word_of(const struct lock_setup *s, struct lock_slot *slot, uint64_t which)
{
	return lock_home_word(s, &slot->client, s->domain, s->lives + which, LIFE_BYTES,
			      slot->lock);
}

static int64_t copy_of(int64_t repaired)
{
	return repaired & ((INT64_C(1) << LIFE_COPY_BITS) - 1);
}

bool life_is_told(const struct lock_setup *s, struct lock_slot *slot, int64_t copy)
{
	struct rma_word w = word_of(s, slot, LIFE_REPAIRED);
	int64_t repaired;

	if (FAULT(life_untold))
		return false;
	if (slot->repaired_lock == slot->lock + 1 && slot->repaired_copy == copy)
		return false;
	rma_get(&slot->client, w, &repaired);
	/* Orders the get before the look at it; the acquire was flushed before: (B). */
	rma_flush(&slot->client, w);
	if (FAULT(life_any) ? !repaired : copy_of(repaired) != copy)
		return true;
	slot->repaired_lock = slot->lock + 1;
	slot->repaired_copy = copy;
	return false;
}

int life_repair(const struct lock_setup *s, struct lock_slot *slot)
{
	struct lock_life life = s->protocol->recover->life(s, slot);
	struct rma_word w = word_of(s, slot, LIFE_REPAIRED);
	int64_t mine = life.term << LIFE_COPY_BITS | life.copy, old, seen;

	rma_get(&slot->client, w, &old);
	rma_flush(&slot->client, w); /* orders the get before the look at it */
	while (old < mine) {
		rma_cas(&slot->client, w, old, mine, &seen);
		/* Orders the swap before the look at seen, and before the release: (B); pairs with
		 * life_is_told(). */
		rma_flush(&slot->client, w);
		if (seen == old)
			break;
		old = seen;
	}
	return PAWL_SUCCESS;
}

int life_number(const struct lock_setup *s, struct lock_slot *slot)
{
	struct lock_life life = s->protocol->recover->life(s, slot);
	struct rma_word w = word_of(s, slot, LIFE_TOKEN);
	int64_t before;

	rma_fao(&slot->client, w, RMA_SUM, 1, &before);
	/* Orders the sum before the look at before, and before the release: (D). */
	rma_flush(&slot->client, w);
	slot->token = (int64_t)s->era << LIFE_ERA_BIT;
	slot->token += (FAULT(life_term) ? 0 : life.term << LIFE_TERM_BIT) + before + 1;
	return PAWL_SUCCESS;
}
