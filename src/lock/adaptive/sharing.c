/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kind adaptive on several nodes: shared holders and intents, which may be at several nodes at a
 * time.
 *
 * A root is whole or split. With a whole root, the client that has it holds the lock (kept_root.c),
 * and the home is not asked; sharers of one node, the one that has the root, may enter by the share
 * of that node (shares.c), those of other nodes as guests (guests.c). With a split root, word H at
 * the home has the holders: HELD for an exclusive holder, the nodes that have a share, and the
 * numbers of intents exclusive and of intents shared. Whether the root is split goes with it from
 * node to node, in W or in STATUS, so a node that gets or keeps a whole root does not look at H.
 * Only a client that has the root splits it: for an intent, or because it comes from a node that
 * has a share, or guests (guests.c); then it sets the bit of that node, and GUESTS, in H. An
 * exclusive client makes a split root whole if no other node has a share and no intent is in H.
 *
 * With a split root, an intent adds itself to H (S1), and is in if no holder and no client with
 * STRICT excludes it. If one does, it takes its count back (S2), and asks again while its patience
 * lasts. A sharer opens the share of its node in the same way, or waits until another one does
 * (phases.c). Then it gets the root, as an exclusive client does in any case. The client that has
 * the root enters by H (S3). While others are in the way, it waits with back-off, so that others
 * may enter before it; it does not wait for shares that nobody uses. When its patience has ended,
 * it sets STRICT in H (S4), which keeps newcomers out, closes the shares that exclude it, and waits
 * until the holders have left (S5). It takes the bits of the shares, and GUESTS, out of H by the
 * operation that counts it; or an exclusive client makes the root whole. A client that is in and
 * not exclusive then releases the root. An exclusive client keeps it. It takes HELD back before it
 * releases the root, or leaves HELD to the next exclusive client (S6; phases.c). With a whole root
 * it closes the share of its own node, if it has one, or splits the root for sharers of other
 * nodes, if the share is in use and another node waits (S7).
 *
 * The last sharer of a node's share leaves it open, unless writers and guests are many (S8), by the
 * acquires of that sharer, of any lock. Then the next client that excludes sharers is often one of
 * another node, to which closing the share takes a round trip; to a client of this node it takes
 * some near atomics. So the sharer closes the share after it has left: it takes W as an exclusive
 * client that tries, if W is IDLE with LOCAL and no client is known to wait; it takes OPEN out of
 * R, and LOCAL out of W if it then finds neither sharers nor guests. It waits for no sharer. If it
 * finds some, LOCAL stays.
 *
 * Ahead. An intent with PAWL_AHEAD waits for holders only. It adds itself to H and leaves the count
 * there (A1). If the root is split, it waits until no holder excludes it, and closes the shares
 * that do (A2). If not, it gets the root to split it (A3), without a place in the queue of its
 * node, and looks at H again and again meanwhile, because another client may split the root (A4).
 *
 * Ordering guarantees
 *   (A) SPLIT is set in H by a client that has the root, so no other client holds the lock then but
 *       sharers of a node whose bit the same operation sets. It is taken out of H by a client that
 *       has the root, by a compare-and-swap that finds nothing else there but, possibly, the bit of
 *       its own node, whose share it keeps closed meanwhile; or its own STRICT, and the bits of
 *       shares that it has closed and that STRICT keeps closed. Each later client with the root
 *       learns from W or STATUS whether it is split: both are written by a client that has the
 *       root, or that has just given it up by leaving W IDLE. So while H has SPLIT, each holder is
 *       in H or in a share whose node is in H.
 *   (B) An intent that counts itself in H is in by the operation that counts it, if that finds
 *       SPLIT and no holder that excludes it. Of two clients that exclude each other, the later
 *       operation finds the earlier one, because each has its own field, at which the other looks.
 *       A client that does not find SPLIT is not in, and takes its count back (S2), or waits (A2).
 *   (C) Clients that give way to each other: a client that has the root takes its count back before
 *       it waits, and an intent ahead leaves its count in H. So the client with the root gives way.
 *       Clients with a count and without the root are never in the way of an exclusive client for
 *       ever: they are in, or they take the count back, or they are ahead.
 *   (D) STRICT is in H only while the client that set it has the root, so one client at a time sets
 *       it. It clears STRICT by the operation that counts it, or when its deadline has passed.
 *   (E) An exclusive holder flushes the removal of HELD (S6) before it gives the root back, so the
 *       next client with the root finds H without it, or learns from CLOSED that it is there for
 *       this client. What a holder did precedes S6, or the removal of its count; the next holder
 *       finds the sum that this operation left.
 *   (F) The count of an intent ahead keeps shares from being opened with a split root, and keeps
 *       the root split. So the bits that it finds together with SPLIT are all that it has to close.
 *   (G) S8 takes LOCAL out of W while it has W and a whole root. So no client opens the share by
 *       the root meanwhile, and one without it does not find SPLIT at O3. OPEN is taken out of R
 *       before the looks at R and GUEST: a sharer that has counted itself before is found, a later
 *       one finds no OPEN (seq_cst on R). A guest that shares has counted itself before S8 took W,
 *       and is found, or it finds W HELD, and is not in.
 *
 * Progress: a client that has the root waits for the holders, and, after its patience, for intents
 * ahead and for counts that are taken back at once. An intent ahead at a root that is not split
 * waits for the root as long as exclusive clients hand it over to each other; once it is split, for
 * holders only, of which a batch (phases.c) has at most as many as the table has ranks. (A stream
 * of tries that fail, or of deadlines that pass at once, shows in H for moments, and may delay the
 * client that has the root as long.)
 *
 * Far operations. A sharer: none while the share of its node is open, nor if its node has a whole
 * root; 1 atomic to open the share with a split root; none to leave. An intent: 1 atomic to enter
 * with a split root, 1 to leave. An exclusive client with a split root, besides those for the root:
 * 1 atomic if no other node has a share; if k other nodes have one, 4 atomics and 2 k gets and k
 * puts; none if it follows another one in a batch.
 *
 * Models: models/adaptive_sharing.pml, models/adaptive_shares.pml, whose labels are used here.
 */
