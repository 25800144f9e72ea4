/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kind adaptive on one node: the modes other than exclusive.
 *
 * W also has the numbers of sharers, of intents exclusive and of intents shared, which exclude each
 * other as in mgl: a client takes W by one compare-and-swap that adds its count, and the last one
 * of those that exclude the head wakes it. A compare-and-swap fails whenever another sharer comes
 * or leaves, so a sharer adds its count at once (S1), and takes it back if what it found excludes
 * it; then its next acquire begins with a compare-and-swap. An intent ahead adds its count at once
 * (C1), and then waits for the holders that exclude it (C2).
 *
 * A client that has to wait queues (T2), and takes W as the head of the queue (head.c).
 *
 * Ordering guarantees: (F) of adaptive.c.
 *
 * Model: models/adaptive.pml, whose labels are used here.
 */
#include "lock/adaptive/adaptive.h"

/* T1, for a client that others in its mode do not exclude. The first compare-and-swap brings the
 * cache line, so the next ones, from the value that it found, take little time. */
RMA_INLINE bool count_by_swap(struct lock_slot *slot)
{
	struct rma_word w = adaptive_word(slot, LINE_W);
	int64_t closed = adaptive_others(slot) | W_STRICT, one = adaptive_one(slot), value = 0;

	for (int i = 0; i < ATTEMPTS && !(value & closed); i++) {
		int64_t expected = value;

		rma_cas(&slot->client, w, expected, expected + one, &value);
		if (value == expected)
			return true;
	}
	return false;
}

void count_take_back(struct lock_slot *slot)
{
	struct adaptive_slot *own = lock_own(slot);

	own->excluded = true;
	count_leave(slot);
}

bool count_at_once(struct lock_slot *slot)
{
	struct adaptive_slot *own = lock_own(slot);
	int64_t was;

	if (slot->mode != PAWL_SHARED)
		return count_by_swap(slot);
	if (own->excluded) {
		own->excluded = !count_by_swap(slot);
		return !own->excluded;
	}
	rma_fao(&slot->client, adaptive_word(slot, LINE_W), RMA_SUM, adaptive_one(slot), &was);
	if (count_is_in(was) || FAULT(adaptive_found))
		return true;
	count_take_back(slot);
	return false;
}

int count_ahead(struct lock_slot *slot)
{
	struct rma_word w = adaptive_word(slot, LINE_W);
	int64_t others = adaptive_others(slot), value;

	rma_fao(&slot->client, w, RMA_SUM, adaptive_one(slot), &value);
	if (!(value & others) ||
	    rma_await_until(&slot->client, w, others, RMA_EQ, 0, RMA_SOON, slot->deadline_ns,
			    "holders in another mode to leave", &value))
		return PAWL_SUCCESS;
	count_leave(slot);
	return PAWL_ERR_TIMEOUT;
}
