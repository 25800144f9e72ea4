/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The upper level of kind adaptive: the root, which stays at the node that used it last.
 *
 * The clients of this level are nodes. A node acts through the client that has the node's W
 * (adaptive.c), one at a time. Nodes queue as in an MCS lock, with TAIL at the home, and NEXT and
 * STATUS in the line of each node. But the last node stays in the queue when its last holder
 * leaves: its W becomes IDLE, and its clients take the lock by one compare-and-swap of W (A1) and a
 * look at NEXT (A2), without a far operation.
 *
 * Before the first use, the root is at the node of the home: TAIL is 0 and W is NEW at all nodes,
 * as their memory is at first. NEW is as IDLE at that node, and as AWAY at the others. A node whose
 * root has moved on leaves AWAY and never NEW, and a node has W when it queues. So the predecessor
 * of a node that finds 0 in TAIL is the node of the home, and NEW at a predecessor means what IDLE
 * means there.
 *
 * Another node N swaps TAIL (Q2), puts itself into NEXT of its predecessor P (Q3), flushes, asks in
 * GUEST of P (guests.c), and gets W of P once (Q4). If W is IDLE, and no guest is at P, N has the
 * root (Q5). If not, a client of P or that guest gives the root to N, by one compare-and-swap of
 * STATUS of N (H2).
 *
 * Mixed modes. While sharers use a whole root, W is IDLE and LOCAL, so N would get it at once,
 * and then split it, or close the share of P. If the mode at P changes in less time than that
 * takes, it is better to use the lock at one node after the other. So if it changed so often at N
 * when the root left N, N looks at W and R of P before Q3, again and again for a stay, until the
 * share of P has not been opened again since its last look. If clients do not come back at once
 * (direct.c), N does not wait.
 *
 * Ordering guarantees
 *   (A) A client of P changes W and then looks at NEXT; N writes NEXT and then looks at W. The
 *       second one sees what the first one wrote: on the near side a seq_cst read-modify-write of W
 *       precedes a seq_cst load of NEXT; on the far side a put, a flush and a get follow each
 *       other. So
 *       (A1) if N sees IDLE, no earlier client of P is in, and each later one sees NEXT;
 *       (A2) if N sees another value, a client of P looks at NEXT later: a holder before it gives W
 *            back (D1), a releaser after it has made W IDLE (D3), a client that has taken W from
 *            IDLE (A2).
 *   (B) Both may find that the other acts as well. STATUS of N decides, by a compare-and-swap from
 *       WAITING to GRANTED, by N (Q5) or by a client of P (H2). N has the root as soon as one of
 *       the two has done its step. Each queueing of a node has a number, which is in NEXT and in
 *       STATUS, so that H2 never grants to a later queueing of a node that already had the root.
 *   (C) A node resets its own NEXT and STATUS by stores (Q1) while no other node may write them:
 *       other nodes learn from TAIL that they may, and the STATUS of a place that was passed over
 *       is PASSED. While a client of the node is a guest that posts, another node may swap STATUS
 *       from that visit. A store begins the visit, when no node has asked the guest, and a
 *       compare-and-swap ends it, because a network adapter that swaps STATUS may write it after a
 *       store that has come since it read it. If that finds that a node relies on the guest, no
 *       other swap succeeds, so a store may follow when the guest has done what the node relies on.
 *   (D) W becomes SHUT only while the root is at the node, and only by a swap that finds HEAD. The
 *       head takes it, or a client that finds it free, which gives it back by the same rules.
 *   (E) What a holder did is visible to the next holder, of another node: H2 is performed after it,
 *       and awaited with acquire semantics; and Q4 sees IDLE, which was written after it. So does
 *       SPLIT, which goes with the root (sharing.c): Q4 reads it with IDLE, H2 writes it with
 *       GRANTED. So does LOCAL (shares.c), with the node that has the share, or where guests share
 *       the lock: the client that gets such a root splits it, or closes that share, if it is
 *       exclusive, and awaits the guests (H7: C2 ... C4 of shares.c; then the root is whole). If
 *       both act, they say the same, because no client has been in between; or one of them does not
 *       find guests any more. CLOSED (phases.c) goes with H2 only: it is never set while W is IDLE.
 *       FRESH (first.c) goes with the root, too, and the client that gets it does F2.
 *
 * Deadlines. A client that waits for the root when its deadline passes swaps STATUS from WAITING to
 * LEFT, and leaves W GONE. The next client of the node continues from that place if STATUS is still
 * LEFT. A client of P that finds LEFT makes it PASSING (H2), reads which node is next (H3), or
 * makes its own node the last one again (H4), and then writes PASSED (H5), after which the line may
 * be used again. It has the root while it does so, and the clients of its own node do not wait for
 * an endless series of such places (H6).
 *
 * A try looks at TAIL, and at W and GUEST of the last node, before it takes W of its own node, and
 * goes on only if the lock is free there.
 *
 * Deaths. A client needs the home, and the ranks that have the lines of its own node, of the node
 * that has the root, of those that wait for it, and of the one where it last was a guest. Writers
 * also need those of the nodes that share the lock, and, where guests post, a node that asks needs
 * those of all nodes. If one of these ranks dies, or a holder or a guest, the lock is lost.
 *
 * Models: models/kept_root.pml, models/adaptive.pml, whose labels are used here.
 */
