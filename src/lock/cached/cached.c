/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kind cached, experimental: lock caching. Nodes cache a lock in mode N, S, I or X; another node
 * recalls it; the home has the directory. README has the words, the rules H1 to P2, the argument,
 * and the costs.
 *
 * This file has the calls of a client: a hit, the queue of the node and its head, tries, clients
 * ahead.
 *
 * Progress: starvation-free if holders release. A client ahead waits for holders, and while
 * exclusive clients hand the lock over to each other.
 *
 * Several locks at a time are acquired one after the other. Not supported: recovery.
 *
 * Bounds: 2^14 - 1 clients of a node at one lock, and 2^20 - 1 nodes; a table with more is refused.
 *
 * Model: models/cached.pml.
 */
#include "lock/cached/leave.h"
#include "lock/cached/recall.h"

#include <inttypes.h>
#include <stdio.h>

/* What a client that becomes the head of its node's queue is told: no place has been left for it
 * (D1), or it has to look. */
enum { HEAD_LOOKS = 0, HEAD_NOW = 1, HEAD_HAS_PLACE = 2 };

/* Lines at the ranks that have the home's place in their nodes. */
static uint64_t lines_beside_homes(struct lock_setup *s, struct cached_constants *k)
{
	int least = s->topo->nranks, most = 1;

	for (int j = 0; j < k->nodes; j++) {
		int size = topo_size(s->topo, k->node_level, j);

		least = size < least ? size : least;
		most = size > most ? size : most;
	}
	k->wraps = (most + least - 1) / least;
	return lock_reserve(s, (uint64_t)k->nodes * (uint64_t)k->wraps * s->block, LINE_BYTES);
}

/* Whether W has room for the clients of each node. */
static bool counts_clients(const struct lock_setup *s, int node_level, char *err, size_t errlen)
{
	int nodes = node_level ? s->topo->level[node_level - 1].count : 0;
	uint64_t ranks = (uint64_t)s->topo->nranks, each = s->clients / ranks;

	for (int j = 0; j < nodes; j++)
		if ((uint64_t)topo_size(s->topo, node_level, j) * each > MOST_CLIENTS)
			return lock_counts_clients(s, MOST_CLIENTS, err, errlen);
	return nodes || each <= MOST_CLIENTS || lock_counts_clients(s, MOST_CLIENTS, err, errlen);
}

static int layout(struct lock_setup *s, char *err, size_t errlen)
{
	const struct cached_options *o = lock_options(s);
	struct cached_constants *k;

	if (s->domain == RMA_NODE ? !lock_counts_clients(s, MOST_CLIENTS, err, errlen)
				  : !counts_clients(s, lock_node_level(s), err, errlen))
		return PAWL_ERR_OPTION;
	if (o->stay > MOST_STAY) {
		snprintf(err, errlen,
			 "cached: option stay is %" PRId64 ", and has to be in -1 to %d", o->stay,
			 MOST_STAY);
		return PAWL_ERR_OPTION;
	}
	k = lock_constants(s, sizeof *k, err, errlen);
	if (!k)
		return PAWL_ERR_NOMEM;
	k->alone = s->domain == RMA_NODE;
	if (k->alone) {
		k->lines = lock_reserve(s, s->block, NEAR_BYTES);
		return PAWL_SUCCESS;
	}
	k->node_level = lock_node_level(s);
	k->nodes = k->node_level ? s->topo->level[k->node_level - 1].count : s->topo->nranks;
	if (k->nodes >= NODE_MASK) {
		snprintf(err, errlen, "cached has room for %lld nodes, and there are %d",
			 (long long)NODE_MASK - 1, k->nodes);
		return PAWL_ERR_OPTION;
	}
	if (!k->node_level)
		k->lines = lock_reserve(s, s->n, LINE_BYTES);
	else if (s->n == 1 || s->home == LOCK_HOME_MAP)
		k->lines = lock_reserve_at_level(s, k->node_level, LINE_BYTES);
	else
		k->lines = lines_beside_homes(s, k);
	k->homes = lock_reserve(s, s->block, HOME_BYTES);
	k->vote = lock_reserve(s, 1, sizeof(int64_t));
	return PAWL_SUCCESS;
}

static uint64_t scratch_words(const struct lock_setup *s)
{
	const struct cached_constants *k = s->state;

	return SCRATCH_EACH * (uint64_t)k->nodes;
}

static int node_of(const struct lock_setup *s, int rank)
{
	const struct cached_constants *k = s->state;

	return k->node_level ? topo_element(s->topo, rank, k->node_level) : rank;
}

