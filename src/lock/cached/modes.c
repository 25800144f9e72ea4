/* SPDX-License-Identifier: BSD-3-Clause */
/* Lock caching: MODE of nodes, which the head of the queue of nodes writes; README, C1, S, L3, L4.
 */
#include "lock/cached/modes.h"

int64_t modes_notes(struct lock_slot *slot)
{
	return rma_peek(&slot->client, cached_notes(slot));
}

void modes_note(struct lock_slot *slot, int64_t fields, int64_t value)
{
	struct rma_word notes = cached_notes(slot);
	int64_t old, new, seen;

	do {
		old = modes_notes(slot);
		new = (old & ~fields) | (value & fields);
		if (FAULT(cached_notes)) {
			rma_poke(&slot->client, notes, new);
			return;
		}
		rma_cas(&slot->client, notes, old, new, &seen);
	} while (seen != old);
}

void modes_number(struct lock_slot *slot)
{
	modes_note(slot, NUMBER, ((modes_notes(slot) & NUMBER) + 1) % NUMBER);
}

static int64_t value(struct lock_slot *slot, struct modes m)
{
	/* Never 0, which is the MODE of a lock that is as at first. */
	int64_t number = 1 + (modes_notes(slot) & NUMBER);

	return (int64_t)m.mode | (int64_t)m.back << BACK_SHIFT | (m.want ? WANT : 0) |
	       (int64_t)m.ahead << AHEAD_SHIFT | (int64_t)m.to << TO_SHIFT |
	       (int64_t)m.round << ROUND_SHIFT | (int64_t)cached_me(slot) << MODE_NODE_SHIFT |
	       number << NUMBER_SHIFT;
}

int64_t modes_ack(struct lock_slot *slot)
{
	return value(slot, (struct modes){.want = true}) >> MODE_NODE_SHIFT | ACKNOWLEDGED;
}

static void store(struct lock_slot *slot, int64_t mode)
{
	struct rma_word own = cached_word(slot, LINE_MODE);
	int64_t w;

	rma_poke(&slot->client, own, mode);
	/* Orders the store before the look at W, and before what follows at other nodes; pairs with
	 * H1, H2. */
	rma_fao(&slot->client, cached_word(slot, LINE_W), RMA_OR, 0, &w);
	if (own.map)
		rma_wake(&slot->client, own);
}

void modes_write_own(struct lock_slot *slot, struct modes m)
{
	store(slot, value(slot, m));
}

void modes_put_at(const struct lock_setup *s, struct lock_slot *slot, int node, struct modes m)
{
	if (node == cached_me(slot))
		store(slot, value(slot, m));
	else
		rma_put(&slot->client, cached_word_at(s, slot, node, LINE_MODE), value(slot, m));
}

void modes_flush_at(const struct lock_setup *s, struct lock_slot *slot, int node)
{
	/* Orders the put before the queue is left. */
	if (node != cached_me(slot))
		rma_flush(&slot->client, cached_word_at(s, slot, node, LINE_MODE));
}

void modes_order_at(const struct lock_setup *s, struct lock_slot *slot, int node, bool looks)
{
	if (!looks)
		modes_flush_at(s, slot, node);
	else if (node != cached_me(slot) && !FAULT(cached_close))
		/* Orders the put before the look at W (C2); pairs with H2. */
		rma_order(&slot->client, cached_word_at(s, slot, node, LINE_MODE));
}

void modes_write_at(const struct lock_setup *s, struct lock_slot *slot, int node, struct modes m)
{
	modes_put_at(s, slot, node, m);
	modes_flush_at(s, slot, node);
}

void modes_put(const struct lock_setup *s, struct lock_slot *slot, int64_t dir, struct modes m)
{
	const struct cached_constants *k = s->state;
	int64_t v = value(slot, m);
	int me = cached_me(slot);

	if (dir_has(dir, me) && !FAULT(cached_own))
		store(slot, v);
	for (int j = 0; j < k->nodes; j++)
		if (j != me && dir_has(dir, j))
			rma_put(&slot->client, cached_word_at(s, slot, j, LINE_MODE), v);
}

void modes_write(const struct lock_setup *s, struct lock_slot *slot, int64_t dir, struct modes m)
{
	const struct cached_constants *k = s->state;

	modes_put(s, slot, dir, m);
	for (int j = 0; j < k->nodes; j++)
		if (dir_has(dir, j))
			modes_flush_at(s, slot, j);
}

int64_t modes_give_back(const struct lock_setup *s, struct lock_slot *slot, int64_t dir)
{
	if (dir_owner(dir) == cached_home(slot)) /* TAIL will say so, and its MODE is N */
		return dir | DIR_OPEN;
	modes_number(slot);
	dir = policy_next_round(dir);
	modes_write(s, slot, dir, modes_shared(dir, dir_mode(dir)));
	return dir | DIR_OPEN;
}
