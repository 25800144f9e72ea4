/* SPDX-License-Identifier: BSD-3-Clause */
/* Lock caching: sharers that count themselves at the home, in VISITS, and cache nothing; README, V.
 */
#include "lock/cached/visits.h"

/* Returns VISITS before. */
static int64_t add(const struct lock_setup *s, struct lock_slot *slot, int64_t more)
{
	const struct rma_word visits = cached_visits(s, slot);
	int64_t before;

	rma_fao(&slot->client, visits, RMA_SUM, more, &before);
	/* Orders the count before what the client does next; pairs with H2, V5. */
	rma_flush(&slot->client, visits);
	return before;
}

/* V4, or a count that is taken back. */
static int take_back(const struct lock_setup *s, struct lock_slot *slot, bool posts)
{
	const int64_t before = add(s, slot, -VISITOR);
	const int closer = (int)(before >> CLOSER_SHIFT) - 1;
	struct rma_word ack;

	if (closer < 0 || (before & VISITORS) != VISITOR || FAULT(cached_unvisited))
		return PAWL_SUCCESS;
	if (closer == cached_me(slot)) {
		ack = cached_word(slot, LINE_ACK);
		rma_poke(&slot->client, ack, UNVISITED);
		if (ack.map)
			rma_wake(&slot->client, ack);
		return PAWL_SUCCESS;
	}
	ack = cached_word_at(s, slot, closer, LINE_ACK);
	rma_put(&slot->client, ack, UNVISITED);
	return near_end(s, slot, ack, posts);
}

/* V2: whether a client that has counted itself is in, by TAIL and W of the home's node after that.
 */
static bool is_open(const struct lock_slot *slot, int64_t tail, int64_t w)
{
	return (tail & FREE) && (tail & VISITED) &&
	       ((tail & MODE_MASK) != MODE_X || !(w & near_others(slot)));
}

/* V2: whether this TAIL is to become VISITED: the home's node has X, or the nodes have S and few
 * have used that, or nobody has the lock. */
static bool may_open(int64_t tail, bool ordered)
{
	return (tail & FREE) && !(tail & VISITED) &&
	       policy_is_visited(dir_of_tail(tail), ordered) &&
	       (!(tail & TAIL_OWNED) || (tail & MODE_MASK) == MODE_X);
}

bool visits_enter(const struct lock_setup *s, struct lock_slot *slot)
{
	struct cached_slot *own = lock_own(slot);
	const struct rma_word visits = cached_visits(s, slot);
	const struct rma_word home = cached_word_at(s, slot, own->home, LINE_W);
	int64_t before, tail, w;

	if (!FAULT(cached_counted))
		rma_fao(&slot->client, visits, RMA_SUM, VISITOR, &before);
	/* Orders the count before the looks; pairs with Q2, H2. */
	rma_order(&slot->client, visits);
	rma_get(&slot->client, own->tail, &tail);
	rma_get(&slot->client, home, &w);
	rma_flush(&slot->client, own->tail); /* orders the gets before the looks at their results */
	if (FAULT(cached_counted))
		add(s, slot, VISITOR);
	if (may_open(tail, rma_keeps_order(&slot->client))) {
		before = tail;
		rma_cas(&slot->client, own->tail, before, before | VISITED, &tail);
		/* Orders VISITED before the look at W; pairs with H2. */
		rma_order(&slot->client, own->tail);
		if (!FAULT(cached_opens))
			rma_get(&slot->client, home, &w);
		rma_flush(&slot->client, own->tail); /* orders the get before the look at w */
		if (tail == before)
			tail |= VISITED;
	}
	own->is_visitor = is_open(slot, tail, w);
	if (tail)
		policy_note_visit_tried(own, own->is_visitor);
	if (!own->is_visitor)
		take_back(s, slot, false);
	return own->is_visitor;
}

void visits_count(const struct lock_setup *s, struct lock_slot *slot)
{
	struct cached_slot *own = lock_own(slot);
	const struct rma_word visits = cached_visits(s, slot);

	rma_fao(&slot->client, visits, RMA_SUM, VISITOR, visits_seen(s, slot));
	/* Orders the count before the swap of TAIL (L5), which is at the same rank, or before that
	 * of NEXT (P1); pairs with V5. */
	if (s->posts)
		rma_flush(&slot->client, visits);
	else
		rma_order(&slot->client, visits);
	own->is_visitor = true;
}

int visits_leave(const struct lock_setup *s, struct lock_slot *slot, bool posts)
{
	struct cached_slot *own = lock_own(slot);

	own->is_visitor = false;
	return take_back(s, slot, posts);
}

bool visits_are_some(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct rma_word visits = cached_visits(s, slot);
	int64_t value;

	rma_get(&slot->client, visits, &value);
	rma_flush(&slot->client, visits); /* orders the get before the look at value */
	return (value & VISITORS) != 0;
}

bool visits_await(const struct lock_setup *s, struct lock_slot *slot, bool awaits)
{
	const int64_t me = (int64_t)(cached_me(slot) + 1) << CLOSER_SHIFT;

	return (add(s, slot, awaits ? me : -me) & VISITORS) != 0;
}
