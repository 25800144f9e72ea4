/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A multi-granularity lock: shared, exclusive, and "intent", which excludes
 * sharers but not other intents. After J. Gray et al., "Granularity of locks and
 * degrees of consistency in a shared data base" (1976), modes S, X and IX; the
 * shape is ours. Who is about to change a part of something announces that by
 * intent at the lock of the whole, and then locks the part; who wants the whole
 * unchanged takes the whole shared.
 *
 * Words. W, at the home: EXCL (there is an exclusive holder), CLOSED (the head of
 * the queue keeps newcomers out), and the numbers of sharers and of intents. Beside
 * it the tree of queues of rma-mcs (queue_tree.c) for those who find W in their way.
 *
 * Ahead. Who holds a part and then needs the intent at the whole must not wait
 * behind one who waits for the whole: that one may be waiting for a third, who waits
 * for the part. An intent with PAWL_AHEAD passes by the queue: it is counted in W at
 * once and waits for holders only.
 *
 * Riding. Over several nodes each node has a word V per lock. The first of its clients
 * that asks for an intent gets it at W; others of the node who come while it is there
 * ride on it, up to T_L of the node level, and the last one gives it back. Under
 * contention announcing oneself then costs no far operation.
 *
 * Fairness: the queue is first come, first served, but for passes within an
 * element (T_L,i). While its head waits CLOSED keeps newcomers out, so that it
 * waits only for those who are in, and for intents that come ahead. (A stream of
 * failing tries can be seen in W for moments, and may delay the head by as much.) An
 * intent ahead waits while exclusive holders pass the lock on to each other.
 *
 * Uncontended: 1 atomic in 1 round trip to acquire, in any mode, and 1 to
 * release; a part and the intent at its whole 2 in 1, and 2 in 1. Hand-over
 * between exclusive holders: as in rma-mcs, W untouched.
 *
 * Ordering guarantees
 *   (A) Who did not queue holds by one atomic operation on W that found nobody
 *       in conflict and not CLOSED; it counts the holder at the same time.
 *   (B) The head of the queue sets CLOSED, and only then looks for holders; (A)
 *       lets nobody in after that but intents ahead.
 *   (C) The head is in by the operation that counts it (EXCL, or one more sharer or
 *       intent), if that finds nobody in conflict; else it takes it back. An intent
 *       ahead never takes its count back. So of the two one sees the other, and it
 *       is the head that gives way.
 *   (D) A sharer or intent takes CLOSED back when it is in, and leaves the queue
 *       after that: CLOSED is set by one client at a time. It never passes the
 *       lock on as an exclusive holder does, not even below the root.
 *   (E) An exclusive holder that queued leaves CLOSED and EXCL set for a successor
 *       that it sees: the successor holds the lock at once.
 *   (F) Who opens V for riders is counted in W before, and the count goes from W
 *       only when nobody rides; V is then zero, and the next one counts anew.
 *
 * Progress: starvation-free if holders release and intents ahead end; dead-lock-free
 * in any case.
 *
 * Bounds: 2^20 - 1 clients at one lock; a table with more is refused.
 *
 * Model: models/mgl.pml, whose steps F1 ... R3, G1 ... G4 are named below.
 */
#include "locks/queue_tree.h"

#include <stdio.h>
#include <stdlib.h>

/* W. What a parked head waits for shows in the low half. (The number of intents
 * reaches beyond; 1024 of them that leave between two looks go unnoticed, for as
 * long as a nap lasts.) */
enum { SHARED_SHIFT = 2, INTENT_SHIFT = 22, COUNT_BITS = 20, MOST_CLIENTS = (1 << COUNT_BITS) - 1 };
#define EXCL INT64_C(1)
#define CLOSED INT64_C(2)
#define COUNT(shift) (((INT64_C(1) << COUNT_BITS) - 1) << (shift))
#define SHARERS COUNT(SHARED_SHIFT)
#define INTENTS COUNT(INTENT_SHIFT)
#define ANYBODY (EXCL | SHARERS | INTENTS)

