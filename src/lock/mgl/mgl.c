/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A multi-granularity lock: after J. Gray et al., "Granularity of locks and degrees of
 * consistency in a shared data base" (1976), modes X, S, IX and IS; the shape is ours.
 * A client that is about to lock a part of something announces that by an intent at the
 * lock of the whole: intent exclusive (IX) before a part exclusively, intent shared (IS)
 * before a part shared. Which may be in together:
 *
 *          X   S   IX  IS
 *     X    -   -   -   -
 *     S    -   yes -   yes
 *     IX   -   -   yes yes
 *     IS   -   yes yes yes
 *
 * So a client that has the whole shared has every part unchanged, and one that has it
 * exclusively is alone, parts included.
 *
 * Words. W, at the home: EXCL (there is an exclusive holder), CLOSED (the head of
 * the queue keeps newcomers out), and the numbers of sharers, of intents exclusive and
 * of intents shared. Beside it the tree of queues of rma-mcs (queue_tree.c) for clients
 * that find W in their way.
 *
 * Ahead. A client that holds a part and then needs an intent at the whole must not wait
 * behind one that waits for the whole: that one may be waiting for a third, which waits
 * for the part. An intent with PAWL_AHEAD passes by the queue: it is counted in W at
 * once and waits for holders only.
 *
 * Riding. Over several nodes each node has two words V per lock, one for each kind of
 * intent. The first of its clients that asks for an intent gets it at W; others of the
 * node that come while it is there ride on it, up to T_L of the node level, and the last
 * one gives it back. Under contention announcing oneself then costs no far operation.
 * (One V for both kinds would let an intent shared stay in W as one exclusive, in the way
 * of sharers, after all of these have left.) An intent ahead rides where V is open, but
 * does not open it: clients that queue must not wait for one that does not.
 *
 * Deadlines. A client whose deadline has passed gives back what it has taken. In the queue it
 * leaves its place, or all of them, as in rma-mcs, and may go on from there; at its head it takes
 * CLOSED back, and leaves the queue to the next one, which comes to W afresh (T1). An intent ahead
 * takes its count back (N3); a rider gets off, and if it is the last one by then, gives the
 * intent back (G5). Riders must not wait for one that may give up: an intent with a deadline does
 * not open V before it is in, but when it is, and no other has done so (G6).
 *
 * Fairness: the queue is first come, first served, but for passes within an
 * element (T_L,i). While its head waits CLOSED keeps newcomers out, so that it
 * waits only for those that are in, and for intents that come ahead. (A stream of
 * failing tries, or of deadlines that pass at once, can be seen in W for moments, and may
 * delay the head by as much.) An intent ahead waits while exclusive holders pass the lock on
 * to each other.
 *
 * Uncontended: 1 atomic in 1 round trip to acquire, in any mode, and 1 to
 * release; a part and the intent at its whole, of either kind, 2 in 1, and 2 in 1. Hand-over
 * between exclusive holders: as in rma-mcs, W untouched.
 *
 * Ordering guarantees
 *   (A) A client that did not queue holds by one atomic operation on W that found
 *       nobody in conflict and not CLOSED; it counts the holder at the same time. Of two
 *       clients in conflict the later operation finds the earlier, for each counts in a
 *       field that the other looks at: conflict is symmetrical.
 *   (B) The head of the queue sets CLOSED, and only then looks for holders; (A)
 *       lets nobody in after that but intents ahead.
 *   (C) The head is in by the operation that counts it (EXCL, or one more sharer or
 *       intent), if that finds nobody in conflict; else it takes it back. An intent
 *       ahead does not take its count back to ask again, but to give up. So of the two one
 *       sees the other, and it is the head that gives way.
 *   (D) A sharer or intent takes CLOSED back when it is in, and any client when it gives up
 *       at the head; it leaves the queue after that: CLOSED is set by one client at a time.
 *       Such a client never passes the lock on as an exclusive holder does, not even below
 *       the root.
 *   (E) An exclusive holder that queued leaves CLOSED and EXCL set for a successor
 *       that it sees: the successor holds the lock at once.
 *   (F) A client that opens V for riders is counted in W before, in their mode, and the
 *       count goes from W only when nobody rides; V is then zero, and the next one counts
 *       anew. The client that makes V zero takes the count back, also if it has given up:
 *       while V is not open, the one that is to open it is one of its riders.
 *
 * Progress: starvation-free if holders release and intents ahead end; dead-lock-free
 * in any case. A client that gives up waits for what a releaser waits
 * for (queue_tree.c), and for nothing else.
 *
 * Bounds: 2^20 - 1 clients at one lock, each of which is counted in one field of W at a time;
 * a table with more is refused.
 *
 * Model: models/mgl.pml, whose steps F1 ... T1, G1 ... G6 are named below.
 */
