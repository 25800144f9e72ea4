/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A multi-granularity lock, after J. Gray et al., "Granularity of locks and degrees of consistency
 * in a shared data base" (1976): modes X, S, IX and IS. The protocol is Pawl's. A client that is
 * about to lock a part of something announces that by an intent at the lock of the whole: intent
 * exclusive (IX) before it locks a part exclusively, intent shared (IS) before it locks a part
 * shared. Modes that may be held together:
 *
 *          X   S   IX  IS
 *     X    -   -   -   -
 *     S    -   yes -   yes
 *     IX   -   -   yes yes
 *     IS   -   yes yes yes
 *
 * Words. W, at the home: EXCL (there is an exclusive holder), CLOSED (the head of the queue
 * excludes newcomers), UPGRADE (a sharer is about to be exclusive), and the numbers of sharers, of
 * intents exclusive and of intents shared. Clients that W excludes queue as in rma-mcs
 * (queue_tree.c).
 *
 * Ahead. An intent with PAWL_AHEAD, of a client that holds a part, is counted in W at once and
 * waits for holders only. In the queue it could wait for a waiter for the whole, which waits for a
 * third client, which waits for the part.
 *
 * Under contention the intents of a node may share one count in W: joint intents. A sharer may
 * become exclusive, and the reverse.
 *
 * Deadlines. In the queue a client abandons its places, as in rma-mcs; at the head it takes CLOSED
 * back and leaves the queue to the next client, which comes to W afresh (T1); ahead it takes its
 * count back (N3); joint: G5. No client waits for one that may give up (G6).
 *
 * Fairness: the queue is first come, first served, except for passes within an element (T_L,i).
 *   the head of the queue waits for   holders and intents ahead: CLOSED excludes newcomers (a
 *                                     stream of tries that fail, or of deadlines that pass at
 *                                     once, shows in W for moments, and may delay it as long)
 *   an intent ahead                   holders, while exclusive ones hand the lock to each other
 *   a sharer that becomes exclusive   the holders beside it, and one head at most that has looked
 *                                     before; it overtakes the queue. A head whose request it
 *                                     precedes asks again, and newcomers may come before that one
 *
 * Uncontended: 1 atomic in 1 round trip to acquire, in any mode, and 1 to release; for a part and
 * the intent at its whole, 2 in 1, and 2 in 1. A release that is posted takes no round trip: (G).
 * Hand-over between exclusive holders: as in rma-mcs, without access to W.
 *
 * Ordering guarantees
 *   (A) A client that did not queue holds the lock by one atomic operation on W that found no
 *       conflicting holder and not CLOSED, and that counts it as a holder. Of two clients in
 *       conflict, the later operation finds the earlier one, because each counts in a field that
 *       the other looks at: conflict is symmetric.
 *   (B) The head of the queue sets CLOSED and then looks for holders; by (A) only intents ahead
 *       enter after that.
 *   (C) The head is in by the operation that counts it (EXCL, or one more sharer or intent), if
 *       that finds no conflicting holder; else it takes its count back. An intent ahead takes its
 *       count back only to give up, not to ask again. So one of the two sees the other, and it is
 *       the head that gives way.
 *   (D) A sharer or intent takes CLOSED back when it is in, and any client does when it gives up at
 *       the head. It leaves the queue after that, so CLOSED is set by one client at a time. Such a
 *       client never hands the lock over as an exclusive holder does, not even below the root.
 *   (E) An exclusive holder that queued leaves CLOSED and EXCL set for a successor that it sees:
 *       the successor holds the lock at once.
 *   (G) The sum by which a client leaves W is posted if it did not queue (R1, not R3). Until the
 *       sum takes effect, W counts the client as a holder: it excludes the clients that a holder
 *       would exclude, and (A), (B) and (C) hold. Its answer decides nothing, and clients that
 *       wait for W wait for the sum, not for the client. V is left before, so (F) holds. The
 *       slot is used again when the sum has been answered, so W counts a slot once. R3 is not
 *       posted: by (D) CLOSED is taken back before the queue is left. W does not tell a holder
 *       from a client whose sum is on its way. So a try that is refused waits for the sums of
 *       its own process and tries once more (posts_unmarked).
 *
 *   (F), joint intents, and (H) and (I), changes of mode: at their code.
 *
 * Progress: starvation-free if holders release, and intents ahead, changes of mode, and streams of
 * tries and of deadlines that pass at once end; deadlock-free in any case. A client that gives up
 * waits only for what a releaser waits for (queue_tree.c).
 *
 * Bounds: 2^20 - 1 clients at one lock, each of which is counted in one field of W at a time; a
 * table with more is refused.
 *
 * Model: models/mgl.pml, whose steps F1 ... T1, G1 ... G6, U1 ... D2 are named below.
 */
