/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind cached: the head of the queue of nodes recalls the lock from those that cache it; README, C,
 * S and D4. */
#include "lock/cached/recall.h"

/* What is known of each other node while it is recalled. */
struct asked {
	int64_t w;             /* its W; not to be read before the flush */
	int64_t is_in_the_way; /* at the last look */
};

/* Get W of the nodes that are in the way. Returns how many are still. */
static int look(const struct lock_setup *s, struct lock_slot *slot, int64_t conflict)
{
	const struct cached_constants *k = s->state;
	struct asked *asked = lock_scratch(slot);
	int left = 0;

	for (int j = 0; j < k->nodes; j++)
		if (asked[j].is_in_the_way)
			rma_get(&slot->client, cached_word_at(s, slot, j, LINE_W), &asked[j].w);
	for (int j = 0; j < k->nodes; j++)
		if (asked[j].is_in_the_way)
			/* Orders the get before the look at its result. W is a word of another
			 * node, so the flush is that of a word of the network. */
			rma_flush(&slot->client, cached_word_at(s, slot, j, LINE_MODE));
	for (int j = 0; j < k->nodes; j++)
		if (asked[j].is_in_the_way) {
			asked[j].is_in_the_way = (asked[j].w & conflict) != 0;
			left += asked[j].is_in_the_way != 0;
		}
	return left;
}

/* All other nodes of the directory may be in the way. Returns how many they are. */
static int mark(const struct lock_setup *s, struct lock_slot *slot, int64_t dir)
{
	const struct cached_constants *k = s->state;
	struct asked *asked = lock_scratch(slot);
	int n = 0;

	for (int j = 0; j < k->nodes; j++) {
		asked[j].is_in_the_way = j != cached_me(slot) && dir_has(dir, j);
		n += asked[j].is_in_the_way != 0;
	}
	return n;
}

/* Wait until W of the own node has none of these holders. */
static bool await_own(struct lock_slot *slot, int64_t conflict, uint64_t until)
{
	int64_t w;

	rma_fao(&slot->client, cached_word(slot, LINE_W), RMA_OR, STRICT, &w);
	return !(w & conflict) ||
	       rma_await_until(&slot->client, cached_word(slot, LINE_W), conflict, RMA_EQ, 0,
			       RMA_SOON, until, "clients of its node to give the lock back", &w);
}

/* C0: the swap of TAIL has closed the home's node, which had X. Whether that is enough. */
static bool is_idle_at_home(const struct lock_setup *s, struct lock_slot *slot, int64_t conflict)
{
	struct cached_slot *own = lock_own(slot);
	struct asked *asked = lock_scratch(slot);

	if (!own->has_seen)
		return look(s, slot, conflict) == 0;
	asked[own->home].w = own->seen;
	return !(own->seen & conflict);
}

/* S1: whether the home's node had X, and nobody is in there: it is no holder that is waited for, so
 * a sharer may leave the node without S. */
static bool is_unused_at_home(const struct lock_setup *s, struct lock_slot *slot, int64_t dir)
{
	if (dir_owner(dir) != cached_home(slot) || cached_home(slot) == cached_me(slot))
		return false;
	mark(s, slot, dir);
	return is_idle_at_home(s, slot, HOLDERS);
}

/* C0 to C3. False: the time has passed. */
static bool recall(const struct lock_setup *s, struct lock_slot *slot, int64_t *with, enum mode to,
		   enum mode back, uint64_t until)
{
	struct rma_word ack = cached_word(slot, LINE_ACK);
	int64_t conflict = near_conflict(to), value, dir = *with;
	int others = mark(s, slot, dir), home = cached_home(slot);
	bool own = dir_has(dir, cached_me(slot));

	modes_number(slot);
	if (!own && dir_owner(dir) == home && is_idle_at_home(s, slot, conflict)) {
		/* Else its MODE is N without WANT, and TAIL will say S. */
		if (to != MODE_N && policy_has_asked(dir))
			modes_write(s, slot, dir, to, back, false);
		return true;
	}
	if (home != cached_me(slot) && dir_has(dir, home))
		*with = policy_note_asked(dir, true);
	rma_poke(&slot->client, ack, 0);
	modes_write(s, slot, dir, to, back, true);
	while (look(s, slot, conflict) && !(FAULT(cached_down) && to == MODE_S)) {
		if (FAULT(cached_arm))
			rma_poke(&slot->client, ack, 0);
		if (!rma_await_until(&slot->client, ack, -1, RMA_NE, 0, RMA_SOON, until,
				     "other nodes to give the lock back", &value))
			return false;
		if ((value == modes_ack(slot) && others == 1) || FAULT(cached_once))
			break;
		rma_poke(&slot->client, ack, 0);
	}
	return !own || await_own(slot, conflict, until);
}

/* C4, S3: in, with the directory. */
static bool keep(struct lock_slot *slot, int64_t dir, uint64_t until)
{
	bool had = dir_has(dir, cached_me(slot));
	int64_t w;

	if (cached_look(slot, LINE_MODE) & (WANT | MODE_MASK))
		modes_write_own(slot, MODE_N, had ? dir_mode(dir) : MODE_N);
	for (;;) {
		w = near_get(slot);
		if (w & near_others(slot)) {
			if (!await_own(slot, near_others(slot), until))
				return false;
			continue;
		}
		rma_put(&slot->client, cached_word(slot, LINE_DIR), dir);
		if (near_swap(slot, w, ((w & ~(HEADS | STRICT | USES)) + near_one(slot)) | KEEPS))
			return true;
	}
}

