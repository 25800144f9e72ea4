/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of kind adaptive, and the interface between its parts: adaptive.c, the level of a node;
 * adaptive_layout.c, the places of the words; head.c, the head of a node's queue; counts.c, the
 * modes other than exclusive on one node; direct.c, hand-overs without making W free; packages.c,
 * queues of the packages of a node; runs.c and turns.c, one node whose clients acquire a lock again
 * and again; kept_root.c, the level above; guests.c, the use of a lock at another node; sharing.c,
 * the modes other than exclusive on several nodes; shares.c, by which the sharers of a node enter;
 * first.c, the shares that are open at first; phases.c, how long the lock stays in a mode. */
#ifndef LOCK_ADAPTIVE_ADAPTIVE_H
#define LOCK_ADAPTIVE_ADAPTIVE_H

#include "lock/mcs/mcs.h"

struct adaptive_options {
	int64_t patience; /* microseconds; -1: the lock decides */
	int64_t stay;     /* acquires; -1: the lock decides */
};
_Static_assert(sizeof(struct adaptive_options) <= LOCK_OPTION_BYTES, "the options fit");

/* The words of a lock at a node: a line for each lock and node. A table of one node has only W and
 * QUEUE, at the home. Only the client that has W changes NOTES. */
enum {
	LINE_W = 0,        /* NODE */
	LINE_QUEUE = 8,    /* NODE: the tail of the queue of clients (mcs.h) */
	LINE_NOTES = 16,   /* NODE: what the node has seen; below */
	LINE_SHARERS = 24, /* NODE: R (shares.c) */
	LINE_GUEST = 32,   /* NET: whether a client of another node uses the lock here (guests.c) */
	LINE_NEXT = 40,    /* NET: the next node */
	LINE_STATUS = 48,  /* NET: state of the node's place in the queue of nodes */
	LINE_GATE = 56,    /* NET: whether the node's share is open (shares.c) */
	NEAR_BYTES = 16,
	LINE_BYTES = 64,
	HOME_TAIL = 0,    /* at the home, NET: 1 + the last node; 0: the home's own node */
	HOME_SHARING = 8, /* at the home, NET: H (sharing.c) */
	HOME_BYTES = 16
};
_Static_assert(LINE_QUEUE + 8 == NEAR_BYTES && LINE_NOTES == NEAR_BYTES &&
		   LINE_SHARERS == LINE_NOTES + 8 && LINE_GUEST == LINE_SHARERS + 8 &&
		   LINE_NEXT == LINE_GUEST + 8 && LINE_STATUS == LINE_NEXT + 8 &&
		   LINE_GATE == LINE_STATUS + 8 && LINE_GATE + 8 <= LINE_BYTES,
	       "the words of a line do not overlap and fit into it");

/* NOTES of the node that has the root. */
enum {
	NOTES_SEEN_BITS = 32, /* the low half of GUEST, without SHARERS, as last dealt with */
	/* How many times W was SHUT since the node got the root; if the lock decides how long a
	 * stay is, when W was first SHUT, in units of 2^STAY_UNIT ns, or 0. */
	NOTES_STAYS_SHIFT = 32,
	NOTES_STAYS_BITS = 20
};
/* Of another node. */
enum {
	NOTES_HOST_BITS = 24,    /* 1 + where its guests look for the root; 0: at the home's node */
	NOTES_VISITS_SHIFT = 24, /* exclusive guests there in a row */
	NOTES_VISITS_BITS = 4,
	NOTES_SHARED_SHIFT = 28, /* guests that share, since the opening EPOCH of its share */
	NOTES_SHARED_BITS = 4,
	NOTES_EPOCH_SHIFT = 32,
	NOTES_EPOCH_BITS = 8,
	NOTES_MIXED_SHIFT = 61 /* 1: the mode changed often when the root left the node */
};
/* Of both. */
enum {
	NOTES_SKIPS_SHIFT = 52, /* clients that are to queue without a visit */
	NOTES_SKIPS_BITS = 4,
	NOTES_TRIP_SHIFT = 56, /* a round trip when the node last queued took 2^TRIP ns or less; */
	NOTES_TRIP_BITS = 5    /* 0: none is known */
};
/* TRIP at most, and what stands for 0. If the lock decides: for how many round trips a node keeps
 * the root, and a client is patient with holders in another mode; up to twice as many, as TRIP is
 * rounded up. */
enum { LONGEST_TRIP = 22, USUAL_TRIP = 12, STAY_TRIPS = 64, SHARED_TRIPS = 4 };
_Static_assert(LONGEST_TRIP < 1 << NOTES_TRIP_BITS, "a round trip fits into its field");
#define NOTES_FIELD(shift, bits) (((INT64_C(1) << (bits)) - 1) << (shift))
#define NOTES_SEEN NOTES_FIELD(0, NOTES_SEEN_BITS)
#define NOTES_STAYS NOTES_FIELD(NOTES_STAYS_SHIFT, NOTES_STAYS_BITS)
#define NOTES_HOST NOTES_FIELD(0, NOTES_HOST_BITS)
#define NOTES_VISITS NOTES_FIELD(NOTES_VISITS_SHIFT, NOTES_VISITS_BITS)
#define NOTES_SHARED NOTES_FIELD(NOTES_SHARED_SHIFT, NOTES_SHARED_BITS)
#define NOTES_EPOCH NOTES_FIELD(NOTES_EPOCH_SHIFT, NOTES_EPOCH_BITS)
#define NOTES_SKIPS NOTES_FIELD(NOTES_SKIPS_SHIFT, NOTES_SKIPS_BITS)
#define NOTES_MIXED NOTES_FIELD(NOTES_MIXED_SHIFT, 1)
#define NOTES_TRIP NOTES_FIELD(NOTES_TRIP_SHIFT, NOTES_TRIP_BITS)

