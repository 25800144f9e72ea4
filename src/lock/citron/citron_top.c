/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The root of Citron's tree, and how it moves (FAST'23, Section 3.9).
 *
 * The tree in use is a subtree of one that is in memory from the start (citron_words.h), so to grow
 * means to use a node further up as the root. No word moves, nothing is sent to a server, and no
 * counter has to be transferred:
 *   T1  have the turn at SPILL: no client has units behind the tree, and no other lets it grow
 *   T2  set SHUT in the root
 *   T3  flush
 *   T4  swap TOP; flush; clear MAX; flush; end the turn
 *
 * Clients keep the last TOP that they saw. A client that takes the old root for the root looks at
 * it anyway, after its announcements (A3) or its OCC (U4). It sees SHUT, takes everything back and
 * reads TOP. A client that gets the turn at SPILL reads TOP in it.
 *
 * Safety. Two clients that both know the new root, or both the old one, are as before. So are two
 * at nodes under the old root, because their announcements and looks are the same. In the remaining
 * case one client, U, is at the new nodes above the old root, and the other, L, took the old root
 * for the root and passed its look (so before T2 took effect, and before T4). L has announced
 * itself in one of the m depths from the old root on (citron_tree.c), or, in the fast path, at the
 * first level from there on; or it is at the old root and has OCC set there. U has read a TOP of
 * T4, so its reads come after T2. It waits until D1  BELOW of all nodes in the m depths from the
 * old root on, and all announcements of the first level from there on, and D2  OCC of the old root
 * have each been 0 once. If U has seen 0 in the word of L before L changed it, L's look, which is
 * later, sees SHUT. U does this for each old root under it, unless TOP says that a client has done
 * so since (SETTLED); if it is at the root, it records that itself.
 *
 * Deadlock: U waits here for a client that holds nodes under it, or is about to withdraw, as in
 * U4.
 *
 * Only the change of TOP is a swap that may fail: against a client that settles it, in which case
 * it is repeated, and against a recovery (citron_lease.c), which ends this copy, so that everything
 * starts again.
 */
#include "lock/citron/citron_fast.h"
#include "lock/citron/citron_lease.h"
#include "lock/citron/citron_slow.h"
#include "lock/citron/citron_top.h"

static int64_t *known(struct citron_hold *h, uint64_t space)
{
	return h->known[space % KNOWN_TOPS];
}

/* The first word of a space's part of an area at its home; stride bytes for each space from offset
 * first on. */
RMA_INLINE struct rma_word home_word(const struct citron_view *v, uint64_t first, uint64_t stride)
{
	return lock_home_word(v->s, v->c, v->s->domain, first, stride, v->slot->lock);
}

struct rma_word citron_top_word(const struct citron_view *v)
{
	return home_word(v, v->k->tops, TOP_BYTES);
}

/* The first word of a copy, which the slot keeps for its next call at the same copy. */
RMA_INLINE struct rma_word copy_start(const struct citron_view *v, int64_t copy)
{
	const struct citron *k = v->k;
	struct citron_hold *h = v->h;

	if (h->first_space == (int64_t)v->slot->lock + 1 && h->first_copy == copy)
		return h->first;
	h->first = copy ? home_word(v, k->spares + (uint64_t)(copy - 1) * k->stride, 0)
			: home_word(v, k->trees, k->stride);
	h->first_space = (int64_t)v->slot->lock + 1;
	h->first_copy = copy;
	return h->first;
}

/* Set the place of the copy, and of its root. */
static void apply(struct citron_view *v, int64_t top)
{
	const struct citron *k = v->k;
	int height = k->start + grown_of(top);

	v->top = top;
	v->root = copy_start(v, copy_of(top));
	v->depth = k->height - height;
	v->units = citron_units(height);
	v->shut = v->gone = false;
}

static void make(struct citron_view *v, const struct lock_setup *s, struct lock_slot *slot,
		 int64_t top)
{
	const struct citron *k = s->state;

	*v = (struct citron_view){
	    .s = s,
	    .k = k,
	    .slot = slot,
	    .c = &slot->client,
	    .h = lock_scratch(slot),
	    .height = k->height,
	    .m = (int)options_of(s)->m,
	    .grows = k->start<k->height, .leases = options_of(s)->lease_us> 0,
	};

	apply(v, top);
}