#include "lock/tree/queue_tree.h"

#include <stdio.h>
#include <stdlib.h>

/* W. A parked client notices what changes in the low half. An exclusive client alone
 * waits for counts that reach beyond: if the last intents shared leave (or 1024 intents
 * exclusive) between its last look and its sleep, it sleeps to the end of a nap. */
enum {
	SHARED_SHIFT = 2,
	INTENT_SHIFT = 22,
	READERS_SHIFT = 42,
	COUNT_BITS = 20,
	MOST_CLIENTS = (1 << COUNT_BITS) - 1
};
#define EXCL INT64_C(1)
#define CLOSED INT64_C(2)
#define COUNT(shift) (((INT64_C(1) << COUNT_BITS) - 1) << (shift))
#define SHARERS COUNT(SHARED_SHIFT)
#define INTENTS COUNT(INTENT_SHIFT)
#define READERS COUNT(READERS_SHIFT) /* intents shared */
#define ANYBODY (EXCL | SHARERS | INTENTS | READERS)

enum { WORD_BYTES = 8 };
_Static_assert(WORD_BYTES == sizeof(int64_t), "one word a lock at its home");
_Static_assert((CLOSED | EXCL) < (1 << SHARED_SHIFT) && SHARED_SHIFT + COUNT_BITS == INTENT_SHIFT &&
		   INTENT_SHIFT + COUNT_BITS == READERS_SHIFT && READERS_SHIFT + COUNT_BITS < 63,
	       "the fields of W do not overlap, and W is never negative");

/* V: whether riders may be on, how many there are, and how many got on since the
 * first one did. One for intents exclusive, one for intents shared. */
enum { RIDE_EXCLUSIVE = 0, RIDE_SHARED = 8, RIDE_BYTES = 16 };
_Static_assert(RIDE_SHARED == RIDE_EXCLUSIVE + WORD_BYTES && RIDE_SHARED + WORD_BYTES == RIDE_BYTES,
	       "two words a lock and node");
enum { RIDERS_SHIFT = 1, JOINED_SHIFT = 22 };
#define OPEN INT64_C(1)
#define RIDER (INT64_C(1) << RIDERS_SHIFT)
#define JOINED (INT64_C(1) << JOINED_SHIFT)
_Static_assert(RIDERS_SHIFT + COUNT_BITS < JOINED_SHIFT && JOINED_SHIFT + COUNT_BITS < 63,
	       "the fields of V do not overlap");

/* What a slot keeps from acquire to release. */
struct mgl_slot {
	struct queue_slot queue;
	bool as_writer; /* it holds the lock exclusively, as the head of the queue */
	bool rides;     /* its intent is one for several clients of its node */
};
_Static_assert(sizeof(struct mgl_slot) <= LOCK_OWN_BYTES, "it fits into a slot");

RMA_INLINE struct mgl_slot *own_of(struct lock_slot *slot)
{
	return lock_own(slot);
}

struct constants {
	struct queue_tree tree;
	uint64_t words;
	int node_level; /* of the words V; 0: there is one node only, and nobody rides */
	uint64_t rides;
	int64_t most_rides;
};

