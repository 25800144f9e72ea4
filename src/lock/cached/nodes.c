/* SPDX-License-Identifier: BSD-3-Clause */
/* Lock caching: the queue of nodes; README, Q, K, L5, L6, D1 to D3, A3, P1, P2, T2, T4. */
#include "lock/cached/nodes.h"

/* In NEXT, above a place: it may be abandoned; it is of an exclusive client. Or, above the
 * directory: the node has left (P1). */
#define TIMED (INT64_C(1) << 62)
#define WRITES (INT64_C(1) << 61)
#define HAS_LEFT (INT64_C(1) << 60)
/* Above a place: a sharer may take the queue over (T). */
#define TAKES (INT64_C(1) << 59)

/* A place in the queue: 1 + the node, and the number of its turn, so that an operation of an
 * earlier turn finds another place. */
static int place_node(int64_t place)
{
	return (int)(place & NODE_MASK) - 1;
}

static int next_offset(int64_t place)
{
	return (place >> NODE_BITS) & 1 && !FAULT(cached_left) ? LINE_NEXT_ODD : LINE_NEXT;
}

static int64_t place_of(int node, int64_t notes)
{
	int64_t turn = (notes & TURN) >> TURN_SHIFT;

	return (turn << NODE_BITS) | (node + 1);
}

static int64_t my_place(struct lock_slot *slot)
{
	return place_of(cached_me(slot), modes_notes(slot));
}

static struct rma_word my_next(struct lock_slot *slot)
{
	return cached_word(slot, next_offset(my_place(slot)));
}

static int64_t link_of(struct lock_slot *slot)
{
	const struct cached_slot *own = lock_own(slot);
	bool is_timed = slot->deadline_ns || own->may_leave;

	return my_place(slot) | (is_timed ? TIMED : 0) | (is_exclusive(slot) ? WRITES : 0);
}

static int64_t swap_status(struct lock_slot *slot, struct rma_word status, int64_t old, int64_t new)
{
	int64_t seen;

	rma_cas(&slot->client, status, old, new, &seen);
	rma_flush(&slot->client, status); /* orders the swap before the look at seen */
	return seen;
}

int nodes_last(int64_t tail)
{
	return tail && !(tail & FREE) ? place_node(tail >> TAIL_PLACE_SHIFT) : -1;
}

bool nodes_other_is_last(struct lock_slot *slot, int64_t tail)
{
	return nodes_last(tail) >= 0 && nodes_last(tail) != cached_me(slot);
}

bool nodes_take_place(struct lock_slot *slot)
{
	/* STATUS of a place that is left is WAITING or a grant. NOTES is another cache line. */
	if (!rma_peek(&slot->client, cached_word(slot, LINE_STATUS)) || !(modes_notes(slot) & LEFT))
		return false;
	modes_note(slot, LEFT, 0);
	return true;
}

bool nodes_abandon(struct lock_slot *slot, int64_t *dir)
{
	struct rma_word status = cached_word(slot, LINE_STATUS);
	int64_t value = swap_status(slot, status, WAITING, ABANDONED);

	if (!(value & GRANT))
		return true;
	rma_poke(&slot->client, status, 0);
	*dir = value & ~GRANT;
	return false;
}

void nodes_leave_place(struct lock_slot *slot, bool has, int64_t dir)
{
	if (has)
		rma_poke(&slot->client, cached_word(slot, LINE_STATUS), dir | GRANT);
	modes_note(slot, LEFT, LEFT);
}

void nodes_ask(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct cached_constants *k = s->state;
	struct rma_client *c = &slot->client;
	int64_t *mode = lock_scratch(slot), head, told = -1;
	struct rma_word ack;

	for (int j = 0; j < k->nodes; j++)
		rma_get(c, cached_word_at(s, slot, j, LINE_MODE), &mode[j]);
	for (int j = 0; j < k->nodes; j++)
		/* Orders the get before the look at its result. */
		rma_flush(c, cached_word_at(s, slot, j, LINE_MODE));
	for (int j = 0; j < k->nodes; j++) {
		head = (mode[j] >> MODE_NODE_SHIFT) & NODE_MASK;
		if (!(mode[j] & WANT) || head == told)
			continue;
		told = head;
		ack = cached_word_at(s, slot, (int)head, LINE_ACK);
		rma_put(c, ack, ASKED | cached_me(slot));
		rma_flush(c, ack); /* orders the put before the wait; pairs with C3 */
	}
}

