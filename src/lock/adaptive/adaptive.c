/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A lock that adapts to where it is used: a free lock goes to the client that comes first, until a
 * client has waited for long; and it stays at the node that used it last. The first is as in Go's
 * sync.Mutex and WebKit's ParkingLot, the second is new.
 *
 * Level of a node (this file). Each node has a word W for the lock. W says that a client has it,
 * or, in its free values, what the node has of the root (kept_root.c). A client that finds W free
 * takes it by one compare-and-swap, even if other clients wait (T1). If W is not free for a while,
 * the client queues (mcs.h; T2). The head of the queue tries again and again, with back-off (T4).
 * When it has tried for as long as option patience says, it sets STRICT (T5): from then on no other
 * client takes W, so the next release hands it to the head (head.c). So a client that runs does not
 * have to wait for one that sleeps, and a release costs nothing more, until the patience of a
 * waiter has ended. Where clients do not come back at once, a release hands W to the next client of
 * the queue without making it free (direct.c); on nodes of several packages, to one of its own
 * package first (packages.c).
 *
 * Runs (runs.c). On one node, a client whose sections and pauses are short does not try a lock that
 * it finds in use before its patience has ended, so that clients take the lock in turns.
 *
 * Turns (turns.c). On one node where ranks outnumber cores, a client that has run for some time
 * while others queue leaves its core, or the lock, to them.
 *
 * Other modes. On one node W also has the numbers of sharers and intents, and clients take W by
 * adding to these (counts.c). On several nodes W always has one client; sharing.c, shares.c and
 * phases.c have what it does then.
 *
 * First shares (first.c). Clients of up to 16 nodes share locks that no client has acquired in
 * another mode without a far operation for each lock.
 *
 * Upper level (kept_root.c). The value of W tells the client that takes it whether the node has the
 * root. If so, the client holds the lock, without a far operation. If not, it uses the lock at the
 * node that has the root, if the lock is free there (guests.c), or gets the root for its node. It
 * keeps W meanwhile. A sharer is a guest only if its node seldom uses the lock.
 *
 * Ordering guarantees, besides those of mcs.h and kept_root.c
 *   (A) One client at a time has W, but for the other modes on one node: see (F). Each takes it by
 *       a compare-and-swap from a free value to HELD (T1, T4, T7, D3). It gives W back by one
 *       operation, which adds the difference between the free value and HELD (R1), or by a swap
 *       (D4); or it grants W, still HELD, to the next client of the queue (K2, T8). HEAD and STRICT
 *       are other bits of the same word.
 *   (B) Only the head sets and clears HEAD and STRICT, and there is one head at a time. It clears
 *       both by the swap that takes W (T4), or by the swap with which it gives up (T7), and leaves
 *       the queue after that: at once (T6), or in its release (K2, K3).
 *   (C) No wake-up is lost: the head sleeps only after it has set STRICT. A release fetches STRICT
 *       by the operation that frees W, and then looks for sleepers; pairs with rma_park().
 *   (D) What a holder did in node memory is visible to the next holder of its node: R1 is a seq_cst
 *       operation on W, and the operation that takes W reads its value or a later one.
 *   (E) A head that gives up never leaves W in state SHUT. It takes W then, even after its
 *       deadline, because the release that found HEAD relies on the head (kept_root.c, (D)).
 *   (F) On one node, a client counts itself by a compare-and-swap from a value in which no holder
 *       excludes it, or by an add (S1, C1). A client that S1 counts is in if S1 found neither a
 *       holder that excludes it nor STRICT. A client that C1 counts is in when it has seen, after
 *       C1, that no holder excludes it. No client that excludes it enters later, because each looks
 *       at its count. A client in another mode that is granted W changes HELD to its count by one
 *       operation (T8), and intents ahead wait for it. Only the head and intents ahead sleep on W
 *       until they are woken; a try and a release sleep on it for TRY_NS at most.
 *       A client that takes its count back finds STRICT or their counts by the same operation, and
 *       wakes them. So does a sharer that S1 found excluded, whose count may have kept them out. It
 *       uses S1 again only after an acquire by compare-and-swap, so it keeps them out once.
 *
 * Progress: starvation-free if holders release. On one node a client waits for at most
 *   (clients ahead in the queue + 1) x (patience + the longest section),
 * where each one ahead may bring others of its package along (packages.c), besides delays of the
 * scheduler and the back-off, because each head has W by the first release after its patience, or
 * is handed W before. An intent ahead on one node waits for holders, at most 17 of them one after
 * the other (direct.c). On several nodes, a node waits for those ahead of it in the queue of nodes.
 * Each of these keeps the root for some 64 to 128 round trips and, where not each release looks
 * (direct.c), 16 sections after its first release that finds that another node has asked, which is
 * one of the first 16, or else for a section, or with option stay for at most stay + 1 acquires.
 * If the lock decides about patience, a node may leave the root at another node for some 64 to 128
 * round trips before it asks (kept_root.c, mixed modes). With patience 0 a client that finds others
 * in the queue of its node queues behind them. A release may wait for a client, or a node, to link
 * itself, as in MCS, and for 2 us for the next head.
 *
 * Uncontended: on one node, and on the node that used the lock last (at first that of the home), a
 * compare-and-swap to acquire and an add to release, and no call of the MPI (on several nodes three
 * loads from the same cache line after the first and before the second, one after that, and a call
 * of the MPI for each 256 releases). A sharer of that node: an add each (shares.c). A guest: 1
 * atomic and 1 get (2 to share) to acquire, in 2 round trips (1 if the transport is ordered), 1
 * atomic to release. A move of the root: 2 atomics, 1 put, 1 get in 3 round trips (2).
 *
 * Models: models/adaptive.pml (without guests) and models/adaptive_counts.pml, whose labels are
 * used here, models/kept_root.pml, models/adaptive_sharing.pml and models/adaptive_shares.pml.
 */
