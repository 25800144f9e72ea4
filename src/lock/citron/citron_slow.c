/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Citron's slow path (FAST'23, Sections 3.5 and 3.6): take the nodes of a cover one after the
 * other, and wait where something is in the way; and the release for both paths. citron.c has A1 to
 * A4 and U1 to U4, and why they are safe.
 *
 * The slow path waits while it holds, in an order that admits no cycle:
 *   S1  draw tickets of all inner nodes of the cover, each when the previous one has its turn
 *   S2  for each node, in ascending order: A1 to A4, but A3 leaves out nodes above a node that is
 *       already held; then leaves wait for their bits, inner nodes do U2 to U4
 * To leave these out is safe: the client that raised such a node waits for the announcement of the
 * held node, which stays until all are released. It is also necessary: to wait there, as in the
 * paper, is a deadlock with an upper client that waits for the held node (models/citron.pml).
 *
 * No deadlock. In S1 a client waits for clients at the same node, and holds only tickets, in the
 * order of nodes; no other client waits for tickets. After S1: let s be the first unit of the node
 * at which a client waits: the occupied node in A4, its own node in U4 and at a leaf. All that the
 * client holds is left of s. It waits for another client that either holds something at s or to the
 * right of it, so the other client's s is larger; or is at that node or below (its s is not
 * smaller), is past A4, and so waits in U4, at a smaller node, or at a leaf. A client waits for one
 * that waits in A4 only because of what that one holds. So s never falls along a cycle, and where
 * it does not rise nodes get smaller: there is no cycle.
 *
 * No starvation. Clients at one inner node are served first come, first served. An upper client
 * waits in U4 only for clients that passed A3 before its OCC, and for each later client at most
 * once more, until its A4. A lower client that has met OCC too often, or lost its bits to others,
 * takes the lowest node above its whole range instead, and if it does not get through there, the
 * root, which has nothing above it and where all clients queue. The exception is a client that has
 * other ranges of the space, because it might meet itself: its cover is exact whatever k is, as it
 * always is if k is 0.
 */
#include "lock/citron/citron_fast.h"
#include "lock/citron/citron_lease.h"
#include "lock/citron/citron_slow.h"
#include "lock/citron/citron_top.h"
#include "lock/pauses.h"

enum {
	LOOKS = RMA_ORDERED - 4, /* the first ones after U2; so few that they keep their order */
	TRIP_SHARE = 4,
	SOON = 2,         /* at a node: so few are ahead that the waiter looks all the time */
	STILL_LOOKS = 16, /* of a waiter that is not next, at a word that does not move */
	TURN_TRIES = 8    /* at an inner node that changes, but is free */
};
/* At a leaf, before the client escalates, or swaps the whole word. */
#define MOST_ORS ATTEMPTS_OR(64, 1)

/* ------------------------------------------------------------------------- release */

/*
 * Without a lease, and if the transport posts (UCX between nodes), a release does not wait for its
 * round trip. Its operations are sums, whose answers decide nothing, and until they take effect the
 * words are those of a client that still holds its nodes: other clients wait for the words, not for
 * the client. The bits, tickets and announcements that are on their way are those of one slot,
 * which is not used again until they are answered; so a word counts a slot once, and no bit is
 * cleared that another client has set. The same process may meet them with another slot, and waits
 * as for a client that no one keeps from leaving, so the argument above holds (models/citron.pml,
 * -DPOSTED). With a lease the holder has to learn at its release whether it was given up.
 */

/* Complete the operations of a release, or leave them on their way. */
static RMA_SLOW_PATH int end_release(struct citron_view *v, bool post)
{
	if (post && v->s->posts && !v->leases && rma_post(v->c, v->root))
		return LOCK_LEFT;
	/* Orders the release before the return, and the withdrawn announcements before the next
	 * ones; pairs with U4 and the waits for OCC, bits and turns. */
	rma_flush(v->c, v->root);
	return PAWL_SUCCESS;
}

