/* SPDX-License-Identifier: BSD-3-Clause */
/* Lock caching: sharers that count themselves at the home, in UNCACHED, and cache nothing; README,
 * U.
 */
#ifndef LOCK_CACHED_UNCACHED_H
#define LOCK_CACHED_UNCACHED_H

#include "lock/cached/directory.h"
#include "lock/cached/modes.h"

/* UNCACHED, where the head has looked at it with its swap of TAIL, or has paid. */
static inline int64_t *uncached_seen(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct cached_constants *k = s->state;

	return (int64_t *)lock_scratch(slot) + (uint64_t)SCRATCH_EACH * (uint64_t)k->nodes;
}

/* U1, U2: whether the client is in, while the queue of nodes is empty. */
bool uncached_enter(const struct lock_setup *s, struct lock_slot *slot);
/* U3: the client is counted when it has flushed its look at W of the home's node, which is at the
 * same rank. */
void uncached_begin(const struct lock_setup *s, struct lock_slot *slot);
/* U3: so many sharers are in; the queue is left after that. */
void uncached_count(const struct lock_setup *s, struct lock_slot *slot, int64_t sharers);
/* U3: those that came with the grant are counted, unless there are none, and UNCACHED is seen.
 * Returns the directory without them. */
int64_t uncached_pay(const struct lock_setup *s, struct lock_slot *slot, int64_t dir);
/* U4. PAWL_SUCCESS; LOCK_LEFT only if it may post. */
int uncached_leave(const struct lock_setup *s, struct lock_slot *slot, bool posts);
/* U5: whether there are uncached sharers, while TAIL is closed. */
bool uncached_are_some(const struct lock_setup *s, struct lock_slot *slot);
/* U5: the last of them is to acknowledge, or not any more. Returns whether there are some. */
bool uncached_await(const struct lock_setup *s, struct lock_slot *slot, bool awaits);

#endif
