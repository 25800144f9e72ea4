/* SPDX-License-Identifier: BSD-3-Clause */
/* Lock caching: what the locks of a table are at first, which its first acquires decide; README, F.
 */
#ifndef LOCK_CACHED_FIRST_H
#define LOCK_CACHED_FIRST_H

#include "lock/cached/policy.h"

/* F1, by a client that has missed: true if it is told now, and looks again. */
bool first_is_news(const struct lock_setup *s, struct lock_slot *slot);
/* F3: the directory of a lock whose queue was empty, with this TAIL; for a head, after its swap. */
int64_t first_dir_of_tail(const struct lock_setup *s, struct lock_slot *slot, int64_t tail);
/* F4: the directory, for a head. If that recalls S, all nodes that may have S are in the set. */
int64_t first_settle(const struct lock_setup *s, struct lock_slot *slot, int64_t dir);

#endif
