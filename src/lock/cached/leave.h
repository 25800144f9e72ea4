/* SPDX-License-Identifier: BSD-3-Clause */
/* Lock caching: holders leave, R and L of README. */
#ifndef LOCK_CACHED_LEAVE_H
#define LOCK_CACHED_LEAVE_H

#include "lock/cached/nodes.h"

/* A holder leaves. PAWL_SUCCESS or LOCK_LEFT. */
int leave_release(const struct lock_setup *s, struct lock_slot *slot);
/* S3, T5: in, beside sharers for which the node keeps the queue of nodes, or has kept it. waited:
 * the client has waited for a while, although the node's stay is over. */
bool leave_join(const struct lock_setup *s, struct lock_slot *slot, bool is_head, bool waited);
/* H3: a client that is counted in W, but not in. */
void leave_take_back(const struct lock_setup *s, struct lock_slot *slot);
/* The client has emptied the queue of its node, without W: if that has been handed over meanwhile,
 * release it. */
void leave_what_was_handed(const struct lock_setup *s, struct lock_slot *slot);

#endif
