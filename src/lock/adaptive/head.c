/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kind adaptive on one node: what the head of the queue does (T3 ... T8). It tries to take W while
 * its patience lasts (T4), and then keeps newcomers out (T5); or it is handed W (T8), or gives up
 * (T7). It leaves the queue (T6), or remains its head until it releases the lock (direct.c).
 *
 * Patience. The lock sets it by itself, unless the option does (is_patience_short()): long where a
 * hand-over may take long, else short, so that a writer does not make readers take turns; and none
 * for a writer that finds readers whose sections are long, because it would seldom find a moment
 * without readers.
 *
 * Ordering guarantees: those of adaptive.c; (B) and (C) are about the head.
 *
 * Model: models/adaptive.pml, whose labels are used here.
 */
#include "lock/adaptive/adaptive.h"

/* A patient head makes at least this many tries while its patience lasts. */
enum { LOOKS_OF_PATIENCE = 16, BACKOFF_MIN_NS = 1000 };

/* The pause between two of its looks where clients do not come back at once. */
enum { LOOK_NS = 100 };

/* Patience in ns if option patience leaves it to the lock, and a hand-over does not take long (if
 * it may, it is that of adaptive_layout.c): of a head that waits for holders that come one after
 * the other; and of an exclusive head that waits for holders that are in together, so that it finds
 * none absent by chance. */
enum { PATIENCE_NS = 64000, SHARED_PATIENCE_NS = 8000 };

/* If W does not change so many times, each within that time, those that are in together stay for
 * longer, and the head is unlikely to find none of them in by a look now and then: no patience. */
enum { CHANGES = 4, CHANGE_NS = 500 };

/* How many waits of a client after a slow hand-over are long. */
enum { LONG_WAITS = 4 };

/* ---------------------------------------------------------------- patience */

/* Whether the patience of a head is short. A strict hand-over takes a fraction of a microsecond if
 * both clients run, and then little patience costs little throughput. It takes as long as the
 * scheduler likes if the head may lose its core while only it may take W: where ranks outnumber
 * cores, and on a machine that others use, which shows in the last hand-overs to this client. (So
 * do sections of more than SLOW_NS; beside these, patience costs little.) */
static bool is_patience_short(struct lock_slot *slot)
{
	const struct adaptive_slot *own = lock_own(slot);

	return !slot->client.rma->waiting.crowded && own->long_waits == 0;
}

/* How patient a head is, in ns, with the holders that are in now. */
static uint64_t patience_with_holders(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;
	struct rma_word w = adaptive_word(slot, LINE_W);
	bool is_short = is_patience_short(slot);
	int64_t value;

	rma_get(&slot->client, w, &value);
	if (!(value & W_COUNTS))
		return is_short ? PATIENCE_NS : k->patience;
	if (rma_is_slow_to_change(w, CHANGE_NS, CHANGES))
		return 0;
	return is_short ? SHARED_PATIENCE_NS : k->patience;
}

/* An exclusive head that began with this patience finds holders that are in together, or finds that
 * their sections are long: its patience ends when it would end with these. Returns whether it is
 * less patient with them. */
static bool hurry(const struct lock_setup *s, struct lock_slot *slot, struct rma_pause *p,
		  uint64_t patience)
{
	uint64_t with_them = patience_with_holders(s, slot);
	uint64_t end = rma_clock(&slot->client) + with_them;

	if (with_them < patience && end < p->deadline_ns)
		p->deadline_ns = end;
	return with_them < patience;
}

/* STRICT was set at a time, and the client has W now. */
static void note_hand_over(struct lock_slot *slot, uint64_t began)
{
	struct adaptive_slot *own = lock_own(slot);

	if (rma_clock(&slot->client) - began > SLOW_NS)
		own->long_waits = LONG_WAITS;
	else if (own->long_waits > 0)
		own->long_waits--;
}

