/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kind adaptive on several nodes: the share of a node, by which its sharers enter and leave without
 * a far operation.
 *
 * A share is open or closed. A sharer of a node whose share is open adds itself to word R of the
 * node, and is in. The share stays open when its last sharer leaves, until a client that excludes
 * sharers closes it, which needs no client of that node (as with the root, kept_root.c).
 *
 * R has the number of sharers, OPEN, OPENING (a client opens or closes the share), WATCHED (a
 * client looks whether the share can be opened; phases.c), the number of the opening, which is its
 * time if the clock has gone on since the last one, and how often the share has been used (REUSE,
 * USES). GATE, which other nodes write, has the number of the opening, or CLOSED. The share is open
 * if R has OPEN and GATE has the number that R has. Before the first opening the number is 0, and
 * the share may be open for another reason (first.c).
 *
 * A sharer adds itself to R (E1), and then looks at GATE (E2). If the share is closed, it takes its
 * count back (E3). To leave, it takes its count back, too. Its first E1 comes without a look at R
 * before: a look at a cache line that another client has changed takes as long as E1, which brings
 * the line. A sharer of the lock that it shared last, and one that asks again, look first, and add
 * themselves only if the share is open: such a line is in the client's cache, or in use by others
 * now, which a look delays less. On nodes of few ranks, a sharer that comes back late to the lock
 * that it shared last does not look first either: another client has changed the line meanwhile,
 * and few use it now. So a client that waits for R without sharers sees each acquire once at most.
 * To open the share, a client sets OPENING (O1), writes the next number into GATE and into R, where
 * it takes OPEN back (O2), sets the node's bit in H at the home (O3), and if no client excludes
 * sharers there, sets OPEN and adds itself (O4). Then it looks at GATE, as any sharer (E2). A
 * client that has a whole root opens the share of its node without O3, and sets LOCAL in W: the
 * root then goes to another node as split, and the bit of this node is set before anything else.
 *
 * A client that excludes sharers says so in H first, and finds the bits of the nodes there (C1). It
 * writes CLOSED into GATE of each such node (C2), and reads R of that node (C3), until it has no
 * sharers (C4). If H has GUESTS, sharers of other nodes may be there, which SHARERS of GUEST counts
 * (guests.c); the client waits for these, too. At its own node it takes OPEN back instead, with
 * OPENING set.
 *
 * Ordering guarantees
 *   (A) A sharer changes R and then looks at GATE; the other client writes GATE and then reads R:
 *       on the near side a seq_cst read-modify-write precedes a seq_cst load, on the far side a
 *       put, a flush and a get follow each other. So the sharer finds GATE closed, or the other
 *       client finds the sharer.
 *   (B) While an open share, or one that still has sharers, is at a node, the bit of the node is in
 *       H and the root is split; or the root is whole, with LOCAL, and at this node; or it is
 *       fresh, and the share is a first one (first.c). A bit without a share is harmless. Only a
 *       client that has the root clears bits: those that it found by C1, after C4, before it takes
 *       STRICT back or by the same operation.
 *   (C) O3 and C1 are atomics on the same word. If C1 is first, O3 finds it and the share stays
 *       closed. If O3 is first, C1 finds the bit, and C2 writes GATE after O2. O2 precedes O3 by
 *       the fetch-and-add on R. A client takes back what it said in H only after C2 is performed,
 *       so C2 never closes a later opening that O3 permits.
 *   (D) A sharer that has counted itself before O2 finds another number in GATE than in R as it
 *       was, and is not in by the later opening.
 *   (E) What the last exclusive holder did is visible to the client that opens the share, by O3 or
 *       by the root, and to those that find OPEN in R, by O4. What sharers did precedes the removal
 *       of their counts, which C3 has read.
 *
 * Far operations: 1 atomic to open the share, 0 to enter and to leave. To close the share of
 * another node, 1 put and 1 get, or 2 gets if H has GUESTS.
 *
 * Model: models/adaptive_shares.pml, whose labels are used here.
 */
#include "lock/adaptive/adaptive.h"

#include <stdio.h>