/* L5 and L6, with a directory that needs nothing to be given back. */
static void leave(const struct lock_setup *s, struct lock_slot *slot, int64_t dir)
{
	int64_t next = nodes_leave(slot, dir);

	if (next)
		nodes_grant(s, slot, next, dir, false);
}

/* S1, and MODE of S2. Returns the directory with which the queue is to be left. */
static int64_t write_shared(const struct lock_setup *s, struct lock_slot *slot, int64_t dir)
{
	modes_number(slot);
	if (!dir_is_empty(dir) && !dir_is_open(dir))
		modes_write(s, slot, dir, MODE_S, MODE_N, false);
	modes_write_own(slot, MODE_S, MODE_N);
	return FAULT(cached_join) ? dir : dir_shared(dir, cached_me(slot));
}

/* S2 and L5. */
static int share(const struct lock_setup *s, struct lock_slot *slot, int64_t dir)
{
	int64_t w;

	dir = write_shared(s, slot, dir);
	for (;;) {
		w = near_get(slot);
		if (w & near_others(slot)) /* not in; it takes its count back */
			await_own(slot, near_others(slot), 0);
		else if (near_swap(slot, w, (w & ~(HEADS | STRICT)) + READER))
			break;
	}
	leave(s, slot, dir);
	return PAWL_SUCCESS;
}

/* D4. */
static int give_up(const struct lock_setup *s, struct lock_slot *slot, int64_t dir)
{
	int64_t w;

	rma_fao(&slot->client, cached_word(slot, LINE_W), RMA_AND, ~STRICT, &w);
	near_wake(slot, w);
	if (!dir_is_empty(dir) && !FAULT(cached_restore))
		dir = modes_give_back(s, slot, dir);
	leave(s, slot, dir);
	return PAWL_ERR_TIMEOUT;
}

static int enter_shared(const struct lock_setup *s, struct lock_slot *slot, int64_t dir,
			uint64_t until)
{
	if (dir_is_open(dir) && dir_mode(dir) == MODE_X) {
		if (!policy_shares(lock_own(slot)) && is_unused_at_home(s, slot, dir))
			return share(s, slot, dir_none(dir));
		if (!recall(s, slot, &dir, MODE_S, MODE_N, until))
			return give_up(s, slot, dir);
		dir = policy_note_asked(dir, false);
		return share(s, slot, dir);
	}
	if (!dir_is_open(dir) && nodes_next_writes(slot)) /* S3 */
		return keep(slot, dir, until) ? PAWL_SUCCESS : give_up(s, slot, dir);
	return share(s, slot, dir);
}

/* A sharer has had W with KEEPS, and is one of the node's now. */
static void turn(struct lock_slot *slot, int64_t heads)
{
	int64_t w;

	do
		w = near_get(slot);
	while (!near_swap(slot, w, (w & ~(WRITER | KEEPS | USES | heads)) + READER));
}

/* S1, S2, L5 and L6, by a sharer that has W. KEEPS stays until the queue is left, so no other
 * client of the node enters it before. */
static void share_kept(const struct lock_setup *s, struct lock_slot *slot, int64_t heads)
{
	int64_t dir, next;

	rma_get(&slot->client, cached_word(slot, LINE_DIR), &dir);
	dir = write_shared(s, slot, dir);
	if (FAULT(cached_turned))
		turn(slot, heads);
	next = nodes_leave(slot, dir);
	if (!FAULT(cached_turned))
		turn(slot, heads);
	if (next)
		nodes_grant(s, slot, next, dir, false);
}

void recall_share_handed(const struct lock_setup *s, struct lock_slot *slot, bool is_head)
{
	int64_t w;

	do {
		w = near_get(slot);
		if ((w & KEEPS) && !nodes_next_writes(slot)) {
			share_kept(s, slot, is_head ? HEADS | STRICT : 0);
			return;
		}
	} while (!near_swap(slot, w, w - WRITER + READER));
	if (!(w & KEEPS))
		near_acknowledge(s, slot, WRITER, false);
}

int recall_enter(const struct lock_setup *s, struct lock_slot *slot, int64_t dir, uint64_t until)
{
	int me = cached_me(slot), home = cached_home(slot), owner = dir_owner(dir);
	struct asked *asked = lock_scratch(slot);
	bool lends;
	int hits;

	if (!is_exclusive(slot))
		return enter_shared(s, slot, dir, until);
	if (dir_is_open(dir)) {
		lends = policy_lends(lock_own(slot), dir);
		if (!recall(s, slot, &dir, MODE_N, lends ? dir_mode(dir) : MODE_N, until))
			return give_up(s, slot, dir);
		if (owner >= 0 && owner != me) {
			hits = w_hits(asked[owner].w);
			lends =
			    lends && (owner != home || policy_has_asked(dir) ||
				      policy_goes_home(dir, hits, rma_keeps_order(&slot->client)));
			dir = policy_note_visit(dir, me, hits);
		}
		dir = lends ? dir & ~DIR_OPEN : dir_visited(dir_none(dir), me);
	} else if (dir_is_empty(dir)) {
		dir = policy_note_visit(dir, me, policy_get(dir, P_HITS, HITS_BITS));
	}
	if (FAULT(cached_lend))
		dir = dir_none(dir);
	return keep(slot, dir, until) ? PAWL_SUCCESS : give_up(s, slot, dir);
}

bool recall_is_idle(const struct lock_setup *s, struct lock_slot *slot, int64_t dir)
{
	if (!dir_is_open(dir) || (!is_exclusive(slot) && dir_mode(dir) == MODE_S))
		return true;
	mark(s, slot, dir);
	return look(s, slot, near_others(slot)) == 0;
}
