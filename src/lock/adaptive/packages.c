/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kind adaptive on one node: queues of its packages. A hand-over from one package to another takes
 * about twice as long as within one, because the cache lines of holder and waiter move between
 * packages. So clients that hand W over (direct.c) do it within their package first.
 *
 * Each package of a node has a queue (mcs.h) for each lock. A client for which direct hand-overs
 * are better queues there (P1); and the first client of that queue queues in the queue of
 * the node (P2).
 * When it has W and remains the head of that queue (K1), it remains the first client of its
 * package, too. Its release grants W to the next client of the package, and with it what it has of
 * the queue of the node: the link to the next client there, or, if there was none, nothing, and it
 * has left that queue (P3). So a release within a package is one put, as within a node. After
 * STREAK_MOST grants in a row, if another client is in the queue of the node, and when W has to
 * become free, the client leaves the queue of its package, whose next client then does P2 (P4); and
 * W goes to the next client of the node by K2, or becomes free by K3.
 *
 * The order of service is that of the queue of the node for the first clients of packages and for
 * those that do not do P1; each of the former may bring STREAK_MOST clients of its package along.
 *
 * Other clients, those in other modes among them, queue at the node alone; so do all clients where
 * nodes are not divided into packages, and with patience 0.
 *
 * A client whose deadline passes in one of the queues abandons its place there. At the node it does
 * P4 before, and when it comes back it has its place at the node only. So a slot has an abandoned
 * place in one queue at a time.
 *
 * Ordering guarantees
 *   (A) The first client of a package that has W is the head of the queue of the node, or has
 *       inherited that: the releaser was, its own place has been left or has a successor, which is
 *       known, and no other client accesses the place any more. So one client at a time may grant W
 *       or the place at the head to that successor. That client may abandon its place meanwhile,
 *       which mcs_hand_over() finds, and passes over it, as if its predecessor released.
 *   (B) A client that has inherited nothing leaves the queue of the node without an operation. The
 *       head of that queue, if any, has come by itself, and waits for W, which becomes free (K3).
 *   (C) What a holder did is visible to the next one by the grant: mcs.h, (C). Nothing else of W
 *       changes, so (A) to (F) of direct.c hold for P3 as for K2.
 *   (D) If all clients of the package behind the releaser have abandoned their places, P3 passes
 *       over them, the queue of the package is empty, and the releaser goes on with K2 or K3; what
 *       it was about to give away it has itself.
 *
 * Progress: a client waits for at most STREAK_MOST holders for each client that is before it in the
 * queue of the node, and for as many in its own package.
 *
 * Model: models/adaptive_packages.pml, whose labels are used here.
 */
#include "lock/adaptive/adaptive.h"

/* A grant of W has, from GRANT_PACKAGE_SHIFT on: whether the releaser had inherited its place; and,
 * if it is by the queue of a package, how many clients have had W by it, not 0, and the link to
 * the next client of the node, or 0. */
enum { BY_HEIR = 1, STREAK_SHIFT = 1, STREAK_BITS = 6, BEHIND_SHIFT = STREAK_SHIFT + STREAK_BITS };
enum { STREAK_MASK = (1 << STREAK_BITS) - 1, BEHIND_TIMED = 35 };
_Static_assert(GRANT_PACKAGE_SHIFT + BEHIND_SHIFT + BEHIND_TIMED + 1 <= 63 &&
		   BEHIND_TIMED == 16 + COUNT_BITS,
	       "a grant is never negative, and has room for a slot");

/* Grants in a row within a package. */
#define STREAK_MOST ATTEMPTS_OR(STREAK_MASK, 2)

static int level_of(const struct lock_setup *s)
{
	const struct adaptive_constants *k = s->state;

	return k->package_level;
}

int package_level(const struct lock_setup *s)
{
	const struct topo *t = s->topo;

	for (int i = 2; i <= t->nlevels; i++)
		if (t->level[i - 1].type > TOPO_NODE && t->level[i - 1].type < TOPO_GANG)
			return i;
	return 0;
}

static struct rma_word tail_of(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;
	int j = topo_element(s->topo, slot->client.rma->rank, k->package_level), rank;
	uint64_t at = lock_area_place(s, &k->tails, j, slot->lock, &rank);

	return rma_word(slot->client.rma, RMA_NODE, rank, at);
}

bool package_is_used(const struct lock_setup *s, struct lock_slot *slot)
{
	struct adaptive_slot *own = lock_own(slot);

	own->in_package = false;
	return level_of(s) && direct_is_better(s, slot);
}

static bool await_grant(struct lock_slot *slot, int64_t *grant)
{
	return mcs_await_grant(slot, SLOT_INNER, grant);
}