#include "lock/adaptive/adaptive.h"

#include <stdio.h>

/* The shortest and the longest pause of a client that waits at H, and how long an intent ahead
 * first awaits the root between two looks at H. Each time it waits twice as long, so that in the
 * end the transport notices if a rank that is needed has died; but not longer than some seconds,
 * because to cancel a request does not cut this wait short. */
enum { PAUSE_MIN_NS = 1000, PAUSE_MAX_NS = 50000, ROOT_WAIT_NS = 200000, ROOT_WAIT_DOUBLINGS = 14 };

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

static int entered(struct lock_slot *slot, enum adaptive_entry entry)
{
	*adaptive_entry(slot) = entry;
	return PAWL_SUCCESS;
}

void sharing_split(const struct lock_setup *s, struct lock_slot *slot, int64_t bits)
{
	struct rma_word h = adaptive_home(s, slot);
	int64_t old;

	bits |= bits ? H_GUESTS : 0;
	rma_fao(&slot->client, h, RMA_OR, W_SPLIT | bits, &old);
	rma_flush(&slot->client, h); /* orders SPLIT before the release of the root; (A) */
	kept_root_set_flags(slot, W_SPLIT);
}

/* Split the root, unless it is. */
static void need_split(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t flags, bits;
	int own = adaptive_node(s, slot->client.rma->rank);

	first_publish(s, slot);
	flags = kept_root_flags(slot);
	bits = flags & W_LOCAL && !FAULT(adaptive_publish) ? share_bit(own) : 0;
	if (!(flags & W_SPLIT))
		sharing_split(s, slot, bits);
}

/* The holders and intents ahead that exclude the client, but for sharers, which may have left. */
static int64_t counts_of_others(const struct lock_slot *slot)
{
	return adaptive_others(slot) & ~W_SHARERS;
}

/* How patient a client is with holders in another mode, in ns. While it waits, clients of its mode
 * come to wait, too, so patience costs throughput, and a change of the mode costs some round trips.
 * A holder that may have lost its core takes longer. */
static uint64_t patience_of(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;
	uint64_t trips = SHARED_TRIPS * (uint64_t)adaptive_trip_ns(adaptive_notes(slot));

	return k->decides && !slot->client.rma->waiting.crowded && trips < k->patience
		   ? trips
		   : k->patience;
}

