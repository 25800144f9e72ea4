/* SPDX-License-Identifier: BSD-3-Clause */
/* Quantiles of a histogram. */
#include "benchmarks/measure/histogram.h"

#include <math.h>

/* The middle of a bucket. */
static double bucket_value(int bucket)
{
	int shift = bucket < 2 * HIST_SUB ? 0 : bucket / HIST_SUB - 1;
	double base = ldexp(bucket - shift * HIST_SUB, shift);

	return shift ? base + ldexp(0.5, shift) : base;
}

double histogram_quantile(const struct histogram *h, double fraction)
{
	uint64_t all = 0, below = 0, wanted;

	for (int i = 0; i < HIST_BUCKETS; i++)
		all += h->count[i];
	wanted = (uint64_t)ceil(fraction * (double)all);
	for (int i = 0; i < HIST_BUCKETS && all; i++) {
		below += h->count[i];
		if (below >= wanted)
			return fmin(bucket_value(i), (double)h->max);
	}
	return 0;
}
