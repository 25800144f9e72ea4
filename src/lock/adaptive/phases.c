/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kind adaptive on several nodes: for how long a lock that many nodes read and write stays in a
 * mode. A change of the mode takes some ten round trips: an exclusive client sets STRICT, closes
 * the shares, and sets HELD; later each node sees that HELD is gone and opens its share. So
 * exclusive clients follow each other in a batch, and sharers have a phase of some length.
 *
 * Batch. An exclusive client that has closed the shares enters by HELD in H, and sets CLOSED of its
 * root (B1). When it leaves, and another client of its node or another node waits for the root, it
 * leaves HELD in H, and hands the root over with CLOSED (B2), to the next client of its node by one
 * put (K2 of direct.c). An exclusive client that gets such a root is in, without an operation at
 * the home (B3). The batch ends, by the removal of HELD, when no client waits for the root, when
 * the client that gets it is not exclusive, and after as many clients as the table has ranks (B4).
 * The root is split then, as before. But a sharer that gets the root in a batch, having waited for
 * it since before the batch or for longer than its patience, leaves W, and the root, to the head of
 * the queue of its node, if there is one, and waits as one that finds the share closed (B5). It
 * does so YIELDS times at most, and not with patience 0.
 *
 * Sharers that find the share of their node closed do not wait for the root, but for the end of the
 * batch: one of them, which has set WATCHED in R of the node, looks at H with back-off, and opens
 * the share; the others wait for OPEN in R. If the root is whole, and no client has W of the node,
 * the one that looks gets the root to share it. While another client has W, it goes on looking for
 * a moment: a client that awaits the root may find it split. A sharer whose patience has ended
 * queues for the root. When it gets to the head of the queue of its node, it looks again whether
 * the share is open. Where many ranks follow each other, a batch takes longer than option patience,
 * and a sharer that is in the queue of its node behind an exclusive client stays there when the
 * share is opened. So it may get the root in a later batch, and end it after a few clients. Hence
 * sharers are more patient where there are more ranks.
 *
 * Phase of sharers. An exclusive client that has the root is patient with sharers until the share
 * of its node has been open for a time that grows with the number of nodes and of ranks, as a batch
 * does, up to a bound that grows with that of ranks. It does not wait for shares that are not in
 * use. Sharers that come seldom, or of which all soon wait as exclusive clients, so do not delay
 * it.
 *
 * Short phases. With few clients, a phase of sharers may take less than the change to it. Then it
 * is better to use the lock at one node after the other, whose clients need no far operation to
 * change the mode. So a client that closes shares that have been open for a short time, and are not
 * in use, makes the root whole (sharing.c, S5), unless ranks outnumber cores. The more ranks there
 * are, the more of them share the lock in the same time, so that time is shorter then. A whole root
 * becomes split when sharers of the node that has it outlast the patience of an exclusive client
 * while another node waits (S7).
 *
 * Ordering guarantees, besides those of sharing.c
 *   (A) CLOSED is set only while H has HELD and SPLIT, no share is open, and no intent is in: the
 *       client of B1 has found that, and each later intent or opener finds HELD. So each client
 *       that gets the root with CLOSED may enter in place of the one before it.
 *   (B) W is never IDLE with CLOSED: B2 leaves the root only to a client that takes it for
 *       certain, the next client of the queue of the node (by K2), its head (by SHUT) or the next
 *       node (by H2 of kept_root.c). If that does not come about, B4 precedes the release. A
 *       client that gets CLOSED and is not exclusive does B5, by SHUT, or B4 first, even if its
 *       deadline has passed. So sharers are never kept out without an exclusive holder that ends
 *       the batch or leaves it to another one.
 *   (C) What a holder of the batch did is visible to the next one by the hand-over of the root, as
 *       with a whole root, and to sharers and intents by B4, which is flushed before the root is
 *       released or used.
 *
 * Progress. Sharers, and intents ahead, wait for at most as many exclusive holders in a row as the
 * table has ranks. A sharer that leaves the root to a batch waits for its end as others do, and
 * if it misses that YIELDS times, it ends the next one itself. An exclusive client that has the
 * root waits for sharers that come one after the other until its patience has ended, which is at
 * most option patience, and the phase has lasted for its time, and then only for those that are in.
 * If the option sets patience, that time is over with the patience. If the lock decides, it is at
 * most 500 us for each RANKS_PER_PHASE ranks, and at least one of these. A sharer is in the queue
 * for the root when it has waited for option patience, or, if the lock decides, for 500 us for each
 * RANKS_PER_WAIT ranks, and at least one of these. A client that dies or is slow while it has set
 * WATCHED delays others by that time at most.
 *
 * Models: models/adaptive_sharing.pml (batches) and models/adaptive_shares.pml (short phases),
 * whose labels are used here. WATCHED is in neither: it only says who looks, and each wait for it
 * ends.
 */