#include "lock/adaptive/adaptive.h"

/* Releases for each call that lets the MPI progress. */
enum { RELEASES_PER_CALL = 256 };

/* Releases of sharers for each look at the clock, and how many ranks a node has at most where a
 * sharer that comes late does not look first. */
enum { RELEASES_PER_TIME = 16, FEW_AT_NODE = 8 };

/* For how long a try that shares waits for another client of its node. */
enum { TRY_NS = 100000 };

/* ------------------------------------------------------------------------- W */

bool adaptive_take(const struct lock_setup *s, struct lock_slot *slot, enum adaptive_taker taker,
		   int64_t *was)
{
	const struct adaptive_constants *k = s->state;
	struct rma_word w = adaptive_word(slot, LINE_W);
	int64_t clears = taker == TAKER_HEAD ? k->free_mask | W_BITS : k->free_mask;
	int64_t closed = adaptive_closed_to(s, slot);
	int64_t adds = k->several ? W_HELD : adaptive_one(slot);
	int64_t value, old;

	if (taker == TAKER_NEW && !FAULT(adaptive_strict))
		closed |= W_STRICT;
	rma_get(&slot->client, w, &value);
	while (!(value & closed)) {
		rma_cas(&slot->client, w, value, (value & ~clears) + adds, &old);
		if (old == value) {
			*was = value & k->free_mask;
			return true;
		}
		value = old;
	}
	return false;
}

/* A word of the line that is mapped at w. */
RMA_INLINE int64_t look(_Atomic(int64_t) *w, int offset)
{
	return atomic_load_explicit(w + offset / (int)sizeof(int64_t), memory_order_seq_cst);
}

/* Whether other clients wait, for a client that lets them go first. */
static bool is_behind_others(struct lock_slot *slot, bool lets_them)
{
	int64_t last;

	if (!lets_them || FAULT(adaptive_strict))
		return false;
	rma_get(&slot->client, *adaptive_queue(slot), &last);
	return last != 0;
}

/* T1, repeated for a moment: the holder of W may leave soon. */
static bool take_soon(const struct lock_setup *s, struct lock_slot *slot, int64_t *was)
{
	struct rma_word w = adaptive_word(slot, LINE_W);

	for (int i = 0; i < ATTEMPTS; i++) {
		if (is_behind_others(slot, direct_is_better(s, slot)))
			return false;
		if (adaptive_take(s, slot, TAKER_NEW, was))
			return true;
		if (!rma_spin_briefly(&slot->client, w, adaptive_closed_to(s, slot) | W_STRICT,
				      RMA_EQ, 0))
			return false;
	}
	return false;
}

static RMA_SLOW_PATH int acquire_slowly(const struct lock_setup *s, struct lock_slot *slot);

/* B5: a sharer has left the root to a batch: as one that has found the share of its node closed. */
static int share_again(const struct lock_setup *s, struct lock_slot *slot)
{
	if (phase_await_sharing(s, slot, PAWL_ERR_BUSY) == PAWL_SUCCESS)
		return PAWL_SUCCESS;
	return acquire_slowly(s, slot);
}

