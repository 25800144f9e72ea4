/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kind adaptive on one node: how quick clients leave the lock to each other.
 *
 * A client is quick if it came back at once whenever it had released the lock: from the time when
 * it had the lock after it had found it in use, until it finds it in use again, it acquired it once
 * in QUICK_NS or more often. A client that waits for a quick one finds W free at about every second
 * look. If it took W then, W and the data that the lock protects would go from one client to the
 * other every few acquires, and each time the next holder would wait for several cache lines, which
 * takes longer than a short section. So an exclusive client that is quick, and finds no holders in
 * another mode, does not take W because it finds it free once:
 *   - it queues without having looked at W for a moment (take_soon());
 *   - as the head it looks at W now and then while its patience lasts (T4), and takes W only if W
 *     is not HELD for a moment (run_has_ended()): the clients that used it have gone.
 * When its patience has ended it sets STRICT as any other head (T5). So the acquires of one client
 * in a row last for the patience of the next one, or, where ranks outnumber cores, for a turn
 * (turns.c).
 *
 * This omits tries and nothing else. The guarantees and bounds of adaptive.c hold, because none of
 * them relies on a try before T5.
 */
#include "lock/adaptive/adaptive.h"

enum { QUICK_NS = 250 };

void run_begin(struct lock_slot *slot)
{
	struct adaptive_slot *own = lock_own(slot);

	own->had = slot->lock + 1;
	own->had_at = rma_clock(&slot->client);
	own->had_then = (uint32_t)slot->acquires;
}

void run_end(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;
	struct adaptive_slot *own = lock_own(slot);
	uint64_t many;
	int64_t value;

	own->is_quick = false;
	if (k->keeps_order || slot->mode != PAWL_EXCLUSIVE || own->had != slot->lock + 1)
		return;
	many = (uint32_t)slot->acquires - own->had_then;
	if (rma_clock(&slot->client) - own->had_at >= many * QUICK_NS)
		return;
	rma_get(&slot->client, adaptive_word(slot, LINE_W), &value);
	own->is_quick = !(value & W_COUNTS);
}

bool run_has_ended(struct lock_slot *slot)
{
	return !run_is_quick(slot) ||
	       !rma_spin_briefly(&slot->client, adaptive_word(slot, LINE_W), W_HELD, RMA_NE, 0);
}