static int layout(struct lock_space *s, char *err, size_t errlen)
{
	struct constants *k;

	if (!lock_has_room(s, MOST_CLIENTS, err, errlen))
		return PAWL_ERR_OPTION;
	k = lock_constants(s, sizeof *k, err, errlen);
	if (!k)
		return PAWL_ERR_NOMEM;
	k->words = lock_reserve(s, s->block, WORD_BYTES);
	for (int i = 2; s->domain == RMA_NET && i <= s->topo->nlevels; i++)
		if (s->topo->level[i - 1].kind == TOPO_NODE)
			k->node_level = i;
	if (k->node_level) {
		uint64_t size = (uint64_t)s->topo->level[k->node_level - 1].min_size;

		k->rides = lock_reserve(s, (s->n + size - 1) / size, RIDE_BYTES);
		k->most_rides = queue_tree_options(s)->t_l[TOPO_NODE];
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

/* What a client in this mode adds to W, */
RMA_INLINE int64_t one(const struct lock_slot *slot)
{
	if (slot->mode == PAWL_EXCLUSIVE)
		return EXCL;
	if (slot->mode == PAWL_SHARED)
		return INT64_C(1) << SHARED_SHIFT;
	return INT64_C(1) << (slot->mode & PAWL_INTENT_SHARED ? READERS_SHIFT : INTENT_SHIFT);
}

/* and what it cannot be in with. */
RMA_INLINE int64_t others(const struct lock_slot *slot)
{
	if (slot->mode == PAWL_EXCLUSIVE)
		return ANYBODY;
	if (slot->mode == PAWL_SHARED)
		return EXCL | INTENTS;
	if (FAULT(mgl_enter) && (slot->mode & PAWL_INTENT_SHARED))
		return 0;
	return slot->mode & PAWL_INTENT_SHARED ? EXCL : EXCL | SHARERS;
}

/* Modes with an intent, ahead of the queue or not. */
RMA_INLINE bool is_intent(const struct lock_slot *slot)
{
	return slot->mode & (PAWL_INTENT | PAWL_INTENT_SHARED);
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

/* F1: ask to be in; (A). An exclusive client does so by a compare-and-swap: what a sum
 * added would have to be taken back, and kept all others out meanwhile. */
RMA_INLINE void ask(struct lock_slot *slot, struct rma_word w, int64_t *old)
{
	if (slot->mode == PAWL_EXCLUSIVE)
		rma_cas(&slot->client, w, 0, EXCL, old);
	else
		rma_fao(&slot->client, w, RMA_SUM, one(slot), old);
}

RMA_INLINE bool is_in(const struct lock_slot *slot, int64_t old)
{
	return !(old & (others(slot) | CLOSED));
}

/* F2: it is not, and has to be as if it had not asked. */
RMA_INLINE void take_back(struct lock_slot *slot, struct rma_word w)
{
	if (slot->mode != PAWL_EXCLUSIVE)
		add(slot, w, -one(slot));
}

RMA_INLINE bool enter_at_once(struct lock_slot *slot, struct rma_word w)
{
	int64_t old;

	ask(slot, w, &old);
	rma_flush(&slot->client, w); /* orders the question before the look at old */
	if (is_in(slot, old))
		return true;
	take_back(slot, w);
	return false;
}

/* Until the deadline, if there is one, for those in the way to leave. */
static bool await_none_of(struct lock_slot *slot, struct rma_word w, int64_t in_the_way,
			  const char *what)
{
	int64_t seen;

	return rma_await_until(&slot->client, w, in_the_way, RMA_EQ, 0, RMA_SOON, slot->deadline_ns,
			       what, &seen);
}

/* N1, N2: an intent that passes by the queue; (C). */
static int enter_ahead(struct lock_slot *slot, struct rma_word w)
{
	if (!(fetch_and_add(slot, w, one(slot)) & others(slot)) ||
	    await_none_of(slot, w, others(slot), "holders in another mode to leave the lock word"))
		return PAWL_SUCCESS;
	add(slot, w, -one(slot)); /* N3 */
	return PAWL_ERR_TIMEOUT;
}

/* -------------------------------------------------------- by the queue */

/* A2 to A4: the head of the queue closes the lock to newcomers, waits until all have left, and is
 * in if no intent came ahead; (B), (C). False: the deadline has passed, and it is closed. */
static bool enter_exclusive(struct lock_slot *slot, struct rma_word w)
{
	const int64_t in_the_way = FAULT(mgl_drain)     ? 0
				   : FAULT(mgl_readers) ? ANYBODY & ~READERS
							: ANYBODY;
	bool wait = fetch_and_add(slot, w, CLOSED) & in_the_way;

	for (;; wait = true) {
		if (wait && !await_none_of(slot, w, in_the_way, "holders to leave the lock word"))
			return false;
		if (!(fetch_and_add(slot, w, EXCL) & in_the_way))
			return true;
		add(slot, w, -EXCL);
	}
}

/* A5 to A9: the same for a sharer or an intent; the lock is open once it is in. */
static bool enter_counted(struct lock_slot *slot, struct rma_word w, enum queue_entry entry)
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
		if (!await_none_of(slot, w, in_the_way,
				   "holders in another mode to leave the lock word"))
			return false;
		old = fetch_and_add(slot, w, one(slot) - CLOSED);
	}
	return true;
}

/* T1: the deadline of the head of the queue has passed. */
static int give_up(const struct lock_space *s, struct lock_slot *slot, struct rma_word w)
{
	const struct constants *k = s->state;

	add(slot, w, -CLOSED);
	if (FAULT(mgl_give_up)) /* leaves as a holder does */
		queue_tree_release(s, &k->tree, slot, NULL);
	else
		queue_tree_abandon(s, &k->tree, slot); /* (D) */
	return PAWL_ERR_TIMEOUT;
}

/* At the head of the queue, or handed over. */
static int enter_as_head(const struct lock_space *s, struct lock_slot *slot, struct rma_word w,
			 enum queue_entry entry)
{
	const struct constants *k = s->state;

	if (slot->mode == PAWL_EXCLUSIVE) {
		if (entry == QUEUE_FRESH && !enter_exclusive(slot, w))
			return give_up(s, slot, w);
		own_of(slot)->as_writer = true;
		return PAWL_SUCCESS;
	}
	if (!enter_counted(slot, w, entry))
		return give_up(s, slot, w);
	queue_tree_abandon(s, &k->tree, slot); /* A10; (D) */
	return PAWL_SUCCESS;
}

static RMA_SLOW_PATH int enter_queue(const struct lock_space *s, struct lock_slot *slot,
				     struct rma_word w)
{
	const struct constants *k = s->state;
	enum queue_entry entry = queue_tree_acquire(s, &k->tree, slot); /* A1 */

	if (entry > QUEUE_FRESH)
		return queue_tree_code(entry, PAWL_ERR_TIMEOUT);
	return enter_as_head(s, slot, w, entry);
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
			k->rides + topo_tail_index(s->topo, i, j, slot->lock) * RIDE_BYTES +
			    (slot->mode & PAWL_INTENT_SHARED ? RIDE_SHARED : RIDE_EXCLUSIVE));
}

