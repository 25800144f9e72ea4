/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranges in a list, sorted by their first units: Citron paper (FAST'23), Table 1, "LLC"; Kogan,
 * Dice and Issa, "Scalable Range Locks for Scalable Address Spaces and Beyond", EuroSys'20.
 *
 * A search passes all ranges that start before the end of the requested one. The original is
 * lock-free, for threads that change it together; here one thread serves (server.h), so links are
 * plain. Shared ranges may overlap at no cost.
 */
#include "baselines/server/range_store.h"

#include <stddef.h>

static bool meets(void *space, const struct range *r)
{
	for (const struct range *at = space; at && at->first <= r->last; at = at->next)
		if (range_conflicts(at, r))
			return true;
	return false;
}

static void insert(void **space, struct range_pool *pool, struct range *r)
{
	struct range *before = NULL, *at = *space;

	(void)pool;
	for (; at && at->first < r->first; at = at->next)
		before = at;
	r->next = at;
	if (before)
		before->next = r;
	else
		*space = r;
}

static void take_out(void **space, struct range_pool *pool, struct range *r)
{
	struct range *before = NULL;

	(void)pool;
	for (struct range *at = *space; at != r; at = at->next)
		before = at;
	if (before)
		before->next = r->next;
	else
		*space = r->next;
}

static bool is_sound(void *space, uint64_t *ranges)
{
	*ranges = 0;
	for (const struct range *at = space; at; at = at->next) {
		++*ranges;
		if (at->next && at->next->first < at->first)
			return false;
	}
	return true;
}

const struct range_store range_list = {
    .meets = meets,
    .insert = insert,
    .remove = take_out,
    .is_sound = is_sound,
};
