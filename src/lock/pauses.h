/* SPDX-License-Identifier: BSD-3-Clause */
/* Pauses of a waiter that polls a word of another node, or asks again. */
#ifndef LOCK_PAUSES_H
#define LOCK_PAUSES_H

#include "lock/slot.h"

/* Between two attempts, or looks; deadline_ns 0: there is no deadline. */
static inline struct rma_pause backoff_pause(const struct lock_backoff *b, uint64_t deadline_ns)
{
	return (struct rma_pause){
	    .min_ns = (uint64_t)b->min,
	    .max_ns = (uint64_t)b->max,
	    .deadline_ns = deadline_ns,
	};
}

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
