/* SPDX-License-Identifier: BSD-3-Clause */
/* Lock caching: a sharer behind which an exclusive client waits acquires as that does; README, E.
 * Links in the queue of the node say which clients those are. */
#include "lock/cached/behind.h"

#include "lock/cached/near.h"

void behind_link(const struct lock_setup *s, struct lock_slot *slot, int64_t pred)
{
	const bool stays = is_exclusive(slot) && !slot->deadline_ns;

	mcs_link_with(s, slot, RMA_NODE, pred, stays ? MCS_MARK : 0);
}

/* How many places behind the head the first exclusive client is that stays until it has the lock;
 * 0: none is seen. Clients that may leave before it end the look: they would be counted as places.
 * (12.1 M acquires a second, 8.49 M if no link is read: the first command of WRITES_SOME in
 * policy.h.) */
static unsigned find(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	int64_t link = rma_peek(c, slot->next[RMA_NODE]);
	struct rma_word next;

	for (unsigned i = 1; link && !(link & MCS_TIMED); i++) {
		if (link & MCS_MARK)
			return i;
		if (i == BEHIND_MASK)
			break;
		next = slot_next(s, c, RMA_NODE, link);
		rma_get(c, next, &link);
		rma_flush(c, next); /* orders the get before the look at link */
	}
	return 0;
}

bool behind_excludes(const struct lock_setup *s, struct lock_slot *slot, int64_t told)
{
	struct cached_slot *own = lock_own(slot);
	const bool has_w = (told & HEAD_MASK) == HEAD_HAS_W;

	own->behind = has_w ? (unsigned)(told >> BEHIND_SHIFT) & BEHIND_MASK : 0;
	if (slot->mode != PAWL_SHARED || !policy_is_as_writer(own))
		return false;
	if (!own->behind)
		own->behind = find(s, slot) & BEHIND_MASK;
	return own->behind != 0;
}
