/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Baseline: a lock-free list of ranges, by remote operations. Citron paper (FAST'23), Table 1,
 * "LLD"; the list is that of Kogan, Dice and Issa, "Scalable Range Locks for Scalable Address
 * Spaces and Beyond", EuroSys'20.
 *
 * A space has a list of the ranges that are held, in ascending order; they do not overlap. A client
 * walks along the list. If it finds a range that overlaps its own, it waits until that is released.
 * At its place it links its node by compare-and-swap. A release marks the link of its node. A
 * marked node holds nothing; its owner or a client that passes unlinks it.
 *
 * Nodes are at the space's home, one for each client, so a walk depends on the progress of no other
 * rank, and a node takes 32 bytes at each home. A node is reused as soon as it is unlinked, while
 * other clients may still be on their way to it. A link is
 *
 *   63 .. 38  NODE     the next node's number plus 1; 0: the end
 *   37 ..  1  CHANGES  number of changes of this link, over all uses of its node; never reset
 *    0        MARK     the node of this link holds nothing
 *
 * so a link with an old value has not changed since.
 *
 * Fairness: none. Other clients may pass a waiter again and again. Operations, with n ranges before
 * the place: acquire 3 round trips if the list is empty, else n + 4 (2 gets and 2 puts; 3 or 4 gets
 * for each node; 1 put; 1 atomic), and 2 more for each marked node that it unlinks; release 2
 * atomics, 2 round trips, and a walk if the link before its node has changed. A waiter polls by
 * get.
 *
 * Ordering guarantees
 *   (A) A link is changed by compare-and-swap only while its node is linked and not marked, and
 *       MARK freezes it. So the node behind a link that has not changed was linked all the time, in
 *       one use. Nothing can be unlinked behind a marked node, except together with it.
 *   (B) What is read of a node is used only if the link that led to it is unchanged afterwards: it
 *       is read again in the next round trip, or by the compare-and-swap that changes it. By (A)
 *       all of it belongs to one use of the node, and the node was in the list. By induction from
 *       the head, so was the node before it.
 *   (C) A node is linked after its range and its link are complete.
 *   (D) When a release returns, its node is not in the list any more: the release or another client
 *       has unlinked it, because a walk to its place does not find it. So the next acquire may
 *       write the node.
 * After 2^37 changes of one link this fails: a client that has stopped between two looks takes it
 * for unchanged. Progress: deadlock-free; a walk restarts only after another client has made
 * progress.
 *
 * Why this is its best form: a walk takes one round trip for each node, since a node and the link
 * before it are read together, and less is not possible in a list. Where clients hold few ranges it
 * is ahead of citron on one node (doc/measured/ranges.md). With 192 clients it has 6.9 thousand
 * ranges a second in simulation; the Citron paper states no figure of it, but that it is far behind
 * LLC.
 *
 * Different from the paper: exclusive only (readers and writers in one list need a second walk
 * after each acquire); nodes are reused at once, by (B), whereas the original waits for epochs to
 * pass, which would need messages; the owner tries to unlink its node at once; there is no fast
 * path for an empty list, which would save one round trip of three and need another mark in the
 * head.
 */
#include "lock/lock.h"

#include <stdio.h>
#include <stdlib.h>

enum { HEAD_BYTES = 8, NODE_LINK = 0, NODE_FIRST = 8, NODE_LAST = 16, NODE_BYTES = 32 };
enum { CHANGES_BIT = 1, NODE_BIT = 38 };
#define MARK INT64_C(1)
#define CHANGES_MASK ((UINT64_C(1) << NODE_BIT) - 1 - (uint64_t)MARK)
#define MOST_NODES ((UINT64_C(1) << (64 - NODE_BIT)) - 1)

/* Indices into got[], the results in flight. */
enum { GOT_LINK, GOT_FIRST, GOT_LAST, GOT_BEFORE, GOT_WORDS };

struct lld_slot {
	int64_t got[GOT_WORDS];
	struct rma_word at; /* the link to its node */
	int64_t link;       /* and its value */
	bool skipped;       /* it did not wait: fault lld-wait */
};
_Static_assert(sizeof(struct lld_slot) <= LOCK_OWN_BYTES, "it fits into a slot");

RMA_INLINE struct lld_slot *own_of(struct lock_slot *slot)
{
	return lock_own(slot);
}

struct constants {
	uint64_t nodes;
};

/* A walk along a list. */
struct walk {
	int home;
	bool has_before;
	struct rma_word before, at,   /* the last two links passed */
	    next;                     /* the link of the next node */
	int64_t before_link, at_link; /* their values, as read */
};

/* How a walk has ended. */
enum stop { STOP_PLACE, STOP_OVERLAP, STOP_CHANGED };

static int layout(struct lock_setup *s, char *err, size_t errlen)
{
	struct constants *k = s->state;

	(void)err;
	(void)errlen;
	k->nodes = lock_reserve(s, lock_all_slots(s), NODE_BYTES);
	return PAWL_SUCCESS;
}

/* ------------------------------------------------------------------------ links */

/* The number of the node that it leads to; 0: none. */
static uint64_t target_of(int64_t link)
{
	return (uint64_t)link >> NODE_BIT;
}

/* The value of the link after one more change, which makes it lead to another node. */
static int64_t redirected(int64_t link, uint64_t target)
{
	uint64_t changes = ((uint64_t)link & CHANGES_MASK) + (UINT64_C(1) << CHANGES_BIT);

	return (int64_t)(target << NODE_BIT | (changes & CHANGES_MASK));
}

/* The number of this client's node. */
static uint64_t own_target(const struct lock_setup *s, const struct lock_slot *slot)
{
	return (uint64_t)slot_rank(slot->id) * (uint64_t)s->max_held + (uint64_t)slot->index + 1;
}

static struct rma_word node_word(const struct lock_setup *s, struct lock_slot *slot, int home,
				 uint64_t target, int which)
{
	const struct constants *k = s->state;

	return rma_word(slot->client.rma, s->domain, home,
			k->nodes + (target - 1) * NODE_BYTES + (uint64_t)which);
}

/* ------------------------------------------------------------------------ walks */

/* Start at the list's head. */
static void begin(const struct lock_setup *s, struct lock_slot *slot, struct walk *w)
{
	uint64_t index;

	w->has_before = false;
	lock_home(s, slot->lock, &w->home, &index);
	w->at = rma_word(slot->client.rma, s->domain, w->home, s->words + index * HEAD_BYTES);
	rma_get(&slot->client, w->at, &w->at_link);
	rma_flush(&slot->client, w->at); /* orders the get before the use of its result, and the
					    range of an acquire before the link to its node;
					    pairs with walks */
}

/* Read the next node, if there is one, and read the previous link again: if it is unchanged, the
 * node at w->at is in the list, (B). False: it has changed. */
static bool look_ahead(const struct lock_setup *s, struct lock_slot *slot, struct walk *w)
{
	struct rma_client *c = &slot->client;
	uint64_t target = target_of(w->at_link);
	int64_t *got = own_of(slot)->got;

	if (target) {
		w->next = node_word(s, slot, w->home, target, NODE_LINK);
		rma_get(c, w->next, &got[GOT_LINK]);
		rma_get(c, node_word(s, slot, w->home, target, NODE_FIRST), &got[GOT_FIRST]);
		rma_get(c, node_word(s, slot, w->home, target, NODE_LAST), &got[GOT_LAST]);
	}
	if (w->has_before)
		rma_get(c, w->before, &got[GOT_BEFORE]);
	if (target || w->has_before)
		rma_flush(c, w->at); /* orders the gets, all from the home, before the next look at
					the link w->at; pairs with the client that changes it */
	return !w->has_before || FAULT(lld_look) || got[GOT_BEFORE] == w->before_link;
}

/* Whether the link w->at is unchanged: then what was read of the next node is valid, (B). */
static bool is_same(struct lock_slot *slot, struct walk *w)
{
	int64_t *got = &own_of(slot)->got[GOT_BEFORE];

	rma_get(&slot->client, w->at, got);
	rma_flush(&slot->client, w->at); /* orders the get before the use of its result */
	return *got == w->at_link;
}

/* Make the link w->at lead to another node, if it is unchanged. */
static bool redirect(struct lock_slot *slot, struct walk *w, uint64_t target)
{
	struct rma_client *c = &slot->client;
	int64_t by = redirected(w->at_link, target), seen;

	rma_cas(c, w->at, w->at_link, by, &seen);
	rma_flush(c, w->at); /* orders the swap before the look at its result */
	if (seen != w->at_link)
		return false;
	w->at_link = by;
	return true;
}

static void advance(struct lock_slot *slot, struct walk *w)
{
	w->before = w->at;
	w->before_link = w->at_link;
	w->has_before = true;
	w->at = w->next;
	w->at_link = own_of(slot)->got[GOT_LINK];
}

/* Walk to the range's place, or to a range that overlaps it. Unlinks nodes of released ranges on
 * the way; *met: this client's node was one of them. */
static enum stop walk_on(const struct lock_setup *s, struct lock_slot *slot, struct walk *w,
			 bool *met)
{
	const int64_t *got = own_of(slot)->got;

	for (;;) {
		uint64_t target = target_of(w->at_link);

		if (!look_ahead(s, slot, w))
			return STOP_CHANGED;
		if (!target)
			return STOP_PLACE;
		if (got[GOT_LINK] & MARK) {
			if (!redirect(slot, w, target_of(got[GOT_LINK])))
				return STOP_CHANGED;
			*met = *met || target == own_target(s, slot);
		} else if (got[GOT_LAST] < slot->first) {
			advance(slot, w);
		} else {
			return got[GOT_FIRST] > slot->last ? STOP_PLACE : STOP_OVERLAP;
		}
	}
}

/* ------------------------------------------------------------------ acquisition */

/* Link the node at the place that the walk has reached. *own_link is the previous value of its
 * link; (C). */
static bool link_here(const struct lock_setup *s, struct lock_slot *slot, struct walk *w,
		      int64_t *own_link)
{
	struct rma_client *c = &slot->client;
	struct rma_word own = node_word(s, slot, w->home, own_target(s, slot), NODE_LINK);

	*own_link = redirected(*own_link, target_of(w->at_link));
	rma_put(c, own, *own_link);
	if (!FAULT(lld_link))
		rma_flush(c, own); /* orders the link of the node before the link to it; pairs with
				      walks */
	if (!redirect(slot, w, own_target(s, slot)))
		return false;
	own_of(slot)->at = w->at;
	own_of(slot)->link = w->at_link;
	return true;
}

/* Walk on. An overlap counts only if what was read is valid. */
static enum stop next_stop(const struct lock_setup *s, struct lock_slot *slot, struct walk *w)
{
	bool met = false;
	enum stop stop = walk_on(s, slot, w, &met);

	return stop == STOP_OVERLAP && !is_same(slot, w) ? STOP_CHANGED : stop;
}

static bool await_change(struct lock_slot *slot, struct walk *w)
{
	int64_t link = own_of(slot)->got[GOT_LINK];

	return rma_await_until(&slot->client, w->next, -1, RMA_NE, link, RMA_LATER,
			       slot->deadline_ns, "a range that overlaps", &link);
}

/* Write the range into the node and start at the head, in one round trip. Returns the value of the
 * node's link. */
static int64_t prepare(const struct lock_setup *s, struct lock_slot *slot, struct walk *w)
{
	struct rma_client *c = &slot->client;
	uint64_t own = own_target(s, slot), index;
	int64_t *got = &own_of(slot)->got[GOT_LINK];
	int home;

	lock_home(s, slot->lock, &home, &index);
	rma_put(c, node_word(s, slot, home, own, NODE_FIRST), slot->first);
	rma_put(c, node_word(s, slot, home, own, NODE_LAST), slot->last);
	rma_get(c, node_word(s, slot, home, own, NODE_LINK), got);
	begin(s, slot, w);
	return *got;
}

static int enter(const struct lock_setup *s, struct lock_slot *slot, bool waits)
{
	struct walk w;
	int64_t own_link = prepare(s, slot, &w);

	for (;;) {
		enum stop stop = next_stop(s, slot, &w);

		if (stop == STOP_PLACE && link_here(s, slot, &w, &own_link))
			return PAWL_SUCCESS;
		if (stop != STOP_OVERLAP) {
			begin(s, slot, &w);
			continue;
		}
		if (FAULT(lld_wait) && slot->acquires % 16 == 15) {
			own_of(slot)->skipped = true;
			return PAWL_SUCCESS;
		}
		if (!waits)
			return PAWL_ERR_BUSY;
		if (!await_change(slot, &w))
			return PAWL_ERR_TIMEOUT;
	}
}

static int acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	return enter(s, slot, true);
}

