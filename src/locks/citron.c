/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Citron: range locks in a segment tree, by one-sided operations alone. Gao, Lu, Xie, Wang, Shu,
 * "Citron: Distributed Range Lock Management with One-sided RDMA", FAST'23.
 *
 * A space's units are the leaves of a quaternary tree, 64 a leaf (citron.h; words:
 * citron_words.h). A range is covered by at most k nodes (citron_split.c). Whoever holds a node has
 * all units under it, but of a leaf only those whose bits it has set. All words of a space are at
 * its home, so a flush is one round trip. Units behind the tree are one node of their own, the
 * spill word.
 *
 * Two nodes are in conflict if they are one and the same, which is settled at that node (bits of a
 * leaf, tickets in the order of arrival at an inner one), or if one is above the other:
 *
 *   lower one                                    upper one
 *   A1 announce: add 1 to BELOW where they meet   U1 announce and look above, as a lower one
 *   A2 flush                                      U2 raise: set OCC
 *   A3 look at OCC of all nodes above             U3 flush
 *   A4 none: it may go on; else withdraw the       U4 look at BELOW in itself and the m - 1
 *      announcements, wait, and begin again          depths under it, until each was once 0
 *
 * Safety. If A2 comes before the look of U4 in the word where the two meet, U4 waits until the
 * lower one has withdrawn or released. Else U3, before U4, comes before A2, and so before A3, which
 * sees OCC. The paper looks first and announces afterwards, and closes the gap by time (T_wait);
 * here no clock is part of the argument, at the same number of round trips.
 *
 * The fast path is a try of leaves alone, if the range spans at most 4k of them, in two round
 * trips. First: A1 for all leaves, and a look at the leaves. Second: A3, and the bits are set by
 * compare-and-swap against what was seen. If anything is in the way all is undone, in one round
 * trip, and the client holds nothing while it waits. Release is one round trip: clear bits, end the
 * turns, take back the announcements, in any order, for each lets in others who then find the rest
 * or wait for it.
 *
 * The slow path waits while it holds, in an order that admits no cycle:
 *   S1  draw tickets of all inner nodes of the cover, each when it is the turn of the one before
 *   S2  for each node, ascending: A1 to A4, but A3 leaves out what is above a node that is held
 *       already; then leaves wait for their bits, inner nodes do U2 to U4
 * To leave these out is safe: whoever raised such a node waits for the announcement of the node
 * that is held, which stays until all are released. It is also needed: to wait there, as the paper
 * does, is a dead-lock with an upper one that waits for the node held (BREAK_CITRON_COMMON).
 *
 * No dead-lock. In S1 a client waits for clients with the same ticket, and holds tickets only, in
 * the order of nodes; nobody else waits for tickets. After S1: let s be the first unit of what a
 * client waits for: the occupied node in A4, its own node in U4 and at a leaf. All that it holds is
 * left of s. It waits for another that either holds something at s or right of it, so that the
 * other's s is larger; or stands at that node or below (s is not smaller), is past A4, and so waits
 * in U4, at a smaller node, or at a leaf. Nobody waits for who waits in A4, but for what it holds.
 * So s never falls along a cycle, and where it does not rise nodes get smaller: there is none.
 *
 * No starvation. Of those at one inner node the first comes first. An upper one waits in U4 only
 * for those who went past A3 before its OCC, and for each client that comes later at most once
 * more, until its A4. A lower one that has met OCC too often, or lost its bits to others, takes the
 * lowest node above its whole range instead, and if that is not let through the root, where nothing
 * is above and all have to queue. Except where the client has other ranges of the space: it might
 * meet itself. Then the cover is exact, whatever k says, as it always is if k is 0.
 *
 * Different from the paper: the order of announcing and looking (above); BELOW is a difference; OCC
 * is set after the look above; leaves of all nodes of a range are taken together; common nodes
 * above are left out; a client that is kept out escalates; no scale-up and no recovery: the units
 * behind the tree have one lock for all of them. Waiting is by rma_await() on the node that is in
 * the way.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "locks/citron_words.h"

