/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How ShiftLock is handed from client to client, and past clients whose deadline has passed. The
 * lock is in shiftlock.c, its words in shiftlock.h.
 *
 * A client whose deadline passes does not wait. What it leaves behind depends on where it is:
 *   L1  A writer that would be next, except that it waits for readers that are in or were let in,
 *       cannot subtract itself. A WP of 0 without a change of EPOCH would leave readers blocked;
 *       and EPOCH must not change again before the readers of the last change have left, because a
 *       reader that looks late would find the old value and wait for ever. So the writer swaps A
 *       for a value with the bit ABSENT, and the last of those readers releases for it. The reader
 *       knows that it is the last, because that swap also moves REL so that it is a multiple of
 *       2^16 when all of them have left. A writer that was not in the queue leaves only its count
 *       in WP. A writer that was puts itself back at the head of the queue, as LEFT, and counts
 *       once more.
 *   L2  If no reader is blocked and no other writer is present, a writer that was not in the queue
 *       subtracts itself by the same swap: A is as if it had not come.
 *   L3  A writer in the queue swaps its STATUS to LEFT, unless the grant came first. It stays
 *       counted and queued. Its slot is not free (LOCK_QUEUED).
 *   L4  A writer that comes back swaps LEFT for 0, and has its place again.
 *   L5  A reader that is blocked subtracts itself by a compare-and-swap of A, so only while EPOCH
 *       is unchanged. It leaves nothing.
 *
 * A releaser that grants to a writer with a deadline (the link says so) swaps STATUS, and learns
 * whether the writer has left. If so:
 *   P1  If readers were let in, the writer goes back to the head of the queue, and is absent as in
 *       L1. If they have left meanwhile:
 *   P2  look for a client that is linked to the writer;
 *   P3  if there is none, leave the queue in the writer's place;
 *   P4  subtract the writer, and those that the row owes, by a sum on A, with a change of EPOCH if
 *       no client is known behind it;
 *   P5  mark its STATUS as PASSED, and continue with the next one, as in R4 and R5.
 *
 * Ordering guarantees
 *   (K) ABSENT is set while one writer, which is absent, would be next, and readers are in or were
 *       let in. No client holds the lock as a writer, so no other client sets it, changes EPOCH, or
 *       waits for a value of REL. Each of these readers changes REL by 1, and no other client does,
 *       so the one that finds REL one below a multiple of 2^16 is the last. From then on it is the
 *       releaser, as if the writer had had the lock; its sum clears ABSENT.
 *   (L) EPOCH changes only when all readers that were let in before have left. At R2 they have,
 *       because the writer waited for them, or was granted the lock when there were none; in P4 and
 *       B2 there are none.
 *   (M) A swap of L1, L2 or L5 compares all of A with the value seen, so the readers have not all
 *       left (EPOCH has not changed), and no other client acts on the count that is subtracted.
 *   (N) STATUS changes between 0 and LEFT by compare-and-swap, and to a grant of a writer with a
 *       deadline by a swap: either the client has the grant, or the releaser finds LEFT. LEFT and
 *       PASSED carry the number of the queueing, as grants do.
 *   (O) PASSED is written when no client will write or read the slot's words for this queueing any
 *       more: its successor is linked, or TAIL does not name it. In a dead block the words of a
 *       queueing do not matter, (G).
 *
 * The steps are those of models/shiftlock.pml, with -DTIMED; with leases: shiftlock_readers.pml.
 */
#include "lock/shiftlock/shiftlock.h"

/* If a writer is absent, the releases for which it waits end at a multiple of this number. */
enum { LAST_RELEASE = 1 << 16 };

/* How long to wait for a client that has added itself to A and has yet to link itself. */
static uint64_t patience(const struct lock_setup *s, struct lock_slot *slot)
{
	return lease_ns(s) ? lease_now(s, slot) + lease_ns(s) : 0;
}

/* The client behind this queueing, whose NEXT this is; 0: none comes. Pairs with W5. */
static int64_t await_link(const struct lock_setup *s, struct lock_slot *slot, struct rma_word next,
			  int64_t self)
{
	int64_t seen;

	if (!rma_await_until(&slot->client, next, NEXT_TAG_MASK, RMA_EQ, self_tag(self), RMA_SOON,
			     patience(s, slot), "a successor to link itself", &seen))
		return 0;
	return seen & NEXT_NAME_MASK;
}

int64_t pass_await_link(const struct lock_setup *s, struct lock_slot *slot)
{
	return await_link(s, slot, slot->next[s->domain], own_of(slot)->self);
}

int64_t pass_take_head(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct rma_word word = block_word(slot, BLOCK_HEAD);
	struct rma_pause p = backoff_pause(&options_of(s)->backoff, patience(s, slot));
	int64_t head = 0;

	for (;;) {
		rma_fao(c, word, RMA_REPLACE, 0, &head);
		rma_flush(c, word); /* orders the swap before the look at head, and before R5 */
		while (!head && rma_is_here(c, word)) {
			if (!rma_await_until(c, word, -1, RMA_NE, 0, RMA_SOON, p.deadline_ns,
					     "the head of the queue", &head))
				return 0;
			rma_fao(c, word, RMA_REPLACE, 0, &head);
			rma_flush(c, word); /* as above */
		}
		if (head || !rma_pause(c, &p, "the head of the queue"))
			return head;
	}
}

