/* SPDX-License-Identifier: BSD-3-Clause */
/* Lock caching: the words and their places; README has the argument. */
#ifndef LOCK_CACHED_CACHED_H
#define LOCK_CACHED_CACHED_H

#include "lock/adaptive/kind.h"
#include "lock/mcs/mcs.h"

enum {
	LINE_W = 0,
	LINE_QUEUE = 8,
	LINE_TAIL = 16, /* NET from here on; of the home's node */
	LINE_MODE = 24,
	LINE_ACK = 32,
	LINE_STATUS = 40, /* and the directory, while the node keeps the queue */
	LINE_NEXT = 48,   /* in even turns, and in odd ones */
	LINE_NEXT_ODD = 56,
	LINE_BYTES = 64,
	NOTES_UNCACHED = 8, /* NET; of the home's node */
	NOTES_BYTES = 16    /* NOTES, at the rank of the line */
};
_Static_assert(LINE_NEXT_ODD + 8 == LINE_BYTES, "the words fit");

/* The mode in which a node caches a lock: S for sharers, I for intents of both kinds, X for all. */
enum mode { MODE_N, MODE_S, MODE_X, MODE_I };

/* W: a count or a flag a field. A parked client that waits for any change notices those in the low
 * half only. */
enum {
	COUNT_BITS = 13,
	INTENTS_SHIFT = COUNT_BITS,
	SHARED_INTENTS_SHIFT = 32,
	PASSES_SHIFT = SHARED_INTENTS_SHIFT + COUNT_BITS,
	PASSES_BITS = 5,
	USES_SHIFT = PASSES_SHIFT + PASSES_BITS,
	USES_BITS = 9,
	MOST_CLIENTS = (1 << COUNT_BITS) - 1
};
_Static_assert((int)ADAPTIVE_MOST_STAY < 1 << USES_BITS, "W counts the acquires of a stay");
#define SHARER INT64_C(1)
/* Of intents exclusive. */
#define INTENT (INT64_C(1) << INTENTS_SHIFT)
#define SHARED_INTENT (INT64_C(1) << SHARED_INTENTS_SHIFT)
#define SHARERS (SHARER * MOST_CLIENTS)
#define INTENTS (INTENT * MOST_CLIENTS)
#define SHARED_INTENTS (SHARED_INTENT * MOST_CLIENTS)
/* An exclusive holder. */
#define WRITER (INT64_C(1) << 26)
/* Handed over to the clients of the node; none of them has taken it yet. */
#define HANDED (INT64_C(1) << 27)
/* The head of QUEUE waits for W. */
#define AWAITED (INT64_C(1) << 28)
/* A head of the queue of nodes waits for W of its own node: only clients ahead count themselves. */
#define STRICT (INT64_C(1) << 29)
/* The node is the head of the queue of nodes. */
#define KEEPS (INT64_C(1) << 30)
/* The round of shares in which the lock has been hit last. */
#define ROUND (INT64_C(1) << 31)
/* Clients that have passed the head of QUEUE since AWAITED. */
#define PASS (INT64_C(1) << PASSES_SHIFT)
#define PASSES (((INT64_C(1) << PASSES_BITS) - 1) << PASSES_SHIFT)
/* What the head of the node's queue takes back when it is in, or gives up. */
#define HEADS (AWAITED | PASSES)
/* Acquires of the node in its turn. */
#define USE (INT64_C(1) << USES_SHIFT)
#define USES (((INT64_C(1) << USES_BITS) - 1) << USES_SHIFT)
#define EXCLUSIVE (WRITER | HANDED)
/* With one of these, a client may await a change of W: the head of QUEUE, that of the queue of
 * nodes, or an intent that is ahead. */