enum {
	R_OPENING = 1,
	R_OPEN = 2,
	R_WATCHED = 4,
	R_COUNT_SHIFT = 3,
	R_COUNT_BITS = COUNT_BITS + 1,
	R_NUMBER_SHIFT = R_COUNT_SHIFT + R_COUNT_BITS,
	R_NUMBER_BITS = 24,
	R_REUSE_SHIFT = R_NUMBER_SHIFT + R_NUMBER_BITS,
	R_REUSE_BITS = 8,
	R_FIRST_SHIFT = R_REUSE_SHIFT + R_REUSE_BITS,
	R_USES_SHIFT = R_FIRST_SHIFT + 1
};
_Static_assert(R_USES_SHIFT < 64, "R has room for USES");
#define R_ONE (INT64_C(1) << R_COUNT_SHIFT)
#define R_COUNT (((INT64_C(1) << R_COUNT_BITS) - 1) << R_COUNT_SHIFT)
#define R_NEXT_NUMBER (INT64_C(1) << R_NUMBER_SHIFT)
#define R_NUMBER_MASK ((UINT64_C(1) << R_NUMBER_BITS) - 1)
#define R_REUSE_MASK ((UINT64_C(1) << R_REUSE_BITS) - 1)
#define R_FIRST (INT64_C(1) << R_FIRST_SHIFT) /* READS has the bit of the lock (first.c) */
#define R_USE (INT64_C(1) << R_USES_SHIFT)
#define R_USES_MASK ((UINT64_C(1) << (64 - R_USES_SHIFT)) - 1)
#define R_LEAVE (R_USE - R_ONE)

/* REUSE: how often the node shares the lock between two exclusive uses by others, by its share or
 * by guests (guests.c): a mean, in quarters of a use, which changes by an eighth of the difference;
 * 0: not known. USES: by its share, since the share was last opened or closed. */
enum { REUSE_UNIT = 4, REUSE_MOST = 63, REUSE_FIRST = 3 };

/* A share of its own pays for a node with so many uses, because it takes so much longer to open it
 * and to close it than to be a guest. In a table of several nodes an exclusive client closes all
 * shares at a time, so fewer uses will do. */
enum { REUSE_PAYS = 6, REUSE_PAYS_LEAST = 3 };

/* A node that does not know goes by the acquires of the client, of any lock. The first SAMPLE ones
 * show how many are of locks of other nodes; the last ones, up to SHARES_SAMPLE, how many are
 * exclusive. */
#define SAMPLE ATTEMPTS_OR(64, 2)
#define SHARES_SAMPLE ATTEMPTS_OR(4096, 16)

/* Guests are many if at least so many of the sample were of locks of other nodes; in the small
 * worlds of the adversary, always. */
#define MANY_VISITS ATTEMPTS_OR(16, 0)

/* Numbers are times in units of 2^NUMBER_UNIT ns, or a few of these ahead. */
enum { NUMBER_UNIT = 10, NUMBERS_AHEAD = 1 << 16 };

/* GATE of a closed share, not that of any opening, which is odd; that of an open first share has
 * 0 in its lowest bits, and above them how often the share had been used when it was opened. */
#define GATE_CLOSED INT64_C(2)
#define GATE_BITS INT64_C(3)
enum { GATE_BITS_SHIFT = 2 };

/* How many nodes are asked at a time. */
enum { AT_A_TIME = 16 };

static int64_t change(struct lock_slot *slot, struct rma_word r, int64_t value)
{
	int64_t old;

	rma_fao(&slot->client, r, RMA_SUM, value, &old);
	return old;
}

/* GATE while the share is open that has the number of this R; not 0. */
static int64_t gate_of(int64_t r)
{
	return (int64_t)(((uint64_t)r >> R_NUMBER_SHIFT & R_NUMBER_MASK) << 1 | 1);
}

static uint64_t number_of(int64_t r)
{
	return (uint64_t)r >> R_NUMBER_SHIFT & R_NUMBER_MASK;
}

/* E2. Number 0 is that of first shares (first.c). */
static bool is_open(const struct lock_setup *s, struct lock_slot *slot, int64_t r)
{
	int64_t gate = rma_peek_ordered(&slot->client, adaptive_word(slot, LINE_GATE));

	if (!number_of(r))
		return !(gate & GATE_BITS) && ((r & R_FIRST) || first_is_open(s, slot));
	return (r & R_OPEN) && gate == gate_of(r);
}

