/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Failures under ShiftLock (FAST'25, section 3.6): a waiter looks at the lock twice
 * a lease. If nothing has been released, and no turn given, for three leases, then
 * the client that should have acted is dead, or as good as dead, and the lock starts anew.
 *
 * The paper leaves that to the home's processor, which resets the words once an era.
 * Here no rank has to answer, and words are never reset: a block has one life.
 *   K1  The client swaps its last view of word A for a dead one, by compare and swap.
 *       One such swap succeeds in a block's life, and none if the lock has moved.
 *   K2  Word HEIR of the dead block gets the number of a spare one, taken from a
 *       count at the home that only grows; by compare and swap against 0.
 *   K3  The first block's HEIR is put to the newest block, as a short cut.
 * Everybody's next operation on A says that it is dead; then they follow HEIR and
 * start over. K2 may be done by any client that finds HEIR 0.
 *
 * Ordering guarantees
 *   (F) Exactly once: K1 and K2 are compare and swaps against values that a block
 *       does not see again: no block that died lives again, and HEIR is never 0
 *       again. Of a living block's A the same value can only come back after a
 *       multiple of 2^28 releases, a writer that is absent (shiftlock_pass.c) being worth as many
 *       as 2^16; a recoverer that was stopped between its look and
 *       K1 for that long would have to hit that moment. It looks at the clock in
 *       between, so it would have to be stopped between that and the swap, too.
 *   (G) What a client does to a block that died changes nothing elsewhere: the fields
 *       of a dead A have room for it (shiftlock.h), a client that arrives there takes its
 *       arrival back, and links and grants carry the number of the queueing for
 *       which they are meant. That number comes round: 16 bits of it are in a grant,
 *       and a tag of 127 values in a link. So a client that stopped in a block, until it
 *       was dead, between its look and its put must not go on just when the slot that it
 *       addresses has queued a multiple of 65536 times since (its grant would make a
 *       second holder), or of 127 times (its link would hide a successor's, and the lock
 *       would go on after three leases, for the client of that link finds its block
 *       dead). Of the stops that outlast three leases and begin in just these few
 *       instructions, one in 65536, or in 127, ends so. STATUS says with the same number that a
 *       writer has left, or was passed over.
 *   (H) A holder that was given up learns of it: its release changes A, and sees
 *       that it is dead.
 *   (I) Nobody gives up a lock earlier than three leases after a change of REL or EPOCH, nor
 *       earlier than three leases after a client came in that met nobody: clients that wait
 *       came later, or were let in before.
 *   (J) A lease runs from the return of an acquire, and nobody is given up in it. (In the paper it
 *       runs from the arrival of the hand-over, by the time stamp of the network card, which
 *       MPI does not tell.) A client may be stopped at any point of an acquire, so the acquire
 *       looks at the clock last. A client that met nobody returns if its operation on A was
 *       issued at most half a lease ago. A client that waited returns if it saw the word that
 *       it waited for different at most a lease ago. Then a lease and a half of (I) is left at
 *       the least, for the coarse clock is late by at most a tick, and a lease that is measured
 *       by it is no shorter than one. Otherwise it may have been given up. A writer counts a
 *       release of its own, which undoes any K1 under way, or finds A dead; and looks at the
 *       clock again. A reader leaves and asks again, for a writer that drains counts the
 *       releases. A client that is stopped after its acquire returned, or in its critical section,
 *       learns of it by (H).
 * Numbers that come round. A grant carries 16 bits of the number of a slot's queueing, and a
 * link a tag that is the same again after 127 queueings. With lease 0 neither matters: nobody
 * leaves the queue before it is linked or granted. With leases a client may be given up between its
 * swap of TAIL and its link (or before its grant), and go on later. The link or the grant then does
 * harm only if it arrives while the slot that it is meant for has queued again, and by then a
 * multiple of 127 (of a link) or of 2^16 times (of a grant), none of them more and none fewer:
 * at least so many acquires, each with a round trip or two, within one stop of a client between
 * two operations that follow each other.
 * Progress: as long as somebody alive waits and spares last (option recoveries), the
 * lock goes on. A client with a deadline looks for failures while it waits, and again when its
 * process wants to use the slot that is still in the queue.
 */
#include "lock/shiftlock/shiftlock.h"

enum { LEASES_TO_DEATH = 3, LOOKS_PER_LEASE = 2, KNOWN_BLOCKS = 8 };

static struct rma_word at_home(const struct lock_space *s, struct lock_slot *slot, uint64_t offset)
{
	uint64_t index;
	int rank;

	lock_home(s, slot->lock, &rank, &index);
	return rma_word(slot->client.rma, s->domain, rank, offset);
}

/* Blocks that took the place of others, of a few locks: lock + 1 and offset. */
static int64_t *known(struct lock_slot *slot)
{
	return (int64_t *)lock_scratch(slot) + 2 * (slot->lock % KNOWN_BLOCKS);
}

uint64_t shiftlock_scratch_words(const struct lock_space *s)
{
	(void)s;
	return 2 * KNOWN_BLOCKS;
}

void shiftlock_find(const struct lock_space *s, struct lock_slot *slot)
{
	const struct shiftlock *k = s->state;
	const int64_t *hint = known(slot);

	if (__builtin_expect(hint[0] == (int64_t)slot->lock + 1, 0))
		own_of(slot)->a = at_home(s, slot, (uint64_t)hint[1]);
	else
		own_of(slot)->a =
		    lock_home_word(s, &slot->client, s->domain, k->blocks, BLOCK_BYTES, slot->lock);
}

/* A spare block for this lock, 1 ..; 0: there is none left. */
static int64_t take_spare(const struct lock_space *s, struct lock_slot *slot)
{
	const struct shiftlock *k = s->state;
	struct rma_word used = at_home(s, slot, k->used);
	int64_t n;

	rma_get(&slot->client, used, &n);
	rma_flush(&slot->client, used); /* orders the get before the look at n */
	if (n >= k->n_spares)
		return 0; /* and the count does not go on for ever */
	rma_fao(&slot->client, used, RMA_SUM, 1, &n);
	rma_flush(&slot->client, used); /* orders the sum before the look at n */
	return n < k->n_spares ? n + 1 : 0;
}

int shiftlock_next_block(const struct lock_space *s, struct lock_slot *slot)
{
	const struct shiftlock *k = s->state;
	struct rma_client *c = &slot->client;
	struct rma_word first = lock_home_word(s, c, s->domain, k->blocks, BLOCK_BYTES, slot->lock);
	struct rma_word heir_word = block_word(slot, BLOCK_HEIR);
	int64_t *hint = known(slot), heir, spare;

	if (FAULT(shiftlock_era))
		return PAWL_SUCCESS;
	rma_get(c, heir_word, &heir);
	rma_flush(c, heir_word); /* orders the get before the look at heir */
	if (!heir) {
		spare = take_spare(s, slot);
		if (!spare)
			return PAWL_ERR_TOO_MANY;
		/* K2; a client that loses has wasted a spare. */
		rma_cas(c, heir_word, 0, spare, &heir);
		rma_flush(c, heir_word); /* orders the swap before the look at heir */
		heir = heir ? heir : spare;
	}
	if (first.offset != a_word(slot).offset) { /* K3 */
		struct rma_word short_cut = first;

		own_of(slot)->a = first;
		short_cut = block_word(slot, BLOCK_HEIR);
		rma_put(c, short_cut, heir);
		rma_flush(c, short_cut); /* completes the put; any block of the chain will do */
	}
	hint[0] = (int64_t)slot->lock + 1;
	hint[1] = (int64_t)(k->spares + (uint64_t)(heir - 1) * BLOCK_BYTES);
	own_of(slot)->a = at_home(s, slot, (uint64_t)hint[1]);
	return PAWL_SUCCESS;
}

uint64_t lease_now(const struct lock_space *s, struct lock_slot *slot)
{
	return lease_ns(s) ? 1 + rma_clock(&slot->client) : 0;
}

uint64_t lease_glance(const struct lock_space *s, struct lock_slot *slot)
{
	const struct shiftlock *k = s->state;

	if (!lease_ns(s))
		return 0;
	if (k->coarse && rma_is_mapped_cpu(a_word(slot)))
		return 1 + rma_coarse_now_ns();
	return 1 + rma_clock(&slot->client);
}

static int64_t progress_of(int64_t a)
{
	return a & (A_REL_MASK | A_EPOCH);
}

void lease_watch_begin(const struct lock_space *s, struct lock_slot *slot, struct lease_watch *w,
		       uint64_t before, int64_t a)
{
	w->looked = before;
	w->since = lease_now(s, slot);
	w->seen = progress_of(a);
	w->a = a;
}

/* K1: nobody has moved for too long; declare the block dead. */
static int give_up_block(struct lock_slot *slot, int64_t a)
{
	struct rma_client *c = &slot->client;
	struct rma_word word = a_word(slot);
	int64_t dead = (a & A_REL_MASK) | (INT64_C(1) << 15 << A_RDR_BIT) |
		       (INT64_C(1) << 15 << A_WP_BIT) | A_DEAD | A_ABSENT | 2;
	int64_t old;

	if (FAULT(shiftlock_era))
		dead = a & (A_REL_MASK | A_EPOCH);
	rma_cas(c, word, a, dead, &old);
	rma_flush(c, word); /* orders the swap before the look at old */
	if (old == a)
		slot->recoveries++;
	return old == a || (old & A_DEAD) ? SHIFTLOCK_DEAD : PAWL_SUCCESS;
}

int lease_check(const struct lock_space *s, struct lock_slot *slot, struct lease_watch *w,
		uint64_t before, int64_t a)
{
	if (a & A_DEAD)
		return SHIFTLOCK_DEAD;
	w->looked = before;
	w->a = a;
	if (progress_of(a) != w->seen) {
		w->seen = progress_of(a);
		w->since = lease_now(s, slot);
		return PAWL_SUCCESS;
	}
	if (!lease_ns(s) || before - w->since < LEASES_TO_DEATH * lease_ns(s))
		return PAWL_SUCCESS;
	/* (F): not with an old look. */
	if (lease_now(s, slot) - before > lease_ns(s))
		return PAWL_SUCCESS;
	return give_up_block(slot, a);
}

int lease_look(const struct lock_space *s, struct lock_slot *slot, struct lease_watch *w)
{
	uint64_t before = lease_now(s, slot);
	int64_t a;

	rma_get(&slot->client, a_word(slot), &a);
	rma_flush(&slot->client, a_word(slot)); /* orders the get before the look at a */
	return lease_check(s, slot, w, before, a);
}

uint64_t lease_next_look(const struct lock_space *s, struct lock_slot *slot)
{
	return lease_ns(s) ? lease_now(s, slot) + lease_ns(s) / LOOKS_PER_LEASE : 0;
}
