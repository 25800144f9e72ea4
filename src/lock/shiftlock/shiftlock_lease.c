/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Failures in ShiftLock (FAST'25, Section 3.6): a waiter looks at the lock twice a lease. If there
 * was no release and no turn for three leases, the client that should have acted is dead, or as
 * good as dead, and the lock starts anew.
 *
 * In the paper the home's processor resets the words once an era. Here no rank has to answer, and
 * words are never reset: a block has one life.
 *   K1  The client swaps the value of word A that it has seen for a dead one, by compare-and-swap.
 *       One such swap succeeds in a block's life, and none if the lock has changed.
 *   K2  Word REPLACEMENT of the dead block gets the number of a spare block, from a count at the
 *       home that only grows, by compare-and-swap against 0.
 *   K3  The newest block is put into the first block's REPLACEMENT, as a short cut.
 * The next operation of each client on A shows that the block is dead; then the client follows
 * REPLACEMENT and starts again. Any client that finds REPLACEMENT 0 may do K2.
 *
 * Ordering guarantees
 *   (F) Exactly once: K1 and K2 are compare-and-swaps against values that a block does not have
 *       again: no dead block lives again, and REPLACEMENT is never 0 again. A of a living block
 *       can have the same value again only after a multiple of 2^28 releases, where a writer that
 *       is absent (shiftlock_pass.c) counts as up to 2^16. A recoverer that was stopped between its
 *       look and K1 for so long would have to hit that moment. It looks at the clock in between, so
 *       it would have to be stopped between that and the swap, too.
 *   (G) What a client does to a dead block changes nothing elsewhere: the fields of a dead A have
 *       room for it (shiftlock.h), a client that arrives there subtracts itself again, and links
 *       and grants carry the number of the queueing for which they are meant. These numbers wrap: a
 *       grant has 16 bits of it, and a link a tag of 127 values. So a client that stopped in a
 *       block, between its look and its put, until the block was dead, must not continue just when
 *       the slot that it addresses has queued a multiple of 65536 times since (its grant would make
 *       a second holder), or of 127 times (its link would hide a successor's; the lock would
 *       continue after three leases, because the client of that link finds its block dead). Of the
 *       stops that last more than three leases and begin in just these few instructions, one in
 *       65536, or in 127, ends so. STATUS shows with the same number that a writer has left, or was
 *       passed over. With lease 0 no number matters: no client leaves the queue before it is linked
 *       or granted.
 *   (H) A holder that was given up learns of it: its release changes A, or gets A beside the put of
 *       its grant (R6), and sees that it is dead. The get may come before the put: if A died in
 *       between, the holder had left its critical section, and its grant is for a dead block, (G).
 *       The holder's clock cannot say in place of the get that its lease is not over: it may have
 *       stood still, as in a guest that its host has stopped.
 *   (I) No client gives up a lock earlier than three leases after a change of REL or EPOCH, or
 *       after a client that met no other entered: waiters came later, or were let in before.
 *   (J) A lease runs from the return of an acquire, and no holder is given up during its lease. (In
 *       the paper it runs from the arrival of the hand-over, by the time stamp of the network card,
 *       which MPI does not provide.) A client may be stopped at any point of an acquire, so the
 *       acquire looks at the clock last. A client that met no other returns if it issued its
 *       operation on A at most half a lease ago. A client that waited returns if at most a lease
 *       ago it saw a different value of the word that it waited for. Then at least a lease and a
 *       half of (I) is left; the coarse clock is late by at most a tick, and a lease that is
 *       measured by it is not shorter than one. (Where a hypervisor stops the processor that keeps
 *       the kernel's time, and not that of the client, it is late by as long: then only (H) holds,
 *       and pawl(3) asks for longer leases.) Otherwise the client may have been given up. A writer
 *       then counts a release of its own, which makes any pending K1 fail, or finds A dead;
 *       and looks at the clock again. A reader leaves and asks again, because a writer that drains
 *       counts the releases. A client that is stopped after its acquire returned, or in its
 *       critical section, learns of it by (H).
 *
 * Lives, and hand-over by one put: at shiftlock_life() and lease_note_moved().
 *
 * Progress: as long as a living client waits and spares are left (option recoveries), the lock
 * continues. A client with a deadline looks for failures while it waits, and again when its process
 * wants to use the slot that is still in the queue.
 *
 * Models: models/shiftlock_lease.pml (writers), models/shiftlock_readers.pml (readers, deadlines).
 */
#include "lock/shiftlock/shiftlock.h"

enum { LEASES_TO_DEATH = 3, LOOKS_PER_LEASE = 2 };

uint64_t shiftlock_scratch_words(const struct lock_setup *s)
{
	(void)s;
	return 4 * SHIFTLOCK_KNOWN;
}

struct rma_word shiftlock_at_home(const struct lock_setup *s, struct lock_slot *slot,
				  uint64_t offset)
{
	uint64_t index;
	int rank;

	lock_home(s, slot->lock, &rank, &index);
	return rma_word(slot->client.rma, s->domain, rank, offset);
}

/*
 * Lives (lock/life.c): the number of a spare block is that of the life; 0 is the first block.
 * Spares are taken in ascending order, and the replacement of a block is taken when that block is
 * dead, so the number also grows with each recovery. A client knows the block before it acquires,
 * and none has two lives.
 */
struct lock_life shiftlock_life(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct shiftlock *k = s->state;
	int64_t copy = 0;

	if (shiftlock_is_later(s, slot))
		copy = (int64_t)((a_word(slot).offset - k->spares) / BLOCK_BYTES) + 1;
	return (struct lock_life){copy, copy};
}

/* Take a spare block for this lock: its number, from 1; 0: none is left. */
static int64_t take_spare(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct shiftlock *k = s->state;
	struct rma_word used = shiftlock_at_home(s, slot, k->used);
	int64_t n;

	rma_get(&slot->client, used, &n);
	rma_flush(&slot->client, used); /* orders the get before the look at n */
	if (n >= k->n_spares)
		return 0; /* so that the count does not grow for ever */
	rma_fao(&slot->client, used, RMA_SUM, 1, &n);
	rma_flush(&slot->client, used); /* orders the sum before the look at n */
	return n < k->n_spares ? n + 1 : 0;
}

int shiftlock_next_block(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct shiftlock *k = s->state;
	struct rma_client *c = &slot->client;
	struct rma_word first = lock_home_word(s, c, s->domain, s->words, BLOCK_BYTES, slot->lock);
	struct rma_word replacement_word = block_word(slot, BLOCK_REPLACEMENT);
	int64_t *hint = shiftlock_known(slot), replacement, spare;

	if (FAULT(shiftlock_era))
		return PAWL_SUCCESS;
	rma_get(c, replacement_word, &replacement);
	rma_flush(c, replacement_word); /* orders the get before the look at replacement */
	if (!replacement) {
		spare = take_spare(s, slot);
		if (!spare)
			return PAWL_ERR_TOO_MANY;
		/* K2. A client that loses has wasted a spare. */
		rma_cas(c, replacement_word, 0, spare, &replacement);
		rma_flush(c, replacement_word); /* orders the swap before the look at replacement */
		replacement = replacement ? replacement : spare;
	}
	if (first.offset != a_word(slot).offset) { /* K3 */
		struct rma_word short_cut = first;

		own_of(slot)->a = first;
		short_cut = block_word(slot, BLOCK_REPLACEMENT);
		rma_put(c, short_cut, replacement);
		rma_flush(c, short_cut); /* completes the put; any block of the chain will do */
	}
	shiftlock_moved(slot)[0] = 0;
	hint[0] = (int64_t)slot->lock + 1;
	hint[1] = (int64_t)(k->spares + (uint64_t)(replacement - 1) * BLOCK_BYTES);
	own_of(slot)->a = shiftlock_at_home(s, slot, (uint64_t)hint[1]);
	return PAWL_SUCCESS;
}

uint64_t lease_now(const struct lock_setup *s, struct lock_slot *slot)
{
	return lease_ns(s) ? 1 + rma_clock(&slot->client) : 0;
}

uint64_t lease_now_cheap(const struct lock_setup *s, struct lock_slot *slot)
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

void lease_watch_begin(const struct lock_setup *s, struct lock_slot *slot, struct lease_watch *w,
		       uint64_t before, int64_t a)
{
	w->looked = before;
	w->since = lease_now(s, slot);
	w->seen = progress_of(a);
	w->a = a;
}

/* K1: the lock has made no progress for too long, so declare the block dead. */
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

int lease_check(const struct lock_setup *s, struct lock_slot *slot, struct lease_watch *w,
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

int lease_look(const struct lock_setup *s, struct lock_slot *slot, struct lease_watch *w)
{
	uint64_t before = lease_now(s, slot);
	int64_t a;

	rma_get(&slot->client, a_word(slot), &a);
	rma_flush(&slot->client, a_word(slot)); /* orders the get before the look at a */
	return lease_check(s, slot, w, before, a);
}

/*
 * Hand-over by one put. Within a row a releaser leaves A as it is, so that REL does not show that
 * it was alive. Its grant carries the writers that the receiver owes, the row, and the lowest 13
 * bits of REL, which only the holder changes while no reader is in. What follows:
 *   - Who holds: A does not say it, nor has it to. A waiter gives the block up when REL has not
 *     changed for three leases, whoever held the lock meanwhile.
 *   - The receiver compares the bits with the REL of its last look. If they differ, REL has changed
 *     since, at most a lease ago if the look is no older, and (J) has its two leases. If they are
 *     the same, but at most a lease ago the client changed REL of this block itself, or began the
 *     look after which it found that REL had changed, (J) has them as well: no client gives the
 *     block up within three leases from then on, whether REL has changed again or not. Otherwise,
 *     or if the last look is older, it counts a release of its own before it returns: REL then
 *     changes, or the block is dead. (Bits that are the same by chance cost that atomic, too.) So
 *     REL changes at least once in two leases while holders keep to theirs, and a client that
 *     returns to the same lock has this atomic about once in a lease.
 *   - No clock of the releaser is used, which may have stood still.
 *   - A waiter whose block was given up finds A dead by its look, twice a lease. A grant that comes
 *     late, when it has left, has another number of queueing; if it has not looked yet, its look is
 *     old, or has seen this REL, and its own release finds A dead.
 *   - A releaser that stops or dies before its put is as a holder that does. After the put nothing
 *     depends on it: its count in A is subtracted by the receiver, or goes with the block.
 */
void lease_note_moved(struct lock_slot *slot, uint64_t since)
{
	int64_t *moved = shiftlock_moved(slot);

	moved[0] = (int64_t)slot->lock + 1;
	moved[1] = (int64_t)since;
}

bool lease_has_moved(const struct lock_setup *s, struct lock_slot *slot)
{
	const int64_t *moved = shiftlock_moved(slot);

	if (moved[0] != (int64_t)slot->lock + 1)
		return false;
	return lease_now(s, slot) - (uint64_t)moved[1] <= lease_ns(s) || FAULT(shiftlock_moved);
}

uint64_t lease_next_look(const struct lock_setup *s, struct lock_slot *slot)
{
	return lease_ns(s) ? lease_now(s, slot) + lease_ns(s) / LOOKS_PER_LEASE : 0;
}