/* Whether this NEXT is of an exclusive client that stays until it has the lock. */
static bool next_stays(int64_t next)
{
	return (next & WRITES) && !(next & TIMED);
}

/* Q4. A client that may leave the place looks at MODE now and then, and one that is ahead asks. */
static enum nodes await_grant(const struct lock_setup *s, struct lock_slot *slot, uint64_t *look_ns,
			      int64_t *dir)
{
	struct cached_slot *own = lock_own(slot);
	struct rma_word status = cached_word(slot, LINE_STATUS);
	int64_t value;

	while (!rma_await_until(&slot->client, status, -1, RMA_NE, WAITING, RMA_SOON,
				own->may_leave || !excludes_sharers(slot)
				    ? cached_until(slot, *look_ns)
				    : slot->deadline_ns,
				"the grant of another node", &value)) {
		*look_ns = cached_longer(*look_ns);
		if (slot_is_late(slot))
			return NODES_LATE;
		if (own->may_leave && mode_admits(slot, cached_look(slot, LINE_MODE)))
			return NODES_OPEN;
		if (is_ahead(slot))
			nodes_ask(s, slot);
		if (!excludes_sharers(slot) && (slot->deadline_ns || *look_ns >= TAKE_NS))
			return NODES_STALLED;
	}
	rma_poke(&slot->client, status, 0);
	*dir = value & ~GRANT;
	return NODES_HEAD;
}

/* D2. PAWL_SUCCESS: the node has its place again; LOCK_PASSED: it has none; LOCK_QUEUED: it is
 * about to be passed over, and the deadline has passed. */
static int resume(struct lock_slot *slot)
{
	struct rma_word status = cached_word(slot, LINE_STATUS);
	int64_t value = rma_peek(&slot->client, status);

	if (value == 0 || value == PASSED)
		return LOCK_PASSED;
	if (FAULT(cached_resume)) {
		rma_poke(&slot->client, status, WAITING);
		return PAWL_SUCCESS;
	}
	if (swap_status(slot, status, ABANDONED, WAITING) == ABANDONED)
		return PAWL_SUCCESS;
	return rma_await_until(&slot->client, status, -1, RMA_EQ, PASSED, RMA_SOON,
			       slot->deadline_ns, "a node to pass over the abandoned place", &value)
		   ? LOCK_PASSED
		   : LOCK_QUEUED;
}

static int64_t tail_of(int64_t place)
{
	return place << TAIL_PLACE_SHIFT | MODE_N;
}

static bool is_free(int64_t tail)
{
	return tail == 0 || (tail & FREE);
}

/* Get W of the home's node, if that comes after the swap of TAIL without a flush in between. */
static void look_at_home(const struct lock_setup *s, struct lock_slot *slot)
{
	struct cached_slot *own = lock_own(slot);
	struct rma_word w;

	if (own->home == own->me || !rma_keeps_order(&slot->client))
		return;
	w = cached_word_at(s, slot, own->home, LINE_W);
	own->has_seen = true;
	rma_get(&slot->client, w, &own->seen);
	own->has_uncached = policy_meets_uncached(own) && excludes_sharers(slot);
	if (own->has_uncached)
		rma_get(&slot->client, cached_home_count(s, slot), uncached_seen(s, slot));
}

/* Q1: another turn. NEXT of the turn before the last is not used any more. Returns the place. */
static int64_t reset(struct lock_slot *slot)
{
	int64_t old;

	if (FAULT(cached_notes))
		modes_note(slot, TURN, modes_notes(slot) + (INT64_C(1) << TURN_SHIFT));
	else
		rma_fao(&slot->client, cached_notes(slot), RMA_SUM, INT64_C(1) << TURN_SHIFT, &old);
	rma_poke(&slot->client, my_next(slot), 0);
	rma_poke(&slot->client, cached_word(slot, LINE_STATUS), WAITING);
	return my_place(slot);
}

/* Flush, and note how long a round trip takes. */
static void flush_timed(struct lock_slot *slot, struct rma_word word)
{
	uint64_t begin;

	if (word.map) {
		rma_flush(&slot->client, word);
		return;
	}
	begin = rma_clock(&slot->client);
	rma_flush(&slot->client, word);
	policy_note_trip(lock_own(slot), rma_clock(&slot->client) - begin);
}

