/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kind adaptive on one node: a release that hands W to the next client of the queue without making
 * it free.
 *
 * A head that takes W (T4) may remain the head of its queue while it holds the lock (K1). Its
 * release then grants W, which stays HELD, and the place at the head to the next client by one put
 * (K2), as in MCS: an acquire is one swap of the tail. If it has no successor, it leaves the queue
 * (K3), and makes W free (R1). It does so, too, if W has to become free; then it makes its
 * successor the head by K3.
 *
 * No client that runs can take W between two holders. So a client does K1 only if that costs
 * nothing: it came back late the last time that it had come from the queue (SOON_NS), or patience
 * is 0. A client that comes back at once, as in a loop, leaves the queue when it takes W (T6), and
 * takes W again until the patience of the next head has ended. The time from a release to the next
 * acquire does not depend on how W is handed over, so each client measures its own. A waiter that
 * does not get its core soon when it is handed W does not do K1 for a while (SLOW_WAITS), and where
 * ranks outnumber cores only patience 0 has K1. Clients that do K1 queue behind the others that
 * wait, and look at W again and again when they are at the head: the holder that came by T1 is
 * likely to be gone for long, too.
 *
 * On nodes of several packages, W goes to clients of the releaser's package first (packages.c).
 *
 * W has to become free when an intent ahead waits, whose count is in W (C1). A release looks for
 * these in W, a cache line that clients change when they queue: with patience 0 each one does,
 * otherwise one of HANDED_MOST + 1 that hand W on. The grant has the number since the last look. A
 * head that has taken W looks.
 *
 * Ordering guarantees
 *   (A) W is HELD from K1 until a client whose release does not do K2 makes it free. Each client in
 *       between has W by a grant, and its queue node is the first one. So STRICT is not set, and no
 *       client sleeps on W but for intents ahead.
 *   (B) What a holder did is visible to the next one by the grant, which is stored after it and
 *       awaited with acquire semantics (mcs.h, (C)).
 *   (C) If all clients behind the releaser have abandoned their places, K2 passes over them, the
 *       queue is empty, and the releaser makes W free.
 *   (D) K3 precedes R1.
 *   (E) W has no other holders at K2: an exclusive client excludes them, and a sharer that counts
 *       itself meanwhile (S1) finds HELD. An intent ahead that counts itself after the look waits
 *       for the next holders, at most HANDED_MOST + 1.
 *
 * Model: models/adaptive.pml, whose labels are used here.
 */
#include "lock/adaptive/adaptive.h"

/* A client that comes back sooner than that would take W again before a waiter that it hands W
 * to. */
enum { SOON_NS = 250 };

/* For how many acquires after a slow hand-over a client skips K1. */
enum { ACQUIRES_SKIPPED = 64 };

/* Above the kind, a grant has the number of hand-overs since the last look, and for one of so many
 * acquires the time of the grant. */
enum { HANDED_BITS = 4, HANDED_MOST = (1 << HANDED_BITS) - 1, ACQUIRES_PER_TIME = 4 };
/* The time is in units of 2^TIME_UNIT ns, and not 0. */
enum { TIME_SHIFT = GRANT_KIND_BITS + HANDED_BITS, TIME_UNIT = 14 };
enum { TIME_MASK = (1 << (GRANT_PACKAGE_SHIFT - TIME_SHIFT)) - 1 };

bool direct_is_better(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;
	const struct adaptive_slot *own = lock_own(slot);

	return k->keeps_order || (slot->mode == PAWL_EXCLUSIVE && own->is_absent &&
				  !own->skip_direct && !slot->client.rma->waiting.crowded);
}

/* Whether W need not become free, as far as is known. */
static bool may_hand_on(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;
	struct adaptive_slot *own = lock_own(slot);
	int64_t value;

	if ((!k->keeps_order && own->handed < HANDED_MOST) || FAULT(adaptive_unseen)) {
		own->handed = (own->handed + 1) & HANDED_MOST;
		return true;
	}
	own->handed = 0;
	rma_get(&slot->client, adaptive_word(slot, LINE_W), &value);
	return !(value & (W_INTENTS | W_SHARED_INTENTS));
}

static int64_t time_of(struct lock_slot *slot)
{
	return (int64_t)(rma_clock(&slot->client) >> TIME_UNIT | 1) & TIME_MASK;
}

/* A grant of W, but for what packages.c adds. */
static int64_t grant_of_w(struct lock_slot *slot)
{
	const struct adaptive_slot *own = lock_own(slot);
	int64_t grant = HOLDER_NOW | (int64_t)own->handed << GRANT_KIND_BITS;

	if (slot->acquires % ACQUIRES_PER_TIME == 0)
		grant |= time_of(slot) << TIME_SHIFT;
	return grant;
}

bool direct_hand_on(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_word tail = *adaptive_queue(slot);
	int64_t near, succ;
	bool is_near = package_has_next(s, slot, &near), may;

	if (!is_near && package_leave_node(slot, &succ))
		return false;
	may = may_hand_on(s, slot);
	if (is_near) {
		if (!may || !package_goes_on(slot)) {
			package_leave(s, slot);
		} else if (package_hand_on(s, slot, near, grant_of_w(slot))) {
			return true;
		}
		if (package_leave_node(slot, &succ))
			return false;
	}
	if (!may) {
		if (FAULT(adaptive_kept))
			return false;
		mcs_hand_over(s, slot, RMA_NODE, tail, succ, HEAD_NOW);
		return false;
	}
	return mcs_hand_over(s, slot, RMA_NODE, tail, succ,
			     grant_of_w(slot) | package_grant(slot)) ||
	       FAULT(adaptive_handed);
}

void direct_note_grant(const struct lock_setup *s, struct lock_slot *slot, int64_t grant)
{
	struct adaptive_slot *own = lock_own(slot);
	int64_t when = grant >> TIME_SHIFT & TIME_MASK;
	bool is_handed = (grant & HOLDER_NOW) != 0;

	own->handed = is_handed ? (grant >> GRANT_KIND_BITS) & HANDED_MOST : HANDED_MOST;
	if (when && ((time_of(slot) - when) & TIME_MASK) > SLOW_NS >> TIME_UNIT)
		own->skip_direct = ACQUIRES_SKIPPED;
	else if (own->skip_direct > 0)
		own->skip_direct--;
	package_note_grant(s, slot, grant);
}

void direct_note_release(struct lock_slot *slot)
{
	struct adaptive_slot *own = lock_own(slot);

	own->left = slot->lock + 1;
	own->left_at = rma_clock(&slot->client);
}

bool direct_note_acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	struct adaptive_slot *own = lock_own(slot);
	bool is_again = own->left == slot->lock + 1;

	if (!own->left)
		return false;
	own->is_absent = is_again && rma_clock(&slot->client) - own->left_at >= SOON_NS;
	own->left = 0;
	return is_again && direct_is_better(s, slot);
}
