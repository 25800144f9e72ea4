/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind cached: the queue of nodes; README, Q, L5, L6, D1 to D3. */
#include "lock/cached/nodes.h"

/* In NEXT, above 1 + a node: the place may be abandoned; or else, it is of an exclusive client. */
#define TIMED (INT64_C(1) << 62)
#define WRITES (INT64_C(1) << 61)

static int64_t link_of(struct lock_slot *slot)
{
	return (cached_me(slot) + 1) | (slot->deadline_ns    ? TIMED
					: is_exclusive(slot) ? WRITES
							     : 0);
}

static int64_t swap_status(struct lock_slot *slot, struct rma_word status, int64_t old, int64_t new)
{
	int64_t seen;

	rma_cas(&slot->client, status, old, new, &seen);
	rma_flush(&slot->client, status); /* orders the swap before the look at seen */
	return seen;
}

/* Q4 and D1. */
static bool await_grant(struct lock_slot *slot, int64_t *dir)
{
	struct rma_word status = cached_word(slot, LINE_STATUS);
	int64_t value;

	if (!rma_await_until(&slot->client, status, -1, RMA_NE, WAITING, RMA_SOON,
			     slot->deadline_ns, "the grant of another node", &value)) {
		value = swap_status(slot, status, WAITING, ABANDONED);
		if (value == WAITING)
			return false;
	}
	rma_poke(&slot->client, status, 0);
	*dir = value & ~GRANT;
	return true;
}

/* D2. PAWL_SUCCESS: the node has its place again; LOCK_PASSED: it has none; LOCK_QUEUED: it is
 * about to be passed over, and the deadline has passed. */
static int resume(struct lock_slot *slot)
{
	struct rma_word status = cached_word(slot, LINE_STATUS);
	int64_t value = rma_peek(&slot->client, status);

	if (value == 0 || value == PASSED)
		return LOCK_PASSED;
	if (FAULT(cached_resume)) {
		rma_poke(&slot->client, status, WAITING);
		return PAWL_SUCCESS;
	}
	if (swap_status(slot, status, ABANDONED, WAITING) == ABANDONED)
		return PAWL_SUCCESS;
	return rma_await_until(&slot->client, status, -1, RMA_EQ, PASSED, RMA_SOON,
			       slot->deadline_ns, "a node to pass over the abandoned place", &value)
		   ? LOCK_PASSED
		   : LOCK_QUEUED;
}

static int64_t tail_of_node(int node)
{
	return (int64_t)(node + 1) << TAIL_NODE_SHIFT | MODE_N;
}

static int64_t tail_of(struct lock_slot *slot)
{
	return tail_of_node(cached_me(slot));
}

static bool is_free(int64_t tail)
{
	return tail == 0 || (tail & FREE);
}

/* Get W of the home's node, if that comes after the swap of TAIL without a flush in between. */
static void look_at_home(const struct lock_setup *s, struct lock_slot *slot)
{
	struct cached_slot *own = lock_own(slot);
	struct rma_word w;

	own->has_seen = false;
	if (own->home == own->me || !rma_keeps_order(&slot->client))
		return;
	w = cached_word_at(s, slot, own->home, LINE_W);
	own->has_seen = w.rank == own->home_rank;
	if (own->has_seen)
		rma_get(&slot->client, w, &own->seen);
}

/* Q1. */
static void reset(struct lock_slot *slot)
{
	rma_poke(&slot->client, cached_word(slot, LINE_NEXT), 0);
	rma_poke(&slot->client, cached_word(slot, LINE_STATUS), WAITING);
}

/* The node is the head, by TAIL. */
static void have_grant(struct lock_slot *slot)
{
	rma_poke(&slot->client, cached_word(slot, LINE_STATUS), 0);
}

bool nodes_enter(const struct lock_setup *s, struct lock_slot *slot, int64_t *dir)
{
	struct cached_slot *own = lock_own(slot);
	struct rma_word tail = cached_tail(slot), link;
	int rc = resume(slot);
	int64_t last;

	own->has_seen = false;
	if (rc != LOCK_PASSED)
		return rc == PAWL_SUCCESS && await_grant(slot, dir);
	reset(slot);
	if (FAULT(cached_home))
		look_at_home(s, slot);
	rma_fao(&slot->client, tail, RMA_REPLACE, tail_of(slot), &last); /* Q2 */
	if (!FAULT(cached_home))
		look_at_home(s, slot);
	rma_flush(&slot->client, tail); /* orders the swap before the look at last */
	if (is_free(last)) {
		*dir = first_dir_of_tail(s, slot, last);
		have_grant(slot);
		return true;
	}
	own->has_seen = false;
	last >>= TAIL_NODE_SHIFT;
	/* Q3 */
	link = cached_word_at(s, slot, (int)last - 1, LINE_NEXT);
	rma_put(&slot->client, link, link_of(slot));
	rma_flush(&slot->client, link); /* orders the link before the wait; pairs with L5 */
	slot->from = -1;
	return await_grant(slot, dir);
}

