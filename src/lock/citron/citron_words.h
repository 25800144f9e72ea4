/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words of Citron (section 3.4), without masked atomics: only fetch-and-add and
 * compare-and-swap on whole words; and what the files of the lock share.
 *
 * An inner node is one word. From the top:
 *   NEXT   21 bits  the ticket that the next client draws (the paper's TMax)
 *   DONE   21 bits  the ticket whose turn it is (TCnt)
 *   SHUT    1 bit   a client that takes this node for the root has to learn anew where that is
 * (Exp) OCC     1 bit   the client whose turn it is keeps out those that come to a node below BELOW
 * 20 bits  clients at nodes below that have announced themselves here
 *
 * Why no field can spill into another, whatever the order of the additions:
 *   NEXT    only grows, by one a client, and wraps off the top of the word.
 *   DONE    is changed by the holder of the ticket alone, which knows its value: where it would
 *           carry, the holder subtracts all of it instead of adding one.
 *   SHUT    is set by compare-and-swap against a word without it, and cleared only while nobody
 *           has anything of the space.
 *   OCC     is set and cleared by the holder alone, in turns.
 *   BELOW   is the difference of the paper's DMax and DCnt. It is bounded by the number of
 *           clients, since each counts once in a word, and it is never negative, since the
 *           subtraction is issued after a flush of the addition. It does not grow, and nothing in
 *           it wraps.
 * Tickets are compared for equality, the clients being fewer than 2^20.
 *
 * A leaf is a bitmap. A client sets its bits by compare-and-swap against the value it
 * has learned, which fails if anything in the word is different. It clears them by subtraction:
 * they are all set, and by it alone, so nothing is borrowed from another's bits, and it cannot
 * fail.
 *
 * Futexes compare 32 bits (wait.c). What is waited for at an inner node shows in the low half of
 * the word: BELOW, OCC and the low bits of DONE lie there, and all changes of TOP but one in
 * millions. A client that waits for bits of a leaf's upper half sleeps on that half.
 *
 * The tree in memory is the largest one that the space may ever have (option units_most), and lies
 * there from the beginning; its pages come when they are touched. The tree in use is its left-most
 * subtree of some height. Behind the words of a tree lie
 *   SPILL   an inner word with nothing above and below: tickets for all units behind the tree
 *   RAISED  how many inner nodes of the copy are occupied, or will be or were just now
 *   MAX     the maximizer: units that were asked for behind the tree, the most; changed only in
 *           a turn at SPILL
 *   PASSED  how often a client has given all back because the space was frozen, or its tree grew
 * A tree with these four is a copy. A space has one, and may go on with a spare one of its home,
 * after a failure. Word TOP of a space says which tree is in use, from the low end:
 *   GROWN    5 bits  how much higher it is than at first
 *   SETTLED  5 bits  no client is left that took the root for lower than that
 *   ERA     29 bits  counts how often the space was frozen and opened again; odd: it is frozen
 *   COPY    25 bits  0: the first one; else a spare one
 * It changes by compare-and-swap only. No value comes twice while somebody may wait for it to
 * change: ERA is counted up, and in one era a tree only grows. (ERA wraps after some hundred
 * million freezes, each of which takes leases. A tree shrinks only while nobody has anything of
 * the space.)
 */
#ifndef LOCK_CITRON_CITRON_WORDS_H
#define LOCK_CITRON_CITRON_WORDS_H

#include "lock/citron/citron.h"
#include "lock/lock.h"

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

/* Of an inner node: nobody is at it or below, on the way there or beyond. */
static inline bool is_idle(int64_t word)
{
	return next_of(word) == done_of(word) && !(word & (OCC | SHUT | BELOW_MASK));
}

/* To add to the word at the end of this ticket's turn. */
static inline int64_t end_of_turn(int64_t ticket)
{
	return ticket == TICKET_MASK ? -DONE_MASK : DONE_ONE;
}

/* Of TOP. */
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

/* The same in the next era: frozen if it was open, and open if it was frozen. */
static inline int64_t next_era(int64_t top)
{
	return top_make(copy_of(top), era_of(top) + 1, grown_of(top), settled_of(top));
}

/* The constants of a table. */
struct citron {
	uint64_t tops;   /* offset of TOP, TOP_BYTES a space */
	uint64_t trees;  /* offset of the first copies, */
	uint64_t stride; /* bytes of one */
	uint64_t spares; /* offset of the spare copies of a home, */
	uint64_t owners; /* and of a word each: 0, or the space that has taken it, + 1 */
	int64_t n_spares;
	int height, start; /* of the largest tree, and of the one at first */
};
enum { TOP_BYTES = 64 };

enum { GETS = 128 /* in flight at a time */, KNOWN_TOPS = 4 };

/* What a client has of a space, and on its way there; in its slot's scratch. */
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
	int64_t top;                  /* TOP as it was then */
	int64_t since;                /* when its lease begins */
	bool busy;                    /* RAISED was not 0 when last seen */
	/* What stays when all is released: space + 1 and its TOP as last seen, of a few spaces. */
	int64_t known[KNOWN_TOPS][2];
};