int adaptive_enter(const struct lock_setup *s, struct lock_slot *slot, int64_t was)
{
	const struct adaptive_constants *k = s->state;
	uint64_t waits;
	int rc;

	slot->from = -1;
	if (!k->several) {
		run_begin(slot);
		return PAWL_SUCCESS;
	}
	slot->from = k->node_level ? -(int64_t)k->node_level : slot->id;
	rc = kept_root_enter(s, slot, was);
	if (rc != PAWL_SUCCESS)
		return rc;
	waits = slot->client.waits;
	rc = sharing_enter(s, slot, false);
	if (rc == LOCK_PASSED)
		return share_again(s, slot);
	if (slot->client.waits != waits)
		slot->from = 0;
	return rc;
}

bool adaptive_shut(struct lock_slot *slot)
{
	struct rma_word w = adaptive_word(slot, LINE_W);
	int64_t value, old;

	rma_get(&slot->client, w, &value);
	while ((value & W_HEAD) || FAULT(adaptive_shut)) {
		rma_cas(&slot->client, w, value, W_SHUT | (value & ~W_STATE), &old);
		if (old == value) {
			if ((value & W_STRICT) && w.map)
				rma_wake(&slot->client, w);
			return true;
		}
		value = old;
	}
	return false;
}

/* --------------------------------------------------------------- protocol */

/* T2. */
static int queue_at_node(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t pred, status = HEAD_NOW;

	pred = mcs_enter(slot, RMA_NODE, *adaptive_queue(slot));
	if (pred) {
		mcs_link(s, slot, RMA_NODE, pred);
		if (!mcs_await_grant(slot, RMA_NODE, &status)) {
			if (!FAULT(adaptive_package))
				package_leave(s, slot);
			return LOCK_QUEUED;
		}
	}
	return head_acquire(s, slot, status);
}

/* T2: at its package first, if nodes are divided. */
static RMA_SLOW_PATH int queue_up(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t grant = HEAD_NOW;

	if (package_is_used(s, slot) && !package_enter(s, slot, &grant))
		return LOCK_QUEUED;
	return grant == HEAD_NOW ? queue_at_node(s, slot) : head_acquire(s, slot, grant);
}

static RMA_SLOW_PATH int acquire_slowly(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t was;

	run_end(s, slot);
	if (!run_is_quick(slot) && take_soon(s, slot, &was))
		return adaptive_enter(s, slot, was);
	return queue_up(s, slot);
}

/* Find the words of the lock. */
static void find_words(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;
	struct adaptive_slot *own = lock_own(slot);
	struct rma_word w;

	if (own->last == slot->lock + 1)
		return;
	own->queue = adaptive_queue_of(s, slot);
	own->is_away = k->several && adaptive_home_node(s, slot->lock) !=
					 adaptive_node(s, slot->client.rma->rank);
	w = adaptive_word(slot, LINE_W);
	own->w = rma_is_mapped_cpu(w) ? w.map : NULL;
	own->last = own->w ? slot->lock + 1 : 0;
	own->looked = 0;
}

/* Whether the slot shared this lock last. */
static bool is_shared_again(struct lock_slot *slot)
{
	struct adaptive_slot *own = lock_own(slot);
	bool again = own->shared == slot->lock + 1;

	own->shared = slot->lock + 1;
	return again;
}

/* Whether nodes have few ranks, so that few others use the line that a sharer comes back to. */
static bool has_few_at_node(const struct lock_setup *s)
{
	const struct adaptive_constants *k = s->state;

	return k->several && s->topo->nranks <= FEW_AT_NODE * k->nodes;
}

/* Whether a sharer adds itself to R before it looks (shares.c, E1): it has not shared this lock
 * last, or it comes back late to a line that few others use. */
static bool joins_first(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_slot *own = lock_own(slot);

	return !is_shared_again(slot) || (own->is_absent && has_few_at_node(s));
}

/* One of some releases of sharers takes the time until the next acquire, for joins_first(). */
static void note_release_of_sharer(const struct lock_setup *s, struct lock_slot *slot)
{
	struct adaptive_slot *own = lock_own(slot);

	if (slot->acquires % RELEASES_PER_TIME || !has_few_at_node(s))
		return;
	own->w = NULL;
	own->last = 0; /* the next acquire takes the long way */
	direct_note_release(slot);
}

