/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Citron's fast path (FAST'23, Section 3.8): a try by leaves only; and what the slow path uses as
 * well, the announcements and the look above. citron.c has A1 to A4, U1 to U4 and F1 to F3, and why
 * they are safe.
 *
 * Bits of a leaf:
 *   L1  fetch-or of the range's bits; those that it has changed from 0 to 1 are the client's own
 *   L2  if it has not changed all of them: subtract those that it has changed, before any wait
 *   L3  in place of L1, after many of them: compare-and-swap of a word seen without the range's
 *       bits
 * A bit is cleared only by the client that has changed it from 0 to 1, so it is one client's at a
 * time, and two clients that have changed all of their bits have none in common. A client that has
 * changed only some is in the way of others until L2, a round trip later, and waits for no client
 * in between. Three such clients can keep each other out for ever, in the worst order of their
 * steps; therefore an acquire that waits does a limited number of L1. After these, the client takes
 * an inner node, where all queue, or uses L3 where it must not take more than its range (see
 * citron_slow.c). L3 sets all bits or none, so of the clients that are left with L3 one proceeds:
 * the word changes only when one of them gets its bits, or when bits are released. The paper's
 * masked compare-and-swap, which changes the bits only if all of them are 0, needs neither L2 nor
 * L3.
 *
 * The fast path tries a range that spans at most 4k leaves, by leaves only: F1 and F3. If anything
 * is in the way, all is undone in one round trip, and the client holds nothing while it waits. A
 * client whose turn it is in a queue may do this first:
 *   F4  keep the bits that it has changed, set those that are missing, order, and look above again;
 *       a limited number of times, and while nothing above is set
 * Others hold bits of a long range for a moment each, so that it would seldom find all of them
 * clear at once. The last look of F4 comes after the last bit, and so has the place of F3. The
 * limit ends F4 where two such clients keep each other's bits (models/citron.pml). For one leaf in
 * a tree of height h a try is 2 + h / (m + 1) operations, rounded down, and a release one less. A
 * release takes one round trip: clear bits, end turns, withdraw announcements, in any order,
 * because each of these admits clients that then find the rest, or wait for it.
 */
#include "lock/citron/citron_fast.h"
#include "lock/citron/citron_lease.h"
#include "lock/citron/citron_queue.h"
#include "lock/citron/citron_slow.h"
#include "lock/citron/citron_top.h"

enum {
	FEW_LEAVES = 8, /* if k is 0 */
	MOST_MISSED = 3,
	POLLS = 16,      /* of F4, in a turn at a queue */
	MISSED_POLLS = 1 /* after the end of the turn */
};

/* ------------------------------------------------------------------- announcements */

static bool is_announced(const struct citron_hold *h, int64_t index)
{
	for (int64_t i = 0; i < h->announced; i++)
		if (h->above[i] == index)
			return true;
	return false;
}

/* A1, without the flush. */
void citron_announce(struct citron_view *v, struct citron_node n)
{
	struct citron_hold *h = v->h;
	int64_t depth[CITRON_MOST_HEIGHT];
	int count = citron_notified(n.depth - v->depth, v->m, depth);

	for (int i = 0; i < count; i++) {
		int64_t index = citron_index(citron_above(n, v->depth + depth[i]));

		if (is_announced(h, index))
			continue;
		rma_acc(v->c, word_at(v, index), BELOW_ONE);
		h->above[h->announced++] = index;
	}
}

/* F1 for a leaf, without the flush. */
static void announce_leaf(struct citron_view *v, struct citron_node n)
{
	struct citron_hold *h = v->h;
	int64_t stripe = (slot_rank(v->slot->id) + v->slot->index) % STRIPES, index;

	for (int i = 0; i < v->k->levels; i++) {
		int64_t depth = v->height - (int64_t)(i + 1) * v->k->span;

		if (depth < v->depth)
			return;
		index = stripe_index(v, i, stripe, citron_above(n, depth).at);
		if (is_announced(h, index))
			continue;
		rma_acc(v->c, word_at(v, index), BELOW_ONE);
		h->above[h->announced++] = index;
	}
}

/* Withdraw all announcements except the first keep. No flush. */
void citron_withdraw(struct citron_view *v, int64_t keep)
{
	struct citron_hold *h = v->h;

	while (h->announced > keep)
		rma_acc(v->c, word_at(v, h->above[--h->announced]), -BELOW_ONE);
}

/* Add the nodes above n, except those that are also above `held` (NULL: all). */
static void ask_node(struct citron_view *v, struct citron_vacancy *a, struct citron_node n,
		     const struct citron_node *held)
{
	for (int64_t depth = n.depth - 1; depth >= v->depth; depth--) {
		struct citron_node above = citron_above(n, depth);

		if (held && citron_is_under(*held, above))
			break;
		rma_get(v->c, node_word(v, above), &v->h->got[GOT_ABOVE + a->count]);
		a->node[a->count++] = above;
	}
}

static void ask_all(struct citron_view *v, struct citron_vacancy *a)
{
	for (int64_t i = a->from; i < a->to; i++) {
		bool alone = i == 0 || (FAULT(citron_common) && i == a->from);

		ask_node(v, a, v->h->node[i], alone ? NULL : &v->h->node[i - 1]);
	}
}