enum { WORD_BYTES = 8 };
_Static_assert(WORD_BYTES == sizeof(int64_t), "one word a lock at its home");
_Static_assert((CLOSED | EXCL) < (1 << SHARED_SHIFT) && SHARED_SHIFT + COUNT_BITS == INTENT_SHIFT &&
		   INTENT_SHIFT + COUNT_BITS < 63,
	       "the fields of W do not overlap");

/* V: whether riders may be on, how many there are, and how many got on since the
 * first one did. */
enum { RIDERS_SHIFT = 1, JOINED_SHIFT = 22 };
#define OPEN INT64_C(1)
#define RIDER (INT64_C(1) << RIDERS_SHIFT)
#define JOINED (INT64_C(1) << JOINED_SHIFT)
_Static_assert(RIDERS_SHIFT + COUNT_BITS < JOINED_SHIFT && JOINED_SHIFT + COUNT_BITS < 63,
	       "the fields of V do not overlap");

struct constants {
	struct queue_tree tree;
	uint64_t words;
	int node_level; /* of V; 0: there is one node only, and nobody rides */
	uint64_t rides;
	int64_t most_rides;
};

static int layout(struct lock_space *s, char *err, size_t errlen)
{
	struct constants *k;

	if (!lock_has_room(s, MOST_CLIENTS, err, errlen))
		return PAWL_ERR_OPTION;
	k = calloc(1, sizeof *k);
	if (!k) {
		snprintf(err, errlen, "out of memory");
		return PAWL_ERR_NOMEM;
	}
	s->state = k;
	k->words = lock_reserve(s, s->block, WORD_BYTES);
	for (int i = 2; s->domain == RMA_NET && i <= s->topo->nlevels; i++)
		if (s->topo->level[i - 1].kind == TOPO_NODE)
			k->node_level = i;
	if (k->node_level) {
		uint64_t size = (uint64_t)s->topo->level[k->node_level - 1].min_size;

		k->rides = lock_reserve(s, (s->n + size - 1) / size, WORD_BYTES);
		k->most_rides = s->params.t_l[TOPO_NODE];
	}
	return queue_tree_layout(s, &k->tree, 0, err, errlen);
}

static void describe(const struct lock_space *s, char *text, size_t len)
{
	const struct constants *k = s->state;

	queue_tree_describe(s, &k->tree, text, len);
}

RMA_INLINE struct rma_word word(const struct lock_space *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;

	return lock_home_word(s, &slot->client, s->domain, k->words, WORD_BYTES, slot->lock);
}

/* What a sharer or an intent adds to W, */
RMA_INLINE int64_t one(const struct lock_slot *slot)
{
	return INT64_C(1) << (slot->mode == PAWL_SHARED ? SHARED_SHIFT : INTENT_SHIFT);
}

/* and whom it cannot be in with. */
RMA_INLINE int64_t others(const struct lock_slot *slot)
{
	return EXCL | (slot->mode == PAWL_SHARED ? INTENTS : SHARERS);
}

RMA_INLINE int64_t fetch_and_add(struct lock_slot *slot, struct rma_word w, int64_t value)
{
	int64_t old;

	rma_fao(&slot->client, w, RMA_SUM, value, &old);
	rma_flush(&slot->client, w); /* orders the sum before the look at old */
	return old;
}

RMA_INLINE void add(struct lock_slot *slot, struct rma_word w, int64_t value)
{
	rma_acc(&slot->client, w, value);
	/* Orders the sum before whatever this client does next: its return, its
	 * leave of the queue, its next look; pairs with A3, A8, N2. */
	rma_flush(&slot->client, w);
}

/* ------------------------------------------------------ without queueing */

/* F1, F2: true if we are in; (A). */
RMA_INLINE bool enter_at_once(struct lock_slot *slot, struct rma_word w)
{
	int64_t old;

	if (slot->mode == PAWL_EXCLUSIVE) {
		rma_cas(&slot->client, w, 0, EXCL, &old);
		rma_flush(&slot->client, w); /* orders the swap before the look at old */
		return old == 0;
	}
	old = fetch_and_add(slot, w, one(slot));
	if (!(old & (others(slot) | CLOSED)))
		return true;
	add(slot, w, -one(slot));
	return false;
}