/* When the patience of a client ends that begins to wait now, or its time. */
static uint64_t end_of_patience(const struct lock_setup *s, struct lock_slot *slot)
{
	return slot_at_latest(slot, rma_clock(&slot->client) + patience_of(s, slot));
}

/* ------------------------------------------------------------- without the root */

/* Whether a client of this node has a whole root, or is about to leave it here, as far as the words
 * of the node say. Another node may have taken it. */
static bool is_whole_here(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t w;

	rma_get(&slot->client, adaptive_word(slot, LINE_W), &w);
	return !(w & W_SPLIT) && adaptive_state(s, slot, w & W_STATE) == W_IDLE &&
	       !rma_peek_ordered(&slot->client, adaptive_word(slot, LINE_NEXT));
}

/* Whether a whole root of this node is not fresh. */
static bool was_taken_here(struct lock_slot *slot)
{
	int64_t w;

	rma_get(&slot->client, adaptive_word(slot, LINE_W), &w);
	return (w & W_STATE) != W_NEW && !(w & W_FRESH);
}

/* Whether another node has the root, as far as this one knows. */
static bool is_away(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t w;

	rma_get(&slot->client, adaptive_word(slot, LINE_W), &w);
	return adaptive_state(s, slot, w & W_STATE) == W_AWAY;
}

bool sharing_by_guest(const struct lock_setup *s, struct lock_slot *slot)
{
	return slot->mode == PAWL_SHARED && is_away(s, slot) && guest_is_better(s, slot);
}

int sharing_enter_at_once(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_word h = adaptive_home(s, slot);
	bool is_whole;
	int64_t old;
	int rc;

	if (slot->mode == PAWL_SHARED && share_join_if_open(s, slot))
		return entered(slot, BY_SHARE);
	is_whole = is_whole_here(s, slot);
	if (slot->mode == PAWL_SHARED && !(is_whole && was_taken_here(slot)) &&
	    share_open_first(s, slot))
		return entered(slot, BY_SHARE);
	if (is_whole)
		return LOCK_PASSED;
	/* S1; (B). */
	if (slot->mode == PAWL_SHARED) {
		if (is_away(s, slot))
			share_count_away(slot);
		if (sharing_by_guest(s, slot))
			return LOCK_PASSED;
		rc = share_open(s, slot, SHARE_NO_ROOT);
		return rc == PAWL_SUCCESS ? entered(slot, BY_SHARE) : rc;
	}
	old = fetch_and_add(slot, h, adaptive_one(slot));
	if (((old & W_SPLIT) || FAULT(adaptive_whole)) &&
	    !(old & (adaptive_others(slot) | W_STRICT)))
		return entered(slot, BY_HOME);
	add(slot, h, -adaptive_one(slot)); /* S2 */
	/* A client with the root closes shares. */
	return (old & W_SPLIT) && (old & (counts_of_others(slot) | W_STRICT)) ? PAWL_ERR_BUSY
									      : LOCK_PASSED;
}

bool sharing_enter_soon(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;
	struct rma_word h = adaptive_home(s, slot);
	struct rma_pause p = {.min_ns = PAUSE_MIN_NS, .max_ns = PAUSE_MAX_NS};
	int rc = PAWL_ERR_BUSY;

	if (k->keeps_order)
		return false;
	p.deadline_ns = end_of_patience(s, slot);
	while (rc == PAWL_ERR_BUSY &&
	       rma_pause(&slot->client, &p, "holders in another mode to leave"))
		if (!(look(slot, h) & (counts_of_others(slot) | W_STRICT)))
			rc = sharing_enter_at_once(s, slot);
	return rc == PAWL_SUCCESS;
}

/* ---------------------------------------------------------------- with the root */

/* S3: ask to be in, with a split root; (B). Returns whether the client is in; *old is H. */
static bool ask(const struct lock_setup *s, struct lock_slot *slot, int64_t *old)
{
	struct rma_word h = adaptive_home(s, slot);

	if (slot->mode == PAWL_EXCLUSIVE) {
		if (!share_make_whole(s, slot, old))
			return false;
		kept_root_set_flags(slot, 0);
		return true;
	}
	if (slot->mode == PAWL_SHARED) {
		*old = 0;
		if (share_open(s, slot, SHARE_SPLIT) != PAWL_SUCCESS)
			return false;
		entered(slot, BY_SHARE);
		return true;
	}
	*old = fetch_and_add(slot, h, adaptive_one(slot));
	if (!(*old & adaptive_others(slot))) {
		entered(slot, BY_HOME);
		return true;
	}
	add(slot, h, -adaptive_one(slot));
	return false;
}