#include "lock/adaptive/adaptive.h"

#include <stdio.h>

/* STATUS: the number of the queueing, and one of these. */
enum {
	WAITING = 1,
	GRANTED = 2,
	LEFT = 3,
	PASSING = 4,
	PASSED = 5,
	GRANTED_SPLIT = 6,  /* as GRANTED, and the root is split (sharing.c) */
	GRANTED_LOCAL = 7,  /* as GRANTED, and the node that had the root has a share (shares.c) */
	GRANTED_CLOSED = 8, /* as GRANTED_SPLIT, in a batch (phases.c) */
	GRANTED_FRESH = 9,  /* as GRANTED or GRANTED_LOCAL, and the root is fresh (first.c) */
	/* Without a place, and above the number which visit it is, if guests post (guests.c): a
	 * client of the node is a guest; a node relies on it; it is none any more. */
	VISITING = 10,
	RELIED_ON = 11,
	VISITED = 12,
	STATUS_BITS = 4
};
enum { STATUS_MASK = (1 << STATUS_BITS) - 1 };

/* NEXT: the number, and 1 + the next node. Above its number a STATUS of GRANTED_LOCAL has a node,
 * one of GRANTED_FRESH 1 + that node, or 0, and one of GRANTED_CLOSED the clients of the batch so
 * far; other grants have 1 + the rank that has released the lock, for observers; 0: it is not
 * known. */
enum { NODE_BITS = 24, NUMBER_BITS = 35 };
_Static_assert(STATUS_BITS + NUMBER_BITS + NODE_BITS <= 63 && (int)BATCH_BITS <= (int)NODE_BITS,
	       "a STATUS is never negative, and has room for a batch");
#define NODE_MASK ((INT64_C(1) << NODE_BITS) - 1)
#define NUMBER_MASK ((INT64_C(1) << NUMBER_BITS) - 1)

/* The beginning of a stay is in units of 2^STAY_UNIT ns in NOTES. */
enum { STAY_UNIT = 10 };
_Static_assert((int64_t)STAY_TRIPS << LONGEST_TRIP >> STAY_UNIT < INT64_C(1) << NOTES_STAYS_BITS,
	       "the longest stay fits into its field");

/* A stay in mixed modes, in round trips. A node changes the mode often if its share was opened at
 * most so long ago, divided by the number of the other nodes, when the root left it. The longest
 * pause between two looks of the next node. */
enum { MIXED_TRIPS = 4, LOOK_TRIPS = 8 };

/* How long a release waits for the next head of its queue. */
enum { HEAD_NS = 2000 };

static int64_t status_of(int64_t number, int64_t what)
{
	return number << STATUS_BITS | what;
}

/* A grant by this node of a root in this state. */
static int64_t grant_of(int64_t number, int64_t root, int64_t node, int64_t releaser)
{
	int64_t what = root & W_SPLIT ? GRANTED_SPLIT : root & W_LOCAL ? GRANTED_LOCAL : GRANTED;

	if (root & W_CLOSED)
		return (root & W_BATCH) >> BATCH_SHIFT << (STATUS_BITS + NUMBER_BITS) |
		       status_of(number, GRANTED_CLOSED);
	if (root & W_FRESH)
		return (root & W_LOCAL ? node + 1 : 0) << (STATUS_BITS + NUMBER_BITS) |
		       status_of(number, GRANTED_FRESH);
	return (what == GRANTED_LOCAL ? node : releaser) << (STATUS_BITS + NUMBER_BITS) |
	       status_of(number, what);
}

static int64_t releaser_of(const struct lock_slot *slot)
{
	int rank = slot->client.rma->rank;

	return rank < NODE_MASK ? rank + 1 : 0;
}

/* ------------------------------------------------------------------- words */

static struct rma_word tail_word(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;

	return lock_home_word(s, &slot->client, RMA_NET, k->homes + HOME_TAIL, HOME_BYTES,
			      slot->lock);
}

static int64_t own_node(const struct lock_setup *s, const struct lock_slot *slot)
{
	return adaptive_node(s, slot->client.rma->rank);
}

int64_t kept_root_flags(struct lock_slot *slot)
{
	int64_t w;

	rma_get(&slot->client, adaptive_word(slot, LINE_W), &w);
	return w & W_ROOT;
}

void kept_root_set_flags(struct lock_slot *slot, int64_t flags)
{
	int64_t old = kept_root_flags(slot);

	if (old != flags)
		rma_fao(&slot->client, adaptive_word(slot, LINE_W), RMA_SUM, flags - old, &old);
}

/* H7: these nodes may have shares, and with GUESTS guests, which H does not know: an exclusive
 * client closes them, so that the root stays whole. */
