/* SPDX-License-Identifier: BSD-3-Clause */
/* Time. */
#ifndef RMA_CLOCK_H
#define RMA_CLOCK_H

#include "rma/client.h"

/* Monotonic time; and no later than that, by some milliseconds at most, in less time. */
uint64_t rma_now_ns(void);
uint64_t rma_coarse_now_ns(void);

/* The time for leases: monotonic, virtual where time is, and of all ranks together
 * for kinds that ask for it. */
static inline uint64_t rma_clock(const struct rma_client *c)
{
	const struct rma *r = c->rma;

	if (r->transport->clock)
		return r->transport->clock(c);
	return rma_now_ns() + (uint64_t)r->clock.offset_ns;
}

/* The most by which it may differ from that of rank 0, as of now. */
static inline uint64_t rma_clock_error(const struct rma_client *c, uint64_t now)
{
	const struct rma_shared_clock *k = &c->rma->clock;

	return k->error_ns + (k->drift_ppm ? (now - k->since_ns) / 1000000 * k->drift_ppm : 0);
}

#endif
