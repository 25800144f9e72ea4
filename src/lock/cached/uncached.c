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
static bool is_open(const struct cached_slot *own, int64_t tail)
{
	if (tail == 0)
		return own->first == FIRST_SOME || FAULT(cached_opened);
	return (tail & FREE) && (tail & SOME);
}

/* U2, where order is kept: whether this TAIL is to get SOME: the home's node has X, or the nodes
 * have S and few have used that, or nobody has the lock. */
static bool may_open(const struct cached_slot *own, int64_t tail)
{
	const int64_t dir = dir_of_tail(tail);

	return (tail & FREE) && !dir_has_some(dir) && dir_may_have_some(dir, own->home) &&
	       policy_allows_uncached(dir, true);
}

/* U2: get TAIL, or give it SOME by a swap if it is as expected, and get W. Returns TAIL. */
static int64_t look(const struct lock_setup *s, struct lock_slot *slot, int64_t expected,
		    int64_t *w)
{
	const struct cached_slot *own = lock_own(slot);
	const struct rma_word home = cached_word_at(s, slot, own->home, LINE_W);
	int64_t tail;

	if (FAULT(cached_before))
		rma_get(&slot->client, home, w);
	if (expected)
		rma_cas(&slot->client, own->tail, expected, expected | SOME, &tail);
	else
		rma_get(&slot->client, own->tail, &tail);
	/* The same line, so W comes after TAIL where order is kept; pairs with U6. */
	if (!FAULT(cached_before))
		rma_get(&slot->client, home, w);
	rma_flush(&slot->client, own->tail); /* orders both before the looks at tail and w */
	return expected && tail == expected ? expected | SOME : tail;
}

bool uncached_enter(const struct lock_setup *s, struct lock_slot *slot)
{
	struct cached_slot *own = lock_own(slot);
	const struct rma_word count = cached_home_count(s, slot);
	int64_t before, tail, w;

	if (!FAULT(cached_counted))
		rma_fao(&slot->client, count, RMA_SUM, UNCACHED_ONE, &before);
	/* Orders the count before the looks; pairs with Q2, U6. */
	rma_order(&slot->client, count);
	tail = look(s, slot, 0, &w);
	if (FAULT(cached_counted))
		add(s, slot, UNCACHED_ONE);
	if (rma_keeps_order(&slot->client) && may_open(own, tail))
		tail = look(s, slot, tail, &w);
	own->is_uncached = is_open(own, tail) && !(w & near_others(slot));
	if (!own->is_uncached)
		take_back(s, slot, false);
	return own->is_uncached;
}

void uncached_begin(const struct lock_setup *s, struct lock_slot *slot)
{
	struct cached_slot *own = lock_own(slot);

	rma_fao(&slot->client, cached_home_count(s, slot), RMA_SUM, UNCACHED_ONE,
		uncached_seen(s, slot));
	own->is_uncached = true;
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