#include "lock/tree/queue_tree.h"

#include <stdio.h>

/* W. A parked client notices changes in the low half only. Only a client that is or becomes
 * exclusive waits for counts in the upper half: if the last intents shared leave (or 512 intents
 * exclusive) between its last look and its sleep, it sleeps until the end of its nap. */
enum {
	SHARED_SHIFT = 3,
	INTENT_SHIFT = 23,
	READERS_SHIFT = 43,
	COUNT_BITS = 20,
	MOST_CLIENTS = (1 << COUNT_BITS) - 1
};
#define EXCL INT64_C(1)
#define CLOSED INT64_C(2)
#define UPGRADE INT64_C(4)
#define COUNT(shift) (((INT64_C(1) << COUNT_BITS) - 1) << (shift))
#define SHARERS COUNT(SHARED_SHIFT)
#define INTENTS COUNT(INTENT_SHIFT)
#define READERS COUNT(READERS_SHIFT) /* intents shared */
#define ANYBODY (EXCL | SHARERS | INTENTS | READERS)

enum { WORD_BYTES = 8 };
_Static_assert(WORD_BYTES == sizeof(int64_t), "one word a lock at its home");
_Static_assert((UPGRADE | CLOSED | EXCL) < (1 << SHARED_SHIFT) &&
		   SHARED_SHIFT + COUNT_BITS == INTENT_SHIFT &&
		   INTENT_SHIFT + COUNT_BITS == READERS_SHIFT && READERS_SHIFT + COUNT_BITS <= 63,
	       "the fields of W do not overlap, and W is never negative");

/* V: whether clients may join, how many have it, and how many have joined since the first one. One
 * word for intents exclusive, one for intents shared. */
enum { JOINT_EXCLUSIVE = 0, JOINT_SHARED = 8, JOINT_BYTES = 16 };
_Static_assert(JOINT_SHARED == JOINT_EXCLUSIVE + WORD_BYTES &&
		   JOINT_SHARED + WORD_BYTES == JOINT_BYTES,
	       "two words a lock and node");
enum { MEMBERS_SHIFT = 1, JOINED_SHIFT = 22 };
#define OPEN INT64_C(1)
#define MEMBER (INT64_C(1) << MEMBERS_SHIFT)
#define JOINED (INT64_C(1) << JOINED_SHIFT)
_Static_assert(MEMBERS_SHIFT + COUNT_BITS < JOINED_SHIFT && JOINED_SHIFT + COUNT_BITS < 63,
	       "the fields of V do not overlap");

struct mgl_slot {
	struct queue_slot queue;
	bool as_writer; /* it holds the lock exclusively, by way of the queue */
	bool joint;     /* its intent is joint with other clients of its node */
};
_Static_assert(sizeof(struct mgl_slot) <= LOCK_OWN_BYTES, "it fits into a slot");

RMA_INLINE struct mgl_slot *own_of(struct lock_slot *slot)
{
	return lock_own(slot);
}

struct constants {
	struct queue_tree tree;
	int node_level; /* level of the words V; 0: there is one node, and no joint intent */
	struct lock_area joint;
	int64_t most_joined;
};

static int layout(struct lock_setup *s, char *err, size_t errlen)
{
	struct constants *k = s->state;
	int rc = queue_tree_layout(s, &k->tree, 0, err, errlen);

	k->node_level = lock_node_level(s);
	if (rc == PAWL_SUCCESS && k->node_level) {
		lock_reserve_at_level(s, &k->joint, k->node_level, s->n, JOINT_BYTES);
		k->most_joined = queue_tree_options(s)->t_l[TOPO_NODE];
	}
	return rc;
}

static void describe(const struct lock_setup *s, char *text, size_t len)
{
	const struct constants *k = s->state;

	queue_tree_describe(s, &k->tree, text, len);
}

RMA_INLINE struct rma_word word(const struct lock_setup *s, struct lock_slot *slot)
{
	return lock_home_word(s, &slot->client, s->domain, s->words, WORD_BYTES, slot->lock);
}