/* Q3 and P2. Whether the node with that place has left, and this one is the head. */
static bool link_behind(const struct lock_setup *s, struct lock_slot *slot, int64_t last,
			int64_t *dir)
{
	struct rma_word link = cached_word_at(s, slot, place_node(last), next_offset(last));
	int64_t seen = 0;

	if (s->posts)
		rma_fao(&slot->client, link, RMA_REPLACE, link_of(slot), &seen);
	else
		rma_put(&slot->client, link, link_of(slot));
	/* Orders the link before the wait, and before the look at seen; pairs with L5, P1. */
	flush_timed(slot, link);
	*dir = seen & ~HAS_LEFT;
	return (seen & HAS_LEFT) != 0;
}

enum nodes nodes_enter(const struct lock_setup *s, struct lock_slot *slot, bool has_place,
		       uint64_t *look_ns, int64_t *dir)
{
	struct cached_slot *own = lock_own(slot);
	struct rma_word tail = cached_tail(slot);
	int64_t last, place;
	int rc;

	own->has_seen = own->has_uncached = false;
	own->may_leave = nodes_may_leave(slot);
	rc = has_place ? PAWL_SUCCESS : resume(slot);
	if (rc == LOCK_QUEUED)
		return NODES_NONE;
	if (rc == PAWL_SUCCESS)
		return await_grant(s, slot, look_ns, dir);
	place = reset(slot);
	if (FAULT(cached_home))
		look_at_home(s, slot);
	rma_fao(&slot->client, tail, RMA_REPLACE, tail_of(place), &last); /* Q2 */
	if (!FAULT(cached_home))
		look_at_home(s, slot);
	/* Orders the swap before the look at last, and the get of W before the look at it (C0). */
	flush_timed(slot, tail);
	own->queued = !is_free(last);
	if (is_free(last)) {
		own->crowded = false;
		*dir = first_dir_of_tail(s, slot, last);
		nodes_forget(slot);
		return NODES_HEAD;
	}
	own->has_seen = own->has_uncached = false;
	slot->from = -1;
	own->seen = nodes_last(last);
	if (!link_behind(s, slot, last >> TAIL_PLACE_SHIFT, dir))
		return await_grant(s, slot, look_ns, dir);
	nodes_forget(slot);
	return NODES_HEAD;
}

bool nodes_are_none(const struct lock_setup *s, struct lock_slot *slot, int64_t *tail, int64_t *dir)
{
	struct rma_word word = cached_tail(slot);
	int64_t last;

	rma_get(&slot->client, word, tail);
	rma_flush(&slot->client, word); /* orders the get before the look at tail */
	*dir = first_dir_of_tail(s, slot, *tail);
	if (is_free(*tail) || !s->posts)
		return is_free(*tail);
	last = *tail >> TAIL_PLACE_SHIFT;
	word = cached_word_at(s, slot, place_node(last), next_offset(last));
	rma_get(&slot->client, word, dir);
	rma_flush(&slot->client, word); /* orders the get before the look at dir */
	last = *dir & HAS_LEFT;
	*dir &= ~HAS_LEFT;
	return last != 0;
}

/* Returns the place or the directory that TAIL had. */
static int64_t try_swap(struct lock_slot *slot, int64_t expected, int64_t place)
{
	struct rma_word tail = cached_tail(slot);
	int64_t last;

	rma_cas(&slot->client, tail, expected, tail_of(place), &last);
	rma_flush(&slot->client, tail); /* orders the swap before the look at last */
	return last;
}

/* Whether the node has no place that is still in the queue. */
static bool has_no_place(struct lock_slot *slot)
{
	const int64_t status = rma_peek(&slot->client, cached_word(slot, LINE_STATUS));

	return status == 0 || status == PASSED;
}

bool nodes_try_enter(struct lock_slot *slot, int64_t expected, int64_t dir)
{
	struct cached_slot *own = lock_own(slot);
	const int64_t left = dir_to_tail(dir, cached_home(slot));
	int64_t last, place, before = modes_notes(slot);

	if (!has_no_place(slot))
		return false;
	place = reset(slot);
	own->has_seen = own->has_uncached = false;
	last = try_swap(slot, expected, place);
	if (!is_free(expected) && last == left) { /* P1: that node's swap came in between */
		expected = left;
		last = try_swap(slot, expected, place);
	}
	nodes_forget(slot);
	if (last != expected)
		modes_note(slot, TURN, before); /* P2: this turn has not been */
	return last == expected;
}