static int try_acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	return enter(s, slot, false);
}

/* ---------------------------------------------------------------------- release */

/* Mark the node: it holds nothing from now on. Returns its link, which is frozen. */
static int64_t mark(struct lock_slot *slot, struct rma_word node)
{
	struct rma_client *c = &slot->client;
	int64_t link;

	if (rma_is_cpu(node)) {
		rma_acc(c, node, MARK); /* wakes the waiters */
		rma_get(c, node, &link);
		return link;
	}
	rma_fao(c, node, RMA_SUM, MARK, &link);
	rma_flush(c, node); /* orders the mark before the unlinking of the node, (A); pairs with
			      the looks of waiters */
	return link;
}

/* Walk to the node's place until it is not in the list, (D). */
static RMA_SLOW_PATH void sweep(const struct lock_setup *s, struct lock_slot *slot)
{
	for (;;) {
		struct walk w;
		bool met = false;
		enum stop stop;

		begin(s, slot, &w);
		stop = walk_on(s, slot, &w, &met);
		if (met)
			return;
		/* The node is not in the list, if what was read of the next node is valid. */
		if (stop != STOP_CHANGED && (!target_of(w.at_link) || is_same(slot, &w)))
			return;
	}
}

static int release(const struct lock_setup *s, struct lock_slot *slot)
{
	struct walk w = {.at = own_of(slot)->at, .at_link = own_of(slot)->link};
	int64_t link;

	if (FAULT(lld_wait) && own_of(slot)->skipped) {
		own_of(slot)->skipped = false;
		return PAWL_SUCCESS;
	}
	link =
	    mark(slot, node_word(s, slot, own_of(slot)->at.rank, own_target(s, slot), NODE_LINK));
	if (!redirect(slot, &w, target_of(link)))
		sweep(s, slot);
	return PAWL_SUCCESS;
}