/* What a client in this mode adds to W. */
RMA_INLINE int64_t one(const struct lock_slot *slot)
{
	if (slot->mode == PAWL_EXCLUSIVE)
		return EXCL;
	if (slot->mode == PAWL_SHARED)
		return INT64_C(1) << SHARED_SHIFT;
	return INT64_C(1) << (slot->mode & PAWL_INTENT_SHARED ? READERS_SHIFT : INTENT_SHIFT);
}

/* The holders that exclude it. */
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

/* Whether the mode is an intent, ahead or not. */
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
	/* Orders the sum before everything that this client does next: its return, its leaving of
	 * the queue, its next look; pairs with A3, A8, N2. */
	rma_flush(&slot->client, w);
}

/* ------------------------------------------------------ without queueing */

/* F1: ask to be in; (A). An exclusive client asks by a compare-and-swap: a sum would have to be
 * taken back, and would exclude all others meanwhile. */
RMA_INLINE void ask(struct lock_slot *slot, struct rma_word w, int64_t *old)
{
	if (slot->mode == PAWL_EXCLUSIVE)
		rma_cas(&slot->client, w, 0, EXCL, old);
	else
		rma_fao(&slot->client, w, RMA_SUM, one(slot), old);
}

RMA_INLINE bool is_in(const struct lock_slot *slot, int64_t old)
{
	return !(old & (others(slot) | CLOSED | UPGRADE));
}

/* F2: undo a request that has failed. */
RMA_INLINE void take_back(struct lock_slot *slot, struct rma_word w)
{
	if (slot->mode != PAWL_EXCLUSIVE)
		add(slot, w, -one(slot));
}

RMA_INLINE bool enter_at_once(struct lock_slot *slot, struct rma_word w)
{
	int64_t old;

	ask(slot, w, &old);
	rma_flush(&slot->client, w); /* orders the request before the look at old */
	if (is_in(slot, old))
		return true;
	take_back(slot, w);
	return false;
}

/* Wait for these holders to leave, until the deadline, if there is one. */
static bool await_none_of(struct lock_slot *slot, struct rma_word w, int64_t in_the_way,
			  const char *what)
{
	int64_t seen;

	return rma_await_until(&slot->client, w, in_the_way, RMA_EQ, 0, RMA_SOON, slot->deadline_ns,
			       what, &seen);
}

/* N1, N2: an intent that bypasses the queue; (C). */
static int enter_ahead(struct lock_slot *slot, struct rma_word w)
{
	if (!(fetch_and_add(slot, w, one(slot)) & others(slot)) ||
	    await_none_of(slot, w, others(slot), "holders in another mode to leave the lock word"))
		return PAWL_SUCCESS;
	add(slot, w, -one(slot)); /* N3 */
	return PAWL_ERR_TIMEOUT;
}

/* -------------------------------------------------------- by the queue */

/* A2 to A4: the head of the queue closes the lock, waits until all holders have left, and is in if
 * no intent came ahead; (B), (C). False: the deadline has passed, and the lock is still closed. */
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

/* A5 to A9: the same for a sharer or an intent; the lock is open when it is in. */
static bool enter_counted(struct lock_slot *slot, struct rma_word w, enum queue_entry entry)
{
	const int64_t in_the_way = others(slot), before = in_the_way | UPGRADE;
	bool wait;
	int64_t old;

	if (entry == QUEUE_FRESH) {
		old = fetch_and_add(slot, w, one(slot));
	} else {
		/* The previous holder has left EXCL set. */
		old = fetch_and_add(slot, w, one(slot) - CLOSED - EXCL) & ~EXCL;
		/* Intents ahead have waited only for EXCL to go. */
		if (rma_is_mapped_cpu(w))
			rma_wake(&slot->client, w);
	}
	for (wait = old & before; wait; wait = old & in_the_way) {
		add(slot, w, CLOSED - one(slot));
		if (!await_none_of(slot, w, before,
				   "holders in another mode to leave the lock word"))
			return false;
		old = fetch_and_add(slot, w, one(slot) - CLOSED);
	}
	return true;
}

/* T1: the deadline of the head of the queue has passed. */
static int give_up(const struct lock_setup *s, struct lock_slot *slot, struct rma_word w)
{
	const struct constants *k = s->state;

	add(slot, w, -CLOSED);
	if (FAULT(mgl_give_up)) /* leaves as a holder does */
		queue_tree_release(s, &k->tree, slot, NULL);
	else
		queue_tree_abandon(s, &k->tree, slot); /* (D) */
	return PAWL_ERR_TIMEOUT;
}