void citron_ask_above(struct citron_view *v, struct citron_vacancy *a)
{
	a->count = 0;
	a->all = v->h->busy || FAULT(citron_common);
	if (a->from == 0)
		citron_lease_begin(v);
	rma_get(v->c, raised_word(v), &v->h->got[GOT_RAISED]);
	if (a->from == 0 && v->leases)
		rma_get(v->c, citron_top_word(v), &v->h->got[GOT_TOP]);
	if (a->all)
		ask_all(v, a);
	else if (a->from == 0 && v->grows)
		rma_get(v->c, root_word(v), &v->h->got[GOT_ROOT]);
}

/* Whether one of the nodes is occupied, or the root shut. */
static bool is_occupied(struct citron_view *v, const struct citron_vacancy *a)
{
	for (int64_t i = 0; i < a->count; i++) {
		int64_t word = v->h->got[GOT_ABOVE + i];
		bool shut = a->node[i].depth == v->depth && (word & SHUT) && !FAULT(citron_shut);

		if (!(word & OCC) && !shut)
			continue;
		v->shut = v->shut || shut;
		v->met = citron_index(a->node[i]);
		return true;
	}
	return false;
}

/* The number of nodes that this hold has raised. */
static int64_t raised_by_us(const struct citron_view *v)
{
	int64_t n = 0;

	for (int64_t i = 0; i < v->h->taken; i++)
		n += !is_leaf(v, v->h->node[i]);
	return n;
}

bool citron_is_vacant(struct citron_view *v, struct citron_vacancy *a)
{
	int64_t *got = v->h->got;

	v->h->busy = got[GOT_RAISED] != raised_by_us(v);
	if (a->from == 0 && v->leases && !citron_is_open(v, got[GOT_TOP])) {
		v->shut = true;
		v->met = citron_index((struct citron_node){v->depth, 0});
		return false;
	}
	if (a->all)
		return !is_occupied(v, a);
	if (a->from == 0 && v->grows && (got[GOT_ROOT] & SHUT) && !FAULT(citron_shut)) {
		v->shut = true;
		v->met = citron_index((struct citron_node){v->depth, 0});
		return false;
	}
	if (!v->h->busy)
		return true;
	ask_all(v, a);
	rma_flush(v->c, v->root); /* orders the gets before the looks at their results */
	return !is_occupied(v, a);
}

bool citron_await_vacant(struct citron_view *v, int64_t index)
{
	const struct citron_wait w = {
	    .index = index,
	    .mask = OCC,
	    .same = DONE_MASK | OCC,
	    .patience = RMA_LATER,
	    .what = "its units to be free",
	};
	int64_t word;

	return citron_await(v, &w, &word);
}

/* -------------------------------------------------------------------- all or nothing */

int64_t citron_few_leaves(const struct citron_view *v)
{
	int64_t first = v->slot->first >> CITRON_LEAF_BITS,
		last = v->slot->last >> CITRON_LEAF_BITS;
	int64_t most = options_of(v->s)->k ? 4 * options_of(v->s)->k : FEW_LEAVES;

	if (v->slot->last >= v->units || last - first >= most || options_of(v->s)->only_slow_path)
		return 0;
	return last - first + 1;
}

void citron_unset_bits(struct citron_view *v, int64_t i, int64_t before)
{
	int64_t mask = mask_of(v, i), own = FAULT(citron_bits) ? mask : mask & ~before;

	if (own && !(FAULT(citron_keep) && own != mask))
		rma_acc(v->c, node_word(v, v->h->node[i]), citron_clearing(own));
}

/* L1 for all leaves; their old values go to got[GOT_LEAVES...]. No flush. */
static void set_bits(struct citron_view *v)
{
	struct citron_hold *h = v->h;

	for (int64_t i = 0; i < h->nodes; i++)
		rma_fao(v->c, node_word(v, h->node[i]), RMA_OR, mask_of(v, i),
			&h->got[GOT_LEAVES + i]);
}

/* After the flush: whether the client has all bits of all leaves; else v->met. */
static bool has_bits(struct citron_view *v)
{
	struct citron_hold *h = v->h;

	for (int64_t i = 0; i < h->nodes; i++)
		if (h->got[GOT_LEAVES + i] & mask_of(v, i)) {
			v->met = citron_index(h->node[i]);
			v->met_bits = mask_of(v, i);
			return false;
		}
	return true;
}

/* L2, and withdraw the announcements. */
static void undo(struct citron_view *v)
{
	struct citron_hold *h = v->h;

	if (!v->gone) {
		for (int64_t i = 0; i < h->nodes; i++)
			citron_unset_bits(v, i, h->got[GOT_LEAVES + i]);
		citron_withdraw(v, 0);
		/* Orders the withdrawn announcements before the next ones, and the bits before the
		 * wait; pairs with U4 and with clients that wait for the bits. */
		rma_flush(v->c, v->root);
	}
	h->nodes = h->announced = 0;
}

