/* SPDX-License-Identifier: BSD-3-Clause */
/* Lock caching: the head of the queue of nodes recalls the lock from those that cache it; README,
 * C, S, D4, A3 and A4. */
#include "lock/cached/recall.h"

#include "lock/cached/first.h"

/* What is known of each node while it is recalled. */
struct asked {
	int64_t w; /* its W; not to be read before the flush */
	int64_t state;
};
/* Of state: in the way at the last look; admits clients ahead, in a mode. */
enum { IN_THE_WAY = 1, GIVEN = 2, GIVEN_SHIFT = 2 };
_Static_assert(sizeof(struct asked) == 8 * (size_t)SCRATCH_EACH, "the scratch has room");

/* A recall under way. */
struct recall {
	int64_t dir;
	enum mode to;
	int nodes;   /* that were asked */
	bool lends;  /* the nodes will have their mode again */
	bool asked;  /* C1 has been taken */
	bool closes; /* no newcomer is to be admitted, whatever the mode */
	bool closed; /* none is, anywhere */
	bool idle;   /* the owner has no holder at all */
	bool given;  /* but clients ahead are, at some */
	bool drains; /* uncached sharers may be in the way, */
	bool awaits; /* and the last one will acknowledge */
};

static struct asked *asked_of(struct lock_slot *slot)
{
	return lock_scratch(slot);
}

static void get_w(const struct lock_setup *s, struct lock_slot *slot, int node, int64_t *w)
{
	rma_get(&slot->client,
		node == cached_me(slot) ? cached_word(slot, LINE_W)
					: cached_word_at(s, slot, node, LINE_W),
		w);
}

/* Get W of the nodes that are in the way. Returns the holders, of all of them, if some still are.
 */
static int64_t look(const struct lock_setup *s, struct lock_slot *slot, int64_t conflict)
{
	const struct cached_constants *k = s->state;
	struct asked *asked = asked_of(slot);
	int64_t holders = 0;

	for (int j = 0; j < k->nodes; j++)
		if (asked[j].state & IN_THE_WAY)
			get_w(s, slot, j, &asked[j].w);
	for (int j = 0; j < k->nodes; j++)
		if ((asked[j].state & IN_THE_WAY) && j != cached_me(slot))
			/* Orders the get before the look at its result. W is a word of another
			 * node, so the flush is that of a word of the network. */
			rma_flush(&slot->client, cached_word_at(s, slot, j, LINE_MODE));
	for (int j = 0; j < k->nodes; j++)
		if (asked[j].state & IN_THE_WAY) {
			if (asked[j].w & conflict)
				holders |= asked[j].w & HOLDERS;
			else
				asked[j].state &= ~(int64_t)IN_THE_WAY;
		}
	return holders;
}

/* The nodes of the directory may be in the way. Returns how many they are. */
static int mark(const struct lock_setup *s, struct lock_slot *slot, int64_t dir)
{
	const struct cached_constants *k = s->state;
	struct asked *asked = asked_of(slot);
	int n = 0;

	for (int j = 0; j < k->nodes; j++) {
		asked[j].state = dir_has(dir, j) ? IN_THE_WAY : 0;
		n += dir_has(dir, j);
	}
	return n;
}

/* All of them may be in the way, of another mode. */
static void mark_again(const struct lock_setup *s, struct lock_slot *slot, int64_t dir)
{
	const struct cached_constants *k = s->state;

	for (int j = 0; j < k->nodes; j++)
		if (dir_has(dir, j))
			asked_of(slot)[j].state |= IN_THE_WAY;
}

/* The mode that clients ahead may have beside these holders. */
static enum mode beside(int64_t holders)
{
	if (!(holders & near_conflict(MODE_I)) || FAULT(cached_beside))
		return MODE_I;
	return holders & near_conflict(MODE_S) ? MODE_N : MODE_S;
}

/* BACK of the nodes of the directory, which are promised the lock. What TAIL says of the home's
 * node is no part of its MODE. */
static enum mode promised(struct lock_slot *slot, int64_t dir)
{
	return dir_owner(dir) == cached_home(slot) ? MODE_N : dir_mode(dir);
}

static struct modes asking(struct lock_slot *slot, const struct recall *r, enum mode mode,
			   enum mode ahead)
{
	return (struct modes){
	    .mode = mode,
	    .back = r->lends ? promised(slot, r->dir) : MODE_N,
	    .to = r->to,
	    .ahead = ahead,
	    .want = true,
	    .round = policy_round(r->dir),
	};
}