/* The client is at the head of the queue, or the lock was handed over to it. */
static int enter_as_head(const struct lock_setup *s, struct lock_slot *slot, struct rma_word w,
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

static RMA_SLOW_PATH int enter_queue(const struct lock_setup *s, struct lock_slot *slot,
				     struct rma_word w)
{
	const struct constants *k = s->state;
	enum queue_entry entry;

	/* The queue of its node may come before the home. */
	slot->client.inside = !FAULT(mgl_inside);
	entry = queue_tree_acquire(s, &k->tree, slot); /* A1 */
	if (entry > QUEUE_FRESH)
		return queue_tree_code(entry, PAWL_ERR_TIMEOUT);
	return enter_as_head(s, slot, w, entry);
}

/* R2, R3: an exclusive holder that queued leaves the root; (E). */
static enum queue_leave before_root(const struct lock_setup *s, struct lock_slot *slot,
				    bool successor)
{
	if (successor)
		return QUEUE_HAND_ON;
	add(slot, word(s, slot), -CLOSED - EXCL);
	return QUEUE_REOPENED;
}

/* ------------------------------------------------------------ joint intents */

/*
 * Joint intents. Over several nodes, each node has a word V for each of the two intents. The first
 * client of the node that asks for one acquires it at W. Others that come while it is held join it,
 * up to T_L of the node level, and the last one releases it: under contention an intent costs no
 * far operation. (With one V for both, an intent shared could stay in W as an intent exclusive, and
 * exclude sharers.) An intent ahead joins if V is open but does not open it: clients that queue
 * must not wait for one that does not.
 *
 *   (F) A client that opens V is counted in W before, in the mode of V, and the count is removed
 *       from W only when no client is left in V; V is then zero, and the next client counts anew.
 *       The client that makes V zero removes the count, also if it has given up: while V is not
 *       open, the client that is to open it is counted in V.
 */

enum share { ALONE, FIRST, LATER };

static struct rma_word joint_word(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;
	int j = topo_element(s->topo, slot->client.rma->rank, k->node_level), rank;
	uint64_t at = lock_area_place(s, &k->joint, j, slot->lock, &rank);

	return rma_word(slot->client.rma, RMA_NODE, rank,
			at + (slot->mode & PAWL_INTENT_SHARED ? JOINT_SHARED : JOINT_EXCLUSIVE));
}

/* G1: join the intent of the node, or be its first client, or, if too many have joined already, ask
 * for an intent alone. An intent ahead does not wait for a first client that queues, and is not the
 * first one; nor is an intent with a deadline. */
static enum share join(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;
	struct rma_client *c = &slot->client;
	struct rma_word v;
	int64_t old, next, seen;

	if (!k->node_level)
		return ALONE;
	v = joint_word(s, slot);
	do {
		rma_get(c, v, &old);
		if (old >> JOINED_SHIFT >= k->most_joined ||
		    ((slot->mode & PAWL_AHEAD) && !(old & OPEN)) || (slot->deadline_ns && !old))
			return ALONE;
		next = old + MEMBER + JOINED;
		c->inside = !FAULT(mgl_inside); /* V comes before the home */
		rma_cas(c, v, old, next, &seen);
	} while (seen != old);
	return old ? LATER : FIRST;
}

/* G2: wait until the first client is in. False: the deadline has passed. */
static bool await_first(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t seen;

	return rma_await_until(&slot->client, joint_word(s, slot), OPEN, RMA_NE, 0, RMA_SOON,
			       slot->deadline_ns, "the intent of its node", &seen);
}

/* G3: this client is in, and others may join; (F). */
static void open_joint(const struct lock_setup *s, struct lock_slot *slot)
{
	rma_acc(&slot->client, joint_word(s, slot), OPEN);
}

/* G6: the same, of an intent with a deadline, which is in, if no client is in V. */
static bool open_late(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t old;

	rma_cas(&slot->client, joint_word(s, slot), 0, MEMBER + JOINED + OPEN, &old);
	return old == 0;
}

RMA_INLINE bool is_last_member(int64_t v)
{
	return (v & (((INT64_C(1) << COUNT_BITS) - 1) << MEMBERS_SHIFT)) == MEMBER;
}

static inline bool is_alone_in_joint(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t v;

	rma_get(&slot->client, joint_word(s, slot), &v);
	return is_last_member(v);
}

/* G4: leave V. Whether this was the last client, which has to release the intent. */
static bool leave_joint(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct rma_word v;
	int64_t old, seen;
	bool last;

	v = joint_word(s, slot);
	do {
		rma_get(c, v, &old);
		last = is_last_member(old);
		rma_cas(c, v, old, last ? 0 : old - MEMBER, &seen);
	} while (seen != old);
	return last;
}

/* --------------------------------------------------------------- the calls */

#define ATTEMPTS ATTEMPTS_OR(16, 2)

/* A client that has just left is likely to return at once, with all words in its cache, and to win.
 * To prevent that, a client within the node looks for a moment whether W becomes free before it
 * queues. */
static bool enter_soon(const struct lock_setup *s, struct lock_slot *slot, struct rma_word w)
{
	const struct constants *k = s->state;

	for (int i = 0; i < ATTEMPTS; i++) {
		if (queue_tree_waiters_near(s, &k->tree, slot))
			return false;
		if (enter_at_once(slot, w))
			return true;
		if (!rma_spin_briefly(&slot->client, w, others(slot) | CLOSED | UPGRADE, RMA_EQ, 0))
			return false;
	}
	return false;
}

static int enter(const struct lock_setup *s, struct lock_slot *slot, struct rma_word w)
{
	if (slot->mode & PAWL_AHEAD)
		return enter_ahead(slot, w);
	return enter_soon(s, slot, w) ? PAWL_SUCCESS : enter_queue(s, slot, w);
}

static RMA_SLOW_PATH int flush_or_post(const struct lock_setup *s, struct lock_slot *slot)
{
	return lock_end_release(s, slot, word(s, slot)); /* pairs with A3, A8, N2 */
}

/* Complete a sum that subtracts this client from W, or leave it on its way; (G). */
RMA_INLINE int end_subtraction(const struct lock_setup *s, struct lock_slot *slot,
			       struct rma_word w)
{
	return rma_is_cpu(w) ? PAWL_SUCCESS : flush_or_post(s, slot);
}

/* R1 */
RMA_INLINE int subtract(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_word w = word(s, slot);

	rma_acc(&slot->client, w, -one(slot));
	return end_subtraction(s, slot, w);
}

static RMA_SLOW_PATH int release_joint(const struct lock_setup *s, struct lock_slot *slot)
{
	if (FAULT(mgl_part) && is_alone_in_joint(s, slot)) {
		int rc = subtract(s, slot);

		leave_joint(s, slot);
		return rc;
	}
	return leave_joint(s, slot) ? subtract(s, slot) : PAWL_SUCCESS;
}

RMA_INLINE int release_counted(const struct lock_setup *s, struct lock_slot *slot)
{
	return __builtin_expect(own_of(slot)->joint, 0) ? release_joint(s, slot)
							: subtract(s, slot);
}

/* Let others of the node join this client's intent, unless it is one ahead. */
static void share_intent(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;

	if (own_of(slot)->joint)
		open_joint(s, slot);
	else if (slot->deadline_ns && k->node_level && !(slot->mode & PAWL_AHEAD))
		own_of(slot)->joint = open_late(s, slot);
}

/* The client has joined an intent of its node: G2, G5. */
static int join_later(const struct lock_setup *s, struct lock_slot *slot, struct rma_word w)
{
	if (await_first(s, slot))
		return PAWL_SUCCESS;
	if (leave_joint(s, slot) && !FAULT(mgl_last))
		add(slot, w, -one(slot)); /* G5; (F) */
	return PAWL_ERR_TIMEOUT;
}

static RMA_SLOW_PATH int acquire_intent(const struct lock_setup *s, struct lock_slot *slot,
					struct rma_word w)
{
	enum share how = join(s, slot);
	int rc;

	own_of(slot)->joint = how != ALONE;
	if (how == LATER)
		return join_later(s, slot, w);
	rc = enter(s, slot, w);
	if (rc == PAWL_SUCCESS)
		share_intent(s, slot);
	return rc;
}

static int acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_word w = word(s, slot);

	own_of(slot)->as_writer = own_of(slot)->joint = false;
	/* The lock is free at the first look: skip what other cases need. */
	if (slot->mode == PAWL_EXCLUSIVE && rma_is_mapped_cpu(w) &&
	    rma_peek(&slot->client, w) == 0 && enter_at_once(slot, w))
		return PAWL_SUCCESS;
	return is_intent(slot) ? acquire_intent(s, slot, w) : enter(s, slot, w);
}

