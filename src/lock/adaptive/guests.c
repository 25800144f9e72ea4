/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kind adaptive on several nodes: a client that uses a lock at another node, so that the root does
 * not move for a single use.
 *
 * An exclusive guest is a client that has W of its own node, which has no place in the queue of
 * nodes, and holds the lock at the node that has the root, its host. It sets IN in word GUEST of
 * the host (G1), and then gets W there (G2). If W is IDLE, the root is whole, no guest shares it,
 * and no node had asked for it, the guest closes the share of the host, if W has LOCAL (C2 ... C4
 * of shares.c), and holds the lock. If the root is fresh, it closes the first shares (F2, F3 of
 * first.c), and says so in RESOLVED of GUEST when it leaves. If it is not in, it takes IN back
 * (G3), and queues for its node (kept_root.c). To release, it takes IN back (G4). A client of the
 * host that takes W from IDLE looks at GUEST, and waits while a guest may be in (A2).
 *
 * Nodes queue behind the host meanwhile. A node that has put itself into NEXT adds 1 to ASKS of
 * GUEST by the operation that fetches it, and gets W after that (Q3, Q4). If it finds IN, the guest
 * has to see to it: the node sets RELIES, and waits for the root. A guest that finds ASKS changed
 * does not take IN back by G3 or G4, but looks at W again (G3). If W is IDLE, it takes the root
 * along: it waits for RELIES, takes over NEXT, leaves TAKEN in NEXT of the host, and takes IN and
 * RELIES back (G5). Its own node has the root then, and passes it on as usual. A client of the host
 * that finds TAKEN knows that the root is gone.
 *
 * Posted releases. On a transport that posts, the release of an exclusive guest waits for no answer
 * if no node relies on the guest when it begins. While a client may be a guest, STATUS of its own
 * node, which has no place in the queue of nodes, is VISITING, with the host and the number of
 * GUEST (below). The release makes STATUS VISITED by a compare-and-swap, and posts the end of IN,
 * as one addition, whatever the other bits have become meanwhile (G9). A node that asks and finds
 * IN looks at STATUS of the other nodes and at GUEST, again and again (Q6). If it finds this visit,
 * it makes STATUS RELIED_ON by a compare-and-swap; then it sets RELIES, and the guest goes the way
 * above. If it finds that this guest has left, it goes on as if it had asked after that: it gets W,
 * as in Q4. It does not wait for a section: a guest is soon VISITING, and a posted release arrives.
 * It does not look at its deadline before it knows which of both holds, since nobody would pass on
 * its place in the queue. Tables of more than MOST_POSTING nodes do not post.
 *
 * ASKS that are older than the root's stay at the node are taken for dealt with (D1) before W
 * becomes IDLE: ACKS becomes equal to ASKS, by a compare-and-swap, after a look at NEXT.
 *
 * GUEST also has a number, which each guest changes when it takes IN back. So a client that waits
 * for a guest sees that it has left, even if another one has come. G3 and G4 are compare-and-swaps,
 * and fail if a node has asked since, or if older ASKS have been dealt with.
 *
 * A guest may also share the lock. It adds itself to SHARERS of GUEST (G6), and is in if W is IDLE,
 * the root is whole, no exclusive guest is in, and no node had asked (G7); the host may have an
 * open share meanwhile. If it is not in, and to release, it takes its count back (G8); a release
 * does not wait for that if the transport posts. The guest gives W of its own node back as soon as
 * it is in, so sharers of one node do not wait for each other. A client that takes W of the host
 * from IDLE and finds SHARERS sets LOCAL in W, and a node that asks for the root takes it as with
 * LOCAL. So an exclusive client awaits SHARERS with the sharers of that node's share (S7), or
 * splits the root, sets the bit of that node, and GUESTS in H; the next client that closes shares
 * then awaits SHARERS, too (shares.c). A change of SHARERS alone tells G3, G4 and L1 nothing.
 *
 * Which sharers are guests: those of a node that seldom uses the lock between two exclusive uses by
 * others (share_pays()). It counts the uses of its own share in R, and the visits of its guests in
 * NOTES, for which each reads R of the host: EPOCH is from the number of the opening there.
 *
 * Ordering guarantees
 *   (A) A client of the host changes W and then looks at GUEST; a guest changes GUEST and then gets
 *       W. On the near side a seq_cst read-modify-write precedes a seq_cst load, on the far side an
 *       atomic, a flush (or the transport's order) and a get follow each other. So the guest does
 *       not find IDLE, or the client finds IN.
 *   (B) G1 and Q3 are atomics on one word. If Q3 is first, the guest finds that ASKS differs from
 *       ACKS, and is not in; if G1 is first, the node finds IN, and does not take the root (Q5).
 *   (C) If Q3 finds IN, a client looks at NEXT later: the guest, which finds ASKS changed when it
 *       takes IN back, and then finds IDLE or that a client of the host has W; this client, before
 *       it makes W IDLE or after it.
 *   (D) A client of the host that has taken W from IDLE, finds a guest, and does not want the lock
 *       any more (its deadline has passed, or it was D3), makes W IDLE (L1). If a node relies on
 *       the guest, that may have seen W HELD meanwhile, so the client adds 1 to ASKS and ACKS by a
 *       compare-and-swap: the guest looks at W again. If it is not known yet on whom a node
 *       relies, the client waits for that: for Q3, or for a guest that is not in.
 *   (E) An exclusive guest holds the lock only while the root is whole, the share of the host is
 *       closed, and nobody shares the lock there: a client of the host opens the share with W only,
 *       so not between G2 and G4, and C3 finds the sharers of an earlier opening. What the guest
 *       did precedes G4, or G5, which a client of the host sees before it is in.
 *   (F) G6 and G1, and G6 and Q3, are atomics on one word. Of an exclusive guest and one that
 *       shares, the later one finds the other. If Q3 is first, the guest finds that ASKS differs
 *       from ACKS, and is not in; if G6 is first, the node finds SHARERS. A client of the host that
 *       has taken W finds SHARERS, or the guest is not in, as in (A). So while a guest that shares
 *       is in, the root is at its host, with W IDLE or LOCAL, or H has the bit of the host and
 *       GUESTS. What the guest did precedes G8, which C4 has read.
 *   (G) Of G9's compare-and-swap and Q6's, on one word, one succeeds. If it is Q6's, the guest
 * finds ASKS changed, as in (C), because Q3 precedes Q6, and waits for RELIES. If it is G9's, no
 *       node relies on this visit: each later one finds VISITED or another visit. Then the asking
 *       node gets W after G9 has arrived, so it finds IDLE, or that a client of the host has W that
 *       looks at NEXT later, by (A) of kept_root.c; guests that come after Q3 are not in, by (B). A
 *       client of the host that finds IN, ASKS and not RELIES waits (D) for a change of GUEST,
 * which G9 makes. What the guest did precedes G9, which a client of the host sees in A2, and the
 *       asking node before it gets W.
 *
 * The root moves only if the visits of guests prevail: a host notes the number of GUEST when one of
 * its clients uses the lock (SEEN). A guest that has been there several times in a row compares the
 * number with SEEN, and if the host has not used the lock since, the next client of the guest's
 * node queues. If a guest finds the lock in use, clients of its node queue for the next times; and
 * for longer if the lock was shared when the root came. Where writers are many, by the acquires of
 * the client (share_has_writers()), that is so only if the root was split, as a guest can close the
 * share of a whole root; and neither a lock in use, nor a run of visits at a host that opens no
 * share, shows that a share of its own pays for a node.
 *
 * Far operations. To enter, 1 atomic and 1 get, 2 gets to share, in 1 round trip if the transport
 * is ordered and in 2 if not (the first guest of a node: 1 atomic more at the same time); to
 * release, 1 atomic, which is not waited for if the transport posts. To close the share of the
 * host, 1 put and 1 get in 1 or 2 round trips.
 *
 * With patience 0 there are no guests.
 *
 * Models: models/kept_root.pml with -DGUESTS, -DPOSTED and -DSHARERS, models/adaptive_shares.pml
 * with -DGUESTS, whose labels are used here.
 */
#include "lock/adaptive/adaptive.h"

#include <stdio.h>

/* GUEST. */
enum {
	IN = 1,
	RELIES = 2,
	NUMBER_SHIFT = 16,
	NUMBER_BITS = 16,
	ACKS_SHIFT = 32,
	ASKS_SHIFT = 48,
	ASKS_BITS = 16
};
#define NUMBER_ONE (INT64_C(1) << NUMBER_SHIFT)
#define NUMBER (((INT64_C(1) << NUMBER_BITS) - 1) << NUMBER_SHIFT)
#define SHARER_ONE (INT64_C(1) << GUEST_SHARERS_SHIFT)
#define ASKS_ONE (INT64_C(1) << ASKS_SHIFT)
#define ASKS_MASK ((UINT64_C(1) << ASKS_BITS) - 1)

/* How many visits in a row, without a use by the host, move the root. How many clients queue
 * without a visit after one that found the lock in use. */
enum { VISITS = 3, MOVES = (1 << NOTES_VISITS_BITS) - 1, SKIPS = 3 };

/* A share of its own pays for a node whose guests have shared the lock so often without another
 * opening of the host's share in between. If they find the lock in use by others, it is taken for
 * one of which nodes use their shares as often as BUSY_REUSE. */
#define SHARED_VISITS ATTEMPTS_OR((1 << NOTES_SHARED_BITS) - 1, 3)
enum { BUSY_REUSE = 63 };

/* The limit of guests that share; one refused guest of each node may still be counted, for which
 * SHARERS has room on tables of at most so many nodes. */
enum { MOST_SHARERS = 1 << (GUEST_SHARERS_BITS - 1), MOST_NODES = MOST_SHARERS / 2 };

/* Q6 looks at all nodes. The pause between two of its looks. */
enum { MOST_POSTING = 16, PAUSE_NS = 10000 };

static struct adaptive_slot *own_of(struct lock_slot *slot)
{
	return lock_own(slot);
}

static uint64_t asks_of(int64_t guest)
{
	return (uint64_t)guest >> ASKS_SHIFT;
}

static bool is_asked(int64_t guest)
{
	return asks_of(guest) != (((uint64_t)guest >> ACKS_SHIFT) & ASKS_MASK);
}

/* What names a visit: the host, and the number that GUEST has there meanwhile. */
static int64_t visit_name(int host, int64_t guest)
{
	return (int64_t)host << NUMBER_BITS | (guest & NUMBER) >> NUMBER_SHIFT;
}

static int64_t next_number(int64_t guest)
{
	return (guest & ~NUMBER) | ((guest + NUMBER_ONE) & NUMBER);
}

static int64_t without_asks(int64_t guest)
{
	uint64_t acks = ASKS_MASK << ACKS_SHIFT;
	uint64_t rest = (uint64_t)guest & ~acks & ~(uint64_t)RELIES;

	return (int64_t)(rest | asks_of(guest) << ACKS_SHIFT);
}

/* Adds 1 to ASKS and ACKS, so that the guest's compare-and-swap fails. */
static int64_t bump(int64_t guest)
{
	uint64_t acks = (((uint64_t)guest >> ACKS_SHIFT) + 1) & ASKS_MASK;
	uint64_t asks = (asks_of(guest) + 1) & ASKS_MASK;
	uint64_t rest = (uint64_t)guest & ((UINT64_C(1) << ACKS_SHIFT) - 1);

	return (int64_t)(rest | acks << ACKS_SHIFT | asks << ASKS_SHIFT);
}

bool guest_is_in(int64_t guest)
{
	return (guest & IN) != 0;
}

/* Sharers come and go without regard to a guest that is in and to nodes that ask. */
static bool differ_in_sharers(int64_t a, int64_t b)
{
	return ((a ^ b) & ~GUEST_SHARERS) == 0 && !FAULT(adaptive_coming);
}

bool guest_shares(int64_t guest)
{
	return (guest & GUEST_SHARERS) != 0;
}

/* ------------------------------------------------------------- at the host */

static int64_t look(struct lock_slot *slot)
{
	return rma_peek_ordered(&slot->client, adaptive_word(slot, LINE_GUEST));
}

static int64_t next_of(struct lock_slot *slot)
{
	return rma_peek_ordered(&slot->client, adaptive_word(slot, LINE_NEXT));
}

bool guest_has_sharers(struct lock_slot *slot)
{
	return guest_shares(look(slot)) && !FAULT(adaptive_sharers);
}

/* SEEN has no sharers here, so an exclusive client looks at GUEST while there are any. */
static void note_seen(struct lock_slot *slot, int64_t guest)
{
	if (guest & (IN | GUEST_SHARERS))
		return;
	adaptive_note(slot, (adaptive_notes(slot) & ~NOTES_SEEN) | (guest & NOTES_SEEN));
}

void guest_note_root(struct lock_slot *slot)
{
	int64_t notes = adaptive_notes(slot) & (NOTES_SKIPS | NOTES_TRIP);

	/* There are never so many sharers, so a release looks at GUEST. */
	adaptive_note(slot, notes | ((look(slot) | GUEST_SHARERS) & NOTES_SEEN));
}

void guest_note_away(struct lock_slot *slot, int64_t host)
{
	adaptive_note(slot, (adaptive_notes(slot) & (NOTES_SKIPS | NOTES_TRIP)) | host);
}

void guest_note_sharers(struct lock_slot *slot)
{
	int64_t flags = kept_root_flags(slot);

	if (guest_has_sharers(slot) && !(flags & ~(int64_t)W_FRESH) && !FAULT(adaptive_untold))
		kept_root_set_flags(slot, flags | W_LOCAL);
}

int64_t guest_here(struct lock_slot *slot)
{
	return look(slot);
}

bool guest_await(struct lock_slot *slot)
{
	struct rma_word w = adaptive_word(slot, LINE_GUEST);
	int64_t guest = look(slot);
	bool in_time = true;

	if (guest_is_in(guest) && !FAULT(adaptive_guest))
		in_time = rma_await_until(&slot->client, w, IN | NUMBER, RMA_NE,
					  guest & (IN | NUMBER), RMA_SOON, slot->deadline_ns,
					  "a client of another node to leave", &guest);
	if (in_time && !is_asked(guest))
		note_seen(slot, guest);
	if (!in_time || guest_shares(guest))
		guest_note_sharers(slot);
	return in_time;
}

/* L1: whether GUEST was this one, but for sharers. */
static bool alter(struct lock_slot *slot, struct rma_word w, int64_t guest)
{
	for (;;) {
		int64_t old = adaptive_swap_if(slot, w, guest, bump(guest));

		if (old == guest)
			return true;
		if (!differ_in_sharers(guest, old))
			return false;
		guest = old;
	}
}

/* The host waits for a change of what a guest or a node that relies on it does last. All of that is
 * in the low half of GUEST, on which a parked client sleeps; ASKS is not (rma/wait.c). */
static int64_t await_change(struct lock_slot *slot, struct rma_word w, int64_t guest,
			    const char *what)
{
	const int64_t mask = IN | RELIES | NUMBER;

	return rma_await(&slot->client, w, mask, RMA_NE, guest & mask, RMA_SOON, what);
}

bool guest_leave_to(struct lock_slot *slot)
{
	struct rma_word w = adaptive_word(slot, LINE_GUEST);
	int64_t guest = look(slot);

	while (guest_is_in(guest)) {
		if (is_asked(guest) && !(guest & RELIES)) {
			guest = await_change(slot, w, guest,
					     "a client that looks for the root at its node");
			continue;
		}
		/* L1; (D). */
		adaptive_free(slot, W_IDLE);
		if (is_asked(guest) && alter(slot, w, guest))
			return true;
		if (!next_of(slot) || !kept_root_take_back(slot))
			return true;
		/* Q3, after which the node sets RELIES or finds that the guest leaves; or the
		 * guest's G3 or G4. If the guest was asked, GUEST has changed already. */
		guest = is_asked(guest)
			    ? look(slot)
			    : await_change(slot, w, guest,
					   "a client that asks for the root, or a guest that"
					   " leaves");
	}
	return false;
}

bool guest_next_is_set(struct lock_slot *slot)
{
	struct rma_word w = adaptive_word(slot, LINE_GUEST);

	for (;;) {
		int64_t guest = look(slot);

		if (next_of(slot))
			return true;
		if (!is_asked(guest)) {
			note_seen(slot, guest);
			return false;
		}
		adaptive_swap_if(slot, w, guest, without_asks(guest));
	}
}

/* ----------------------------------------------------- the next node */

void guest_ask(const struct lock_setup *s, struct lock_slot *slot, int node, int64_t *guest)
{
	rma_fao(&slot->client, adaptive_word_at(s, slot, RMA_NET, node, LINE_GUEST), RMA_SUM,
		ASKS_ONE, guest);
}

/* Whether releases of exclusive guests are posted. */
static bool posts(const struct lock_setup *s)
{
	const struct adaptive_constants *k = s->state;

	return s->posts && k->nodes <= (int)MOST_POSTING;
}

/* Q6: whether a client of this node is the guest of this visit. Then the guest sees to the node
 * that asks; (G). */
static bool is_relied_on(const struct lock_setup *s, struct lock_slot *slot, int node,
			 int64_t visit)
{
	struct rma_word status = adaptive_word_at(s, slot, RMA_NET, node, LINE_STATUS);
	int64_t seen;

	rma_get(&slot->client, status, &seen);
	rma_flush(&slot->client, status); /* orders the look before the swap; pairs with G9 */
	if (!kept_root_is_visiting(seen, FAULT(adaptive_visit) ? -1 : visit))
		return false;
	return seen == kept_root_relied_on(seen) ||
	       adaptive_swap_if(slot, status, seen, kept_root_relied_on(seen)) == seen;
}

/* Q6. True: the guest sees to this node. False: it has left. */
static bool await_guest(const struct lock_setup *s, struct lock_slot *slot, int node, int64_t guest)
{
	const struct adaptive_constants *k = s->state;
	struct rma_word w = adaptive_word_at(s, slot, RMA_NET, node, LINE_GUEST);
	int here = adaptive_node(s, slot->client.rma->rank);
	struct rma_pause p = {.min_ns = PAUSE_NS, .max_ns = PAUSE_NS};
	int64_t visit = visit_name(node, guest), seen;

	for (;;) {
		for (int j = 0; j < k->nodes; j++)
			if (j != node && j != here && is_relied_on(s, slot, j, visit))
				return true;
		rma_get(&slot->client, w, &seen);
		rma_flush(&slot->client, w); /* orders the look before Q4's; pairs with G9 */
		if (!guest_is_in(seen) || visit_name(node, seen) != visit ||
		    FAULT(adaptive_at_once))
			return false;
		rma_pause(&slot->client, &p, "a guest that leaves, or that says where it is from");
	}
}

bool guest_rely(const struct lock_setup *s, struct lock_slot *slot, int node, int64_t guest)
{
	struct rma_word w = adaptive_word_at(s, slot, RMA_NET, node, LINE_GUEST);
	int64_t old;

	if (posts(s) && !await_guest(s, slot, node, guest))
		return false;
	rma_fao(&slot->client, w, RMA_OR, RELIES, &old);
	rma_flush(&slot->client, w); /* orders RELIES before all that its node does next */
	return true;
}

/* ----------------------------------------------------------------- guests */

enum visit { VISIT_IN, VISIT_ALONG, VISIT_BUSY, VISIT_AWAY, VISIT_SPLIT };

static struct rma_word at_host(const struct lock_setup *s, struct lock_slot *slot,
			       enum rma_domain d, uint64_t offset)
{
	return adaptive_word_at(s, slot, d, own_of(slot)->host, offset);
}

/* A swap by Q6 may be under way; (C) of kept_root.c. */
static void end_visit(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_slot *own = own_of(slot);

	if (posts(s) && (FAULT(adaptive_ended) ||
			 !kept_root_ends_visit(slot, visit_name(own->host, own->guest))))
		kept_root_set_visiting(slot, -1);
}

/* G5: take the root along, and W of this node. */
static void take_along(const struct lock_setup *s, struct lock_slot *slot, int64_t root)
{
	struct rma_client *c = &slot->client;
	struct rma_word guest = at_host(s, slot, RMA_NET, LINE_GUEST);
	struct rma_word theirs = at_host(s, slot, RMA_NET, LINE_NEXT);
	int64_t seen = own_of(slot)->guest, old, next;

	if (!(seen & RELIES))
		seen = rma_await(c, guest, RELIES, RMA_NE, 0, RMA_SOON,
				 "a node to say that it waits for the guest");
	rma_get(c, theirs, &next);
	rma_flush(c, theirs); /* orders the look before the put */
	rma_poke(c, adaptive_word(slot, LINE_NEXT), next);
	rma_put(c, theirs, NEXT_TAKEN | (adaptive_node(s, c->rma->rank) + 1));
	rma_order(c, theirs); /* orders TAKEN before the end of IN; pairs with A2, D3 */
	for (;;) {
		old = adaptive_swap_if(slot, guest, seen,
				       next_number(seen & ~(int64_t)(IN | RELIES)));
		if (old == seen)
			break;
		seen = old;
	}
	end_visit(s, slot);
	kept_root_arrive_from(s, slot, own_of(slot)->host, root);
}

/* G3: withdraw; if the host became idle meanwhile, hold the lock. */
static enum visit give_up(const struct lock_setup *s, struct lock_slot *slot, int64_t *root)
{
	struct adaptive_slot *own = own_of(slot);
	struct rma_word guest = at_host(s, slot, RMA_NET, LINE_GUEST);
	struct rma_word w = at_host(s, slot, RMA_NODE, LINE_W);

	for (;;) {
		int64_t old, value, seen;

		old = adaptive_swap_if(slot, guest, own->guest,
				       next_number(own->guest & ~(int64_t)IN));
		if (old == own->guest) {
			end_visit(s, slot);
			return VISIT_BUSY;
		}
		seen = own->guest;
		own->guest = old;
		if (differ_in_sharers(seen, old))
			continue;
		rma_get(&slot->client, w, &value);
		rma_flush(&slot->client, guest); /* orders the look before the next swap; (C) */
		if (!kept_root_is_idle(s, slot, own->host, value, root) || FAULT(adaptive_look))
			continue;
		/* The client has the root now. ASKS that it saw before may have been dealt with. */
		rma_get(&slot->client, guest, &own->guest);
		rma_flush(&slot->client, guest); /* orders the look before the use of it */
		*root |= guest_shares(own->guest) ? W_LOCAL : 0;
		*root &= own->guest & GUEST_RESOLVED ? ~(int64_t)W_FRESH : -1;
		if (is_asked(own->guest))
			return VISIT_ALONG;
		if (!*root)
			return VISIT_IN;
	}
}

/* F3 of a guest, which has found these nodes by F2. */
static bool close_first(const struct lock_setup *s, struct lock_slot *slot, int64_t root,
			int64_t nodes)
{
	struct adaptive_slot *own = own_of(slot);

	nodes |= root & W_LOCAL ? share_bit(own->host) : 0;
	if (!first_close(s, slot, nodes, false))
		return false;
	own->resolves = !own->reopens;
	return true;
}

/* G2: close the share of the host, which has this root. False: others may share the lock. claimed:
 * F2 has found these nodes; -1: it is still to be done, if the root is fresh. */
static bool close_at_host(const struct lock_setup *s, struct lock_slot *slot, int64_t root,
			  int64_t claimed)
{
	const struct adaptive_slot *own = own_of(slot);

	if ((root & W_SPLIT) || (guest_shares(own->guest) && !FAULT(adaptive_sharers)))
		return false;
	if (root & W_FRESH)
		return close_first(s, slot, root,
				   claimed < 0 ? first_claim_there(s, slot) : claimed);
	return !(root & W_LOCAL) || FAULT(adaptive_host) || share_close_at(s, slot, own->host);
}

/* Why a guest is not in, where it found this GUEST and this W: the root is about to leave, or has
 * left; or others have the lock. */
static enum visit refused(bool is_idle, int64_t guest, int64_t w)
{
	bool is_away = is_idle ? is_asked(guest) : !((w & W_HELD) || (w & W_STATE) == W_SHUT);

	return is_away ? VISIT_AWAY : VISIT_BUSY;
}

/* Whether a guest with these NOTES, which is about to visit the lock, does F2 at once. Where the
 * transport keeps no order, that would take a round trip more than to look at W first. */
static bool may_be_fresh(const struct lock_setup *s, struct lock_slot *slot, int64_t notes)
{
	const struct adaptive_constants *k = s->state;

	return k->groups_each && rma_keeps_order(&slot->client) &&
	       own_of(slot)->host == adaptive_home_node(s, slot->lock) &&
	       (!(notes & NOTES_HOST) || share_may_be_first(s, slot));
}

/* G1 ... G3. */
static enum visit visit(const struct lock_setup *s, struct lock_slot *slot, bool counts,
			int64_t *root)
{
	struct adaptive_slot *own = own_of(slot);
	struct rma_word guest = at_host(s, slot, RMA_NET, LINE_GUEST);
	struct rma_word w = at_host(s, slot, RMA_NODE, LINE_W);
	int64_t notes = adaptive_notes(slot), seen = 0, claimed = -1, old, value;
	bool is_idle, claims = may_be_fresh(s, slot, notes);
	struct rma_word marks;
	enum visit end;

	own->resolves = false;
	own->reopens = 0;
	if (claims)
		marks = first_post_claim(s, slot, &claimed);
	rma_fao(&slot->client, guest, RMA_OR, IN, &old);
	rma_order(&slot->client, guest); /* orders G1 before G2; (A) */
	rma_get(&slot->client, w, &value);
	if (counts)
		rma_get(&slot->client, at_host(s, slot, RMA_NODE, LINE_NOTES), &seen);
	rma_flush(&slot->client, guest); /* orders the looks before the use of their results */
	if (claims) {
		rma_flush(&slot->client, marks); /* orders F2 before the use of its result */
		claimed = first_nodes_of(claimed);
	}
	if (guest_is_in(old))
		return VISIT_BUSY;
	own->guest = old | IN;
	if (posts(s))
		kept_root_set_visiting(slot, visit_name(own->host, old));
	is_idle = kept_root_is_idle(s, slot, own->host, value, root);
	*root &= old & GUEST_RESOLVED ? ~(int64_t)W_FRESH : -1;
	if (is_idle && (!is_asked(old) || FAULT(adaptive_claimed)) &&
	    close_at_host(s, slot, *root, claimed)) {
		notes &= ~NOTES_VISITS;
		if (counts && (((old & NUMBER) - (seen & NUMBER)) & NUMBER) >= VISITS * NUMBER_ONE)
			notes |= NOTES_VISITS;
		if (counts)
			adaptive_note(slot, notes);
		return VISIT_IN;
	}
	end = give_up(s, slot, root);
	if (end != VISIT_BUSY)
		return end;
	return refused(is_idle, old, value);
}

/* G8: the guest that shares is not in any more. */
static void take_count_back(const struct lock_setup *s, struct lock_slot *slot)
{
	rma_acc(&slot->client, at_host(s, slot, RMA_NET, LINE_GUEST), -SHARER_ONE);
}

/* Count a visit of a guest that shares, in the run since the host's share was last opened. */
static void note_shared_visit(struct lock_slot *slot, int64_t r)
{
	int64_t epoch = share_epoch(r);
	int64_t notes = adaptive_notes(slot);
	int64_t visits = (notes & NOTES_SHARED) >> NOTES_SHARED_SHIFT;
	bool is_new = (notes & NOTES_EPOCH) >> NOTES_EPOCH_SHIFT != epoch;

	/* One less, for the openings without a visit, which do not come here. */
	if (is_new && visits)
		share_note_reuse(slot, visits - 1, false);
	visits = is_new ? 1 : visits + 1;
	if (visits == SHARED_VISITS && share_has_writers(slot, SHARE_MANY_WRITERS))
		visits--;
	if (visits == SHARED_VISITS) {
		share_note_reuse(slot, visits, true);
		visits = 0;
	}
	notes &= ~(NOTES_HOST | NOTES_SHARED | NOTES_EPOCH);
	adaptive_note(slot, notes | visits << NOTES_SHARED_SHIFT | epoch << NOTES_EPOCH_SHIFT |
				(own_of(slot)->host + 1));
}

/* G6 ... G8. */
static enum visit visit_shared(const struct lock_setup *s, struct lock_slot *slot)
{
	struct adaptive_slot *own = own_of(slot);
	struct rma_word guest = at_host(s, slot, RMA_NET, LINE_GUEST);
	int64_t old, value, r, root;
	bool is_idle;

	rma_fao(&slot->client, guest, RMA_SUM, SHARER_ONE, &old);
	rma_order(&slot->client, guest); /* orders G6 before G7; (A) */
	rma_get(&slot->client, at_host(s, slot, RMA_NODE, LINE_W), &value);
	rma_get(&slot->client, at_host(s, slot, RMA_NODE, LINE_SHARERS), &r);
	rma_flush(&slot->client, guest); /* orders the looks before the use of their results */
	is_idle = kept_root_is_idle(s, slot, own->host, value, &root);
	if (is_idle && !(root & W_SPLIT) && !is_asked(old) &&
	    (!guest_is_in(old) || FAULT(adaptive_shares_in)) &&
	    (old & GUEST_SHARERS) >> GUEST_SHARERS_SHIFT < MOST_SHARERS) {
		note_shared_visit(slot, r);
		return VISIT_IN;
	}
	take_count_back(s, slot);
	rma_flush(&slot->client, guest); /* orders G8 before what its client does next */
	if (is_idle && (root & W_SPLIT))
		return VISIT_SPLIT;
	return refused(is_idle, old, value);
}

static bool has_head(struct lock_slot *slot)
{
	int64_t w;

	rma_get(&slot->client, adaptive_word(slot, LINE_W), &w);
	return (w & W_HEAD) != 0 || direct_has_successor(slot);
}

bool guest_is_better(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;

	return !k->keeps_order && k->nodes <= MOST_NODES && !share_pays(s, slot) && !has_head(slot);
}

/* Whether an exclusive client is a guest rather than to queue. */
static bool may_visit(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;
	int64_t notes = adaptive_notes(slot);

	if (slot->mode != PAWL_EXCLUSIVE || k->keeps_order || has_head(slot))
		return false;
	if (notes & NOTES_SKIPS) {
		adaptive_note(slot, notes - (INT64_C(1) << NOTES_SKIPS_SHIFT));
		return false;
	}
	return (notes & NOTES_VISITS) >> NOTES_VISITS_SHIFT != MOVES;
}

/* The node to visit first, by *hint from NOTES, or, after that, by TAIL; *hint becomes 1 + this
 * node. False: there is none. */
static bool find_host(const struct lock_setup *s, struct lock_slot *slot, int visits, int64_t *hint)
{
	struct adaptive_slot *own = own_of(slot);
	int here = adaptive_node(s, slot->client.rma->rank);

	if (!visits)
		own->host = *hint ? (int)*hint - 1 : adaptive_home_node(s, slot->lock);
	if (visits || own->host == here)
		own->host = (int)kept_root_last(s, slot) - 1;
	if (own->host == here || (visits && own->host + 1 == *hint))
		return false;
	*hint = own->host + 1;
	return true;
}

/* The client is in at its host: what its slot, and W of its own node, say then. */
static int enter_as_guest(struct lock_slot *slot)
{
	kept_root_set_flags(slot, 0);
	slot->from = -1;
	own_of(slot)->entry = BY_GUEST;
	return PAWL_SUCCESS;
}

/* guest_enter() for a sharer. */
static int enter_shared(const struct lock_setup *s, struct lock_slot *slot)
{
	struct adaptive_slot *own = own_of(slot);
	int64_t hint = adaptive_notes(slot) & NOTES_HOST;

	for (int i = 0; i < 2 && find_host(s, slot, i, &hint); i++) {
		switch (visit_shared(s, slot)) {
		case VISIT_IN:
			return enter_as_guest(slot);
		case VISIT_SPLIT:
			share_note_reuse(slot, BUSY_REUSE, true);
			if (share_open(s, slot, SHARE_NO_ROOT) != PAWL_SUCCESS)
				return LOCK_PASSED;
			kept_root_set_flags(slot, 0);
			own->entry = BY_SHARE;
			return PAWL_SUCCESS;
		case VISIT_AWAY:
			break;
		default:
			if (!share_has_writers(slot, SHARE_MANY_WRITERS))
				share_note_reuse(slot, BUSY_REUSE, true);
			return LOCK_PASSED;
		}
	}
	return LOCK_PASSED;
}

int guest_enter(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t notes, hint, visits, root;

	if (slot->mode == PAWL_SHARED && guest_is_better(s, slot))
		return enter_shared(s, slot);
	if (!may_visit(s, slot))
		return LOCK_PASSED;
	notes = adaptive_notes(slot);
	hint = notes & NOTES_HOST;
	visits = (notes & NOTES_VISITS) >> NOTES_VISITS_SHIFT;
	for (int i = 0; i < 2 && find_host(s, slot, i, &hint); i++) {
		switch (visit(s, slot, visits >= VISITS, &root)) {
		case VISIT_IN:
			notes = adaptive_notes(slot) & ~NOTES_HOST;
			if (visits < VISITS && !own_of(slot)->reopens)
				notes += INT64_C(1) << NOTES_VISITS_SHIFT;
			adaptive_note(slot, notes | hint);
			return enter_as_guest(slot);
		case VISIT_ALONG:
			take_along(s, slot, root);
			return PAWL_SUCCESS;
		case VISIT_BUSY:
			adaptive_note(slot,
				      adaptive_notes(slot) | ((int64_t)SKIPS << NOTES_SKIPS_SHIFT));
			return LOCK_PASSED;
		case VISIT_AWAY:
		case VISIT_SPLIT:
			visits = 0;
			break;
		}
	}
	return LOCK_PASSED;
}

/* G9: no node relies on the guest, nor will one. Only the guest changes IN, NUMBER and RESOLVED
 * while it is in. */
static int leave(const struct lock_setup *s, struct lock_slot *slot, struct rma_word guest)
{
	const struct adaptive_slot *own = own_of(slot);
	int64_t left = next_number(own->guest & ~(int64_t)IN);

	left |= own->resolves ? GUEST_RESOLVED : 0;
	rma_acc(&slot->client, guest, left - own->guest);
	adaptive_free(slot, W_AWAY);
	return lock_end_release(s, slot, guest); /* pairs with A2, Q6 */
}

int guest_release(const struct lock_setup *s, struct lock_slot *slot)
{
	struct adaptive_slot *own = own_of(slot);
	struct rma_word guest = at_host(s, slot, RMA_NET, LINE_GUEST);
	int64_t root = own->reopens ? W_FRESH : 0;
	int64_t old;

	own->entry = BY_ROOT;
	root |= own->reopens >> (own->host % (int)FIRST_NODES) & 1 ? W_LOCAL : 0;
	if (slot->mode == PAWL_EXCLUSIVE)
		first_reopen(s, slot, guest.rank);
	if (slot->mode == PAWL_SHARED) {
		take_count_back(s, slot);
		return lock_end_release(s, slot, guest); /* pairs with C4 */
	}
	if (posts(s) && kept_root_ends_visit(slot, visit_name(own->host, own->guest)))
		return leave(s, slot, guest);
	/* G4. */
	while (!is_asked(own->guest)) {
		old = adaptive_swap_if(slot, guest, own->guest,
				       next_number(own->guest & ~(int64_t)IN) |
					   (own->resolves ? GUEST_RESOLVED : 0));
		if (old == own->guest) {
			end_visit(s, slot);
			adaptive_free(slot, W_AWAY);
			return PAWL_SUCCESS;
		}
		own->guest = old;
	}
	if (FAULT(adaptive_along)) {
		rma_fao(&slot->client, guest, RMA_AND, ~(int64_t)IN, &old);
		rma_flush(&slot->client, guest);
		adaptive_free(slot, W_AWAY);
		return PAWL_SUCCESS;
	}
	take_along(s, slot, root);
	adaptive_give_back(s, slot);
	return PAWL_SUCCESS;
}

/* ------------------------------------------------------------- the simulator */

bool guest_idle(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m, char *err,
		size_t errlen)
{
	const struct adaptive_constants *k = s->state;

	for (int j = 0; j < k->nodes; j++) {
		uint64_t at;
		int rank = adaptive_line(s, j, lock, &at);
		int64_t guest = *lock_memory_word(m, rank, at + LINE_GUEST);

		snprintf(err, errlen, "node %d: GUEST is 0x%llx", j, (unsigned long long)guest);
		if (guest_is_in(guest) || guest_shares(guest))
			return false;
	}
	return true;
}

void guest_age(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m)
{
	const struct adaptive_constants *k = s->state;
	int64_t aged = without_asks(NUMBER - NUMBER_ONE - ASKS_ONE);
	uint64_t at;

	for (int j = 0; j < k->nodes; j++) {
		int rank = adaptive_line(s, j, lock, &at);

		*lock_memory_word(m, rank, at + LINE_GUEST) = aged;
	}
}
