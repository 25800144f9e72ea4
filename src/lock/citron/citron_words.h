/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words of Citron (Section 3.4) without masked atomics: only fetch-and-add, fetch-or and
 * compare-and-swap on whole words.
 *
 * An inner node is one word. From the top:
 *   NEXT   21 bits  the ticket that the next client draws (the paper's TMax)
 *   DONE   21 bits  the ticket whose turn it is (TCnt)
 *   SHUT    1 bit   a client that takes this node for the root has to learn again where the root is
 *   OCC     1 bit   the client whose turn it is excludes clients that come to a node below (Exp)
 *   BELOW  20 bits  number of clients of the slow path, at nodes below, that have announced
 *                   themselves here
 *
 * Why no field can carry into another, in any order of the additions:
 *   NEXT    only grows, by one for each client, and wraps off the top of the word.
 *   DONE    is changed only by the holder of the ticket, which knows its value: where it would
 *           carry, the holder subtracts all of it instead of adding one.
 *   SHUT    is set by compare-and-swap against a word without it, and cleared only while no client
 *           has anything of the space.
 *   OCC     is set and cleared by the holder only, in turns.
 *   BELOW   is the difference of the paper's DMax and DCnt. It is at most the number of clients,
 *           because each counts once in a word, and never negative, because the subtraction is
 *           issued after a flush of the addition. It never wraps.
 * Tickets are compared for equality; there are fewer than 2^20 clients.
 *
 * A leaf is a bitmap. A client sets its bits by fetch-or, and owns those that its fetch-or has
 * changed. It clears its own bits by a subtraction: all of them are set, by this client, so the
 * subtraction borrows from no other bits, and cannot fail.
 *
 * Neighbouring leaves are in different cache lines (place_of() in citron_view.h), because popular
 * units are often neighbours.
 *
 * A futex compares 32 bits (wait.c). What clients wait for at an inner node shows in the low half
 * of the word: BELOW, OCC and the low bits of DONE are there, and each change of TOP changes GROWN,
 * SETTLED or the lowest bit of ERA. A client that waits for bits in a leaf's upper half sleeps on
 * that half.
 *
 * The tree in memory is the largest one that the space may ever have (option units_most), and is
 * there from the start; the system allocates its pages when they are touched. The tree in use is
 * its left-most subtree of some height. After the words of a tree come
 *   SPILL   an inner word with no node above or below: tickets for all units behind the tree
 *   RAISED  number of inner nodes of the copy that are occupied, or about to be, or just were
 *   MAX     the maximizer: the largest number of units that were requested behind the tree; changed
 *           only in a turn at SPILL
 *   PASSED  how often clients have given everything back because the space was frozen, or its tree
 *           grew
 *   stripes  for each level of the tree above the leaves (citron.c), STRIPES words for each of its
 *           nodes: the number of clients of the fast path, at leaves below, that have announced
 *           themselves in it. Stripes of one node are in different cache lines
 *   queues  QUEUES words of tickets, in the format of inner nodes; but a ticket counts two in NEXT,
 *           and its turn two in DONE, one after the other (citron_queue.c)
 * A tree with these words is a copy. A space has one; after a failure it continues with a
 * spare copy of its home. The word TOP of a space says which tree is in use, from the low end:
 *   GROWN    5 bits  how much higher the tree is than at first
 *   SETTLED  5 bits  no client is left that takes the tree for lower than this
 *   ERA     29 bits  counts how often the space was frozen and opened again; odd: it is frozen
 *   COPY    25 bits  0: the first copy; else a spare one
 * TOP changes only by compare-and-swap. It never has a value again while a client may wait for it
 * to change: ERA is counted up, and within an era a tree only grows. (ERA wraps after some hundred
 * million freezes, each of which takes leases. A tree shrinks only while no client has anything of
 * the space.)
 */
#ifndef LOCK_CITRON_CITRON_WORDS_H
#define LOCK_CITRON_CITRON_WORDS_H

#include "lock/citron/citron.h"

enum { BELOW_BITS = 20, DONE_SHIFT = 22, NEXT_SHIFT = 43, TICKET_BITS = 21 };
#define BELOW_ONE INT64_C(1)
#define BELOW_MASK ((INT64_C(1) << BELOW_BITS) - 1)
#define OCC (INT64_C(1) << BELOW_BITS)
#define SHUT (INT64_C(1) << (BELOW_BITS + 1))
#define TICKET_MASK ((INT64_C(1) << TICKET_BITS) - 1)
#define DONE_ONE (INT64_C(1) << DONE_SHIFT)
#define DONE_MASK (TICKET_MASK << DONE_SHIFT)
#define NEXT_ONE (INT64_C(1) << NEXT_SHIFT)
_Static_assert(NEXT_SHIFT + TICKET_BITS == 64 && DONE_SHIFT + TICKET_BITS == NEXT_SHIFT &&
		   BELOW_BITS + 2 == DONE_SHIFT,
	       "the fields fill the word and do not overlap");
/* Each table has fewer clients than this. */
#define MOST_CLIENTS (INT64_C(1) << (BELOW_BITS - 1))

static inline int64_t next_of(int64_t word)
{
	return (int64_t)((uint64_t)word >> NEXT_SHIFT);
}

static inline int64_t done_of(int64_t word)
{
	return word >> DONE_SHIFT & TICKET_MASK;
}

/* Whether no client is at the inner node or below, on its way there or above an old root. */
static inline bool is_idle(int64_t word)
{
	return next_of(word) == done_of(word) && !(word & (OCC | SHUT | BELOW_MASK));
}

/* What to add to the word at the end of this ticket's turn. */
static inline int64_t end_of_turn(int64_t ticket)
{
	return ticket == TICKET_MASK ? -DONE_MASK : DONE_ONE;
}

/* In a queue a place counts this many in NEXT, and its turn as many in DONE. */
enum { PLACE_STEPS = 2 };
/* The last place of a queue before NEXT and DONE wrap. */
#define LAST_PLACE (TICKET_MASK + 1 - PLACE_STEPS)

/* Fields of TOP. */
enum { GROWN_BITS = 5, SETTLED_SHIFT = 5, ERA_SHIFT = 10, ERA_BITS = 29, COPY_SHIFT = 39 };
_Static_assert(CITRON_MOST_HEIGHT < 1 << GROWN_BITS && ERA_SHIFT == SETTLED_SHIFT + GROWN_BITS &&
		   COPY_SHIFT == ERA_SHIFT + ERA_BITS,
	       "the fields of TOP hold their values and do not overlap");

static inline int grown_of(int64_t top)
{
	return (int)(top & ((1 << GROWN_BITS) - 1));
}

static inline int settled_of(int64_t top)
{
	return grown_of(top >> SETTLED_SHIFT);
}

static inline int64_t era_of(int64_t top)
{
	return top >> ERA_SHIFT & ((INT64_C(1) << ERA_BITS) - 1);
}

static inline bool is_frozen(int64_t top)
{
	return era_of(top) & 1;
}

static inline int64_t copy_of(int64_t top)
{
	return (int64_t)((uint64_t)top >> COPY_SHIFT);
}

static inline int64_t top_make(int64_t copy, int64_t era, int grown, int settled)
{
	uint64_t bits = (uint64_t)era & ((UINT64_C(1) << ERA_BITS) - 1);

	return (int64_t)((uint64_t)copy << COPY_SHIFT | bits << ERA_SHIFT |
			 (uint64_t)settled << SETTLED_SHIFT | (uint64_t)grown);
}

/* TOP in the next era: frozen if it was open, open if it was frozen. */
static inline int64_t next_era(int64_t top)
{
	return top_make(copy_of(top), era_of(top) + 1, grown_of(top), settled_of(top));
}

#endif