#ifndef CITRON_PROTOCOL
#define CITRON_PROTOCOL lock_citron
#define CITRON_NAME "citron"
#endif
/* Broken variants for the tests: waiting at nodes above what is held; looking above before the
 * announcements are known to be there; not waiting for those below. */
#ifndef BREAK_CITRON_COMMON
#define BREAK_CITRON_COMMON false
#endif
#ifndef BREAK_CITRON_LOOK
#define BREAK_CITRON_LOOK false
#endif
#ifndef BREAK_CITRON_DRAIN
#define BREAK_CITRON_DRAIN false
#endif

enum {
	FEW_LEAVES = 8,  /* where k is 0 */
	FAST_TRIES = 3,  /* before the slow path */
	SWAP_TRIES = 8,  /* at a leaf that changes, but not in our bits */
	MOST_BLOCKS = 4, /* of a node in the slow path, before it escalates */
	MOST_SWAPS = 64  /* the same, of a leaf */
};
#define FOREVER UINT64_MAX

/* Where results lie in got[]: the leaves of a try, what their swaps found, and a look above. */
enum { GOT_SWAPPED = 4 * CITRON_MOST_SPLIT, GOT_ABOVE = 2 * GOT_SWAPPED };

/* Nodes above that were looked at. */
struct look {
	int64_t count;
	struct citron_node node[GETS - GOT_ABOVE];
};

/* What is in the way: these bits in the word of a node. */
struct obstacle {
	struct citron_node node;
	int64_t mask;
};

struct constants {
	uint64_t words, stride;
	int height;
};

static int layout(struct lock_space *s, char *err, size_t errlen)
{
	struct constants *k;
	int height = citron_height(s->params.units);

	if ((int64_t)s->topo->nranks * s->max_held >= MOST_CLIENTS) {
		snprintf(
		    err, errlen,
		    "option max_held: %d for each of %d ranks is too many for citron, which has"
		    " fewer than %lld clients",
		    s->max_held, s->topo->nranks, (long long)MOST_CLIENTS);
		return PAWL_ERR_OPTION;
	}
	k = malloc(sizeof *k);
	if (!k) {
		snprintf(err, errlen, "out of memory");
		return PAWL_ERR_NOMEM;
	}
	k->height = height;
	k->stride = ((uint64_t)citron_nodes(height) + 1 + 7) / 8 * 8 * sizeof(int64_t);
	k->words = lock_reserve(s, s->block, k->stride);
	s->state = k;
	return PAWL_SUCCESS;
}

static void describe(const struct lock_space *s, char *text, size_t len)
{
	const struct constants *k = s->state;

	snprintf(text, len, "units %lld, k %lld, m %lld", (long long)citron_units(k->height),
		 (long long)s->params.k, (long long)s->params.m);
}

static uint64_t scratch_words(const struct lock_space *s)
{
	(void)s;
	return sizeof(struct citron_hold) / sizeof(int64_t);
}

static struct citron_view view(const struct lock_space *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;
	struct citron_view v = {
	    .c = &slot->client,
	    .h = (struct citron_hold *)(void *)slot->scratch,
	    .root = lock_home_word(s, &slot->client, s->domain, k->words, k->stride, slot->lock),
	    .height = k->height,
	    .m = (int)s->params.m,
	};

	return v;
}

static bool is_leaf(const struct citron_view *v, int64_t i)
{
	return v->h->node[i].depth == v->height;
}

static int64_t mask_of(const struct citron_view *v, int64_t i, const struct lock_slot *slot)
{
	return citron_mask(v->h->node[i], slot->first, slot->last);
}

/* ------------------------------------------------------------------- announcements */

static bool is_announced(const struct citron_hold *h, int64_t index)
{
	for (int64_t i = 0; i < h->announced; i++)
		if (h->above[i] == index)
			return true;
	return false;
}

