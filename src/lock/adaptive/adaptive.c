/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kind adaptive on one node: a free lock goes to the client that comes first, until a client has
 * waited for long, as in Go's sync.Mutex and WebKit's ParkingLot. On several nodes the kind is that
 * of src/lock/cached.
 *
 * A lock has a word W. A client that finds W free takes it by one compare-and-swap, even if other
 * clients wait (T1). If W is not free for a while, the client queues (mcs.h; T2). The head of the
 * queue tries again and again, with back-off (T4). When it has tried for as long as option patience
 * says, it sets STRICT (T5): from then on no other client takes W, so the next release hands it to
 * the head (head.c). So a client that runs does not have to wait for one that sleeps, and a release
 * costs nothing more, until the patience of a waiter has ended. Where clients do not come back at
 * once, a release hands W to the next client of the queue without making it free (direct.c); on
 * nodes of several packages, to one of its own package first (packages.c).
 *
 * Runs (runs.c). A client whose sections and pauses are short does not try a lock that it finds in
 * use before its patience has ended, so that clients take the lock in turns.
 *
 * Turns (turns.c). Where ranks outnumber cores, a client that has run for some time while others
 * queue leaves its core, or the lock, to them.
 *
 * Other modes. W also has the numbers of sharers and intents, and clients take W by adding to these
 * (counts.c).
 *
 * Ordering guarantees, besides those of mcs.h
 *   (A) One client at a time has W, but for the other modes: see (E). Each takes it by a
 *       compare-and-swap (T1, T4). It gives W back by one operation, which subtracts HELD (R1); or
 *       it grants W, still HELD, to the next client of the queue (K2, T8). STRICT is another bit of
 *       the same word.
 *   (B) Only the head sets and clears STRICT, and there is one head at a time. It clears it by the
 *       swap that takes W (T4), or when it gives up (T7), and leaves the queue after that: at once
 *       (T6), or in its release (K2, K3).
 *   (C) No wake-up is lost: the head sleeps only after it has set STRICT. A release fetches STRICT
 *       by the operation that frees W, and then looks for sleepers; pairs with rma_park().
 *   (D) What a holder did in node memory is visible to the next holder: R1 is a seq_cst operation
 *       on W, and the operation that takes W reads its value or a later one.
 *   (E) A client counts itself by a compare-and-swap from a value in which no holder excludes it,
 *       or by an add (S1, C1). A client that S1 counts is in if S1 found neither a holder that
 *       excludes it nor STRICT. A client that C1 counts is in when it has seen, after C1, that no
 *       holder excludes it. No client that excludes it enters later, because each looks at its
 *       count. A client in another mode that is granted W changes HELD to its count by one
 *       operation (T8), and intents ahead wait for it. Only the head and intents ahead sleep on W.
 *       A client that takes its count back finds STRICT or their counts by the same operation, and
 *       wakes them. So does a sharer that S1 found excluded, whose count may have kept them out. It
 *       uses S1 again only after an acquire by compare-and-swap, so it keeps them out once.
 *
 * Progress: starvation-free if holders release. A client waits for at most
 *   (clients ahead in the queue + 1) x (patience + the longest section),
 * where each one ahead may bring others of its package along (packages.c), besides delays of the
 * scheduler and the back-off, because each head has W by the first release after its patience, or
 * is handed W before. An intent ahead waits for holders, at most 17 of them one after the other
 * (direct.c). With patience 0 a client that finds others in the queue queues behind them. A release
 * may wait for a client to link itself, as in MCS.
 *
 * Uncontended: a compare-and-swap to acquire and an add to release, and no call of the MPI.
 *
 * Models: models/adaptive.pml, whose labels are used here, and models/adaptive_packages.pml.
 */
#include "lock/adaptive/adaptive.h"

/* ------------------------------------------------------------------------- W */