int citron_release_all(struct citron_view *v, bool post)
{
	struct citron_hold *h = v->h;
	int64_t raised = 0;

	if (h->got_at) {
		h->brief = 2 * (rma_clock(v->c) - h->got_at) < h->trip;
		h->got_at = 0;
	}
	for (int64_t i = 0; i < h->nodes && !v->gone; i++) {
		struct rma_word w = node_word(v, h->node[i]);
		bool leaf = is_leaf(v, h->node[i]);

		if (leaf && i < h->taken)
			rma_acc(v->c, w, citron_clearing(mask_of(v, i)));
		else if (!leaf && i < h->turns)
			rma_acc(v->c, w, end_of_turn(h->ticket[i]) - (i < h->taken ? OCC : 0));
		raised += !leaf && i < h->taken;
	}
	if (!v->gone) {
		if (raised)
			rma_acc(v->c, raised_word(v), -raised);
		if (v->leases && v->shut)
			rma_acc(v->c, passed_word(v), 1);
		if (h->spill)
			rma_acc(v->c, spill_word(v), end_of_turn(h->spill_ticket));
		citron_withdraw(v, 0);
	}
	h->nodes = h->taken = h->turns = h->spill = h->announced = 0;
	if (v->gone || rma_is_cpu(v->root))
		return PAWL_SUCCESS;
	return end_release(v, post);
}

/* --------------------------------------------------------------------------- turns */

/* Draw a ticket only if it is its turn at once. */
static bool try_turn(struct citron_view *v, int64_t index, int64_t *ticket)
{
	struct rma_word w = word_at(v, index);
	int64_t *got = v->h->got, known;

	rma_get(v->c, w, got);
	rma_flush(v->c, w); /* orders the get before the look at its result */
	for (int try = 0; try < TURN_TRIES && done_of(*got) == next_of(*got); try++) {
		known = *got;
		rma_cas(v->c, w, known, (int64_t)((uint64_t)known + (uint64_t)NEXT_ONE), got);
		rma_flush(v->c, w); /* orders the swap before the look at its result */
		*ticket = next_of(known);
		if (*got == known)
			return true;
	}
	v->met = index;
	return false;
}

/* Look at the word now and then while many are ahead: a quarter of a round trip for each, as in
 * DSLR (bakery.h); in a queue, where the next client looks all the time, for each before that one.
 * Until the ticket is next; where a turn ends in steps, until less than a turn is left; or until
 * nothing has moved for some looks. */
static void approach_turn(struct citron_view *v, struct rma_word w, int64_t ticket, int64_t step,
			  int64_t *got)
{
	struct rma_pause p = {.rounds = 0};
	uint64_t trip = 0, issued;
	int still = 0;

	for (int64_t before = *got;; before = *got) {
		int64_t left = (ticket - done_of(*got)) & TICKET_MASK;
		int64_t ahead = (left + step - 1) / step;

		v->h->early = left > 0 && left < step && ticket != LAST_PLACE && !rma_is_cpu(w);
		if (v->h->early || ahead <= (step > 1 ? 0 : SOON) || still > STILL_LOOKS ||
		    rma_is_cpu(w))
			return;
		p.min_ns = p.max_ns = (uint64_t)(ahead - (step > 1)) * trip / TRIP_SHARE;
		rma_pause(v->c, &p, "its turn at a node");
		issued = rma_clock(v->c);
		rma_get(v->c, w, &v->h->got[0]);
		rma_flush(v->c, w); /* orders the get before the look at its result */
		note_trip(&trip, rma_clock(v->c) - issued);
		v->h->look = trip;
		*got = v->h->got[0];
		still = done_of(*got) == done_of(before) ? still + 1 : 0;
	}
}