/* C0: the swap of TAIL has closed the home's node, which had X. Whether that is enough. Nobody
 * comes in there after the swap, so one look at its W serves U3 as well. drains: UNCACHED, at the
 * same rank, is looked at in the same round trip (U5). */
static bool is_idle_at_home(const struct lock_setup *s, struct lock_slot *slot, int64_t conflict,
			    bool drains)
{
	struct cached_slot *own = lock_own(slot);

	if (!own->has_seen) {
		if (drains) {
			rma_get(&slot->client, cached_home_count(s, slot), uncached_seen(s, slot));
			own->has_uncached = true;
		}
		look(s, slot, conflict);
		own->seen = asked_of(slot)[own->home].w;
		own->has_seen = true;
	}
	asked_of(slot)[own->home].w = own->seen;
	return !(own->seen & conflict);
}

/* Whether this is another node than the home's, which has X. */
static bool visits_home(struct lock_slot *slot, int64_t dir)
{
	return dir_owner(dir) == cached_home(slot) && cached_home(slot) != cached_me(slot);
}

/* C1. MODE of the nodes has no AHEAD then. */
static void ask(const struct lock_setup *s, struct lock_slot *slot, struct recall *r)
{
	const struct cached_constants *k = s->state;

	for (int j = 0; j < k->nodes; j++)
		asked_of(slot)[j].state &= IN_THE_WAY | GIVEN;
	modes_number(slot);
	r->asked = true;
	modes_put(s, slot, r->dir, asking(slot, r, r->closed ? MODE_N : r->to, MODE_N));
	for (int j = 0; j < k->nodes; j++)
		if (dir_has(r->dir, j))
			modes_order_at(s, slot, j, asked_of(slot)[j].state & IN_THE_WAY);
}

/* A3: clients ahead of this node may be in beside these holders. If they may already, MODE stays as
 * it is: a change would end the wait of a client that needs another mode, which would ask again at
 * once. */
static void give(const struct lock_setup *s, struct lock_slot *slot, struct recall *r, int node,
		 int64_t holders)
{
	enum mode mode = beside(holders);
	int64_t *state = &asked_of(slot)[node].state, given = GIVEN | (int64_t)mode << GIVEN_SHIFT;

	if (mode == MODE_N || (*state & ~(int64_t)IN_THE_WAY) == given)
		return;
	if (mode == MODE_I && dir_has_some(r->dir)) {
		if (uncached_are_some(s, slot))
			return;
		r->dir &= ~SOME;
	}
	r->dir = dir_joined(r->dir, mode, node);
	r->given = true;
	r->nodes++; /* so no acknowledgement ends the recall without a look */
	*state = IN_THE_WAY | given;
	modes_number(slot);
	modes_write_at(s, slot, node, asking(slot, r, MODE_N, mode));
}

/* A4: no node admits clients ahead any more, and all that did may be in the way. */
static void take_back(const struct lock_setup *s, struct lock_slot *slot, struct recall *r)
{
	const struct cached_constants *k = s->state;
	struct asked *asked = asked_of(slot);

	r->given = false;
	modes_number(slot);
	for (int j = 0; j < k->nodes; j++)
		if (asked[j].state & GIVEN)
			modes_put_at(s, slot, j, asking(slot, r, MODE_N, MODE_N));
	for (int j = 0; j < k->nodes; j++)
		if (asked[j].state & GIVEN) {
			modes_flush_at(s, slot, j);
			asked[j].state = IN_THE_WAY;
		}
}

/* C3: wait for an acknowledgement. *node: one that asks for a client ahead, or as it was. False:
 * the time has passed. *last: no node is in the way. */
static bool await_ack(struct lock_slot *slot, struct recall *r, uint64_t until, int *node,
		      bool *last)
{
	struct rma_word ack = cached_word(slot, LINE_ACK);
	int64_t value;

	slot->from = -1;
	if (!rma_await_until(&slot->client, ack, -1, RMA_NE, 0, RMA_SOON, until,
			     "other nodes to give the lock back", &value))
		return false;
	rma_poke(&slot->client, ack, 0);
	if (value & ASKED)
		*node = (int)(value & NODE_MASK);
	r->idle = (value & IDLE) != 0;
	*last = ((value & ~IDLE) == modes_ack(slot) && r->nodes == 1 && !r->given && !r->drains) ||
		(FAULT(cached_once) && !(value & ASKED));
	return true;
}

