/* SPDX-License-Identifier: BSD-3-Clause */
/* Lock caching: what the head of the queue of nodes does to be in; C, S, D4 and A3, A4 of README.
 */
#ifndef LOCK_CACHED_RECALL_H
#define LOCK_CACHED_RECALL_H

#include "lock/cached/nodes.h"

/* The node is the head, with this directory: recall the lock, and be in, or share it and leave the
 * queue. PAWL_ERR_TIMEOUT: `until` has passed (0: never), and the node is the head, with this
 * directory, as before. */
int recall_enter(const struct lock_setup *s, struct lock_slot *slot, int64_t *dir, uint64_t until);
/* The client is in, exclusively: it has taken W, which was handed over, and is to be in in its own
 * mode instead. */
void recall_share_handed(const struct lock_setup *s, struct lock_slot *slot, bool is_head);
/* L5 and L6, with a directory that needs nothing to be given back. */
void recall_leave(const struct lock_setup *s, struct lock_slot *slot, int64_t dir);
/* Whether a recall would find no holder in the client's way, at a look. */
bool recall_is_idle(const struct lock_setup *s, struct lock_slot *slot, int64_t dir);

#endif