/* A space of a table, as a client sees it on the way to a range or back. */
struct citron_view {
	const struct lock_space *s;
	const struct citron *k;
	struct lock_slot *slot;
	struct rma_client *c;
	struct citron_hold *h;
	struct rma_word root; /* the first word of the copy; all words of a space are at its home */
	int64_t top;          /* TOP as known */
	int64_t units;        /* in the tree */
	int height, m;        /* depth of the leaves */
	int depth;            /* of the root */
	bool grows;           /* it may be another one later, */
	bool leases;          /* or another copy */
	bool shut;            /* the root is not what we know: begin again */
	bool gone;            /* and the copy is dead: nothing has to be taken back */
	int error;            /* nothing can be done */
	int64_t met;          /* index of the word that was last in the way */
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

static inline int64_t spill_index(const struct citron_view *v)
{
	return citron_nodes(v->height);
}

RMA_INLINE struct rma_word spill_word(const struct citron_view *v)
{
	return word_at(v, spill_index(v));
}

static inline struct rma_word max_word(const struct citron_view *v)
{
	return word_at(v, spill_index(v) + 1);
}

static inline struct rma_word raised_word(const struct citron_view *v)
{
	return word_at(v, spill_index(v) + 2);
}

static inline struct rma_word passed_word(const struct citron_view *v)
{
	return word_at(v, spill_index(v) + 3);
}

static inline struct rma_word root_word(const struct citron_view *v)
{
	return node_word(v, (struct citron_node){v->depth, 0});
}

static inline bool is_leaf(const struct citron_view *v, struct citron_node n)
{
	return n.depth == v->height;
}

/* The bits of leaf i of the cover that its client wants. */
static inline int64_t mask_of(const struct citron_view *v, int64_t i)
{
	return citron_mask(v->h->node[i], v->slot->first, v->slot->last);
}

struct citron_options {
	int64_t units;      /* of a space */
	int64_t units_most; /* that the tree may grow to; 0: it does not grow */
	int grow_by_call;   /* pawl_range_grow(), and not a client that needs it */
	int only_slow_path;
	int64_t k;          /* nodes of the cover of a range, at most; 0: the cover is exact */
	int64_t m;          /* depths that a client looks at */
	int64_t lease_us;   /* 0: none */
	int64_t recoveries; /* of one home, at most */
};
_Static_assert(sizeof(struct citron_options) <= LOCK_OPTION_BYTES, "the options fit");

RMA_INLINE const struct citron_options *options_of(const struct lock_space *s)
{
	return lock_options(s);
}

static inline int64_t lease_ns(const struct lock_space *s)
{
	return options_of(s)->lease_us * 1000;
}

/* citron_top.c ------------------------------------------------------------ */

/* The space of the slot, under the TOP that its client knows. */
struct citron_view citron_look(const struct lock_space *s, struct lock_slot *slot);
/* Under another TOP, with nothing held or announced. */
void citron_adopt(struct citron_view *v, int64_t top);
/* The tree that a hold was taken in. */
struct citron_view citron_look_back(const struct lock_space *s, struct lock_slot *slot);
/* TOP as it is now; one round trip. */
int64_t citron_read_top(struct citron_view *v);
struct rma_word citron_top_word(const struct citron_view *v);
/* Whether a look at TOP permits to go on with what we know: the copy is in use, and not frozen. */
static inline bool citron_is_open(const struct citron_view *v, int64_t top)
{
	return copy_of(top) == copy_of(v->top) && !is_frozen(top);
}
/* Swap it; what was there. Wakes those that wait for it. */
int64_t citron_swap_top(struct citron_view *v, int64_t expected, int64_t top);
/* Set SHUT in the root; the word as it is then. */
void citron_shut(struct citron_view *v);
/* In a turn at SPILL: whether TOP is still what we know. If not, or if the tree was
 * grown right now for units up to last, v->shut. */
bool citron_may_spill(struct citron_view *v, int64_t last);
/* Make room for so many units, in a turn at SPILL; v->shut afterwards. */
void citron_raise(struct citron_view *v, int64_t units);
/* No client is left that takes an old root for the root. */
void citron_settle(struct citron_view *v);

/* citron_lease.c ---------------------------------------------------------- */

/* What is waited for, and by what it shows that somebody is alive. */
struct citron_wait {
	int64_t index; /* of the word */
	int64_t mask, value;
	int64_t same;  /* bits that would change; 0: there are no such */
	int64_t stuck; /* or bits of which none would stay set; 0: no such */
	bool idle;     /* an inner node with nobody there will do as well */
	enum rma_patience patience;
	const char *what;
};
/* False: v->gone, or v->error. *value is the word as it was at the latest. */
bool citron_await(struct citron_view *v, const struct citron_wait *w, int64_t *value);
/* What a client knows of the place where its tries have failed since when; index -1: the space was
 * frozen, and value is TOP. */
struct citron_watch {
	int64_t index, value;
	uint64_t since;
};
/* After a try that v->met something: recover if it is the same for too long. */
void citron_watch(struct citron_view *v, struct citron_watch *watch);
/* Wait until TOP is not what we know, and adopt it. PAWL_ERR_TOO_MANY: it never will be. */
int citron_renew(struct citron_view *v);
/* A lease begins: before a look at the root. */
void citron_lease_begin(struct citron_view *v);
/* Whether what was acquired is ours for most of a lease. */
bool citron_confirm(struct citron_view *v);
/* After a release. */
int citron_lease_end(struct citron_view *v);

/* citron_fast.c, citron_slow.c -------------------------------------------- */

/* At inner nodes; no flush. */
void citron_announce(struct citron_view *v, struct citron_node n);
void citron_withdraw(struct citron_view *v, int64_t keep);

/* A look at the nodes above nodes from to to - 1 of the cover; words that were got are in got[]. */
enum {
	GOT_SWAPPED = 4 * CITRON_MOST_SPLIT,
	GOT_ABOVE = 2 * GOT_SWAPPED,
	GOT_RAISED = GETS - 3,
	GOT_ROOT,
	GOT_TOP
};
struct citron_vacancy {
	int64_t from, to, count;
	bool all; /* the nodes were asked for, and not only RAISED */
	struct citron_node node[GOT_RAISED - GOT_ABOVE];
};
/* No flush. */
void citron_ask_above(struct citron_view *v, struct citron_vacancy *a);
/* A3, after the flush: whether none is occupied; else v->met, or the root shut. */
bool citron_is_vacant(struct citron_view *v, struct citron_vacancy *a);
bool citron_await_vacant(struct citron_view *v, int64_t index);

/* The leaves of a range, if they are few; 0 if not. */
int64_t citron_few_leaves(const struct citron_view *v);
/* All or nothing. */
bool citron_try_leaves(struct citron_view *v, int64_t leaves);
/* Until v->met lets its bits go, or is not occupied any more. */
bool citron_await_leaves(struct citron_view *v);

/* The cover in h, wholly or not at all. A client that waits may meet OCC `most` times at a node. */
#define FOREVER UINT64_MAX
bool citron_take_cover(struct citron_view *v, uint64_t most, bool wait);
/* A ticket at an inner node and its turn; or, if it is only a try, if it is its turn. */
bool citron_take_turn(struct citron_view *v, int64_t index, bool wait, int64_t *ticket);
/* Everything that is held, and all tickets; one round trip. */
void citron_release_all(struct citron_view *v);

#endif