/* F2 of a try: orders L1 and the announcements before the look above; pairs with the flush between
 * U2 and U4, and with T3. Whether the order is kept without a flush: then a try is one round trip.
 */
static bool order_try(struct citron_view *v)
{
	if (rma_keeps_order(v->c) &&
	    3 * v->h->nodes + v->h->announced + 2 * v->height < RMA_ORDERED)
		return true;
	rma_flush(v->c, v->root);
	return false;
}

/* Whether a client in its turn at a queue ends it with its first request: see citron_queue.c. */
static bool ends_turn(const struct citron_view *v)
{
	const struct citron_hold *h = v->h;

	return h->queue && h->brief && h->missed < MOST_MISSED;
}

/* F1 and F2 of a try of n leaves; and F3, unless it is known that they do not have their bits. */
static bool announce_leaves(struct citron_view *v, int64_t n, struct citron_vacancy *a)
{
	struct citron_hold *h = v->h;
	bool ends = ends_turn(v);

	h->nodes = n;
	if (h->queue)
		citron_begin_request(v, ends);
	for (int64_t i = 0; i < n; i++)
		h->node[i] =
		    (struct citron_node){v->height, (v->slot->first >> CITRON_LEAF_BITS) + i};
	if (FAULT(citron_look))
		citron_ask_above(v, a);
	for (int64_t i = 0; i < n; i++)
		announce_leaf(v, h->node[i]);
	set_bits(v);
	if (ends)
		citron_leave_queue(v);
	if (!order_try(v) && !has_bits(v))
		return false;
	if (!FAULT(citron_look))
		citron_ask_above(v, a);
	/* Orders L1 and the look above before the use of their results. */
	rma_flush(v->c, v->root);
	return has_bits(v);
}

/* The bits of leaf i that the client wants and does not have. */
static int64_t missing_bits(struct citron_view *v, int64_t i)
{
	return v->h->got[GOT_LEAVES + i] & mask_of(v, i);
}

/* F4, once; the look above is in got[]. */
static void ask_again(struct citron_view *v, struct citron_vacancy *a)
{
	struct citron_hold *h = v->h;
	int64_t missing;

	if (FAULT(citron_again))
		citron_ask_above(v, a);
	for (int64_t i = 0; i < h->nodes; i++)
		if ((missing = missing_bits(v, i)) != 0)
			rma_fao(v->c, node_word(v, h->node[i]), RMA_OR, missing, &h->got[i]);
	order_try(v);
	if (!FAULT(citron_again))
		citron_ask_above(v, a);
	/* Orders L1 and the look above before the use of their results. */
	rma_flush(v->c, v->root);
	for (int64_t i = 0; i < h->nodes; i++)
		if ((missing = missing_bits(v, i)) != 0)
			h->got[GOT_LEAVES + i] = h->got[i] & missing;
}

/* F4. got[GOT_LEAVES...] has, of the bits that the client wants, those that it does not have. */
static bool claim_leaves(struct citron_view *v, struct citron_vacancy *a, int polls)
{
	if (rma_is_cpu(v->root))
		return false;
	for (; polls || FAULT(citron_claim); polls--) {
		ask_again(v, a);
		if (has_bits(v))
			return true;
		if (!citron_is_vacant(v, a))
			return false;
	}
	return false;
}

/* F1 to F3; in a turn at a queue F4, too. */
static bool get_leaves(struct citron_view *v, int64_t leaves, struct citron_vacancy *a)
{
	struct citron_hold *h = v->h;
	bool queued = h->queue != 0, ends = ends_turn(v), first;
	uint64_t asked = rma_clock(v->c);

	first = announce_leaves(v, leaves, a);
	h->got_at = rma_clock(v->c);
	h->trip = h->got_at - asked;
	if (!queued)
		return first;
	if (!first) {
		if (!claim_leaves(v, a, ends ? MISSED_POLLS : POLLS)) {
			h->missed += ends;
			return false;
		}
		h->got_at = rma_clock(v->c);
	}
	h->missed = 0;
	return true;
}

bool citron_try_leaves(struct citron_view *v, int64_t leaves)
{
	struct citron_hold *h = v->h;
	struct citron_vacancy a; /* too large to be cleared at each try */

	a.from = 0;
	a.to = leaves;
	if (h->queue || !rma_is_cpu(v->root) ? get_leaves(v, leaves, &a)
					     : announce_leaves(v, leaves, &a)) {
		v->met = citron_index(h->node[0]);
		v->met_bits = mask_of(v, 0);
		if (citron_is_vacant(v, &a) && citron_confirm(v)) {
			h->taken = leaves;
			return true;
		}
	}
	h->got_at = 0;
	undo(v);
	return false;
}

bool citron_await_leaves(struct citron_view *v)
{
	int64_t word;
	struct citron_wait w = {
	    .index = v->met,
	    .patience = RMA_LATER,
	    .what = "its units to be free",
	};

	if (v->met < citron_nodes(v->height - 1))
		return citron_await_vacant(v, v->met);
	w.mask = w.stuck = v->met_bits;
	return citron_await(v, &w, &word);
}