bool nodes_are_none(struct lock_slot *slot, int64_t *tail)
{
	struct rma_word word = cached_tail(slot);

	rma_get(&slot->client, word, tail);
	rma_flush(&slot->client, word); /* orders the get before the look at tail */
	return is_free(*tail);
}

bool nodes_try_enter(struct lock_slot *slot, int64_t expected)
{
	struct cached_slot *own = lock_own(slot);
	struct rma_word tail = cached_tail(slot);
	int64_t last;
	int64_t status = rma_peek(&slot->client, cached_word(slot, LINE_STATUS));

	if (status != 0 && status != PASSED)
		return false;
	reset(slot);
	own->has_seen = false;
	rma_cas(&slot->client, tail, expected, tail_of(slot), &last);
	rma_flush(&slot->client, tail); /* orders the swap before the look at last */
	have_grant(slot);
	return last == expected;
}

bool nodes_have_next(struct lock_slot *slot)
{
	return cached_look(slot, LINE_NEXT) != 0;
}

bool nodes_next_writes(struct lock_slot *slot)
{
	return (cached_look(slot, LINE_NEXT) & WRITES) != 0;
}

/* Swap TAIL from this node to the directory. */
static bool end(struct lock_slot *slot, int node, int64_t dir)
{
	struct rma_word tail = cached_tail(slot);
	int64_t last;

	rma_cas(&slot->client, tail, tail_of_node(node), dir_to_tail(dir, cached_home(slot)),
		&last);
	rma_flush(&slot->client, tail); /* orders the swap before the look at last */
	return last == tail_of_node(node);
}

int64_t nodes_leave(struct lock_slot *slot, int64_t dir)
{
	int64_t next = cached_look(slot, LINE_NEXT);

	if (!next && end(slot, cached_me(slot), dir))
		return 0;
	/* Pairs with Q3. */
	return next ? next
		    : rma_await(&slot->client, cached_word(slot, LINE_NEXT), -1, RMA_NE, 0,
				RMA_SOON, "the next node to link itself");
}

/* D3: the node behind an abandoned place, or 0: the directory is in TAIL. */
static int64_t behind(const struct lock_setup *s, struct lock_slot *slot, int64_t node,
		      int64_t *dir)
{
	struct rma_word next = cached_word_at(s, slot, (int)node - 1, LINE_NEXT);
	int64_t succ;

	rma_get(&slot->client, next, &succ);
	rma_flush(&slot->client, next); /* orders the look before PASSED */
	if (succ)
		return succ;
	/* A promise needs a head that keeps it. */
	if (!dir_is_empty(*dir) && !dir_is_open(*dir) && !FAULT(cached_last))
		*dir = modes_give_back(s, slot, *dir);
	if (end(slot, (int)node - 1, FAULT(cached_tail) ? 0 : *dir))
		return 0;
	/* Pairs with Q3. */
	return rma_await(&slot->client, next, -1, RMA_NE, 0, RMA_SOON, "a node to link itself");
}

int nodes_grant(const struct lock_setup *s, struct lock_slot *slot, int64_t next, int64_t dir,
		bool posts)
{
	struct rma_client *c = &slot->client;
	struct rma_word status;

	while (next & TIMED) {
		int64_t node = next & ~TIMED, old;

		status = cached_word_at(s, slot, (int)node - 1, LINE_STATUS);
		rma_give(c, status, dir | GRANT, &old);
		rma_flush(c, status); /* orders the grant before the look at old; pairs with D1 */
		if (old == WAITING)
			return PAWL_SUCCESS;
		if (FAULT(cached_place)) {
			rma_put(c, status, PASSED);
			rma_flush(c, status);
		}
		next = behind(s, slot, node, &dir);
		rma_put(c, status, PASSED);
		rma_flush(c, status); /* orders the mark before the return; pairs with D2 */
		if (!next)
			return PAWL_SUCCESS;
	}
	status = cached_word_at(s, slot, (int)(next & ~WRITES) - 1, LINE_STATUS);
	rma_put(c, status, dir | GRANT);
	if (posts && s->posts && rma_post(c, status))
		return LOCK_LEFT;
	rma_flush(c, status); /* orders the grant before the return; pairs with Q4 */
	return PAWL_SUCCESS;
}
