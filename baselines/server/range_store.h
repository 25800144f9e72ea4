/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Structures for the granted ranges of a space: a list (range_list.c), an interval tree
 * (range_tree.c), a B-tree (range_btree.c). They are used by one thread, and nothing waits here.
 *
 * A space is one pointer, NULL at first. No operation allocates: the list and the tree link the
 * ranges themselves, and the B-tree takes its nodes from a pool that is made before.
 */
#ifndef BASELINES_SERVER_RANGE_STORE_H
#define BASELINES_SERVER_RANGE_STORE_H

#include <stdbool.h>
#include <stdint.h>

/* A range, with the members that the structures need. It is in one structure at a time. */
struct range {
	int64_t first, last; /* both included */
	bool shared;
	struct range *next; /* in the list, and in the list of awaited ranges (range_queue.c) */
	struct range *child[2], *parent; /* in the tree */
	int64_t most; /* in the tree: the largest last of this range and all below it */
	int height;
};

struct range_pool;

struct range_store {
	/* A pool for this many ranges at a time, in all spaces together; NULL: no memory. These
	 * three are NULL if no pool is needed. */
	struct range_pool *(*pool_create)(uint64_t ranges);
	void (*pool_free)(struct range_pool *pool);
	/* The number of unused nodes. */
	uint64_t (*pool_left)(const struct range_pool *pool);
	/* Whether the space has a range that overlaps r and is not shared with it. */
	bool (*meets)(void *space, const struct range *r);
	/* Insert r, which conflicts with no range. */
	void (*insert)(void **space, struct range_pool *pool, struct range *r);
	/* Remove r, which is in the structure. */
	void (*remove)(void **space, struct range_pool *pool, struct range *r);
	/* Whether all invariants of the structure hold, and the number of its ranges: for tests. */
	bool (*is_sound)(void *space, uint64_t *ranges);
};

extern const struct range_store range_list, range_tree, range_btree;

static inline bool range_conflicts(const struct range *a, const struct range *b)
{
	return a->first <= b->last && b->first <= a->last && !(a->shared && b->shared);
}

#endif
