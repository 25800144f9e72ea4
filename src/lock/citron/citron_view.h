/* SPDX-License-Identifier: BSD-3-Clause */
/* Citron's options and constants, and a space as a client sees it. */
#ifndef LOCK_CITRON_CITRON_VIEW_H
#define LOCK_CITRON_CITRON_VIEW_H

#include "lock/citron/citron_words.h"
#include "lock/lock.h"

struct citron_options {
	int64_t units;      /* of a space */
	int64_t units_most; /* the largest size of the tree; 0: it does not grow */
	int grow_by_call;   /* pawl_range_grow() lets it grow, not a client that needs units */
	int only_slow_path;
	int64_t k;          /* nodes in the cover of a range, at most; 0: the cover is exact */
	int64_t m;          /* number of depths that a client looks at */
	int64_t lease_us;   /* 0: none */
	int64_t recoveries; /* at one home, at most */
};
_Static_assert(sizeof(struct citron_options) <= LOCK_OPTION_BYTES, "the options fit");

RMA_INLINE const struct citron_options *options_of(const struct lock_setup *s)
{
	return lock_options(s);
}

static inline int64_t lease_ns(const struct lock_setup *s)
{
	return options_of(s)->lease_us * 1000;
}

/* The constants of a table. */
struct citron {
	uint64_t tops;   /* offset of TOP, TOP_BYTES for each space */
	uint64_t trees;  /* offset of the first copies */
	uint64_t stride; /* bytes of a copy */
	uint64_t spares; /* offset of the spare copies of a home */
	uint64_t owners; /* offset of a word for each spare copy: 0, or 1 + the space that has taken
			    it */
	int64_t n_spares;
	int height, start; /* of the largest tree, and of the first one */
	/* Index of the first stripe of each level: depth height - (i + 1) * span, of `nodes` words
	 * each, a multiple of 8. */
	int span, levels;
	int64_t first_leaf; /* index of leaf 0 */
	int64_t queues;     /* of the first queue */
	struct {
		int64_t first, nodes;
	} level[CITRON_MOST_HEIGHT / 2];
};
enum { TOP_BYTES = 64, LINE_WORDS = 8, STRIPES = 8, QUEUES = 1024, KNOWN_QUEUES = 16 };

enum { GETS = 512 /* in flight at a time */, KNOWN_TOPS = 4 };

/* What a client has of a space, in its slot's scratch. */
struct citron_hold {
	int64_t got[GETS];
	int64_t still[2]; /* of R3, in which got[] stays as it is */
	int64_t nodes;    /* number of nodes in its cover */
	struct citron_node node[CITRON_NODES];
	int64_t ticket[CITRON_NODES]; /* of inner nodes */
	int64_t turns;                /* this many of the first nodes have had their turn */
	int64_t taken;                /* this many are held */
	int64_t announced;            /* number of inner nodes with this client's announcement */
	int64_t above[CITRON_ABOVE];  /* their indices */
	int64_t spill, spill_ticket;  /* spill: has the units behind the tree */
	int64_t queue, queue_ticket;  /* queue: index of the queue in which it has its turn, or 0 */
	int64_t top;                  /* TOP when the nodes were taken */
	int64_t since;                /* start of its lease */
	int64_t ahead;                /* clients ahead of it when it drew its last ticket */
	int64_t queue_long;           /* what this client has added to BELOW there */
	bool early;                   /* it was let in before the turn before had ended */
	bool begun;                   /* Q1 has been sent for this turn */
	bool busy;                    /* RAISED was not 0 at the last look */
	uint64_t got_at;              /* time at which the leaves were got, or 0 */
	/* What stays after a release: the first word of a copy, with space + 1 and the copy's
	 * number; */
	struct rma_word first;
	int64_t first_space, first_copy;
	/* and space + 1 and the last known TOP, for a few spaces. */
	int64_t known[KNOWN_TOPS][2];
	/* Whether the last critical section was short, and how many requests in a row have come to
	 * nothing after the end of a turn. */
	bool brief;
	int missed;
	uint64_t trip; /* time of the last request */
	/* Of the last request that ended a turn: when it began, and how long it took to be sent. */
	uint64_t sending_since, sending;
	uint64_t look; /* time of the quickest look in its last wait for a turn */
	/* Index of a queue in which this client has found many clients, by the index modulo
	 * KNOWN_QUEUES; or 0.
	 */
	int64_t queued[KNOWN_QUEUES];
};

/* A space of a table, as seen by a client that acquires or releases. */
struct citron_view {
	const struct lock_setup *s;
	const struct citron *k;
	struct lock_slot *slot;
	struct rma_client *c;
	struct citron_hold *h;
	struct rma_word root; /* the first word of the copy; all words of a space are at its home */
	int64_t top;          /* the last known TOP */
	int64_t units;        /* number of units in the tree */
	int height, m;        /* height: depth of the leaves */
	int depth;            /* depth of the root */
	bool grows;           /* the root may move */
	bool leases;          /* the copy may change */
	bool shut;            /* the known root is wrong: start again */
	bool gone;            /* the copy is dead: nothing has to be taken back */
	int error;            /* PAWL_ERR_*, if the call cannot succeed */
	int told;             /* the code of an acquire: PAWL_SUCCESS or PAWL_RECOVERED */
	int64_t met;          /* index of the word that was last in the way, */
	int64_t met_bits;     /* and, in a leaf, its bits that were */
};

/* Neighbouring leaves are in different cache lines. */
RMA_INLINE int64_t place_of(const struct citron_view *v, int64_t index)
{
	uint64_t leaves = UINT64_C(1) << 2 * v->height;
	uint64_t at = (uint64_t)(index - v->k->first_leaf); /* wraps above the leaves */

	if (at >= leaves || v->height == 1)
		return index;
	at = at % LINE_WORDS * (leaves / LINE_WORDS) + at / LINE_WORDS;
	return v->k->first_leaf + (int64_t)at;
}

RMA_INLINE struct rma_word word_at(const struct citron_view *v, int64_t index)
{
	struct rma_word w = v->root;

	index = place_of(v, index);

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

/* The word where fast clients under n announce themselves; n is at the depth of this level. */
static inline int64_t stripe_index(const struct citron_view *v, int level, int64_t stripe,
				   int64_t at)
{
	return v->k->level[level].first + stripe * v->k->level[level].nodes + at;
}

static inline struct rma_word root_word(const struct citron_view *v)
{
	return node_word(v, (struct citron_node){v->depth, 0});
}

/* Whether the word that was in the way is a leaf. */
static inline bool citron_met_leaf(const struct citron_view *v)
{
	return v->met >= citron_nodes(v->height - 1) && v->met < spill_index(v);
}

static inline bool is_leaf(const struct citron_view *v, struct citron_node n)
{
	return n.depth == v->height;
}

/* The bits that the client wants in leaf i of its cover. */
static inline int64_t mask_of(const struct citron_view *v, int64_t i)
{
	return citron_mask(v->h->node[i], v->slot->first, v->slot->last);
}

#endif
