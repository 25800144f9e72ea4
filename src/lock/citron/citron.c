/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Citron: range locks in a segment tree, by one-sided operations only. Gao, Lu, Xie, Wang, Shu,
 * "Citron: Distributed Range Lock Management with One-sided RDMA", FAST'23.
 *
 * A space's units are the leaves of a quaternary tree, 64 to a leaf (citron.h; words:
 * citron_words.h). A range is covered by at most k nodes (citron_split.c). A client that holds a
 * node has all units under it, except that in a leaf it has only those whose bits it has set. All
 * words of a space are at its home, so a flush is one round trip. The units behind the tree are a
 * node of their own, SPILL. citron_top.c describes how the tree grows, citron_lease.c what happens
 * when clients fail, citron_queue.c how clients queue that want the same units. Uncontended, a
 * range of up to 64 units takes one round trip to acquire where the transport keeps the order of
 * operations (rma_order()), two elsewhere, and one to release.
 *
 * Two nodes conflict if they are the same, which is settled at that node (bits of a leaf; at an
 * inner node, tickets in the order of arrival), or if one is above the other:
 *
 *   lower node                                   upper node
 *   A1 announce: add 1 to BELOW where they meet   U1 announce and look above, as a lower node
 *   A2 flush                                      U2 raise: add 1 to RAISED, set OCC
 *   A3 look at RAISED; unless it is 0, look       U3 flush
 *      at OCC of all nodes above
 *   A4 none is set: proceed; else withdraw the    U4 look at BELOW in the node and in the m - 1
 *      announcements, wait, and start again          depths under it, until each was 0 once
 *
 * Safety. If A2 comes before the look of U4 in the word where the two meet, U4 waits until the
 * lower client has withdrawn or released. Otherwise U3, which is before U4, comes before A2, and so
 * before A3, which sees RAISED and OCC. RAISED, one word for a tree, saves the look at one word for
 * each depth while only leaves are held; a client that has seen it differ from 0 asks for both at
 * once the next time. In the paper clients look first and announce afterwards, and close the gap by
 * time (T_wait). Here no clock is part of the argument, with the same number of round trips.
 *
 * Clients of the fast path do not use BELOW. They announce themselves by levels of the tree: depth
 * h is level 0, depth h - (m + 1) level 1, h - 2 (m + 1) level 2, and so on, in a tree of height h.
 *   F1  set the bits of the range (L1), the announcement at level 0; at each level above, up
 *       to the root, add 1 to a word of the node there; a node has STRIPES such words, and a client
 *       uses that of its number
 *   F2  order
 *   F3  look, as in A3; if a node above is set, clear the bits, withdraw, wait, and start again
 * In U4 an upper client looks, besides, at the first level from its own depth on: at level 0 at the
 * bits of the leaves under it, of which there are at most 4^m, until each bit was clear once; at
 * another level at all stripes of the nodes under it, until each was 0 once. A client of the fast
 * path under it has announced itself there, and the two are as A1 and U4: if F1 comes before the
 * look of U4, the upper client waits until the bit or the announcement is gone; otherwise U3 comes
 * before F1, and so before F3. Bits cost no operation of their own, and stripes keep clients from
 * each other's words: a NIC performs atomics on one word one after the other, and the paper's
 * counters at depth m - 1 are changed by all clients of a part of the tree.
 *
 * citron_fast.c: the bits of leaves, L1 to L3, and the try by leaves only, F1 to F4. citron_slow.c:
 * waits, S1 and S2, why there is no deadlock and no starvation, and posted releases.
 *
 * Different from the paper: the order of announcing and looking (above); RAISED; BELOW is a
 * difference; OCC is set after the look above; bits are set by fetch-or, before the look above, and
 * announce their client; stripes; queues in front of the fast path; leaves of all nodes of a range
 * are taken together; common nodes above are left out; a client that is kept out escalates; the
 * lock of the units behind the tree has writers only, and uses tickets instead of DSLR; growth
 * moves no words and counters, and the client that needs it does it at once, unless it is left to a
 * call; recovery starts the space anew. Clients wait by rma_await() on the word that is in the way.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lock/citron/citron_fast.h"
#include "lock/citron/citron_lease.h"
#include "lock/citron/citron_queue.h"
#include "lock/citron/citron_slow.h"
#include "lock/citron/citron_top.h"