static void find_words(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct cached_constants *k = s->state;
	struct cached_slot *own = lock_own(slot);
	struct rma_client *c = &slot->client;

	if (own->last == slot->lock + 1)
		return;
	if (!own->last)
		policy_start(own);
	own->last = slot->lock + 1;
	if (k->alone) {
		own->w = lock_home_word(s, c, RMA_NODE, k->lines, NEAR_BYTES, slot->lock);
		return;
	}
	lock_home(s, slot->lock, &own->home_rank, &own->home_index);
	own->me = node_of(s, c->rma->rank);
	own->home = node_of(s, own->home_rank);
	own->w = cached_word_at(s, slot, own->me, LINE_W);
	own->tail =
	    rma_word(c->rma, RMA_NET, own->home_rank, k->homes + own->home_index * HOME_BYTES);
}

/* ------------------------------------------------------------- the queue of the node */

static struct rma_word queue(struct lock_slot *slot)
{
	return cached_word(slot, LINE_QUEUE);
}

/* The head leaves the queue of its node. */
static int pass_head(const struct lock_setup *s, struct lock_slot *slot, int code)
{
	int64_t succ;

	if (!mcs_leave(slot, RMA_NODE, queue(slot), &succ) &&
	    mcs_hand_over(s, slot, RMA_NODE, queue(slot), succ, HEAD_NOW))
		return code;
	/* Pairs with L1. */
	if (code != PAWL_SUCCESS)
		leave_what_was_handed(s, slot);
	return code;
}

/* L1: W has been handed over to the node. */
static bool take_handed(const struct lock_setup *s, struct lock_slot *slot, bool is_head)
{
	/* Where sharers are many, they are to enter together, from the queue. */
	if (!is_head && !is_exclusive(slot) && policy_shares(lock_own(slot)))
		return false;
	if (!is_head && FAULT(cached_awaited)) /* else a client that comes later mends it */
		return false;
	if (!near_take_handed(slot, is_head))
		return false;
	if (!is_exclusive(slot))
		recall_share_handed(s, slot, is_head);
	return true;
}

/* The head does not await W any more. False: W has been handed over. */
static bool stop_awaiting(struct lock_slot *slot)
{
	int64_t w;

	do {
		w = near_get(slot);
		if ((w & HANDED) && !FAULT(cached_awaited))
			return false;
	} while (!near_swap(slot, w, w & ~HEADS));
	return true;
}

/* Whether the node has to ask for the lock, if W is this. refused: MODE was open, and then closed
 * before the client was in; it could be so again and again. */
static bool misses(const struct lock_setup *s, struct lock_slot *slot, int64_t w, bool refused)
{
	return !cached_is_alone(s) && !(w & (EXCLUSIVE | KEEPS)) &&
	       (refused || !cached_admits(s, slot));
}

/* Wait for W. False: the deadline has passed. */
static bool await_w(struct lock_slot *slot)
{
	static const char what[] = "clients of its node to leave";
	struct rma_word word = cached_word(slot, LINE_W);
	int64_t w = near_get(slot), others = near_others(slot) | KEEPS;

	if (!(w & AWAITED)) {
		near_swap(slot, w, w | AWAITED);
		return true; /* and the caller looks again */
	}
	if (!(w & others) || (w & HANDED))
		return true;
	/* The count of intents shared is in the upper half. While one is in, W is not handed over.
	 */
	if (!(w & others & ~LOOKS))
		return rma_await_until(&slot->client, word, LOOKS, RMA_EQ, 0, RMA_SOON,
				       slot->deadline_ns, what, &w);
	return rma_await_until(&slot->client, word, HOLDERS | KEEPS, RMA_NE, w & (HOLDERS | KEEPS),
			       RMA_SOON, slot->deadline_ns, what, &w);
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
		if (mcs_hand_over(s, slot, RMA_NODE, queue(slot), succ, HEAD_HAS_PLACE) ||
		    mcs_try_enter(slot, RMA_NODE, queue(slot)))
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
	if (*n == NEAR_IN)
		return true;
	if (counted)
		leave_take_back(s, slot);
	return near_join(s, slot, is_head);
}