void citron_look(struct citron_view *v, const struct lock_setup *s, struct lock_slot *slot)
{
	const int64_t *at = known(lock_scratch(slot), slot->lock);

	make(v, s, slot, at[0] == (int64_t)slot->lock + 1 ? at[1] : 0);
}

void citron_look_back(struct citron_view *v, const struct lock_setup *s, struct lock_slot *slot)
{
	const struct citron_hold *h = lock_scratch(slot);

	make(v, s, slot, h->top);
}

void citron_adopt(struct citron_view *v, int64_t top)
{
	int64_t *at = known(v->h, v->slot->lock);

	at[0] = (int64_t)v->slot->lock + 1;
	at[1] = top;
	apply(v, top);
}

int64_t citron_read_top(struct citron_view *v)
{
	int64_t top;

	rma_get(v->c, citron_top_word(v), &top);
	rma_flush(v->c, v->root); /* orders the get before the look at its result */
	return top;
}

void citron_shut(struct citron_view *v)
{
	int64_t known_word, word;

	rma_get(v->c, root_word(v), &word);
	rma_flush(v->c, v->root); /* orders the get before the look at its result */
	while (!(word & SHUT)) {
		known_word = word;
		rma_cas(v->c, root_word(v), known_word, known_word | SHUT, &word);
		/* T3. Orders SHUT before the change of TOP, and before everything that is seen
		 * after it; pairs with the flushes between A1 and A3 and between U2 and U4. */
		rma_flush(v->c, v->root);
		if (word == known_word)
			return;
	}
}

int64_t citron_swap_top(struct citron_view *v, int64_t expected, int64_t top)
{
	struct rma_word w = citron_top_word(v);
	int64_t seen;

	rma_cas(v->c, w, expected, top, &seen);
	rma_flush(v->c, w); /* orders the swap before the look at its result */
	if (rma_is_mapped_cpu(w))
		rma_wake(v->c, w); /* pairs with citron_renew() */
	return seen;
}

/* T4, repeated if another client has settled the space, frozen it or opened it. */
static void swap_height(struct citron_view *v, int height)
{
	int64_t top = v->top, seen;

	for (;;) {
		seen = citron_swap_top(
		    v, top,
		    top_make(copy_of(top), era_of(top), height - v->k->start, settled_of(top)));
		if (seen == top || copy_of(seen) != copy_of(top))
			return;
		top = seen;
	}
}

void citron_raise(struct citron_view *v, int64_t units)
{
	int height = units > citron_units(v->height) ? v->height : citron_height(units);

	citron_shut(v);
	swap_height(v, height);
	rma_put(v->c, max_word(v), 0);
	/* Orders TOP and MAX before the end of the turn; pairs with the next client's turn and look
	 * at them. */
	rma_flush(v->c, v->root);
	v->shut = true;
}

bool citron_may_spill(struct citron_view *v, int64_t last)
{
	int64_t *got = v->h->got;

	citron_lease_begin(v);
	rma_get(v->c, citron_top_word(v), &got[0]);
	rma_get(v->c, root_word(v), &got[1]);
	rma_get(v->c, max_word(v), &got[2]);
	rma_flush(v->c, v->root); /* orders the gets before the looks at their results */
	if (FAULT(citron_spill))
		return true;
	if (grown_of(got[0]) != grown_of(v->top) || (v->leases && !citron_is_open(v, got[0])) ||
	    (got[1] & SHUT)) {
		v->shut = true;
		v->met = citron_index((struct citron_node){v->depth, 0});
		return false;
	}
	if (last >= citron_units(v->height) || v->depth == 0)
		return true;
	if (!options_of(v->s)->grow_by_call) {
		citron_raise(v, last + 1);
		return false;
	}
	if (last >= got[2]) {
		rma_put(v->c, max_word(v), last + 1);
		rma_flush(v->c, v->root); /* orders MAX before the end of the turn, as above */
	}
	return true;
}

void citron_settle(struct citron_view *v)
{
	int64_t *at = known(v->h, v->slot->lock), top = v->top, seen = top, next;

	/* Repeated if another client has frozen or opened the space. */
	do {
		top = seen;
		next = top_make(copy_of(top), era_of(top), grown_of(top), grown_of(top));
		seen = citron_swap_top(v, top, next);
	} while (seen != top && copy_of(seen) == copy_of(v->top) &&
		 grown_of(seen) == grown_of(v->top));
	if (seen == top) {
		at[0] = (int64_t)v->slot->lock + 1;
		at[1] = v->top = v->h->top = next;
	}
}
