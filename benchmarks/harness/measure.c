/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clock, random numbers, histograms and medians of pawl-bench.
 *
 * The clock is the processor's counter if it is steady (two calibrations agree), as in the paper;
 * else clock_gettime.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

double ticks_per_ns = 1;

uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#if defined(__x86_64__)
bool clock_is_tsc = false;

static double rate(uint64_t ns)
{
	uint64_t start = clock_ns(), first = __builtin_ia32_rdtsc(), now;

	do
		now = clock_ns();
	while (now - start < ns);
	return (double)(__builtin_ia32_rdtsc() - first) / (double)(now - start);
}

void clock_calibrate(void)
{
	for (int tries = 0; tries < 3 && !clock_is_tsc; tries++) {
		double a = rate(5000000), b = rate(10000000);

		if (a > 0.1 && fabs(a - b) < 0.005 * a) {
			ticks_per_ns = b;
			clock_is_tsc = true;
		}
	}
}
#else
void clock_calibrate(void)
{
}
#endif

/* ------------------------------------------------------------ random numbers */

/* splitmix64, so that the seeds of neighbouring ranks are unrelated. */
uint64_t random_seed(uint64_t seed, int rank)
{
	uint64_t x = seed + UINT64_C(0x9e3779b97f4a7c15) * ((uint64_t)rank + 1);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	x ^= x >> 31;
	return x ? x : 1;
}

/* ---------------------------------------------------------------- statistics */

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

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double median(const double *values, int count)
{
	double *sorted = malloc(sizeof *sorted * (size_t)count), m;

	if (!sorted)
		return NAN;
	memcpy(sorted, values, sizeof *sorted * (size_t)count);
	qsort(sorted, (size_t)count, sizeof *sorted, compare);
	m = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
	free(sorted);
	return m;
}

double jain(const double *values, int count)
{
	double sum = 0, squares = 0;

	for (int i = 0; i < count; i++) {
		sum += values[i];
		squares += values[i] * values[i];
	}
	return squares > 0 ? sum * sum / (count * squares) : 1;
}
