/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Disjoint ranges in a B-tree: Citron paper (FAST'23), Table 1, "MT"; the kernel's maple tree
 * (Howlett, LWN, February 2022), a B-tree of ranges whose nodes have 16 branches.
 *
 * Since ranges do not overlap, a range can overlap only the last one that starts before its end:
 * one path down. Nodes are split and merged on the way down, so there is no way back. All nodes
 * except the root have 7 to 15 ranges.
 *
 * Different from the maple tree: inner nodes have ranges, too, and gaps between ranges are not
 * stored (there they are entries, and inner nodes have only borders); nodes are changed in place,
 * because one thread serves (server.h) and no reader passes without a lock; no search for gaps. The
 * maple tree exists in the kernel only, so this is Pawl's own.
 */
#include "baselines/server/range_store.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { DEGREE = 8, LEAST = DEGREE - 1, MOST = 2 * DEGREE - 1 };

struct span {
	int64_t first, last;
};

struct node {
	int spans;
	bool is_leaf;
	struct span span[MOST];
	struct node *child[MOST + 1]; /* child[i]: the ranges before span[i] */
};

struct range_pool {
	uint64_t left;
	struct node **free; /* the first left are free */
	struct node *nodes;
};

/* ------------------------------------------------------------------------- pool */

static void pool_free(struct range_pool *pool)
{
	free(pool->free);
	free(pool->nodes);
	free(pool);
}

/* A tree of r ranges has at most r nodes: the root has one range or more, the others LEAST or
 * more. */
static struct range_pool *pool_create(uint64_t ranges)
{
	struct range_pool *pool = calloc(1, sizeof *pool);

	if (!pool)
		return NULL;
	pool->nodes = calloc(ranges, sizeof *pool->nodes);
	pool->free = calloc(ranges, sizeof(struct node *));
	if (!pool->nodes || !pool->free) {
		pool_free(pool);
		return NULL;
	}
	for (uint64_t i = 0; i < ranges; i++)
		pool->free[i] = &pool->nodes[i];
	pool->left = ranges;
	return pool;
}

static uint64_t pool_left(const struct range_pool *pool)
{
	return pool->left;
}

static struct node *take_node(struct range_pool *pool, bool is_leaf)
{
	struct node *n = pool->free[--pool->left];

	n->spans = 0;
	n->is_leaf = is_leaf;
	return n;
}

static void give_node(struct range_pool *pool, struct node *n)
{
	pool->free[pool->left++] = n;
}

/* ----------------------------------------------------------------------- search */

/* How many of the node's spans start before a unit. */
static int begin_before(const struct node *n, int64_t unit)
{
	int low = 0, high = n->spans;

	while (low < high) {
		int middle = (low + high) / 2;

		if (n->span[middle].first < unit)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool meets(void *space, const struct range *r)
{
	const struct node *n = space;
	/* The last unit of the last range that starts before r's end. */
	int64_t before_last = -1;

	while (n) {
		int i = begin_before(n, r->last);

		if (i < n->spans && n->span[i].first == r->last)
			return true;
		if (i > 0)
			before_last = n->span[i - 1].last;
		n = n->is_leaf ? NULL : n->child[i];
	}
	return before_last >= r->first;
}

/* ----------------------------------------------------------------- split and merge */

static void shift_spans(struct node *n, int from, int by)
{
	memmove(&n->span[from + by], &n->span[from], (size_t)(n->spans - from) * sizeof n->span[0]);
}

static void shift_children(struct node *n, int from, int by)
{
	memmove(&n->child[from + by], &n->child[from],
		(size_t)(n->spans + 1 - from) * sizeof(struct node *));
}

/* Split child i, which is full, of a node that is not: its upper half becomes child i + 1. */
static void split(struct range_pool *pool, struct node *n, int i)
{
	struct node *low = n->child[i], *high = take_node(pool, low->is_leaf);

	memcpy(high->span, &low->span[DEGREE], LEAST * sizeof low->span[0]);
	if (!low->is_leaf)
		memcpy(high->child, &low->child[DEGREE], DEGREE * sizeof(struct node *));
	high->spans = low->spans = LEAST;
	shift_spans(n, i, 1);
	shift_children(n, i + 1, 1);
	n->span[i] = low->span[LEAST];
	n->child[i + 1] = high;
	n->spans++;
}

/* Merge children i and i + 1, with LEAST spans each, and span i between them into child i. */
static void merge(struct range_pool *pool, struct node *n, int i)
{
	struct node *low = n->child[i], *high = n->child[i + 1];

	low->span[LEAST] = n->span[i];
	memcpy(&low->span[DEGREE], high->span, LEAST * sizeof low->span[0]);
	if (!low->is_leaf)
		memcpy(&low->child[DEGREE], high->child, DEGREE * sizeof(struct node *));
	low->spans = MOST;
	shift_spans(n, i + 1, -1);
	shift_children(n, i + 2, -1);
	n->spans--;
	give_node(pool, high);
}

/* Move one span from child i - 1 through n to child i. */
static void borrow_from_low(struct node *n, int i)
{
	struct node *to = n->child[i], *from = n->child[i - 1];

	shift_spans(to, 0, 1);
	if (!to->is_leaf) {
		shift_children(to, 0, 1);
		to->child[0] = from->child[from->spans];
	}
	to->span[0] = n->span[i - 1];
	to->spans++;
	n->span[i - 1] = from->span[--from->spans];
}

/* Move one span from child i + 1 through n to child i. */
static void borrow_from_high(struct node *n, int i)
{
	struct node *to = n->child[i], *from = n->child[i + 1];

	to->span[to->spans++] = n->span[i];
	n->span[i] = from->span[0];
	if (!to->is_leaf) {
		to->child[to->spans] = from->child[0];
		shift_children(from, 1, -1);
	}
	shift_spans(from, 1, -1);
	from->spans--;
}

/* ------------------------------------------------------------------------ insert */

static void insert(void **space, struct range_pool *pool, struct range *r)
{
	struct node *n = *space;
	int i;

	if (!n)
		n = *space = take_node(pool, true);
	if (n->spans == MOST) {
		struct node *top = take_node(pool, false);

		top->child[0] = n;
		split(pool, top, 0);
		n = *space = top;
	}
	for (; !n->is_leaf; n = n->child[i]) {
		i = begin_before(n, r->first);
		if (n->child[i]->spans < MOST)
			continue;
		split(pool, n, i);
		i += n->span[i].first < r->first;
	}
	i = begin_before(n, r->first);
	shift_spans(n, i, 1);
	n->span[i] = (struct span){r->first, r->last};
	n->spans++;
}

/* ------------------------------------------------------------------------ remove */

/* Make child i have more than LEAST spans; returns its index afterwards. */
static int fill(struct range_pool *pool, struct node *n, int i)
{
	if (n->child[i]->spans > LEAST)
		return i;
	if (i > 0 && n->child[i - 1]->spans > LEAST) {
		borrow_from_low(n, i);
		return i;
	}
	if (i < n->spans && n->child[i + 1]->spans > LEAST) {
		borrow_from_high(n, i);
		return i;
	}
	if (i == n->spans)
		i--;
	merge(pool, n, i);
	return i;
}

static struct span first_of(const struct node *n)
{
	while (!n->is_leaf)
		n = n->child[0];
	return n->span[0];
}

static struct span last_of(const struct node *n)
{
	while (!n->is_leaf)
		n = n->child[n->spans];
	return n->span[n->spans - 1];
}

/* Span i of an inner node is to be removed: replace it by its neighbour in a child, which is to be
 * removed there; or merge the children, so that the span moves down. Returns the child to continue
 * in; *first is the start of the span to remove there. */
static int sink(struct range_pool *pool, struct node *n, int i, int64_t *first)
{
	if (n->child[i]->spans > LEAST) {
		n->span[i] = last_of(n->child[i]);
	} else if (n->child[i + 1]->spans > LEAST) {
		n->span[i] = first_of(n->child[i + 1]);
		*first = n->span[i].first;
		return i + 1;
	} else {
		merge(pool, n, i);
		return i;
	}
	*first = n->span[i].first;
	return i;
}

static void take_out(void **space, struct range_pool *pool, struct range *r)
{
	struct node *top = *space, *n = top;
	int64_t first = r->first;
	int i;

	for (i = begin_before(n, first); !n->is_leaf; i = begin_before(n, first)) {
		if (i < n->spans && n->span[i].first == first)
			i = sink(pool, n, i, &first);
		else
			i = fill(pool, n, i);
		n = n->child[i];
	}
	shift_spans(n, i + 1, -1);
	n->spans--;
	if (top->spans > 0)
		return;
	*space = top->is_leaf ? NULL : top->child[0];
	give_node(pool, top);
}

/* --------------------------------------------------------------------- for tests */

/* Whether all spans below n are in order, after *before. Returns the depth; -1: not in order, or
 * not balanced. */
static int depth_of(const struct node *n, bool is_top, int64_t *before, uint64_t *ranges)
{
	int depth = 0;

	if (n->spans > MOST || n->spans < (is_top ? 1 : LEAST))
		return -1;
	for (int i = 0; i <= n->spans; i++) {
		if (!n->is_leaf) {
			int below = depth_of(n->child[i], false, before, ranges);

			if (below < 0 || (i > 0 && below != depth))
				return -1;
			depth = below;
		}
		if (i == n->spans)
			break;
		if (n->span[i].first <= *before || n->span[i].last < n->span[i].first)
			return -1;
		*before = n->span[i].last;
		++*ranges;
	}
	return depth + 1;
}

static bool is_sound(void *space, uint64_t *ranges)
{
	int64_t before = -1;

	*ranges = 0;
	return !space || depth_of(space, true, &before, ranges) > 0;
}

const struct range_store range_btree = {
    .pool_create = pool_create,
    .pool_free = pool_free,
    .pool_left = pool_left,
    .meets = meets,
    .insert = insert,
    .remove = take_out,
    .is_sound = is_sound,
};
