/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lock tree of Citron (FAST'23, Sections 3.3 and 3.5.1) as arithmetic: where each node is, and
 * which nodes cover a range. Pure functions, which access no word.
 *
 * The tree is quaternary and perfect. Depth 0 is the root; at depth `height` are the leaves, of 64
 * units each. Nodes are in level order, with one word each.
 */
#ifndef LOCK_CITRON_CITRON_H
#define LOCK_CITRON_CITRON_H

#include <stdbool.h>
#include <stdint.h>

enum {
	CITRON_LEAF_UNITS = 64,
	CITRON_LEAF_BITS = 6, /* bits of a unit's number within a leaf */
	CITRON_MOST_HEIGHT = 17,
	CITRON_MOST_SPLIT = 8, /* the largest k */
	/* An exact cover has at most three nodes on each side of each level. */
	CITRON_NODES = 6 * CITRON_MOST_HEIGHT + 2,
	/* Inner nodes above the nodes of a cover: two paths, and the parents of leaves that stand
	 * for their parent. */
	CITRON_ABOVE = 2 * CITRON_MOST_HEIGHT + CITRON_MOST_SPLIT
};

/* A node: number `at` of its depth. */
struct citron_node {
	int64_t depth, at;
};

/* The least height, 1 or more, of a tree with this many units; -1 if there is none. */
int citron_height(int64_t units);

/* The number of units of a tree, and of its nodes. */
static inline int64_t citron_units(int height)
{
	return INT64_C(1) << (2 * height + CITRON_LEAF_BITS);
}

static inline int64_t citron_nodes(int height)
{
	return (int64_t)(((UINT64_C(1) << (2 * height + 2)) - 1) / 3);
}

/* Its index in the array of words. */
static inline int64_t citron_index(struct citron_node n)
{
	return (INT64_C(1) << 2 * n.depth) / 3 + n.at;
}

static inline struct citron_node citron_above(struct citron_node n, int64_t depth)
{
	return (struct citron_node){depth, n.at >> 2 * (n.depth - depth)};
}

static inline int64_t citron_first(int height, struct citron_node n)
{
	return n.at << (2 * (height - n.depth) + CITRON_LEAF_BITS);
}

static inline int64_t citron_last(int height, struct citron_node n)
{
	return citron_first(height, (struct citron_node){n.depth, n.at + 1}) - 1;
}

static inline bool citron_is_under(struct citron_node n, struct citron_node top)
{
	return top.depth <= n.depth && citron_above(n, top.depth).at == top.at;
}

/* The depths at which a client at a node of this depth announces itself, the lowest first. Returns
 * how many. */
int citron_notified(int64_t depth, int m, int64_t *depths);

/* The lowest node that covers first to last. */
struct citron_node citron_cover(int height, int64_t first, int64_t last);

/* Cover first to last by at most k nodes, in ascending order, with as few other units as possible
 * (units of leaves do not count), and then with as few nodes as possible. Returns how many. */
int citron_split(int height, int64_t first, int64_t last, int k, struct citron_node *nodes);

/* The units of first to last in a leaf, as bits. */
static inline int64_t citron_mask(struct citron_node leaf, int64_t first, int64_t last)
{
	int64_t low = first - leaf.at * CITRON_LEAF_UNITS,
		high = last - leaf.at * CITRON_LEAF_UNITS;

	if (low < 0)
		low = 0;
	if (high > CITRON_LEAF_UNITS - 1)
		high = CITRON_LEAF_UNITS - 1;
	return (int64_t)(UINT64_MAX >> (CITRON_LEAF_UNITS - 1 - (high - low)) << low);
}

/* What to add to a leaf to clear these bits. INT64_MIN, bit 63 alone, is its own negative. */
static inline int64_t citron_clearing(int64_t bits)
{
	return (int64_t)(UINT64_C(0) - (uint64_t)bits);
}

#endif