bool citron_await_turn(struct citron_view *v, int64_t index, int64_t sum, int64_t step,
		       int64_t *ticket)
{
	struct rma_word w = word_at(v, index);
	struct citron_wait turn = {
	    .index = index,
	    .mask = DONE_MASK,
	    .same = DONE_MASK | OCC,
	    .patience = RMA_SOON,
	    .what = "its turn at a node",
	};
	int64_t got;

	rma_fao(v->c, w, RMA_SUM, sum, &v->h->got[0]);
	rma_flush(v->c, w); /* orders the ticket before the look at its result */
	got = v->h->got[0];
	*ticket = next_of(got);
	v->h->ahead = ((*ticket - done_of(got)) & TICKET_MASK) / step;
	approach_turn(v, w, *ticket, step, &got);
	turn.value = *ticket << DONE_SHIFT;
	return v->h->early || done_of(got) == *ticket || citron_await(v, &turn, &got);
}

bool citron_take_turn(struct citron_view *v, int64_t index, bool wait, int64_t *ticket)
{
	return wait ? citron_await_turn(v, index, NEXT_ONE, 1, ticket) : try_turn(v, index, ticket);
}

/* S1. False: a try met other clients, or the root has moved. */
static bool take_turns(struct citron_view *v, bool wait)
{
	struct citron_hold *h = v->h;

	for (; h->turns < h->nodes; h->turns++)
		if (!is_leaf(v, h->node[h->turns]) &&
		    !citron_take_turn(v, citron_index(h->node[h->turns]), wait,
				      &h->ticket[h->turns]))
			return false;
	if (v->slot->last < v->units)
		return true;
	h->spill = citron_take_turn(v, spill_index(v), wait, &h->spill_ticket);
	return h->spill && citron_may_spill(v, v->slot->last);
}

/* --------------------------------------------------------------------------- nodes */

/* A1 to A4 for node i, repeated until nothing above is in the way, at most this often. Also fetches
 * the node's word. */
static bool pass_above(struct citron_view *v, int64_t i, uint64_t most)
{
	struct citron_hold *h = v->h;
	struct citron_vacancy a;

	a.from = i;
	a.to = i + 1;
	for (uint64_t blocks = 1;; blocks++) {
		int64_t before = h->announced;

		citron_announce(v, h->node[i]);
		/* Orders the announcements before the look above, A1 before A3; pairs with the
		 * flush between U2 and U4, and with T3. */
		rma_order(v->c, v->root);
		citron_ask_above(v, &a);
		rma_get(v->c, node_word(v, h->node[i]), h->got);
		rma_flush(v->c, v->root); /* orders the look before the use of its result */
		if (citron_is_vacant(v, &a))
			return true;
		citron_withdraw(v, before);
		/* Orders the withdrawn announcements before the next ones; pairs with U4. */
		rma_flush(v->c, v->root);
		v->slot->aborts++;
		if (v->shut || blocks >= most || !citron_await_vacant(v, v->met))
			return false;
	}
}

/* L1 for leaf i, or L3 if whole: whether this client has all its bits. If not, it has none, and
 * *known is the word with the bits of others. */
static bool set_bits(struct citron_view *v, int64_t i, bool whole, int64_t *known)
{
	struct rma_word w = node_word(v, v->h->node[i]);
	int64_t mask = mask_of(v, i), before = *known;

	if (whole)
		rma_cas(v->c, w, before, before | mask, known);
	else
		rma_fao(v->c, w, RMA_OR, mask, known);
	rma_flush(v->c, w); /* orders L1 or L3 before the look at the old value */
	if (whole)
		return *known == before;
	if (!(*known & mask))
		return true;
	citron_unset_bits(v, i, *known);
	/* Orders L2 before the wait for other clients' bits; pairs with those that wait for
	 * this client's. */
	rma_flush(v->c, w);
	return false;
}