#include "lock/adaptive/adaptive.h"

/* In round trips, a phase of sharers lasts
 *   PHASE_TRIPS (nodes - 1) + ranks / RANKS_PER_TRIP + max(0, ranks - FEW_RANKS) / MORE_PER_TRIP,
 * because a batch goes to each other node, may have each rank, and if it goes to all nodes takes as
 * long for few writers as for many. It is short if it has lasted for less than
 *   (SHORT_TRIPS / (nodes - 1) + SHORT_MORE_TRIPS) min(1, FEW_RANKS / ranks).
 * A sharer goes on looking for WHOLE_TRIPS while another client of its node gets the root. */
enum {
	PHASE_TRIPS = 4,
	RANKS_PER_TRIP = 16,
	MORE_PER_TRIP = 2,
	SHORT_TRIPS = 4,
	SHORT_MORE_TRIPS = 4,
	FEW_RANKS = 32,
	WHOLE_TRIPS = 16
};

/* If the lock decides about patience: for so many ranks, the longest phase of sharers has the
 * longest patience once, and so has the wait of a sharer that does not queue. */
enum { RANKS_PER_PHASE = 256, RANKS_PER_WAIT = 64 };

/* How often a sharer leaves the root to a batch. */
enum { YIELDS = 8 };

/* The shortest pause between two looks at H. */
enum { PAUSE_MIN_NS = 1000 };

static uint64_t trips(struct lock_slot *slot, int n)
{
	return (uint64_t)n * (uint64_t)adaptive_trip_ns(adaptive_notes(slot));
}

/* ------------------------------------------------------------------- batches */

void phase_begin(struct lock_slot *slot)
{
	kept_root_set_flags(slot, W_SPLIT | W_CLOSED | BATCH_ONE); /* B1 */
}

void phase_end(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_word h = adaptive_home(s, slot);

	/* B4. */
	rma_acc(&slot->client, h, -W_HELD);
	rma_flush(&slot->client, h); /* orders B4 before the release of the root; pairs with S1 */
	kept_root_set_flags(slot, W_SPLIT);
}

int phase_go_on(const struct lock_setup *s, struct lock_slot *slot, bool tries)
{
	const struct adaptive_constants *k = s->state;
	struct adaptive_slot *own = lock_own(slot);

	if (slot->mode == PAWL_EXCLUSIVE || FAULT(adaptive_joins)) {
		kept_root_set_flags(slot, kept_root_flags(slot) + BATCH_ONE);
		own->entry = BY_HOME; /* B3 */
		return PAWL_SUCCESS;
	}
	/* B5. */
	if (slot->mode == PAWL_SHARED && !tries && !k->keeps_order && own->yields < YIELDS) {
		own->yields++;
		if (kept_root_shut_soon(slot))
			return FAULT(adaptive_yields) ? PAWL_SUCCESS : PAWL_ERR_BUSY;
	}
	phase_end(s, slot);
	return LOCK_PASSED;
}

int phase_may_go_on(const struct lock_setup *s, struct lock_slot *slot, int clients)
{
	int64_t flags = kept_root_flags(slot);
	int64_t left = s->topo->nranks - ((flags & W_BATCH) >> BATCH_SHIFT);

	if (left <= 0)
		return 0;
	clients = left < clients ? (int)left : clients;
	kept_root_set_flags(slot, flags + clients * BATCH_ONE);
	return clients;
}

bool phase_hand_over(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_word h = adaptive_home(s, slot);
	int64_t n = (kept_root_flags(slot) & W_BATCH) >> BATCH_SHIFT;

	*adaptive_entry(slot) = BY_ROOT;
	if (FAULT(adaptive_reopens)) {
		rma_acc(&slot->client, h, -W_HELD);
		rma_flush(&slot->client, h);
	}
	if (n < s->topo->nranks && kept_root_hand_over(s, slot)) /* B2 */
		return true;
	if (!FAULT(adaptive_shut_out))
		phase_end(s, slot);
	return false;
}