static int resume(const struct lock_setup *s, struct lock_slot *slot)
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

static bool passed(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;

	return queue_tree_passed(&k->tree, slot);
}

/* Ask for the intent at the whole and for the part at once. The client does not hold the part while
 * it waits for the whole: it gives the part back. The codes are those of the acquires. */
static void acquire_both(const struct lock_setup *s, struct lock_slot *whole,
			 struct lock_slot *part)
{
	struct rma_word w = word(s, whole), p = word(s, part);
	int64_t old_whole, old_part;
	bool in_whole, in_part;

	ask(whole, w, &old_whole);
	ask(part, p, &old_part);
	rma_flush(&whole->client, w); /* orders the one request before the look at old_whole, ... */
	rma_flush(&part->client, p);  /* ... and the other before the look at old_part */
	in_whole = is_in(whole, old_whole);
	in_part = is_in(part, old_part);
	if (!in_part)
		take_back(part, p);
	else if (!in_whole)
		add(part, p, -one(part));
	if (!in_whole) {
		take_back(whole, w);
		whole->code = enter_queue(s, whole, w);
	}
	if (whole->code != PAWL_SUCCESS)
		return;
	share_intent(s, whole);
	if (!in_whole)
		part->code = enter(s, part, p);
	else if (!in_part)
		part->code = enter_queue(s, part, p);
}