/* W: HELD or a free value, the bits of the head of the queue, and, on a table of one node, the
 * numbers of sharers, of intents exclusive and of intents shared. H has HELD, GUESTS, STRICT,
 * SPLIT, the counts of intents of the same bits, and in the bits of the sharers the nodes with a
 * share. */
enum {
	W_HELD = 1,
	/* Before the first use: IDLE at the node of the home, elsewhere AWAY. The only free value
	 * on a table of one node. */
	W_NEW = 0,
	W_GONE = 2,    /* a deadline has passed at the node; its place may still be in that queue */
	W_SHUT = 4,    /* free only for clients of the node */
	W_IDLE = 6,    /* free, and the node has the root */
	W_HEAD = 8,    /* the queue has a head, which takes W if it is SHUT */
	W_STRICT = 16, /* only the head may take W */
	W_BITS = W_HEAD | W_STRICT,
	W_SPLIT = 32, /* of the root, if the node has it: sharing.c */
	/* Several nodes only, where W has no counts: */
	W_LOCAL = 64,    /* the root is whole, and this node has a share: shares.c */
	W_AWAY = 128,    /* a free value: the node has no place in the queue of nodes */
	W_CLOSED = 256,  /* the root is split, and in a batch: phases.c */
	BATCH_SHIFT = 9, /* how many clients the batch has had */
	BATCH_BITS = 20,
	W_FRESH = 1 << 29, /* the root is fresh: first.c */
	W_AHEAD = 1 << 30, /* an intent ahead of this node waits for W */
	W_FREE_MASK = W_GONE | W_SHUT | W_IDLE | W_AWAY,
	W_STATE = W_HELD | W_FREE_MASK,
	/* Of H: sharers of other nodes may be at a node whose bit is set (guests.c). */
	H_GUESTS = 2,
	COUNT_BITS = 19,
	SHARED_SHIFT = 6,
	INTENT_SHIFT = SHARED_SHIFT + COUNT_BITS,
	READERS_SHIFT = INTENT_SHIFT + COUNT_BITS,
	MOST_CLIENTS = (1 << COUNT_BITS) - 1
};
#define W_COUNT(shift) ((int64_t)MOST_CLIENTS << (shift))
#define W_SHARERS W_COUNT(SHARED_SHIFT)
#define W_INTENTS W_COUNT(INTENT_SHIFT)
#define W_READERS W_COUNT(READERS_SHIFT) /* intents shared */
#define W_COUNTS (W_SHARERS | W_INTENTS | W_READERS)
#define BATCH_ONE (INT64_C(1) << BATCH_SHIFT)
#define W_BATCH (((INT64_C(1) << BATCH_BITS) - 1) << BATCH_SHIFT)
/* What goes with the root, FRESH as far as the next node. */
#define W_ROOT ((int64_t)(W_SPLIT | W_LOCAL | W_CLOSED | W_FRESH) | W_BATCH)
_Static_assert(BATCH_SHIFT + BATCH_BITS <= 29, "FRESH is no bit of BATCH");
/* Tables of more nodes have no first shares. */
enum { FIRST_NODES = 16 };
_Static_assert((W_HELD | W_BITS | W_SPLIT) < 1 << SHARED_SHIFT && READERS_SHIFT + COUNT_BITS <= 63,
	       "the fields of W do not overlap, and W is never negative");

struct adaptive_constants {
	uint64_t lines, homes;
	uint64_t groups, reads; /* of first.c, */
	uint64_t groups_each;   /* and how many groups a home has; 0: there are no first shares */
	bool several;           /* the table has several nodes */
	int node_level;         /* level of the topology; 0: each node has one rank */
	int package_level;      /* the same of packages; 0: no package has a queue */
	uint64_t tails;         /* of the queues of packages */
	int nodes;
	int64_t free;      /* the value of W, in most cases, while no client uses the lock */
	int64_t free_mask; /* the bits of free values of W */
	bool keeps_order;  /* patience 0 */
	bool decides;      /* the option leaves patience to the lock */
	uint64_t patience; /* nanoseconds; if it decides, the longest */
};

/* A hand-over that takes longer, in ns, is slow. */
enum { SLOW_NS = 100000 };

/* How a holder has entered, on several nodes. */
enum adaptive_entry { BY_ROOT, BY_HOME, BY_SHARE, BY_GUEST };

/* How a client that has W came: by T1; from the queue, which it has left; or it is the head of the
 * queue (K1). */
enum adaptive_place { PLACE_NONE, PLACE_LEFT, PLACE_KEPT };

