/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of kind adaptive, and the interface between its two levels: adaptive.c, the level of a
 * node, and kept_root.c, the level above. */
#ifndef LOCK_ADAPTIVE_ADAPTIVE_H
#define LOCK_ADAPTIVE_ADAPTIVE_H

#include "lock/mcs/mcs.h"

struct adaptive_options {
	int64_t patience; /* microseconds */
	int64_t stay;
};
_Static_assert(sizeof(struct adaptive_options) <= LOCK_OPTION_BYTES, "the options fit");

/* The words of a lock at a node: a line for each lock and node. A table of one node has only W and
 * QUEUE, at the home. Only the client that has W uses NUMBER and STAYS. */
enum {
	LINE_W = 0,       /* NODE */
	LINE_QUEUE = 8,   /* NODE: the tail of the queue of clients (mcs.h) */
	LINE_NUMBER = 16, /* NODE: how many times the node has queued */
	LINE_STAYS = 24,  /* NODE: how many times W was SHUT since the node got the root */
	LINE_NEXT = 32,   /* NET: the next node */
	LINE_STATUS = 40, /* NET: state of the node's place in the queue of nodes */
	NEAR_BYTES = 16,
	LINE_BYTES = 64,
	TAIL_BYTES = 8 /* at the home, NET: 1 + the last node */
};
_Static_assert(LINE_QUEUE + 8 == NEAR_BYTES && LINE_NUMBER == NEAR_BYTES &&
		   LINE_STAYS == LINE_NUMBER + 8 && LINE_NEXT == LINE_STAYS + 8 &&
		   LINE_STATUS == LINE_NEXT + 8 && LINE_STATUS + 8 <= LINE_BYTES,
	       "the words of a line do not overlap and fit into it");

/* W: HELD or a free value, and the bits of the head of the queue. */
enum {
	W_HELD = 1,
	W_OUT = 0,  /* the node has no place in the queue of nodes */
	W_GONE = 2, /* a deadline has passed at the node; its place may still be in that queue */
	W_SHUT = 4, /* free only for clients of the node */
	W_IDLE = 6, /* free, and the node has the root */
	W_FREE_MASK = 6,
	W_STATE = W_HELD | W_FREE_MASK,
	W_HEAD = 8,    /* the queue has a head, which takes W if it is SHUT */
	W_STRICT = 16, /* only the head may take W */
	W_BITS = W_HEAD | W_STRICT
};

struct adaptive_constants {
	uint64_t lines, tails;
	bool several;   /* the table has several nodes */
	int node_level; /* level of the topology; 0: each node has one rank */
	int nodes;
	int64_t free;      /* the value of W, in most cases, while no client uses the lock */
	bool keeps_order;  /* patience 0 */
	uint64_t patience; /* nanoseconds */
	uint64_t backoff;  /* the longest pause between two tries of a patient head */
};

/* A slot's own part: the tail of its node's queue, from which it finds the other words. */
struct adaptive_slot {
	struct rma_word queue;
};
_Static_assert(sizeof(struct adaptive_slot) <= LOCK_OWN_BYTES, "it fits into a slot");

RMA_INLINE struct rma_word *adaptive_queue(struct lock_slot *slot)
{
	struct adaptive_slot *own = lock_own(slot);

	return &own->queue;
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
	if (offset >= LINE_NEXT) /* a NET word of this node */
		w.flags = 0;
	return w;
}

/* R1: make W free. Wakes the head, which sleeps only after it has set STRICT. */
RMA_INLINE void adaptive_free(struct lock_slot *slot, int64_t state)
{
	struct rma_word w = adaptive_word(slot, LINE_W);
	int64_t old;

	rma_fao(&slot->client, w, RMA_SUM, state - W_HELD, &old);
	if (__builtin_expect((old & W_STRICT) != 0, 0) && w.map)
		rma_wake(&slot->client, w);
}

/* D4: make W SHUT, if there is a head. Returns whether there is one. */
bool adaptive_shut(struct lock_slot *slot);

/* The client has W, whose free value was `was`: get the root. PAWL_SUCCESS; or PAWL_ERR_TIMEOUT, or
 * PAWL_ERR_BUSY for a try: it has nothing any more. */
int kept_root_enter(const struct lock_setup *s, struct lock_slot *slot, int64_t was);
int kept_root_try_enter(const struct lock_setup *s, struct lock_slot *slot, int64_t was);
/* Give W back; NEXT was set at the last look. */
void kept_root_pass_on(const struct lock_setup *s, struct lock_slot *slot);
/* NEXT was set after W became IDLE: look again, and give W back. */
void kept_root_look_again(const struct lock_setup *s, struct lock_slot *slot);
bool kept_root_idle(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m,
		    char *err, size_t errlen);
void kept_root_age(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m);

#endif
