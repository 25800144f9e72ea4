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
 * client looks whether the share can be opened; phases.c), and the number of the opening, which is
 * its time if the clock has gone on since the last one. GATE, which other nodes write, has the
 * number of the opening, or is 0. The share is open if R has OPEN and GATE has the number that R
 * has.
 *
 * A sharer adds itself to R (E1), and then looks at GATE (E2). If the share is closed, it takes its
 * count back (E3). To leave, it takes its count back, too. Its first E1 comes without a look at R
 * before: a look at a cache line that another client has changed takes as long as E1, which brings
 * the line. A sharer of the lock that it shared last, and one that asks again, look first, and add
 * themselves only if the share is open: such a line is in the client's cache, or in use by others
 * now, which a look delays less. So a client that waits for R without sharers sees each newcomer
 * once at most.
 * To open the share, a client sets OPENING and takes OPEN back (O1), writes the next number into
 * GATE and into R (O2), sets the node's bit in H at the home (O3), and if no client excludes
 * sharers there, sets OPEN and adds itself (O4). Then it looks at GATE, as any sharer (E2). A
 * client that has a whole root opens the share of its node without O3, and sets LOCAL in W: the
 * root then goes to another node as split, and the bit of this node is set before anything else.
 *
 * A client that excludes sharers says so in H first, and finds the bits of the nodes there (C1). It
 * writes 0 into GATE of each such node (C2), and reads R of that node (C3), until it has no sharers
 * (C4). At its own node it takes OPEN back instead, with OPENING set.
 *
 * Ordering guarantees
 *   (A) A sharer changes R and then looks at GATE; the other client writes GATE and then reads R:
 *       on the near side a seq_cst read-modify-write precedes a seq_cst load, on the far side a
 *       put, a flush and a get follow each other. So the sharer finds GATE closed, or the other
 *       client finds the sharer.
 *   (B) While an open share, or one that still has sharers, is at a node, the bit of the node is in
 *       H and the root is split; or the root is whole, with LOCAL, and at this node. A bit without
 *       a share is harmless. Only a client that has the root clears bits: those that it found by
 *       C1, after C4, before it takes STRICT back or by the same operation.
 *   (C) O3 and C1 are atomics on the same word. If C1 is first, O3 finds it and the share stays
 *       closed. If O3 is first, C1 finds the bit, and C2 writes GATE after O2. O2 precedes O3 by
 *       the fetch-and-add on R. A client takes back what it said in H only after C2 is performed,
 *       so C2 never closes a later opening that O3 permits.
 *   (D) A sharer that has counted itself before O1 finds another number in GATE than in R as it
 *       was, and is not in by the later opening.
 *   (E) What the last exclusive holder did is visible to the client that opens the share, by O3 or
 *       by the root, and to those that find OPEN in R, by O4. What sharers did precedes the removal
 *       of their counts, which C3 has read.
 *
 * Far operations: 1 atomic to open the share, 0 to enter and to leave. To close the share of
 * another node, 1 put and 1 get.
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
	R_NUMBER_SHIFT = R_COUNT_SHIFT + R_COUNT_BITS
};
#define R_ONE (INT64_C(1) << R_COUNT_SHIFT)
#define R_COUNT (((INT64_C(1) << R_COUNT_BITS) - 1) << R_COUNT_SHIFT)
#define R_NEXT_NUMBER (INT64_C(1) << R_NUMBER_SHIFT)

/* Numbers are times in units of 2^NUMBER_UNIT ns. */
enum { NUMBER_UNIT = 10 };

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
	return (int64_t)((uint64_t)r >> R_NUMBER_SHIFT << 1 | 1);
}

static bool has_gate(struct lock_slot *slot, int64_t r)
{
	return rma_peek_ordered(&slot->client, adaptive_word(slot, LINE_GATE)) == gate_of(r);
}

void share_leave(struct lock_slot *slot)
{
	struct rma_word r = adaptive_word(slot, LINE_SHARERS);
	int64_t old = change(slot, r, -R_ONE);

	if (!(old & R_OPEN) && r.map)
		rma_wake(&slot->client, r);
}

bool share_join(struct lock_slot *slot)
{
	struct rma_word r = adaptive_word(slot, LINE_SHARERS);
	int64_t value;

	/* E1, E2; (A). */
	value = change(slot, r, R_ONE);
	if ((value & R_OPEN) && (has_gate(slot, value) || FAULT(adaptive_gate)))
		return true;
	share_leave(slot); /* E3 */
	return false;
}