/* S3 of a client whose patience lasts. It ends early if at most unused shares are in the way. */
static bool enter_patiently(const struct lock_setup *s, struct lock_slot *slot, int64_t old)
{
	const struct adaptive_constants *k = s->state;
	struct rma_pause p = {.min_ns = PAUSE_MIN_NS, .max_ns = PAUSE_MAX_NS};

	if (k->keeps_order)
		return false;
	p.deadline_ns = phase_end_of_sharing(s, slot, end_of_patience(s, slot));
	for (;;) {
		/* Nobody is in the way, but R still has OPEN: another node has closed the share of
		 * this one, and its bit in H, which ask() expects, is gone. */
		if (slot->mode == PAWL_EXCLUSIVE && !(old & adaptive_others(slot)))
			return false;
		if (!(old & counts_of_others(slot)) && (old & adaptive_others(slot)) &&
		    share_is_unused(s, slot, old & W_SHARERS))
			return false;
		if (!rma_pause(&slot->client, &p, "holders in another mode to leave"))
			return false;
		old = look(slot, adaptive_home(s, slot));
		if (!(old & adaptive_others(slot)) && ask(s, slot, &old))
			return true;
	}
}

/* S4, S5 of a sharer. */
static bool open_strictly(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_word h = adaptive_home(s, slot);
	bool is_in = false;

	add(slot, h, W_STRICT);
	while (!is_in && await(slot, h, adaptive_others(slot)))
		is_in = share_open(s, slot, SHARE_SPLIT) == PAWL_SUCCESS;
	if (is_in || !FAULT(adaptive_withdraw))
		add(slot, h, -W_STRICT);
	if (is_in)
		entered(slot, BY_SHARE);
	return is_in;
}

/* S5 of an exclusive client that has closed the shares with these bits, and has set STRICT: make
 * the root whole, if no intent is in H. */
static bool make_whole(const struct lock_setup *s, struct lock_slot *slot, int64_t bits)
{
	struct rma_word h = adaptive_home(s, slot);
	int64_t expected = W_SPLIT | W_STRICT | bits, old;

	rma_cas(&slot->client, h, expected, 0, &old);
	rma_flush(&slot->client, h); /* orders the swap before the look at old */
	if (old != expected && !FAULT(adaptive_counts))
		return false;
	if (old != expected)
		add(slot, h, -expected);
	kept_root_set_flags(slot, 0);
	return true;
}

/* S4, S5. False: the deadline has passed, or, for a try, others are in. is_short: an exclusive
 * client makes the root whole, unless sharers are in. */
static bool enter_strictly(const struct lock_setup *s, struct lock_slot *slot, bool tries,
			   bool is_short)
{
	struct rma_word h = adaptive_home(s, slot);
	int64_t one = adaptive_one(slot), counts = counts_of_others(slot), old, bits;
	bool is_closed;

	if (slot_is_late(slot))
		return false;
	if (slot->mode == PAWL_SHARED)
		return open_strictly(s, slot);
	old = fetch_and_add(slot, h, W_STRICT);
	bits = old & adaptive_others(slot) & W_SHARERS;
	bits |= bits ? old & H_GUESTS : 0;
	is_short = is_short && share_is_unused(s, slot, bits);
	is_closed = !(tries && (old & counts)) && share_close(s, slot, bits, tries);
	if (is_closed && is_short && make_whole(s, slot, bits))
		return true;
	while (is_closed && (tries || await(slot, h, counts))) {
		old = fetch_and_add(slot, h, one - W_STRICT - bits);
		if (!(old & counts) || FAULT(adaptive_drain)) {
			if (slot->mode == PAWL_EXCLUSIVE)
				phase_begin(slot);
			entered(slot, BY_HOME);
			return true;
		}
		add(slot, h, W_STRICT - one); /* (C) */
		bits = 0;
		if (tries)
			break;
	}
	if (!FAULT(adaptive_withdraw))
		add(slot, h, -W_STRICT);
	return false;
}