/* A sharer that found R so has left it. A client that closes a first share leaves OPEN in R, and
 * waits for the last sharer. */
static void wake_closer(struct lock_slot *slot, struct rma_word r, int64_t old)
{
	if (r.map && (!(old & R_OPEN) || (old & R_COUNT) == R_ONE))
		rma_wake(&slot->client, r);
}

bool share_leave(struct lock_slot *slot)
{
	struct rma_word r = adaptive_word(slot, LINE_SHARERS);
	int64_t old = change(slot, r, R_LEAVE);

	wake_closer(slot, r, old);
	return (old & (R_OPEN | R_OPENING)) == R_OPEN && (old & R_COUNT) == R_ONE;
}

bool share_join(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_word r = adaptive_word(slot, LINE_SHARERS);
	int64_t value;

	/* E1, E2; (A). */
	value = change(slot, r, R_ONE);
	if (is_open(s, slot, value) || ((value & R_OPEN) && FAULT(adaptive_gate))) {
		if (!number_of(value) && !(value & R_FIRST))
			rma_fao(&slot->client, r, RMA_OR, R_FIRST, &value);
		return true;
	}
	value = change(slot, r, -R_ONE); /* E3 */
	wake_closer(slot, r, value);
	return false;
}

/* The same after a look. */
bool share_join_if_open(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t value;

	rma_get(&slot->client, adaptive_word(slot, LINE_SHARERS), &value);
	return is_open(s, slot, value) && share_join(s, slot);
}

bool share_may_be_first(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t value;

	rma_get(&slot->client, adaptive_word(slot, LINE_SHARERS), &value);
	return !number_of(value) && ((value & R_FIRST) || first_is_open(s, slot));
}

bool share_open_first(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t value;

	rma_get(&slot->client, adaptive_word(slot, LINE_SHARERS), &value);
	return !number_of(value) &&
	       !(rma_peek_ordered(&slot->client, adaptive_word(slot, LINE_GATE)) & GATE_BITS) &&
	       first_open(s, slot) && share_join(s, slot);
}

bool share_watch(struct lock_slot *slot)
{
	int64_t old;

	rma_fao(&slot->client, adaptive_word(slot, LINE_SHARERS), RMA_OR, R_WATCHED, &old);
	return !(old & R_WATCHED);
}

void share_unwatch(struct lock_slot *slot)
{
	struct rma_word r = adaptive_word(slot, LINE_SHARERS);

	if (FAULT(adaptive_watched))
		return;
	change(slot, r, -R_WATCHED);
	if (r.map)
		rma_wake(&slot->client, r);
}

bool share_await(struct lock_slot *slot, uint64_t end)
{
	int64_t value;

	return rma_await_until(&slot->client, adaptive_word(slot, LINE_SHARERS), R_WATCHED | R_OPEN,
			       RMA_NE, R_WATCHED, RMA_SOON, end, "the share of its node to be open",
			       &value);
}

/* The number of an opening that begins now. */
static uint64_t number_of_now(struct lock_slot *slot)
{
	return rma_clock(&slot->client) >> NUMBER_UNIT & R_NUMBER_MASK;
}

uint64_t share_age_ns(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t r;

	rma_get(&slot->client, adaptive_word(slot, LINE_SHARERS), &r);
	if (!is_open(s, slot, r))
		return 0;
	return (((number_of_now(slot) - number_of(r)) & R_NUMBER_MASK) << NUMBER_UNIT) + 1;
}

/* REUSE after so many uses between two exclusive ones. */
static uint64_t next_reuse(uint64_t reuse, uint64_t uses)
{
	uses = uses < REUSE_MOST ? uses : REUSE_MOST;
	reuse = reuse ? reuse : REUSE_FIRST * REUSE_UNIT;
	return (7 * reuse + uses * REUSE_UNIT + 4) / 8;
}

/* R with another REUSE, and without USES, which REUSE has now. */
static int64_t with_reuse(int64_t r, uint64_t reuse)
{
	uint64_t rest = (uint64_t)r & ((UINT64_C(1) << R_REUSE_SHIFT) - 1);

	return (int64_t)(rest | reuse << R_REUSE_SHIFT);
}