/* A1, without the flush. */
static void announce(struct citron_view *v, struct citron_node n)
{
	struct citron_hold *h = v->h;
	int64_t depth[CITRON_MOST_HEIGHT];
	int count = citron_notified(n.depth, v->m, depth);

	for (int i = 0; i < count; i++) {
		int64_t index = citron_index(citron_above(n, depth[i]));

		if (is_announced(h, index))
			continue;
		rma_acc(v->c, word_at(v, index), BELOW_ONE);
		h->above[h->announced++] = index;
	}
}

/* All announcements but the first so many. No flush. */
static void withdraw(struct citron_view *v, int64_t keep)
{
	struct citron_hold *h = v->h;

	while (h->announced > keep)
		rma_acc(v->c, word_at(v, h->above[--h->announced]), -BELOW_ONE);
}

/* The nodes above n but for those that are above `held` too (NULL: all), added to the
 * look; their words come to got[GOT_ABOVE...]. No flush. */
static void look_above(struct citron_view *v, struct look *l, struct citron_node n,
		       const struct citron_node *held)
{
	for (int64_t depth = n.depth - 1; depth >= 0; depth--) {
		struct citron_node a = citron_above(n, depth);

		if (held && citron_is_under(*held, a))
			break;
		rma_get(v->c, node_word(v, a), &v->h->got[GOT_ABOVE + l->count]);
		l->node[l->count++] = a;
	}
}

/* A3: whether one of the nodes looked at is occupied. */
static bool is_occupied(const struct citron_view *v, const struct look *l, struct obstacle *o)
{
	for (int64_t i = 0; i < l->count; i++)
		if (v->h->got[GOT_ABOVE + i] & OCC) {
			*o = (struct obstacle){l->node[i], OCC};
			return true;
		}
	return false;
}

static void await_gone(struct citron_view *v, const struct obstacle *o)
{
	rma_await(v->c, node_word(v, o->node), o->mask, RMA_EQ, 0, RMA_LATER,
		  "its units to be free");
}

/* ------------------------------------------------------------------------- release */

/* Everything that is held, and all tickets; one round trip. */
static void release_all(struct citron_view *v, const struct lock_slot *slot)
{
	struct citron_hold *h = v->h;

	for (int64_t i = 0; i < h->nodes; i++) {
		struct rma_word w = node_word(v, h->node[i]);

		if (is_leaf(v, i) && i < h->taken)
			rma_acc(v->c, w, -mask_of(v, i, slot));
		else if (!is_leaf(v, i) && i < h->turns)
			rma_acc(v->c, w, end_of_turn(h->ticket[i]) - (i < h->taken ? OCC : 0));
	}
	if (h->spill)
		rma_acc(v->c, spill_word(v), end_of_turn(h->spill_ticket));
	withdraw(v, 0);
	/* Orders the release before our return, and the announcements that are taken back before
	 * the next ones; pairs with U4 and the waits for OCC, bits and turns. */
	rma_flush(v->c, v->root);
	h->nodes = h->taken = h->turns = h->spill = 0;
}

/* ----------------------------------------------------------------------- fast path */

/* The leaves of a range, if they are few; 0 if not. */
static int64_t few_leaves(const struct lock_space *s, const struct citron_view *v,
			  const struct lock_slot *slot)
{
	int64_t first = slot->first >> CITRON_LEAF_BITS, last = slot->last >> CITRON_LEAF_BITS;
	int64_t most = s->params.k ? 4 * s->params.k : FEW_LEAVES;

	if (slot->last >= citron_units(v->height) || last - first >= most)
		return 0;
	return last - first + 1;
}

/* Those of n leaves that have not got their bits yet and can get them: one more swap. False if none
 * is left to swap, or one has bits of others. The leaves as known are in got[], the results of the
 * swaps come to got[GOT_SWAPPED...]. No flush. */
static bool swap_bits(struct citron_view *v, const struct lock_slot *slot, uint64_t won,
		      struct obstacle *o)
{
	struct citron_hold *h = v->h;
	bool any = false;

