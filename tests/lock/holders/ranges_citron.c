/* SPDX-License-Identifier: BSD-3-Clause */
/* What only citron does, of the kinds with ranges: spaces that grow, leases, rounding, round trips.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranges.h"

enum { GROWTHS = 3, GROW_FROM = 256 };

static double begun; /* of the rounds that grow */
static bool by_call;

/* Ranges farther and farther behind the first end of the space. */
static void farther(struct held *h, int round)
{
	double part = (seconds_now() - begun) / (tap_budget / GROWTHS);
	uint32_t most = (uint32_t)(GROW_FROM * (1 + 30 * (part < 1 ? part : 1)));

	if (by_call && round > 0 && random_below(&seed, 10) == 0)
		expect_code(pawl_range_grow(table, 0, NULL), PAWL_SUCCESS, "grow");
	h->space = 0;
	h->first = random_below(&seed, most);
	h->last = h->first + random_below(&seed, random_below(&seed, 4) ? 100 : most);
}

/* How far the space reaches; one rank asks, for all. */
static int64_t reach(void)
{
	int64_t end_unit = 0;

	meet();
	if (tap_rank == 0)
		expect_code(pawl_range_grow(table, 0, &end_unit), PAWL_SUCCESS, "grow");
	MPI_Bcast(&end_unit, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
	return end_unit;
}

static void growth(const char *how)
{
	by_call = strcmp(how, "call") == 0;
	setenv("PAWL_UNITS", "256", 1);
	setenv("PAWL_UNITS_MOST", "8192", 1);
	now_doing("citron, growth by %s", how);
	table = table_open("citron", 1, "growth", how);
	for (int i = 0; table && i < GROWTHS; i++) {
		int64_t end_unit = reach();

		expect(end_unit == GROW_FROM, "it reaches %lld units at first",
		       (long long)end_unit);
		begun = seconds_now();
		expect_total(visits(20, tap_budget / GROWTHS, farther));
		end_unit = reach();
		expect(end_unit == 4096 || end_unit == 16384, "it reaches %lld units",
		       (long long)end_unit);
		expect_code(pawl_range_shrink(table, 0, 1), PAWL_SUCCESS, "shrink");
	}
	table_close(table);
	unsetenv("PAWL_UNITS");
	unsetenv("PAWL_UNITS_MOST");
	result("citron, from 256 units to thousands and back, by %s: no ranges overlap", how);
}

static void wrong_growth(void)
{
	table = table_open("citron", 1, NULL, NULL);
	pawl_range range;
	int last = tap_rank == tap_size - 1;

	now_doing("citron, wrong growth");
	if (table && last) {
		expect_code(pawl_range_grow(table, 1, NULL), PAWL_ERR_RANGE, "no such space");
		expect_code(pawl_range_grow(NULL, 0, NULL), PAWL_ERR_ARG, "no table");
		expect_code(pawl_range_acquire(table, 0, 3, 3, PAWL_EXCLUSIVE, &range),
			    PAWL_SUCCESS, "acquire");
	}
	if (table) {
		expect_code(pawl_range_shrink(table, 0, 1), PAWL_ERR_BUSY, "shrink, one held");
		expect_code(pawl_range_shrink(table, 0, last ? 0 : 1), PAWL_ERR_ARG, "no units");
		expect_code(pawl_range_shrink(table, 1000, 1), PAWL_ERR_RANGE, "no such space");
	}
	if (table && last)
		expect_code(pawl_range_release(table, &range), PAWL_SUCCESS, "release");
	if (table)
		expect_code(pawl_range_shrink(table, 0, 1), PAWL_SUCCESS, "shrink");
	table_close(table);
	result("citron: spaces neither shrink under those that hold nor to nothing");
}

#define LEASE_US "100000"
#define LEASE_S 0.1

/* Rank 0 exceeds its lease at some units that the others want, too. */
static void outstayed(void)
{
	table = table_open("citron", 1, "lease", LEASE_US);
	double began;
	pawl_range range;

	now_doing("citron, a lease exceeded");
	if (table && tap_rank == 0)
		expect_code(pawl_range_acquire(table, 0, 10, 20, PAWL_EXCLUSIVE, &range),
			    PAWL_SUCCESS, "acquire");
	meet();
	began = seconds_now();
	if (table && tap_rank == 0) {
		meet();
		expect_code(pawl_range_release(table, &range), PAWL_ERR_LEASE_LOST,
			    "release of what others had");
		expect_code(pawl_range_release(table, &range), PAWL_ERR_NOT_HELD, "once more");
	} else if (table) {
		int64_t first = tap_rank == 1 ? 20 : 0, last = tap_rank == 1 ? 20 : 5000;

		expect_code(pawl_range_acquire(table, 0, first, last, PAWL_EXCLUSIVE, &range),
			    PAWL_RECOVERED, "acquire");
		expect(seconds_now() - began > LEASE_S, "the lease is over after %.3f s",
		       seconds_now() - began);
		expect_code(pawl_range_release(table, &range), PAWL_SUCCESS, "release");
		meet();
	}
	meet();
	for (int i = 0; table && i < 20; i++) {
		expect_code(pawl_range_acquire(table, 0, i, i + 30, PAWL_EXCLUSIVE, &range),
			    PAWL_RECOVERED, "acquire");
		expect_code(pawl_range_release(table, &range), PAWL_SUCCESS, "release");
	}
	table_close(table);
	result("citron: a client that exceeds its lease loses its units, and its release says so");
}

/* Long ranges are rounded up, and a client that would wait for itself gets PAWL_ERR_HELD. */
static void citron_rounds_up(void)
{
	table = table_open("citron", 1, NULL, NULL);
	pawl_range range, other;

	now_doing("citron, rounding");
	if (table && tap_rank == 0) {
		expect_code(pawl_range_acquire(table, 0, 1000, 6000, PAWL_EXCLUSIVE, &range),
			    PAWL_SUCCESS, "acquire");
		expect_code(pawl_range_acquire(table, 0, 6000, 6001, PAWL_EXCLUSIVE, &other),
			    PAWL_ERR_HELD, "an overlap");
		expect_code(pawl_range_acquire(table, 0, 500, 500, PAWL_EXCLUSIVE, &other),
			    PAWL_ERR_HELD, "a unit next to it");
		expect_code(pawl_range_acquire(table, 0, 100000, 110000, PAWL_EXCLUSIVE, &other),
			    PAWL_SUCCESS, "another one");
		expect_code(pawl_range_release(table, &range), PAWL_SUCCESS, "release");
		expect_code(pawl_range_release(table, &other), PAWL_SUCCESS, "release the other");
	}
	table_close(table);
	result("citron: a client that would wait for itself gets an error");
}

/* Memory of this process, in bytes, as its status has it; -1 if the system does not say. */
static double memory(const char *what)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[200];
	double kib = -1;

	while (f && kib < 0 && fgets(line, sizeof line, f))
		if (strncmp(line, what, strlen(what)) != 0 ||
		    sscanf(line + strlen(what), ": %lf", &kib) != 1)
			kib = -1;
	if (f)
		fclose(f);
	return kib * 1024;
}

