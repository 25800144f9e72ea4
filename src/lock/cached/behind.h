/* SPDX-License-Identifier: BSD-3-Clause */
/* Lock caching: a sharer behind which an exclusive client waits; README, E. */
#ifndef LOCK_CACHED_BEHIND_H
#define LOCK_CACHED_BEHIND_H

#include "lock/cached/policy.h"

/* The client queues behind that slot of its node. */
void behind_link(const struct lock_setup *s, struct lock_slot *slot, int64_t pred);
/* E: whether the head of the queue of its node, which has been told this, is a sharer that acquires
 * as an exclusive client does. */
bool behind_excludes(const struct lock_setup *s, struct lock_slot *slot, int64_t told);

#endif