/* --------------------------------------------------------------- the simulator */

static bool idle(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m, char *err,
		 size_t errlen)
{
	int64_t head = *lock_memory_home(s, m, s->words, HEAD_BYTES, lock);

	snprintf(err, errlen, "its head is 0x%llx", (unsigned long long)head);
	return target_of(head) == 0;
}

static void age(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m)
{
	const struct constants *k = s->state;
	uint64_t nodes = lock_all_slots(s), index;
	int64_t aged = (int64_t)(CHANGES_MASK & ~(UINT64_C(1) << CHANGES_BIT));
	int home;

	lock_home(s, lock, &home, &index);
	*lock_memory_home(s, m, s->words, HEAD_BYTES, lock) = aged;
	for (uint64_t i = 0; i < nodes; i++)
		*lock_memory_word(m, home, k->nodes + i * NODE_BYTES + NODE_LINK) = aged;
}

const struct lock_protocol lock_lld = {
    .kind =
	{
	    .name = "lld",
	    .summary = "baseline: a lock-free list of ranges, traversed by remote operations",
	    .reference = "FAST'23 (Citron), section 4; EuroSys'20 (Scalable Range Locks)",
	    .capabilities = PAWL_CAP_TRY | PAWL_CAP_TIMED | PAWL_CAP_RANGES,
	},
    .home_bytes = HEAD_BYTES,
    .state_bytes = sizeof(struct constants),
    .most_slots = MOST_NODES,
    .layout = layout,
    .acquire = acquire,
    .try_acquire = try_acquire,
    .release = release,
    .timed = LOCK_KEEPS_NO_PLACE,
    .range = &(const struct lock_range_calls){.keeps_out = lock_keeps_units},
    .check = &(const struct lock_check_calls){.idle = idle, .age = age},
};
