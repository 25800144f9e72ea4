/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kind adaptive on several nodes: shared holders and intents, which may be at several nodes at a
 * time.
 *
 * A root that has only had exclusive holders is whole: the client that has it holds the lock
 * (kept_root.c), and the home is not asked. The first client in another mode splits it. From then
 * on word H at the home has the holders, as in mgl: HELD for an exclusive holder, and the numbers
 * of sharers, of intents exclusive and of intents shared. To split the root, a client has to have
 * it. Whether the root is split goes with it from node to node, in W or in STATUS, so a node that
 * gets or keeps a whole root does not look at H.
 *
 * With a split root, a client in another mode adds itself to H (S1), and is in if no holder and no
 * client with STRICT excludes it. If one does, it takes its count back (S2), and asks again while
 * its patience lasts. Then it gets the root, as an exclusive client does in any case. The client
 * that has the root enters by H (S3). While others are in the way, it waits with back-off, so that
 * others may enter before it. When its patience has ended, it sets STRICT in H (S4), which keeps
 * newcomers out, and waits until the holders have left (S5). A client that is in and not exclusive
 * then releases the root. An exclusive client keeps it, and takes HELD back before it releases the
 * root (S6).
 *
 * Ahead. An intent with PAWL_AHEAD waits for holders only. It adds itself to H and leaves the count
 * there (A1). If the root is split, it waits until no holder excludes it (A2). If not, it gets the
 * root to split it (A3), without a place in the queue of its node, and looks at H again and again
 * meanwhile, because another client may split the root (A4).
 *
 * Ordering guarantees
 *   (A) SPLIT is set in H by a client that has the root, so no other client holds the lock then,
 *       and is never taken back. Each later exclusive client has the root from the one that split
 *       it, and learns from W or STATUS that it is split: both are written by a client that has the
 *       root, or that has just given it up by leaving W IDLE. So while H has SPLIT, each exclusive
 *       holder is in H.
 *   (B) A client that counts itself in H is in by the operation that counts it, if that finds SPLIT
 *       and no holder that excludes it. Of two clients that exclude each other, the later operation
 *       finds the earlier one, because each has its own field, at which the other looks. A client
 *       that does not find SPLIT is not in, and takes its count back (S2), or waits (A2).
 *   (C) Clients that give way to each other: a client that has the root takes its count back before
 *       it waits, and an intent ahead leaves its count in H. So the client with the root gives way.
 *       Clients with a count and without the root are never in the way of an exclusive client for
 *       ever: they are in, or they take the count back, or they are ahead.
 *   (D) STRICT is in H only while the client that set it has the root, so one client at a time sets
 *       it. It clears STRICT by the operation that counts it, or when its deadline has passed.
 *   (E) An exclusive holder flushes the removal of HELD (S6) before it gives the root back, so the
 *       next client with the root finds H without it. What a holder did precedes S6, or the removal
 *       of its count; the next holder finds the sum that this operation left.
 *
 * Progress: a client that has the root waits for the holders, and, after its patience, for intents
 * ahead and for counts that are taken back at once. An intent ahead at a root that is not split
 * waits for the root as long as exclusive clients hand it over to each other; once it is split, for
 * holders only. (A stream of tries that fail, or of deadlines that pass at once, shows in H for
 * moments, and may delay the client that has the root as long.)
 *
 * Far operations: 1 atomic to enter with a split root, 1 to leave. An exclusive client: 1 and 1,
 * besides those for the root. The first client that shares: 3 atomics besides those for the root,
 * or 1 if the node has the root.
 *
 * Model: models/adaptive_sharing.pml, whose labels are used here.
 */
#include "lock/adaptive/adaptive.h"

#include <stdio.h>

/* The shortest and the longest pause of a client that waits at H, and how long an intent ahead
 * first awaits the root between two looks at H. Each time it waits twice as long, so that in the
 * end the transport notices if a rank that is needed has died. */
enum { PAUSE_MIN_NS = 1000, PAUSE_MAX_NS = 50000, ROOT_WAIT_NS = 200000 };

static int64_t fetch_and_add(struct lock_slot *slot, struct rma_word h, int64_t value)
{
	int64_t old;

	rma_fao(&slot->client, h, RMA_SUM, value, &old);
	rma_flush(&slot->client, h); /* orders the sum before the look at old */
	return old;
}

