/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kind adaptive: what the head of a node's queue does (T3 ... T8). It tries to take W while its
 * patience lasts (T4), and then keeps newcomers out (T5); or it is handed W (T8), or gives up (T7).
 * It leaves the queue (T6), or remains its head until it releases the lock (direct.c).
 *
 * Patience. On one node the lock sets it by itself, unless the option does (is_patience_short()):
 * long where a hand-over may take long, else short, so that a writer does not make readers take
 * turns; and none for a writer that finds readers whose sections are long, because it would seldom
 * find a moment without readers. On several nodes it is that of a slow hand-over, but with holders
 * in another mode a few round trips, or, for sharers that have just come in, some for each node
 * (sharing.c, phases.c).
 *
 * On several nodes, where ranks have cores of their own, a patient head also takes W when W has
 * been free for a moment: no client of its node uses the lock again and again, and a pause would
 * leave the lock idle (is_left_alone()). This adds tries and nothing else.
 *
 * Ordering guarantees: those of adaptive.c; (B), (C) and (E) are about the head.
 *
 * Models: models/adaptive.pml and models/adaptive_counts.pml, whose labels are used here.
 */
#include "lock/adaptive/adaptive.h"

/* A patient head makes at least this many tries while its patience lasts. */
enum { LOOKS_OF_PATIENCE = 16, BACKOFF_MIN_NS = 1000 };

/* The pause between two of its looks where clients do not come back at once. */
enum { LOOK_NS = 100 };

/* A lock that stays free for so long is not about to be acquired again. */
enum { MOMENT_NS = 1000 };

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

/* The longest pause, in round trips, of a head whose node knows the root as split. */
enum { PAUSE_TRIPS = 3 };

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

/* What the node knows of the root: W_ROOT, as it is, or as it was here last. While CLOSED is set,
 * the root goes from one client to the next (phases.c). */
static int64_t root_as_known(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;

	return k->several ? kept_root_flags(slot) : 0;
}

/* On several nodes: whether W is free and stays so for a moment, so that no client of the node uses
 * the lock again and again. Waits for at most a pause of the head until W is free. */
static bool is_left_alone(struct lock_slot *slot, const struct rma_pause *p)
{
	struct rma_word w = adaptive_word(slot, LINE_W);
	uint64_t now = rma_clock(&slot->client), end = now + p->max_ns;
	int64_t value;

	if (p->deadline_ns && p->deadline_ns < end)
		end = p->deadline_ns;
	return rma_await_until(&slot->client, w, W_HELD, RMA_EQ, 0, RMA_SOON, end,
			       "the lock to be free", &value) &&
	       !rma_await_until(&slot->client, w, W_HELD, RMA_NE, 0, RMA_SOON,
				rma_clock(&slot->client) + MOMENT_NS, "the lock to stay free",
				&value);
}

/* T4 of a head whose patience lasts. */
static bool take_patiently(const struct lock_setup *s, struct lock_slot *slot, int64_t *was)
{
	const struct adaptive_constants *k = s->state;
	struct rma_pause p = {.min_ns = BACKOFF_MIN_NS};
	uint64_t patience = k->patience;
	bool depends = k->decides && !k->several, hurries;
	bool watches = k->several && !slot->client.rma->waiting.crowded;
	int64_t root;

	if (!run_is_quick(slot) && adaptive_take(s, slot, TAKER_HEAD, was))
		return true;
	root = root_as_known(s, slot);
	/* A head of a batch that is patient only takes W later: sharers wait elsewhere. */
	if (k->keeps_order || (root & W_CLOSED))
		return false;
	if (depends)
		patience = patience_with_holders(s, slot);
	hurries = depends && patience >= PATIENCE_NS && slot->mode == PAWL_EXCLUSIVE &&
		  !run_is_quick(slot);
	p.max_ns = patience / LOOKS_OF_PATIENCE;
	if (root & W_SPLIT) /* the holder begins a batch, or hands the root on */
		p.max_ns = PAUSE_TRIPS * (uint64_t)adaptive_trip_ns(adaptive_notes(slot));
	if (direct_is_better(s, slot))
		p.min_ns = p.max_ns = LOOK_NS;
	p.deadline_ns = slot_at_latest(slot, rma_clock(&slot->client) + patience);
	for (;;) {
		if (watches && is_left_alone(slot, &p) && adaptive_take(s, slot, TAKER_HEAD, was))
			return true;
		if (!rma_pause(&slot->client, &p, "the lock to be free"))
			return false;
		if (run_has_ended(slot) && adaptive_take(s, slot, TAKER_HEAD, was))
			return true;
		if (hurries && hurry(s, slot, &p, patience))
			hurries = false;
	}
}