/* The client is the head of the queue of its node, which needs the lock from others. */
static int get_from_nodes(const struct lock_setup *s, struct lock_slot *slot, bool has_place)
{
	int64_t dir = 0;
	enum nodes n;
	enum near how;
	int rc = PAWL_ERR_TIMEOUT;

	while ((n = nodes_enter(s, slot, has_place, &dir)) == NODES_OPEN) {
		if (hits(s, slot, true, &how))
			return leave_place(s, slot, n, 0, PAWL_SUCCESS);
		has_place = true;
	}
	if (n == NODES_HEAD)
		rc = recall_enter(s, slot, &dir, slot->deadline_ns);
	return rc == PAWL_SUCCESS ? pass_head(s, slot, rc) : leave_place(s, slot, n, dir, rc);
}

/* The client is the head of the queue of its node. */
static int be_head(const struct lock_setup *s, struct lock_slot *slot, int64_t told)
{
	bool counted, refused = false;
	enum near n;

	if (told != HEAD_NOW && !cached_is_alone(s) && nodes_take_place(slot)) /* D1 */
		return get_from_nodes(s, slot, true);
	for (;;) {
		if (take_handed(s, slot, true) || near_join(s, slot, true))
			return pass_head(s, slot, PAWL_SUCCESS);
		if (misses(s, slot, near_get(slot), refused)) {
			if (!stop_awaiting(slot))
				continue;
			return get_from_nodes(s, slot, false);
		}
		n = near_hit(s, slot, true, &counted);
		if (n == NEAR_IN)
			return pass_head(s, slot, PAWL_SUCCESS);
		if (counted)
			leave_take_back(s, slot);
		refused |= n == NEAR_MISS && counted;
		if (!await_w(slot)) {
			if (!stop_awaiting(slot))
				continue;
			return pass_head(s, slot, PAWL_ERR_TIMEOUT);
		}
	}
}