/* N1, N2: an intent that passes by the queue; (C). */
static void enter_ahead(struct lock_slot *slot, struct rma_word w)
{
	if (fetch_and_add(slot, w, one(slot)) & others(slot))
		rma_await(&slot->client, w, others(slot), RMA_EQ, 0, RMA_SOON,
			  "holders in another mode to leave the lock word");
}

/* -------------------------------------------------------- by the queue */

/* A2 to A4: the head of the queue shuts the door, waits until all have left, and is
 * in if no intent came ahead; (B), (C). */
static void enter_exclusive(struct lock_slot *slot, struct rma_word w)
{
	bool wait = fetch_and_add(slot, w, CLOSED) & ANYBODY;

#ifdef BREAK_MGL_DRAIN /* for the tests: a wrong one, which does not wait */
	add(slot, w, EXCL);
	return;
#endif
	for (;; wait = true) {
		if (wait)
			rma_await(&slot->client, w, ANYBODY, RMA_EQ, 0, RMA_SOON,
				  "holders to leave the lock word");
		if (!(fetch_and_add(slot, w, EXCL) & ANYBODY))
			return;
		add(slot, w, -EXCL);
	}
}

/* A5 to A9: the same for a sharer or an intent; the door is open after that. */
static void enter_counted(struct lock_slot *slot, struct rma_word w, enum queue_entry entry)
{
	int64_t in_the_way = others(slot), old;

	if (entry == QUEUE_FRESH) {
		old = fetch_and_add(slot, w, one(slot));
	} else {
		/* The holder before us left EXCL set. */
		old = fetch_and_add(slot, w, one(slot) - CLOSED - EXCL) & ~EXCL;
		/* Intents ahead have only waited for EXCL to go. */
		if (rma_is_mapped_cpu(w))
			rma_wake(&slot->client, w);
	}
	while (old & in_the_way) {
		add(slot, w, CLOSED - one(slot));
		rma_await(&slot->client, w, in_the_way, RMA_EQ, 0, RMA_SOON,
			  "holders in another mode to leave the lock word");
		old = fetch_and_add(slot, w, one(slot) - CLOSED);
	}
}

static RMA_SLOW_PATH void enter_queue(const struct lock_space *s, struct lock_slot *slot,
				      struct rma_word w)
{
	const struct constants *k = s->state;
	enum queue_entry entry = queue_tree_acquire(s, &k->tree, slot); /* A1 */

	if (slot->mode == PAWL_EXCLUSIVE) {
		if (entry == QUEUE_FRESH)
			enter_exclusive(slot, w);
		slot->as_writer = 1;
		return;
	}
	enter_counted(slot, w, entry);
	queue_tree_abandon(s, &k->tree, slot); /* A10; (D) */
}

/* R2, R3: an exclusive holder that queued leaves the root; (E). */
static enum queue_leave before_root(const struct lock_space *s, struct lock_slot *slot,
				    bool successor)
{
	if (successor)
		return QUEUE_HAND_ON;
	add(slot, word(s, slot), -CLOSED - EXCL);
	return QUEUE_REOPENED;
}

/* ------------------------------------------------------------------ riding */

enum ride { ALONE, OPENS, RIDES };

static struct rma_word ride_word(const struct lock_space *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;
	const int i = k->node_level, j = topo_element(s->topo, slot->client.rma->rank, i);

	return rma_word(slot->client.rma, RMA_NODE, topo_tail_rank(s->topo, i, j, slot->lock),
			k->rides + topo_tail_index(s->topo, i, j, slot->lock) * WORD_BYTES);
}

/* G1: ride with others of the node, or be the first of them, or, if too many have
 * done so already, go alone. An intent ahead cannot wait for a first one that queues. */
static enum ride get_on(const struct lock_space *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;
	struct rma_client *c = &slot->client;
	struct rma_word v;
	int64_t old, next, seen;

	if (!k->node_level)
		return ALONE;
	v = ride_word(s, slot);
	do {
		rma_get(c, v, &old);
		if (old && (old >> JOINED_SHIFT >= k->most_rides ||
			    ((slot->mode & PAWL_AHEAD) && !(old & OPEN))))
			return ALONE;
		next = old + RIDER + JOINED;
		rma_cas(c, v, old, next, &seen);
	} while (seen != old);
	return old ? RIDES : OPENS;
}