enum {
	FAST_TRIES = 16, /* before the slow path */
	NEAR_TRIES = 8,  /* before the queue, on one node */
	MOST_BLOCKS = 4  /* of a node in the slow path, before it escalates */
};

/* -------------------------------------------------------------------------- layout */

static int refuse(char *err, size_t errlen, const struct lock_setup *s)
{
	const struct citron_options *p = options_of(s);

	if (p->units_most && p->units_most < p->units) {
		snprintf(err, errlen, "option units_most: %lld is less than units, %lld",
			 (long long)p->units_most, (long long)p->units);
		return PAWL_ERR_OPTION;
	}
	if ((int64_t)lock_all_slots(s) >= MOST_CLIENTS) {
		snprintf(
		    err, errlen,
		    "option max_held: %d for each of %d ranks is too many for citron, which has"
		    " fewer than %lld clients",
		    s->max_held, s->topo->nranks, (long long)MOST_CLIENTS);
		return PAWL_ERR_OPTION;
	}
	return PAWL_SUCCESS;
}

static int64_t whole_lines(int64_t words)
{
	return (words + LINE_WORDS - 1) / LINE_WORDS * LINE_WORDS;
}

/* The places of the stripes. Returns the number of words of a copy. */
static int64_t place_levels(struct citron *k, int span)
{
	int64_t words = whole_lines(citron_nodes(k->height) + 4);

	k->span = span;
	k->first_leaf = citron_nodes(k->height - 1);
	for (int depth = k->height - span; depth >= 0; depth -= span) {
		k->level[k->levels].first = words;
		k->level[k->levels].nodes = whole_lines(INT64_C(1) << 2 * depth);
		words += STRIPES * k->level[k->levels++].nodes;
	}
	k->queues = words;
	return words + QUEUES;
}

static int layout(struct lock_setup *s, char *err, size_t errlen)
{
	const struct citron_options *p = options_of(s);
	struct citron *k = s->state;
	int rc = refuse(err, errlen, s);

	if (rc != PAWL_SUCCESS)
		return rc;
	k->start = citron_height(p->units);
	k->height = p->units_most ? citron_height(p->units_most) : k->start;
	k->stride = (uint64_t)place_levels(k, (int)p->m + 1) * sizeof(int64_t);
	k->n_spares = p->lease_us ? p->recoveries : 0;
	k->tops = lock_reserve(s, s->block, TOP_BYTES);
	k->trees = lock_reserve(s, s->block, k->stride);
	k->spares = lock_reserve(s, (uint64_t)k->n_spares, k->stride);
	k->owners = lock_reserve(s, (uint64_t)k->n_spares, sizeof(int64_t));
	return PAWL_SUCCESS;
}

static void describe(const struct lock_setup *s, char *text, size_t len)
{
	const struct citron *k = s->state;
	const struct citron_options *p = options_of(s);
	size_t used = (size_t)snprintf(text, len, "units %lld", (long long)citron_units(k->start));

	if (k->height > k->start)
		used += (size_t)snprintf(text + used, len - used, ", growing by %s to %lld",
					 p->grow_by_call ? "call" : "itself",
					 (long long)citron_units(k->height));
	used += (size_t)snprintf(text + used, len - used, ", k %lld, m %lld", (long long)p->k,
				 (long long)p->m);
	if (p->lease_us)
		snprintf(text + used, len - used, ", lease %lld us", (long long)p->lease_us);
}

static uint64_t scratch_words(const struct lock_setup *s)
{
	(void)s;
	return sizeof(struct citron_hold) / sizeof(int64_t);
}

/* --------------------------------------------------------------------------- cover */

enum cover { BY_SPLIT, EXACT, ONE_NODE, ROOT };

/* The cover of the part of the range that is in the tree. */
static void choose_cover(struct citron_view *v, enum cover how)
{
	struct citron_hold *h = v->h;
	int64_t first = v->slot->first, last = v->slot->last;

	last = last < v->units ? last : v->units - 1;
	h->nodes = first < v->units;
	if (!h->nodes)
		return;
	if (how == BY_SPLIT || how == EXACT) {
		h->nodes =
		    citron_split(v->height, first, last,
				 how == EXACT ? CITRON_NODES : (int)options_of(v->s)->k, h->node);
		return;
	}
	h->node[0] = citron_cover(v->height, first, last);
	if (is_leaf(v, h->node[0]))
		h->node[0] = citron_above(h->node[0], v->height - 1);
	if (how == ROOT)
		h->node[0] = (struct citron_node){v->depth, 0};
}

