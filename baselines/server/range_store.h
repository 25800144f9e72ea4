/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Structures that hold the ranges of a space which are granted: a list (range_list.c),
 * an interval tree (range_tree.c), a B-tree (range_btree.c). In one process and one
 * thread; nothing waits here.
 *
 * A space is one pointer, NULL at first. No operation allocates: the list and the
 * tree link the ranges themselves, the B-tree takes its nodes out of a pool made before.
 */
#ifndef BASELINES_SERVER_RANGE_STORE_H
#define BASELINES_SERVER_RANGE_STORE_H

#include <stdbool.h>
#include <stdint.h>

/* A range; in one structure at a time, which has the rest of it. */
struct range {
	int64_t first, last; /* both included */
	bool shared;
	struct range *next;              /* list; and of ranges that wait (range_queue.c) */
	struct range *child[2], *parent; /* tree */
	int64_t most;                    /* tree: the largest last of it and all below */
	int height;
};

struct range_pool;

struct range_store {
	/* For so many ranges at a time, in all spaces together; NULL: no memory. The
	 * three are NULL where no pool is needed. */
	struct range_pool *(*pool_create)(uint64_t ranges);
	void (*pool_free)(struct range_pool *pool);
	/* How many nodes are not in use. */
	uint64_t (*pool_left)(const struct range_pool *pool);
	/* Whether the space has a range that overlaps r; two shared ones do not count. */
	bool (*meets)(void *space, const struct range *r);
	/* Put r in, which meets none. */
	void (*insert)(void **space, struct range_pool *pool, struct range *r);
	/* Take out r, which is in. */
	void (*remove)(void **space, struct range_pool *pool, struct range *r);
	/* Whether all that keeps the structure right and quick holds, and how many ranges
	 * are in: for tests. */
	bool (*is_sound)(void *space, uint64_t *ranges);
};

extern const struct range_store range_list, range_tree, range_btree;

static inline bool range_conflicts(const struct range *a, const struct range *b)
{
	return a->first <= b->last && b->first <= a->last && !(a->shared && b->shared);
}

#endif