/* G2: the first one is in. */
static void ride(const struct lock_space *s, struct lock_slot *slot)
{
	rma_await(&slot->client, ride_word(s, slot), OPEN, RMA_NE, 0, RMA_SOON,
		  "the intent of its node");
}

/* G3: we are in, and others may ride; (F). */
static void let_ride(const struct lock_space *s, struct lock_slot *slot)
{
	rma_acc(&slot->client, ride_word(s, slot), OPEN);
}

/* G4: whether we were the last one, who gives the intent back. */
static bool get_off(const struct lock_space *s, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct rma_word v;
	int64_t old, seen;
	bool last;

	v = ride_word(s, slot);
	do {
		rma_get(c, v, &old);
		last = (old & (((INT64_C(1) << COUNT_BITS) - 1) << RIDERS_SHIFT)) == RIDER;
		rma_cas(c, v, old, last ? 0 : old - RIDER, &seen);
	} while (seen != old);
	return last;
}

/* --------------------------------------------------------------- the calls */

enum { ATTEMPTS = 16 };

/* Whoever has just left is likely to come back at once, with all words in its cache.
 * So within a node an unsuccessful client looks for a moment whether W becomes free
 * before it queues, which stops that. */
static bool enter_soon(const struct lock_space *s, struct lock_slot *slot, struct rma_word w)
{
	const struct constants *k = s->state;
	int64_t in_the_way = slot->mode == PAWL_EXCLUSIVE ? -1 : others(slot) | CLOSED;

	for (int i = 0; i < ATTEMPTS; i++) {
		if (queue_tree_waiters_near(s, &k->tree, slot))
			return false;
		if (enter_at_once(slot, w))
			return true;
		if (!rma_glance(w, in_the_way, RMA_EQ, 0))
			return false;
	}
	return false;
}

static void enter(const struct lock_space *s, struct lock_slot *slot, struct rma_word w)
{
	if (slot->mode == (PAWL_INTENT | PAWL_AHEAD))
		enter_ahead(slot, w);
	else if (!enter_soon(s, slot, w))
		enter_queue(s, slot, w);
}

static RMA_SLOW_PATH void acquire_intent(const struct lock_space *s, struct lock_slot *slot,
					 struct rma_word w)
{
	enum ride how = get_on(s, slot);

	slot->rides = how != ALONE;
	if (how == RIDES) {
		ride(s, slot);
		return;
	}
	enter(s, slot, w);
	if (how == OPENS)
		let_ride(s, slot);
}

static int acquire(const struct lock_space *s, struct lock_slot *slot)
{
	struct rma_word w = word(s, slot);

	slot->as_writer = slot->rides = 0;
	/* Free at a glance: what follows is for the others. */
	if (slot->mode == PAWL_EXCLUSIVE && rma_is_mapped_cpu(w) &&
	    rma_peek(&slot->client, w) == 0 && enter_at_once(slot, w))
		return PAWL_SUCCESS;
	if (slot->mode & PAWL_INTENT)
		acquire_intent(s, slot, w);
	else
		enter(s, slot, w);
	return PAWL_SUCCESS;
}

/* The intent at the whole and the part exclusively, both asked for at once. Not
 * to hold the part while it waits for the whole, it gives the part back then. */
static void acquire_both(const struct lock_space *s, struct lock_slot *whole,
			 struct lock_slot *part)
{
	struct rma_word w = word(s, whole), p = word(s, part);
	int64_t in, before;
	bool queue_whole, queue_part;

	rma_fao(&whole->client, w, RMA_SUM, one(whole), &in);
	rma_cas(&part->client, p, 0, EXCL, &before);
	rma_flush(&whole->client, w); /* orders the sum before the look at in, */
	rma_flush(&part->client, p);  /* and the swap before the look at before */
	queue_whole = in & (others(whole) | CLOSED);
	queue_part = before != 0;
	if (queue_whole) {
		if (!queue_part)
			add(part, p, -EXCL);
		add(whole, w, -one(whole));
		enter_queue(s, whole, w);
	}
	if (whole->rides)
		let_ride(s, whole);
	if (queue_whole)
		enter(s, part, p);
	else if (queue_part)
		enter_queue(s, part, p);
}