#define WAKES (AWAITED | STRICT | INTENTS | SHARED_INTENTS)
#define HOLDERS (SHARERS | INTENTS | SHARED_INTENTS | EXCLUSIVE)
/* The topmost bits: how many have counted themselves in, without a carry. */
enum { HITS_BITS = 5, HITS_SHIFT = 64 - HITS_BITS };
_Static_assert(INTENTS_SHIFT + COUNT_BITS == 26 && USES_SHIFT + USES_BITS <= HITS_SHIFT,
	       "the fields of W do not overlap");

/* W, with this added. */
RMA_INLINE int64_t w_plus(int64_t w, int64_t more)
{
	return (int64_t)((uint64_t)w + (uint64_t)more);
}

RMA_INLINE int64_t w_minus(int64_t w, int64_t less)
{
	return (int64_t)((uint64_t)w - (uint64_t)less);
}

RMA_INLINE int w_hits(int64_t w)
{
	return (int)((uint64_t)w >> HITS_SHIFT);
}
#define HIT ((int64_t)(UINT64_C(1) << HITS_SHIFT))
#define HITS ((int64_t)(UINT64_MAX << HITS_SHIFT))

/* MODE, from an enum mode on. */
enum {
	BACK_SHIFT = 2,       /* the mode that the node will have again without asking; 0: none */
	AHEAD_SHIFT = 5,      /* the mode for clients ahead */
	TO_SHIFT = 7,         /* what the head recalls the node to */
	ROUND_SHIFT = 9,      /* the round of shares, of one bit */
	MODE_NODE_SHIFT = 10, /* the node that recalls */
	NUMBER_SHIFT = 30,    /* of its recalls */
	NUMBER_BITS = 33
};
/* In MODE: the node that recalls waits for ACK. */
#define WANT (INT64_C(1) << 4)
/* In NOTES, the number; above it, LEFT: the node's place in the queue of nodes is for the next head
 * of its own queue; above that, its turn there, topmost since a sum that overflows then changes
 * nothing else. */
enum { TURN_BITS = 28, TURN_SHIFT = (int)NUMBER_BITS + 1 };
#define NUMBER ((INT64_C(1) << NUMBER_BITS) - 1)
#define LEFT (INT64_C(1) << NUMBER_BITS)
#define TURN (((INT64_C(1) << TURN_BITS) - 1) << TURN_SHIFT)
_Static_assert(NUMBER_SHIFT + NUMBER_BITS <= 63, "a MODE is never negative");
_Static_assert((int)TURN_SHIFT + (int)TURN_BITS <= 63, "NOTES has room for a turn");
#define MODE_MASK INT64_C(3)
/* In ACK, above node and number of a MODE; above a node that asks for a client ahead. */
#define ACKNOWLEDGED (INT64_C(1) << 62)
#define ASKED (INT64_C(1) << 61)
/* In ACK: no uncached sharer is left. */
#define DRAINED (INT64_C(1) << 60)
/* Beside ACKNOWLEDGED: no holder at all is left, though another mode than N was asked for. */
#define IDLE (INT64_C(1) << 59)

/* Nodes in MODE, in TAIL and in a directory. */
enum { NODE_BITS = 20 };
#define NODE_MASK ((INT64_C(1) << NODE_BITS) - 1)

/* STATUS: 0: no place; one of these; or GRANT and a directory. TAKEN: another node has taken the
 * queue over from sharers of this one (T). */
enum { WAITING = 1, ABANDONED = 2, PASSED = 3, TAKEN = 4 };
#define GRANT (INT64_C(1) << 62)
/* TAIL: a place (nodes.c) above MODE_N, or FREE and a directory; 0: the lock is as at first. The
 * low bits are GATE, which stands in for MODE at the home's node. */
#define FREE (INT64_C(1) << 61)
#define TAIL_SHARED (INT64_C(1) << 2)
#define TAIL_OWNED (INT64_C(1) << 60)
/* In a directory, and in TAIL: there may be uncached sharers (U). */
#define SOME INT64_MIN

/* UNCACHED: how many uncached sharers there are; above that, 1 + the node that waits until none is
 * left. */
