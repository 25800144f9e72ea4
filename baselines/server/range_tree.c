/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranges in an interval tree: Citron paper (FAST'23), Table 1, "IT"; Lustre's structure.
 *
 * A balanced binary tree (AVL) by first units, in which each range also has the largest last unit
 * of all ranges below it. A search goes left if that value shows that a range there may reach the
 * requested one, else right. All operations take logarithmic time; a search for a shared range
 * takes more if it passes many other shared ranges that overlap it.
 *
 * Why it is Pawl's own: no library that Pawl uses, and no small one that is packaged for common
 * systems, has an interval tree. GLib's trees cannot carry a value up in a rotation; the macros of
 * <sys/tree.h> can, but on insertion for one ancestor only, and they come with libbsd; the kernel's
 * are for the kernel. AVL instead of Lustre's red-black tree: as fast, with half the cases.
 */
#include "baselines/server/range_store.h"

#include <stddef.h>

#include "lock/fault.h"

enum { LEFT, RIGHT };

#define LAST_CHILD (FAULT(it_most) ? LEFT : RIGHT)

static int height_of(const struct range *r)
{
	return r ? r->height : 0;
}

/* The order of the tree. Ranges with equal first units are ordered by their addresses. */
static bool is_before(const struct range *a, const struct range *b)
{
	return a->first != b->first ? a->first < b->first : (uintptr_t)a < (uintptr_t)b;
}

/* Compute the values of r that depend on its children. */
static void update(struct range *r)
{
	int left = height_of(r->child[LEFT]), right = height_of(r->child[RIGHT]);

	r->height = 1 + (left > right ? left : right);
	r->most = r->last;
	for (int i = LEFT; i <= LAST_CHILD; i++)
		if (r->child[i] && r->child[i]->most > r->most)
			r->most = r->child[i]->most;
}

/* Put b, which may be NULL, in a's place below a's parent. */
static void replace(void **space, struct range *a, struct range *b)
{
	struct range *parent = a->parent;

	if (b)
		b->parent = parent;
	if (!parent)
		*space = b;
	else
		parent->child[parent->child[RIGHT] == a] = b;
}

static void set_child(struct range *parent, int side, struct range *r)
{
	parent->child[side] = r;
	if (r)
		r->parent = parent;
}

/* The child on this side moves up and r moves down to the other side; returns the child. */
static struct range *rotate(void **space, struct range *r, int side)
{
	struct range *up = r->child[side];

	replace(space, r, up);
	set_child(r, side, up->child[!side]);
	set_child(up, !side, r);
	update(r);
	update(up);
	return up;
}

static struct range *balance(void **space, struct range *r)
{
	int difference = height_of(r->child[RIGHT]) - height_of(r->child[LEFT]);
	int side = difference > 0 ? RIGHT : LEFT;
	struct range *child = r->child[side];

	update(r);
	if (difference >= -1 && difference <= 1)
		return r;
	if (height_of(child->child[!side]) > height_of(child->child[side]))
		rotate(space, child, !side);
	return rotate(space, r, side);
}

/* Rebalance from a range whose children have changed up to the root. */
static void balance_up(void **space, struct range *r)
{
	for (; r; r = r->parent)
		r = balance(space, r);
}

static bool meets_below(const struct range *at, const struct range *r)
{
	while (at && at->most >= r->first) {
		if (range_conflicts(at, r))
			return true;
		if (at->first > r->last) {
			at = at->child[LEFT];
			continue;
		}
		/* A range on the left that reaches r overlaps it, because it starts before this
		 * range does. So the search ends there, unless both are shared. */
		if (meets_below(at->child[LEFT], r))
			return true;
		at = at->child[RIGHT];
	}
	return false;
}

static bool meets(void *space, const struct range *r)
{
	return meets_below(space, r);
}

static void insert(void **space, struct range_pool *pool, struct range *r)
{
	struct range *parent = NULL;
	int side = LEFT;

	(void)pool;
	for (struct range *at = *space; at; at = at->child[side]) {
		parent = at;
		side = is_before(at, r);
	}
	r->child[LEFT] = r->child[RIGHT] = NULL;
	r->parent = parent;
	if (parent)
		parent->child[side] = r;
	else
		*space = r;
	balance_up(space, r);
}

/* Replace a range that has a right child by its successor. */
static void swap_with_next(void **space, struct range *r)
{
	struct range *next = r->child[RIGHT], *changed;

	while (next->child[LEFT])
		next = next->child[LEFT];
	changed = next->parent == r ? next : next->parent;
	if (next->parent != r) {
		replace(space, next, next->child[RIGHT]);
		set_child(next, RIGHT, r->child[RIGHT]);
	}
	replace(space, r, next);
	set_child(next, LEFT, r->child[LEFT]);
	balance_up(space, changed);
}

static void take_out(void **space, struct range_pool *pool, struct range *r)
{
	(void)pool;
	if (r->child[LEFT] && r->child[RIGHT]) {
		swap_with_next(space, r);
		return;
	}
	replace(space, r, r->child[r->child[LEFT] ? LEFT : RIGHT]);
	balance_up(space, r->parent);
}

/* Whether all ranges below r are in order and balanced, with correct values. */
static bool is_sound_below(const struct range *r, const struct range **before, uint64_t *ranges)
{
	struct range copy;

	if (!r)
		return true;
	for (int i = LEFT; i <= RIGHT; i++)
		if (r->child[i] && r->child[i]->parent != r)
			return false;
	if (!is_sound_below(r->child[LEFT], before, ranges))
		return false;
	if (*before && !is_before(*before, r))
		return false;
	*before = r;
	++*ranges;
	copy = *r;
	update(&copy);
	if (copy.height != r->height || copy.most != r->most ||
	    height_of(r->child[LEFT]) - height_of(r->child[RIGHT]) > 1 ||
	    height_of(r->child[RIGHT]) - height_of(r->child[LEFT]) > 1)
		return false;
	return is_sound_below(r->child[RIGHT], before, ranges);
}

static bool is_sound(void *space, uint64_t *ranges)
{
	const struct range *before = NULL;

	*ranges = 0;
	return is_sound_below(space, &before, ranges);
}

#ifndef RANGE_TREE
#define RANGE_TREE range_tree
#endif

const struct range_store RANGE_TREE = {
    .meets = meets,
    .insert = insert,
    .remove = take_out,
    .is_sound = is_sound,
};
