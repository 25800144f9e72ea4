/* SPDX-License-Identifier: BSD-3-Clause */
/* Lock caching: a sharer takes the queue of nodes over from sharers that keep it; T of README. */
#ifndef LOCK_CACHED_TAKE_H
#define LOCK_CACHED_TAKE_H

#include "lock/cached/nodes.h"

/* T1, T7: whether sharers of this node keep the queue. */
bool take_is_kept(const struct lock_setup *s, struct lock_slot *slot, int node);
/* T1 to T6. The client has a place in the queue of nodes, and looks for sharers again only after so
 * long. */
void take_over(const struct lock_setup *s, struct lock_slot *slot, uint64_t look_ns);

#endif