/* A slot's own part, which lasts from one acquire to the next. */
struct adaptive_slot {
	_Atomic(int64_t) *w;   /* W of lock number last - 1, if the process has it mapped */
	uint64_t last;         /* 1 + the lock for which w and queue were found; 0: w is NULL */
	struct rma_word queue; /* the tail of its node's queue, from which it finds the others */
	union {
		uint64_t shared; /* several nodes: 1 + the lock that it shared last */
		uint64_t had;    /* one: the lock that it had last after it had not been free, */
	};
	uint64_t looked; /* when it saw last that others queue; 0: they do not, or a new turn */
	union {
		uint64_t turn; /* one node: for how long it has run while others queue */
		uint64_t uses; /* several: how often the shares of `reopens` had been used */
	};
	int64_t behind;      /* the next client of its node, if it has inherited its place, or 0; or
			      * PLACE_OWN (packages.c) */
	bool excluded;       /* as a sharer of one node, when it counted itself last (S1) */
	bool is_absent : 1;  /* it did not come back soon when this was last measured (direct.c) */
	bool is_quick : 1;   /* one node: it acquired again and again at once (runs.c), */
	bool times : 1;      /* and the next look measures the time since this acquire (turns.c) */
	bool is_away : 1;    /* several nodes: the home of lock number last - 1 is at another one */
	uint8_t yields : 4;  /* how often, as a sharer in this acquire, to a batch (phases.c) */
	uint8_t place;       /* an enum adaptive_place, from an acquire to its release */
	uint8_t handed;      /* so many hand-overs since W was looked at */
	uint8_t skip_direct; /* acquires until it hands W over directly again (direct.c) */
	uint8_t visits;  /* several nodes: how many of the first acquires were guests that share, */
	uint16_t shares; /* and how many of the last ones were shared, and exclusive (shares.c); on
			  * one node, of those that look (turns.c) */
	uint16_t away;   /* how many of the shared ones were of locks whose home is elsewhere */
	int16_t long_waits; /* so many waits are to be patient: hand-overs were slow */
	enum adaptive_entry entry;
	uint64_t left;    /* 1 + the lock that it released then, until it acquires one again; */
	uint64_t left_at; /* and when it did */
	union {
		uint32_t counted;  /* on several nodes: slot->acquires at the last shared one, */
		uint32_t had_then; /* one: slot->acquires then */
	};
	int host; /* a guest: the node where it is, */
	union {
		int64_t guest;   /* and GUEST there, as it saw it last; */
		uint64_t had_at; /* one node: when it had that lock, */
	};
	uint32_t exclusives;
	uint16_t reopens;    /* the nodes whose first shares the holder opens again (first.c) */
	uint8_t look_at;     /* which acquires look at its turn, by their number (turns.c) */
	bool resolves : 1;   /* a guest: it has closed them for good */
	bool in_package : 1; /* it is in the queue of its package, */
	uint8_t streak : 6;  /* by which so many have had W one after the other */
};
_Static_assert(sizeof(struct adaptive_slot) <= LOCK_OWN_BYTES, "it fits into a slot");

RMA_INLINE struct rma_word *adaptive_queue(struct lock_slot *slot)
{
	struct adaptive_slot *own = lock_own(slot);

	return &own->queue;
}

RMA_INLINE enum adaptive_entry *adaptive_entry(struct lock_slot *slot)
{
	struct adaptive_slot *own = lock_own(slot);

	return &own->entry;
}

/* What a holder in the slot's mode adds to W of a table of one node, or to H. */
RMA_INLINE int64_t adaptive_one(const struct lock_slot *slot)
{
	if (slot->mode == PAWL_EXCLUSIVE)
		return W_HELD;
	if (slot->mode == PAWL_SHARED)
		return INT64_C(1) << SHARED_SHIFT;
	return INT64_C(1) << (slot->mode & PAWL_INTENT_SHARED ? READERS_SHIFT : INTENT_SHIFT);
}

/* The holders that exclude it there. */
RMA_INLINE int64_t adaptive_others(const struct lock_slot *slot)
{
	if (slot->mode == PAWL_EXCLUSIVE)
		return FAULT(adaptive_readers) ? W_HELD | W_SHARERS | W_INTENTS : W_HELD | W_COUNTS;
	if (slot->mode == PAWL_SHARED)
		return W_HELD | W_INTENTS;
	if (FAULT(adaptive_beside) && (slot->mode & PAWL_INTENT_SHARED))
		return 0;
	return slot->mode & PAWL_INTENT_SHARED ? W_HELD : W_HELD | W_SHARERS;
}

/* The values of W for which this client has to wait. On several nodes a client takes W alone, in
 * whatever mode. */
RMA_INLINE int64_t adaptive_closed_to(const struct lock_setup *s, const struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;

	return k->several ? W_HELD : adaptive_others(slot);
}

RMA_INLINE const struct adaptive_options *adaptive_options_of(const struct lock_setup *s)
{
	return lock_options(s);
}

/* The node of a rank. */
RMA_INLINE int adaptive_node(const struct lock_setup *s, int rank)
{
	const struct adaptive_constants *k = s->state;

	return k->node_level ? topo_element(s->topo, rank, k->node_level) : rank;
}

/* The place of a node's line for a lock. */
RMA_INLINE int adaptive_line(const struct lock_setup *s, int node, uint64_t lock, uint64_t *offset)
{
	const struct adaptive_constants *k = s->state;

	if (!k->node_level) {
		*offset = k->lines + lock * LINE_BYTES;
		return node;
	}
	*offset = k->lines + topo_tail_index(s->topo, k->node_level, node, lock) * LINE_BYTES;
	return topo_tail_rank(s->topo, k->node_level, node, lock);
}

/* The node of a lock's home, which has the root at first. */
RMA_INLINE int adaptive_home_node(const struct lock_setup *s, uint64_t lock)
{
	uint64_t index;
	int rank;

	lock_home(s, lock, &rank, &index);
	return adaptive_node(s, rank);
}

/* A free value of W at this node, or its state: NEW stands for another one. */
RMA_INLINE int64_t adaptive_state(const struct lock_setup *s, const struct lock_slot *slot,
				  int64_t state)
{
	if (__builtin_expect(state != W_NEW, 1))
		return state;
	return adaptive_home_node(s, slot->lock) == adaptive_node(s, slot->client.rma->rank)
		   ? W_IDLE
		   : W_AWAY;
}