/* T4 of a head whose patience lasts. */
static bool take_patiently(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;
	struct rma_pause p = {.min_ns = BACKOFF_MIN_NS};
	uint64_t patience = k->patience;
	bool hurries;

	if (!run_is_quick(slot) && adaptive_take(slot, true))
		return true;
	if (k->keeps_order)
		return false;
	if (k->decides)
		patience = patience_with_holders(s, slot);
	hurries = k->decides && patience >= PATIENCE_NS && slot->mode == PAWL_EXCLUSIVE &&
		  !run_is_quick(slot);
	p.max_ns = patience / LOOKS_OF_PATIENCE;
	if (direct_is_better(s, slot))
		p.min_ns = p.max_ns = LOOK_NS;
	p.deadline_ns = slot_at_latest(slot, rma_clock(&slot->client) + patience);
	for (;;) {
		if (!rma_pause(&slot->client, &p, "the lock to be free"))
			return false;
		if (run_has_ended(slot) && adaptive_take(slot, true))
			return true;
		if (hurries && hurry(s, slot, &p, patience))
			hurries = false;
	}
}

/* T5, T4. False: the deadline has passed. */
static bool take_strictly(struct lock_slot *slot)
{
	struct rma_word w = adaptive_word(slot, LINE_W);
	uint64_t began = rma_clock(&slot->client);
	int64_t value;

	rma_fao(&slot->client, w, RMA_OR, W_STRICT, &value);
	do {
		if (adaptive_take(slot, true)) {
			note_hand_over(slot, began);
			return true;
		}
	} while (rma_await_until(&slot->client, w, adaptive_others(slot), RMA_EQ, 0, RMA_SOON,
				 slot->deadline_ns, "the lock to be handed over", &value));
	return false;
}

/* ------------------------------------------------------------------ the head */

/* T6. */
static void leave_queue(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t succ;

	if (!package_leave_node(slot, &succ))
		mcs_hand_over(s, slot, RMA_NODE, *adaptive_queue(slot), succ, HEAD_NOW);
	package_leave(s, slot);
}

/* T3 ... T7 of the head of the queue. False: the deadline has passed. */
static bool take_as_head(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t value;

	if (take_patiently(s, slot) || (!slot_is_late(slot) && take_strictly(slot)))
		return true;
	rma_fao(&slot->client, adaptive_word(slot, LINE_W), RMA_AND, ~(int64_t)W_STRICT, &value);
	return false;
}

/* T8: a client has been granted W. It counts itself in another mode in place of HELD, and wakes
 * intents ahead, which wait for the end of HELD. */
static void take_handed(struct lock_slot *slot)
{
	struct rma_word w = adaptive_word(slot, LINE_W);
	int64_t old;

	if (slot->mode == PAWL_EXCLUSIVE)
		return;
	rma_fao(&slot->client, w, RMA_SUM,
		adaptive_one(slot) - (FAULT(adaptive_change) ? 0 : W_HELD), &old);
	if ((old & W_COUNTS) && w.map)
		rma_wake(&slot->client, w);
}

int head_acquire(const struct lock_setup *s, struct lock_slot *slot, int64_t grant)
{
	struct adaptive_slot *own = lock_own(slot);
	bool has_w = (grant & HOLDER_NOW) != 0, keeps;

	direct_note_grant(s, slot, grant);
	if (has_w) {
		take_handed(slot);
	} else if (!take_as_head(s, slot)) {
		leave_queue(s, slot);
		return PAWL_ERR_TIMEOUT;
	}
	own->looked = 0; /* its turn begins */
	/* Its release, and its next acquire, take the long way. */
	own->w = NULL;
	own->last = 0;
	keeps = slot->mode == PAWL_EXCLUSIVE && direct_is_better(s, slot); /* K1 */
	own->place = keeps ? PLACE_KEPT : PLACE_LEFT;
	if (!keeps)
		leave_queue(s, slot); /* T6 */
	if (!keeps || !has_w)
		adaptive_enter(slot);
	return PAWL_SUCCESS;
}