/* A: a client that waits for holders, and for no client that waits. */
static int enter_ahead(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_word mode = cached_word(slot, LINE_MODE);
	uint64_t look_ns = LOOK_NS;
	int64_t seen, was;
	enum near n;

	for (;; look_ns = cached_longer(look_ns)) {
		was = cached_is_alone(s) ? 0 : cached_look(slot, LINE_MODE);
		if (hits(s, slot, false, &n))
			return PAWL_SUCCESS;
		if (n == NEAR_WAIT || slot_is_late(slot))
			return PAWL_ERR_TIMEOUT;
		if (!mcs_try_enter(slot, RMA_NODE, queue(slot))) { /* A5 */
			bool has_place = nodes_take_place(slot);

			if (has_place || misses(s, slot, near_get(slot), false))
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
	int64_t pred = mcs_enter(slot, RMA_NODE, queue(slot)), told = HEAD_LOOKS;

	if (pred) {
		mcs_link(s, slot, RMA_NODE, pred);
		if (!mcs_await_grant(slot, RMA_NODE, &told))
			return LOCK_QUEUED;
	}
	return be_head(s, slot, told);
}

static int resume(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t told;
	int rc = mcs_resume(slot, RMA_NODE, MCS_ABANDONED);

	if (rc != PAWL_SUCCESS)
		return rc;
	return mcs_await_grant(slot, RMA_NODE, &told) ? be_head(s, slot, told) : LOCK_QUEUED;
}

static bool passed(const struct lock_setup *s, struct lock_slot *slot)
{
	(void)s;
	return mcs_passed(slot, RMA_NODE);
}

/* ------------------------------------------------------------------------ the calls */

/* B. Whether the client, which MODE does not admit, is to look again. *late: the deadline has
 * passed. */
static bool await_mode(struct lock_slot *slot, bool *late)
{
	struct cached_slot *own = lock_own(slot);
	int64_t mode = cached_look(slot, LINE_MODE), seen;

	*late = false;
	if (is_ahead(slot) || !mode_permits(slot, mode >> BACK_SHIFT) ||
	    own->beside++ >= MOST_BESIDE)
		return false;
	*late =
	    !rma_await_until(&slot->client, cached_word(slot, LINE_MODE), -1, RMA_NE, mode,
			     RMA_SOON, slot->deadline_ns, "its node to have the lock back", &seen);
	return true;
}

static int acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	struct cached_slot *own = lock_own(slot);
	bool counted, late = false;
	enum near n;

	find_words(s, slot);
	policy_note_acquire(own, is_exclusive(slot));
	own->beside = 0;
	do {
		n = near_hit(s, slot, false, &counted);
		if (__builtin_expect(n == NEAR_IN, 1)) {
			own->looks = false;
			return PAWL_SUCCESS;
		}
		own->looks = true;
		if (counted)
			leave_take_back(s, slot);
		if (take_handed(s, slot, false) || near_join(s, slot, false))
			return PAWL_SUCCESS;
	} while (n == NEAR_MISS && (first_is_news(s, slot) || (await_mode(slot, &late) && !late)));
	if (late)
		return PAWL_ERR_TIMEOUT;
	return is_ahead(slot) ? enter_ahead(s, slot) : queue_up(s, slot);
}

/* A try of the head of the queue of its node. */
static int try_as_head(const struct lock_setup *s, struct lock_slot *slot)
{
	const uint64_t past = 1;
	bool counted, miss;
	int64_t w, tail, dir;
	enum near n;

	if (!cached_is_alone(s) && nodes_take_place(slot)) /* D1 */
		return leave_place(s, slot, NODES_LATE, 0, PAWL_ERR_BUSY);
	do {
		n = near_hit(s, slot, true, &counted);
		if (n == NEAR_IN)
			return pass_head(s, slot, PAWL_SUCCESS);
		if (counted)
			leave_take_back(s, slot);
		w = near_get(slot);
		miss = misses(s, slot, w, counted);
		/* Not refused any more: a directory came into TAIL in between (P1, L5). */
	} while (n == NEAR_MISS && !miss && !(w & (EXCLUSIVE | KEEPS)));
	if (!miss || !nodes_are_none(s, slot, &tail, &dir) || !recall_is_idle(s, slot, dir) ||
	    !nodes_try_enter(slot, tail, dir))
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
	if (n == NEAR_WAIT || mcs_try_enter(slot, RMA_NODE, queue(slot)))
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

static int64_t *line_of(const struct lock_setup *s, const struct lock_memory *m, uint64_t lock,
			int node)
{
	const struct cached_constants *k = s->state;
	uint64_t index, line;
	int home, rank;

	lock_home(s, lock, &home, &index);
	rank = cached_line(s, lock, home, index, node, &line);
	return lock_memory_word(m, rank, k->lines + line * LINE_BYTES);
}

/* The number of each node is about to wrap. */
static void age(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m)
{
	const struct cached_constants *k = s->state;

	for (int j = 0; j < k->nodes; j++)
		line_of(s, m, lock, j)[LINE_NOTES / 8] = NUMBER - 1;
}

static bool idle(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m, char *err,
		 size_t errlen)
{
	const struct cached_constants *k = s->state;
	int64_t tail, mode, dir;
	const int64_t *line;
	uint64_t index;
	int home;

	if (k->alone) {
		line = lock_memory_home(s, m, k->lines, NEAR_BYTES, lock);
		snprintf(err, errlen, "W is 0x%llx, QUEUE 0x%llx", (unsigned long long)line[0],
			 (unsigned long long)line[1]);
		return !(line[0] & (HOLDERS | KEEPS | AWAITED | STRICT)) && !line[1];
	}
	tail = *lock_memory_home(s, m, k->homes, HOME_BYTES, lock);
	snprintf(err, errlen, "TAIL is 0x%llx", (unsigned long long)tail);
	if (tail && !(tail & FREE))
		return false;
	lock_home(s, lock, &home, &index);
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
		if (j == node_of(s, home) && ((mode & MODE_MASK) == MODE_X || (mode & WANT)) &&
		    dir_owner(dir) == j)
			return false;
	}
	return true;
}

static const struct option_spec options[] = {
    LOCK_NUMBER(struct cached_options, stay, "stay", -1, 1048575, "-1 (64)",
		"further acquires by waiting clients of a node while other nodes wait"),
    LOCK_OPTIONS_END,
};

const struct lock_protocol lock_cached = {
    .kind =
	{
	    .name = "cached",
	    .summary = "experimental: nodes cache the lock, and others recall it",
	    .reference = "VAX lock manager (Digital Technical Journal 5, 1987)",
	    .capabilities =
		PAWL_CAP_SHARED | PAWL_CAP_INTENT | PAWL_CAP_TRY | PAWL_CAP_TIMED | PAWL_CAP_FAIR,
	},
    .options = options,
    .layout = layout,
    .scratch_words = scratch_words,
    .acquire = acquire,
    .try_acquire = try_acquire,
    .release = leave_release,
    .settled = settled,
    .timed = &(const struct lock_timed_calls){.resume = resume, .passed = passed},
    .part = &(const struct lock_part_calls){.acquire = acquire_part, .release = release_part},
    .check = &(const struct lock_check_calls){.idle = idle, .age = age},
};