enum nodes nodes_try_behind(const struct lock_setup *s, struct lock_slot *slot, int64_t tail,
			    int64_t *dir)
{
	struct cached_slot *own = lock_own(slot);
	int64_t place, before = modes_notes(slot);

	if (!has_no_place(slot))
		return NODES_NONE;
	own->has_seen = own->has_uncached = false;
	own->may_leave = true;
	own->seen = nodes_last(tail);
	place = reset(slot);
	if (try_swap(slot, tail, place) != tail) {
		nodes_forget(slot);
		modes_note(slot, TURN, before); /* P2: this turn has not been */
		return NODES_NONE;
	}
	if (!link_behind(s, slot, tail >> TAIL_PLACE_SHIFT, dir))
		return NODES_LATE;
	nodes_forget(slot);
	return NODES_HEAD;
}

bool nodes_are_granted(struct lock_slot *slot, int64_t *dir)
{
	int64_t status = cached_look(slot, LINE_STATUS);

	if (!(status & GRANT))
		return false;
	nodes_forget(slot);
	*dir = status & ~GRANT;
	return true;
}

void nodes_keep(struct lock_slot *slot, int64_t dir)
{
	rma_poke(&slot->client, cached_word(slot, LINE_STATUS), dir | GRANT);
}

int64_t nodes_directory(struct lock_slot *slot)
{
	return cached_look(slot, LINE_STATUS) & ~GRANT;
}

void nodes_forget(struct lock_slot *slot)
{
	rma_poke(&slot->client, cached_word(slot, LINE_STATUS), 0);
}

bool nodes_seek(const struct lock_setup *s, struct lock_slot *slot, int node, int64_t *next)
{
	struct rma_client *c = &slot->client;
	struct rma_word word = cached_word_at(s, slot, node, LINE_NEXT);
	int64_t notes, w;

	rma_get(c, cached_notes_at(s, slot, node), &notes);
	/* Orders the look at the turn before that at W, and so at NEXT of the same turn: a node in
	 * a later one is behind this node. NOTES is at the same rank. */
	rma_flush(c, word);
	word = cached_word_at(s, slot, node, next_offset(place_of(node, notes)));
	rma_get(c, word, next);
	rma_get(c, cached_word_at(s, slot, node, LINE_W), &w);
	rma_flush(c, word); /* orders the gets before the looks */
	if (!*next || next_stays(*next) || (*next & HAS_LEFT) || !(w & KEEPS))
		return false;
	rma_put(c, word, *next | TAKES);
	/* Orders the mark before the look at W (T3); pairs with nodes_claim(). */
	rma_flush(c, word);
	return true;
}

bool nodes_are_taken(struct lock_slot *slot)
{
	return cached_look(slot, LINE_STATUS) == TAKEN;
}

/* T2: whether another node tries to take the queue over, or has tried in the turn before. */
static bool is_sought(struct lock_slot *slot)
{
	return ((rma_peek_ordered(&slot->client, cached_word(slot, LINE_NEXT)) |
		 rma_peek_ordered(&slot->client, cached_word(slot, LINE_NEXT_ODD))) &
		TAKES) &&
	       !FAULT(cached_claims);
}

bool nodes_claim(struct lock_slot *slot, bool shared, int64_t *dir, bool *stays)
{
	int64_t kept = cached_look(slot, LINE_STATUS);

	*dir = kept & ~GRANT;
	if (shared && kept != TAKEN && is_sought(slot)) {
		int64_t seen = swap_status(slot, cached_word(slot, LINE_STATUS), kept, 0);

		*stays = false;
		kept = seen == kept ? 0 : TAKEN;
	}
	if (kept != TAKEN || FAULT(cached_ends))
		return true;
	nodes_forget(slot);
	return false;
}

void nodes_gather(struct lock_slot *slot, uint64_t ns)
{
	int64_t next;

	if (!ns)
		return;
	slot->from = -1;
	/* Nothing ends this wait but the time. */
	rma_await_until(&slot->client, my_next(slot), 0, RMA_NE, 0, RMA_SOON,
			cached_until(slot, ns), "more writers to come, before it recalls", &next);
}

bool nodes_have_next(struct lock_slot *slot)
{
	return rma_peek_ordered(&slot->client, my_next(slot)) != 0;
}

bool nodes_next_writes(struct lock_slot *slot)
{
	return next_stays(rma_peek_ordered(&slot->client, my_next(slot)));
}

bool nodes_next_excludes(struct lock_slot *slot)
{
	return (rma_peek_ordered(&slot->client, my_next(slot)) & WRITES) != 0;
}