static uint64_t reuse_of(int64_t r)
{
	uint64_t reuse = (uint64_t)r >> R_REUSE_SHIFT & R_REUSE_MASK,
		 uses = (uint64_t)r >> R_USES_SHIFT;

	return uses ? next_reuse(reuse, uses) : reuse;
}

void share_note_reuse(struct lock_slot *slot, int64_t uses, bool only)
{
	struct rma_word w = adaptive_word(slot, LINE_SHARERS);
	int64_t r, old;
	uint64_t reuse;

	rma_get(&slot->client, w, &r);
	reuse = only ? (uint64_t)uses * REUSE_UNIT : next_reuse(reuse_of(r), (uint64_t)uses);
	/* If R has changed meanwhile, these uses are not counted. */
	rma_cas(&slot->client, w, r, with_reuse(r, reuse), &old);
}

/* The acquires since the last shared one. More than SHARES_SAMPLE: perhaps the statistics of the
 * table have been reset since. */
static uint32_t others_since(struct lock_slot *slot)
{
	const struct adaptive_slot *own = lock_own(slot);

	return (uint32_t)slot->acquires - own->counted;
}

void share_count(struct lock_slot *slot)
{
	struct adaptive_slot *own = lock_own(slot);
	uint32_t others = others_since(slot);

	if (others < SHARES_SAMPLE)
		own->exclusives += others;
	own->away += own->is_away;
	if (++own->shares >= SHARES_SAMPLE) {
		own->shares /= 2;
		own->away /= 2;
		own->exclusives /= 2;
	}
	own->counted = (uint32_t)slot->acquires + 1;
}

uint64_t share_uses_away(struct lock_slot *slot, uint64_t *exclusives)
{
	const struct adaptive_slot *own = lock_own(slot);
	uint32_t others = others_since(slot);

	*exclusives = (uint64_t)own->exclusives + (others < SHARES_SAMPLE ? others : SHARES_SAMPLE);
	return own->away;
}

void share_count_away(struct lock_slot *slot)
{
	struct adaptive_slot *own = lock_own(slot);

	if (own->shares <= SAMPLE && own->visits < SAMPLE)
		own->visits++;
}

bool share_has_writers(struct lock_slot *slot, enum share_writers least)
{
	const struct adaptive_slot *own = lock_own(slot);

	return (uint32_t)own->shares + own->exclusives >= SAMPLE &&
	       own->shares < (uint64_t)least * own->exclusives;
}

bool share_guests_are_many(struct lock_slot *slot)
{
	const struct adaptive_slot *own = lock_own(slot);

	return own->visits + 1 > MANY_VISITS;
}

/* Whether so many acquires of the client are shared, and so many of these of locks of other nodes,
 * that a share may pay for a node that does not know. */
static bool expects_uses(struct lock_slot *slot)
{
	const struct adaptive_slot *own = lock_own(slot);

	return own->shares < SAMPLE || (uint64_t)own->shares * (own->visits + 1) >=
					   (uint64_t)REUSE_PAYS * SAMPLE * (own->exclusives + 1);
}

bool share_pays(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;
	uint64_t reuse, least = REUSE_PAYS * REUSE_UNIT / (uint64_t)(k->nodes - 1);
	int64_t r;

	rma_get(&slot->client, adaptive_word(slot, LINE_SHARERS), &r);
	reuse = reuse_of(r);
	least = least > REUSE_PAYS_LEAST * REUSE_UNIT ? least : REUSE_PAYS_LEAST * REUSE_UNIT;
	return reuse ? reuse >= least : expects_uses(slot);
}

/* O1: set OPENING; *was becomes R as it was. False: another client has set it. */
static bool begin(struct lock_slot *slot, int64_t *was)
{
	rma_fao(&slot->client, adaptive_word(slot, LINE_SHARERS), RMA_OR, R_OPENING, was);
	return !(*was & R_OPENING);
}

/* The end of what begin() began when R was so. Returns R as it was. */
static int64_t end(struct lock_slot *slot, int64_t was, int64_t adds)
{
	struct rma_word r = adaptive_word(slot, LINE_SHARERS);
	int64_t reuse = (int64_t)((uint64_t)with_reuse(was, reuse_of(was)) - (uint64_t)was);
	int64_t old = change(slot, r, (int64_t)((uint64_t)reuse + (uint64_t)(adds - R_OPENING)));

	if (r.map)
		rma_wake(&slot->client, r);
	return old;
}

