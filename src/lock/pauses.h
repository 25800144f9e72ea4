/* SPDX-License-Identifier: BSD-3-Clause */
/* Pauses of a waiter that polls a word of another node. */
#ifndef LOCK_PAUSES_H
#define LOCK_PAUSES_H

#include <stdint.h>

/* While no client proceeds, a pause grows to this share of that time. */
enum { STILL_SHARE = 64 };

static inline uint64_t slow_pause_ns(uint64_t ns, uint64_t still)
{
	return still / STILL_SHARE > ns ? still / STILL_SHARE : ns;
}

/* Note how long a look took in *trip, the quickest look of this wait; 0: none yet. */
static inline void note_trip(uint64_t *trip, uint64_t took)
{
	if (!*trip || took < *trip)
		*trip = took;
}

#endif