/* Modes other than exclusive. */
static RMA_SLOW_PATH int acquire_shared(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;
	struct adaptive_slot *own = lock_own(slot);
	int rc;

	find_words(s, slot);
	if (slot->mode & PAWL_AHEAD)
		return k->several ? sharing_enter_ahead(s, slot) : count_ahead(slot);
	if (k->several) {
		if (slot->mode == PAWL_SHARED)
			share_count(slot);
		if (slot->mode == PAWL_SHARED && joins_first(s, slot) && share_join(s, slot)) {
			*adaptive_entry(slot) = BY_SHARE;
			return PAWL_SUCCESS;
		}
		rc = sharing_enter_at_once(s, slot);
		own->yields = 0;
		if (rc == LOCK_PASSED && sharing_by_guest(s, slot))
			return acquire_slowly(s, slot);
		if (rc != PAWL_SUCCESS && slot->mode == PAWL_SHARED)
			rc = phase_await_sharing(s, slot, rc);
		else if (rc == PAWL_ERR_BUSY && sharing_enter_soon(s, slot))
			rc = PAWL_SUCCESS;
		if (rc == PAWL_SUCCESS)
			return rc;
	} else if (!k->keeps_order && count_at_once(slot)) {
		return PAWL_SUCCESS;
	}
	return acquire_slowly(s, slot);
}

static RMA_SLOW_PATH int enter_asked(const struct lock_setup *s, struct lock_slot *slot)
{
	return adaptive_enter(s, slot, W_IDLE);
}

/* A client that does not have the words of this lock yet, or that looks at its turn. */
static __attribute__((noinline)) int acquire_other(const struct lock_setup *s,
						   struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;
	const struct adaptive_slot *own = lock_own(slot);
	bool is_behind;
	int64_t old;

	is_behind = direct_note_acquire(s, slot);
	if (turn_looks(slot) && own->last == slot->lock + 1 && !(slot->mode & PAWL_AHEAD) &&
	    turn_is_over(s, slot)) {
		run_end(s, slot);
		return queue_up(s, slot);
	}
	if (slot->mode == PAWL_SHARED && own->last == slot->lock + 1 && !k->several &&
	    !k->keeps_order)
		return count_at_once(slot) ? PAWL_SUCCESS : acquire_slowly(s, slot);
	if (slot->mode != PAWL_EXCLUSIVE)
		return acquire_shared(s, slot);
	find_words(s, slot);
	if (k->keeps_order || is_behind)
		return acquire_slowly(s, slot);
	/* T1, if no client has the lock. */
	rma_cas(&slot->client, adaptive_word(slot, LINE_W), k->free, W_HELD, &old);
	if (__builtin_expect(old != k->free, 0))
		return acquire_slowly(s, slot);
	if (k->several && __builtin_expect(adaptive_is_asked_for(slot), 0))
		return enter_asked(s, slot);
	return PAWL_SUCCESS;
}

/* The short way of acquire_other() in another mode, for a lock that the client had last: S1. */
static __attribute__((noinline)) int acquire_shared_again(const struct lock_setup *s,
							  struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;
	const struct adaptive_slot *own = lock_own(slot);

	if (__builtin_expect(k->several || slot->mode != PAWL_SHARED || own->excluded, 0))
		return acquire_other(s, slot);
	slot->client.count[RMA_ATOMIC][0]++;
	if (__builtin_expect(count_is_in(atomic_fetch_add(own->w, INT64_C(1) << SHARED_SHIFT)), 1))
		return PAWL_SUCCESS;
	count_take_back(slot);
	return acquire_slowly(s, slot);
}

/* The short way of acquire_other(), for a lock that the client had last; few instructions, and no
 * call. */
static int acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;
	const struct adaptive_slot *own = lock_own(slot);
	_Atomic(int64_t) *w = own->w;
	int64_t free = k->free;

	if (__builtin_expect(own->last != slot->lock + 1 || k->keeps_order || turn_looks(slot), 0))
		return acquire_other(s, slot);
	if (__builtin_expect(slot->mode != PAWL_EXCLUSIVE, 0))
		return acquire_shared_again(s, slot);
	slot->client.count[RMA_ATOMIC][0]++;
	if (__builtin_expect(!atomic_compare_exchange_strong(w, &free, W_HELD), 0))
		return acquire_slowly(s, slot);
	if (k->several &&
	    __builtin_expect(
		(look(w, LINE_NEXT) | (uint32_t)(look(w, LINE_GUEST) ^ look(w, LINE_NOTES))) != 0,
		0))
		return enter_asked(s, slot);
	return PAWL_SUCCESS;
}