static bool close_behind(const struct lock_setup *s, struct lock_slot *slot, int64_t nodes)
{
	return slot->mode == PAWL_EXCLUSIVE &&
	       (FAULT(adaptive_behind) || share_close(s, slot, nodes, slot->deadline_ns == 1));
}

/* A fresh root has come, from a node that has a share if local says so: F2. */
static void arrive_fresh(const struct lock_setup *s, struct lock_slot *slot, int64_t local)
{
	int64_t nodes = FAULT(adaptive_fresh) ? 0 : first_claim_there(s, slot);

	nodes |= local ? share_bit((int)local - 1) | H_GUESTS : 0;
	if (nodes && !close_behind(s, slot, nodes))
		sharing_split(s, slot, nodes);
}

/* Whether guests are likely to find the lock shared when this root has left again. They can close
 * the share of a whole root. */
static bool guests_find_it_shared(struct lock_slot *slot, int64_t what)
{
	if (what == GRANTED_SPLIT || what == GRANTED_CLOSED)
		return true;
	if (slot->mode != PAWL_EXCLUSIVE)
		return !share_has_writers(slot, SHARE_MANY_WRITERS);
	return what != GRANTED && !share_has_writers(slot, SHARE_SOME_WRITERS);
}

/* The root has come, as STATUS says. */
static int arrive(const struct lock_setup *s, struct lock_slot *slot, int64_t status)
{
	int64_t what = status & STATUS_MASK, above = status >> (STATUS_BITS + NUMBER_BITS);
	bool is_closed = what == GRANTED_CLOSED, is_fresh = what == GRANTED_FRESH;
	bool tells = what != GRANTED_LOCAL && !is_closed && !is_fresh;
	int64_t flags = 0;

	guest_note_root(slot);
	if (guests_find_it_shared(slot, what))
		adaptive_note(slot, adaptive_notes(slot) | NOTES_SKIPS);
	slot->from = tells && above ? slot_make_id((int)above - 1, 0) : -1;
	if (what == GRANTED_SPLIT && !FAULT(adaptive_split))
		flags = W_SPLIT;
	else if (is_closed)
		flags = W_SPLIT | (FAULT(adaptive_forgets) ? 0 : W_CLOSED | above << BATCH_SHIFT);
	kept_root_set_flags(slot, flags);
	if (what == GRANTED_LOCAL && !FAULT(adaptive_local) &&
	    !close_behind(s, slot, share_bit((int)above) | H_GUESTS))
		sharing_split(s, slot, share_bit((int)above));
	if (is_fresh)
		arrive_fresh(s, slot, above);
	return PAWL_SUCCESS;
}

int kept_root_arrive_from(const struct lock_setup *s, struct lock_slot *slot, int node,
			  int64_t root)
{
	return arrive(s, slot, grant_of(0, root, node, 0));
}

bool kept_root_is_idle(const struct lock_setup *s, struct lock_slot *slot, int node, int64_t w,
		       int64_t *root)
{
	const struct adaptive_constants *k = s->state;
	int64_t state = w & W_STATE;
	bool is_new = state == W_NEW && node == adaptive_home_node(s, slot->lock);

	*root = (w & W_ROOT) | (is_new && k->groups_each ? W_FRESH : 0);
	return state == W_IDLE || is_new;
}

int64_t kept_root_last(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_word tail = tail_word(s, slot);
	int64_t last;

	rma_get(&slot->client, tail, &last);
	rma_flush(&slot->client, tail); /* orders the look before the next one */
	return last ? last : adaptive_home_node(s, slot->lock) + 1;
}

/* Q4, and the first look of a try; asks: Q3, too. *root: what W says of the root, if it is IDLE.
 * *guest: GUEST. */
static bool is_idle_at(const struct lock_setup *s, struct lock_slot *slot, int64_t node,
		       int64_t *root, int64_t *guest, bool asks)
{
	struct rma_word w = adaptive_word_at(s, slot, RMA_NODE, (int)node, LINE_W);
	struct rma_word g = adaptive_word_at(s, slot, RMA_NET, (int)node, LINE_GUEST);
	int64_t value;
	bool is_idle;

	if (asks)
		guest_ask(s, slot, (int)node, guest);
	else
		rma_get(&slot->client, g, guest);
	rma_get(&slot->client, w, &value);
	rma_flush(&slot->client, g); /* orders the looks before the use of their results; (A) */
	is_idle = kept_root_is_idle(s, slot, (int)node, value, root);
	*root |= guest_shares(*guest) && !FAULT(adaptive_untold) ? W_LOCAL : 0;
	*root &= *guest & GUEST_RESOLVED ? ~(int64_t)W_FRESH : -1;
	return is_idle;
}

/* ----------------------------------------------------------- the next node */

enum outcome {
	MOVED, /* the root is at another node */
	KEPT,  /* it is at this node, and no node is next */
	STAYS, /* it is at this node; NEXT has the next node */
	LEFT_SHUT
};

