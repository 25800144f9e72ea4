/* SPDX-License-Identifier: BSD-3-Clause */
/* Lock caching: the clients of a node count themselves in W, and then look at MODE; README, H and
 * R.
 */
#include "lock/cached/near.h"

void near_wake(struct lock_slot *slot, int64_t old)
{
	struct rma_word w = cached_word(slot, LINE_W);

	if (__builtin_expect((old & WAKES) != 0, 0) && w.map)
		rma_wake(&slot->client, w);
}

bool near_swap(struct lock_slot *slot, int64_t old, int64_t new)
{
	int64_t seen;

	rma_cas(&slot->client, cached_word(slot, LINE_W), old, new, &seen);
	if (seen != old)
		return false;
	near_wake(slot, old);
	return true;
}

bool near_may_pass(const struct lock_setup *s, struct lock_slot *slot, int64_t w)
{
	return (w & PASSES) >> PASSES_SHIFT < policy_passes(s, lock_own(slot));
}

/* Whether a holder in W excludes the client, or a head that waits for the own node. */
static bool is_held(const struct lock_slot *slot, int64_t w, bool is_head)
{
	return (w & near_others(slot)) || ((w & STRICT) && !is_head);
}

/* Whether W excludes the client, which is not counted in it. */
static bool excludes(const struct lock_setup *s, struct lock_slot *slot, int64_t w, bool is_head)
{
	return is_held(slot, w, is_head) ||
	       ((w & AWAITED) && !is_head && !near_may_pass(s, slot, w));
}

/* W with one more holder. */
static int64_t with_client(const struct lock_slot *slot, int64_t w, bool is_head)
{
	int64_t new = w_plus(w, near_one(slot) + HIT);

	if (is_exclusive(slot))
		new &= ~USES;
	if (is_head)
		return new & ~(HEADS | STRICT);
	return w & AWAITED ? new + PASS : new;
}

/* A sharer that has counted itself beside AWAITED has passed the head of QUEUE. */
static bool passes(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t w;

	do {
		w = near_get(slot);
		if (!(w & AWAITED))
			return true;
		if (!near_may_pass(s, slot, w))
			return false;
	} while (!near_swap(slot, w, w + PASS));
	return true;
}

/* A sharer that is the head of the queue of its node counts itself by a sum: a swap would fail
 * again and again while others come and go. Returns W before. */
static int64_t add_as_head(struct lock_slot *slot)
{
	const struct rma_word word = cached_word(slot, LINE_W);
	int64_t w, old;

	rma_fao(&slot->client, word, RMA_SUM, SHARER + HIT, &w);
	if (!(w & near_others(slot)) && (w & (HEADS | STRICT))) {
		rma_fao(&slot->client, word, RMA_AND, ~(HEADS | STRICT), &old);
		near_wake(slot, old);
	}
	return w;
}

/* W gets the round of this MODE, and HITS the hits of the round so far, `more`. Not by a swap,
 * which would fail again and again while others come and go; the client that changes ROUND takes
 * the hits before it back. Nobody waits for ROUND or HITS. */
static void note_round(struct lock_slot *slot, int64_t mode, int64_t more)
{
	const bool is_set = (mode >> ROUND_SHIFT) & 1;
	const struct rma_word word = cached_word(slot, LINE_W);
	int64_t w, old;

	rma_fao(&slot->client, word, is_set ? RMA_OR : RMA_AND, is_set ? ROUND : ~ROUND, &w);
	if (((w & ROUND) != 0) != is_set)
		rma_fao(&slot->client, word, RMA_SUM, w_minus(more, w & HITS), &old);
}

/* The client is in by a hit: ROUND of W is to be that of MODE, which the first hit in a round sees
 * to. */
RMA_INLINE void note_hit(struct lock_slot *slot, int64_t w)
{
	const int64_t mode = cached_look(slot, LINE_MODE);

	if (__builtin_expect(((mode >> ROUND_SHIFT) & 1) != ((w & ROUND) != 0), 0))
		note_round(slot, mode, HIT);
}

