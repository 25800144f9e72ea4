/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Histograms against exact percentiles; counts by lock and site that do not fit; call sites as
 * text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/histogram.h"
#include "observe/tallies.h"
#include "tests/tap.h"

enum { TIMES = 20000 };

static uint64_t draw(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *seed >> 16;
}

static int ascending(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return a < b ? -1 : a > b;
}

/* The time that percent of the sorted times do not exceed. */
static uint64_t exact(const uint64_t *times, double percent)
{
	double wanted = percent / 100 * TIMES;

	for (int i = 0; i < TIMES; i++)
		if (i + 1 >= wanted)
			return times[i];
	return times[TIMES - 1];
}

/* Buckets follow each other without gaps, and none is wider than 1/32 of its times. */
static bool buckets_fit(void)
{
	for (int i = 1; i < HISTOGRAM_BUCKETS; i++) {
		uint64_t low = histogram_top(i - 1) + 1, high = histogram_top(i);

		if (histogram_bucket(low) != i || histogram_bucket(high) != i ||
		    high - low > low / HISTOGRAM_SUB) {
			printf("# bucket %d: %llu to %llu\n", i, (unsigned long long)low,
			       (unsigned long long)high);
			return false;
		}
	}
	return histogram_top(HISTOGRAM_BUCKETS - 1) == UINT64_MAX;
}

/* Times of all magnitudes up to 2^bits. */
static bool percentiles_fit(int bits)
{
	static const double percents[] = {0, 1, 10, 50, 90, 99, 99.9, 100};
	static uint64_t times[TIMES];
	static struct histogram h;
	uint64_t seed = 42;

	memset(&h, 0, sizeof h);
	for (int i = 0; i < TIMES; i++) {
		uint64_t magnitude = draw(&seed) % (uint64_t)bits;

		times[i] = draw(&seed) % (UINT64_C(1) << (magnitude + 1));
		histogram_add(&h, times[i]);
	}
	qsort(times, TIMES, sizeof *times, ascending);
	for (size_t i = 0; i < sizeof percents / sizeof *percents; i++) {
		uint64_t is = exact(times, percents[i]);
		uint64_t said = histogram_percentile(&h, percents[i]);

		if (said < is || said - is > is / HISTOGRAM_SUB) {
			printf("# %g %%: %llu, exact %llu\n", percents[i], (unsigned long long)said,
			       (unsigned long long)is);
			return false;
		}
	}
	return histogram_total(&h) == TIMES;
}

/* Many cold locks do not drive out the hot one, and the sum by site stays complete. */
static void cold_locks(void)
{
	enum { COLD = 100000, HOT = 77 };
	struct tallies *t = malloc(sizeof *t);
	uint64_t sum = 0;
	int site;

	if (!t)
		exit(EXIT_FAILURE);
	tallies_clear(t);
	site = tallies_site(t, &tap_count);
	tallies_find(t, HOT, site)->wait_ns = 1000;
	for (uint64_t lock = 1000; lock < 1000 + COLD; lock++)
		tallies_find(t, lock, site)->acquires++;
	ok(tallies_find(t, HOT, site)->wait_ns == 1000, "100000 cold locks keep the hot one");
	for (int i = 0; i < TALLIES; i++)
		if (t->entry[i].site >= 0)
			sum += t->entry[i].tally.acquires;
	ok(sum + t->sites[site].rest.acquires == COLD, "the sum by site is complete");
	tallies_remove(t, HOT, 1, UINT64_MAX);
	ok(tallies_find(t, HOT, site)->wait_ns == 0, "a lock that was removed begins anew");
	free(t);
}

static void many_sites(void)
{
	static char places[2 * TALLY_SITES];
	struct tallies *t = malloc(sizeof *t), *sum = malloc(sizeof *sum);
	uint64_t acquires = 0;

	if (!t || !sum)
		exit(EXIT_FAILURE);
	tallies_clear(t);
	tallies_clear(sum);
	for (int i = 0; i < 2 * TALLY_SITES; i++)
		tallies_find(t, 5, tallies_site(t, &places[i]))->acquires = 1;
	ok(t->n_sites == TALLY_SITES, "too many call sites share the last place");
	ok(tallies_find(t, 5, TALLY_SITES - 1)->acquires == 1, "which has a count");
	tallies_merge(sum, t, 0, 0, 0, true);
	tallies_merge(sum, t, 5, 1, UINT64_MAX, false);
	for (int i = 0; i < TALLIES; i++)
		if (sum->entry[i].site >= 0)
			acquires += sum->entry[i].tally.acquires;
	ok(acquires == 2 * TALLY_SITES, "two ranks with the same sites add up");
	free(t);
	free(sum);
}

static __attribute__((noinline)) const void *where(void)
{
	return __builtin_return_address(0);
}

static void as_text(void)
{
	struct site s = {.address = where()};
	char text[1][SITE_TEXT];

	sites_locate(&s);
	ok(s.module[0] == '/' && s.offset, "an address has a module");
	sites_resolve(&s, 1, text);
	printf("# %s\n", text[0]);
	ok(strstr(text[0], "observe") != NULL, "a call site names file or module");
	s = (struct site){.module = "(other call sites)"};
	sites_resolve(&s, 1, text);
	ok(strcmp(text[0], "(other call sites)") == 0, "the rest has its name");
}

int main(void)
{
	ok(buckets_fit(), "buckets have no gaps and are narrow");
	ok(percentiles_fit(10), "percentiles of times up to 1 us");
	ok(percentiles_fit(32), "percentiles of times up to 4 s");
	ok(percentiles_fit(62), "percentiles of any times");
	ok(histogram_percentile(&(const struct histogram){.count = {0}}, 50) == 0, "no times: 0");
	cold_locks();
	many_sites();
	as_text();
	return tap_plan();
}