static void await_end(struct lock_slot *slot)
{
	rma_await(&slot->client, adaptive_word(slot, LINE_SHARERS), R_OPENING, RMA_EQ, 0, RMA_SOON,
		  "another client to open or close the share of its node");
}

/* O2: the next number, and OPEN is taken back. */
static void next_number(struct lock_slot *slot, int64_t was)
{
	struct rma_word r = adaptive_word(slot, LINE_SHARERS);
	uint64_t old = number_of(was), next = number_of_now(slot);

	/* Numbers only grow, but for their wrap, so that none comes again soon. */
	if (((next - old - 1) & R_NUMBER_MASK) > R_NUMBER_MASK - NUMBERS_AHEAD)
		next = (old + 1) & R_NUMBER_MASK;
	next = next ? next : 1;
	rma_poke(&slot->client, adaptive_word(slot, LINE_GATE),
		 gate_of((int64_t)(next << R_NUMBER_SHIFT)));
	/* Orders the store before O3, too; (C). */
	change(slot, r, ((int64_t)next - (int64_t)old) * R_NEXT_NUMBER - (was & R_OPEN));
}

int share_open(const struct lock_setup *s, struct lock_slot *slot, enum share_root root)
{
	struct rma_word h = adaptive_home(s, slot);
	int64_t adds = share_bit(adaptive_node(s, slot->client.rma->rank));
	int64_t shut = W_HELD | W_INTENTS, old = 0, was;
	bool opens = true;

	while (!begin(slot, &was)) {
		await_end(slot);
		if (share_join_if_open(s, slot))
			return PAWL_SUCCESS;
	}
	next_number(slot, was);
	if (root != SHARE_WHOLE) {
		/* O3; (B), (C). */
		adds |= root == SHARE_SPLIT ? W_SPLIT : 0;
		shut |= root == SHARE_NO_ROOT && !FAULT(adaptive_mark) ? W_STRICT : 0;
		rma_fao(&slot->client, h, RMA_OR, adds, &old);
		rma_flush(&slot->client, h); /* orders the bit before the look at old */
		old |= root == SHARE_SPLIT || FAULT(adaptive_whole) ? W_SPLIT : 0;
		opens = (old & W_SPLIT) && !(old & shut);
	}
	/* O4. */
	was = end(slot, was, opens ? R_OPEN + R_ONE : 0) + R_OPEN;
	if (!opens)
		return old & W_SPLIT ? PAWL_ERR_BUSY : LOCK_PASSED;
	if (is_open(s, slot, was) || FAULT(adaptive_opened)) /* E2 */
		return PAWL_SUCCESS;
	share_leave(slot);
	return PAWL_ERR_BUSY;
}

/* ------------------------------------------------------------------ closing */

int64_t share_number(int64_t r)
{
	return (int64_t)number_of(r);
}

bool share_was_opened_within(struct lock_slot *slot, uint64_t ns)
{
	uint64_t age;
	int64_t r;

	rma_get(&slot->client, adaptive_word(slot, LINE_SHARERS), &r);
	age = ((number_of_now(slot) - number_of(r)) & R_NUMBER_MASK) << NUMBER_UNIT;
	return number_of(r) && age < ns;
}

int64_t share_epoch(int64_t r)
{
	return (int64_t)((uint64_t)r >> R_NUMBER_SHIFT) & (NOTES_EPOCH >> NOTES_EPOCH_SHIFT);
}

/* GATE or GUEST of the node with this R. */
static struct rma_word beside(struct rma_word r, int offset)
{
	r.offset += (uint64_t)(int64_t)(offset - LINE_SHARERS);
	if (r.map)
		r.map += (offset - LINE_SHARERS) / (int)sizeof(int64_t);
	r.flags &= RMA_FAR;
	return r;
}