	for (int64_t i = 0; i < h->nodes; i++)
		if (!(won >> i & 1) && (h->got[i] & mask_of(v, i, slot))) {
			*o = (struct obstacle){h->node[i], mask_of(v, i, slot)};
			return false;
		}
	for (int64_t i = 0; i < h->nodes; i++)
		if (!(won >> i & 1)) {
			rma_cas(v->c, node_word(v, h->node[i]), h->got[i],
				h->got[i] | mask_of(v, i, slot), &h->got[GOT_SWAPPED + i]);
			any = true;
		}
	return any;
}

/* After the flush: which leaves have their bits, and what is in the others. */
static uint64_t won_bits(struct citron_view *v, uint64_t won)
{
	struct citron_hold *h = v->h;

	for (int64_t i = 0; i < h->nodes; i++) {
		if (won >> i & 1)
			continue;
		if (h->got[GOT_SWAPPED + i] == h->got[i])
			won |= UINT64_C(1) << i;
		h->got[i] = h->got[GOT_SWAPPED + i];
	}
	return won;
}

static void undo(struct citron_view *v, const struct lock_slot *slot, uint64_t won)
{
	struct citron_hold *h = v->h;

	for (int64_t i = 0; i < h->nodes; i++)
		if (won >> i & 1)
			rma_acc(v->c, node_word(v, h->node[i]), -mask_of(v, i, slot));
	withdraw(v, 0);
	/* Orders the announcements that are taken back before the next ones, and the bits before
	 * our waiting; pairs with U4 and with those who wait for the bits. */
	rma_flush(v->c, v->root);
	h->nodes = 0;
}

static void look_above_leaves(struct citron_view *v, struct look *l)
{
	for (int64_t i = 0; i < v->h->nodes; i++)
		look_above(v, l, v->h->node[i], i ? &v->h->node[i - 1] : NULL);
}

/* First round trip of a try of n leaves; the look above is on its way afterwards. */
static void announce_leaves(struct citron_view *v, const struct lock_slot *slot, int64_t n,
			    struct look *l)
{
	struct citron_hold *h = v->h;

	h->nodes = n;
	for (int64_t i = 0; i < n; i++) {
		h->node[i] = (struct citron_node){v->height, (slot->first >> CITRON_LEAF_BITS) + i};
		announce(v, h->node[i]);
		rma_get(v->c, node_word(v, h->node[i]), &h->got[i]);
	}
	if (BREAK_CITRON_LOOK)
		look_above_leaves(v, l);
	/* Orders the announcements before the look above, A1 before A3; pairs with the flush
	 * between U2 and U4. */
	rma_flush(v->c, v->root);
	if (!BREAK_CITRON_LOOK)
		look_above_leaves(v, l);
}

/* All or nothing; what is in the way if nothing. */
static bool try_leaves(struct citron_view *v, const struct lock_slot *slot, int64_t n,
		       struct obstacle *o)
{
	struct citron_hold *h = v->h;
	struct look l = {.count = 0};
	uint64_t won = 0, all = UINT64_MAX >> (64 - n);

	announce_leaves(v, slot, n, &l);
	for (int try = 0; try < SWAP_TRIES && swap_bits(v, slot, won, o); try++) {
		/* Orders the swaps and the look before what we make of them. */
		rma_flush(v->c, v->root);
		won = won_bits(v, won);
		if (is_occupied(v, &l, o))
			break;
		if (won == all) {
			h->taken = n;
			return true;
		}
		*o = (struct obstacle){h->node[0], 0};
	}
	undo(v, slot, won);
	return false;
}

/* ----------------------------------------------------------------------- slow path */

/* Draw a ticket, and wait for its turn; or, if it is only a try, draw one if it is its turn. */
static bool take_turn(struct citron_view *v, struct rma_word w, bool wait, int64_t *ticket)
{
	int64_t *got = v->h->got, known;

	if (wait) {
		rma_fao(v->c, w, RMA_SUM, NEXT_ONE, got);
		rma_flush(v->c, w); /* orders the ticket before the look at it */
		*ticket = next_of(*got);
		if (done_of(*got) != *ticket)
			rma_await(v->c, w, DONE_MASK, RMA_EQ, *ticket << DONE_SHIFT, RMA_SOON,
				  "its turn at a node");
		return true;
	}
	rma_get(v->c, w, got);
	rma_flush(v->c, w); /* orders the get before the look at it */
	for (int try = 0; try < SWAP_TRIES && done_of(*got) == next_of(*got); try++) {
		known = *got;
		rma_cas(v->c, w, known, (int64_t)((uint64_t)known + (uint64_t)NEXT_ONE), got);
		rma_flush(v->c, w); /* orders the swap before the look at its result */
		*ticket = next_of(known);
		if (*got == known)
			return true;
	}
	return false;
}