bool near_count(struct lock_slot *slot)
{
	int64_t w, old;

	note_round(slot, ~cached_look(slot, LINE_MODE), 0); /* a node that joins has no hit yet */
	w = near_get(slot);
	if (w & near_others(slot))
		return false;
	if (slot->mode != PAWL_SHARED)
		return near_swap(slot, w, (w & ~(HEADS | STRICT)) + near_one(slot));
	w = add_as_head(slot);
	if (!(w & near_others(slot)))
		return true;
	rma_fao(&slot->client, cached_word(slot, LINE_W), RMA_SUM, -near_one(slot), &old);
	near_wake(slot, old);
	return false;
}

/* H1. NEAR_IN: it is counted, and *w is W before. A client that does not expect to wait takes the
 * line of W at once, by an atomic, as it will change W or QUEUE. */
static enum near count(const struct lock_setup *s, struct lock_slot *slot, bool is_head, int64_t *w)
{
	struct cached_slot *own = lock_own(slot);
	const struct rma_word word = cached_word(slot, LINE_W);
	const bool adds = !is_head && slot->mode == PAWL_SHARED, looks = is_head || own->looks;
	int64_t guess = own->guess;

	own->guess = 0;
	if (is_head || own->waited) {
		*w = near_get(slot);
	} else if (looks) {
		rma_fao(&slot->client, word, RMA_SUM, 0, w);
	} else if (adds) {
		rma_fao(&slot->client, word, RMA_SUM, SHARER + HIT, w);
		return NEAR_IN;
	} else {
		rma_cas(&slot->client, word, guess, with_client(slot, guess, false), w);
		if (*w == guess)
			return NEAR_IN;
	}
	for (;; *w = near_get(slot)) {
		if (excludes(s, slot, *w, is_head))
			return NEAR_WAIT;
		if (looks && !cached_admits(slot))
			return NEAR_MISS;
		if (is_head && slot->mode == PAWL_SHARED) {
			*w = add_as_head(slot);
			return NEAR_IN;
		}
		if (adds && !(*w & AWAITED)) {
			rma_fao(&slot->client, word, RMA_SUM, SHARER + HIT, w);
			return NEAR_IN;
		}
		if (near_swap(slot, *w, with_client(slot, *w, is_head)))
			return NEAR_IN;
	}
}

/* U6: whether uncached sharers are in the way of a client of the home's node, which TAIL has
 * admitted. Those that come later find its count in W. */
RMA_INLINE bool sharers_delay_entry(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct cached_slot *own = lock_own(slot);

	if (__builtin_expect(own->home != own->me || !own->tail_some, 1) ||
	    !excludes_sharers(slot) || FAULT(cached_owner))
		return false;
	return (rma_peek_ordered(&slot->client, cached_home_count(s, slot)) & UNCACHED_COUNT) != 0;
}

enum near near_drain(const struct lock_setup *s, struct lock_slot *slot, enum near n)
{
	int64_t seen;

	if (n != NEAR_DRAINS)
		return n;
	return rma_await_until(&slot->client, cached_home_count(s, slot), UNCACHED_COUNT, RMA_EQ, 0,
			       RMA_SOON, slot->deadline_ns, "uncached sharers to leave", &seen)
		   ? NEAR_IN
		   : NEAR_WAIT;
}

enum near near_hit(const struct lock_setup *s, struct lock_slot *slot, bool is_head, bool *counted)
{
	const struct cached_slot *own = lock_own(slot);
	int64_t w;
	enum near n = count(s, slot, is_head, &w);

	*counted = n == NEAR_IN;
	if (n != NEAR_IN)
		return n;
	/* Only a sum finds what excludes it. */
	if (is_held(slot, w, is_head))
		return NEAR_WAIT;
	/* A swap has counted the pass. */
	if ((w & AWAITED) && !is_head && slot->mode == PAWL_SHARED && !own->looks &&
	    !passes(s, slot))
		return NEAR_WAIT;
	if (!FAULT(cached_order) && !cached_admits(slot))
		return NEAR_MISS;
	if (!is_exclusive(slot))
		note_hit(slot, w);
	return sharers_delay_entry(s, slot) ? NEAR_DRAINS : NEAR_IN;
}