static int resume(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_slot *own = lock_own(slot);
	int64_t status;
	int rc;

	if (own->in_package) {
		rc = package_resume(slot, &status);
		if (rc != PAWL_SUCCESS)
			return rc;
		return status == HEAD_NOW ? queue_at_node(s, slot) : head_acquire(s, slot, status);
	}
	rc = mcs_resume(slot, RMA_NODE, MCS_ABANDONED);
	if (rc != PAWL_SUCCESS)
		return rc;
	return mcs_await_grant(slot, RMA_NODE, &status) ? head_acquire(s, slot, status)
							: LOCK_QUEUED;
}

static bool passed(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_slot *own = lock_own(slot);

	(void)s;
	return mcs_passed(slot, own->in_package ? SLOT_INNER : RMA_NODE);
}

/* A try on several nodes, before it takes W. LOCK_PASSED: it needs the root. */
static int try_without_root(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;
	struct rma_word w = adaptive_word(slot, LINE_W);
	int rc = LOCK_PASSED;
	int64_t value;

	if (slot->mode != PAWL_EXCLUSIVE) {
		rc = sharing_enter_at_once(s, slot);
		rma_get(&slot->client, w, &value);
		/* A client that has W may be about to share the lock. */
		if (rc == LOCK_PASSED && (value & W_HELD) &&
		    !is_behind_others(slot, k->keeps_order) &&
		    rma_await_until(&slot->client, w, W_HELD, RMA_EQ, 0, RMA_SOON,
				    rma_clock(&slot->client) + TRY_NS,
				    "a client that may be about to share the lock", &value))
			rc = sharing_enter_at_once(s, slot);
	}
	if (rc != LOCK_PASSED)
		return rc;
	rma_get(&slot->client, w, &value);
	/* SHUT is a bit of IDLE. */
	value = adaptive_state(s, slot, value & W_STATE);
	return (value & (W_HELD | W_SHUT)) || kept_root_is_free(s, slot) ? rc : PAWL_ERR_BUSY;
}

static int try_acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;
	int64_t was;
	int rc;

	find_words(s, slot);
	if (k->several) {
		rc = try_without_root(s, slot);
		if (rc != LOCK_PASSED)
			return rc;
	}
	if (is_behind_others(slot, k->keeps_order) || !adaptive_take(s, slot, TAKER_NEW, &was))
		return PAWL_ERR_BUSY;
	if (!k->several)
		return PAWL_SUCCESS;
	rc = kept_root_try_enter(s, slot, was);
	return rc == PAWL_SUCCESS ? sharing_enter(s, slot, true) : rc;
}

/* On several nodes a client may acquire and release for ever without a call of the MPI, while other
 * nodes need one, because it performs their operations. */
RMA_INLINE void drive_at_times(struct lock_slot *slot)
{
	const struct rma_transport *transport = slot->client.rma->transport;

	if (__builtin_expect(slot->acquires % RELEASES_PER_CALL == 0, 0) &&
	    !transport->can.is_served)
		transport->progress(&slot->client);
}

static RMA_SLOW_PATH int wake(struct lock_slot *slot)
{
	rma_wake(&slot->client, adaptive_word(slot, LINE_W));
	return PAWL_SUCCESS;
}

/* Release, as a client that has W or has entered otherwise. PAWL_SUCCESS or LOCK_LEFT. */
static int release_alone(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;

	if (!k->several) {
		if (slot->mode == PAWL_EXCLUSIVE)
			adaptive_free(slot, W_NEW);
		else
			count_leave(slot);
		return PAWL_SUCCESS;
	}
	if (__builtin_expect(*adaptive_entry(slot) == BY_GUEST, 0))
		return guest_release(s, slot);
	if (__builtin_expect(*adaptive_entry(slot) != BY_ROOT, 0)) {
		bool is_left = true;

		if (slot->mode == PAWL_EXCLUSIVE)
			is_left = phase_hand_over(s, slot);
		else
			sharing_leave(s, slot);
		if (is_left)
			return PAWL_SUCCESS;
	}
	if (slot->mode == PAWL_EXCLUSIVE)
		first_reopen(s, slot, -1);
	adaptive_give_back(s, slot);
	return PAWL_SUCCESS;
}