static int acquire_part(const struct lock_setup *s, struct lock_slot *whole, struct lock_slot *part)
{
	enum share how = join(s, whole);

	own_of(whole)->as_writer = own_of(part)->as_writer = false;
	own_of(whole)->joint = how != ALONE;
	own_of(part)->joint = false;
	whole->code = part->code = PAWL_SUCCESS;
	if (how == LATER) {
		whole->code = join_later(s, whole, word(s, whole));
		if (whole->code == PAWL_SUCCESS)
			part->code = enter(s, part, word(s, part));
	} else {
		acquire_both(s, whole, part);
	}
	if (whole->code == PAWL_SUCCESS && part->code != PAWL_SUCCESS)
		whole->code = FAULT(mgl_intent) ? PAWL_SUCCESS : release_counted(s, whole);
	else if (whole->code == PAWL_SUCCESS)
		return PAWL_SUCCESS;
	return PAWL_ERR_TIMEOUT;
}

static int release_part(const struct lock_setup *s, struct lock_slot *whole, struct lock_slot *part)
{
	const struct constants *k = s->state;
	struct rma_word w = word(s, whole), p = word(s, part);
	int rc, rc_whole = PAWL_SUCCESS;
	bool last;

	if (own_of(part)->as_writer) {
		queue_tree_release(s, &k->tree, part, before_root);
		return release_counted(s, whole);
	}
	last = !own_of(whole)->joint || leave_joint(s, whole);
	/* In either order: the critical section is over. */
	rma_acc(&part->client, p, -one(part));
	if (last)
		rma_acc(&whole->client, w, -one(whole));
	rc = end_subtraction(s, part, p);
	if (last)
		rc_whole = end_subtraction(s, whole, w);
	return rc == PAWL_SUCCESS ? rc_whole : rc;
}

static int try_acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	own_of(slot)->as_writer = own_of(slot)->joint = false;
	return enter_at_once(slot, word(s, slot)) ? PAWL_SUCCESS : PAWL_ERR_BUSY;
}

static int release(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;

	if (!own_of(slot)->as_writer)
		return release_counted(s, slot);
	queue_tree_release(s, &k->tree, slot, before_root);
	return PAWL_SUCCESS;
}

/* --------------------------------------------------------- changes of mode */

