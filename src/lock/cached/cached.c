/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kind adaptive on several nodes: lock caching. Nodes cache a lock in mode N, S, I or X; another
 * node recalls it; the home has the directory. README has the words, the rules H1 to P2, the
 * argument, and the costs.
 *
 * This file has the calls of a client: a hit, the queue of the node and its head, tries, clients
 * ahead.
 *
 * Progress: starvation-free if holders release. A client ahead waits for holders, and while
 * exclusive clients hand the lock over to each other.
 *
 * Several locks at a time are acquired one after the other. Not supported: recovery.
 *
 * Bounds: 2^13 - 1 clients of a node at one lock, and 2^20 - 2 nodes; a table with more is refused.
 *
 * Model: models/cached.pml.
 */
#include "lock/cached/behind.h"
#include "lock/cached/leave.h"
#include "lock/cached/recall.h"
#include "lock/cached/take.h"

#include <inttypes.h>
#include <stdio.h>

/* In a node, the lines of each lock, or of the locks of each rank. The lines are the first area, so
 * their offset is the same everywhere. */
static void reserve_lines(struct lock_setup *s, struct cached_constants *k)
{
	uint64_t n = s->n, locks = 1;
	struct lock_area lines;

	if (!k->level) {
		k->lines = lock_reserve(s, n, LINE_BYTES);
		k->notes.base = lock_reserve(s, n, NOTES_BYTES);
		return;
	}
	k->by_home = n > 1 && s->home != LOCK_HOME_MAP;
	if (k->by_home) {
		n = (uint64_t)s->topo->nranks;
		locks = s->block;
	}
	lock_reserve_at_level(s, &lines, k->node_level, n, locks * LINE_BYTES);
	lock_reserve_at_level(s, &k->notes, k->node_level, n, locks * NOTES_BYTES);
	k->lines = lines.base;
}

/* Whether W has room for the clients of each node. */
static bool counts_clients(const struct lock_setup *s, const struct cached_constants *k, char *err,
			   size_t errlen)
{
	uint64_t each = s->clients / (uint64_t)s->topo->nranks;
	int most = 1, size;

	for (int j = 0; k->level && j < k->nodes; j++) {
		size = k->level->first[j + 1] - k->level->first[j];
		most = size > most ? size : most;
	}
	if ((uint64_t)most * each <= MOST_CLIENTS)
		return true;
	if (most > MOST_CLIENTS)
		snprintf(err, errlen,
			 "adaptive counts at most %d clients of a node at a lock, and a node has %d"
			 " ranks",
			 MOST_CLIENTS, most);
	else
		snprintf(err, errlen,
			 "option max_held: adaptive counts at most %d clients of a node at a lock,"
			 " and those of %d ranks with max_held %d may be more; accepted here: 1 to"
			 " %d, or option threads=single",
			 MOST_CLIENTS, most, s->max_held, MOST_CLIENTS / most);
	return false;
}

static int layout(struct lock_setup *s, char *err, size_t errlen)
{
	struct cached_constants *k = s->state;

	k->node_level = lock_node_level(s);
	k->level = k->node_level ? &s->topo->level[k->node_level - 1] : NULL;
	k->nodes = k->level ? k->level->count : s->topo->nranks;
	if (k->nodes >= NODE_MASK) {
		snprintf(err, errlen, "adaptive has room for %lld nodes, and there are %d",
			 (long long)NODE_MASK - 1, k->nodes);
		return PAWL_ERR_OPTION;
	}
	if (!counts_clients(s, k, err, errlen))
		return PAWL_ERR_OPTION;
	k->vote = lock_reserve(s, 1, sizeof(int64_t));
	reserve_lines(s, k);
	return PAWL_SUCCESS;
}

static void describe(const struct lock_setup *s, char *text, size_t len)
{
	const struct adaptive_options *o = adaptive_options_of(s);

	snprintf(text, len, "stay %lld, patience %d acquires",
		 (long long)(o->stay < 0 ? STAY : o->stay), o->patience == 0 ? 0 : MOST_PASSES);
}

static uint64_t scratch_words(const struct lock_setup *s)
{
	const struct cached_constants *k = s->state;

	return SCRATCH_EACH * (uint64_t)k->nodes + 1;
}

static int node_of(const struct lock_setup *s, int rank)
{
	const struct cached_constants *k = s->state;

	return k->level ? k->level->element[rank] : rank;
}