#define UNCACHED_ONE INT64_C(1)
enum { WAITER_SHIFT = 32 };
#define UNCACHED_COUNT ((INT64_C(1) << WAITER_SHIFT) - 1)
enum { TAIL_PLACE_SHIFT = 2 };

/* What locks are at first (first.h): FIRST_NONE: nobody caches it. FIRST_SHARED: all nodes have S.
 * FIRST_OWNED: the home's node has X. FIRST_SOME: likewise, and the directory has SOME. */
enum first { FIRST_UNKNOWN, FIRST_NONE, FIRST_SHARED, FIRST_OWNED, FIRST_SOME };

/* What a client that becomes the head of its node's queue is told: it has to look; no place has
 * been left for it (D1); it has a place; or it has W (G), and above that: grants since W was looked
 * at, how many places behind it an exclusive client is (E; 0: not known), and the uses of the
 * node's turn. */
enum { HEAD_LOOKS = 0, HEAD_NOW = 1, HEAD_HAS_PLACE = 2, HEAD_HAS_W = 3 };
enum { HEAD_BITS = 2, HEAD_MASK = (1 << HEAD_BITS) - 1 };
enum { UNSEEN_BITS = 2, UNSEEN_MASK = (1 << UNSEEN_BITS) - 1, UNSEEN_SHIFT = HEAD_BITS };
enum { BEHIND_BITS = 4, BEHIND_MASK = (1 << BEHIND_BITS) - 1 };
enum { BEHIND_SHIFT = UNSEEN_SHIFT + UNSEEN_BITS, TURN_USES_SHIFT = BEHIND_SHIFT + BEHIND_BITS };

/* Words of a slot's scratch for each node; behind them is one for UNCACHED. */
enum { SCRATCH_EACH = 2 };

struct cached_constants {
	uint64_t lines, vote;
	struct lock_area notes;
	int node_level;                 /* level of the topology; 0: each node has one rank */
	const struct topo_level *level; /* the same */
	int nodes;
	bool by_home; /* lines are where the home is in its node, as far as that goes */
};

struct cached_slot {
	uint64_t last;     /* 1 + the lock for which the words were found; 0: none */
	struct rma_word w; /* the first word of the node's line */
	struct rma_word tail;
	uint64_t notes; /* offset of NOTES at the rank of w */
	int64_t guess;  /* W as this client has left it last, or as at first */
	int home_rank;
	int home; /* its node */
	uint64_t home_index;
	int me;             /* the node */
	uint32_t hold_ns;   /* mean time of holds that others waited for */
	uint32_t trip_ns;   /* least time of a round trip to another node, of late; 0: unknown */
	int16_t writes;     /* moving mean of exclusive acquires, of MEAN_ONE */
	int16_t uses;       /* of the node's turn, by clients of QUEUE that have W as its heads */
	uint8_t passed_on;  /* hand-overs to other nodes since the last one that P_WRITERS counts */
	uint8_t uncounted;  /* acquires of stays since the last one that USES has counted */
	bool returns : 1;   /* to the lock that it acquired before */
	bool looks : 1;     /* before it counts itself, since its last acquire was not a hit, */
	bool waited : 1;    /* and at this lock: it reads W, and does not take the line */
	bool is_head : 1;   /* holds the lock as the head of QUEUE (G) */
	bool may_leave : 1; /* the node's place in the queue of nodes, before its turn */
	bool queued : 1;    /* behind another node, when it had to ask for a lock last */
	bool crowded : 1;   /* nodes queue behind each other at the lock, whose home this one is */
	bool has_seen : 1;  /* W of the home's node, after the swap of TAIL */
	bool has_uncached : 1; /* and UNCACHED, likewise */
	bool tail_some : 1;    /* TAIL had SOME, at the home's node, when the client looked at it */
	bool is_uncached : 1;  /* holds the lock by UNCACHED, */
	bool as_writer : 1;    /* or, a sharer, as an exclusive client does (E) */
	unsigned first : 3;    /* enum first: what this client has been told */
	unsigned behind : BEHIND_BITS; /* how many places behind it an exclusive client is, or 0 */
	unsigned unused : 4;           /* how useless shares have been, up to UNUSED_MOST */
	unsigned unseen : UNSEEN_BITS; /* G: grants within the node since the last look at W */
	unsigned met : 2;              /* how lately it has recalled a lock with SOME */
	unsigned beside : 4;           /* waits beside the queue in this acquire */
	unsigned long_waits : 4;       /* how often waits have been long, up to LONG_MOST */
	unsigned soon : 2;             /* how often it has come back soon, up to SOON_MOST */
	uint8_t uncached; /* times that it has used UNCACHED since its node has joined last */
	/* W; in a release, what the swap of TAIL finds; while the node waits for its turn, the node
	 * before it, or -1: not known. */
	int64_t seen;
	/* When it got this lock after a wait, or released it while others waited; 0: neither. */
	uint64_t since_ns;
	/* When it got a lock as an exclusive client last, and how long it has waited as a sharer
	 * since, at the lock that it had acquired before. */
	uint64_t wrote_ns;
	uint32_t shared_ns;
	uint32_t gather_ns; /* how long it waits for other writers: policy_note_wait() */
};
_Static_assert(sizeof(struct cached_slot) <= LOCK_OWN_BYTES, "it fits into a slot");