bool package_enter(const struct lock_setup *s, struct lock_slot *slot, int64_t *grant)
{
	struct adaptive_slot *own = lock_own(slot);
	int64_t pred = mcs_enter(slot, SLOT_INNER, tail_of(s, slot));

	own->in_package = true;
	if (!pred) {
		*grant = HEAD_NOW;
		return true;
	}
	mcs_link(s, slot, SLOT_INNER, pred);
	return await_grant(slot, grant);
}

int package_resume(struct lock_slot *slot, int64_t *grant)
{
	struct adaptive_slot *own = lock_own(slot);
	int rc = mcs_resume(slot, SLOT_INNER, MCS_ABANDONED);

	if (rc == LOCK_PASSED)
		own->in_package = false;
	if (rc != PAWL_SUCCESS)
		return rc;
	return await_grant(slot, grant) ? PAWL_SUCCESS : LOCK_QUEUED;
}

void package_leave(const struct lock_setup *s, struct lock_slot *slot)
{
	struct adaptive_slot *own = lock_own(slot);
	struct rma_word tail;
	int64_t succ;

	if (!own->in_package)
		return;
	own->in_package = false;
	tail = tail_of(s, slot);
	if (!mcs_leave(slot, SLOT_INNER, tail, &succ))
		mcs_hand_over(s, slot, SLOT_INNER, tail, succ, HEAD_NOW);
}

bool package_leave_node(struct lock_slot *slot, int64_t *succ)
{
	const struct adaptive_slot *own = lock_own(slot);

	if (own->behind == PLACE_OWN)
		return mcs_leave(slot, RMA_NODE, *adaptive_queue(slot), succ);
	*succ = own->behind; /* (B) */
	return own->behind == 0;
}

bool package_has_next(const struct lock_setup *s, struct lock_slot *slot, int64_t *succ)
{
	struct adaptive_slot *own = lock_own(slot);

	if (own->in_package)
		own->in_package = !mcs_leave(slot, SLOT_INNER, tail_of(s, slot), succ);
	return own->in_package;
}

bool package_goes_on(struct lock_slot *slot)
{
	struct adaptive_slot *own = lock_own(slot);
	int64_t last;

	if (own->streak < STREAK_MOST)
		return true;
	if (own->behind)
		return false;
	rma_get(&slot->client, *adaptive_queue(slot), &last);
	if (last)
		return false;
	own->streak = 0;
	return true;
}

/* P3: the link to the next client of the node. 0: there is none, and the place has been left. */
static int64_t bequeath(struct lock_slot *slot)
{
	int64_t succ;

	if (package_leave_node(slot, &succ))
		return 0;
	if (!succ)
		succ = rma_await(&slot->client, slot->next[RMA_NODE], -1, RMA_NE, 0, RMA_SOON,
				 "its successor to link itself");
	return succ;
}

bool package_hand_on(const struct lock_setup *s, struct lock_slot *slot, int64_t succ,
		     int64_t grant)
{
	struct adaptive_slot *own = lock_own(slot);
	int64_t link, id;

	own->behind = FAULT(adaptive_heir) ? 0 : bequeath(slot);
	id = own->behind & ~MCS_TIMED;
	link = own->behind & MCS_TIMED ? id | INT64_C(1) << BEHIND_TIMED : id;
	grant |= (link << BEHIND_SHIFT | (int64_t)(own->streak + 1) << STREAK_SHIFT)
		 << GRANT_PACKAGE_SHIFT;
	if (mcs_hand_over(s, slot, SLOT_INNER, tail_of(s, slot), succ, grant))
		return true;
	own->in_package = false;
	return false;
}

int64_t package_grant(struct lock_slot *slot)
{
	const struct adaptive_slot *own = lock_own(slot);

	return own->behind == PLACE_OWN ? 0 : (int64_t)BY_HEIR << GRANT_PACKAGE_SHIFT;
}

void package_note_grant(const struct lock_setup *s, struct lock_slot *slot, int64_t grant)
{
	struct adaptive_slot *own = lock_own(slot);
	int64_t link;

	grant >>= GRANT_PACKAGE_SHIFT;
	own->streak = (grant >> STREAK_SHIFT) & STREAK_MASK;
	own->behind = PLACE_OWN;
	if (own->streak) {
		link = grant >> BEHIND_SHIFT;
		own->behind = link >> BEHIND_TIMED
				  ? (link & ~(INT64_C(1) << BEHIND_TIMED)) | MCS_TIMED
				  : link;
	}
	if (grant & BY_HEIR)
		slot->from = -(level_of(s) - 1);
}
