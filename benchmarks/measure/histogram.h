/* SPDX-License-Identifier: BSD-3-Clause */
/* Times by their logarithm, and their quantiles. */
#ifndef MEASURE_HISTOGRAM_H
#define MEASURE_HISTOGRAM_H

#include <stdint.h>

/* Counts by the logarithm of the value: 16 buckets to a power of two. */
enum { HIST_SUB = 16, HIST_BUCKETS = 61 * HIST_SUB };
struct histogram {
	uint64_t max, sum;
	uint64_t count[HIST_BUCKETS];
};

static inline void histogram_add(struct histogram *h, uint64_t value)
{
	int shift = value < HIST_SUB ? 0 : 59 - __builtin_clzll(value);

	h->count[(uint64_t)shift * HIST_SUB + (value >> shift)]++;
	h->sum += value;
	if (value > h->max)
		h->max = value;
}
/* The value below which a fraction of all values lies; 0 if there are none. */
double histogram_quantile(const struct histogram *h, double fraction);

#endif