/* The same after a look. */
bool share_join_if_open(struct lock_slot *slot)
{
	int64_t value;

	rma_get(&slot->client, adaptive_word(slot, LINE_SHARERS), &value);
	return (value & R_OPEN) && has_gate(slot, value) && share_join(slot);
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

/* The number of an opening that begins now, in its place in R. */
static uint64_t number_of_now(struct lock_slot *slot)
{
	return rma_clock(&slot->client) >> NUMBER_UNIT << R_NUMBER_SHIFT;
}

uint64_t share_age_ns(struct lock_slot *slot)
{
	int64_t r;

	rma_get(&slot->client, adaptive_word(slot, LINE_SHARERS), &r);
	if (!(r & R_OPEN) || !has_gate(slot, r))
		return 0;
	return ((number_of_now(slot) - (uint64_t)r) >> R_NUMBER_SHIFT << NUMBER_UNIT) + 1;
}

/* O1: set OPENING, and then take OPEN back; *was becomes R as it was at that. False: another client
 * has set OPENING. No compare-and-swap, which would fail while sharers come and leave. */
static bool begin(struct lock_slot *slot, int64_t *was)
{
	struct rma_word r = adaptive_word(slot, LINE_SHARERS);

	rma_fao(&slot->client, r, RMA_OR, R_OPENING, was);
	if (*was & R_OPENING)
		return false;
	rma_fao(&slot->client, r, RMA_AND, ~(int64_t)R_OPEN, was);
	return true;
}

/* The end of what begin() began. Returns R as it was. */
static int64_t end(struct lock_slot *slot, int64_t adds)
{
	struct rma_word r = adaptive_word(slot, LINE_SHARERS);
	int64_t old = change(slot, r, adds - R_OPENING);

	if (r.map)
		rma_wake(&slot->client, r);
	return old;
}

static void await_end(struct lock_slot *slot)
{
	rma_await(&slot->client, adaptive_word(slot, LINE_SHARERS), R_OPENING, RMA_EQ, 0, RMA_SOON,
		  "another client to open or close the share of its node");
}

/* O2. */
static void next_number(struct lock_slot *slot, int64_t was)
{
	struct rma_word r = adaptive_word(slot, LINE_SHARERS);
	uint64_t old = (uint64_t)was >> R_NUMBER_SHIFT << R_NUMBER_SHIFT;
	uint64_t next = number_of_now(slot);

	/* Numbers only grow, so that none comes again soon. */
	if ((int64_t)(next - old) <= 0)
		next = old + (uint64_t)R_NEXT_NUMBER;
	rma_poke(&slot->client, adaptive_word(slot, LINE_GATE), gate_of((int64_t)next));
	change(slot, r, (int64_t)(next - old)); /* orders the store before O3, too; (C) */
}

int share_open(const struct lock_setup *s, struct lock_slot *slot, enum share_root root)
{
	struct rma_word h = adaptive_home(s, slot);
	int64_t adds = share_bit(adaptive_node(s, slot->client.rma->rank));
	int64_t shut = W_HELD | W_INTENTS, old = 0, was;
	bool opens = true;

	while (!begin(slot, &was)) {
		await_end(slot);
		if (share_join_if_open(slot))
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
	was = end(slot, opens ? R_OPEN + R_ONE : 0) + R_OPEN;
	if (!opens)
		return old & W_SPLIT ? PAWL_ERR_BUSY : LOCK_PASSED;
	if (has_gate(slot, was) || FAULT(adaptive_opened)) /* E2 */
		return PAWL_SUCCESS;
	share_leave(slot);
	return PAWL_ERR_BUSY;
}

/* ------------------------------------------------------------------ closing */

static bool is_empty_until(struct lock_slot *slot, struct rma_word r, bool tries)
{
	int64_t value;

	if (!tries)
		return rma_await_until(&slot->client, r, R_COUNT, RMA_EQ, 0, RMA_SOON,
				       slot->deadline_ns, "sharers of a node to leave", &value);
	rma_get(&slot->client, r, &value);
	rma_flush(&slot->client, r); /* orders the look before the use of its result */
	return !(value & R_COUNT);
}

bool share_close_own(struct lock_slot *slot, bool tries)
{
	int64_t was;

	while (!begin(slot, &was))
		await_end(slot);
	end(slot, 0);
	return is_empty_until(slot, adaptive_word(slot, LINE_SHARERS), tries);
}

/* The next nodes after *last whose bits are set, but for this client's own: their words R. */
static int next_nodes(const struct lock_setup *s, struct lock_slot *slot, int64_t bits, int *last,
		      struct rma_word *r)
{
	const struct adaptive_constants *k = s->state;
	int own = adaptive_node(s, slot->client.rma->rank), n = 0;

	while (n < AT_A_TIME && ++*last < k->nodes)
		if ((bits & share_bit(*last)) && *last != own)
			r[n++] = adaptive_word_at(s, slot, RMA_NODE, *last, LINE_SHARERS);
	return n;
}

/* Read R of these nodes. */
static bool are_empty(struct lock_slot *slot, const struct rma_word *r, int n)
{
	int64_t value[AT_A_TIME], all = 0;

	for (int i = 0; i < n; i++)
		rma_get(&slot->client, r[i], &value[i]);
	for (int i = 0; i < n; i++) {
		rma_flush(&slot->client, r[i]); /* orders the look before the use of its result */
		all |= value[i];
	}
	return !(all & R_COUNT);
}

bool share_has_left(struct lock_slot *slot, struct rma_word r)
{
	return are_empty(slot, &r, 1);
}

bool share_is_unused(const struct lock_setup *s, struct lock_slot *slot, int64_t bits)
{
	struct rma_word r[AT_A_TIME], own = adaptive_word(slot, LINE_SHARERS);
	int last = -1, n;

	if ((bits & share_bit(adaptive_node(s, slot->client.rma->rank))) &&
	    !are_empty(slot, &own, 1))
		return false;
	while ((n = next_nodes(s, slot, bits, &last, r)))
		if (!are_empty(slot, r, n))
			return false;
	return true;
}

static struct rma_word gate_beside(struct rma_word r)
{
	r.offset += LINE_GATE - LINE_SHARERS;
	if (r.map)
		r.map += (LINE_GATE - LINE_SHARERS) / (int)sizeof(int64_t);
	r.flags &= RMA_FAR;
	return r;
}

bool share_close(const struct lock_setup *s, struct lock_slot *slot, int64_t bits, bool tries)
{
	struct rma_word r[AT_A_TIME];
	int last = -1, n;

	while ((n = next_nodes(s, slot, bits, &last, r))) {
		if (FAULT(adaptive_close) && are_empty(slot, r, n))
			return true;
		/* C2. */
		for (int i = 0; i < n; i++)
			rma_put(&slot->client, gate_beside(r[i]), 0);
		for (int i = 0; i < n; i++)
			rma_order(&slot->client, r[i]); /* orders C2 before C3; pairs with E1 */
		/* C3, C4; (A). */
		if (are_empty(slot, r, n) || FAULT(adaptive_emptied))
			continue;
		for (int i = 0; i < n; i++)
			if (!is_empty_until(slot, r[i], tries))
				return false;
	}
	return !(bits & share_bit(adaptive_node(s, slot->client.rma->rank))) ||
	       share_close_own(slot, tries);
}

/* Whether no other node has the bit of this one. */
static bool has_own_bit(const struct lock_setup *s, int own)
{
	const struct adaptive_constants *k = s->state;

	return own < COUNT_BITS && own + COUNT_BITS >= k->nodes;
}

bool share_make_whole(const struct lock_setup *s, struct lock_slot *slot, int64_t *old)
{
	struct rma_word h = adaptive_home(s, slot);
	int own = adaptive_node(s, slot->client.rma->rank);
	int64_t expected = W_SPLIT, r = 0;
	bool closes;

	rma_get(&slot->client, adaptive_word(slot, LINE_SHARERS), &r);
	closes = (r & R_OPEN) && has_own_bit(s, own) && begin(slot, &r);
	if (closes)
		expected |= share_bit(own);
	if (closes && (r & R_COUNT) && !FAULT(adaptive_own)) {
		end(slot, r & R_OPEN);
		*old = expected;
		return false;
	}
	rma_cas(&slot->client, h, expected, 0, old);
	rma_flush(&slot->client, h); /* orders the swap before the look at old */
	/* If the root stays split, the share may be open again: no client has cleared its bit. */
	if (closes)
		end(slot, *old == expected ? 0 : r & R_OPEN);
	return *old == expected;
}

/* ------------------------------------------------------------- the simulator */

bool share_idle(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m, char *err,
		size_t errlen)
{
	const struct adaptive_constants *k = s->state;
	int64_t h = *lock_memory_home(s, m, k->homes + HOME_SHARING, HOME_BYTES, lock);

	for (int j = 0; j < k->nodes; j++) {
		uint64_t at;
		int rank = adaptive_line(s, j, lock, &at);
		int64_t w = *lock_memory_word(m, rank, at + LINE_W);
		int64_t r = *lock_memory_word(m, rank, at + LINE_SHARERS);
		int64_t gate = *lock_memory_word(m, rank, at + LINE_GATE);
		bool is_open = (r & R_OPEN) && gate == gate_of(r);
		bool has_bit = (h & W_SPLIT) && (h & share_bit(j));

		snprintf(err, errlen, "node %d: W is 0x%llx, R 0x%llx, GATE 0x%llx; H is 0x%llx", j,
			 (unsigned long long)w, (unsigned long long)r, (unsigned long long)gate,
			 (unsigned long long)h);
		if ((r & (R_COUNT | R_OPENING | R_WATCHED)) ||
		    (is_open && !has_bit && !(w & W_LOCAL)))
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

		*lock_memory_word(m, rank, at + LINE_SHARERS) = -R_NEXT_NUMBER;
	}
}