/* A word in the line of any node. */
RMA_INLINE struct rma_word adaptive_word_at(const struct lock_setup *s, struct lock_slot *slot,
					    enum rma_domain d, int node, uint64_t offset)
{
	uint64_t line;
	int rank = adaptive_line(s, node, slot->lock, &line);

	return rma_word(slot->client.rma, d, rank, line + offset);
}

/* The tail word in the line of the client's node; on a table of one node, at the home. */
RMA_INLINE struct rma_word adaptive_queue_of(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;
	struct rma_client *c = &slot->client;
	uint64_t offset;
	int rank;

	if (!k->several)
		return lock_home_word(s, c, RMA_NODE, k->lines + LINE_QUEUE, NEAR_BYTES,
				      slot->lock);
	rank = adaptive_line(s, adaptive_node(s, c->rma->rank), slot->lock, &offset);
	return rma_word(c->rma, RMA_NODE, rank, offset + LINE_QUEUE);
}

/* Another word of that line. */
RMA_INLINE struct rma_word adaptive_word(struct lock_slot *slot, int offset)
{
	struct rma_word w = *adaptive_queue(slot);

	w.offset += (uint64_t)(int64_t)(offset - LINE_QUEUE);
	if (w.map)
		w.map += (offset - LINE_QUEUE) / (int)sizeof(int64_t);
	if (offset >= LINE_GUEST) /* a NET word of this node */
		w.flags = 0;
	return w;
}

/* H. */
RMA_INLINE struct rma_word adaptive_home(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;

	return lock_home_word(s, &slot->client, RMA_NET, k->homes + HOME_SHARING, HOME_BYTES,
			      slot->lock);
}

RMA_INLINE int64_t adaptive_notes(struct lock_slot *slot)
{
	return rma_peek(&slot->client, adaptive_word(slot, LINE_NOTES));
}

/* How long a round trip takes, in ns, rounded up to a power of two. */
RMA_INLINE int64_t adaptive_trip_ns(int64_t notes)
{
	int64_t trip = (notes & NOTES_TRIP) >> NOTES_TRIP_SHIFT;

	return INT64_C(1) << (trip ? trip : USUAL_TRIP);
}

/* A compare-and-swap; what it found. */
RMA_INLINE int64_t adaptive_swap_if(struct lock_slot *slot, struct rma_word w, int64_t expected,
				    int64_t value)
{
	int64_t old;

	rma_cas(&slot->client, w, expected, value, &old);
	/* Orders the swap before the look at old; (B) of kept_root.c, (C) of guests.c. */
	rma_flush(&slot->client, w);
	return old;
}

/* The client has W. */
RMA_INLINE void adaptive_note(struct lock_slot *slot, int64_t notes)
{
	rma_poke(&slot->client, adaptive_word(slot, LINE_NOTES), notes);
}

/* A2, D1: whether NEXT is set, or GUEST is other than SEEN. */
RMA_INLINE bool adaptive_is_asked_for(struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	int64_t guest = rma_peek_ordered(c, adaptive_word(slot, LINE_GUEST));

	return ((guest ^ adaptive_notes(slot)) & NOTES_SEEN) != 0 ||
	       rma_peek_ordered(c, adaptive_word(slot, LINE_NEXT)) != 0;
}

/* R1: make W free. Wakes the head, which sleeps only after it has set STRICT, and intents ahead,
 * which are counted. */
RMA_INLINE void adaptive_free(struct lock_slot *slot, int64_t state)
{
	struct rma_word w = adaptive_word(slot, LINE_W);
	int64_t old;

	rma_fao(&slot->client, w, RMA_SUM, state - W_HELD, &old);
	if (__builtin_expect((old & (W_STRICT | W_COUNTS)) != 0, 0) && w.map)
		rma_wake(&slot->client, w);
}

/* The kind of a predecessor's grant: the client is the head of the queue, or has W, too, and then
 * perhaps as the next one of a batch. */
enum { HEAD_NOW = 1, HOLDER_NOW = 2, BATCH_NOW = 4, GRANT_KIND_BITS = 3 };
/* From this bit on, a grant of W has what packages.c needs. */
enum { GRANT_PACKAGE_SHIFT = 20 };
/* adaptive_slot.behind of a client that has no inherited place. */
enum { PLACE_OWN = -1 };

/* The client that takes W. */
enum adaptive_taker { TAKER_NEW, TAKER_HEAD, TAKER_AHEAD };

/* T1, T4: take W if it is free for this client; *was becomes its free value. */
bool adaptive_take(const struct lock_setup *s, struct lock_slot *slot, enum adaptive_taker taker,
		   int64_t *was);

/* The client has W: enter, on several nodes by way of the root. For observers, the lock comes from
 * a client of this node, unless the root says more (kept_root.c); from holders in another mode, if
 * the client awaits them last. */
RMA_SLOW_PATH int adaptive_enter(const struct lock_setup *s, struct lock_slot *slot, int64_t was);

/* D4: make W SHUT, if there is a head. Returns whether there is one. */
bool adaptive_shut(struct lock_slot *slot);

/* Tries before a client queues. */
#define ATTEMPTS ATTEMPTS_OR(16, 2)

/* ---------------------------------------------------------------------- adaptive_layout.c */

/* The functions of these names in struct lock_protocol and in its block `check`. */
int adaptive_layout(struct lock_setup *s, char *err, size_t errlen);
void adaptive_describe(const struct lock_setup *s, char *text, size_t len);
uint64_t adaptive_overtakes(const struct lock_setup *s, int mode);
bool adaptive_idle(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m,
		   char *err, size_t errlen);