/* Swap TAIL from this place to the directory. */
static bool end(struct lock_slot *slot, int64_t place, int64_t dir)
{
	struct rma_word tail = cached_tail(slot);
	int64_t last;

	rma_cas(&slot->client, tail, tail_of(place), dir_to_tail(dir, cached_home(slot)), &last);
	rma_flush(&slot->client, tail); /* orders the swap before the look at last */
	return last == tail_of(place);
}

int64_t nodes_leave(const struct lock_setup *s, struct lock_slot *slot, int64_t *directory,
		    int64_t *left)
{
	struct rma_word word = my_next(slot);
	int64_t next = rma_peek_ordered(&slot->client, word), dir = *directory;

	*left = 0;
	if (next)
		return next & ~TAKES;
	if (dir_debt(dir)) {
		uncached_count(s, slot, dir_debt(dir));
		*directory = dir = dir_paid(dir);
	}
	if (s->posts) { /* P1 */
		rma_fao(&slot->client, word, RMA_REPLACE, dir | HAS_LEFT, &next);
		rma_flush(&slot->client, word); /* orders the swap before the look at next */
		*left = next ? 0 : my_place(slot);
		return next & ~TAKES;
	}
	if (end(slot, my_place(slot), dir))
		return 0;
	/* Pairs with Q3. */
	return rma_await(&slot->client, word, -1, RMA_NE, 0, RMA_SOON,
			 "the next node to link itself") &
	       ~TAKES;
}

int nodes_end(const struct lock_setup *s, struct lock_slot *slot, int64_t left, int64_t dir,
	      bool posts)
{
	struct cached_slot *own = lock_own(slot);
	struct rma_word tail = cached_tail(slot);

	if (!left)
		return PAWL_SUCCESS;
	/* A node that is last by now has found HAS_LEFT, or will. */
	rma_cas(&slot->client, tail, tail_of(left), dir_to_tail(dir, cached_home(slot)),
		&own->seen);
	return near_end(s, slot, tail, posts);
}

/* D3: the place behind an abandoned one, or 0: the directory is in TAIL. */
static int64_t behind(const struct lock_setup *s, struct lock_slot *slot, int64_t place,
		      int64_t *dir)
{
	struct rma_word next = cached_word_at(s, slot, place_node(place), next_offset(place));
	int64_t succ;

	rma_get(&slot->client, next, &succ);
	rma_flush(&slot->client, next); /* orders the look before PASSED */
	if (succ)
		return succ;
	/* A promise needs a head that keeps it. */
	if (!dir_is_empty(*dir) && !dir_is_open(*dir) && !FAULT(cached_last))
		*dir = modes_give_back(s, slot, *dir);
	*dir = uncached_pay(s, slot, *dir);
	if (end(slot, place, FAULT(cached_tail) ? 0 : *dir))
		return 0;
	/* Pairs with Q3. */
	return rma_await(&slot->client, next, -1, RMA_NE, 0, RMA_SOON, "a node to link itself");
}

/* A node has left twice, by one of these faults. */
static bool is_no_place(int64_t next)
{
	return (FAULT(cached_granted) || FAULT(cached_early) || FAULT(cached_place) ||
		FAULT(cached_resume) || FAULT(cached_glance) || FAULT(cached_claims) ||
		FAULT(cached_ends)) &&
	       (next & HAS_LEFT);
}

int nodes_grant(const struct lock_setup *s, struct lock_slot *slot, int64_t next, int64_t dir,
		bool posts)
{
	struct rma_client *c = &slot->client;
	struct rma_word status;

	if (is_no_place(next))
		return PAWL_SUCCESS;
	while (next & TIMED) {
		int64_t place = next & ~(TIMED | WRITES), old;

		status = cached_word_at(s, slot, place_node(place), LINE_STATUS);
		rma_give(c, status, dir | GRANT, &old);
		rma_flush(c, status); /* orders the grant before the look at old; pairs with D1 */
		if (old == WAITING)
			return PAWL_SUCCESS;
		if (FAULT(cached_place)) {
			rma_put(c, status, PASSED);
			/* Orders the mark before the look at NEXT, which is the fault. */
			rma_flush(c, status);
		}
		next = behind(s, slot, place, &dir) & ~TAKES;
		rma_put(c, status, PASSED);
		rma_flush(c, status); /* orders the mark before the return; pairs with D2 */
		if (!next || is_no_place(next))
			return PAWL_SUCCESS;
	}
	status = cached_word_at(s, slot, place_node(next), LINE_STATUS);
	rma_put(c, status, dir | GRANT);
	return near_end(s, slot, status, posts);
}