static void find_words(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct cached_constants *k = s->state;
	struct cached_slot *own = lock_own(slot);
	struct rma_client *c = &slot->client;
	uint64_t line;
	int rank;

	own->returns = own->last == slot->lock + 1;
	if (own->returns)
		return;
	if (!own->last)
		policy_start(own);
	own->last = slot->lock + 1;
	lock_home(s, slot->lock, &own->home_rank, &own->home_index);
	own->me = node_of(s, c->rma->rank);
	own->home = node_of(s, own->home_rank);
	rank =
	    cached_line(s, slot->lock, own->home_rank, own->home, own->home_index, own->me, &line);
	own->w = rma_word(c->rma, RMA_NODE, rank, k->lines + line * LINE_BYTES);
	own->notes = lock_area_base(s, &k->notes, rank) + line * NOTES_BYTES;
	own->tail = own->home == own->me ? cached_word(slot, LINE_TAIL)
					 : cached_word_at(s, slot, own->home, LINE_TAIL);
	own->guess = 0;
	own->since_ns = 0;
	own->crowded = false;
	own->waited = false;
}

/* ------------------------------------------------------------- the queue of the node */

/* The head leaves the queue of its node. */
static int pass_head(const struct lock_setup *s, struct lock_slot *slot, int code)
{
	int64_t succ;

	if (!mcs_leave(slot, RMA_NODE, cached_queue(slot), &succ) &&
	    mcs_hand_over(s, slot, RMA_NODE, cached_queue(slot), succ, HEAD_NOW))
		return code;
	/* Pairs with L1. */
	if (code != PAWL_SUCCESS)
		leave_what_was_handed(s, slot);
	return code;
}

/* G: the head is in. An exclusive one stays the head until it releases the lock, unless it comes
 * back at once each time: then others of the node pass the head meanwhile. */
static int enter_as_head(const struct lock_setup *s, struct lock_slot *slot)
{
	struct cached_slot *own = lock_own(slot);

	if (!is_exclusive(slot) || policy_is_soon(own))
		return pass_head(s, slot, PAWL_SUCCESS);
	own->is_head = true;
	own->uses = (int16_t)((near_get(slot) & USES) >> USES_SHIFT);
	/* In a turn of the node that others wait for, the first release looks. */
	own->unseen = own->uses ? UNSEEN_MOST & UNSEEN_MASK : 0;
	return PAWL_SUCCESS;
}

/* G: the client has been granted W together with QUEUE. */
static int take_granted(const struct lock_setup *s, struct lock_slot *slot, int64_t told)
{
	struct cached_slot *own = lock_own(slot);
	const int uses = (int)(told >> TURN_USES_SHIFT);

	if (!is_exclusive(slot)) {
		near_note_uses(slot, uses);
		if (!FAULT(cached_alone))
			recall_share_handed(s, slot, true);
		return pass_head(s, slot, PAWL_SUCCESS);
	}
	if (policy_is_soon(own)) {
		near_note_uses(slot, uses);
		return pass_head(s, slot, PAWL_SUCCESS);
	}
	own->uses = (int16_t)uses;
	own->unseen = (unsigned)(told >> UNSEEN_SHIFT) & UNSEEN_MASK;
	own->is_head = true;
	return PAWL_SUCCESS;
}

/* L1: W has been handed over to the node. */
static bool take_handed(const struct lock_setup *s, struct lock_slot *slot, bool is_head)
{
	if (!is_head && !is_exclusive(slot) && !policy_takes_handed(s, lock_own(slot)))
		return false;
	if (!is_head && FAULT(cached_awaited)) /* else a client that comes later mends it */
		return false;
	if (!near_take_handed(s, slot, is_head))
		return false;
	if (!is_exclusive(slot))
		recall_share_handed(s, slot, is_head);
	return true;
}

/* The head does not await W any more. False: W has been handed over. */
static bool stop_awaiting(struct lock_slot *slot)
{
	int64_t w = near_get(slot);

	if (w & HEADS)
		rma_fao(&slot->client, cached_word(slot, LINE_W), RMA_AND, ~HEADS, &w);
	return !(w & HANDED) || FAULT(cached_awaited);
}

/* Whether the node has to ask for the lock, if W is this. refused: MODE was open, and then closed
 * before the client was in; it could be so again and again. */
