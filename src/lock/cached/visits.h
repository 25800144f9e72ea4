/* SPDX-License-Identifier: BSD-3-Clause */
/* Lock caching: sharers that count themselves at the home, in VISITS, and cache nothing; README, V.
 */
#ifndef LOCK_CACHED_VISITS_H
#define LOCK_CACHED_VISITS_H

#include "lock/cached/modes.h"

static inline bool dir_is_visited(int64_t d)
{
	return (d & VISITED) != 0;
}

/* VISITS, where the head has looked at it with its swap of TAIL. */
static inline int64_t *visits_seen(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct cached_constants *k = s->state;

	return (int64_t *)lock_scratch(slot) + (uint64_t)SCRATCH_EACH * (uint64_t)k->nodes;
}

/* V1, V2: whether the client is in, while the queue of nodes is empty. */
bool visits_enter(const struct lock_setup *s, struct lock_slot *slot);
/* V3: the head of the queue of nodes, which leaves a directory that is VISITED, is in. */
void visits_count(const struct lock_setup *s, struct lock_slot *slot);
/* V4. PAWL_SUCCESS; LOCK_LEFT only if it may post. */
int visits_leave(const struct lock_setup *s, struct lock_slot *slot, bool posts);
/* V5: whether sharers are in, by VISITS, while TAIL is closed. */
bool visits_are_some(const struct lock_setup *s, struct lock_slot *slot);
/* V5: the last of them is to acknowledge, or not any more. Returns whether there are some. */
bool visits_await(const struct lock_setup *s, struct lock_slot *slot, bool awaits);

#endif