static int acquire_part(const struct lock_space *s, struct lock_slot *whole, struct lock_slot *part)
{
	enum ride how = get_on(s, whole);

	whole->as_writer = part->as_writer = 0;
	whole->rides = how != ALONE;
	part->rides = 0;
	if (how == RIDES) {
		ride(s, whole);
		enter(s, part, word(s, part));
	} else {
		acquire_both(s, whole, part);
	}
	return PAWL_SUCCESS;
}

static void release_counted(const struct lock_space *s, struct lock_slot *slot)
{
	int64_t value = slot->mode == PAWL_EXCLUSIVE ? EXCL : one(slot);

	if (!slot->rides || get_off(s, slot))
		add(slot, word(s, slot), -value); /* R1 */
}

static void release_part(const struct lock_space *s, struct lock_slot *whole,
			 struct lock_slot *part)
{
	const struct constants *k = s->state;
	struct rma_word w = word(s, whole), p = word(s, part);
	bool last;

	if (part->as_writer) {
		queue_tree_release(s, &k->tree, part, before_root);
		release_counted(s, whole);
		return;
	}
	last = !whole->rides || get_off(s, whole);
	/* In either order: nothing of the critical section is left to protect. */
	rma_acc(&part->client, p, -EXCL);
	if (last)
		rma_acc(&whole->client, w, -one(whole));
	rma_flush(&part->client, p); /* orders the release before our return, */
	if (last)
		rma_flush(&whole->client, w); /* and that of the intent */
}

static int try_acquire(const struct lock_space *s, struct lock_slot *slot)
{
	slot->as_writer = slot->rides = 0;
	return enter_at_once(slot, word(s, slot)) ? PAWL_SUCCESS : PAWL_ERR_BUSY;
}

static int release(const struct lock_space *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;

	if (slot->as_writer)
		queue_tree_release(s, &k->tree, slot, before_root);
	else
		release_counted(s, slot);
	return PAWL_SUCCESS;
}

/* ------------------------------------------------------------- the simulator */

static bool idle(const struct lock_space *s, uint64_t lock, const struct lock_memory *m, char *err,
		 size_t errlen)
{
	const struct constants *k = s->state;
	const int i = k->node_level;
	int64_t w = *lock_memory_home(s, m, k->words, WORD_BYTES, lock);

	if (w) {
		snprintf(err, errlen, "the lock word is 0x%llx", (unsigned long long)w);
		return false;
	}
	for (int j = 0; i && j < s->topo->level[i - 1].count; j++) {
		w = *lock_memory_word(m, topo_tail_rank(s->topo, i, j, lock),
				      k->rides + topo_tail_index(s->topo, i, j, lock) * WORD_BYTES);
		if (w) {
			snprintf(err, errlen, "the riders' word of node %d is 0x%llx", j,
				 (unsigned long long)w);
			return false;
		}
	}
	return queue_tree_idle(s, &k->tree, lock, m, err, errlen);
}

#ifndef MGL_NAME
#define MGL_NAME "mgl"
#define MGL_PROTOCOL lock_mgl
#endif

const struct lock_protocol MGL_PROTOCOL = {
    .kind =
	{
	    .name = MGL_NAME,
	    .summary = "shared, exclusive and intent in one word; a tree of queues behind it",
	    .reference = "Gray et al. 1976 (modes); the queue of HPDC'16 (RMA-RW)",
	    .options = "t_l",
	    .capabilities = PAWL_CAP_SHARED | PAWL_CAP_INTENT | PAWL_CAP_TRY | PAWL_CAP_FAIR,
	},
    .layout = layout,
    .describe = describe,
    .acquire = acquire,
    .try_acquire = try_acquire,
    .release = release,
    .acquire_part = acquire_part,
    .release_part = release_part,
    .idle = idle,
};