void adaptive_age(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m);

/* --------------------------------------------------------------------------------- head.c */

/* The client is the head of the queue, and has W if the grant says so. */
int head_acquire(const struct lock_setup *s, struct lock_slot *slot, int64_t grant);

/* --------------------------------------------------------------------- counts.c, one node */

/* The clients that a client which takes back its count of W wakes if it finds them: the head, which
 * has set STRICT, and, if it was a sharer, intents exclusive that are ahead, which are counted. */
RMA_INLINE int64_t count_sleepers(const struct lock_slot *slot)
{
	return slot->mode == PAWL_SHARED ? W_STRICT | W_INTENTS : W_STRICT;
}

/* Take back a count of W. */
RMA_INLINE void count_leave(struct lock_slot *slot)
{
	struct rma_word w = adaptive_word(slot, LINE_W);
	int64_t old;

	rma_fao(&slot->client, w, RMA_SUM, -adaptive_one(slot), &old);
	if (__builtin_expect((old & count_sleepers(slot)) != 0, 0) && w.map)
		rma_wake(&slot->client, w);
}

/* Whether a sharer that S1 counted, where this was the value of W, is in. */
RMA_INLINE bool count_is_in(int64_t was)
{
	return !(was & (W_HELD | W_INTENTS | (FAULT(adaptive_strict) ? 0 : W_STRICT)));
}

/* S1 found the sharer excluded: take its count back. */
RMA_SLOW_PATH void count_take_back(struct lock_slot *slot);
/* S1 or T1, for a client that others in its mode do not exclude. */
bool count_at_once(struct lock_slot *slot);
/* C1, C2: an intent ahead: it is counted, and then waits for holders only. */
int count_ahead(struct lock_slot *slot);

/* ----------------------------------------------------------------------- runs.c, one node */

/* The client has the lock, which it had to wait for. */
void run_begin(struct lock_slot *slot);
/* It has found that lock, or another one, not free: see whether it is quick. */
void run_end(const struct lock_setup *s, struct lock_slot *slot);
RMA_INLINE bool run_is_quick(const struct lock_slot *slot)
{
	const struct adaptive_slot *own = (const void *)slot->own;

	return own->is_quick;
}
/* Whether a quick head that looks finds that no client takes W again and again. */
bool run_has_ended(struct lock_slot *slot);

/* ---------------------------------------------------------------------- turns.c, one node */

/* The acquires for each look at the turn; and the number of the acquire that looks, if none does.
 */
enum { ACQUIRES_PER_LOOK = 64, NO_LOOK = 255 };

/* Whether this acquire is one of those that look. */
RMA_INLINE bool turn_looks(const struct lock_slot *slot)
{
	const struct adaptive_slot *own = (const void *)slot->own;

	return slot->acquires % ACQUIRES_PER_LOOK == own->look_at;
}
/* Whether the client, which has the words of the lock, has had its turn while others queue. */
bool turn_is_over(const struct lock_setup *s, struct lock_slot *slot);

/* ------------------------------------------------------------------------------- direct.c */

/* Whether hand-overs without making W free are expected to take less time than a client that runs
 * takes to come back. */
bool direct_is_better(const struct lock_setup *s, struct lock_slot *slot);
/* K1: whether a client that has W is to remain the head of its queue until it has entered, and then
 * until it leaves. */
bool direct_may_keep(const struct lock_setup *s, struct lock_slot *slot, int64_t grant);
bool direct_keeps(const struct lock_setup *s, struct lock_slot *slot);
/* A client has been granted W by K2. Whether it is in, and remains the head. */
bool direct_joins(const struct lock_setup *s, struct lock_slot *slot, int64_t grant);
/* Whether the client has W and is the head of the queue (K1), and another one is behind it. */
bool direct_has_successor(struct lock_slot *slot);
/* K2, K3: hand W to the next client of the queue, and leave the queue. False: the client has left
 * the queue, and still has W. */
bool direct_hand_on(const struct lock_setup *s, struct lock_slot *slot);
/* The client is the head of the queue by this grant. */
void direct_note_grant(const struct lock_setup *s, struct lock_slot *slot, int64_t grant);
/* A client that came from the queue has released the lock. */
void direct_note_release(struct lock_slot *slot);
/* A client acquires a lock. Whether others are likely to be in its queue. */
bool direct_note_acquire(const struct lock_setup *s, struct lock_slot *slot);
/* An intent ahead has found W HELD: ask that W become free. Whether this client has to say when it
 * does not wait for W any more. */
bool direct_ask(struct lock_slot *slot);
void direct_stop_asking(struct lock_slot *slot);

/* ----------------------------------------------------------------------------- packages.c */

/* The level of the topology of which each package has a queue, or 0. */
int package_level(const struct lock_setup *s);
/* Whether a client is to queue at its package. */
bool package_is_used(const struct lock_setup *s, struct lock_slot *slot);
/* Queue there, or go on to wait there. False: the deadline has passed, and the place is abandoned.
 * *grant is HEAD_NOW: queue at the node; or else a grant of W. */
bool package_enter(const struct lock_setup *s, struct lock_slot *slot, int64_t *grant);
int package_resume(struct lock_slot *slot, int64_t *grant);
/* Leave the queue of the package, if the client is in it; the next client is to queue at the node.
 */
void package_leave(const struct lock_setup *s, struct lock_slot *slot);
/* As mcs_leave() of the queue of the node, for a client that may have inherited its place. */
bool package_leave_node(struct lock_slot *slot, int64_t *succ);
/* Whether another client waits in the queue of the package; *succ as of mcs_leave(). If not, the
 * client has left it. */