/* A client that has other ranges of the space must not take more units than it asks for: it might
 * meet itself. */
static enum cover first_cover(const struct citron_view *v)
{
	return v->slot->others || options_of(v->s)->k == 0 ? EXACT : BY_SPLIT;
}

/* ------------------------------------------------------------------------- acquire */

static void begin(struct citron_view *v, const struct lock_setup *s, struct lock_slot *slot)
{
	struct citron_hold *h = lock_scratch(slot);

	citron_look(v, s, slot);
	h->nodes = h->turns = h->taken = h->announced = h->spill = h->queue = 0;
	h->got_at = 0;
}

/* Whether the client may queue. One whose cover has to be exact does not: it would wait for clients
 * that do not want its units. On one node the client whose turn it is may have no core, while the
 * units of the next one are free; so a client first waits for its units alone. */
static bool may_queue(const struct citron_view *v, int tries)
{
	return first_cover(v) == BY_SPLIT && !v->h->queue &&
	       (tries > NEAR_TRIES || !rma_is_cpu(v->root));
}

static bool wait_for_leaves(struct citron_view *v, int tries)
{
	if (may_queue(v, tries) && citron_met_leaf(v))
		return citron_enter_queue(v);
	return citron_await_leaves(v);
}

/* The fast path, several times. False: it came to nothing; *again says whether the client has to
 * start with the root. */
static bool acquire_leaves(struct citron_view *v, int64_t leaves, bool *again)
{
	*again = may_queue(v, 0) && citron_expects_queue(v) && !citron_enter_queue(v);
	for (int tries = 1; !*again && tries <= FAST_TRIES; tries++) {
		if (citron_try_leaves(v, leaves))
			return true;
		v->slot->aborts++;
		*again = v->shut || !wait_for_leaves(v, tries);
	}
	return false;
}

/* The slow path, by one cover after the other. False: the client has to start with the root. */
static bool acquire_cover(struct citron_view *v)
{
	for (enum cover how = first_cover(v);; how = how == BY_SPLIT ? ONE_NODE : ROOT) {
		choose_cover(v, how);
		if (citron_take_cover(v, how == EXACT || how == ROOT ? FOREVER : MOST_BLOCKS, true))
			return true;
		if (v->shut || v->error)
			return false;
	}
}

/* Acquire with the known root. False: it is not the root any more, and everything has been given
 * back. */
static bool acquire_under_root(struct citron_view *v)
{
	int64_t leaves = citron_few_leaves(v);
	bool again = false, good = leaves && acquire_leaves(v, leaves, &again);

	good = good || (!again && acquire_cover(v));
	citron_leave_queue(v);
	return good;
}

static int acquire_now(const struct lock_setup *s, struct lock_slot *slot)
{
	struct citron_view v;

	begin(&v, s, slot);
	while (!acquire_under_root(&v)) {
		int rc = v.error ? v.error : citron_renew(&v);

		if (rc != PAWL_SUCCESS)
			return rc;
	}
	return v.told;
}

/* One try, with the known root. */
static bool try_under_root(struct citron_view *v)
{
	int64_t leaves = citron_few_leaves(v);

	if (leaves)
		return citron_try_leaves(v, leaves);
	choose_cover(v, first_cover(v));
	return citron_take_cover(v, 1, false);
}

/* If the root has moved, try once more. While the space is frozen a try does not touch it, so that
 * clients that wait for a word to become free do not see one try after another there. */
static bool try_now(struct citron_view *v)
{
	int64_t top;

	while (is_frozen(v->top) || !try_under_root(v)) {
		if (!v->shut && !is_frozen(v->top))
			return false;
		top = citron_read_top(v);
		if (top == v->top)
			return false;
		citron_adopt(v, top);
	}
	return true;
}

static int try_acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	struct citron_view v;

	begin(&v, s, slot);
	return try_now(&v) ? v.told : PAWL_ERR_BUSY;
}

static int acquire_in_time(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_pause p = {.deadline_ns = slot->deadline_ns};
	struct citron_watch watch = {.since = 0};
	struct citron_view v;

	begin(&v, s, slot);
	while (!try_now(&v)) {
		v.shut = false;
		citron_watch(&v, &watch);
		if (v.error)
			return v.error;
		if (v.gone)
			citron_adopt(&v, citron_read_top(&v));
		else if (!rma_pause(&slot->client, &p, "its units to be free"))
			return PAWL_ERR_TIMEOUT;
	}
	return v.told;
}