static bool misses(struct lock_slot *slot, int64_t w, bool refused)
{
	return !(w & (EXCLUSIVE | KEEPS)) && (refused || !cached_admits(slot));
}

/* Wait for W. False: the deadline has passed. Where the node keeps the queue for sharers, and they
 * do not exclude the client, it looks again after *look_ns (S6), and then after a longer time, so
 * that the transport notices if one of them has died. */
static bool await_w(struct lock_slot *slot, uint64_t *look_ns)
{
	static const char what[] = "clients of its node to leave";
	struct rma_word word = cached_word(slot, LINE_W);
	int64_t w = near_get(slot), others = near_others(slot) | KEEPS;
	bool joins;

	if (!(w & AWAITED)) {
		rma_fao(&slot->client, word, RMA_OR, AWAITED, &w);
		return true; /* and the caller looks again */
	}
	if (!(w & others) || (w & HANDED))
		return true;
	/* The count of intents shared is in the upper half. While one is in, W is not handed over.
	 */
	if (!(w & others & ~SHARED_INTENTS))
		return rma_await_until(&slot->client, word, SHARED_INTENTS, RMA_EQ, 0, RMA_SOON,
				       slot->deadline_ns, what, &w);
	joins = (w & KEEPS) && (w & SHARERS) && !(w & near_others(slot));
	if (rma_await_until(&slot->client, word, HOLDERS | KEEPS, RMA_NE, w & (HOLDERS | KEEPS),
			    RMA_SOON, joins ? cached_until(slot, *look_ns) : slot->deadline_ns,
			    what, &w))
		return true;
	if (joins)
		*look_ns = cached_longer(*look_ns);
	return joins && !slot_is_late(slot);
}

/* D1: the client leaves the queue of its node, and has this of the queue of nodes, with this
 * directory, which it does not need: if another client waits, that one goes on from there. */
static int leave_place(const struct lock_setup *s, struct lock_slot *slot, enum nodes n,
		       int64_t dir, int code)
{
	bool has = n == NODES_HEAD;
	int64_t succ;

	while (n != NODES_NONE) {
		succ = rma_peek(&slot->client, slot->next[RMA_NODE]);
		if (!succ)
			break;
		nodes_leave_place(slot, has, dir);
		if (mcs_hand_over(s, slot, RMA_NODE, cached_queue(slot), succ, HEAD_HAS_PLACE) ||
		    mcs_try_enter(slot, RMA_NODE, cached_queue(slot)))
			return code;
		/* Those that waited have given up, and this client is the head again. */
		has = false;
		if (!nodes_take_place(slot))
			n = NODES_NONE;
	}
	if (!has && n != NODES_NONE)
		has = !nodes_abandon(slot, &dir);
	if (has) {
		if (!dir_is_empty(dir) && !dir_is_open(dir))
			dir = modes_give_back(s, slot, dir); /* D4 */
		recall_leave(s, slot, dir);
	}
	return pass_head(s, slot, code);
}

/* H1 and H2, or A1 and A2, of a client that is not exclusive. */
static bool hits(const struct lock_setup *s, struct lock_slot *slot, bool is_head, enum near *n)
{
	bool counted;

	*n = is_ahead(slot) ? near_ahead(s, slot, &counted) : near_hit(s, slot, is_head, &counted);
	*n = near_drain(s, slot, *n);
	if (*n == NEAR_IN)
		return true;
	if (counted)
		leave_take_back(s, slot);
	return leave_join(s, slot, is_head, false);
}

/* The client is the head of the queue of its node, which needs the lock from others. */
static int get_from_nodes(const struct lock_setup *s, struct lock_slot *slot, bool has_place)
{
	struct cached_slot *own = lock_own(slot);
	uint64_t look_ns = nodes_may_leave(slot) ? LOOK_NS : TAKE_NS;
	int64_t dir = 0;
	enum nodes n;
	enum near how;
	int rc = PAWL_ERR_TIMEOUT;

	own->seen = -1;
	/* A client of the node that has died in H1 keeps W for ever, whatever MODE says. The waits
	 * become longer, so that the transport notices that in the end. */
	while ((n = nodes_enter(s, slot, has_place, &look_ns, &dir)) == NODES_OPEN ||
	       n == NODES_STALLED) {
		if (n == NODES_STALLED)
			take_over(s, slot, look_ns);
		else if (hits(s, slot, true, &how))
			return leave_place(s, slot, n, 0, PAWL_SUCCESS);
		has_place = true;
	}
	if (n == NODES_HEAD) {
		nodes_gather(slot, policy_gather_ns(lock_own(slot), is_exclusive(slot), dir));
		rc = recall_enter(s, slot, &dir, slot->deadline_ns);
	}
	return rc == PAWL_SUCCESS ? enter_as_head(s, slot) : leave_place(s, slot, n, dir, rc);
}

