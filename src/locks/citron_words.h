/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words of Citron's nodes (section 3.4), without masked atomics: only fetch-and-add and
 * compare-and-swap on whole words.
 *
 * An inner node is one word. From the top:
 *   NEXT   21 bits  the ticket that the next client draws (the paper's TMax)
 *   DONE   21 bits  the ticket whose turn it is (TCnt)
 *   (one bit)       not used
 *   OCC     1 bit   whose turn it is keeps out whoever comes to a node below
 *   BELOW  20 bits  clients at nodes below that have announced themselves here
 *
 * Why no field can spill into another, whatever the order of the additions:
 *   NEXT    only grows, by one a client, and wraps off the top of the word.
 *   DONE    is changed by the holder of the ticket alone, who knows its value: where it would
 * carry, the holder subtracts all of it instead of adding one. OCC     is set and cleared by the
 * holder alone, in turns. BELOW   is the difference of the paper's DMax and DCnt. It is bounded by
 * the number of clients, since each counts once in a word, and it is never negative, since the
 * subtraction is issued after a flush of the addition. It does not grow, and nothing in it wraps.
 * Tickets are compared for equality, the clients being fewer than 2^20.
 *
 * A leaf is a bitmap. A client sets its bits by compare-and-swap against the value it
 * has learned, which fails if anything in the word is different. It clears them by subtraction:
 * they are all set, and by it alone, so nothing is borrowed from another's bits, and it cannot
 * fail.
 *
 * What is waited for shows in the low half of the word, as futexes want it: BELOW, OCC and the
 * low bits of DONE lie there.
 */
#ifndef LOCKS_CITRON_WORDS_H
#define LOCKS_CITRON_WORDS_H

#include "locks/citron.h"
#include "locks/lock.h"

enum { BELOW_BITS = 20, DONE_SHIFT = 22, NEXT_SHIFT = 43, TICKET_BITS = 21 };
#define BELOW_ONE INT64_C(1)
#define BELOW_MASK ((INT64_C(1) << BELOW_BITS) - 1)
#define OCC (INT64_C(1) << BELOW_BITS)
#define TICKET_MASK ((INT64_C(1) << TICKET_BITS) - 1)
#define DONE_ONE (INT64_C(1) << DONE_SHIFT)
#define DONE_MASK (TICKET_MASK << DONE_SHIFT)
#define NEXT_ONE (INT64_C(1) << NEXT_SHIFT)
_Static_assert(NEXT_SHIFT + TICKET_BITS == 64 && DONE_SHIFT + TICKET_BITS == NEXT_SHIFT &&
		   BELOW_BITS + 2 == DONE_SHIFT,
	       "the fields fill the word and do not overlap");
/* Clients of a table, at the most. */
#define MOST_CLIENTS (INT64_C(1) << (BELOW_BITS - 1))

static inline int64_t next_of(int64_t word)
{
	return (int64_t)((uint64_t)word >> NEXT_SHIFT);
}

static inline int64_t done_of(int64_t word)
{
	return word >> DONE_SHIFT & TICKET_MASK;
}

/* To add to the word at the end of this ticket's turn. */
static inline int64_t end_of_turn(int64_t ticket)
{
	return ticket == TICKET_MASK ? -DONE_MASK : DONE_ONE;
}

enum { GETS = 128 /* in flight at a time */ };

/* What a client has of a space, and on its way there; in the scratch words of its slot. */
struct citron_hold {
	int64_t got[GETS];
	int64_t nodes; /* of its cover, */
	struct citron_node node[CITRON_NODES];
	int64_t ticket[CITRON_NODES]; /* of inner nodes: */
	int64_t turns;                /* so many of the first nodes are past this, */
	int64_t taken;                /* and so many are held */
	int64_t announced;            /* inner nodes with this client's announcement */
	int64_t above[CITRON_ABOVE];  /* their indices */
	int64_t spill, spill_ticket;  /* has the units behind the tree */
};

/* A space of a table, as a client sees it. */
struct citron_view {
	struct rma_client *c;
	struct citron_hold *h;
	struct rma_word root;
	int height, m;
};

RMA_INLINE struct rma_word word_at(const struct citron_view *v, int64_t index)
{
	struct rma_word w = v->root;

	w.offset += (uint64_t)index * sizeof(int64_t);
	if (w.map)
		w.map += index;
	return w;
}

RMA_INLINE struct rma_word node_word(const struct citron_view *v, struct citron_node n)
{
	return word_at(v, citron_index(n));
}

/* Behind the tree: an inner node with nothing above and below, for all other units. */
RMA_INLINE struct rma_word spill_word(const struct citron_view *v)
{
	return word_at(v, citron_nodes(v->height));
}

#endif