RMA_INLINE int cached_me(struct lock_slot *slot)
{
	struct cached_slot *own = lock_own(slot);

	return own->me;
}

/* A word of the node's line. */
RMA_INLINE struct rma_word cached_word(struct lock_slot *slot, int offset)
{
	struct cached_slot *own = lock_own(slot);
	struct rma_word w = own->w;

	w.offset += (uint64_t)offset;
	if (w.map)
		w.map += offset / (int)sizeof(int64_t);
	if (offset >= LINE_TAIL)
		w.flags = 0;
	return w;
}

/* The rank of a node that keeps its line of a lock, and the line's index there. home, home_node,
 * index: where the lock is at home. By home, the ranks of the node take turns in keeping the lines
 * of each rank, from the node itself on: so a home keeps its own, and those of homes with the same
 * place in nodes of equal size. */
static inline int cached_line(const struct lock_setup *s, uint64_t lock, int home, int home_node,
			      uint64_t index, int node, uint64_t *line)
{
	const struct cached_constants *k = s->state;
	const int *first;
	int from, size, at;

	*line = lock;
	if (!k->level)
		return node;
	first = k->level->first;
	from = first[node];
	size = first[node + 1] - from;
	if (!k->by_home) {
		*line = lock / (uint64_t)size;
		return k->level->members[from + (int)(lock % (uint64_t)size)];
	}
	at = first[home_node] + s->topo->place[home] - from;
	if (at < 0)
		at += s->topo->nranks;
	*line = (uint64_t)(at / size) * s->block + index;
	return k->level->members[from + at % size];
}

/* A word of any node's line. */
static inline struct rma_word cached_word_at(const struct lock_setup *s, struct lock_slot *slot,
					     int node, int offset)
{
	const struct cached_constants *k = s->state;
	const struct cached_slot *own = lock_own(slot);
	enum rma_domain d = offset >= LINE_TAIL ? RMA_NET : RMA_NODE;
	uint64_t line;
	int rank =
	    cached_line(s, slot->lock, own->home_rank, own->home, own->home_index, node, &line);

	return rma_word(slot->client.rma, d, rank, k->lines + line * LINE_BYTES + (uint64_t)offset);
}

static inline struct rma_word cached_notes(struct lock_slot *slot)
{
	struct cached_slot *own = lock_own(slot);

	return rma_word(slot->client.rma, RMA_NODE, own->w.rank, own->notes);
}