/* ------------------------------------------------------------------ deadlines */

int pass_be_absent(struct lock_slot *slot, int64_t a, int64_t rel, bool queued)
{
	struct rma_client *c = &slot->client;
	int64_t to_last = -(rel >> A_REL_BIT) & (LAST_RELEASE - 1), next, seen;

	for (;; a = seen) {
		if (a & A_DEAD)
			return SHIFTLOCK_DEAD;
		if ((a & A_REL_MASK) == rel)
			return PAWL_SUCCESS;
		next = a_rel_after(a, to_last) |
		       ((a & ~A_REL_MASK) + A_ABSENT + (queued ? A_ONE_WP : 0));
		if (FAULT(shiftlock_absent) && !queued)
			next = a - A_ONE_WP + a_next_epoch(a & A_EPOCH);
		/* L2 */
		if (!queued && a_writers(a) == 1 && a_readers(a) == a_rel_between(a, rel))
			next = a - A_ONE_WP;
		rma_cas(c, a_word(slot), a, next, &seen);
		rma_flush(c, a_word(slot)); /* orders the swap before the look at seen; (M) */
		if (seen == a)
			return PAWL_ERR_TIMEOUT;
	}
}

void pass_put_back(const struct lock_setup *s, struct lock_slot *slot, int64_t writer)
{
	struct rma_client *c = &slot->client;
	struct rma_word status = slot_status(s, c, s->domain, writer & SELF_ID_MASK);
	struct rma_word head = block_word(slot, BLOCK_HEAD);

	rma_put(c, status, status_left(writer));
	rma_flush(c, status); /* orders LEFT before HEAD; pairs with R5 */
	rma_put(c, head, writer);
	rma_flush(c, head); /* orders HEAD before the return; pairs with B2 */
}

bool pass_leave_queue(const struct lock_setup *s, struct lock_slot *slot, int64_t *status)
{
	struct rma_client *c = &slot->client;
	int64_t self = own_of(slot)->self, old;

	while ((*status & GRANT_MASK) != grant_for(self)) {
		rma_cas(c, slot->status[s->domain], *status, status_left(self), &old);
		rma_flush(c, slot->status[s->domain]); /* orders it before the look at old; (N) */
		if (old == *status)
			return true;
		*status = old;
	}
	return false;
}

/* ------------------------------------------------------------------ hand-over */

/* The contents of a grant, except its receiver. */
struct hand_over {
	int64_t rel;   /* REL now; with drain, REL when the readers that were let in have left */
	int64_t owed;  /* writers of the row that A still counts; (E) */
	int64_t row;   /* writers in a row so far */
	int64_t epoch; /* the present EPOCH */
	bool drain;
};

/* Let in the readers that were present at the sum that changed EPOCH, and subtracted so many
 * writers. */
static struct hand_over let_in(struct lock_slot *slot, int64_t old, int64_t epoch, int64_t gone)
{
	struct hand_over h = {.epoch = epoch, .drain = a_readers(old) > 0};

	h.rel = a_rel_after(old, gone + a_readers(old));
	if (h.drain && rma_is_mapped_cpu(a_word(slot)))
		rma_wake(&slot->client, a_word(slot)); /* pairs with A2 */
	return h;
}

static int64_t pack(const struct hand_over *h, int64_t to)
{
	uint64_t rel = (uint64_t)h->rel >> A_REL_BIT;

	if (h->owed)
		rel = (rel & GRANT_REL_LOW) << GRANT_OWED_BITS | (uint64_t)h->owed;
	return grant_for(to) | (h->epoch ? GRANT_EPOCH : 0) | (h->drain ? GRANT_DRAIN : 0) |
	       (h->owed ? GRANT_OWES : 0) | h->row << GRANT_ROW_BIT |
	       (int64_t)(rel << GRANT_REL_BIT);
}

/* P2, P3: the client behind a writer that has left; 0: there is none, and the writer is out of the
 * queue. False: there is one that does not link itself. */
static bool find_behind(const struct lock_setup *s, struct lock_slot *slot, int64_t self,
			int64_t *behind)
{
	struct rma_client *c = &slot->client;
	struct rma_word next = slot_next(s, c, s->domain, self & SELF_ID_MASK);
	struct rma_word tail = block_word(slot, BLOCK_TAIL);
	int64_t seen, last;

	rma_get(c, next, &seen);
	rma_flush(c, next); /* orders the look before P3 */
	*behind = next_linked(seen, self);
	if (*behind)
		return true;
	rma_cas(c, tail, self, 0, &last);
	rma_flush(c, tail); /* orders the swap before the look at last, and before P4; (O) */
	if (last == self)
		return true;
	*behind = await_link(s, slot, next, self);
	return *behind != 0;
}