/* -------------------------------------------------------- phases of sharers */

/* The longest patience, once for so many ranks. */
static uint64_t patience_for(const struct lock_setup *s, int ranks)
{
	const struct adaptive_constants *k = s->state;
	int n = s->topo->nranks / ranks;

	return k->patience * (uint64_t)(k->decides && n > 1 ? n : 1);
}

uint64_t phase_longest_wait(const struct lock_setup *s)
{
	return patience_for(s, RANKS_PER_WAIT);
}

uint64_t phase_end_of_sharing(const struct lock_setup *s, struct lock_slot *slot, uint64_t end)
{
	const struct adaptive_constants *k = s->state;
	int nranks = s->topo->nranks, more = nranks > FEW_RANKS ? nranks - FEW_RANKS : 0;
	int n = PHASE_TRIPS * (k->nodes - 1) + nranks / RANKS_PER_TRIP + more / MORE_PER_TRIP;
	uint64_t lasts = trips(slot, n), age = share_age_ns(s, slot), last;
	uint64_t most = patience_for(s, RANKS_PER_PHASE);

	lasts = lasts < most ? lasts : most;
	if (!k->decides || age >= lasts)
		return end;
	last = slot_at_latest(slot, rma_clock(&slot->client) + lasts - age);
	return last > end ? last : end;
}

bool phase_is_short(const struct lock_setup *s, struct lock_slot *slot, uint64_t began)
{
	const struct adaptive_constants *k = s->state;
	uint64_t age = share_age_ns(s, slot), nranks = (uint64_t)s->topo->nranks, least;

	/* Where ranks outnumber cores, a phase lasts for as long as the scheduler likes. */
	if (!k->decides || slot->client.rma->waiting.crowded)
		return false;
	if (!age) /* at least so long, as far as this node knows */
		age = rma_clock(&slot->client) - began;
	least = trips(slot, SHORT_TRIPS) / (uint64_t)(k->nodes - 1) + trips(slot, SHORT_MORE_TRIPS);
	return age < (nranks > FEW_RANKS ? least * FEW_RANKS / nranks : least);
}

static bool has_holder(struct lock_slot *slot)
{
	int64_t w;

	rma_get(&slot->client, adaptive_word(slot, LINE_W), &w);
	return (w & W_HELD) != 0;
}

/* The client of its node that looks. */
static int look_for_sharing(const struct lock_setup *s, struct lock_slot *slot, struct rma_pause *p,
			    int rc)
{
	const int64_t others = (adaptive_others(slot) & ~W_SHARERS) | W_STRICT;
	struct rma_word h = adaptive_home(s, slot);
	uint64_t whole_end = rma_clock(&slot->client) + trips(slot, WHOLE_TRIPS);
	int64_t value;

	while (rc != PAWL_SUCCESS) {
		if (rc == LOCK_PASSED &&
		    (!has_holder(slot) || rma_clock(&slot->client) >= whole_end))
			break;
		if (!rma_pause(&slot->client, p, "exclusive holders to leave"))
			break;
		rma_get(&slot->client, h, &value);
		rma_flush(&slot->client, h); /* orders the look before the use of its result */
		rc = value & others ? PAWL_ERR_BUSY : sharing_enter_at_once(s, slot);
	}
	return rc;
}

int phase_await_sharing(const struct lock_setup *s, struct lock_slot *slot, int rc)
{
	const struct adaptive_constants *k = s->state;
	struct rma_pause p = {.min_ns = PAUSE_MIN_NS, .max_ns = trips(slot, 1)}, q = {0};

	if (k->keeps_order)
		return rc;
	p.deadline_ns = slot_at_latest(slot, rma_clock(&slot->client) + phase_longest_wait(s));
	q.deadline_ns = p.deadline_ns;
	while (!share_watch(slot)) {
		if (!share_await(slot, p.deadline_ns))
			return PAWL_ERR_BUSY;
		if (share_join_if_open(s, slot)) {
			*adaptive_entry(slot) = BY_SHARE;
			return PAWL_SUCCESS;
		}
		/* Another node has closed the share, or is about to; R may still have OPEN. */
		if (!rma_pause(&slot->client, &q, "the share of its node to be open"))
			return PAWL_ERR_BUSY;
	}
	rc = look_for_sharing(s, slot, &p, rc);
	share_unwatch(slot);
	return rc;
}