/* S1. False: a try met others. */
static bool take_turns(struct citron_view *v, const struct lock_slot *slot, bool wait)
{
	struct citron_hold *h = v->h;

	for (; h->turns < h->nodes; h->turns++)
		if (!is_leaf(v, h->turns) &&
		    !take_turn(v, node_word(v, h->node[h->turns]), wait, &h->ticket[h->turns]))
			return false;
	if (slot->last < citron_units(v->height))
		return true;
	h->spill = take_turn(v, spill_word(v), wait, &h->spill_ticket);
	return h->spill;
}

/* A1 to A4 for node i, again until nothing above is in the way, but so many times at the most. Gets
 * the node's word, too. */
static bool pass_above(struct citron_view *v, struct lock_slot *slot, int64_t i, uint64_t most)
{
	struct citron_hold *h = v->h;
	const struct citron_node *held = i && !BREAK_CITRON_COMMON ? &h->node[i - 1] : NULL;

	for (uint64_t blocks = 1;; blocks++) {
		int64_t before = h->announced;
		struct look l = {.count = 0};
		struct obstacle o;

		announce(v, h->node[i]);
		/* Orders the announcements before the look above, A1 before A3; pairs with
		 * the flush between U2 and U4. */
		rma_flush(v->c, v->root);
		look_above(v, &l, h->node[i], held);
		rma_get(v->c, node_word(v, h->node[i]), h->got);
		rma_flush(v->c, v->root); /* orders the look before what we make of it */
		if (!is_occupied(v, &l, &o))
			return true;
		withdraw(v, before);
		/* Orders the announcements that are taken back before the next ones; pairs with
		 * U4. */
		rma_flush(v->c, v->root);
		slot->aborts++;
		if (blocks >= most)
			return false;
		await_gone(v, &o);
	}
}

/* The bits of leaf i, whose word is in got[0]. */
static bool take_bits(struct citron_view *v, struct lock_slot *slot, int64_t i, uint64_t most,
		      bool wait)
{
	struct citron_hold *h = v->h;
	struct rma_word w = node_word(v, h->node[i]);
	int64_t mask = mask_of(v, i, slot), known = h->got[0];

	for (uint64_t swaps = 1;; swaps++) {
		if ((known & mask) && !wait)
			return false;
		if (known & mask)
			known =
			    rma_await(v->c, w, mask, RMA_EQ, 0, RMA_LATER, "its units to be free");
		rma_cas(v->c, w, known, known | mask, h->got);
		rma_flush(v->c, w); /* orders the swap before the look at its result */
		if (h->got[0] == known)
			return true;
		known = h->got[0];
		if (swaps >= most)
			return false;
	}
}

/* U4 for some words that lie side by side; if it is only a try, false at once. */
static bool drain_words(struct citron_view *v, int64_t index, int64_t count, bool wait)
{
	int64_t *got = v->h->got;

	for (int64_t i = 0; i < count; i++)
		rma_get(v->c, word_at(v, index + i), &got[i]);
	rma_flush(v->c, v->root); /* orders the gets before the look at them */
	for (int64_t i = 0; i < count; i++) {
		if (!(got[i] & BELOW_MASK))
			continue;
		if (!wait)
			return false;
		rma_await(v->c, word_at(v, index + i), BELOW_MASK, RMA_EQ, 0, RMA_LATER,
			  "those with units below to be done");
	}
	return true;
}

/* U4: each word where somebody below may have announced itself has to be seen without
 * announcements once, since OCC was set. */
