/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of kind cached and their places; README has the argument. */
#ifndef LOCK_CACHED_CACHED_H
#define LOCK_CACHED_CACHED_H

#include "lock/mcs/mcs.h"

enum {
	LINE_W = 0,
	LINE_QUEUE = 8,
	LINE_DIR = 16,
	LINE_NOTES = 24, /* the number of the node's last recall */
	LINE_MODE = 32,  /* NET from here on */
	LINE_ACK = 40,
	LINE_NEXT = 48,
	LINE_STATUS = 56,
	LINE_BYTES = 64,
	NEAR_BYTES = 16, /* on one node: W and QUEUE, at the home */
	HOME_BYTES = 8   /* TAIL */
};
_Static_assert(LINE_QUEUE + 8 == NEAR_BYTES && LINE_STATUS + 8 == LINE_BYTES, "the words fit");

enum mode { MODE_N, MODE_S, MODE_X };

/* W. A parked client notices changes in the low half only. */
enum { READERS_BITS = 20, PASSES_SHIFT = 25, PASSES_BITS = 8, USES_SHIFT = 33, USES_BITS = 21 };
#define READER INT64_C(1)
#define READERS ((INT64_C(1) << READERS_BITS) - 1)
#define WRITER (INT64_C(1) << 20)
#define HANDED (INT64_C(1) << 21)
#define KEEPS (INT64_C(1) << 22)
#define AWAITED (INT64_C(1) << 23)
#define STRICT (INT64_C(1) << 24)
#define PASS (INT64_C(1) << PASSES_SHIFT)
#define PASSES (((INT64_C(1) << PASSES_BITS) - 1) << PASSES_SHIFT)
/* What the head of the node's queue takes back when it is in, or gives up. */
#define HEADS (AWAITED | PASSES)
#define USE (INT64_C(1) << USES_SHIFT)
#define USES (((INT64_C(1) << USES_BITS) - 1) << USES_SHIFT)
#define HOLDERS (READERS | WRITER | HANDED)
_Static_assert(PASSES_SHIFT + PASSES_BITS == USES_SHIFT && USES_SHIFT + USES_BITS < 63,
	       "the fields of W do not overlap");

/* MODE: an enum mode, BACK, WANT, and node and number of the recall. */
enum { BACK_SHIFT = 2, MODE_NODE_SHIFT = 5, NUMBER_SHIFT = 25, NUMBER_BITS = 38 };
#define NUMBERS (INT64_C(1) << NUMBER_BITS)
_Static_assert(NUMBER_SHIFT + NUMBER_BITS <= 63, "a MODE is never negative");
#define MODE_MASK INT64_C(3)
/* In ACK, above node and number of a MODE. */
#define ACKNOWLEDGED (INT64_C(1) << 62)
#define WANT (INT64_C(1) << 4)

/* Nodes in MODE, in TAIL and in a directory. */
enum { NODE_BITS = 20 };
#define NODE_MASK ((INT64_C(1) << NODE_BITS) - 1)

/* STATUS: 0: no place; one of these; or GRANT and a directory. */
enum { WAITING = 1, ABANDONED = 2, PASSED = 3 };
#define GRANT (INT64_C(1) << 61)
/* TAIL: 1 + a node, or FREE and a directory; 0: FREE and 0. */
#define FREE (INT64_C(1) << 60)

struct cached_options {
	int64_t stay; /* acquires; -1: the lock decides */
};
_Static_assert(sizeof(struct cached_options) <= LOCK_OPTION_BYTES, "the options fit");

struct cached_constants {
	uint64_t lines, homes;
	int node_level; /* level of the topology; 0: each node has one rank */
	int nodes;
	bool alone; /* the table has one node */
};

struct cached_slot {
	uint64_t last;     /* 1 + the lock for which the words were found; 0: none */
	struct rma_word w; /* the first word of the node's line */
	int me;            /* the node */
	int beside;        /* waits beside the queue in this acquire */
};
_Static_assert(sizeof(struct cached_slot) <= LOCK_OWN_BYTES, "it fits into a slot");

RMA_INLINE bool cached_is_alone(const struct lock_setup *s)
{
	const struct cached_constants *k = s->state;

	return k->alone;
}

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
	if (offset >= LINE_MODE)
		w.flags = 0;
	return w;
}

/* A word of any node's line. */
static inline struct rma_word cached_word_at(const struct lock_setup *s, struct lock_slot *slot,
					     int node, int offset)
{
	const struct cached_constants *k = s->state;
	enum rma_domain d = offset >= LINE_MODE ? RMA_NET : RMA_NODE;
	const struct topo *t = s->topo;
	struct rma *r = slot->client.rma;
	uint64_t line = slot->lock;
	int rank = node;

	if (k->node_level) {
		rank = topo_tail_rank(t, k->node_level, node, slot->lock);
		line = topo_tail_index(t, k->node_level, node, slot->lock);
	}
	return rma_word(r, d, rank, k->lines + line * LINE_BYTES + (uint64_t)offset);
}

static inline struct rma_word cached_tail(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct cached_constants *k = s->state;

	return lock_home_word(s, &slot->client, RMA_NET, k->homes, HOME_BYTES, slot->lock);
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

/* Whether a node that has this mode admits the client. */
RMA_INLINE bool mode_permits(const struct lock_slot *slot, int64_t mode)
{
	mode &= MODE_MASK;
	return mode == MODE_X || (mode == MODE_S && !is_exclusive(slot));
}

#endif
