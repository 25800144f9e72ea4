/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind cached: what the locks of a table are at first, which its first acquires decide; README, F.
 */
#ifndef LOCK_CACHED_FIRST_H
#define LOCK_CACHED_FIRST_H

#include "lock/cached/policy.h"

/* The mode of the client's node while its gate is 0, by what the client has been told. */
static inline enum mode first_mode(const struct cached_slot *own)
{
	if (own->first == FIRST_SHARED)
		return MODE_S;
	return own->first == FIRST_OWNED && own->home == own->me ? MODE_X : MODE_N;
}

/* F1, by a client that has missed: true if it is told now, and looks again. */
bool first_is_news(const struct lock_setup *s, struct lock_slot *slot);
/* F3: the directory of a lock whose queue was empty, with this TAIL; for a head, after its swap. */
int64_t first_dir_of_tail(const struct lock_setup *s, struct lock_slot *slot, int64_t tail);

#endif
