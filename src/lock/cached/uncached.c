/* SPDX-License-Identifier: BSD-3-Clause */
/* Lock caching: sharers that count themselves at the home, in UNCACHED, and cache nothing; README,
 * U.
 */
#include "lock/cached/uncached.h"

/* Returns UNCACHED before. */
static int64_t add(const struct lock_setup *s, struct lock_slot *slot, int64_t more)
{
	const struct rma_word count = cached_home_count(s, slot);
	int64_t before;

	rma_fao(&slot->client, count, RMA_SUM, more, &before);
	/* Orders the count before what the client does next; pairs with U5, U6. */
	rma_flush(&slot->client, count);
	return before;
}

/* U4, or a count that is taken back. */
static int take_back(const struct lock_setup *s, struct lock_slot *slot, bool posts)
{
	const int64_t before = add(s, slot, -UNCACHED_ONE);
	const int waiter = (int)(before >> WAITER_SHIFT) - 1;

	if (waiter < 0 || (before & UNCACHED_COUNT) != UNCACHED_ONE || FAULT(cached_told))
		return PAWL_SUCCESS;
	return near_tell(s, slot, waiter, DRAINED, posts);
}

/* U2: whether TAIL admits a client that has counted itself, and that W does not exclude. */
static bool is_open(int64_t tail)
{
	return (tail & FREE) && (tail & SOME);
}

static bool has_x(int64_t tail)
{
	return (tail & MODE_MASK) == MODE_X;
}

/* U2: whether this TAIL is to get SOME: the home's node has X, or the nodes have S and few
 * have used that, or nobody has the lock. */
static bool may_open(int64_t tail, bool ordered)
{
	return (tail & FREE) && policy_allows_uncached(dir_of_tail(tail), ordered) &&
	       (!(tail & TAIL_OWNED) || has_x(tail));
}

/* Whether TAIL that is 0 stands for the home's node with X, as this client has been told (F). */
static bool is_owned_at_first(const struct cached_slot *own)
{
	return own->first == FIRST_OWNED || FAULT(cached_opened);
}

/* TAIL, or what a client that has been told takes 0 for. */
static int64_t without_zero(const struct lock_setup *s, const struct cached_slot *own, int64_t tail)
{
	return tail == 0 && is_owned_at_first(own)
		   ? dir_to_tail(policy_owned(s, own->home), own->home)
		   : tail;
}

static void get_home(const struct lock_setup *s, struct lock_slot *slot, int64_t *w)
{
	const struct cached_slot *own = lock_own(slot);

	rma_get(&slot->client, cached_word_at(s, slot, own->home, LINE_W), w);
}

/* U2: get TAIL, or give it SOME by a swap; where order is kept, with a get of W behind it. Returns
 * TAIL before. */
static int64_t look(const struct lock_setup *s, struct lock_slot *slot, bool swaps,
		    int64_t expected, int64_t *tail, int64_t *w)
{
	const struct cached_slot *own = lock_own(slot);
	const int64_t opened = without_zero(s, own, expected) | SOME;
	int64_t before;

	if (FAULT(cached_opens)) {
		get_home(s, slot, w);
		rma_flush(&slot->client, own->tail); /* orders the get before TAIL: the fault */
	}
	if (swaps)
		rma_cas(&slot->client, own->tail, expected, opened, &before);
	else
		rma_get(&slot->client, own->tail, &before);
	if (rma_keeps_order(&slot->client) && !FAULT(cached_opens))
		get_home(s, slot, w);
	rma_flush(&slot->client, own->tail); /* orders TAIL before W; pairs with U6 */
	*tail = swaps && before == expected ? opened : before;
	return before;
}

bool uncached_enter(const struct lock_setup *s, struct lock_slot *slot)
{
	struct cached_slot *own = lock_own(slot);
	const struct rma_word count = cached_home_count(s, slot);
	const bool ordered = rma_keeps_order(&slot->client);
	int64_t before, tail, w = 0;

	if (!FAULT(cached_counted))
		rma_fao(&slot->client, count, RMA_SUM, UNCACHED_ONE, &before);
	/* Orders the count before the looks; pairs with Q2, U6. */
	rma_order(&slot->client, count);
	own->finds_first =
	    look(s, slot, own->finds_first && is_owned_at_first(own), 0, &tail, &w) == 0;
	if (FAULT(cached_counted))
		add(s, slot, UNCACHED_ONE);
	if (!(tail & SOME) && may_open(without_zero(s, own, tail), ordered))
		look(s, slot, true, tail, &tail, &w);
	own->is_uncached = is_open(tail);
	if (own->is_uncached && has_x(tail)) {
		if (!ordered && !FAULT(cached_opens)) {
			get_home(s, slot, &w);
			/* Orders the get before the look at w. */
			rma_flush(&slot->client, own->tail);
		}
		own->is_uncached = !(w & near_others(slot));
	}
	if (tail)
		policy_note_uncached(own, own->is_uncached);
	if (!own->is_uncached)
		take_back(s, slot, false);
	return own->is_uncached;
}

void uncached_count(const struct lock_setup *s, struct lock_slot *slot, int64_t sharers)
{
	const struct rma_word count = cached_home_count(s, slot);

	rma_fao(&slot->client, count, RMA_SUM, sharers, uncached_seen(s, slot));
	/* Orders the count before the swap of TAIL (L5), which is at the same rank, or before that
	 * of NEXT (P1); pairs with U5. */
	if (s->posts)
		rma_flush(&slot->client, count);
	else
		rma_order(&slot->client, count);
}

int64_t uncached_pay(const struct lock_setup *s, struct lock_slot *slot, int64_t dir)
{
	struct cached_slot *own = lock_own(slot);
	const int64_t debt = dir_debt(dir);

	if (!debt || FAULT(cached_pays))
		return dir_paid(dir);
	*uncached_seen(s, slot) = add(s, slot, debt) + debt;
	own->has_uncached = true;
	return dir_paid(dir);
}

int uncached_leave(const struct lock_setup *s, struct lock_slot *slot, bool posts)
{
	struct cached_slot *own = lock_own(slot);

	own->is_uncached = false;
	return take_back(s, slot, posts);
}

bool uncached_are_some(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct rma_word count = cached_home_count(s, slot);
	int64_t value;

	rma_get(&slot->client, count, &value);
	rma_flush(&slot->client, count); /* orders the get before the look at value */
	return (value & UNCACHED_COUNT) != 0;
}

bool uncached_await(const struct lock_setup *s, struct lock_slot *slot, bool awaits)
{
	const int64_t me = (int64_t)(cached_me(slot) + 1) << WAITER_SHIFT;

	return (add(s, slot, awaits ? me : -me) & UNCACHED_COUNT) != 0;
}
