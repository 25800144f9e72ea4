/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kinds with ranges. Every holder writes its rank to a word for each of its units, by plain
 * stores; a holder that finds another rank there has found an overlap. Options
 * come by the environment, where a kind ignores those that it does not have.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables.h"

enum { TRACKED = 8192, SPACES = 2, WANTED = 20 };

/* ------------------------------------------------------------------ the oracle */

static MPI_Win win;
static int64_t *units; /* [SPACES][TRACKED] of rank 0; NULL: by MPI_Get and MPI_Put */

static void oracle_start(void)
{
	MPI_Aint bytes = tap_rank == 0 ? (MPI_Aint)sizeof(int64_t) * SPACES * TRACKED : 0, size;
	int unit;
	int64_t *mine;

	if (tap_one_host) {
		MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
		MPI_Win_shared_query(win, 0, &size, &unit, &units);
	} else {
		MPI_Alloc_mem(bytes ? bytes : 8, MPI_INFO_NULL, &mine);
		MPI_Win_create(mine, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	}
	if (tap_rank == 0)
		memset(mine, 0, (size_t)bytes);
	meet();
	MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
}

static void oracle_end(void)
{
	meet();
	MPI_Win_unlock_all(win);
	/* Over several hosts the program ends without MPI_Finalize, so nothing is freed. */
	if (tap_one_host)
		MPI_Win_free(&win);
}

static void load(int64_t at, int64_t n, int64_t *to)
{
	if (units) {
		MPI_Win_sync(win);
		memcpy(to, units + at, (size_t)n * sizeof *to);
		return;
	}
	MPI_Get(to, (int)n, MPI_INT64_T, 0, at * (MPI_Aint)sizeof *to, (int)n, MPI_INT64_T, win);
	MPI_Win_flush(0, win);
}

static void store(int64_t at, int64_t n, const int64_t *from)
{
	if (units) {
		memcpy(units + at, from, (size_t)n * sizeof *from);
		MPI_Win_sync(win);
		return;
	}
	MPI_Put(from, (int)n, MPI_INT64_T, 0, at * (MPI_Aint)sizeof *from, (int)n, MPI_INT64_T,
		win);
	MPI_Win_flush(0, win);
}

static bool all_are(const int64_t *seen, int64_t n, int64_t wanted, int64_t first, const char *when)
{
	for (int64_t i = 0; i < n; i++)
		if (!expect(seen[i] == wanted, "violation at unit %lld, %s: %lld there, not %lld",
			    (long long)(first + i), when, (long long)seen[i], (long long)wanted))
			return false;
	return true;
}

/* The work of a holder. */
static void use(uint64_t space, int64_t first, int64_t last, bool slowly)
{
	static int64_t seen[TRACKED], mine[TRACKED];
	int64_t at = (int64_t)space * TRACKED + first, n;

	if (first >= TRACKED)
		return;
	n = (last < TRACKED ? last + 1 : TRACKED) - first;
	load(at, n, seen);
	all_are(seen, n, 0, first, "a holder comes");
	for (int64_t i = 0; i < n; i++)
		mine[i] = tap_rank + 1;
	store(at, n, mine);
	if (slowly)
		linger(0.0002);
	load(at, n, seen);
	all_are(seen, n, tap_rank + 1, first, "a holder leaves");
	memset(mine, 0, (size_t)n * sizeof *mine);
	store(at, n, mine);
}

/* -------------------------------------------------------------------- exclusion */

/* Mostly small ranges in a few places; sometimes large ones, and some beyond any tree. */
static void draw_range(uint64_t *random, int64_t tree, int64_t *first, int64_t *last)
{
	static const int64_t most[] = {1, 8, 64, 64, 100, 300, 1100, 6000};
	int64_t length = 1 + random_below(random, (uint32_t)most[random_below(random, 8)]);
	uint32_t places = random_below(random, 4) ? 300 : (uint32_t)(tree + tree / 8);

	*first = random_below(random, places);
	*last = *first + length - 1;
	if (random_below(random, 100) == 0)
		*last = PAWL_RANGE_END;
}

static int take(pawl_table *table, uint64_t space, int64_t first, int64_t last, uint64_t *random,
		const struct pawl_kind *kind, pawl_range *range)
{
	uint32_t how = random_below(random, 8);

	if (how == 0 && (kind->capabilities & PAWL_CAP_TRY))
		return pawl_range_try_acquire(table, space, first, last, PAWL_EXCLUSIVE, range);
	if (how == 1 && (kind->capabilities & PAWL_CAP_TIMED))
		return pawl_range_timed_acquire(table, space, first, last, PAWL_EXCLUSIVE,
						random_below(random, 200) * 1e-6, range);
	return pawl_range_acquire(table, space, first, last, PAWL_EXCLUSIVE, range);
}

static void exclusion(const struct pawl_kind *kind, const char *tree, const char *k, const char *m)
{
	uint64_t random = 88172645463325252u + (uint64_t)tap_rank * 7919, held = 0;
	pawl_table *table;
	double end;

	setenv("PAWL_UNITS", tree, 1);
	setenv("PAWL_K", k, 1);
	setenv("PAWL_M", m, 1);
	now_doing("%s, %s units, k %s, m %s", kind->name, tree, k, m);
	table = table_open(kind->name, SPACES, NULL, NULL);
	end = seconds_now() + tap_budget;
	/* Each rank gets at least one, however slow the machine. */
	while (table && (held == 0 || seconds_now() < end)) {
		uint64_t space = random_below(&random, SPACES);
		int64_t first, last;
		pawl_range range;
		int rc;

		draw_range(&random, strtoll(tree, NULL, 10), &first, &last);
		rc = take(table, space, first, last, &random, kind, &range);
		if (rc == PAWL_ERR_BUSY || rc == PAWL_ERR_TIMEOUT)
			continue;
		expect_code(rc, PAWL_SUCCESS, "acquire");
		use(space, first, last, random_below(&random, 16) == 0);
		expect_code(pawl_range_release(table, &range), PAWL_SUCCESS, "release");
		held++;
	}
	table_close(table);
	unsetenv("PAWL_UNITS");
	unsetenv("PAWL_K");
	unsetenv("PAWL_M");
	if (tap_verbose)
		note("%s: rank 0 held %llu ranges", kind->name, (unsigned long long)held);
	result("%s, %s units, k %s, m %s: no ranges overlap", kind->name, tree, k, m);
}

/* ------------------------------------------------------------------ spaces that grow */

enum { GROWTHS = 3, GROW_FROM = 256 };

/* Ranges farther and farther behind the first end of the space. */
static void hold_growing(pawl_table *table, uint64_t *random, double end, bool by_call)
{
	double begun = seconds_now();

	for (int n = 0; n < 20 || seconds_now() < end; n++) {
		double part = (seconds_now() - begun) / (end - begun);
		uint32_t most = (uint32_t)(GROW_FROM * (1 + 30 * (part < 1 ? part : 1)));
		int64_t first = random_below(random, most),
			length = random_below(random, random_below(random, 4) ? 100 : most);
		pawl_range range;

		expect_code(
		    pawl_range_acquire(table, 0, first, first + length, PAWL_EXCLUSIVE, &range),
		    PAWL_SUCCESS, "acquire");
		use(0, first, first + length, random_below(random, 16) == 0);
		expect_code(pawl_range_release(table, &range), PAWL_SUCCESS, "release");
		if (by_call && random_below(random, 10) == 0)
			expect_code(pawl_range_grow(table, 0, NULL), PAWL_SUCCESS, "grow");
	}
}

/* How far the space reaches; one rank asks, for all. */
static int64_t reach(pawl_table *table)
{
	int64_t end_unit = 0;

	meet();
	if (tap_rank == 0)
		expect_code(pawl_range_grow(table, 0, &end_unit), PAWL_SUCCESS, "grow");
	MPI_Bcast(&end_unit, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
	return end_unit;
}

static void growth(const char *kind, const char *how)
{
	uint64_t random = 362436069 + (uint64_t)tap_rank * 7919;
	pawl_table *table;

	setenv("PAWL_UNITS", "256", 1);
	setenv("PAWL_UNITS_MOST", "8192", 1);
	now_doing("%s, growth by %s", kind, how);
	table = table_open(kind, 1, "growth", how);
	for (int i = 0; table && i < GROWTHS; i++) {
		int64_t end_unit = reach(table);

		expect(end_unit == GROW_FROM, "it reaches %lld units at first",
		       (long long)end_unit);
		hold_growing(table, &random, seconds_now() + tap_budget / GROWTHS,
			     strcmp(how, "call") == 0);
		end_unit = reach(table);
		expect(end_unit == 4096 || end_unit == 16384, "it reaches %lld units",
		       (long long)end_unit);
		expect_code(pawl_range_shrink(table, 0, 1), PAWL_SUCCESS, "shrink");
	}
	table_close(table);
	unsetenv("PAWL_UNITS");
	unsetenv("PAWL_UNITS_MOST");
	result("%s, from 256 units to thousands and back, by %s: no ranges overlap", kind, how);
}

static void wrong_growth(void)
{
	pawl_table *table = table_open("citron", 1, NULL, NULL);
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

/* --------------------------------------------------------------------------- leases */

#define LEASE_US "100000"
#define LEASE_S 0.1

/* Rank 0 exceeds its lease at some units that the others want, too. */
static void outstayed(const char *kind)
{
	pawl_table *table = table_open(kind, 1, "lease", LEASE_US);
	double began;
	pawl_range range;

	now_doing("%s, a lease exceeded", kind);
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
	result("%s: a client that exceeds its lease loses its units, and its release says so",
	       kind);
}

/* ------------------------------------------------------------------ what excludes what */

/* One rank acquires the other sort of range, until it has had it that many times; the rest acquire
 * all the time. */
static void meet_crowd(const struct pawl_kind *kind, bool large_one, const char *what)
{
	pawl_table *table = table_open(kind->name, 1, NULL, NULL);
	bool lone = tap_rank == 0, large = lone == large_one;
	int64_t first = large ? 0 : 32 * (tap_rank % 2), last = large ? 4000 : first + 47;
	MPI_Request lone_is_done = MPI_REQUEST_NULL;
	int over = 0;
	uint64_t turns = 0;

	now_doing("%s: %s", kind->name, what);
	if (!lone)
		MPI_Ibarrier(MPI_COMM_WORLD, &lone_is_done);
	while (table && !over) {
		pawl_range range;

		expect_code(pawl_range_acquire(table, 0, first, last, PAWL_EXCLUSIVE, &range),
			    PAWL_SUCCESS, "acquire");
		use(0, first, last, false);
		expect_code(pawl_range_release(table, &range), PAWL_SUCCESS, "release");
		turns++;
		if (lone)
			over = turns == WANTED;
		else
			MPI_Test(&lone_is_done, &over, MPI_STATUS_IGNORE);
	}
	if (lone)
		MPI_Ibarrier(MPI_COMM_WORLD, &lone_is_done);
	MPI_Wait(&lone_is_done, MPI_STATUS_IGNORE);
	expect(turns > 0, "no turn");
	table_close(table);
	result("%s: %s", kind->name, what);
}

/* ------------------------------------------------------------------------ one client */

static void several(const struct pawl_kind *kind)
{
	static const int64_t first[] = {500, 0, 10, 300, 301, 100000000},
			     last[] = {600, 9, 299, 300, 499, PAWL_RANGE_END};
	bool holds = tap_rank == tap_size - 1;
	pawl_table *table;
	pawl_range range[6];

	now_doing("%s, several ranges", kind->name);
	setenv("PAWL_K", "0", 1);
	setenv("PAWL_SEGMENTS", "1000", 1); /* some operations each */
	setenv("PAWL_SEGMENT_UNITS", "1", 1);
	table = table_open(kind->name, 1, NULL, NULL);
	unsetenv("PAWL_K");
	unsetenv("PAWL_SEGMENTS");
	unsetenv("PAWL_SEGMENT_UNITS");
	for (int i = 0; i < 6; i++) {
		now_doing("%s, range %d of several", kind->name, i);
		if (table && holds)
			expect_code(pawl_range_acquire(table, 0, first[i], last[i], PAWL_EXCLUSIVE,
						       &range[i]),
				    PAWL_SUCCESS, "acquire");
		meet();
	}
	for (int i = 0; table && i < 6 && !holds && (kind->capabilities & PAWL_CAP_TRY); i++)
		expect_code(
		    pawl_range_try_acquire(table, 0, first[i], first[i], PAWL_EXCLUSIVE, &range[i]),
		    PAWL_ERR_BUSY, "try");
	for (int i = 0; i < 6; i++) {
		meet();
		now_doing("%s, release %d of several", kind->name, i);
		if (table && holds)
			expect_code(pawl_range_release(table, &range[i]), PAWL_SUCCESS, "release");
	}
	table_close(table);
	result("%s: one client has several ranges side by side", kind->name);
}

static void errors(const struct pawl_kind *kind)
{
	pawl_table *table = table_open(kind->name, 1, NULL, NULL);
	pawl_range range;

	now_doing("%s, errors", kind->name);
	if (table && tap_rank == 0) {
		expect_code(pawl_range_acquire(table, 0, 2, 1, PAWL_EXCLUSIVE, &range),
			    PAWL_ERR_RANGE, "last before first");
		expect_code(pawl_range_acquire(table, 0, -1, 1, PAWL_EXCLUSIVE, &range),
			    PAWL_ERR_RANGE, "a negative unit");
		expect_code(pawl_range_acquire(table, 1, 0, 1, PAWL_EXCLUSIVE, &range),
			    PAWL_ERR_RANGE, "no such space");
		expect_code(pawl_range_acquire(table, 0, 0, 1, 7, &range), PAWL_ERR_ARG, "no mode");
		if (!(kind->capabilities & PAWL_CAP_SHARED))
			expect_code(pawl_range_acquire(table, 0, 0, 1, PAWL_SHARED, &range),
				    PAWL_ERR_UNSUPPORTED, "shared");
		expect_code(pawl_lock_acquire(table, 0, PAWL_EXCLUSIVE), PAWL_ERR_UNSUPPORTED,
			    "a lock");
		expect_code(pawl_range_acquire(table, 0, 0, 1, PAWL_EXCLUSIVE, &range),
			    PAWL_SUCCESS, "acquire");
		expect_code(pawl_range_release(table, &range), PAWL_SUCCESS, "release");
		expect_code(pawl_range_release(table, &range), PAWL_ERR_NOT_HELD, "release again");
	}
	table_close(table);
	result("%s: wrong calls return errors", kind->name);
}

/* Long ranges are rounded up, and a client that would wait for itself gets PAWL_ERR_HELD. */
static void citron_rounds_up(void)
{
	pawl_table *table = table_open("citron", 1, NULL, NULL);
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

/* Shared memory of this process, in bytes; -1 if the system does not say. */
static double resident(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[200];
	double kib = -1;

	while (f && kib < 0 && fgets(line, sizeof line, f))
		if (sscanf(line, "RssShmem: %lf", &kib) != 1)
			kib = -1;
	if (f)
		fclose(f);
	return kib * 1024;
}

/* The number of units in the paper, section 4.1; memory is taken when it is touched. */
static void citron_memory(void)
{
	struct pawl_table_info info;
	double before = resident(), grown = 0;
	pawl_table *table;
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
	grown = resident() - before;
	note("shared memory of rank 0 grew by %.1f MB", grown * 1e-6);
	expect(tap_size == 1 || !tap_one_host || before < 0 || grown < 4e6,
	       "%.0f bytes are in memory", grown);
	table_close(table);
	result("citron: 2^28 units in 46 MB, which are there only where touched");
}

/* ------------------------------------------------------------------------ operations */

/* Round trips from another node: the flushes, as all words are at one home. No other client is
 * active. trips: to acquire; release: to release. */
static void citron_trips(uint64_t trips, uint64_t release)
{
	static const int64_t f[][2] = {
	    {0, 0}, {17, 17}, {0, 63}, {40, 103}, {1, 64}, {200, 263}, {1023, 1086}, {256, 511},
	};
	pawl_table *table = table_open("citron", 1, NULL, NULL);
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
	pawl_table *table;
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

int main(int argc, char **argv)
{
	const struct pawl_kind *kind;
	bool ordered = argc > 1 && strcmp(argv[1], "ordered-operations") == 0;
	bool operations = ordered || (argc > 1 && strcmp(argv[1], "operations") == 0);
	int left = argc - operations;
	char **rest = argv + operations;

	rest[0] = argv[0];
	tap_start(&left, &rest, MPI_THREAD_SINGLE);
	if (operations) {
		/* A transport that keeps the order also posts. */
		citron_trips(ordered ? 1 : 2, !ordered);
		citron_growth_trips();
		return tap_end();
	}
	oracle_start();
	for (int i = 0; (kind = pawl_kind_get(i)); i++) {
		if (!(kind->capabilities & PAWL_CAP_RANGES) || !tap_wants(kind) ||
		    ((kind->capabilities & PAWL_CAP_THREADS) &&
		     tap_thread_level < MPI_THREAD_MULTIPLE))
			continue;
		errors(kind);
		several(kind);
		exclusion(kind, "1048576", "2", "4");
		exclusion(kind, "4096", "1", "2");
		exclusion(kind, "1024", "3", "1");
		exclusion(kind, "256", "2", "5");
		if (!(kind->capabilities & PAWL_CAP_FAIR) || tap_size < 2)
			continue;
		meet_crowd(kind, true, "a large range among small ones gets its turns");
		meet_crowd(kind, false, "a small range among large ones gets its turns");
	}
	if (tap_wants(pawl_kind_find("citron"))) {
		growth("citron", "auto");
		growth("citron", "call");
		wrong_growth();
		if (tap_size > 1)
			outstayed("citron");
		citron_rounds_up();
		citron_memory();
	}
	oracle_end();
	return tap_end();
}
