/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Zipf's law: a number k of 1 to n with a probability proportional to k^-s, drawn by
 * rejection-inversion (Hoermann and Derflinger, ACM TOMACS 6, 1996). A uniform number is
 * inverted through the integral of x^-s, rounded, and seldom rejected. The time does
 * not depend on n, and there is no table.
 */
#include "benchmarks/measure/zipf.h"

#include <math.h>

#include "benchmarks/measure/random.h"

/* The integral of x^-s from 1 to x, for all s >= 0. */
static double integral(double x, double s)
{
	double l = log(x), t = (1 - s) * l;

	return (fabs(t) > 1e-8 ? expm1(t) / t : 1 + t / 2) * l;
}

static double inverse(double x, double s)
{
	double t = x * (1 - s);

	if (t < -1)
		t = -1;
	return exp((fabs(t) > 1e-8 ? log1p(t) / t : 1 - t / 2) * x);
}

void zipf_start(struct zipf *z, uint64_t n, double s)
{
	*z = (struct zipf){
	    .n = (double)n,
	    .s = s,
	    .first = integral(1.5, s) - 1,
	    .last = integral((double)n + 0.5, s),
	    .shift = 2 - inverse(integral(2.5, s) - exp(-s * log(2)), s),
	};
}

uint64_t zipf_next(const struct zipf *z, uint64_t *random)
{
	for (;;) {
		double u = (double)(random_next(random) >> 11) * 0x1p-53;
		double y = z->last + u * (z->first - z->last), x = inverse(y, z->s);
		double k = fmin(fmax(floor(x + 0.5), 1), z->n);

		if (k - x <= z->shift || y >= integral(k + 0.5, z->s) - exp(-z->s * log(k)))
			return (uint64_t)k - 1;
	}
}