bool package_has_next(const struct lock_setup *s, struct lock_slot *slot, int64_t *succ);
/* Whether W may go to it. */
bool package_goes_on(struct lock_slot *slot);
/* Hand W to it, with the place in the queue of the node. False: the queue is empty now. */
bool package_hand_on(const struct lock_setup *s, struct lock_slot *slot, int64_t succ,
		     int64_t grant);
/* What a grant of W to the next client of the node says. */
int64_t package_grant(struct lock_slot *slot);
/* The client is the head of the queue of its node, or has W, by this grant. */
void package_note_grant(const struct lock_setup *s, struct lock_slot *slot, int64_t grant);

/* ------------------------------------------------------------- kept_root.c, several nodes */

/* The client has W, whose free value was `was`: get the root. PAWL_SUCCESS; or PAWL_ERR_TIMEOUT, or
 * PAWL_ERR_BUSY for a try: it has nothing any more. */
int kept_root_enter(const struct lock_setup *s, struct lock_slot *slot, int64_t was);
int kept_root_try_enter(const struct lock_setup *s, struct lock_slot *slot, int64_t was);
/* Whether a try from a node without the root would get it, at a look. */
bool kept_root_is_free(const struct lock_setup *s, struct lock_slot *slot);
/* D1: whether W may go on to a client of this node. */
bool kept_root_may_stay(const struct lock_setup *s, struct lock_slot *slot);
/* Give W back; NEXT was set, or GUEST other than SEEN, at the last look. */
void kept_root_pass_on(const struct lock_setup *s, struct lock_slot *slot);
/* NEXT was set after W became IDLE: look again, and give W back. */
void kept_root_look_again(const struct lock_setup *s, struct lock_slot *slot);
/* D4: leave W, and the root, to the head of the queue of the node. False: there is none. */
bool kept_root_shut_soon(struct lock_slot *slot);
/* Leave the root, and W, to a client that takes them for certain. False: there is none. */
bool kept_root_hand_over(const struct lock_setup *s, struct lock_slot *slot);
/* What goes with the root that the client has, with W: W_ROOT. */
int64_t kept_root_flags(struct lock_slot *slot);
void kept_root_set_flags(struct lock_slot *slot, int64_t flags);
/* The root, of which W at the other node says this, comes to this client's node. */
int kept_root_arrive_from(const struct lock_setup *s, struct lock_slot *slot, int node,
			  int64_t root);
/* What W at a node says: whether the root is there and free; *root: SPLIT and LOCAL. */
bool kept_root_is_idle(const struct lock_setup *s, struct lock_slot *slot, int node, int64_t w,
		       int64_t *root);
/* 1 + the last node in the queue of nodes. */
int64_t kept_root_last(const struct lock_setup *s, struct lock_slot *slot);
/* Take W, if it is IDLE with LOCAL, no client waits for it, no guest is in, and no node asks. */
bool kept_root_take_unused(const struct lock_setup *s, struct lock_slot *slot);
/* D3: take W back. False: another client has it, and looks at NEXT. */
bool kept_root_take_back(struct lock_slot *slot);
/* A client of this node is a guest, with this number; -1: it is not there any more. */
void kept_root_set_visiting(struct lock_slot *slot, int64_t visit);
/* The guest leaves. False: a node relies on it. */
bool kept_root_ends_visit(struct lock_slot *slot, int64_t visit);
/* What STATUS of a node says: a guest is there with this number; and what it says if a node relies
 * on that guest. */
bool kept_root_is_visiting(int64_t status, int64_t visit);
int64_t kept_root_relied_on(int64_t status);
bool kept_root_idle(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m,
		    char *err, size_t errlen);
void kept_root_age(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m);

/* D1 ... D3: give W back; the node keeps the root, or passes it on. */
RMA_INLINE void adaptive_give_back(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_word next = adaptive_word(slot, LINE_NEXT);

	if (__builtin_expect(adaptive_is_asked_for(slot), 0)) { /* D1 */
		kept_root_pass_on(s, slot);
		return;
	}
	adaptive_free(slot, W_IDLE); /* D2 */
	if (__builtin_expect(rma_peek_ordered(&slot->client, next) != 0, 0) &&
	    !FAULT(adaptive_again)) /* D3 */
		kept_root_look_again(s, slot);
}

/* ---------------------------------------------------------------- guests.c, several nodes */

/* The client has W of a node without the root, whose flags are reset: use the lock where it is.
 * PAWL_SUCCESS: it is in; LOCK_PASSED: it has to queue. */
int guest_enter(const struct lock_setup *s, struct lock_slot *slot);
/* PAWL_SUCCESS or LOCK_LEFT. */
int guest_release(const struct lock_setup *s, struct lock_slot *slot);
/* Whether a sharer of this node is to be a guest, if another node has the root. */
bool guest_is_better(const struct lock_setup *s, struct lock_slot *slot);
/* The client has taken W from IDLE: wait until no guest is in. False: the deadline has passed. */
bool guest_await(struct lock_slot *slot);
/* The same client does not want the lock any more. True: W is IDLE, and another client will look at
 * NEXT. False: no guest is in. */