/* H2: grant to the next node. False: its place has to be passed over, and is PASSING. */
static bool grant(const struct lock_setup *s, struct lock_slot *slot, struct rma_word status,
		  int64_t number, int64_t releaser)
{
	int64_t waits = status_of(number, WAITING), left = status_of(number, LEFT), old, w;

	rma_get(&slot->client, adaptive_word(slot, LINE_W), &w);
	for (;;) {
		old = adaptive_swap_if(slot, status, waits,
				       grant_of(number, w, own_node(s, slot), releaser));
		if (FAULT(adaptive_number) && (old & STATUS_MASK) == WAITING && old != waits) {
			number = old >> STATUS_BITS;
			waits = old;
			continue;
		}
		if (old != left)
			return true;
		/* A client of that node may resume the place between the two swaps. */
		if (adaptive_swap_if(slot, status, left, status_of(number, PASSING)) == left)
			return false;
	}
}

/* H3 and H4: the NEXT of a place that is passed over; 0: this node is the last one. */
static int64_t behind(const struct lock_setup *s, struct lock_slot *slot, int64_t next)
{
	struct rma_client *c = &slot->client;
	int64_t there = next & NODE_MASK, succ;
	struct rma_word theirs = adaptive_word_at(s, slot, RMA_NET, (int)(there - 1), LINE_NEXT);
	struct rma_word ours = adaptive_word(slot, LINE_NEXT);

	rma_get(c, theirs, &succ);
	rma_flush(c, theirs); /* orders the look before H4 and H5 */
	if (succ)
		return succ;
	/* Before the swap: once TAIL names this node again, another node may write NEXT. */
	rma_poke(c, ours, 0);
	if (adaptive_swap_if(slot, tail_word(s, slot), there, own_node(s, slot) + 1) == there)
		return 0;
	rma_poke(c, ours, next);
	/* Pairs with Q3. */
	return rma_await(c, theirs, -1, RMA_NE, 0, RMA_SOON, "a node to link itself");
}

/* The root has gone: note whether the clients of this node changed the mode often. */
static void note_mixed(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;
	int64_t notes = adaptive_notes(slot);
	uint64_t ns = MIXED_TRIPS * (uint64_t)adaptive_trip_ns(notes) / (uint64_t)(k->nodes - 1);

	if (share_was_opened_within(slot, ns))
		adaptive_note(slot, notes | NOTES_MIXED);
}

/* H1 ... H6: give the root to the node in NEXT. enters: this client wants the lock, and has just
 * taken W from IDLE. */
static enum outcome resolve(const struct lock_setup *s, struct lock_slot *slot, bool enters)
{
	struct rma_client *c = &slot->client;
	struct rma_word ours = adaptive_word(slot, LINE_NEXT);
	int64_t next = rma_peek_ordered(c, ours);

	adaptive_note(slot, adaptive_notes(slot) & ~NOTES_STAYS);
	for (;;) {
		int64_t number = next >> NODE_BITS;
		struct rma_word status =
		    adaptive_word_at(s, slot, RMA_NET, (int)((next & NODE_MASK) - 1), LINE_STATUS);

		if (grant(s, slot, status, number, enters ? 0 : releaser_of(slot)))
			break;
		if (FAULT(adaptive_early)) {
			rma_put(c, status, status_of(number, PASSED));
			rma_flush(c, status);
		}
		next = behind(s, slot, next);
		/* H5. */
		rma_put(c, status, status_of(number, PASSED));
		rma_flush(c, status); /* orders the mark before the next step; (C) */
		guest_note_root(slot);
		if (!next)
			return KEPT;
		/* H6. */
		rma_poke(c, ours, next);
		if (enters)
			return STAYS;
		if (adaptive_shut(slot))
			return LEFT_SHUT;
	}
	rma_poke(c, ours, 0);
	guest_note_away(slot, next & NODE_MASK);
	note_mixed(s, slot);
	return MOVED;
}

/* ------------------------------------------------------------------- guests */

static int64_t status_of_visit(int64_t status, int64_t what, int64_t visit)
{
	return visit << (STATUS_BITS + NUMBER_BITS) |
	       status_of((status >> STATUS_BITS) & NUMBER_MASK, what);
}

void kept_root_set_visiting(struct lock_slot *slot, int64_t visit)
{
	struct rma_word status = adaptive_word(slot, LINE_STATUS);
	int64_t old = rma_peek(&slot->client, status);

	rma_poke(&slot->client, status,
		 status_of_visit(old, visit < 0 ? VISITED : VISITING, visit < 0 ? 0 : visit));
}

bool kept_root_ends_visit(struct lock_slot *slot, int64_t visit)
{
	struct rma_word status = adaptive_word(slot, LINE_STATUS);
	int64_t old = rma_peek(&slot->client, status),
		visiting = status_of_visit(old, VISITING, visit);

	return adaptive_swap_if(slot, status, visiting, status_of_visit(old, VISITED, 0)) ==
		   visiting ||
	       FAULT(adaptive_posted);
}