/* T5, T4. False: the deadline has passed. */
static bool take_strictly(const struct lock_setup *s, struct lock_slot *slot, int64_t *was)
{
	struct rma_word w = adaptive_word(slot, LINE_W);
	uint64_t began = rma_clock(&slot->client);
	int64_t value;

	rma_fao(&slot->client, w, RMA_OR, W_STRICT, &value);
	do {
		if (adaptive_take(s, slot, TAKER_HEAD, was)) {
			note_hand_over(slot, began);
			return true;
		}
	} while (rma_await_until(&slot->client, w, adaptive_closed_to(s, slot), RMA_EQ, 0, RMA_SOON,
				 slot->deadline_ns, "the lock to be handed over", &value));
	return false;
}

/* T7: give up, unless W is SHUT; then take it. */
static bool give_up(struct lock_slot *slot, int64_t *was)
{
	struct rma_word w = adaptive_word(slot, LINE_W);
	int64_t value, old, next;

	rma_get(&slot->client, w, &value);
	for (;;) {
		bool is_shut = (value & W_STATE) == W_SHUT && !FAULT(adaptive_give_up);

		next = (value & ~(int64_t)W_BITS) + (is_shut ? W_HELD - W_SHUT : 0);
		rma_cas(&slot->client, w, value, next, &old);
		if (old == value) {
			*was = W_SHUT;
			return !is_shut;
		}
		value = old;
	}
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
static bool take_as_head(const struct lock_setup *s, struct lock_slot *slot, int64_t *was)
{
	const struct adaptive_constants *k = s->state;
	int64_t value;

	if (k->several)
		rma_fao(&slot->client, adaptive_word(slot, LINE_W), RMA_OR, W_HEAD, &value);
	if (take_patiently(s, slot, was) || (!slot_is_late(slot) && take_strictly(s, slot, was)))
		return true;
	return !give_up(slot, was);
}

/* T8: a client has been granted W, on several nodes together with the root (direct.c, (C)). On one
 * node it counts itself in another mode in place of HELD, and wakes intents ahead, which wait for
 * the end of HELD. */
static void take_handed(const struct lock_setup *s, struct lock_slot *slot, int64_t *was)
{
	const struct adaptive_constants *k = s->state;
	struct rma_word w = adaptive_word(slot, LINE_W);
	int64_t old;

	*was = k->several ? W_SHUT : W_NEW;
	if (k->several || slot->mode == PAWL_EXCLUSIVE)
		return;
	rma_fao(&slot->client, w, RMA_SUM,
		adaptive_one(slot) - (FAULT(adaptive_change) ? 0 : W_HELD), &old);
	if ((old & W_COUNTS) && w.map)
		rma_wake(&slot->client, w);
}

/* The share of a sharer's node has been opened while it was in the queue (phases.c). */
static bool joins_as_head(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;

	if (!k->several || slot->mode != PAWL_SHARED || k->keeps_order ||
	    !share_join_if_open(s, slot))
		return false;
	*adaptive_entry(slot) = BY_SHARE;
	return true;
}

int head_acquire(const struct lock_setup *s, struct lock_slot *slot, int64_t grant)
{
	struct adaptive_slot *own = lock_own(slot);
	bool has_w = (grant & HOLDER_NOW) != 0, keeps;
	int64_t was;
	int rc;

	direct_note_grant(s, slot, grant);
	if (!has_w && joins_as_head(s, slot)) {
		leave_queue(s, slot);
		return PAWL_SUCCESS;
	}
	if (has_w)
		take_handed(s, slot, &was);
	else if (!take_as_head(s, slot, &was)) {
		leave_queue(s, slot);
		return PAWL_ERR_TIMEOUT;
	}
	own->looked = 0; /* its turn begins */
	/* Its release, and its next acquire, take the long way. */
	own->w = NULL;
	own->last = 0;
	keeps = direct_may_keep(s, slot, grant); /* K1 */
	own->place = keeps ? PLACE_KEPT : PLACE_LEFT;
	if (!keeps)
		leave_queue(s, slot); /* T6 */
	else if (has_w && direct_joins(s, slot, grant))
		return PAWL_SUCCESS;
	rc = adaptive_enter(s, slot, was);
	if (keeps && (rc != PAWL_SUCCESS || !direct_keeps(s, slot))) {
		leave_queue(s, slot);
		own->place = PLACE_LEFT;
	}
	if (rc != PAWL_SUCCESS)
		own->place = PLACE_NONE;
	return rc;
}