/* U5: whether uncached sharers are in the way. The last one will acknowledge. */
static bool sharers_delay_recall(const struct lock_setup *s, struct lock_slot *slot,
				 struct recall *r)
{
	struct cached_slot *own = lock_own(slot);

	if (!r->drains || FAULT(cached_drain))
		return false;
	r->drains = own->has_uncached ? (*uncached_seen(s, slot) & UNCACHED_COUNT) != 0
				      : uncached_are_some(s, slot);
	own->has_uncached = false;
	if (r->drains && !r->awaits) {
		r->awaits = true;
		r->drains = uncached_await(s, slot, true);
	}
	return r->drains;
}

/* S5: whether the owner has no holder at all, by the last look. */
static bool is_idle(struct lock_slot *slot, const struct recall *r)
{
	const int owner = dir_owner(r->dir);

	return owner >= 0 && (!(asked_of(slot)[owner].w & HOLDERS) || FAULT(cached_idle));
}

/* U5: none is any more, or the time has passed. */
static bool end_drain(const struct lock_setup *s, struct lock_slot *slot, struct recall *r,
		      bool done)
{
	if (r->awaits)
		uncached_await(s, slot, false);
	r->awaits = false;
	return done;
}

/* C0 to C3. False: the time has passed. */
static bool recall(const struct lock_setup *s, struct lock_slot *slot, struct recall *r,
		   uint64_t until)
{
	int64_t holders;
	int node = -1;
	bool last;

	r->nodes = mark(s, slot, r->dir);
	r->drains = dir_has_some(r->dir) && r->to != MODE_S;
	if (excludes_sharers(slot))
		policy_note_some(lock_own(slot), r->drains);
	if (visits_home(slot, r->dir) &&
	    is_idle_at_home(s, slot, near_conflict(r->to), r->drains) &&
	    !sharers_delay_recall(s, slot, r)) {
		r->idle = is_idle(slot, r);
		return end_drain(s, slot, r, true);
	}
	r->closed = (r->to == MODE_N || dir_mode(r->dir) != MODE_X || r->drains || r->closes) &&
		    !FAULT(cached_across);
	rma_poke(&slot->client, cached_word(slot, LINE_ACK), 0);
	for (ask(s, slot, r);;) {
		holders = look(s, slot, near_conflict(r->to));
		if (sharers_delay_recall(s, slot, r))
			holders |= SHARER;
		if (!holders || (FAULT(cached_down) && r->to == MODE_S)) {
			r->idle = is_idle(slot, r);
			if (!r->given || FAULT(cached_reopen))
				return end_drain(s, slot, r, true);
			take_back(s, slot, r);
			continue;
		}
		/* C3, for an intent shared, which neither sharers nor intents exclude */
		if ((slot->mode & PAWL_INTENT_SHARED) && !(holders & near_conflict(MODE_S))) {
			r->to = MODE_S;
			r->drains = false;
			if (!FAULT(cached_all))
				mark_again(s, slot, r->dir);
			ask(s, slot, r);
			continue;
		}
		if (node >= 0) {
			give(s, slot, r, node, holders);
			node = -1;
		}
		if (FAULT(cached_arm))
			rma_poke(&slot->client, cached_word(slot, LINE_ACK), 0);
		if (!await_ack(slot, r, until, &node, &last))
			return end_drain(s, slot, r, false);
		if (last)
			return end_drain(s, slot, r, true);
		if (node >= 0 && !r->closed) {
			r->closed = true;
			ask(s, slot, r);
		}
	}
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

/* C4, S3: in, with the directory. */
static bool keep(struct lock_slot *slot, int64_t dir, uint64_t until)
{
	bool had = dir_has(dir, cached_me(slot));
	int64_t w;

	if (cached_look(slot, LINE_MODE) & (WANT | MODE_MASK)) {
		modes_number(slot);
		modes_write_own(slot, (struct modes){.back = had ? promised(slot, dir) : MODE_N});
	}
	for (;;) {
		w = near_get(slot);
		if (w & near_others(slot)) {
			if (!await_own(slot, near_others(slot), until)) {
				nodes_forget(slot); /* K has failed: STATUS has no grant */
				return false;
			}
			continue;
		}
		nodes_keep(slot, dir);
		if (near_swap(slot, w, ((w & ~(HEADS | STRICT | USES)) + near_one(slot)) | KEEPS))
			return true;
	}
}

/* What follows nodes_leave(). */
static void pass_on(const struct lock_setup *s, struct lock_slot *slot, int64_t next, int64_t left,
		    int64_t dir)
{
	if (next)
		nodes_grant(s, slot, next, dir, false);
	else
		nodes_end(s, slot, left, dir, false);
}

void recall_leave(const struct lock_setup *s, struct lock_slot *slot, int64_t dir)
{
	int64_t left, next = nodes_leave(s, slot, &dir, &left);

	pass_on(s, slot, next, left, dir);
}

/* S4: whether the node is the home's, and no other one caches the lock or has been promised it. */
static bool owns(struct lock_slot *slot, int64_t dir)
{
	const int me = cached_me(slot);

	return cached_home(slot) == me &&
	       (dir_is_empty(dir) || dir_owner(dir) == me || FAULT(cached_owns));
}

/* S1, and MODE of S2 or S4. Returns the directory with which the queue is to be left. */
static int64_t write_shared(const struct lock_setup *s, struct lock_slot *slot, int64_t dir,
			    enum mode mode)
{
	modes_number(slot);
	if (mode == MODE_I) /* no uncached sharer is in */
		dir &= ~SOME;
	if (owns(slot, dir)) {
		modes_write_own(slot, (struct modes){.mode = MODE_N});
		return dir_owned(dir, cached_me(slot));
	}
	if (!dir_is_empty(dir) && !dir_is_open(dir)) {
		dir = policy_next_round(dir);
		modes_write(s, slot, dir, modes_shared(dir, mode));
	}
	modes_write_own(slot, modes_shared(dir, mode));
	return FAULT(cached_join) ? dir : dir_joined(dir, mode, cached_me(slot));
}

/* S2 and L5. */
static int share(const struct lock_setup *s, struct lock_slot *slot, int64_t dir, enum mode mode)
{
	dir = write_shared(s, slot, dir, mode);
	while (!near_count(slot)) /* a client that is not in takes its count back */
		await_own(slot, near_others(slot), 0);
	recall_leave(s, slot, dir);
	return PAWL_SUCCESS;
}

/* D4. */
static int give_up(const struct lock_setup *s, struct lock_slot *slot, int64_t *dir)
{
	int64_t w;

	rma_fao(&slot->client, cached_word(slot, LINE_W), RMA_AND, ~STRICT, &w);
	near_wake(slot, w);
	if (!dir_is_empty(*dir) && !FAULT(cached_restore)) {
		/* A recall to another mode has left that in MODE. */
		if (!is_exclusive(slot) && dir_owner(*dir) == cached_home(slot)) {
			modes_number(slot);
			modes_write(s, slot, *dir, (struct modes){.mode = MODE_N});
		}
		*dir = modes_give_back(s, slot, *dir);
	}
	return PAWL_ERR_TIMEOUT;
}

/* The mode in which the node of a client that is not exclusive will cache the lock, which has this
 * one elsewhere. */
static enum mode mode_wanted(const struct lock_slot *slot, enum mode has)
{
	if (slot->mode & PAWL_SHARED)
		return MODE_S;
	return (slot->mode & PAWL_INTENT_SHARED) && has == MODE_S ? MODE_S : MODE_I;
}

/* S3 and S5: whether the client keeps the queue, as a writer does. Not where intents are used: one
 * that is ahead would have to wait for the writer. */
static bool keeps_for_sharers(struct lock_slot *slot, int64_t dir)
{
	if (slot->mode != PAWL_SHARED || policy_has_intents(dir))
		return false;
	/* A sharer whose node has been promised the lock would not queue, and so not take it over.
	 */
	if ((dir_is_empty(dir) || dir_owner(dir) == cached_home(slot)) &&
	    policy_keeps_for_sharers(lock_own(slot)))
		return true;
	return nodes_next_writes(slot);
}

/* U3: whether no exclusive client is in, and none can be before the queue is left. The client may
 * be counted by then. */
static bool may_share_uncached(const struct lock_setup *s, struct lock_slot *slot, int64_t dir)
{
	struct cached_slot *own = lock_own(slot);

	if (dir_mode(dir) == MODE_S || dir_is_empty(dir) || dir_debt(dir))
		return true;
	if (!visits_home(slot, dir) || !dir_is_open(dir))
		return false;
	mark(s, slot, dir);
	/* The flush of the look orders the count, too, before the swap of TAIL (L5) or of NEXT
	 * (P1); pairs with U5. */
	if (!own->has_seen)
		uncached_begin(s, slot);
	if (is_idle_at_home(s, slot, near_conflict(MODE_S), false))
		return true;
	if (own->is_uncached && !FAULT(cached_remains))
		uncached_leave(s, slot, false);
	own->is_uncached = false;
	return false;
}

/* U3 and L5. */
static int share_uncached(const struct lock_setup *s, struct lock_slot *slot, int64_t dir)
{
	struct cached_slot *own = lock_own(slot);
	const bool counted = own->is_uncached;
	int64_t next, left;

	own->is_uncached = true;
	if (!dir_is_empty(dir) && !dir_is_open(dir))
		dir = modes_give_back(s, slot, dir);
	dir |= SOME;
	if (counted || dir_may_owe(dir)) {
		if (!counted)
			dir =
			    dir_owing(dir, (FAULT(cached_owes) ? 0 : dir_debt(dir)) + UNCACHED_ONE);
		recall_leave(s, slot, dir);
		return PAWL_SUCCESS;
	}
	uncached_count(s, slot, dir_debt(dir) + UNCACHED_ONE);
	dir = dir_paid(dir);
	next = nodes_leave(s, slot, &dir, &left);
	/* Orders the count before the grant; pairs with U5. */
	if (next && !FAULT(cached_flushed))
		rma_flush(&slot->client, cached_home_count(s, slot));
	pass_on(s, slot, next, left, dir);
	return PAWL_SUCCESS;
}

/* The owner, another node, has had so many hits. */
static void note_visit(struct lock_slot *slot, struct recall *r, int hits)
{
	r->lends = r->lends && (dir_owner(r->dir) != cached_home(slot) || r->asked ||
				policy_goes_home(r->dir, cached_me(slot), hits,
						 rma_keeps_order(&slot->client)));
	r->dir = policy_note_visit(r->dir, cached_me(slot), hits);
}

/* Sharers had it. How often other nodes have used it in this round. */
static void note_shares(const struct lock_setup *s, struct lock_slot *slot, struct recall *r)
{
	const struct cached_constants *k = s->state;
	int hits = 0;

	for (int j = 0; j < k->nodes; j++) {
		const int64_t w = asked_of(slot)[j].w;

		if (dir_has(r->dir, j) && j != cached_me(slot) &&
		    policy_round(r->dir) == ((w & ROUND) != 0))
			hits += policy_uses(s, w_hits(w), j == cached_home(slot));
	}
	r->dir = policy_note_share(s, r->dir, r->nodes, hits);
	policy_note_use(lock_own(slot), r->dir);
}

/* The head has recalled the lock. Returns the directory that it keeps. */
static int64_t note_recall(const struct lock_setup *s, struct lock_slot *slot, struct recall *r)
{
	const int me = cached_me(slot), owner = dir_owner(r->dir);

	if (dir_is_empty(r->dir))
		r->dir = policy_note_visit(r->dir, me, policy_get(r->dir, P_HITS, HITS_BITS));
	else if (owner < 0)
		note_shares(s, slot, r);
	else if (owner != me)
		note_visit(slot, r, w_hits(asked_of(slot)[owner].w));
	return r->lends ? r->dir & ~DIR_OPEN : dir_visited(dir_none(r->dir), me);
}

static int enter_shared(const struct lock_setup *s, struct lock_slot *slot, int64_t *dir,
			uint64_t until)
{
	enum mode has = dir_mode(*dir);
	struct recall r = {.dir = *dir, .to = mode_wanted(slot, has)};
	const bool drains = r.to == MODE_I && dir_has_some(*dir);
	/* S3, S5. A writer after KEEPS would not look at UNCACHED. */
	const bool keeps = !dir_has_some(*dir) && keeps_for_sharers(slot, *dir);
	bool done;

	/* Where limits are lowered, there are to be some of both. */
	if (slot->mode == PAWL_SHARED && (!keeps || dir_debt(*dir) || UNCACHED_ALWAYS) &&
	    policy_shares_uncached(s, lock_own(slot), *dir, rma_keeps_order(&slot->client)) &&
	    may_share_uncached(s, slot, *dir))
		return share_uncached(s, slot, *dir);
	*dir = r.dir = uncached_pay(s, slot, *dir);
	if (!dir_is_open(*dir) && !drains) {
		if (!keeps)
			return share(s, slot, *dir, r.to);
		if (dir_is_empty(*dir))
			*dir = note_recall(s, slot, &r);
		return keep(slot, *dir, until) ? PAWL_SUCCESS : give_up(s, slot, dir);
	}
	if (r.to == has && !drains)
		return share(s, slot, *dir, r.to);
	r.closes = keeps && visits_home(slot, *dir);
	done = recall(s, slot, &r, until);
	*dir = r.dir;
	if (!done)
		return give_up(s, slot, dir);
	if (r.closes && r.idle) {
		r.lends = policy_lends(s, lock_own(slot), *dir);
		*dir = note_recall(s, slot, &r);
		return keep(slot, *dir, until) ? PAWL_SUCCESS : give_up(s, slot, dir);
	}
	if (r.closed) {
		modes_number(slot);
		*dir = policy_next_round(*dir);
		modes_write(s, slot, *dir, modes_shared(*dir, r.to)); /* S1 */
	}
	return share(s, slot, *dir, r.to);
}

/* A sharer has had W with KEEPS, and is one of the node's now. */
static void turn(struct lock_slot *slot, int64_t heads)
{
	int64_t w;

	do
		w = near_get(slot);
	while (!near_swap(slot, w, (w & ~(WRITER | KEEPS | USES | heads)) + near_one(slot)));
}

/* S1, S2, L5 and L6, by a sharer that has W. KEEPS stays until the queue is left, so no other
 * client of the node enters it before. */
static void share_kept(const struct lock_setup *s, struct lock_slot *slot, int64_t dir,
		       int64_t heads)
{
	int64_t next, left;

	dir = write_shared(s, slot, policy_note_mode(dir, slot->mode),
			   mode_wanted(slot, dir_mode(dir)));
	nodes_forget(slot);
	if (FAULT(cached_turned))
		turn(slot, heads);
	next = nodes_leave(s, slot, &dir, &left);
	if (!FAULT(cached_turned))
		turn(slot, heads);
	/* A node that has swapped TAIL since may have found WRITER. */
	if (!next && !FAULT(cached_shown))
		near_acknowledge(s, slot, WRITER, false);
	pass_on(s, slot, next, left, dir);
}

void recall_share_handed(const struct lock_setup *s, struct lock_slot *slot, bool is_head)
{
	int64_t w, dir;

	do {
		w = near_get(slot);
		dir = nodes_directory(slot);
		if ((w & KEEPS) && !keeps_for_sharers(slot, dir) && !nodes_are_taken(slot)) {
			share_kept(s, slot, dir, is_head ? HEADS | STRICT : 0);
			return;
		}
	} while (!near_swap(slot, w, w - WRITER + near_one(slot)));
	if (!(w & KEEPS) || nodes_are_taken(slot))
		near_acknowledge(s, slot, WRITER, false);
}

int recall_enter(const struct lock_setup *s, struct lock_slot *slot, int64_t *dir, uint64_t until)
{
	struct recall r = {.to = MODE_N};

	*dir = first_settle(s, slot, policy_note_mode(*dir, slot->mode));
	if (!is_exclusive(slot))
		return enter_shared(s, slot, dir, until);
	r.dir = *dir = uncached_pay(s, slot, *dir);
	if (dir_is_open(*dir) || dir_has_some(*dir)) {
		r.lends = policy_lends(s, lock_own(slot), *dir);
		if (!recall(s, slot, &r, until)) {
			*dir = r.dir;
			return give_up(s, slot, dir);
		}
		*dir = note_recall(s, slot, &r);
	} else if (dir_is_empty(*dir)) {
		*dir = note_recall(s, slot, &r);
	}
	if (FAULT(cached_lend))
		*dir = dir_none(*dir);
	return keep(slot, *dir, until) ? PAWL_SUCCESS : give_up(s, slot, dir);
}

bool recall_is_idle(const struct lock_setup *s, struct lock_slot *slot, int64_t dir)
{
	enum mode has = dir_mode(dir);

	dir = first_settle(s, slot, dir);
	if ((!dir_is_open(dir) && !dir_has_some(dir)) ||
	    (!is_exclusive(slot) && mode_wanted(slot, has) == has))
		return true;
	mark(s, slot, dir);
	return look(s, slot, near_others(slot)) == 0 &&
	       !(dir_has_some(dir) && excludes_sharers(slot) && uncached_are_some(s, slot));
}