/* The number of units in the paper, section 4.1; memory is taken when it is touched, except for
 * what a device has pinned. */
static void citron_memory(void)
{
	struct pawl_table_info info;
	double before = memory("RssShmem"), pinned = memory("VmPin"), grown = 0;
	pawl_range range;

	now_doing("citron, memory");
	table = table_open("citron", 1, "units", "268435456");
	if (table && expect_code(pawl_table_get_info(table, &info), PAWL_SUCCESS, "info"))
		expect(info.bytes <= 46000000, "%llu bytes", (unsigned long long)info.bytes);
	for (int64_t i = 0; table && i < 10; i++) {
		int64_t first = 20000000 * i + 100 * tap_rank;

		expect_code(pawl_range_acquire(table, 0, first, first + 99, PAWL_EXCLUSIVE, &range),
			    PAWL_SUCCESS, "acquire");
		expect_code(pawl_range_release(table, &range), PAWL_SUCCESS, "release");
	}
	grown = memory("RssShmem") - before;
	pinned = memory("VmPin") - pinned;
	note("shared memory of rank 0 grew by %.1f MB, pinned memory by %.1f MB", grown * 1e-6,
	     pinned * 1e-6);
	expect(tap_size == 1 || !tap_one_host || before < 0 || grown - pinned < 4e6,
	       "%.0f bytes are in memory", grown);
	table_close(table);
	result("citron: 2^28 units in 46 MB, which are there only where touched");
}