/* Take the bits of leaf i, whose word is in got[0]. */
static bool take_bits(struct citron_view *v, int64_t i, uint64_t most, bool wait)
{
	struct citron_hold *h = v->h;
	int64_t mask = mask_of(v, i), known = h->got[0];
	const struct citron_wait bits = {
	    .index = citron_index(h->node[i]),
	    .mask = mask,
	    .stuck = mask,
	    .patience = RMA_LATER,
	    .what = "its units to be free",
	};

	v->met = bits.index;
	v->met_bits = mask;
	for (uint64_t tries = 1;; tries++) {
		if ((known & mask) && (!wait || !citron_await(v, &bits, &known)))
			return false;
		if (set_bits(v, i, tries > MOST_ORS, &known))
			return true;
		if (tries >= most)
			return false;
	}
}

/* U4: words of which each has to be seen once without announcements, or leaves of which each bit
 * has to be seen clear once. A try returns false at once instead of waiting. */
struct drain {
	struct citron_view *v;
	bool wait;
	bool after_flush; /* so the looks need no order among themselves */
	int64_t count;
	int64_t index[GETS];
};

/* Wait until each of these bits of a leaf has been clear. */
static bool await_bits(struct citron_view *v, int64_t index, int64_t bits)
{
	while (bits) {
		int64_t lowest = (int64_t)((uint64_t)bits & -(uint64_t)bits);
		struct citron_wait w = {
		    .index = index,
		    .mask = lowest,
		    .stuck = lowest,
		    .patience = RMA_LATER,
		    .what = "those with units below to be done",
		};
		int64_t word;

		v->met_bits = bits;
		if (!citron_await(v, &w, &word))
			return false;
		bits &= word;
	}
	return true;
}

static bool await_below(struct citron_view *v, int64_t index, int64_t mask)
{
	const struct citron_wait w = {
	    .index = index,
	    .mask = mask,
	    .patience = RMA_LATER,
	    .what = "those with units below to be done",
	};
	int64_t word;

	return citron_await(v, &w, &word);
}

static bool is_leaf_word(const struct citron_view *v, int64_t index)
{
	return index >= citron_nodes(v->height - 1) && index < spill_index(v);
}

/* Look at the words that have been added. */
static bool drain_flush(struct drain *d, int64_t mask)
{
	struct citron_view *v = d->v;
	int64_t *got = v->h->got, count = d->count;
	bool clear = true;

	for (int64_t i = 0; i < count; i++)
		rma_get(v->c, word_at(v, d->index[i]), &got[i]);
	rma_flush(v->c, v->root); /* orders the gets before the looks at their results */
	d->count = 0;
	d->after_flush = true;
	for (int64_t i = 0; i < count && clear; i++) {
		bool leaf = is_leaf_word(v, d->index[i]);

		if (!(got[i] & (leaf ? -1 : mask)))
			continue;
		v->met = d->index[i];
		v->met_bits = got[i];
		clear = d->wait && (leaf ? await_bits(v, d->index[i], got[i])
					 : await_below(v, d->index[i], mask));
	}
	return clear;
}

static bool drain_words(struct drain *d, int64_t index, int64_t count)
{
	for (int64_t i = 0; i < count; i++) {
		if (d->count == (d->after_flush ? GETS : LOOKS) && !drain_flush(d, BELOW_MASK))
			return false;
		d->index[d->count++] = index + i;
	}
	return true;
}

/* U4 for clients of the fast path: the first level from n on where they announce themselves. */
static bool drain_leaves(struct drain *d, struct citron_node n)
{
	const struct citron_view *v = d->v;
	int level = (int)(v->height - n.depth) / v->k->span;
	int64_t down = v->height - (int64_t)level * v->k->span - n.depth;
	struct citron_node first = {n.depth + down, n.at << 2 * down};

	if (FAULT(citron_leaves))
		return true;
	if (!level)
		return drain_words(d, citron_index(first), INT64_C(1) << 2 * down);
	for (int64_t stripe = 0; stripe < (FAULT(citron_stripe) ? 1 : STRIPES); stripe++)
		if (!drain_words(d, stripe_index(v, level - 1, stripe, first.at),
				 INT64_C(1) << 2 * down))
			return false;
	return true;
}

