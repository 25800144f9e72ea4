/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of kind adaptive, and what its two levels know of each other; see adaptive.c, the level
 * of a node, and kept_root.c, the level above it. */
#ifndef LOCK_ADAPTIVE_ADAPTIVE_H
#define LOCK_ADAPTIVE_ADAPTIVE_H

#include "lock/mcs/mcs.h"

struct adaptive_options {
	int64_t patience; /* microseconds */
	int64_t stay;
};
_Static_assert(sizeof(struct adaptive_options) <= LOCK_OPTION_BYTES, "the options fit");

/* The words of a lock at a node, one line a lock and node. On a table of one node there are W and
 * QUEUE alone, at the home. NUMBER and STAYS are of the client that has W. */
enum {
	LINE_W = 0,       /* NODE */
	LINE_QUEUE = 8,   /* NODE: the tail of the queue of clients (mcs.h) */
	LINE_NUMBER = 16, /* NODE: how often the node has queued */
	LINE_STAYS = 24,  /* NODE: times that W was SHUT since the node got the root */
	LINE_NEXT = 32,   /* NET: the node that comes next */
	LINE_STATUS = 40, /* NET: of the node's place in the queue of nodes */
	NEAR_BYTES = 16,
	LINE_BYTES = 64,
	TAIL_BYTES = 8 /* at the home, NET: 1 + the node that is last */
};
_Static_assert(LINE_QUEUE + 8 == NEAR_BYTES && LINE_NUMBER == NEAR_BYTES &&
		   LINE_STAYS == LINE_NUMBER + 8 && LINE_NEXT == LINE_STAYS + 8 &&
		   LINE_STATUS == LINE_NEXT + 8 && LINE_STATUS + 8 <= LINE_BYTES,
	       "the words of a line do not overlap and fit into it");

/* W: HELD, or which free value it has; and what the head of the queue says in it. */
enum {
	W_HELD = 1,
	W_OUT = 0,  /* the node has no place in the queue of nodes */
	W_GONE = 2, /* a deadline has passed there; the place may still be in that queue */
	W_SHUT = 4, /* free for clients of the node alone */
	W_IDLE = 6, /* free, and the root is here */
	W_FREE_MASK = 6,
	W_STATE = W_HELD | W_FREE_MASK,
	W_HEAD = 8,    /* there is a head, which will take W if it is SHUT */
	W_STRICT = 16, /* it alone takes W now */
	W_BITS = W_HEAD | W_STRICT
};

struct adaptive_constants {
	uint64_t lines, tails;
	bool several;   /* nodes */
	int node_level; /* of the topology; 0: each node has one rank */
	int nodes;
	int64_t free;      /* what W is, mostly, while nobody is there */
	bool keeps_order;  /* patience 0 */
	uint64_t patience; /* nanoseconds */
	uint64_t backoff;  /* between two looks of a patient head, the most */
};

/* What a slot keeps: the tail of the queue of its node, by which it finds the other words. */
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

/* The node of a rank, */
RMA_INLINE int adaptive_node(const struct lock_setup *s, int rank)
{
	const struct adaptive_constants *k = s->state;

	return k->node_level ? topo_element(s->topo, rank, k->node_level) : rank;
}

/* and where a node has its line of a lock. */
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

/* The line of a lock at the client's own node, or at home on one node: its tail word. */
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

/* Another word of that line; the slot knows its queue. */
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

/* A near NET word, by the CPU. */
RMA_INLINE int64_t adaptive_look(struct rma_client *c, struct rma_word w)
{
	if (__builtin_expect(!w.map, 0))
		return c->rma->transport->peek(c, w);
	return atomic_load_explicit(w.map, memory_order_seq_cst);
}

/* R1: W becomes free; the head sleeps only after it has set STRICT. */
RMA_INLINE void adaptive_free(struct lock_slot *slot, int64_t state)
{
	struct rma_word w = adaptive_word(slot, LINE_W);
	int64_t old;

	rma_fao(&slot->client, w, RMA_SUM, state - W_HELD, &old);
	if (__builtin_expect((old & W_STRICT) != 0, 0) && w.map)
		rma_wake(&slot->client, w);
}

/* D4: W becomes SHUT, if there is a head. */
bool adaptive_shut(struct lock_slot *slot);

/* The client has W, and was is the free value that it had. PAWL_SUCCESS; PAWL_ERR_TIMEOUT or, of a
 * try, PAWL_ERR_BUSY: it has nothing any more. */
int kept_root_enter(const struct lock_setup *s, struct lock_slot *slot, int64_t was);
int kept_root_try_enter(const struct lock_setup *s, struct lock_slot *slot, int64_t was);
/* Give W back, with NEXT set when it was looked at. */
void kept_root_pass_on(const struct lock_setup *s, struct lock_slot *slot);
/* Give W back, which became IDLE before NEXT was set. */
void kept_root_look_again(const struct lock_setup *s, struct lock_slot *slot);
bool kept_root_idle(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m,
		    char *err, size_t errlen);
void kept_root_age(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m);

#endif
