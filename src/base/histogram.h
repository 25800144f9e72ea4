/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A histogram of times of fixed size, in the manner of HdrHistogram: each power of two has 32
 * buckets of equal width, so a bucket is at most 1/32 of its values wide. Times below 32 ns are
 * exact.
 */
#ifndef BASE_HISTOGRAM_H
#define BASE_HISTOGRAM_H

#include <stdint.h>

enum { HISTOGRAM_SUB_BITS = 5, HISTOGRAM_SUB = 1 << HISTOGRAM_SUB_BITS };
enum { HISTOGRAM_BUCKETS = (64 - HISTOGRAM_SUB_BITS + 1) * HISTOGRAM_SUB };

struct histogram {
	uint64_t count[HISTOGRAM_BUCKETS];
};

static inline int histogram_bucket(uint64_t ns)
{
	int shift;

	if (ns < HISTOGRAM_SUB)
		return (int)ns;
	shift = 63 - __builtin_clzll(ns) - HISTOGRAM_SUB_BITS;
	return (shift + 1) * HISTOGRAM_SUB + (int)(ns >> shift) - HISTOGRAM_SUB;
}

/* The largest time of a bucket. */
static inline uint64_t histogram_top(int bucket)
{
	int shift = bucket / HISTOGRAM_SUB - 1;
	uint64_t sub = (uint64_t)(bucket % HISTOGRAM_SUB);

	if (shift < 0)
		return sub;
	return ((HISTOGRAM_SUB + sub) << shift) + ((UINT64_C(1) << shift) - 1);
}

static inline void histogram_add(struct histogram *h, uint64_t ns)
{
	h->count[histogram_bucket(ns)]++;
}

static inline uint64_t histogram_total(const struct histogram *h)
{
	uint64_t n = 0;

	for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
		n += h->count[i];
	return n;
}

/* The bucket of the least time that at least this part of the times does not exceed; -1 if there
 * are none. 0 <= percent <= 100. */
static inline int histogram_bucket_of(const struct histogram *h, double percent)
{
	uint64_t total = histogram_total(h), seen = 0;
	double wanted = percent / 100 * (double)total;

	for (int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += h->count[i];
		if (seen > 0 && (double)seen >= wanted)
			return i;
	}
	return -1;
}

/* That time, rounded up to its bucket's largest; 0 if there are none. */
static inline uint64_t histogram_percentile(const struct histogram *h, double percent)
{
	int bucket = histogram_bucket_of(h, percent);

	return bucket < 0 ? 0 : histogram_top(bucket);
}

#endif