bool guest_leave_to(struct lock_slot *slot);
/* D1: the client has W and the root. Whether NEXT is set; if not, no node has asked. */
bool guest_next_is_set(struct lock_slot *slot);
/* The root has come, or the place that NEXT named was passed over: look at GUEST in a release. */
void guest_note_root(struct lock_slot *slot);
/* The root has gone to the node that NEXT had named: 1 + the node. */
void guest_note_away(struct lock_slot *slot, int64_t host);
/* Q3: ask for the root of this node. Whether a guest is in there, which passes it on. */
void guest_ask(const struct lock_setup *s, struct lock_slot *slot, int node, int64_t *guest);
bool guest_is_in(int64_t guest);
/* Whether clients of other nodes share the lock at the node with this GUEST, or at this one. */
bool guest_shares(int64_t guest);
enum { GUEST_SHARERS_SHIFT = 2, GUEST_SHARERS_BITS = 13 };
#define GUEST_SHARERS (((INT64_C(1) << GUEST_SHARERS_BITS) - 1) << GUEST_SHARERS_SHIFT)
/* A guest has closed the first shares: the root is not fresh any more. */
#define GUEST_RESOLVED INT64_C(0x8000)
bool guest_has_sharers(struct lock_slot *slot);
/* The client has taken W from IDLE: if there are such clients, the root is as with a share. */
void guest_note_sharers(struct lock_slot *slot);
/* Q6: the node has found this GUEST, of a guest that is in. True: it relies on the guest. False: it
 * does not, and the guest has left. */
bool guest_rely(const struct lock_setup *s, struct lock_slot *slot, int node, int64_t guest);
/* NEXT: a guest has taken the root along, to the node in the other bits. */
#define NEXT_TAKEN (INT64_C(1) << 62)
bool guest_idle(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m, char *err,
		size_t errlen);
void guest_age(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m);

/* The GUEST of the client's node. */
int64_t guest_here(struct lock_slot *slot);

/* ----------------------------------------------------------------- first.c, several nodes */

void first_layout(struct lock_setup *s, struct adaptive_constants *k);
/* Whether the node of the client may have a first share of the lock, which is open if R has number
 * 0 and GATE is 0. first_open(): after F1, if it has not been done and pays. */
bool first_is_open(const struct lock_setup *s, struct lock_slot *slot);
bool first_open(const struct lock_setup *s, struct lock_slot *slot);
/* F2 of a client of the home's node, and of another one: the nodes that may have an open share, by
 * their bits in H. The second one in two steps: old is to be flushed with the word. */
int64_t first_claim_here(const struct lock_setup *s, struct lock_slot *slot);
int64_t first_claim_there(const struct lock_setup *s, struct lock_slot *slot);
struct rma_word first_post_claim(const struct lock_setup *s, struct lock_slot *slot, int64_t *old);
int64_t first_nodes_of(int64_t old);
/* F3, for the nodes that F2 has found, and this one if the client has the root of a lock that its
 * node shares. False: the deadline has passed, or, for a try, there are sharers. */
bool first_close(const struct lock_setup *s, struct lock_slot *slot, int64_t nodes, bool tries);
/* F4: the holder opens the shares again that it has closed, if it is to, before it leaves. ordered:
 * the rank at which its next operation is, or -1. */
void first_reopen(const struct lock_setup *s, struct lock_slot *slot, int ordered);
/* A client that is not exclusive has the root: split it, if it is fresh. */
void first_publish(const struct lock_setup *s, struct lock_slot *slot);
bool first_is_open_at(const struct lock_setup *s, uint64_t lock, int node,
		      const struct lock_memory *m);

/* --------------------------------------------------------------- sharing.c, several nodes */

/* Enter without the root: PAWL_SUCCESS; PAWL_ERR_BUSY: other clients exclude this one, so it has to
 * wait for the root; LOCK_PASSED: it needs the root, but has not to wait for holders. */
int sharing_enter_at_once(const struct lock_setup *s, struct lock_slot *slot);
/* Whether a client is to be a guest that shares. */
bool sharing_by_guest(const struct lock_setup *s, struct lock_slot *slot);
/* The same again and again with a split root, until its patience or its time is over. */
bool sharing_enter_soon(const struct lock_setup *s, struct lock_slot *slot);
/* An intent ahead. */
int sharing_enter_ahead(const struct lock_setup *s, struct lock_slot *slot);
/* The client has W and the root: enter. It keeps both only if it is exclusive, and in. LOCK_PASSED:
 * a sharer has left both to a batch, and has to wait again. */
int sharing_enter(const struct lock_setup *s, struct lock_slot *slot, bool tries);
/* Take back what the client has in H or in R. */
void sharing_leave(const struct lock_setup *s, struct lock_slot *slot);
/* The client has a whole root: split it. bits: of the nodes that have a share. */
void sharing_split(const struct lock_setup *s, struct lock_slot *slot, int64_t bits);
bool sharing_idle(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m, char *err,
		  size_t errlen);

/* ---------------------------------------------------------------- phases.c, several nodes */

/* An exclusive client is in by H, and no share is open: it is the first one of a batch. */
void phase_begin(struct lock_slot *slot);
/* The client has the root, in a batch. PAWL_SUCCESS: it is in, as the next one. PAWL_ERR_BUSY: it
 * is a sharer, and has left W to the head of its queue. LOCK_PASSED: the batch is over. */
int phase_go_on(const struct lock_setup *s, struct lock_slot *slot, bool tries);
/* An exclusive client that is in by H leaves. True: the next one of the batch has the root, and W.
 * False: the batch is over, and this client has both. */
bool phase_hand_over(const struct lock_setup *s, struct lock_slot *slot);
/* A holder of a batch: how many clients may follow at this node until the next look, at most so
 * many; they are counted. 0: the batch is over. */