/* G1: ride with others of the node, or be the first of them, or, if too many have
 * done so already, go alone. An intent ahead neither waits for a first one that queues
 * nor is the first one; nor is one with a deadline. */
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
		if (old >> JOINED_SHIFT >= k->most_rides ||
		    ((slot->mode & PAWL_AHEAD) && !(old & OPEN)) || (slot->deadline_ns && !old))
			return ALONE;
		next = old + RIDER + JOINED;
		rma_cas(c, v, old, next, &seen);
	} while (seen != old);
	return old ? RIDES : OPENS;
}

/* G2: the first one is in. False: the deadline has passed. */
static bool ride(const struct lock_space *s, struct lock_slot *slot)
{
	int64_t seen;

	return rma_await_until(&slot->client, ride_word(s, slot), OPEN, RMA_NE, 0, RMA_SOON,
			       slot->deadline_ns, "the intent of its node", &seen);
}

/* G3: we are in, and others may ride; (F). */
static void let_ride(const struct lock_space *s, struct lock_slot *slot)
{
	rma_acc(&slot->client, ride_word(s, slot), OPEN);
}

/* G6: the same, if nobody rides and nobody is about to. */
static bool let_ride_late(const struct lock_space *s, struct lock_slot *slot)
{
	int64_t old;

	rma_cas(&slot->client, ride_word(s, slot), 0, RIDER + JOINED + OPEN, &old);
	return old == 0;
}