static bool drain(struct citron_view *v, struct citron_node n, bool wait)
{
	for (int64_t depth = 0; depth < v->m && n.depth + depth < v->height; depth++) {
		struct citron_node d = {n.depth + depth, n.at << 2 * depth};
		int64_t left = INT64_C(1) << 2 * depth, index = citron_index(d);

		for (int64_t some; left; left -= some, index += some) {
			some = left < GETS ? left : GETS;
			if (!drain_words(v, index, some, wait))
				return false;
		}
	}
	return true;
}

/* S2 for node i. */
static bool take_node(struct citron_view *v, struct lock_slot *slot, int64_t i, uint64_t most,
		      bool wait)
{
	struct citron_hold *h = v->h;
	struct rma_word raised = node_word(v, h->node[i]);

	if (!pass_above(v, slot, i, most))
		return false;
	if (is_leaf(v, i)) {
		if (!take_bits(v, slot, i, most == FOREVER ? most : MOST_SWAPS, wait))
			return false;
		h->taken++;
		return true;
	}
	rma_acc(v->c, raised, OCC);
	h->taken++;
	/* Orders OCC before the look below, U2 before U4; pairs with the flush between A1 and A3.
	 */
	rma_flush(v->c, raised);
	return BREAK_CITRON_DRAIN || drain(v, h->node[i], wait);
}

/* The cover in h, wholly or not at all. Who waits may meet OCC `most` times at a node. */
static bool take_cover(struct citron_view *v, struct lock_slot *slot, uint64_t most, bool wait)
{
	struct citron_hold *h = v->h;
	bool good = take_turns(v, slot, wait);

	while (good && h->taken < h->nodes)
		good = take_node(v, slot, h->taken, most, wait);
	if (!good)
		release_all(v, slot);
	return good;
}

/* ------------------------------------------------------------------------- acquire */

enum cover { BY_SPLIT, EXACT, ONE_NODE, ROOT, COVERS };

/* The cover of what lies in the tree. */
static void choose_cover(const struct lock_space *s, struct citron_view *v,
			 const struct lock_slot *slot, enum cover how)
{
	struct citron_hold *h = v->h;
	int64_t units = citron_units(v->height), last = slot->last < units ? slot->last : units - 1;

	h->nodes = slot->first < units;
	if (!h->nodes)
		return;
	if (how == BY_SPLIT || how == EXACT) {
		h->nodes = citron_split(v->height, slot->first, last,
					how == EXACT ? CITRON_NODES : (int)s->params.k, h->node);
		return;
	}
	h->node[0] = citron_cover(v->height, slot->first, last);
	if (is_leaf(v, 0))
		h->node[0] = citron_above(h->node[0], v->height - 1);
	if (how == ROOT)
		h->node[0] = (struct citron_node){0, 0};
}

/* Who has other ranges of the space must not take more than it asks for: it might meet itself. */
static enum cover first_cover(const struct lock_space *s, const struct lock_slot *slot)
{
	return slot->others || s->params.k == 0 ? EXACT : BY_SPLIT;
}

static void begin(struct citron_view *v)
{
	struct citron_hold *h = v->h;

	h->nodes = h->turns = h->taken = h->announced = h->spill = 0;
}

static int acquire_now(const struct lock_space *s, struct lock_slot *slot)
{
	struct citron_view v = view(s, slot);
	int64_t leaves = few_leaves(s, &v, slot);
	struct obstacle o;

	begin(&v);
	for (int try = 0; leaves && try < FAST_TRIES; try++) {
		if (try_leaves(&v, slot, leaves, &o))
			return PAWL_SUCCESS;
		slot->aborts++;
		await_gone(&v, &o);
	}
	for (enum cover how = first_cover(s, slot);; how = how == BY_SPLIT ? ONE_NODE : ROOT) {
		choose_cover(s, &v, slot, how);
		if (take_cover(&v, slot, how == EXACT || how == ROOT ? FOREVER : MOST_BLOCKS, true))
			return PAWL_SUCCESS;
	}
}