/* C3, C4. */
static bool is_empty_until(struct lock_slot *slot, struct rma_word r, bool guests)
{
	struct rma_word guest = beside(r, LINE_GUEST);
	int64_t value;

	return rma_await_until(&slot->client, r, R_COUNT, RMA_EQ, 0, RMA_SOON, slot->deadline_ns,
			       "sharers of a node to leave", &value) &&
	       (!guests || FAULT(adaptive_sharers) ||
		rma_await_until(&slot->client, guest, GUEST_SHARERS, RMA_EQ, 0, RMA_SOON,
				slot->deadline_ns, "sharers of other nodes to leave", &value));
}

/* A look at this node. */
static bool is_empty_here(struct lock_slot *slot)
{
	int64_t r;

	rma_get(&slot->client, adaptive_word(slot, LINE_SHARERS), &r);
	return !(r & R_COUNT) && !guest_has_sharers(slot);
}

bool share_close_own(struct lock_slot *slot, bool tries)
{
	int64_t was;

	while (!begin(slot, &was))
		await_end(slot);
	/* A first share has another number then. */
	if (!number_of(was))
		next_number(slot, was);
	end(slot, was, -(was & R_OPEN));
	return tries ? is_empty_here(slot)
		     : is_empty_until(slot, adaptive_word(slot, LINE_SHARERS), true);
}

bool share_close_unused(struct lock_slot *slot)
{
	struct rma_word r = adaptive_word(slot, LINE_SHARERS);
	int64_t was;

	if (!begin(slot, &was))
		return false;
	change(slot, r, -R_OPENING - (was & R_OPEN));
	if (r.map)
		rma_wake(&slot->client, r);
	return is_empty_here(slot);
}

/* The next nodes after *last whose bits are set, but for this client's own: their words R. */
static int next_nodes(const struct lock_setup *s, struct lock_slot *slot, int64_t bits, int *last,
		      struct rma_word *r)
{
	const struct adaptive_constants *k = s->state;
	int own = adaptive_node(s, slot->client.rma->rank), n = 0;

	while (n < SIZE_OR(AT_A_TIME, 2) && ++*last < k->nodes)
		if ((bits & share_bit(*last)) && *last != own)
			r[n++] = adaptive_word_at(s, slot, RMA_NODE, *last, LINE_SHARERS);
	return n;
}

/* Read R of these nodes, and GUEST if other nodes may share the lock there. */
static bool are_empty(struct lock_slot *slot, const struct rma_word *r, int n, bool guests)
{
	int64_t value[AT_A_TIME], guest[AT_A_TIME], all = 0, others = 0;

	for (int i = 0; i < n; i++) {
		rma_get(&slot->client, r[i], &value[i]);
		guest[i] = 0;
		if (guests && !FAULT(adaptive_sharers))
			rma_get(&slot->client, beside(r[i], LINE_GUEST), &guest[i]);
	}
	for (int i = 0; i < n; i++) {
		rma_flush(&slot->client, r[i]); /* orders the looks before the use of them */
		all |= value[i];
		others |= guest[i];
	}
	return !(all & R_COUNT) && !guest_shares(others);
}

bool share_has_left(struct lock_slot *slot, struct rma_word r)
{
	return are_empty(slot, &r, 1, false);
}

/* C2 ... C4 of a guest at its host. */
bool share_close_at(const struct lock_setup *s, struct lock_slot *slot, int node)
{
	struct rma_word r = adaptive_word_at(s, slot, RMA_NODE, node, LINE_SHARERS);
	int64_t value;

	rma_put(&slot->client, beside(r, LINE_GATE), GATE_CLOSED);
	rma_order(&slot->client, r); /* orders C2 before C3; pairs with E1 */
	rma_get(&slot->client, r, &value);
	rma_flush(&slot->client, r); /* orders the look before the use of it */
	return !(value & R_COUNT) ||
	       rma_await_until(&slot->client, r, R_COUNT, RMA_EQ, 0, RMA_SOON, slot->deadline_ns,
			       "sharers of a node to leave", &value);
}

bool share_is_unused(const struct lock_setup *s, struct lock_slot *slot, int64_t bits)
{
	struct rma_word r[AT_A_TIME];
	int last = -1, n;

	if ((bits & share_bit(adaptive_node(s, slot->client.rma->rank))) && !is_empty_here(slot))
		return false;
	while ((n = next_nodes(s, slot, bits, &last, r)))
		if (!are_empty(slot, r, n, false))
			return false;
	return true;
}