/* G4: whether this was the last one, which gives the intent back. */
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

/* A client that has just left is likely to come back at once, with all words in its cache.
 * So within a node an unsuccessful client looks for a moment whether W becomes free
 * before it queues, which stops that. */
static bool enter_soon(const struct lock_space *s, struct lock_slot *slot, struct rma_word w)
{
	const struct constants *k = s->state;

	for (int i = 0; i < ATTEMPTS; i++) {
		if (queue_tree_waiters_near(s, &k->tree, slot))
			return false;
		if (enter_at_once(slot, w))
			return true;
		if (!rma_glance(w, others(slot) | CLOSED, RMA_EQ, 0))
			return false;
	}
	return false;
}

static int enter(const struct lock_space *s, struct lock_slot *slot, struct rma_word w)
{
	if (slot->mode & PAWL_AHEAD)
		return enter_ahead(slot, w);
	return enter_soon(s, slot, w) ? PAWL_SUCCESS : enter_queue(s, slot, w);
}

static void release_counted(const struct lock_space *s, struct lock_slot *slot)
{
	if (!own_of(slot)->rides || get_off(s, slot))
		add(slot, word(s, slot), -one(slot)); /* R1 */
}

/* An intent is in that others of its node may ride on, if it is not one ahead. */
static void share_intent(const struct lock_space *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;

	if (own_of(slot)->rides)
		let_ride(s, slot);
	else if (slot->deadline_ns && k->node_level && !(slot->mode & PAWL_AHEAD))
		own_of(slot)->rides = let_ride_late(s, slot);
}

static RMA_SLOW_PATH int acquire_intent(const struct lock_space *s, struct lock_slot *slot,
					struct rma_word w)
{
	enum ride how = get_on(s, slot);
	int rc;

	own_of(slot)->rides = how != ALONE;
	if (how == RIDES) {
		if (ride(s, slot))
			return PAWL_SUCCESS;
		if (FAULT(mgl_rider)) /* does not look whether it is the last */
			get_off(s, slot);
		else
			release_counted(s, slot); /* G5; (F) */
		return PAWL_ERR_TIMEOUT;
	}
	rc = enter(s, slot, w);
	if (rc == PAWL_SUCCESS)
		share_intent(s, slot);
	return rc;
}

static int acquire(const struct lock_space *s, struct lock_slot *slot)
{
	struct rma_word w = word(s, slot);

	own_of(slot)->as_writer = own_of(slot)->rides = false;
	/* Free at the first look: what follows is for the others. */
	if (slot->mode == PAWL_EXCLUSIVE && rma_is_mapped_cpu(w) &&
	    rma_peek(&slot->client, w) == 0 && enter_at_once(slot, w))
		return PAWL_SUCCESS;
	return is_intent(slot) ? acquire_intent(s, slot, w) : enter(s, slot, w);
}

static int resume(const struct lock_space *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;
	enum queue_entry entry = queue_tree_resume(s, &k->tree, slot);
	int rc;

	if (entry > QUEUE_FRESH)
		return queue_tree_code(entry, LOCK_PASSED);
	rc = enter_as_head(s, slot, word(s, slot), entry);
	if (rc == PAWL_SUCCESS && is_intent(slot))
		share_intent(s, slot);
	return rc;
}

static bool passed(const struct lock_space *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;

	return queue_tree_passed(&k->tree, slot);
}

/* The intent at the whole and the part, both asked for at once. Not to hold the part
 * while it waits for the whole, the client gives the part back then. */
static void acquire_both(const struct lock_space *s, struct lock_slot *whole,
			 struct lock_slot *part)
{
	struct rma_word w = word(s, whole), p = word(s, part);
	int64_t old_whole, old_part;
	bool in_whole, in_part;