bool kept_root_is_visiting(int64_t status, int64_t visit)
{
	int64_t what = status & STATUS_MASK;

	return (what == VISITING || what == RELIED_ON) &&
	       (visit < 0 || status >> (STATUS_BITS + NUMBER_BITS) == visit);
}

int64_t kept_root_relied_on(int64_t status)
{
	return (status & ~(int64_t)STATUS_MASK) | RELIED_ON;
}

/* A guest has taken the root along. */
static bool is_taken(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_word ours = adaptive_word(slot, LINE_NEXT);
	int64_t next = rma_peek_ordered(&slot->client, ours);

	if (!(next & NEXT_TAKEN))
		return false;
	rma_poke(&slot->client, ours, 0);
	guest_note_away(slot, next & NODE_MASK);
	note_mixed(s, slot);
	return true;
}

/* ------------------------------------------------------------------ acquire */

/* Of the node's last queueing. */
static int64_t own_number(struct lock_slot *slot)
{
	int64_t status = rma_peek(&slot->client, adaptive_word(slot, LINE_STATUS));

	return (status >> STATUS_BITS) & NUMBER_MASK;
}

static int leave_place(struct lock_slot *slot)
{
	adaptive_free(slot, W_GONE);
	return PAWL_ERR_TIMEOUT;
}

/* In the queue of nodes: wait for the root; (E). */
static int await_root(const struct lock_setup *s, struct lock_slot *slot, int64_t number)
{
	struct rma_word status = adaptive_word(slot, LINE_STATUS);
	int64_t seen, waits = status_of(number, WAITING);

	if (rma_await_until(&slot->client, status, STATUS_MASK, RMA_NE, WAITING, RMA_SOON,
			    slot->deadline_ns, "the root to come to its node", &seen))
		return arrive(s, slot, seen);
	seen = adaptive_swap_if(slot, status, waits, status_of(number, LEFT));
	return seen == waits ? leave_place(slot) : arrive(s, slot, seen);
}

/* A round trip, to the home or to the node before this one, has taken the time since then. The
 * home's own node learns nothing from the way to the home. */
static void note_trip(struct lock_slot *slot, uint64_t began)
{
	uint64_t ns = rma_clock(&slot->client) - began;
	int64_t trip = 1;

	while (trip < LONGEST_TRIP && ns >> trip)
		trip++;
	adaptive_note(slot, (adaptive_notes(slot) & ~NOTES_TRIP) | trip << NOTES_TRIP_SHIFT);
}

/* Whether a node has a whole root and a share, as its W says; *number: of the share. */
static bool is_mixed_at(const struct lock_setup *s, struct lock_slot *slot, int64_t node,
			int64_t *number)
{
	struct rma_word w = adaptive_word_at(s, slot, RMA_NODE, (int)node, LINE_W);
	int64_t value, r;

	rma_get(&slot->client, w, &value);
	rma_get(&slot->client, adaptive_word_at(s, slot, RMA_NODE, (int)node, LINE_SHARERS), &r);
	rma_flush(&slot->client, w); /* orders the looks before the use of their results */
	*number = share_number(r);
	value &= W_STATE | W_LOCAL | W_SPLIT;
	return value == (W_IDLE | W_LOCAL) || value == (W_HELD | W_LOCAL);
}

/* Leave the root for a while to a node that uses it in mixed modes. No step depends on this wait: a
 * node may set NEXT late. */
static void defer_recall(const struct lock_setup *s, struct lock_slot *slot, int64_t node)
{
	const struct adaptive_constants *k = s->state;
	const struct adaptive_slot *own = lock_own(slot);
	int64_t notes = adaptive_notes(slot), last, number;
	uint64_t trip = (uint64_t)adaptive_trip_ns(notes);
	struct rma_pause p = {.min_ns = trip, .max_ns = LOOK_TRIPS * trip};

	if (!k->decides || !(notes & NOTES_MIXED) || own->is_absent || slot_is_late(slot))
		return;
	p.deadline_ns = slot_at_latest(slot, rma_clock(&slot->client) + STAY_TRIPS * trip);
	if (!is_mixed_at(s, slot, node, &number))
		return;
	do
		last = number;
	while (rma_pause(&slot->client, &p, "the root, which its node uses in several modes") &&
	       is_mixed_at(s, slot, node, &number) && number != last);
}