bool adaptive_take(struct lock_slot *slot, bool is_head)
{
	struct rma_word w = adaptive_word(slot, LINE_W);
	int64_t closed = adaptive_others(slot), clears = is_head ? W_STRICT : 0, value, old;

	if (!is_head && !FAULT(adaptive_strict))
		closed |= W_STRICT;
	rma_get(&slot->client, w, &value);
	while (!(value & closed)) {
		rma_cas(&slot->client, w, value, (value & ~clears) + adaptive_one(slot), &old);
		if (old == value)
			return true;
		value = old;
	}
	return false;
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
static bool take_soon(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_word w = adaptive_word(slot, LINE_W);

	for (int i = 0; i < ATTEMPTS; i++) {
		if (is_behind_others(slot, direct_is_better(s, slot)))
			return false;
		if (adaptive_take(slot, false))
			return true;
		if (!rma_spin_briefly(&slot->client, w, adaptive_others(slot) | W_STRICT, RMA_EQ,
				      0))
			return false;
	}
	return false;
}

void adaptive_enter(struct lock_slot *slot)
{
	slot->from = -1;
	run_begin(slot);
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
	run_end(s, slot);
	if (run_is_quick(slot) || !take_soon(s, slot))
		return queue_up(s, slot);
	adaptive_enter(slot);
	return PAWL_SUCCESS;
}

/* Find the words of the lock. */
static void find_words(const struct lock_setup *s, struct lock_slot *slot)
{
	struct adaptive_slot *own = lock_own(slot);
	struct rma_word w;

	if (own->last == slot->lock + 1)
		return;
	own->queue = lock_home_word(s, &slot->client, RMA_NODE, s->words + LINE_QUEUE, LINE_BYTES,
				    slot->lock);
	w = adaptive_word(slot, LINE_W);
	own->w = rma_is_mapped_cpu(w) ? w.map : NULL;
	own->last = own->w ? slot->lock + 1 : 0;
	own->looked = 0;
}

/* Modes other than exclusive. */
static RMA_SLOW_PATH int acquire_shared(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;

	find_words(s, slot);
	if (slot->mode & PAWL_AHEAD)
		return count_ahead(slot);
	if (!k->keeps_order && count_at_once(slot))
		return PAWL_SUCCESS;
	return acquire_slowly(s, slot);
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
	if (slot->mode == PAWL_SHARED && own->last == slot->lock + 1 && !k->keeps_order)
		return count_at_once(slot) ? PAWL_SUCCESS : acquire_slowly(s, slot);
	if (slot->mode != PAWL_EXCLUSIVE)
		return acquire_shared(s, slot);
	find_words(s, slot);
	if (k->keeps_order || is_behind)
		return acquire_slowly(s, slot);
	/* T1, if no client has the lock. */
	rma_cas(&slot->client, adaptive_word(slot, LINE_W), 0, W_HELD, &old);
	return __builtin_expect(old != 0, 0) ? acquire_slowly(s, slot) : PAWL_SUCCESS;
}

/* The short way of acquire_other() in another mode, for a lock that the client had last: S1. */
static __attribute__((noinline)) int acquire_shared_again(const struct lock_setup *s,
							  struct lock_slot *slot)
{
	const struct adaptive_slot *own = lock_own(slot);

	if (__builtin_expect(slot->mode != PAWL_SHARED || own->excluded, 0))
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
	int64_t free = 0;

	if (__builtin_expect(own->last != slot->lock + 1 || k->keeps_order || turn_looks(slot), 0))
		return acquire_other(s, slot);
	if (__builtin_expect(slot->mode != PAWL_EXCLUSIVE, 0))
		return acquire_shared_again(s, slot);
	slot->client.count[RMA_ATOMIC][0]++;
	if (__builtin_expect(!atomic_compare_exchange_strong(w, &free, W_HELD), 0))
		return acquire_slowly(s, slot);
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

static int try_acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;

	find_words(s, slot);
	return is_behind_others(slot, k->keeps_order) || !adaptive_take(slot, false) ? PAWL_ERR_BUSY
										     : PAWL_SUCCESS;
}

static RMA_SLOW_PATH int wake(struct lock_slot *slot)
{
	rma_wake(&slot->client, adaptive_word(slot, LINE_W));
	return PAWL_SUCCESS;
}

static __attribute__((noinline)) int release_other(const struct lock_setup *s,
						   struct lock_slot *slot)
{
	struct adaptive_slot *own = lock_own(slot);
	enum adaptive_place place = own->place;

	own->place = PLACE_NONE;
	if (place != PLACE_KEPT || !direct_hand_on(s, slot)) {
		if (slot->mode == PAWL_EXCLUSIVE)
			adaptive_free(slot);
		else
			count_leave(slot);
	}
	if (place != PLACE_NONE && slot->mode == PAWL_EXCLUSIVE)
		direct_note_release(slot);
	return PAWL_SUCCESS;
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

/* The short way of release_other(): R1. */
static int release(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_slot *own = lock_own(slot);
	_Atomic(int64_t) *w = own->w;

	if (__builtin_expect(!w, 0))
		return release_other(s, slot);
	if (__builtin_expect(slot->mode != PAWL_EXCLUSIVE, 0))
		return release_count(slot);
	slot->client.count[RMA_ATOMIC][0]++;
	if (__builtin_expect((atomic_fetch_sub(w, W_HELD) & (W_STRICT | W_COUNTS)) != 0, 0))
		return wake(slot);
	return PAWL_SUCCESS;
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

_Static_assert(ADAPTIVE_MOST_STAY == 511, "option stay says so");
const struct option_spec adaptive_options[] = {
    LOCK_TIME(
	OPTION_US, struct adaptive_options, patience, "patience", -1, 1000000,
	"-1 (0 to 500, by how long hand-overs take)",
	"microseconds for which others may come before the first waiter; 0: none. Over several "
	"nodes 31 acquires may, or with 0 none"),
    LOCK_NUMBER(struct adaptive_options, stay, "stay", -1, 511, "-1 (61)",
		"further acquires by waiting clients of a node while other nodes wait; by "
		"default more where round trips take more than 4 us"),
    LOCK_OPTIONS_END,
};

const struct lock_protocol lock_adaptive = {
    .kind = ADAPTIVE_KIND,
    .nodes = &lock_cached,
    .options = adaptive_options,
    .home_bytes = LINE_BYTES,
    .state_bytes = sizeof(struct adaptive_constants),
    .most_clients = MOST_CLIENTS,
    .layout = adaptive_layout,
    .describe = adaptive_describe,
    .acquire = acquire,
    .try_acquire = try_acquire,
    .release = release,
    .timed = &(const struct lock_timed_calls){.resume = resume, .passed = passed},
    .part = &(const struct lock_part_calls){.acquire = acquire_part, .release = release_part},
    .check =
	&(const struct lock_check_calls){.overtakes = adaptive_overtakes, .idle = adaptive_idle},
};