/* L1: the node keeps the queue of nodes, and its clients come back soon. One that was there a
 * moment ago has the line of W, and would have the lock again sooner than this head, which has to
 * fetch it. So the head takes what has been handed over when so many have passed, or none has come
 * from one look to the next; to look more often would take the line from them. (13.8 M acquires a
 * second, longest wait 28 us; 5.0 M, 45 us without: --machine=cloudlab-cx3-20nodes --ranks=12
 * --option=topology="node:2 core:6" --bench=ecsb --fw=100 --iterations=1666.) */
static void let_pass(const struct lock_setup *s, struct lock_slot *slot)
{
	/* Longer than a client takes that comes back soon, and needs the line. */
	const uint64_t ns = 2 * (uint64_t)SOON_NS;
	struct rma_pause p = {.min_ns = ns, .max_ns = ns, .deadline_ns = slot->deadline_ns};
	int64_t w, before;

	if (!is_exclusive(slot) || !policy_lets_pass(lock_own(slot)))
		return;
	w = near_get(slot);
	do {
		before = w;
		if (!(w & KEEPS) || !near_may_pass(s, slot, w) ||
		    !rma_pause(&slot->client, &p, "clients of its node to pass"))
			return;
		w = near_get(slot);
	} while ((w ^ before) & (PASSES | USES));
}

/* The client is the head of the queue of its node. */
static int enter_from_queue(const struct lock_setup *s, struct lock_slot *slot, int64_t told)
{
	bool counted, late, refused = false;
	uint64_t look_ns = TAKE_NS;
	enum near n;

	if ((told & HEAD_MASK) == HEAD_HAS_W)
		return take_granted(s, slot, told);
	if (told != HEAD_NOW && nodes_take_place(slot)) /* D1 */
		return get_from_nodes(s, slot, true);
	for (;;) {
		let_pass(s, slot);
		if (take_handed(s, slot, true) || leave_join(s, slot, true, look_ns > TAKE_NS))
			return enter_as_head(s, slot);
		if (misses(slot, near_get(slot), refused)) {
			if (!stop_awaiting(slot))
				continue;
			return get_from_nodes(s, slot, false);
		}
		n = near_hit(s, slot, true, &counted);
		late = n == NEAR_DRAINS;
		n = near_drain(s, slot, n);
		if (n == NEAR_IN)
			return enter_as_head(s, slot);
		if (counted)
			leave_take_back(s, slot);
		refused |= n == NEAR_MISS && counted;
		if (late || !await_w(slot, &look_ns)) {
			if (!stop_awaiting(slot))
				continue;
			return pass_head(s, slot, PAWL_ERR_TIMEOUT);
		}
	}
}

/* The same, or E. */
static int be_head(const struct lock_setup *s, struct lock_slot *slot, int64_t told)
{
	struct cached_slot *own = lock_own(slot);
	int rc;

	if (!behind_excludes(s, slot, told))
		return enter_from_queue(s, slot, told);
	slot->mode = PAWL_EXCLUSIVE;
	rc = enter_from_queue(s, slot, told);
	slot->mode = PAWL_SHARED;
	own->as_writer = rc == PAWL_SUCCESS && !FAULT(cached_writer);
	return rc;
}