static void add(struct lock_slot *slot, struct rma_word h, int64_t value)
{
	rma_acc(&slot->client, h, value);
	/* Orders the sum before all that this client does next: its return, the release of the
	 * root, its next look; pairs with S1, S3, A1. */
	rma_flush(&slot->client, h);
}

static int64_t look(struct lock_slot *slot, struct rma_word h)
{
	int64_t value;

	rma_get(&slot->client, h, &value);
	rma_flush(&slot->client, h); /* orders the look before the use of its result */
	return value;
}

/* Wait until H has these bits in this state, or the deadline. */
static bool await(struct lock_slot *slot, struct rma_word h, int64_t mask)
{
	int64_t seen;

	return rma_await_until(&slot->client, h, mask, RMA_EQ, 0, RMA_SOON, slot->deadline_ns,
			       "holders in another mode to leave", &seen);
}

static bool is_split(struct lock_slot *slot)
{
	int64_t w;

	rma_get(&slot->client, adaptive_word(slot, LINE_W), &w);
	return w & W_SPLIT;
}

static int counted(struct lock_slot *slot)
{
	*adaptive_is_counted(slot) = true;
	return PAWL_SUCCESS;
}

/* When the patience of a client ends that begins to wait now, or its time. */
static uint64_t end_of_patience(const struct lock_setup *s, const struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;
	uint64_t end = rma_clock(&slot->client) + k->patience;

	return slot->deadline_ns && slot->deadline_ns < end ? slot->deadline_ns : end;
}

/* ------------------------------------------------------------- without the root */

int sharing_enter_at_once(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_word h = adaptive_home(s, slot);
	int64_t old, w;

	/* The node has the root, and it is whole. W alone does not say so: another node may have
	 * taken the root, and this node does not know it yet. */
	rma_get(&slot->client, adaptive_word(slot, LINE_W), &w);
	if ((w & (W_STATE | W_SPLIT)) == W_IDLE &&
	    !rma_peek_ordered(&slot->client, adaptive_word(slot, LINE_NEXT)))
		return LOCK_PASSED;
	old = fetch_and_add(slot, h, adaptive_one(slot)); /* S1; (B) */
	if (((old & W_SPLIT) || FAULT(adaptive_whole)) &&
	    !(old & (adaptive_others(slot) | W_STRICT)))
		return counted(slot);
	add(slot, h, -adaptive_one(slot)); /* S2 */
	return old & W_SPLIT ? PAWL_ERR_BUSY : LOCK_PASSED;
}

bool sharing_enter_soon(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;
	struct rma_word h = adaptive_home(s, slot);
	struct rma_pause p = {.min_ns = PAUSE_MIN_NS, .max_ns = PAUSE_MAX_NS};
	int64_t seen = W_SPLIT;

	if (k->keeps_order)
		return false;
	p.deadline_ns = end_of_patience(s, slot);
	while ((seen & W_SPLIT) &&
	       rma_pause(&slot->client, &p, "holders in another mode to leave")) {
		seen = look(slot, h);
		if (!(seen & (adaptive_others(slot) | W_STRICT)) &&
		    sharing_enter_at_once(s, slot) == PAWL_SUCCESS)
			return true;
	}
	return false;
}

/* ---------------------------------------------------------------- with the root */

/* S3: ask to be in; (B). An exclusive client asks by a compare-and-swap: a sum would have to be
 * taken back, and would exclude others meanwhile. Returns whether it is in. */
static bool ask(struct lock_slot *slot, struct rma_word h, int64_t splits)
{
	int64_t one = adaptive_one(slot), old;

	if (slot->mode == PAWL_EXCLUSIVE) {
		rma_cas(&slot->client, h, W_SPLIT, W_SPLIT | W_HELD, &old);
		rma_flush(&slot->client, h); /* orders the swap before the look at old */
		return old == W_SPLIT;
	}
	if (!(fetch_and_add(slot, h, one + splits) & adaptive_others(slot)))
		return true;
	add(slot, h, -one);
	return false;
}

/* S3 of a client whose patience lasts. */
static bool enter_patiently(const struct lock_setup *s, struct lock_slot *slot, struct rma_word h)
{
	const struct adaptive_constants *k = s->state;
	struct rma_pause p = {.min_ns = PAUSE_MIN_NS, .max_ns = PAUSE_MAX_NS};

	if (k->keeps_order)
		return false;
	p.deadline_ns = end_of_patience(s, slot);
	while (rma_pause(&slot->client, &p, "holders in another mode to leave")) {
		if (look(slot, h) & adaptive_others(slot))
			continue;
		if (ask(slot, h, 0))
			return true;
	}
	return false;
}

