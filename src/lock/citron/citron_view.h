/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of Citron and their options; and a space of one as a client sees it. */
#ifndef LOCK_CITRON_CITRON_VIEW_H
#define LOCK_CITRON_CITRON_VIEW_H

#include "lock/citron/citron_words.h"
#include "lock/lock.h"

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
	const struct lock_setup *s;
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

#endif