bool share_close(const struct lock_setup *s, struct lock_slot *slot, int64_t bits, bool tries)
{
	struct rma_word r[AT_A_TIME];
	bool guests = (bits & H_GUESTS) != 0;
	int last = -1, n;

	while (!(FAULT(adaptive_batches) && last >= 0) &&
	       (n = next_nodes(s, slot, bits, &last, r))) {
		if (FAULT(adaptive_close) && are_empty(slot, r, n, guests))
			return true;
		/* C2. */
		for (int i = 0; i < n; i++)
			rma_put(&slot->client, beside(r[i], LINE_GATE), GATE_CLOSED);
		for (int i = 0; i < n; i++)
			rma_order(&slot->client, r[i]); /* orders C2 before C3; pairs with E1 */
		/* C3, C4; (A). */
		if (are_empty(slot, r, n, guests) || FAULT(adaptive_emptied))
			continue;
		if (tries)
			return false;
		for (int i = 0; i < n; i++)
			if (!is_empty_until(slot, r[i], guests))
				return false;
	}
	return !(bits & share_bit(adaptive_node(s, slot->client.rma->rank))) ||
	       share_close_own(slot, tries);
}

/* Of first shares. */
static void note_uses(int64_t gate, int64_t r, uint64_t *uses, uint64_t *all)
{
	*all = (uint64_t)r >> R_USES_SHIFT;
	*uses = gate & GATE_BITS ? 0 : (*all - ((uint64_t)gate >> GATE_BITS_SHIFT)) & R_USES_MASK;
}

/* C2 ... C4 of the own node, of which the first share keeps its number. */
static bool close_first_here(struct lock_slot *slot, bool tries, uint64_t *uses, uint64_t *all)
{
	struct rma_word r = adaptive_word(slot, LINE_SHARERS);
	struct rma_word g = adaptive_word(slot, LINE_GATE);
	int64_t gate = rma_peek(&slot->client, g), value;

	rma_poke(&slot->client, g, GATE_CLOSED);
	/* Orders C2 before C3; pairs with E1. */
	value = change(slot, r, 0);
	note_uses(gate, value, uses, all);
	return tries ? is_empty_here(slot) : is_empty_until(slot, r, true);
}

bool share_close_first(const struct lock_setup *s, struct lock_slot *slot, int64_t nodes,
		       bool tries, uint64_t uses[], uint64_t all[])
{
	const struct adaptive_constants *k = s->state;
	int own = adaptive_node(s, slot->client.rma->rank), n = 0, node[FIRST_NODES];
	int64_t gate[FIRST_NODES], value[FIRST_NODES];
	struct rma_word r[FIRST_NODES];

	for (int j = 0; j < k->nodes; j++)
		if ((nodes & share_bit(j)) && j != own)
			node[n++] = j;
	/* C2. */
	for (int i = 0; i < n; i++) {
		r[i] = adaptive_word_at(s, slot, RMA_NODE, node[i], LINE_SHARERS);
		rma_fao(&slot->client, beside(r[i], LINE_GATE), RMA_REPLACE, GATE_CLOSED, &gate[i]);
	}
	for (int i = 0; i < n; i++)
		rma_order(&slot->client, r[i]); /* orders C2 before C3; pairs with E1 */
	/* C3, C4. */
	for (int i = 0; i < n; i++)
		rma_get(&slot->client, r[i], &value[i]);
	for (int i = 0; i < n; i++)
		rma_flush(&slot->client, r[i]); /* orders the looks before the use of them */
	for (int i = 0; i < n; i++) {
		note_uses(gate[i], value[i], &uses[node[i]], &all[node[i]]);
		if ((value[i] & R_COUNT) && !FAULT(adaptive_emptied) &&
		    (tries || !is_empty_until(slot, r[i], false)))
			return false;
	}
	return !(nodes & share_bit(own)) || close_first_here(slot, tries, &uses[own], &all[own]);
}

struct rma_word share_reopen_first(const struct lock_setup *s, struct lock_slot *slot, int node,
				   uint64_t all)
{
	int64_t gate = (int64_t)(all << GATE_BITS_SHIFT);
	struct rma_word g;

	if (node == adaptive_node(s, slot->client.rma->rank)) {
		g = adaptive_word(slot, LINE_GATE);
		rma_poke(&slot->client, g, gate);
	} else {
		g = adaptive_word_at(s, slot, RMA_NET, node, LINE_GATE);
		rma_put(&slot->client, g, gate);
	}
	return g;
}