enum near near_ahead(const struct lock_setup *s, struct lock_slot *slot, bool *counted)
{
	struct rma_word w = cached_word(slot, LINE_W);
	int64_t others = near_others(slot), value;

	*counted = false;
	if (!cached_admits(slot))
		return NEAR_MISS;
	do {
		/* The head that has been handed W waits for no intent. */
		if (!rma_await_until(&slot->client, w, HANDED, RMA_EQ, 0, RMA_SOON,
				     slot->deadline_ns, "the head of its node", &value))
			return NEAR_WAIT;
	} while (!near_swap(slot, value, w_plus(value, near_one(slot) + HIT)));
	*counted = true;
	if (!cached_admits(slot))
		return NEAR_MISS;
	if ((value & others) &&
	    !rma_await_until(&slot->client, w, others, RMA_EQ, 0, RMA_SOON, slot->deadline_ns,
			     "holders of its node to leave", &value))
		return NEAR_WAIT;
	return sharers_delay_entry(s, slot) ? NEAR_DRAINS : NEAR_IN;
}

bool near_take_handed(const struct lock_setup *s, struct lock_slot *slot, bool is_head)
{
	int64_t w;

	do {
		w = near_get(slot);
		if (!(w & HANDED) || (!is_head && !near_may_pass(s, slot, w)))
			return false;
	} while (!near_swap(
	    slot, w, is_head ? (w & ~(HANDED | HEADS)) + WRITER : w - HANDED + WRITER + PASS));
	return true;
}

void near_note_uses(struct lock_slot *slot, int uses)
{
	const int64_t wanted = (int64_t)uses << USES_SHIFT;
	int64_t w;

	do
		w = near_get(slot);
	while ((w & USES) != wanted && !near_swap(slot, w, (w & ~USES) | wanted));
}

bool near_join(const struct lock_setup *s, struct lock_slot *slot, bool is_head, bool stays)
{
	int64_t w, rest;
	bool in_stay;

	do {
		w = near_get(slot);
		in_stay = policy_stays(s, lock_own(slot), w);
		if (!(w & KEEPS) || !(w & SHARERS) || (w & near_others(slot)) ||
		    (!in_stay && !stays) || (!is_head && !near_may_pass(s, slot, w)))
			return false;
		rest = is_head ? w & ~HEADS : w & AWAITED ? w + PASS : w;
		if (in_stay && policy_counts(s, lock_own(slot)))
			rest += USE;
	} while (!near_swap(slot, w, rest + near_one(slot)));
	return true;
}

int near_tell(const struct lock_setup *s, struct lock_slot *slot, int head, int64_t value,
	      bool posts)
{
	struct rma_word ack;

	if (head == cached_me(slot)) {
		ack = cached_word(slot, LINE_ACK);
		rma_poke(&slot->client, ack, value);
		if (ack.map)
			rma_wake(&slot->client, ack);
		return PAWL_SUCCESS;
	}
	ack = cached_word_at(s, slot, head, LINE_ACK);
	rma_put(&slot->client, ack, value);
	return near_end(s, slot, ack, posts);
}

int near_acknowledge(const struct lock_setup *s, struct lock_slot *slot, int64_t one, bool posts)
{
	int64_t mode, value, w;

	mode = cached_look(slot, LINE_MODE); /* R2 */
	if (!(mode & WANT) || !(one & near_conflict(mode >> TO_SHIFT)))
		return PAWL_SUCCESS;
	/* While the queue is empty, nobody waits for ACK. */
	if (cached_home(slot) == cached_me(slot) &&
	    ((cached_look(slot, LINE_TAIL) & FREE) || FAULT(cached_stale)))
		return PAWL_SUCCESS;
	w = near_get(slot); /* R3 */
	if ((w & near_conflict(mode >> TO_SHIFT)) && !FAULT(cached_again))
		return PAWL_SUCCESS;
	/* R4 */
	value = mode >> MODE_NODE_SHIFT | ACKNOWLEDGED | (w & HOLDERS ? 0 : IDLE);
	return near_tell(s, slot, (int)(value & NODE_MASK), value, posts);
}