/* Q1 ... Q5. */
static int join(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct rma_word tail = tail_word(s, slot), link;
	int64_t number = (own_number(slot) + 1) & NUMBER_MASK, pred;
	int64_t me = own_node(s, slot) + 1, home = adaptive_home_node(s, slot->lock) + 1;
	int64_t waits = status_of(number, WAITING), root, guest, old;
	uint64_t began;
	bool is_idle;

	/* Q1; (C). */
	rma_poke(c, adaptive_word(slot, LINE_NEXT), 0);
	rma_poke(c, adaptive_word(slot, LINE_STATUS), waits);
	/* Q2. */
	began = rma_clock(c);
	rma_fao(c, tail, RMA_REPLACE, me, &pred);
	rma_flush(c, tail); /* orders the swap before the look at its result */
	if (me != home)
		note_trip(slot, began);
	if (!pred)
		pred = home;
	defer_recall(s, slot, pred - 1);
	/* Q3. */
	link = adaptive_word_at(s, slot, RMA_NET, (int)(pred - 1), LINE_NEXT);
	if (FAULT(adaptive_flush) && is_idle_at(s, slot, pred - 1, &root, &guest, true) &&
	    !guest_is_in(guest)) {
		rma_put(c, link, number << NODE_BITS | me);
		rma_flush(c, link);
		return arrive(s, slot, grant_of(number, root, pred - 1, 0));
	}
	rma_put(c, link, number << NODE_BITS | me);
	rma_order(c, link); /* orders the link before Q4; pairs with A2, D3; (A) */
	began = rma_clock(c);
	is_idle = is_idle_at(s, slot, pred - 1, &root, &guest, true);
	if (me == home)
		note_trip(slot, began);
	if (guest_is_in(guest) && !FAULT(adaptive_asked)) {
		if (guest_rely(s, slot, (int)(pred - 1), guest))
			return await_root(s, slot, number);
		is_idle = is_idle_at(s, slot, pred - 1, &root, &guest, false);
	}
	if (!is_idle)
		return await_root(s, slot, number);
	/* Q5: granted, by this swap or by a client of the other node. */
	old = adaptive_swap_if(slot, adaptive_word(slot, LINE_STATUS), waits,
			       grant_of(number, root, pred - 1, 0));
	return arrive(s, slot, old == waits ? grant_of(number, root, pred - 1, 0) : old);
}

/* W was GONE: continue from the node's place, if it is still there. */
static int rejoin(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct rma_word status = adaptive_word(slot, LINE_STATUS);
	int64_t number = own_number(slot), seen;
	int64_t left = status_of(number, LEFT);

	if (adaptive_swap_if(slot, status, left, status_of(number, WAITING)) == left)
		return await_root(s, slot, number);
	if (!rma_await_until(c, status, STATUS_MASK, RMA_EQ, PASSED, RMA_SOON, slot->deadline_ns,
			     "the place of its node to be passed over", &seen))
		return leave_place(slot);
	return join(s, slot);
}

/* W has been taken from NEW at the node of the home. The root is not fresh any more if no node
 * reads the lock then. */
static void note_fresh(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;

	if (k->groups_each && (slot->mode != PAWL_EXCLUSIVE || first_claim_here(s, slot)))
		kept_root_set_flags(slot, kept_root_flags(slot) | W_FRESH);
}

/* No guest is in: whether one has closed the first shares. */
static void forget_fresh(struct lock_slot *slot)
{
	int64_t flags = kept_root_flags(slot);

	if ((flags & W_FRESH) && (guest_here(slot) & GUEST_RESOLVED))
		kept_root_set_flags(slot, flags & ~(int64_t)W_FRESH);
}

/* A2, with W taken from IDLE. LOCK_PASSED: the root is at another node, and the client has W. */
static int enter_kept(const struct lock_setup *s, struct lock_slot *slot)
{
	if (!guest_await(slot) && guest_leave_to(slot))
		return PAWL_ERR_TIMEOUT;
	if (is_taken(s, slot))
		return LOCK_PASSED;
	forget_fresh(slot);
	if (!rma_peek_ordered(&slot->client, adaptive_word(slot, LINE_NEXT)) ||
	    FAULT(adaptive_enter))
		return PAWL_SUCCESS;
	return resolve(s, slot, true) == MOVED ? LOCK_PASSED : PAWL_SUCCESS;
}

int kept_root_enter(const struct lock_setup *s, struct lock_slot *slot, int64_t was)
{
	bool is_new = was == W_NEW;
	int rc;

	was = adaptive_state(s, slot, was);
	if (was == W_SHUT)
		return PAWL_SUCCESS;
	if (was == W_GONE)
		return rejoin(s, slot);
	if (is_new && was == W_IDLE)
		note_fresh(s, slot);
	rc = was == W_AWAY ? LOCK_PASSED : enter_kept(s, slot);
	/* A client that still wants the lock keeps W, uses the lock where it is, or queues for its
	 * node. */
	if (rc == LOCK_PASSED)
		rc = guest_enter(s, slot);
	return rc == LOCK_PASSED ? join(s, slot) : rc;
}

bool kept_root_is_free(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t last = kept_root_last(s, slot), root, guest;
	struct rma_word r;

	if (!is_idle_at(s, slot, last - 1, &root, &guest, false) || guest_is_in(guest) ||
	    (slot->mode == PAWL_EXCLUSIVE && guest_shares(guest)))
		return false;
	r = adaptive_word_at(s, slot, RMA_NODE, (int)(last - 1), LINE_SHARERS);
	return slot->mode != PAWL_EXCLUSIVE || !(root & W_LOCAL) || share_has_left(slot, r);
}

