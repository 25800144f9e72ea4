/* SPDX-License-Identifier: BSD-3-Clause */
/* Time. */
#ifndef RMA_CLOCK_H
#define RMA_CLOCK_H

#include "rma/client.h"

/* Monotonic time. The coarse clock takes less time to read and lags by up to some milliseconds. */
uint64_t rma_now_ns(void);
uint64_t rma_coarse_now_ns(void);

/* The clock of leases: monotonic; virtual in the simulator; for kinds that ask for it, the same for
 * all ranks. */
static inline uint64_t rma_clock(const struct rma_client *c)
{
	const struct rma *r = c->rma;

	if (r->transport->clock)
		return r->transport->clock(c);
	return rma_now_ns() + (uint64_t)r->clock.offset_ns;
}

/* By how much rma_clock() may differ from rank 0's clock at time now, at most. */
static inline uint64_t rma_clock_error(const struct rma_client *c, uint64_t now)
{
	const struct rma_shared_clock *k = &c->rma->clock;

	return k->error_ns + (k->drift_ppm ? (now - k->since_ns) / 1000000 * k->drift_ppm : 0);
}

#endif