int phase_may_go_on(const struct lock_setup *s, struct lock_slot *slot, int clients);
/* End the batch. */
void phase_end(const struct lock_setup *s, struct lock_slot *slot);
/* When a client with the root closes shares that are in use, if its patience as such ends so. */
uint64_t phase_end_of_sharing(const struct lock_setup *s, struct lock_slot *slot, uint64_t end);
/* How long a sharer waits before it queues for the root, at most, in ns. */
uint64_t phase_longest_wait(const struct lock_setup *s);
/* Whether the shares have been open for so short a time that one node after the other is better. */
bool phase_is_short(const struct lock_setup *s, struct lock_slot *slot, uint64_t began);
/* A sharer found the share closed, as rc says: wait until it is open. PAWL_SUCCESS: it is in. */
int phase_await_sharing(const struct lock_setup *s, struct lock_slot *slot, int rc);

/* ---------------------------------------------------------------- shares.c, several nodes */

/* The bit of a node in H. */
RMA_INLINE int64_t share_bit(int node)
{
	return INT64_C(1) << (SHARED_SHIFT + node % COUNT_BITS);
}

/* Enter and leave by the share of the client's node. False: it is closed. */
bool share_join(const struct lock_setup *s, struct lock_slot *slot);
bool share_join_if_open(const struct lock_setup *s, struct lock_slot *slot);
/* Enter by the first share, which is opened if that pays. */
bool share_open_first(const struct lock_setup *s, struct lock_slot *slot);
/* Whether the share of the client's node is a first one, open or not. */
bool share_may_be_first(const struct lock_setup *s, struct lock_slot *slot);
/* True: nobody shares the lock by it any more, and it is open. */
bool share_leave(struct lock_slot *slot);
/* Be the client of its node that looks whether the share can be opened. False: another one does. */
bool share_watch(struct lock_slot *slot);
void share_unwatch(struct lock_slot *slot);
/* Wait until the share is open, or no client looks, or until a time, if it is not 0. False: the
 * time has passed. */
bool share_await(struct lock_slot *slot, uint64_t end);
/* How long ago the share was opened, in ns, if it is open; not 0. If it is not, 0. */
uint64_t share_age_ns(const struct lock_setup *s, struct lock_slot *slot);
/* What the client has that opens the share of its node. */
enum share_root { SHARE_NO_ROOT, SHARE_SPLIT, SHARE_WHOLE };
/* Open it, and enter. PAWL_SUCCESS; PAWL_ERR_BUSY: others exclude sharers; LOCK_PASSED: the root is
 * whole. */
int share_open(const struct lock_setup *s, struct lock_slot *slot, enum share_root root);
/* For share_pays(): an acquire that shares, and one of a lock that another node has. */
void share_count(struct lock_slot *slot);
void share_count_away(struct lock_slot *slot);
/* How many of the last acquires of the client, of any lock, were shared and of locks whose home is
 * at another node, and how many were exclusive. */
uint64_t share_uses_away(struct lock_slot *slot, uint64_t *exclusives);
/* Whether the client has shared less often than that for each exclusive acquire, of any lock. */
enum share_writers { SHARE_MANY_WRITERS = 3, SHARE_SOME_WRITERS = 8 };
bool share_has_writers(struct lock_slot *slot, enum share_writers least);
/* Whether so many acquires of the client are of locks of other nodes that clients of those are
 * likely to come to this one. */
bool share_guests_are_many(struct lock_slot *slot);
/* Whether a share of its own pays for this node, rather than guests. */
bool share_pays(const struct lock_setup *s, struct lock_slot *slot);
/* Guests of this node have used the lock so often between two exclusive uses by others. only:
 * forget what came before. */
void share_note_reuse(struct lock_slot *slot, int64_t uses, bool only);
/* The number of the last opening in R; and whether the share of this node was opened less than so
 * long ago. */
int64_t share_number(int64_t r);
bool share_was_opened_within(struct lock_slot *slot, uint64_t ns);
/* Some bits of the number of the last opening in R. */
int64_t share_epoch(int64_t r);
/* Whether these nodes, or the one with this R, have no sharers at a look. */
bool share_is_unused(const struct lock_setup *s, struct lock_slot *slot, int64_t bits);
bool share_has_left(struct lock_slot *slot, struct rma_word r);
/* Close the first share of each of these nodes, at most FIRST_NODES, and wait until it has no
 * sharers. *uses becomes how often each has been used since it was opened. False: as share_close().
 */
bool share_close_first(const struct lock_setup *s, struct lock_slot *slot, int64_t nodes,
		       bool tries, uint64_t uses[], uint64_t all[]);
/* Open the first share of a node again, which has been used so often in all. */
struct rma_word share_reopen_first(const struct lock_setup *s, struct lock_slot *slot, int node,
				   uint64_t all);
/* Close the shares of these nodes, and wait until they have no sharers. H keeps newcomers out.
 * False: the deadline has passed, or, for a try, there are sharers. */
bool share_close(const struct lock_setup *s, struct lock_slot *slot, int64_t bits, bool tries);
/* The client has the root: close the share of its own node without waiting. False: there are
 * sharers, or another client opens it. */
bool share_close_unused(struct lock_slot *slot);
/* A guest: the same for the share of its host, this node. Deadlines in the past end tries. */
bool share_close_at(const struct lock_setup *s, struct lock_slot *slot, int node);
/* The same for the share of the client's own node; the client has the root. */
bool share_close_own(struct lock_slot *slot, bool tries);
/* An exclusive client has the root, which is split: make it whole, if no other node has a share and
 * no client is in. False: *old is H. */
bool share_make_whole(const struct lock_setup *s, struct lock_slot *slot, int64_t *old);
bool share_idle(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m, char *err,
		size_t errlen);
void share_age(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m);

#endif