/* A: a client that waits for holders, and for no client that waits. */
static int enter_ahead(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_word mode = cached_word(slot, LINE_MODE);
	uint64_t look_ns = LOOK_NS;
	int64_t seen, was;
	enum near n;

	for (;; look_ns = cached_longer(look_ns)) {
		was = cached_look(slot, LINE_MODE);
		if (hits(s, slot, false, &n))
			return PAWL_SUCCESS;
		if (n == NEAR_WAIT || slot_is_late(slot))
			return PAWL_ERR_TIMEOUT;
		if (!mcs_try_enter(slot, RMA_NODE, cached_queue(slot))) { /* A5 */
			bool has_place = nodes_take_place(slot);

			if (has_place || misses(slot, near_get(slot), false))
				return get_from_nodes(s, slot, has_place);
			pass_head(s, slot, PAWL_ERR_BUSY);
		} else {
			nodes_ask(s, slot); /* A3 */
		}
		rma_await_until(&slot->client, mode, -1, RMA_NE, was, RMA_SOON,
				cached_until(slot, look_ns), "holders in another mode", &seen);
	}
}

static RMA_SLOW_PATH int queue_up(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t pred, told = HEAD_LOOKS;

	pred = mcs_enter(slot, RMA_NODE, cached_queue(slot));
	if (pred) {
		behind_link(s, slot, pred);
		if (!mcs_await_grant(slot, RMA_NODE, &told))
			return LOCK_QUEUED;
	}
	return be_head(s, slot, told);
}

static int resume(const struct lock_setup *s, struct lock_slot *slot)
{
	struct cached_slot *own = lock_own(slot);
	int64_t told;
	int rc = mcs_resume(slot, RMA_NODE, MCS_ABANDONED);

	if (rc != PAWL_SUCCESS)
		return rc;
	rc = mcs_await_grant(slot, RMA_NODE, &told) ? be_head(s, slot, told) : LOCK_QUEUED;
	own->since_ns = rma_clock(&slot->client);
	return rc;
}

static bool passed(const struct lock_setup *s, struct lock_slot *slot)
{
	(void)s;
	return mcs_passed(slot, RMA_NODE);
}

/* ------------------------------------------------------------------------ the calls */

/* B, at the home's node: whether another node is last in the queue, for which TAIL is closed, and
 * no client of this one waits in QUEUE. */
static bool is_visited(struct lock_slot *slot, int64_t *tail)
{
	struct cached_slot *own = lock_own(slot);

	if (own->home != own->me || cached_look(slot, LINE_QUEUE))
		return false;
	*tail = rma_peek_ordered(&slot->client, own->tail);
	return nodes_other_is_last(slot, *tail);
}

/* B. Whether the client, which MODE does not admit, or W excludes, is to look again. *late: the
 * deadline has passed. */
static bool await_mode(struct lock_slot *slot, bool *late)
{
	struct cached_slot *own = lock_own(slot);
	struct rma_word word = cached_word(slot, LINE_MODE);
	int64_t mode = cached_look(slot, LINE_MODE), mask = -1, value = mode, seen;
	enum rma_cond is = RMA_NE;
	uint64_t until = slot->deadline_ns;
	const char *what = "its node to have the lock back";
	bool changed, at_home = false;

	*late = false;
	if (is_ahead(slot) || (int)own->beside >= MOST_BESIDE)
		return false;
	if (slot->mode == PAWL_SHARED && (mode & MODE_MASK) == MODE_S) {
		word = cached_word(slot, LINE_W);
		mask = KEEPS;
		is = RMA_EQ;
		value = 0;
		until = cached_until(slot, LOOK_NS);
		what = "its node to leave the queue";
	} else if (!mode_permits(slot, (mode >> BACK_SHIFT) & MODE_MASK)) {
		/* What says that the home's node has X is TAIL. */
		if ((own->crowded && is_exclusive(slot)) || !is_visited(slot, &value))
			return false;
		at_home = true;
		word = own->tail;
		until = cached_until(slot, LOOK_NS);
		what = "a node that visits the home";
	}
	own->beside = (own->beside + 1) & 15;
	changed =
	    rma_await_until(&slot->client, word, mask, is, value, RMA_SOON, until, what, &seen);
	/* Nodes queue behind each other, and would pass this one each time. (788 k acquires a
	 * second, p99 11 us; 706 k and 16 us if it does not remember that: --machine=cx6-4nodes
	 * --option=topology="node:4 core:2" --ranks=8 --bench=warb --fw=100 --iterations=2000.) */
	if (at_home && changed && nodes_other_is_last(slot, seen)) {
		own->beside = MOST_BESIDE & 15;
		own->crowded = true;
	}
	*late = !changed && until == slot->deadline_ns;
	return changed || *late;
}