/* Round trips from another node: the flushes, as all words are at one home. No other client is
 * active. trips: to acquire; release: to release. */
static void citron_trips(uint64_t trips, uint64_t release)
{
	static const int64_t f[][2] = {
	    {0, 0}, {17, 17}, {0, 63}, {40, 103}, {1, 64}, {200, 263}, {1023, 1086}, {256, 511},
	};
	table = table_open("citron", 1, NULL, NULL);
	pawl_range range;

	now_doing("citron, operations");
	for (size_t i = 0; table && tap_rank == tap_size - 1 && i < sizeof f / sizeof *f; i++) {
		struct pawl_stats a, b;

		pawl_table_reset_stats(table);
		expect_code(pawl_range_acquire(table, 0, f[i][0], f[i][1], PAWL_EXCLUSIVE, &range),
			    PAWL_SUCCESS, "acquire");
		pawl_table_get_stats(table, &a);
		expect_code(pawl_range_release(table, &range), PAWL_SUCCESS, "release");
		pawl_table_get_stats(table, &b);
		expect(a.flushes[1] == trips && b.flushes[1] == trips + release &&
			   a.flushes[0] + a.waits + a.aborts == 0,
		       "units %lld to %lld: %d round trips to acquire, %d with the release",
		       (long long)f[i][0], (long long)f[i][1], (int)a.flushes[1],
		       (int)b.flushes[1]);
		if (tap_verbose)
			note("%lld to %lld: %d atomics, %d gets; release %d atomics",
			     (long long)f[i][0], (long long)f[i][1], (int)a.atomics[1],
			     (int)a.gets[1], (int)(b.atomics[1] - a.atomics[1]));
		if (i == 0) /* the bits and an announcement, and a look at one word */
			expect(a.atomics[1] == 2 && a.gets[1] == 1 && b.atomics[1] == 4,
			       "one unit: %d atomics and %d gets to acquire, %d atomics for both",
			       (int)a.atomics[1], (int)a.gets[1], (int)b.atomics[1]);
	}
	table_close(table);
	result("citron, up to 449 units uncontended: %d round trip%s to acquire, %d to release",
	       (int)trips, trips == 1 ? "" : "s", (int)release);
}

/* A client that needs a unit far behind the end of the space: fast path, turn, look, four for the
 * growth, release, the new root, and the range itself. */
enum { GROWTH_TRIPS = 14 };

static void citron_growth_trips(void)
{
	pawl_range range;
	int trips = 0;

	now_doing("citron, operations of growth");
	setenv("PAWL_UNITS", "1024", 1);
	setenv("PAWL_UNITS_MOST", "268435456", 1);
	table = table_open("citron", 1, NULL, NULL);
	unsetenv("PAWL_UNITS");
	unsetenv("PAWL_UNITS_MOST");
	if (table && tap_rank == tap_size - 1) {
		struct pawl_stats s;

		pawl_table_reset_stats(table);
		expect_code(
		    pawl_range_acquire(table, 0, 100000000, 100000011, PAWL_EXCLUSIVE, &range),
		    PAWL_SUCCESS, "acquire");
		pawl_table_get_stats(table, &s);
		trips = (int)s.flushes[1];
		expect(trips <= GROWTH_TRIPS && s.waits == 0, "%d round trips, %d waits", trips,
		       (int)s.waits);
		expect_code(pawl_range_release(table, &range), PAWL_SUCCESS, "release");
	}
	MPI_Bcast(&trips, 1, MPI_INT, tap_size - 1, MPI_COMM_WORLD);
	note("%d round trips to grow from 1024 units to 2^28 and to acquire 12 of them", trips);
	table_close(table);
	result("citron grows in at most %d round trips, the acquire included", GROWTH_TRIPS);
}

void citron_operations(bool ordered)
{
	/* A transport that keeps the order also posts. */
	citron_trips(ordered ? 1 : 2, !ordered);
	citron_growth_trips();
}

void citron_cases(void)
{
	growth("auto");
	growth("call");
	wrong_growth();
	if (tap_size > 1)
		outstayed();
	citron_rounds_up();
	citron_memory();
}
