/* SPDX-License-Identifier: BSD-3-Clause */
/* The summary of times. */
#ifndef MEASURE_SPREAD_H
#define MEASURE_SPREAD_H

#include <stdint.h>

#include "benchmarks/measure/times.h"

/* In nanoseconds. */
enum { CDF_POINTS = 101 };
struct spread {
	uint64_t count;
	double mean, p50, p99, max;
	double cdf[CDF_POINTS]; /* the time that cdf_fraction(i) of all values do not exceed */
};
double cdf_fraction(int point); /* 1 %, 2 %, ..., 99 %, 99.9 %, 100 % */
void spread_of(struct spread *s, const struct times *t, double units_per_ns);
void spread_median(struct spread *s, const struct spread *const *of, int count);

#endif