/* Whether no other node has the bit of this one. */
static bool has_own_bit(const struct lock_setup *s, int own)
{
	const struct adaptive_constants *k = s->state;

	return FAULT(adaptive_alias) || (own < COUNT_BITS && own + COUNT_BITS >= k->nodes);
}

bool share_make_whole(const struct lock_setup *s, struct lock_slot *slot, int64_t *old)
{
	struct rma_word h = adaptive_home(s, slot);
	int own = adaptive_node(s, slot->client.rma->rank);
	int64_t expected = W_SPLIT, r = 0;
	bool closes;

	rma_get(&slot->client, adaptive_word(slot, LINE_SHARERS), &r);
	closes = (r & R_OPEN) && has_own_bit(s, own) && begin(slot, &r);
	if (closes) {
		expected |= share_bit(own);
		r = change(slot, adaptive_word(slot, LINE_SHARERS), -(r & R_OPEN));
	}
	if (closes && ((r & R_COUNT) || guest_has_sharers(slot)) && !FAULT(adaptive_own)) {
		end(slot, r, r & R_OPEN);
		*old = expected;
		return false;
	}
	for (;;) {
		rma_cas(&slot->client, h, expected, 0, old);
		rma_flush(&slot->client, h); /* orders the swap before the look at old */
		if (!closes || *old != (expected | H_GUESTS) || *old == expected)
			break;
		expected |= H_GUESTS;
	}
	/* If the root stays split, the share may be open again: no client has cleared its bit. */
	if (closes)
		end(slot, r, *old == expected ? 0 : r & R_OPEN);
	return *old == expected;
}

/* ------------------------------------------------------------- the simulator */

static bool has_fresh_root(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m)
{
	uint64_t at;
	int rank = adaptive_line(s, adaptive_home_node(s, lock), lock, &at);
	int64_t w = *lock_memory_word(m, rank, at + LINE_W);
	int64_t guest = *lock_memory_word(m, rank, at + LINE_GUEST);

	return !(guest & GUEST_RESOLVED) && ((w & W_STATE) == W_NEW || (w & W_FRESH));
}

bool share_idle(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m, char *err,
		size_t errlen)
{
	const struct adaptive_constants *k = s->state;
	int64_t h = *lock_memory_home(s, m, k->homes + HOME_SHARING, HOME_BYTES, lock);
	bool is_fresh = has_fresh_root(s, lock, m);

	for (int j = 0; j < k->nodes; j++) {
		uint64_t at;
		int rank = adaptive_line(s, j, lock, &at);
		int64_t w = *lock_memory_word(m, rank, at + LINE_W);
		int64_t r = *lock_memory_word(m, rank, at + LINE_SHARERS);
		int64_t gate = *lock_memory_word(m, rank, at + LINE_GATE);
		bool is_first = !number_of(r) && !(gate & GATE_BITS) &&
				((r & R_FIRST) || first_is_open_at(s, lock, j, m));
		bool is_open = is_first || ((r & R_OPEN) && gate == gate_of(r));
		bool has_bit = (h & W_SPLIT) && (h & share_bit(j));

		snprintf(err, errlen, "node %d: W is 0x%llx, R 0x%llx, GATE 0x%llx; H is 0x%llx", j,
			 (unsigned long long)w, (unsigned long long)r, (unsigned long long)gate,
			 (unsigned long long)h);
		if ((r & (R_COUNT | R_OPENING | R_WATCHED)) ||
		    (is_open && !has_bit && !(w & W_LOCAL) && !(is_first && is_fresh)))
			return false;
	}
	return true;
}

void share_age(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m)
{
	const struct adaptive_constants *k = s->state;
	uint64_t at;

	for (int j = 0; j < k->nodes; j++) {
		int rank = adaptive_line(s, j, lock, &at);

		/* And with a REUSE that makes sharers guests. */
		*lock_memory_word(m, rank, at + LINE_SHARERS) =
		    with_reuse((int64_t)(R_NUMBER_MASK << R_NUMBER_SHIFT), 1);
	}
}