/* U4: a look after OCC was set at each word in which a client below may have announced itself. */
static bool drain(struct citron_view *v, struct citron_node n, bool wait)
{
	struct drain d = {.v = v, .wait = wait};

	for (int64_t depth = 0; depth < v->m && n.depth + depth < v->height; depth++) {
		struct citron_node first = {n.depth + depth, n.at << 2 * depth};

		if (!drain_words(&d, citron_index(first), INT64_C(1) << 2 * depth))
			return false;
	}
	return drain_leaves(&d, n) && drain_flush(&d, BELOW_MASK);
}

/* D1 and D2 for the old roots under n, which is above the first one; citron_top.c. */
static bool drain_old_roots(struct citron_view *v, struct citron_node n, bool wait)
{
	int settled = v->height - v->k->start - settled_of(v->top);
	struct drain d = {.v = v, .wait = wait};

	for (int64_t depth = n.depth + 1; depth <= settled; depth++) {
		struct citron_node old = {depth, 0};

		rma_get(v->c, node_word(v, old), &v->h->got[0]);
		rma_flush(v->c, v->root); /* orders the get before the look at its result */
		if (!(v->h->got[0] & SHUT))
			continue;
		d.index[d.count++] = citron_index(old);
		if (!drain_flush(&d, OCC) || !drain(v, old, wait))
			return false;
	}
	if (n.depth == v->depth)
		citron_settle(v);
	return true;
}

/* Whether n, which was the root and has OCC, is still the root. */
static bool is_root(struct citron_view *v, struct citron_node n)
{
	rma_get(v->c, node_word(v, n), &v->h->got[0]);
	rma_flush(v->c, v->root); /* orders the get before the look at its result */
	v->shut = (v->h->got[0] & SHUT) && !FAULT(citron_shut);
	v->met = citron_index(n);
	return !v->shut;
}

/* U4 with everything that it may have to look at. */
static bool drain_for(struct citron_view *v, struct citron_node n, bool wait)
{
	if (n.depth == v->depth && v->grows && !is_root(v, n))
		return false;
	if (!FAULT(citron_drain) && !drain(v, n, wait))
		return false;
	return FAULT(citron_old) || n.at != 0 || n.depth >= v->height - v->k->start ||
	       drain_old_roots(v, n, wait);
}

/* U2 to U4. */
static bool raise(struct citron_view *v, struct citron_node n, bool wait)
{
	struct rma_word raised = node_word(v, n);
	bool alone;

	if (!FAULT(citron_count))
		rma_acc(v->c, raised_word(v), 1);
	rma_acc(v->c, raised, OCC);
	v->h->taken++;
	/* Orders RAISED and OCC before the look below, U2 before U4, and before the look at SHUT;
	 * pairs with the flush between A1 and A3, and with T3. */
	if (!FAULT(citron_raised))
		rma_order(v->c, raised);
	alone = drain_for(v, n, wait);
	if (FAULT(citron_count))
		rma_acc(v->c, raised_word(v), 1);
	return alone;
}

/* S2 for node i. */
static bool take_node(struct citron_view *v, int64_t i, uint64_t most, bool wait)
{
	struct citron_hold *h = v->h;

	if (!pass_above(v, i, most))
		return false;
	if (!is_leaf(v, h->node[i]))
		return raise(v, h->node[i], wait);
	if (!take_bits(v, i, most == FOREVER ? most : MOST_ORS, wait))
		return false;
	h->taken++;
	return true;
}

bool citron_take_cover(struct citron_view *v, uint64_t most, bool wait)
{
	struct citron_hold *h = v->h;
	bool good = take_turns(v, wait);

	while (good && h->taken < h->nodes)
		good = take_node(v, h->taken, most, wait);
	good = good && citron_confirm(v);
	if (!good)
		citron_release_all(v, false);
	return good;
}