/* B: whether a sharer that W excludes comes in with the sharers of all nodes, since its node has
 * been promised S, or has S again, and is about to leave the queue. In QUEUE it would have the lock
 * alone between writers, or wait for the next writer of its node while others share. (9.3 M
 * acquires a second, p99 29 us; 7.2 M and 63 us if it queues where it has S again:
 * --machine=xc30-aries --option=topology="node:2 core:32" --ranks=64 --bench=warb --fw=10
 * --iterations=1250 --seed=723.) */
static bool has_promise(struct lock_slot *slot)
{
	int64_t mode;

	/* An exclusive client's look would take the line from those that change W. */
	if (slot->mode != PAWL_SHARED)
		return false;
	mode = cached_look(slot, LINE_MODE);
	return ((mode >> BACK_SHIFT) & MODE_MASK) == MODE_S ||
	       ((mode & MODE_MASK) == MODE_S && (near_get(slot) & KEEPS));
}

/* For observers: a client of the own node, until the node waits for others. */
static int64_t origin(const struct lock_setup *s, const struct lock_slot *slot)
{
	const struct cached_constants *k = s->state;

	return k->node_level ? -(int64_t)k->node_level : slot->id;
}

/* U1, U2: whether the client is in without a miss. */
static bool enters_uncached(const struct lock_setup *s, struct lock_slot *slot)
{
	struct cached_slot *own = lock_own(slot);

	if (slot->mode != PAWL_SHARED ||
	    !policy_tries_uncached(s, own, rma_keeps_order(&slot->client)))
		return false;
	own->uncached++;
	return uncached_enter(s, slot);
}

/* H3: whether the holders in W that exclude the client leave within a few looks. The client does
 * not look while others wait in QUEUE, or the node keeps the queue of nodes, since it would pass
 * those that wait. */
static bool is_left_soon(struct lock_slot *slot, int *looks)
{
	if (cached_look(slot, LINE_QUEUE) || (near_get(slot) & (KEEPS | STRICT)))
		return false;
	return rma_look_often(&slot->client, cached_word(slot, LINE_W), near_others(slot), RMA_EQ,
			      0, looks);
}

/* W excludes the client, or MODE does not admit it, as n says. */
static int enter_slowly(const struct lock_setup *s, struct lock_slot *slot, enum near n,
			bool counted)
{
	struct cached_slot *own = lock_own(slot);
	int looks = is_ahead(slot) ? 0 : policy_looks(own);
	bool late = false;

	own->beside = 0;
	n = near_drain(s, slot, n);
	while (n != NEAR_IN) {
		own->looks = true;
		/* A sharer whose node has been recalled changes neither W nor QUEUE until all
		 * sharers of the node come in, so it only reads the line. (By the command
		 * in policy.h, ecsb 0.2 and ecsb 1: 22.1 and 18.8, 20.8 and 16.5 if it takes the
		 * line.) */
		own->waited = n == NEAR_WAIT || slot->mode == PAWL_SHARED;
		slot->from = origin(s, slot);
		if (counted)
			leave_take_back(s, slot);
		if (take_handed(s, slot, false) || leave_join(s, slot, false, false))
			return PAWL_SUCCESS;
		if ((n != NEAR_WAIT || !is_left_soon(slot, &looks)) &&
		    ((n == NEAR_WAIT && !has_promise(slot)) ||
		     (!first_is_news(s, slot) && !await_mode(slot, &late)) || late))
			break;
		n = near_hit(s, slot, false, &counted);
		n = near_drain(s, slot, n);
	}
	if (n == NEAR_IN)
		return PAWL_SUCCESS;
	if (late)
		return PAWL_ERR_TIMEOUT;
	if (n == NEAR_MISS && enters_uncached(s, slot))
		return PAWL_SUCCESS;
	return is_ahead(slot) ? enter_ahead(s, slot) : queue_up(s, slot);
}

static RMA_SLOW_PATH int acquire_slowly(const struct lock_setup *s, struct lock_slot *slot,
					enum near n, bool counted, uint64_t since)
{
	struct cached_slot *own = lock_own(slot);
	const uint64_t begin = since ? since : rma_clock(&slot->client);
	int rc;

	policy_note_return(own, begin);
	rc = enter_slowly(s, slot, n, counted);
	own->since_ns = rma_clock(&slot->client);
	if (own->trip_ns && rc == PAWL_SUCCESS)
		policy_note_wait(own, begin, own->since_ns, is_exclusive(slot));
	return rc;
}

