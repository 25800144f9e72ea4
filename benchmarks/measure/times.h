/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of a rank: their histogram, sum and maximum. */
#ifndef MEASURE_TIMES_H
#define MEASURE_TIMES_H

#include <math.h>

#include "base/histogram.h"

struct times {
	struct histogram of;
	uint64_t max, sum;
};

static inline void times_add(struct times *t, uint64_t value)
{
	histogram_add(&t->of, value);
	t->sum += value;
	if (value > t->max)
		t->max = value;
}

/* The value below which a fraction of all values lies, the middle of its bucket; 0 if there are
 * none. */
static inline double times_quantile(const struct times *t, double fraction)
{
	int bucket = histogram_bucket_of(&t->of, 100 * fraction);
	uint64_t low = bucket > 0 ? histogram_top(bucket - 1) + 1 : 0;

	if (bucket < 0)
		return 0;
	return fmin((double)low + (double)(histogram_top(bucket) - low) / 2, (double)t->max);
}

#endif