static int acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	return slot->deadline_ns ? acquire_in_time(s, slot) : acquire_now(s, slot);
}

static int release(const struct lock_setup *s, struct lock_slot *slot)
{
	struct citron_view v;

	citron_look_back(&v, s, slot);
	if (!v.leases)
		return citron_release_all(&v, true);
	citron_lease_look(&v);
	citron_release_all(&v, false);
	return citron_lease_end(&v);
}

static bool keeps_out(const struct lock_setup *s, const struct lock_slot *slot, int64_t first,
		      int64_t last)
{
	const struct citron *k = s->state;
	const struct citron_hold *h = lock_scratch(slot);

	for (int64_t i = 0; i < h->nodes; i++) {
		bool leaf = h->node[i].depth == k->height;
		int64_t a = leaf ? slot->first : citron_first(k->height, h->node[i]);
		int64_t b = leaf ? slot->last : citron_last(k->height, h->node[i]);

		if (a <= last && first <= b)
			return true;
	}
	return h->spill && last >= citron_units(k->start + grown_of(h->top));
}

/* TOP has no copy twice, and its era grows when the copy changes. */
static struct lock_life life(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct citron_hold *h = lock_scratch(slot);

	(void)s;
	return (struct lock_life){copy_of(h->top), era_of(h->top)};
}

/* Other clients write no words of a slot, so it may be used again at once. */
static bool abandon(const struct lock_setup *s, struct lock_slot *slot)
{
	(void)s;
	(void)slot;
	return true;
}

/* ------------------------------------------------------------------ growing by call */

/* What MAX asks for, and a turn at SPILL to provide it. */
static int grow(const struct lock_setup *s, struct lock_slot *slot, int64_t *units)
{
	struct citron_view v;
	int64_t most, top;
	int rc = PAWL_SUCCESS;

	begin(&v, s, slot);
	for (;;) {
		top = citron_read_top(&v);
		if (top != v.top)
			citron_adopt(&v, top);
		rma_get(v.c, max_word(&v), &most);
		rma_flush(v.c, v.root); /* orders the get before the look at its result */
		*units = v.units;
		if (most <= v.units || v.depth == 0 || rc != PAWL_SUCCESS)
			return rc;
		v.h->spill = citron_take_turn(&v, spill_index(&v), true, &v.h->spill_ticket);
		/* During the turn the root changes only by a recovery; look once more. */
		if (v.h->spill && citron_read_top(&v) == v.top)
			citron_raise(&v, most);
		citron_release_all(&v, false);
		rc = v.error;
	}
}

/* Called at the home, while no client has anything of the space. */
static void shrink(const struct lock_setup *s, struct lock_slot *slot, int64_t units)
{
	struct citron_view v;
	int height = citron_height(units);
	int64_t word, top;

	begin(&v, s, slot);
	top = citron_read_top(&v);
	citron_adopt(&v, top);
	if (height < v.k->start)
		height = v.k->start;
	if (v.height - v.depth <= height)
		return;
	for (int64_t depth = v.depth; depth <= v.height - height; depth++) {
		struct rma_word w = node_word(&v, (struct citron_node){depth, 0});

		rma_get(v.c, w, &word);
		rma_flush(v.c, w); /* orders the get before the look at its result */
		if (word & SHUT)
			rma_acc(v.c, w, -SHUT);
	}
	rma_put(v.c, max_word(&v), 0);
	rma_put(v.c, citron_top_word(&v),
		top_make(copy_of(top), era_of(top) + 1 + !is_frozen(top), height - v.k->start,
			 height - v.k->start));
	/* Orders all of it before the barrier that the caller enters next. */
	rma_flush(v.c, v.root);
}

static void forget(const struct lock_setup *s, struct lock_slot *slot)
{
	struct citron_hold *h = lock_scratch(slot);

	(void)s;
	for (int i = 0; i < KNOWN_TOPS; i++)
		h->known[i][0] = 0;
}

/* ------------------------------------------------------------------- the simulator */

static int64_t *first_word(const struct lock_setup *s, uint64_t space, const struct lock_memory *m)
{
	const struct citron *k = s->state;
	int64_t copy = copy_of(*lock_memory_home(s, m, k->tops, TOP_BYTES, space));

	return copy ? lock_memory_home(s, m, k->spares + (uint64_t)(copy - 1) * k->stride, 0, space)
		    : lock_memory_home(s, m, k->trees, k->stride, space);
}