static int acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	struct cached_slot *own = lock_own(slot);
	/* Before it waits for the line of W, which says nothing about how soon it has come back. */
	const uint64_t begin = own->looks ? rma_clock(&slot->client) : 0;
	bool counted;
	enum near n;

	find_words(s, slot);
	policy_note_acquire(own, is_exclusive(slot), slot->acquires);
	n = near_hit(s, slot, false, &counted);
	if (__builtin_expect(n != NEAR_IN, 0))
		return acquire_slowly(s, slot, n, counted, begin);
	own->looks = own->waited = false;
	return PAWL_SUCCESS;
}

/* T7: a try finds another node's place in TAIL, and takes the queue over if sharers keep it there.
 */
static int try_behind(const struct lock_setup *s, struct lock_slot *slot, int64_t tail)
{
	const uint64_t past = 1;
	enum nodes n = NODES_NONE;
	int64_t dir = 0;

	if (!excludes_sharers(slot) && take_is_kept(s, slot, nodes_last(tail)))
		n = nodes_try_behind(s, slot, tail, &dir);
	if (n == NODES_NONE)
		return pass_head(s, slot, PAWL_ERR_BUSY);
	if (n == NODES_LATE) {
		take_over(s, slot, 0);
		if (nodes_are_granted(slot, &dir))
			n = NODES_HEAD;
	}
	if (n == NODES_HEAD && recall_enter(s, slot, &dir, past) == PAWL_SUCCESS)
		return pass_head(s, slot, PAWL_SUCCESS);
	return leave_place(s, slot, n, dir, PAWL_ERR_BUSY);
}

/* A try of the head of the queue of its node. */
static int try_as_head(const struct lock_setup *s, struct lock_slot *slot)
{
	const uint64_t past = 1;
	bool counted, miss;
	int64_t w, tail, dir;
	enum near n;

	if (nodes_take_place(slot)) /* D1 */
		return leave_place(s, slot, NODES_LATE, 0, PAWL_ERR_BUSY);
	do {
		n = near_hit(s, slot, true, &counted);
		if (n == NEAR_IN)
			return pass_head(s, slot, PAWL_SUCCESS);
		if (counted)
			leave_take_back(s, slot);
		w = near_get(slot);
		miss = misses(slot, w, counted);
		/* Not refused any more: a directory came into TAIL in between (P1, L5). */
	} while (n == NEAR_MISS && !miss && !(w & (EXCLUSIVE | KEEPS)));
	if (miss && !nodes_are_none(s, slot, &tail, &dir))
		return try_behind(s, slot, tail);
	if (!miss || !recall_is_idle(s, slot, dir) || !nodes_try_enter(slot, tail, dir))
		return pass_head(s, slot, PAWL_ERR_BUSY);
	if (!tail)
		dir = first_dir_of_tail(s, slot, tail); /* after the swap (F3) */
	if (recall_enter(s, slot, &dir, past) == PAWL_SUCCESS)
		return pass_head(s, slot, PAWL_SUCCESS);
	return leave_place(s, slot, NODES_HEAD, dir, PAWL_ERR_BUSY);
}

static int try_acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	bool counted;
	enum near n;

	find_words(s, slot);
	n = near_hit(s, slot, false, &counted);
	if (n == NEAR_IN)
		return PAWL_SUCCESS;
	if (counted)
		leave_take_back(s, slot);
	if (leave_join(s, slot, false, true))
		return PAWL_SUCCESS;
	if (n == NEAR_MISS && enters_uncached(s, slot))
		return PAWL_SUCCESS;
	if (n == NEAR_WAIT || mcs_try_enter(slot, RMA_NODE, cached_queue(slot)))
		return PAWL_ERR_BUSY;
	return try_as_head(s, slot);
}

static bool settled(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct cached_slot *own = lock_own(slot);

	(void)s;
	return rma_answered(&slot->client, &own->seen);
}

/* -------------------------------------------------------------------- parts */

