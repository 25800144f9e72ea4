/* SPDX-License-Identifier: BSD-3-Clause */
/* Mean, quantiles and distribution of times, and their medians over repetitions. */
#include "benchmarks/measure/spread.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "benchmarks/measure/statistics.h"

double cdf_fraction(int point)
{
	if (point == CDF_POINTS - 1)
		return 1;
	return point == CDF_POINTS - 2 ? 0.999 : (point + 1) / 100.0;
}

void spread_of(struct spread *s, const struct times *t, double units_per_ns)
{
	*s = (struct spread){
	    .count = histogram_total(&t->of),
	    .max = (double)t->max / units_per_ns,
	};
	if (!s->count)
		return;
	s->mean = (double)t->sum / (double)s->count / units_per_ns;
	s->p50 = times_quantile(t, 0.5) / units_per_ns;
	s->p99 = times_quantile(t, 0.99) / units_per_ns;
	for (int i = 0; i < CDF_POINTS; i++)
		s->cdf[i] = times_quantile(t, cdf_fraction(i)) / units_per_ns;
}

/* The median of one member over the repetitions that have counts. */
static double middle(const struct spread *const *of, int count, size_t offset)
{
	double *values = malloc(sizeof *values * (size_t)count), m = 0;
	int n = 0;

	for (int i = 0; values && i < count; i++)
		if (of[i]->count)
			values[n++] = *(const double *)(const void *)((const char *)of[i] + offset);
	if (n)
		m = median(values, n);
	free(values);
	return m;
}

void spread_median(struct spread *s, const struct spread *const *of, int count)
{
	*s = (struct spread){
	    .mean = middle(of, count, offsetof(struct spread, mean)),
	    .p50 = middle(of, count, offsetof(struct spread, p50)),
	    .p99 = middle(of, count, offsetof(struct spread, p99)),
	};
	for (int i = 0; i < CDF_POINTS; i++)
		s->cdf[i] =
		    middle(of, count, offsetof(struct spread, cdf) + sizeof(double) * (size_t)i);
	for (int i = 0; i < count; i++) {
		s->count += of[i]->count;
		s->max = fmax(s->max, of[i]->max);
	}
}