static __attribute__((noinline)) int release_other(const struct lock_setup *s,
						   struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;
	struct adaptive_slot *own = lock_own(slot);
	enum adaptive_place place = own->place;
	int rc = PAWL_SUCCESS;

	own->place = PLACE_NONE;
	if (place != PLACE_KEPT || !direct_hand_on(s, slot))
		rc = release_alone(s, slot);
	own->reopens = 0;
	if (k->several)
		drive_at_times(slot);
	if (place != PLACE_NONE && slot->mode == PAWL_EXCLUSIVE)
		direct_note_release(slot);
	else if (slot->mode == PAWL_SHARED)
		note_release_of_sharer(s, slot);
	return rc;
}

/* count_leave() of a word that is mapped. */
static __attribute__((noinline)) int release_count(struct lock_slot *slot)
{
	const struct adaptive_slot *own = lock_own(slot);

	slot->client.count[RMA_ATOMIC][0]++;
	if (__builtin_expect(
		(atomic_fetch_sub(own->w, adaptive_one(slot)) & count_sleepers(slot)) != 0, 0))
		return wake(slot);
	return PAWL_SUCCESS;
}

/* The short way of release_other(), on one node: R1. */
static int release(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;
	const struct adaptive_slot *own = lock_own(slot);
	_Atomic(int64_t) *w = own->w;

	if (__builtin_expect(k->several || !w, 0))
		return release_other(s, slot);
	if (__builtin_expect(slot->mode != PAWL_EXCLUSIVE, 0))
		return release_count(slot);
	slot->client.count[RMA_ATOMIC][0]++;
	if (__builtin_expect((atomic_fetch_sub(w, W_HELD) & (W_STRICT | W_COUNTS)) != 0, 0))
		return wake(slot);
	return PAWL_SUCCESS;
}

/* Only guests leave an operation on its way. */
static bool settled(const struct lock_setup *s, struct lock_slot *slot)
{
	return lock_is_answered(s, slot);
}

/* A client that waits for the whole does not hold the part. */
static int acquire_part(const struct lock_setup *s, struct lock_slot *whole, struct lock_slot *part)
{
	part->code = PAWL_SUCCESS;
	whole->code = acquire(s, whole);
	if (__builtin_expect(whole->code != PAWL_SUCCESS, 0))
		return PAWL_ERR_TIMEOUT;
	part->code = acquire(s, part);
	if (__builtin_expect(part->code == PAWL_SUCCESS, 1))
		return PAWL_SUCCESS;
	whole->code = FAULT(adaptive_intent) ? PAWL_SUCCESS : release(s, whole);
	return PAWL_ERR_TIMEOUT;
}

static int release_part(const struct lock_setup *s, struct lock_slot *whole, struct lock_slot *part)
{
	int left = release(s, part), rc = release(s, whole);

	return left == PAWL_SUCCESS ? rc : left;
}

static const struct option_spec options[] = {
    LOCK_TIME(OPTION_US, struct adaptive_options, patience, "patience", -1, 1000000,
	      "-1 (0 to 500, by how long hand-overs take)",
	      "microseconds for which others may come before the first waiter; 0: none"),
    LOCK_NUMBER(struct adaptive_options, stay, "stay", -1, 1048575, "-1 (64 to 128 round trips)",
		"further acquires by waiting clients of a node while other nodes wait"),
    LOCK_OPTIONS_END,
};

const struct lock_protocol lock_adaptive = {
    .kind =
	{
	    .name = "adaptive",
	    .summary = "a running client takes a free lock until a waiter loses patience; stays "
		       "where it is used",
	    .reference = "Go's sync.Mutex and WebKit's ParkingLot (patience); the rest is ours",
	    .capabilities =
		PAWL_CAP_SHARED | PAWL_CAP_INTENT | PAWL_CAP_TRY | PAWL_CAP_TIMED | PAWL_CAP_FAIR,
	},
    .options = options,
    .layout = adaptive_layout,
    .describe = adaptive_describe,
    .acquire = acquire,
    .try_acquire = try_acquire,
    .release = release,
    .settled = settled,
    .posts_unmarked = true,
    .timed = &(const struct lock_timed_calls){.resume = resume, .passed = passed},
    .part = &(const struct lock_part_calls){.acquire = acquire_part, .release = release_part},
    .check = &(const struct lock_check_calls){.overtakes = adaptive_overtakes,
					      .idle = adaptive_idle,
					      .age = adaptive_age},
};