/* P1 to P5, for a writer that has left. Returns the next client; 0: this client has to grant to
 * none. */
static RMA_SLOW_PATH int64_t pass_over(const struct lock_setup *s, struct lock_slot *slot,
				       int64_t writer, struct hand_over *h)
{
	struct rma_client *c = &slot->client;
	int64_t self = writer & SELF_MASK, gone = h->owed + 1, behind, old;
	struct rma_word status = slot_status(s, c, s->domain, writer & SELF_ID_MASK);

	if (h->drain) {
		int rc;

		rma_get(c, a_word(slot), &old);
		rma_flush(c, a_word(slot)); /* orders the get before the look at old */
		rc = pass_be_absent(slot, old, h->rel, true);
		if (rc == PAWL_ERR_TIMEOUT)
			pass_put_back(s, slot, writer);
		if (rc != PAWL_SUCCESS)
			return 0;
		h->drain = false;
	}
	if (FAULT(shiftlock_early)) {
		rma_put(c, status, status_passed(self));
		rma_flush(c, status);
	}
	if (!find_behind(s, slot, self, &behind))
		return 0;
	rma_fao(c, a_word(slot), RMA_SUM,
		gone * (A_ONE_REL - A_ONE_WP) + (behind ? 0 : a_next_epoch(h->epoch)), &old);
	rma_flush(c, a_word(slot)); /* orders the sum before the look at old, P5 and R5 */
	if (old & A_DEAD)
		return 0;
	rma_put(c, status, status_passed(self));
	rma_flush(c, status); /* orders the mark before the return; (O) */
	h->rel = a_rel_after(old, gone);
	h->owed = 0;
	if (behind)
		return behind;
	*h = let_in(slot, old, !h->epoch, gone);
	return a_writers(old) > gone ? pass_take_head(s, slot) : 0;
}

/* R5, R6: give the lock to this writer, or to a client behind it. With a, also look at A. */
static void hand_on(const struct lock_setup *s, struct lock_slot *slot, int64_t to,
		    struct hand_over *h, int64_t *a)
{
	struct rma_client *c = &slot->client;
	int64_t old;

	for (; to; a = NULL) {
		struct rma_word word = slot_status(s, c, s->domain, to & SELF_ID_MASK);
		bool timed = to & SELF_TIMED;

		if (timed)
			rma_give(c, word, pack(h, to), &old);
		else
			rma_put(c, word, pack(h, to));
		if (a)
			rma_get(c, a_word(slot), a);
		rma_flush(c, word); /* orders the grant before the return, and before the look at
				     * old; pairs with W6, L3 */
		if (a)
			rma_flush(c, a_word(slot)); /* orders the get before the look at a; (H) */
		if (!timed)
			return;
		if (old != status_left(to))
			return;
		to = pass_over(s, slot, to, h);
	}
}

void pass_grant(const struct lock_setup *s, struct lock_slot *slot, int64_t to, int64_t owed,
		int64_t old)
{
	struct hand_over h = {.rel = a_rel_after(old, owed + 1 + a_readers(old)),
			      .epoch = !own_of(slot)->epoch,
			      .drain = a_readers(old) > 0};

	hand_on(s, slot, to, &h, NULL);
}

int pass_grant_owing(const struct lock_setup *s, struct lock_slot *slot, int64_t to)
{
	int64_t a = 0;
	struct hand_over h = {.rel = (int64_t)((uint64_t)own_of(slot)->rel << A_REL_BIT),
			      .row = own_of(slot)->row + 1,
			      .epoch = own_of(slot)->epoch,
			      .owed = own_of(slot)->owed + 1};

	hand_on(s, slot, to, &h, lease_ns(s) && !FAULT(shiftlock_blind) ? &a : NULL);
	return __builtin_expect(a & A_DEAD, 0) ? PAWL_ERR_LEASE_LOST : PAWL_SUCCESS;
}

bool pass_is_last(int64_t old)
{
	if (FAULT(shiftlock_last))
		return false;
	return (old & A_ABSENT) && (((old >> A_REL_BIT) + 1) & (LAST_RELEASE - 1)) == 0;
}

void pass_release_absent(const struct lock_setup *s, struct lock_slot *slot, int64_t a)
{
	struct rma_client *c = &slot->client;
	int64_t epoch = a & A_EPOCH, old;
	struct hand_over h;

	/* B2: as R2 of a writer that knows no successor; (K). */
	rma_fao(c, a_word(slot), RMA_SUM, A_ONE_REL - A_ONE_WP - A_ABSENT + a_next_epoch(epoch),
		&old);
	rma_flush(c, a_word(slot)); /* orders the sum before the look at old, and before R5 */
	if (old & A_DEAD)
		return;
	h = let_in(slot, old, !epoch, 1);
	if (a_writers(old) > 1)
		hand_on(s, slot, pass_take_head(s, slot), &h, NULL);
}
