/* SPDX-License-Identifier: BSD-3-Clause */
/* Clock, random numbers, histograms, medians. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

/* A cheap clock: the processor's counter if that is steady. */
extern double ticks_per_ns;
void clock_calibrate(void);
uint64_t clock_ns(void);

#if defined(__x86_64__)
extern bool clock_is_tsc;
static inline uint64_t ticks(void)
{
	return __builtin_expect(clock_is_tsc, 1) ? __builtin_ia32_rdtsc() : clock_ns();
}
#else
static inline uint64_t ticks(void)
{
	return clock_ns();
}
#endif

/* xorshift64*: state is never 0. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * UINT64_C(2685821657736338717);
}
uint64_t random_seed(uint64_t seed, int rank);

/* Zipf's law over 0 .. n-1; 0 is the most likely one. zipf_spread() is a permutation of 0 .. n-1
 * that spreads the likely ones. */
struct zipf {
	double n, s, first, last, shift;
};
void zipf_start(struct zipf *z, uint64_t n, double s);
uint64_t zipf_next(const struct zipf *z, uint64_t *random);
static inline uint64_t zipf_spread(uint64_t k, uint64_t n)
{
	return k * UINT64_C(2654435761) % n; /* a prime */
}

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

/* A summary of a histogram, in nanoseconds. */
enum { CDF_POINTS = 101 };
struct spread {
	uint64_t count;
	double mean, p50, p99, max;
	double cdf[CDF_POINTS]; /* the time that cdf_fraction(i) of all values do not exceed */
};
double cdf_fraction(int point); /* 1 %, 2 %, ..., 99 %, 99.9 %, 100 % */
void spread_of(struct spread *s, const struct histogram *h, double units_per_ns);
void spread_median(struct spread *s, const struct spread *const *of, int count);

double median(const double *values, int count);
double jain(const double *values, int count);

#endif