static int try_join(const struct lock_setup *s, struct lock_slot *slot)
{
	int rc;

	slot->deadline_ns = 1; /* a deadline in the past */
	rc = join(s, slot);
	slot->deadline_ns = 0;
	return rc == PAWL_SUCCESS ? rc : PAWL_ERR_BUSY;
}

int kept_root_try_enter(const struct lock_setup *s, struct lock_slot *slot, int64_t was)
{
	struct rma_client *c = &slot->client;
	bool is_new = was == W_NEW;
	int rc;

	was = adaptive_state(s, slot, was);
	if (was == W_SHUT)
		return PAWL_SUCCESS;
	if (is_new && was == W_IDLE)
		note_fresh(s, slot);
	if (was == W_AWAY) {
		slot->deadline_ns = 1; /* a deadline in the past */
		rc = guest_enter(s, slot);
		slot->deadline_ns = 0;
		return rc == LOCK_PASSED ? try_join(s, slot) : rc;
	}
	if (was == W_GONE) {
		if ((rma_peek_ordered(c, adaptive_word(slot, LINE_STATUS)) & STATUS_MASK) == PASSED)
			return try_join(s, slot);
		adaptive_free(slot, W_GONE);
		return PAWL_ERR_BUSY;
	}
	slot->deadline_ns = 1; /* a deadline in the past */
	rc = enter_kept(s, slot);
	slot->deadline_ns = 0;
	if (rc != LOCK_PASSED)
		return rc == PAWL_SUCCESS ? rc : PAWL_ERR_BUSY;
	if (kept_root_is_free(s, slot))
		return try_join(s, slot);
	adaptive_free(slot, W_AWAY);
	return PAWL_ERR_BUSY;
}

bool kept_root_take_unused(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_word w = adaptive_word(slot, LINE_W);
	uint64_t deadline = slot->deadline_ns;
	int64_t value, old;
	int rc;

	rma_get(&slot->client, w, &value);
	if ((value & ~(int64_t)W_FRESH) != (W_IDLE | W_LOCAL) || guest_is_in(guest_here(slot)) ||
	    rma_peek_ordered(&slot->client, adaptive_word(slot, LINE_NEXT)))
		return false;
	rma_cas(&slot->client, w, value, W_HELD | (value & ~(int64_t)W_STATE), &old);
	if (old != value)
		return false;
	slot->deadline_ns = 1; /* a deadline in the past */
	rc = enter_kept(s, slot);
	slot->deadline_ns = deadline;
	if (rc == LOCK_PASSED)
		adaptive_free(slot, W_AWAY);
	return rc == PAWL_SUCCESS;
}

/* ------------------------------------------------------------------ release */

/* Whether a stay that began at a time, in units, has lasted for STAY_TRIPS round trips. */
static bool is_over(int64_t notes, int64_t began, int64_t now)
{
	int64_t lasted = (now - began) & (NOTES_STAYS >> NOTES_STAYS_SHIFT);

	return lasted >= STAY_TRIPS * adaptive_trip_ns(notes) >> STAY_UNIT;
}

/* D4, also for a client that is at the head of the queue and about to set HEAD: it may have been
 * put there when this holder entered. No step depends on this wait: without HEAD the root is not
 * kept. */
bool kept_root_shut_soon(struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct rma_word w = adaptive_word(slot, LINE_W);
	int64_t value;

	if (adaptive_shut(slot))
		return true;
	rma_get(c, *adaptive_queue(slot), &value);
	return value &&
	       rma_await_until(c, w, W_HEAD, RMA_NE, 0, RMA_SOON, rma_clock(c) + HEAD_NS,
			       "a head of the queue", &value) &&
	       adaptive_shut(slot);
}

/* D1: whether the root may be left to a waiter of this node: for some round trips after the first
 * release that knows of another node, or as often as option stay permits. */
static bool begin_stay(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t most = adaptive_options_of(s)->stay, notes = adaptive_notes(slot), now;
	int64_t stays = (notes & NOTES_STAYS) >> NOTES_STAYS_SHIFT;

	if (most >= 0) {
		if (stays >= most)
			return false;
		stays++;
	} else {
		now = (int64_t)(rma_clock(&slot->client) >> STAY_UNIT) | 1;
		now &= NOTES_STAYS >> NOTES_STAYS_SHIFT;
		if (stays && is_over(notes, stays, now))
			return false;
		stays = stays ? stays : now;
	}
	adaptive_note(slot, (notes & ~NOTES_STAYS) | stays << NOTES_STAYS_SHIFT);
	return true;
}

/* D1, D4. */
static bool stay(const struct lock_setup *s, struct lock_slot *slot)
{
	return begin_stay(s, slot) && kept_root_shut_soon(slot);
}

bool kept_root_may_stay(const struct lock_setup *s, struct lock_slot *slot)
{
	return !rma_peek_ordered(&slot->client, adaptive_word(slot, LINE_NEXT)) ||
	       begin_stay(s, slot);
}

