/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind cached: what the head of the queue of nodes does to be in; C, S and D4 of README. */
#ifndef LOCK_CACHED_RECALL_H
#define LOCK_CACHED_RECALL_H

#include "lock/cached/nodes.h"

/* The node is the head, with this directory: recall the lock, and be in, or share it and leave the
 * queue. PAWL_ERR_TIMEOUT: `until` has passed (0: never), and the node has left the queue. */
int recall_enter(const struct lock_setup *s, struct lock_slot *slot, int64_t dir, uint64_t until);
/* The client is in, exclusively: it has taken W, which was handed over, and is to be in as a sharer
 * instead. */
void recall_share_handed(const struct lock_setup *s, struct lock_slot *slot, bool is_head);
/* Whether a recall would find no holder in the client's way, at a look. */
bool recall_is_idle(const struct lock_setup *s, struct lock_slot *slot, int64_t dir);

#endif