/* NOTES of any node. */
static inline struct rma_word cached_notes_at(const struct lock_setup *s, struct lock_slot *slot,
					      int node)
{
	const struct cached_constants *k = s->state;
	const struct cached_slot *own = lock_own(slot);
	uint64_t line;
	int rank =
	    cached_line(s, slot->lock, own->home_rank, own->home, own->home_index, node, &line);

	return rma_word(slot->client.rma, RMA_NODE, rank,
			lock_area_base(s, &k->notes, rank) + line * NOTES_BYTES);
}

/* UNCACHED, of the home's node. */
static inline struct rma_word cached_home_count(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct cached_slot *own = lock_own(slot);
	const struct rma_word notes = cached_notes_at(s, slot, own->home);

	return rma_word(slot->client.rma, RMA_NET, notes.rank, notes.offset + NOTES_UNCACHED);
}

RMA_INLINE struct rma_word cached_tail(struct lock_slot *slot)
{
	struct cached_slot *own = lock_own(slot);

	return own->tail;
}

RMA_INLINE struct rma_word cached_queue(struct lock_slot *slot)
{
	return cached_word(slot, LINE_QUEUE);
}

RMA_INLINE int cached_home(struct lock_slot *slot)
{
	struct cached_slot *own = lock_own(slot);

	return own->home;
}

/* A word of the node's line, after the client's atomics on W. */
RMA_INLINE int64_t cached_look(struct lock_slot *slot, int offset)
{
	return rma_peek_ordered(&slot->client, cached_word(slot, offset));
}

RMA_INLINE bool is_exclusive(const struct lock_slot *slot)
{
	return slot->mode == PAWL_EXCLUSIVE;
}

/* A time to look again, but not after the deadline; and how long to wait next time. So a client
 * waits at most as long again as it has waited before, and in the end long enough for the transport
 * to notice that a rank has died. */
#define LOOK_NS UINT64_C(20000)
#define LOOK_MOST_NS (LOOK_NS << 17)

static inline uint64_t cached_until(struct lock_slot *slot, uint64_t ns)
{
	return slot_at_latest(slot, rma_clock(&slot->client) + ns);
}

static inline uint64_t cached_longer(uint64_t ns)
{
	return ns < LOOK_MOST_NS ? 2 * ns : ns;
}

RMA_INLINE bool is_ahead(const struct lock_slot *slot)
{
	return (slot->mode & PAWL_AHEAD) != 0;
}

/* Whether a node that has this mode admits the client. */
RMA_INLINE bool mode_permits(const struct lock_slot *slot, int64_t mode)
{
	mode &= MODE_MASK;
	return mode == MODE_X ||
	       (mode == MODE_S && (slot->mode & (PAWL_SHARED | PAWL_INTENT_SHARED))) ||
	       (mode == MODE_I && (slot->mode & (PAWL_INTENT | PAWL_INTENT_SHARED)));
}

/* Whether this MODE of its node admits the client. */
RMA_INLINE bool mode_admits(const struct lock_slot *slot, int64_t mode)
{
	return mode_permits(slot, mode) ||
	       (is_ahead(slot) && mode_permits(slot, mode >> AHEAD_SHIFT));
}

/* Whether a sharer is in the way of the client. */
RMA_INLINE bool excludes_sharers(const struct lock_slot *slot)
{
	return !(slot->mode & (PAWL_SHARED | PAWL_INTENT_SHARED));
}

/* H2: whether the node's mode admits the client, after its atomic on W. */
RMA_INLINE bool cached_admits(struct lock_slot *slot)
{
	struct cached_slot *own = lock_own(slot);
	int64_t v;

	if (own->home == own->me) {
		v = rma_peek_ordered(&slot->client, own->tail);
		own->tail_some = v < 0 || (v == 0 && own->first == FIRST_SOME);
		if (mode_permits(slot, v) || (v == 0 && own->first >= FIRST_OWNED))
			return true;
		if (is_exclusive(slot)) /* MODE of the home's node is never X. */
			return false;
	}
	v = cached_look(slot, LINE_MODE);
	return mode_admits(slot, v) ||
	       (v == 0 && own->first == FIRST_SHARED && mode_permits(slot, MODE_S));
}

#endif