/* An exclusive client has a whole root; its own node has a share: S7. LOCK_PASSED: it has to split
 * the root. */
static int enter_whole(const struct lock_setup *s, struct lock_slot *slot, bool tries)
{
	const struct adaptive_constants *k = s->state;
	struct rma_pause p = {.min_ns = PAUSE_MIN_NS, .max_ns = PAUSE_MAX_NS};
	int64_t own = share_bit(adaptive_node(s, slot->client.rma->rank));

	if (tries && !share_is_unused(s, slot, own))
		return PAWL_ERR_BUSY;
	p.deadline_ns = end_of_patience(s, slot);
	while (!tries && !k->keeps_order && !share_is_unused(s, slot, own) &&
	       rma_pause(&slot->client, &p, "sharers of its node to leave"))
		;
	if (!tries && rma_peek_ordered(&slot->client, adaptive_word(slot, LINE_NEXT)) &&
	    !share_is_unused(s, slot, own))
		return LOCK_PASSED;
	if (!share_close_own(slot, tries))
		return tries ? PAWL_ERR_BUSY : PAWL_ERR_TIMEOUT;
	kept_root_set_flags(slot, 0);
	return PAWL_SUCCESS;
}

/* F2, F3 of an exclusive client that has a root that is fresh, or with the first share of its node.
 */
static int enter_fresh(const struct lock_setup *s, struct lock_slot *slot, bool tries)
{
	struct adaptive_slot *own = lock_own(slot);
	int64_t flags = kept_root_flags(slot);
	int64_t nodes = flags & W_FRESH ? first_claim_here(s, slot) : 0;
	uint16_t here;

	if (flags & W_LOCAL)
		nodes |= share_bit(adaptive_node(s, slot->client.rma->rank));
	if (tries && !share_is_unused(s, slot, nodes))
		return PAWL_ERR_BUSY;
	if (!first_close(s, slot, nodes, tries))
		return tries ? PAWL_ERR_BUSY : PAWL_ERR_TIMEOUT;
	/* What the root is while the shares are open that it opens again. */
	here = (uint16_t)(1U << adaptive_node(s, slot->client.rma->rank));
	flags = own->reopens & ~here ? W_FRESH : 0;
	flags |= own->reopens & here ? W_LOCAL : 0;
	kept_root_set_flags(slot, FAULT(adaptive_forgotten) ? 0 : flags);
	return PAWL_SUCCESS;
}

static int enter(const struct lock_setup *s, struct lock_slot *slot, bool tries)
{
	int64_t flags = kept_root_flags(slot), old;
	uint64_t began = rma_clock(&slot->client);
	bool is_short;
	int rc;

	if (flags & W_CLOSED) {
		rc = phase_go_on(s, slot, tries);
		if (rc != LOCK_PASSED)
			return rc;
	}
	if (slot->mode == PAWL_EXCLUSIVE &&
	    ((flags & W_FRESH) || (flags == W_LOCAL && share_may_be_first(s, slot))))
		return enter_fresh(s, slot, tries);
	if (!(flags & W_SPLIT) && slot->mode == PAWL_EXCLUSIVE) {
		rc = flags & W_LOCAL ? enter_whole(s, slot, tries) : PAWL_SUCCESS;
		if (rc != LOCK_PASSED)
			return rc;
	}
	if (!(flags & W_SPLIT) && slot->mode == PAWL_SHARED) {
		/* Before a sharer is in: (B) of shares.c. The root stays fresh. */
		kept_root_set_flags(slot, flags | W_LOCAL);
		while (share_open(s, slot, SHARE_WHOLE) != PAWL_SUCCESS)
			;
		return entered(slot, BY_SHARE);
	}
	need_split(s, slot);
	if (ask(s, slot, &old))
		return PAWL_SUCCESS;
	if (!tries && enter_patiently(s, slot, old))
		return PAWL_SUCCESS;
	/* A try that fails leaves no mark in H: others may try to share the lock. */
	if (tries && (slot->mode == PAWL_SHARED || (old & counts_of_others(slot)) ||
		      !share_is_unused(s, slot, old & adaptive_others(slot) & W_SHARERS)))
		return PAWL_ERR_BUSY;
	is_short = !tries && slot->mode == PAWL_EXCLUSIVE && phase_is_short(s, slot, began);
	if (enter_strictly(s, slot, tries, is_short))
		return PAWL_SUCCESS;
	return tries ? PAWL_ERR_BUSY : PAWL_ERR_TIMEOUT;
}