static bool idle(const struct lock_setup *s, uint64_t space, const struct lock_memory *m, char *err,
		 size_t errlen)
{
	const struct citron *k = s->state;
	int64_t *words = first_word(s, space, m), nodes = citron_nodes(k->height);
	int64_t inner = citron_nodes(k->height - 1);

	if (words[nodes + 2] != 0) {
		snprintf(err, errlen, "RAISED is %lld", (long long)words[nodes + 2]);
		return false;
	}
	for (int64_t i = 0; i < (int64_t)(k->stride / sizeof(int64_t)); i++) {
		bool leaf = i >= inner && i < nodes;

		if (i > nodes && i < nodes + 4)
			continue;
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

static uint64_t spares(const struct lock_setup *s, const struct lock_memory *m)
{
	const struct citron *k = s->state;
	uint64_t taken = 0;

	for (int rank = 0; rank < s->topo->nranks; rank++)
		for (int64_t i = 0; i < k->n_spares; i++)
			taken += *lock_memory_word(m, rank,
						   k->owners + (uint64_t)i * sizeof(int64_t)) != 0;
	return taken;
}

static void age(const struct lock_setup *s, uint64_t space, const struct lock_memory *m)
{
	const struct citron *k = s->state;
	int64_t *words = first_word(s, space, m), nodes = citron_nodes(k->height);

	for (int64_t i = 0; i < citron_nodes(k->height - 1); i++)
		words[i] = (int64_t)((uint64_t)TICKET_MASK << NEXT_SHIFT) | DONE_MASK;
	words[nodes] = words[0];
	for (int64_t i = 0; i < QUEUES; i++)
		words[k->queues + i] =
		    (int64_t)((uint64_t)LAST_PLACE << NEXT_SHIFT) | LAST_PLACE << DONE_SHIFT;
}

static const struct option_spec options[] = {
    LOCK_NUMBER(struct citron_options, units, "units", 1, 1099511627776, "1048576",
		"units of a space that its tree covers at first"),
    LOCK_NUMBER(struct citron_options, units_most, "units_most", 1, 1099511627776, "(as units)",
		"units that the tree may grow to"),
    LOCK_CHOICE(struct citron_options, grow_by_call, "growth", "auto | call", "auto",
		"what makes the tree larger: a client that needs units, or pawl_range_grow()"),
    LOCK_NUMBER(struct citron_options, k, "k", 0, 8, "2",
		"most nodes of the tree for a range, rounded up to fit; 0: exact"),
    LOCK_NUMBER(struct citron_options, m, "m", 1, 5, "4",
		"levels of the tree that a client at an inner node looks at"),
    LOCK_CHOICE(struct citron_options, only_slow_path, "fast_path", "yes | no", "yes",
		"whether a short range is first tried as a whole, in fewer round trips"),
    LOCK_LEASE(struct citron_options, lease_us, "0 (off)"),
    LOCK_RECOVERIES(struct citron_options, recoveries, "16"),
    LOCK_OPTIONS_END,
};

const struct lock_protocol lock_citron = {
    .kind =
	{
	    .name = "citron",
	    .summary = "ranges: a segment tree of bitmaps and tickets",
	    .reference = "Citron (FAST'23), sections 3.3 to 3.10",
	    .capabilities =
		PAWL_CAP_RANGES | PAWL_CAP_TRY | PAWL_CAP_TIMED | PAWL_CAP_FAIR | PAWL_CAP_RECOVERS,
	},
    .options = options,
    .state_bytes = sizeof(struct citron),
    .layout = layout,
    .describe = describe,
    .scratch_words = scratch_words,
    .acquire = acquire,
    .try_acquire = try_acquire,
    .release = release,
    .settled = lock_is_answered,
    .posts_unmarked = true,
    .timed = LOCK_KEEPS_NO_PLACE,
    .recover = &(const struct lock_recovery_calls){.abandon = abandon, .life = life},
    .range =
	&(const struct lock_range_calls){
	    .keeps_out = keeps_out, .grow = grow, .shrink = shrink, .forget = forget},
    .check = &(const struct lock_check_calls){.idle = idle, .spares = spares, .age = age},
    .first_at_home = true,
};