/* S4, S5. False: the deadline has passed. */
static bool enter_strictly(struct lock_slot *slot, struct rma_word h)
{
	int64_t one = adaptive_one(slot), others = adaptive_others(slot);

	if (slot_is_late(slot))
		return false;
	add(slot, h, W_STRICT);
	while (await(slot, h, others)) {
		if (!(fetch_and_add(slot, h, one - W_STRICT) & others) || FAULT(adaptive_drain))
			return true;
		add(slot, h, W_STRICT - one); /* (C) */
	}
	if (!FAULT(adaptive_withdraw))
		add(slot, h, -W_STRICT);
	return false;
}

static int enter(const struct lock_setup *s, struct lock_slot *slot, bool tries)
{
	struct rma_word h = adaptive_home(s, slot);
	bool splits = !is_split(slot);

	if (splits)
		kept_root_set_split(slot, true);
	if (ask(slot, h, splits ? W_SPLIT : 0))
		return PAWL_SUCCESS;
	if (tries)
		return PAWL_ERR_BUSY;
	return enter_patiently(s, slot, h) || enter_strictly(slot, h) ? PAWL_SUCCESS
								      : PAWL_ERR_TIMEOUT;
}

int sharing_enter(const struct lock_setup *s, struct lock_slot *slot, bool tries)
{
	int rc;

	if (slot->mode == PAWL_EXCLUSIVE && !is_split(slot))
		return PAWL_SUCCESS;
	rc = enter(s, slot, tries);
	if (rc == PAWL_SUCCESS)
		counted(slot);
	if (rc != PAWL_SUCCESS || slot->mode != PAWL_EXCLUSIVE)
		adaptive_give_back(s, slot);
	return rc;
}

void sharing_leave(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_word h = adaptive_home(s, slot);

	*adaptive_is_counted(slot) = false;
	add(slot, h, -adaptive_one(slot)); /* S6; (E) */
}

/* -------------------------------------------------------------------- ahead */

/* A3: get the root, if it comes within a moment, and split it. */
static void split(const struct lock_setup *s, struct lock_slot *slot, uint64_t *wait_ns)
{
	uint64_t deadline = slot->deadline_ns, now = rma_clock(&slot->client);
	int64_t was;
	int rc;

	if (!adaptive_take(s, slot, TAKER_AHEAD, &was))
		return;
	if (!deadline || deadline > now + *wait_ns)
		slot->deadline_ns = now + *wait_ns;
	*wait_ns *= 2;
	rc = kept_root_enter(s, slot, was);
	slot->deadline_ns = deadline;
	if (rc != PAWL_SUCCESS)
		return;
	if (!is_split(slot)) {
		add(slot, adaptive_home(s, slot), W_SPLIT);
		kept_root_set_split(slot, true);
	}
	adaptive_give_back(s, slot);
}

int sharing_enter_ahead(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_word h = adaptive_home(s, slot);
	struct rma_pause p = {.min_ns = PAUSE_MIN_NS, .max_ns = PAUSE_MAX_NS};
	int64_t old = fetch_and_add(slot, h, adaptive_one(slot)); /* A1 */
	uint64_t wait_ns = ROOT_WAIT_NS;

	p.deadline_ns = slot->deadline_ns;
	while (!(old & W_SPLIT)) {
		split(s, slot, &wait_ns);
		old = look(slot, h); /* A4 */
		if (!(old & W_SPLIT) && !rma_pause(&slot->client, &p, "the root of the lock"))
			break;
	}
	/* A2. */
	if ((old & W_SPLIT) &&
	    (!(old & adaptive_others(slot)) || await(slot, h, adaptive_others(slot))))
		return counted(slot);
	add(slot, h, -adaptive_one(slot));
	return PAWL_ERR_TIMEOUT;
}

/* ------------------------------------------------------------- the simulator */

bool sharing_idle(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m, char *err,
		  size_t errlen)
{
	const struct adaptive_constants *k = s->state;
	int64_t h = *lock_memory_home(s, m, k->homes + HOME_SHARING, HOME_BYTES, lock);

	snprintf(err, errlen, "H is 0x%llx", (unsigned long long)h);
	return h == 0 || h == W_SPLIT;
}