int sharing_enter(const struct lock_setup *s, struct lock_slot *slot, bool tries)
{
	int rc = PAWL_SUCCESS;

	/* A sharer that has entered without the root: a guest, or by a share. */
	if (slot->mode == PAWL_SHARED && *adaptive_entry(slot) != BY_ROOT) {
		adaptive_free(slot, W_AWAY);
		return PAWL_SUCCESS;
	}
	if (slot->mode != PAWL_EXCLUSIVE || kept_root_flags(slot))
		rc = enter(s, slot, tries);
	if (rc == PAWL_ERR_BUSY && !tries)
		return LOCK_PASSED;
	if (rc != PAWL_SUCCESS || slot->mode != PAWL_EXCLUSIVE)
		adaptive_give_back(s, slot);
	return rc;
}

/* S8: the last sharer of the node's share has left it open. */
static void close_unused(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;

	if (k->keeps_order || !share_has_writers(slot, SHARE_MANY_WRITERS) ||
	    !share_guests_are_many(slot) || !kept_root_take_unused(s, slot))
		return;
	if (share_close_unused(slot) || FAULT(adaptive_unused))
		kept_root_set_flags(slot, kept_root_flags(slot) & ~(int64_t)W_LOCAL);
	adaptive_give_back(s, slot);
}

void sharing_leave(const struct lock_setup *s, struct lock_slot *slot)
{
	enum adaptive_entry entry = *adaptive_entry(slot);

	*adaptive_entry(slot) = BY_ROOT;
	if (entry != BY_SHARE)
		add(slot, adaptive_home(s, slot), -adaptive_one(slot));
	else if (share_leave(slot))
		close_unused(s, slot);
}

/* -------------------------------------------------------------------- ahead */

/* A3: get the root, if it comes within a moment, and split it. *asks: for W (direct.c). */
static void split(const struct lock_setup *s, struct lock_slot *slot, uint64_t *wait_ns, bool *asks)
{
	uint64_t deadline = slot->deadline_ns, now = rma_clock(&slot->client);
	int64_t was;
	int rc;

	if (!adaptive_take(s, slot, TAKER_AHEAD, &was)) {
		*asks = direct_ask(slot) || *asks;
		return;
	}
	if (!deadline || deadline > now + *wait_ns)
		slot->deadline_ns = now + *wait_ns;
	if (*wait_ns < (uint64_t)ROOT_WAIT_NS << ROOT_WAIT_DOUBLINGS)
		*wait_ns *= 2;
	rc = kept_root_enter(s, slot, was);
	slot->deadline_ns = deadline;
	if (rc != PAWL_SUCCESS)
		return;
	if (kept_root_flags(slot) & W_CLOSED)
		phase_end(s, slot);
	need_split(s, slot);
	adaptive_give_back(s, slot);
}

int sharing_enter_ahead(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_word h = adaptive_home(s, slot);
	struct rma_pause p = {.min_ns = PAUSE_MIN_NS, .max_ns = PAUSE_MAX_NS};
	int64_t old = fetch_and_add(slot, h, adaptive_one(slot)); /* A1 */
	int64_t counts = counts_of_others(slot);
	uint64_t wait_ns = ROOT_WAIT_NS;
	bool asks = false;

	p.deadline_ns = slot->deadline_ns;
	while (!(old & W_SPLIT)) {
		split(s, slot, &wait_ns, &asks);
		old = look(slot, h); /* A4 */
		if (!(old & W_SPLIT) && !rma_pause(&slot->client, &p, "the root of the lock"))
			break;
	}
	if (asks)
		direct_stop_asking(slot);
	/* A2. Its count keeps shares from being opened, so the others need not be looked at again.
	 */
	if ((old & W_SPLIT) && (!(old & counts) || await(slot, h, counts)) &&
	    share_close(s, slot, old & ((adaptive_others(slot) & W_SHARERS) | H_GUESTS), false))
		return entered(slot, BY_HOME);
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
	return !(h & ~(W_SPLIT | W_SHARERS | H_GUESTS));
}
