/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sampler of Zipf's law, compared with exact probabilities by the chi-square test on
 * draws of a fixed seed: small and large numbers of locks, flat and steep laws. The
 * test must notice a slightly different law. Prints TAP.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "benchmarks/harness/bench.h"
#include "tests/tap.h"

enum { DRAWS = 1000000, LEAST_EXPECTED = 10 };

/* Chi-square of the draws by bins that expect enough, as a standard normal value
 * (Wilson and Hilferty). */
static double deviation(const uint64_t *seen, uint64_t n, double s)
{
	double all = 0, chi = 0, expected = 0, got = 0, df = -1, m;

	for (uint64_t k = 1; k <= n; k++)
		all += pow((double)k, -s);
	for (uint64_t k = 1; k <= n; k++) {
		expected += DRAWS * pow((double)k, -s) / all;
		got += (double)seen[k - 1];
		if (expected < LEAST_EXPECTED && k < n)
			continue;
		chi += (got - expected) * (got - expected) / expected;
		expected = got = 0;
		df++;
	}
	m = 2 / (9 * df);
	return (cbrt(chi / df) - (1 - m)) / sqrt(m);
}

static uint64_t *draw(uint64_t n, double s, bool *inside)
{
	uint64_t *seen = calloc(n, sizeof *seen), random = random_seed(1, 0);
	struct zipf z;

	*inside = seen != NULL;
	zipf_start(&z, n, s);
	for (int i = 0; seen && i < DRAWS; i++) {
		uint64_t k = zipf_next(&z, &random);

		if (k < n)
			seen[k]++;
		*inside = *inside && k < n;
	}
	return seen;
}

static void one_law(uint64_t n, double s)
{
	bool inside;
	uint64_t *seen = draw(n, s, &inside);
	double z = inside ? deviation(seen, n, s) : HUGE_VAL, other = deviation(seen, n, s + 0.02);
	char what[120];

	snprintf(what, sizeof what, "n = %llu, s = %g: as the law says (z = %.2f)",
		 (unsigned long long)n, s, z);
	ok(inside && fabs(z) < 4, "%s", what);
	snprintf(what, sizeof what, "n = %llu: not as with s = %g (z = %.0f)",
		 (unsigned long long)n, s + 0.02, other);
	ok(other > 8, "%s", what);
	free(seen);
}

static void quick(void)
{
	uint64_t random = random_seed(1, 0), sum = 0;
	clock_t start = clock();
	struct zipf z;

	zipf_start(&z, 10000000, 0.99);
	for (int i = 0; i < DRAWS; i++)
		sum += zipf_next(&z, &random);
	/* Takes some 0.1 s; an algorithm that visits all locks would take hours. */
	ok(sum > 0 && (double)(clock() - start) / CLOCKS_PER_SEC < 10, "a million draws in time");
}

int main(void)
{
	one_law(10, 0.99);
	one_law(1000, 0.99);
	one_law(1000, 1);
	one_law(1000, 0.5);
	one_law(1000, 2);
	one_law(10000000, 0.99);
	quick();
	return tap_plan();
}