bool kept_root_take_back(struct lock_slot *slot)
{
	struct rma_word w = adaptive_word(slot, LINE_W);
	int64_t value, old;

	rma_get(&slot->client, w, &value);
	while ((value & W_STATE) == W_IDLE) {
		rma_cas(&slot->client, w, value, W_HELD | (value & ~W_STATE), &old);
		if (old == value) {
			guest_note_sharers(slot);
			return true;
		}
		value = old;
	}
	return false;
}

/* D2, D3. True: W is given back. False: this client has W again, and NEXT is set. */
static bool keep(struct lock_slot *slot)
{
	struct rma_word next = adaptive_word(slot, LINE_NEXT);

	do {
		adaptive_free(slot, W_IDLE);
		if (!rma_peek_ordered(&slot->client, next) || !kept_root_take_back(slot))
			return true;
		if (guest_leave_to(slot))
			return true;
	} while (!rma_peek_ordered(&slot->client, next));
	return false;
}

/* H1 ... H6 in a release. may_stay: no client can have seen W IDLE since it was last taken. */
static void pass_on(const struct lock_setup *s, struct lock_slot *slot, bool may_stay)
{
	for (;;) {
		if (may_stay && stay(s, slot))
			return;
		if (!may_stay && is_taken(s, slot)) {
			adaptive_free(slot, W_AWAY);
			return;
		}
		switch (resolve(s, slot, false)) {
		case LEFT_SHUT:
			return;
		case KEPT:
			/* As at the beginning of a release. */
			may_stay = true;
			if (guest_next_is_set(slot))
				continue;
			may_stay = false;
			if (keep(slot))
				return;
			continue;
		case MOVED:
		case STAYS:
			adaptive_free(slot, FAULT(adaptive_new) ? W_NEW : W_AWAY);
			return;
		}
	}
}

bool kept_root_hand_over(const struct lock_setup *s, struct lock_slot *slot)
{
	bool is_asked = guest_next_is_set(slot);

	if (is_asked ? stay(s, slot) : kept_root_shut_soon(slot))
		return true;
	if (!is_asked)
		return false;
	switch (resolve(s, slot, false)) {
	case KEPT:
		return false;
	case LEFT_SHUT:
		return true;
	case MOVED:
	case STAYS:
		break;
	}
	/* CLOSED stays in W, as a hint to heads until the root comes again: is_in_batch(). */
	adaptive_free(slot, W_AWAY);
	return true;
}

void kept_root_pass_on(const struct lock_setup *s, struct lock_slot *slot)
{
	if (guest_next_is_set(slot))
		pass_on(s, slot, true);
	else if (!keep(slot))
		pass_on(s, slot, false);
}

void kept_root_look_again(const struct lock_setup *s, struct lock_slot *slot)
{
	if (!kept_root_take_back(slot) || guest_leave_to(slot))
		return;
	if (!rma_peek_ordered(&slot->client, adaptive_word(slot, LINE_NEXT)) && keep(slot))
		return;
	pass_on(s, slot, false);
}

/* ------------------------------------------------------------- the simulator */

/* Whether a node that is not the last one in the queue has left it: its place was passed over, or
 * another node took the root from it, which its next client will find. */
static bool is_out(int64_t w, int64_t next, int64_t status)
{
	return w == W_AWAY || (w == W_GONE && (status & STATUS_MASK) == PASSED) ||
	       (w == W_IDLE && next != 0);
}

bool kept_root_idle(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m,
		    char *err, size_t errlen)
{
	const struct adaptive_constants *k = s->state;
	int64_t tail = *lock_memory_home(s, m, k->homes + HOME_TAIL, HOME_BYTES, lock);
	int home = adaptive_home_node(s, lock);

	tail = tail ? tail : home + 1;
	for (int j = 0; j < k->nodes; j++) {
		uint64_t at;
		int rank = adaptive_line(s, j, lock, &at);
		int64_t w = *lock_memory_word(m, rank, at + LINE_W) & ~(int64_t)W_ROOT;
		int64_t queue = *lock_memory_word(m, rank, at + LINE_QUEUE);
		int64_t next = *lock_memory_word(m, rank, at + LINE_NEXT);
		int64_t status = *lock_memory_word(m, rank, at + LINE_STATUS);

		snprintf(err, errlen,
			 "node %d: W is 0x%llx, QUEUE 0x%llx, NEXT 0x%llx, STATUS 0x%llx; TAIL is"
			 " %lld",
			 j, (unsigned long long)w, (unsigned long long)queue,
			 (unsigned long long)next, (unsigned long long)status, (long long)tail);
		if (w == W_NEW)
			w = j == home ? W_IDLE : W_AWAY;
		if (queue || !(tail == j + 1 ? w == W_IDLE && !next : is_out(w, next, status)))
			return false;
	}
	return true;
}

void kept_root_age(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m)
{
	const struct adaptive_constants *k = s->state;
	uint64_t at;

	for (int j = 0; j < k->nodes; j++) {
		int rank = adaptive_line(s, j, lock, &at);

		*lock_memory_word(m, rank, at + LINE_STATUS) = status_of(NUMBER_MASK - 1, 0);
	}
}