static int acquire_part(const struct lock_setup *s, struct lock_slot *whole, struct lock_slot *part)
{
	part->code = PAWL_SUCCESS;
	whole->code = acquire(s, whole);
	if (whole->code != PAWL_SUCCESS)
		return PAWL_ERR_TIMEOUT;
	part->code = acquire(s, part);
	if (part->code == PAWL_SUCCESS)
		return PAWL_SUCCESS;
	whole->code = FAULT(cached_intent) ? PAWL_SUCCESS : leave_release(s, whole);
	return PAWL_ERR_TIMEOUT;
}

static int release_part(const struct lock_setup *s, struct lock_slot *whole, struct lock_slot *part)
{
	int left = leave_release(s, part), rc = leave_release(s, whole);

	return left == PAWL_SUCCESS ? rc : left;
}

/* ------------------------------------------------------------------ the simulator */

/* The rank that keeps the node's line, and the line's index there. */
static int keeper_of(const struct lock_setup *s, uint64_t lock, int node, uint64_t *line)
{
	uint64_t index;
	int home;

	lock_home(s, lock, &home, &index);
	return cached_line(s, lock, home, node_of(s, home), index, node, line);
}

static int64_t *line_of(const struct lock_setup *s, const struct lock_memory *m, uint64_t lock,
			int node)
{
	const struct cached_constants *k = s->state;
	uint64_t line;
	int rank = keeper_of(s, lock, node, &line);

	return lock_memory_word(m, rank, k->lines + line * LINE_BYTES);
}

static int64_t *notes_of(const struct lock_setup *s, const struct lock_memory *m, uint64_t lock,
			 int node)
{
	const struct cached_constants *k = s->state;
	uint64_t line;
	int rank = keeper_of(s, lock, node, &line);

	return lock_memory_word(m, rank, lock_area_base(s, &k->notes, rank) + line * NOTES_BYTES);
}

/* The number of each node is about to wrap. */
static void age(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m)
{
	const struct cached_constants *k = s->state;

	for (int j = 0; j < k->nodes; j++)
		*notes_of(s, m, lock, j) = NUMBER - 1;
}

static bool idle(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m, char *err,
		 size_t errlen)
{
	const struct cached_constants *k = s->state;
	int64_t tail, mode, dir;
	const int64_t *line;
	uint64_t index;
	int home;

	lock_home(s, lock, &home, &index);
	tail = line_of(s, m, lock, node_of(s, home))[LINE_TAIL / 8];
	snprintf(err, errlen, "UNCACHED is 0x%llx",
		 (unsigned long long)notes_of(s, m, lock, node_of(s, home))[NOTES_UNCACHED / 8]);
	if (notes_of(s, m, lock, node_of(s, home))[NOTES_UNCACHED / 8])
		return false;
	snprintf(err, errlen, "TAIL is 0x%llx", (unsigned long long)tail);
	if (tail && !(tail & FREE))
		return false;
	dir = tail ? dir_of_tail(tail) : 0;
	for (int j = 0; j < k->nodes; j++) {
		line = line_of(s, m, lock, j);
		mode = line[LINE_MODE / 8];
		snprintf(err, errlen, "node %d: W 0x%llx, QUEUE 0x%llx, MODE 0x%llx; TAIL 0x%llx",
			 j, (unsigned long long)line[0], (unsigned long long)line[1],
			 (unsigned long long)mode, (unsigned long long)tail);
		if ((line[0] & (HOLDERS | KEEPS | AWAITED | STRICT)) || line[1] ||
		    ((mode >> BACK_SHIFT) & MODE_MASK))
			return false;
		if ((mode & MODE_MASK) != MODE_N &&
		    !(dir_is_open(dir) && dir_has(dir, j) && (mode & MODE_MASK) == dir_mode(dir)))
			return false;
		/* What says that the home's node has X is TAIL. */
		if (j == node_of(s, home) && (mode & MODE_MASK) == MODE_X)
			return false;
	}
	return true;
}

const struct lock_protocol lock_cached = {
    .kind = ADAPTIVE_KIND,
    .options = adaptive_options,
    .state_bytes = sizeof(struct cached_constants),
    .layout = layout,
    .describe = describe,
    .scratch_words = scratch_words,
    .acquire = acquire,
    .try_acquire = try_acquire,
    .release = leave_release,
    .settled = settled,
    .timed = &(const struct lock_timed_calls){.resume = resume, .passed = passed},
    .part = &(const struct lock_part_calls){.acquire = acquire_part, .release = release_part},
    .check = &(const struct lock_check_calls){.idle = idle, .age = age},
};