/*
 * Changes of mode. A sharer that becomes exclusive sets UPGRADE (U1); one that finds it set gets
 * PAWL_ERR_BUSY at once, since the other waits for it. It waits until it is the only sharer and
 * there is no intent shared (U2), and swaps its count and UPGRADE for EXCL (U3); if its deadline
 * passes, it takes UPGRADE back (U4). UPGRADE excludes newcomers, as CLOSED does, and heads of the
 * queue until they ask, but not intents ahead. An exclusive holder that becomes a sharer swaps EXCL
 * for its count by one sum (D1); if it queued, it takes CLOSED back by the same sum, and then
 * leaves the queue (D2), as a sharer to which the lock was handed.
 *
 *   (H) While a client shares, no intent exclusive is in: those that W counts wait ahead, for
 *       SHARERS, so U2 does not wait for them, and there is no cycle. U3 compares all of W: the
 *       other sharers and intents shared that it counts are none, and from then on EXCL is there,
 *       so (A) holds for all that come; an intent ahead has seen the sharer until then, and sees
 *       EXCL from then on. One sharer at a time has UPGRADE: it is set by an OR, and by a client
 *       that is counted, so nobody else is exclusive meanwhile.
 *   (I) By D1 the client is counted as a sharer when EXCL goes, in one sum. It conflicts with no
 *       holder, since there is none. Its CLOSED goes before it leaves the queue, as in (D).
 */

static int upgrade(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct rma_word w = word(s, slot);
	const int64_t mine = one(slot);
	int64_t old, seen;

	/* U1 */
	rma_fao(c, w, RMA_OR, UPGRADE, &old);
	rma_flush(c, w); /* orders the OR before the look at old, and before U2 */
	if ((old & UPGRADE) && !FAULT(mgl_second))
		return PAWL_ERR_BUSY;
	do { /* U2, U3; (H) */
		if (!rma_await_until(c, w, SHARERS | READERS, RMA_EQ, mine, RMA_SOON,
				     slot->deadline_ns, "other holders to leave the lock word",
				     &seen)) {
			add(slot, w, -UPGRADE); /* U4 */
			return PAWL_ERR_TIMEOUT;
		}
		if (FAULT(mgl_upgrade)) {
			add(slot, w, EXCL - mine - UPGRADE);
			break;
		}
		rma_cas(c, w, seen, seen + EXCL - mine - UPGRADE, &old);
		rma_flush(c, w); /* orders the swap before the look at old */
	} while (old != seen);
	slot->mode = PAWL_EXCLUSIVE;
	return PAWL_SUCCESS;
}

static int downgrade(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;
	struct rma_word w = word(s, slot);
	bool queued = own_of(slot)->as_writer;

	slot->mode = PAWL_SHARED;
	own_of(slot)->as_writer = false;
	if (FAULT(mgl_downgrade)) {
		add(slot, w, -EXCL);
		add(slot, w, EXCL);
	}
	/* D1; (I). */
	add(slot, w, one(slot) - EXCL - (queued ? CLOSED : 0));
	if (queued)
		queue_tree_abandon(s, &k->tree, slot); /* D2 */
	return PAWL_SUCCESS;
}

/* ------------------------------------------------------------- the simulator */

static bool idle(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m, char *err,
		 size_t errlen)
{
	const struct constants *k = s->state;
	const int i = k->node_level;
	int64_t w = *lock_memory_home(s, m, s->words, WORD_BYTES, lock);

	if (w) {
		snprintf(err, errlen, "the lock word is 0x%llx", (unsigned long long)w);
		return false;
	}
	for (int j = 0; i && j < s->topo->level[i - 1].count; j++) {
		int rank;
		uint64_t at = lock_area_place(s, &k->joint, j, lock, &rank);

		w = *lock_memory_word(m, rank, at + JOINT_EXCLUSIVE) |
		    *lock_memory_word(m, rank, at + JOINT_SHARED);
		if (w) {
			snprintf(err, errlen, "the word of joint intents of node %d is 0x%llx", j,
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
	    .capabilities = PAWL_CAP_SHARED | PAWL_CAP_INTENT | PAWL_CAP_TRY | PAWL_CAP_TIMED |
			    PAWL_CAP_FAIR | PAWL_CAP_UPGRADE,
	},
    .options = options,
    .home_bytes = WORD_BYTES,
    .state_bytes = sizeof(struct constants),
    .most_clients = MOST_CLIENTS,
    .layout = layout,
    .describe = describe,
    .acquire = acquire,
    .try_acquire = try_acquire,
    .release = release,
    .settled = lock_is_answered,
    .posts_unmarked = true,
    .timed = &(const struct lock_timed_calls){.resume = resume, .passed = passed},
    .part = &(const struct lock_part_calls){.acquire = acquire_part, .release = release_part},
    .change = &(const struct lock_change_calls){.upgrade = upgrade, .downgrade = downgrade},
    .check = &(const struct lock_check_calls){.idle = idle},
    .first_at_home = true,
};