static int try_acquire(const struct lock_space *s, struct lock_slot *slot)
{
	struct citron_view v = view(s, slot);
	int64_t leaves = few_leaves(s, &v, slot);
	struct obstacle o;
	bool good;

	begin(&v);
	if (leaves) {
		good = try_leaves(&v, slot, leaves, &o);
	} else {
		choose_cover(s, &v, slot, first_cover(s, slot));
		good = take_cover(&v, slot, 1, false);
	}
	return good ? PAWL_SUCCESS : PAWL_ERR_BUSY;
}

static int acquire_in_time(const struct lock_space *s, struct lock_slot *slot)
{
	struct rma_pause p = {.deadline_ns = slot->deadline_ns};

	while (try_acquire(s, slot) != PAWL_SUCCESS)
		if (!rma_pause(&slot->client, &p, "its units to be free"))
			return PAWL_ERR_TIMEOUT;
	return PAWL_SUCCESS;
}

static int acquire(const struct lock_space *s, struct lock_slot *slot)
{
	return slot->deadline_ns ? acquire_in_time(s, slot) : acquire_now(s, slot);
}

static int release(const struct lock_space *s, struct lock_slot *slot)
{
	struct citron_view v = view(s, slot);

	release_all(&v, slot);
	return PAWL_SUCCESS;
}

static bool keeps_out(const struct lock_space *s, const struct lock_slot *slot, int64_t first,
		      int64_t last)
{
	const struct constants *k = s->state;
	const struct citron_hold *h = (const struct citron_hold *)(const void *)slot->scratch;

	for (int64_t i = 0; i < h->nodes; i++) {
		bool leaf = h->node[i].depth == k->height;
		int64_t a = leaf ? slot->first : citron_first(k->height, h->node[i]);
		int64_t b = leaf ? slot->last : citron_last(k->height, h->node[i]);

		if (a <= last && first <= b)
			return true;
	}
	return h->spill && last >= citron_units(k->height);
}

/* ------------------------------------------------------------------- the simulator */

static int64_t *first_word(const struct lock_space *s, uint64_t space, const struct lock_memory *m)
{
	const struct constants *k = s->state;

	return lock_memory_home(s, m, k->words, k->stride, space);
}

static bool idle(const struct lock_space *s, uint64_t space, const struct lock_memory *m, char *err,
		 size_t errlen)
{
	const struct constants *k = s->state;
	int64_t *words = first_word(s, space, m), nodes = citron_nodes(k->height);
	int64_t inner = citron_nodes(k->height - 1);

	for (int64_t i = 0; i <= nodes; i++) {
		bool leaf = i >= inner && i < nodes;

		if (leaf ? words[i] == 0
			 : next_of(words[i]) == done_of(words[i]) &&
			       !(words[i] & (OCC | BELOW_MASK)))
			continue;
		snprintf(err, errlen, "node %lld, %s, is 0x%llx", (long long)i,
			 leaf ? "a leaf" : "an inner one", (unsigned long long)words[i]);
		return false;
	}
	return true;
}

static void age(const struct lock_space *s, uint64_t space, const struct lock_memory *m)
{
	const struct constants *k = s->state;
	int64_t *words = first_word(s, space, m), nodes = citron_nodes(k->height);

	for (int64_t i = 0; i < citron_nodes(k->height - 1); i++)
		words[i] = (int64_t)((uint64_t)TICKET_MASK << NEXT_SHIFT) | DONE_MASK;
	words[nodes] = words[0];
}

const struct lock_protocol CITRON_PROTOCOL = {
    .kind =
	{
	    .name = CITRON_NAME,
	    .summary = "ranges: a segment tree of bitmaps and tickets, by one-sided operations",
	    .reference = "Citron (FAST'23), sections 3.3 to 3.8",
	    .options = "units k m",
	    .capabilities = PAWL_CAP_RANGES | PAWL_CAP_TRY | PAWL_CAP_TIMED | PAWL_CAP_FAIR,
	},
    .layout = layout,
    .describe = describe,
    .scratch_words = scratch_words,
    .acquire = acquire,
    .try_acquire = try_acquire,
    .release = release,
    .keeps_out = keeps_out,
    .idle = idle,
    .age = age,
};