	ask(whole, w, &old_whole);
	ask(part, p, &old_part);
	rma_flush(&whole->client, w); /* orders the one question before the look at old_whole, */
	rma_flush(&part->client, p);  /* and the other before the look at old_part */
	in_whole = is_in(whole, old_whole);
	in_part = is_in(part, old_part);
	if (!in_part)
		take_back(part, p);
	else if (!in_whole)
		add(part, p, -one(part));
	if (!in_whole) {
		take_back(whole, w);
		enter_queue(s, whole, w);
	}
	if (own_of(whole)->rides)
		let_ride(s, whole);
	if (!in_whole)
		enter(s, part, p);
	else if (!in_part)
		enter_queue(s, part, p);
}

static int acquire_part(const struct lock_space *s, struct lock_slot *whole, struct lock_slot *part)
{
	enum ride how = get_on(s, whole);

	own_of(whole)->as_writer = own_of(part)->as_writer = false;
	own_of(whole)->rides = how != ALONE;
	own_of(part)->rides = false;
	if (how == RIDES) {
		ride(s, whole);
		enter(s, part, word(s, part));
	} else {
		acquire_both(s, whole, part);
	}
	return PAWL_SUCCESS;
}

static void release_part(const struct lock_space *s, struct lock_slot *whole,
			 struct lock_slot *part)
{
	const struct constants *k = s->state;
	struct rma_word w = word(s, whole), p = word(s, part);
	bool last;

	if (own_of(part)->as_writer) {
		queue_tree_release(s, &k->tree, part, before_root);
		release_counted(s, whole);
		return;
	}
	last = !own_of(whole)->rides || get_off(s, whole);
	/* In either order: nothing of the critical section is left to protect. */
	rma_acc(&part->client, p, -one(part));
	if (last)
		rma_acc(&whole->client, w, -one(whole));
	rma_flush(&part->client, p); /* orders the release before our return, */
	if (last)
		rma_flush(&whole->client, w); /* and that of the intent */
}

static int try_acquire(const struct lock_space *s, struct lock_slot *slot)
{
	own_of(slot)->as_writer = own_of(slot)->rides = false;
	return enter_at_once(slot, word(s, slot)) ? PAWL_SUCCESS : PAWL_ERR_BUSY;
}

static int release(const struct lock_space *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;

	if (own_of(slot)->as_writer)
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
		uint64_t at = k->rides + topo_tail_index(s->topo, i, j, lock) * RIDE_BYTES;
		int rank = topo_tail_rank(s->topo, i, j, lock);

		w = *lock_memory_word(m, rank, at + RIDE_EXCLUSIVE) |
		    *lock_memory_word(m, rank, at + RIDE_SHARED);
		if (w) {
			snprintf(err, errlen, "a riders' word of node %d is 0x%llx", j,
				 (unsigned long long)w);
			return false;
		}
	}
	return queue_tree_idle(s, &k->tree, lock, m, err, errlen);
}

static const struct option_spec options[] = {
    QUEUE_TREE_OPTION(struct queue_tree_options, t_l),
    LOCK_OPTIONS_END,
};

const struct lock_protocol lock_mgl = {
    .kind =
	{
	    .name = "mgl",
	    .summary =
		"shared, exclusive and intents of both in one word; a tree of queues behind it",
	    .reference = "Gray et al. 1976 (modes); the queue of HPDC'16 (RMA-RW)",
	    .capabilities =
		PAWL_CAP_SHARED | PAWL_CAP_INTENT | PAWL_CAP_TRY | PAWL_CAP_TIMED | PAWL_CAP_FAIR,
	},
    .options = options,
    .layout = layout,
    .describe = describe,
    .acquire = acquire,
    .try_acquire = try_acquire,
    .release = release,
    .timed = &(const struct lock_timed_calls){.resume = resume, .passed = passed},
    .part = &(const struct lock_part_calls){.acquire = acquire_part, .release = release_part},
    .check = &(const struct lock_check_calls){.idle = idle},
};
