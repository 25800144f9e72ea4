/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clients that live, under leases and permanent contention for ranges: no client is taken for dead,
 * no range is lost, and no acquire fails. Memory has a count for each unit, to which
 * every holder adds one by a plain load and, later, a plain store; at the end each count must be
 * the sum of what the clients have added. For kinds with ranges that recover.
 *
 * A holder that a busy machine keeps from its core for longer than its lease is late, and may lose
 * its range. Its own clock shows this, and the round is repeated.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lock/tables.h"

#define HOLD_S 50e-6

enum { UNITS = 2048, ATTEMPTS = 4, LEASE_US = 50000 };

static int64_t *counts;     /* of rank 0, shared with all ranks */
static int64_t mine[UNITS]; /* what this rank has added */
static double longest;      /* the longest time for which this rank held a range, in seconds */
static uint64_t acquires;
static int refused; /* the first code other than PAWL_SUCCESS */

static void hold(int64_t first, int64_t last)
{
	static int64_t seen[UNITS];
	size_t bytes = (size_t)(last - first + 1) * sizeof *seen;
	double end = seconds_now() + HOLD_S;

	memcpy(seen, counts + first, bytes);
	while (seconds_now() < end)
		;
	for (int64_t i = first; i <= last; i++) {
		seen[i - first]++;
		mine[i]++;
	}
	memcpy(counts + first, seen, bytes);
}

static void one_unit(uint64_t *random, int64_t *first, int64_t *last)
{
	(void)random;
	*first = *last = 0;
}

/* Of the upper half of a leaf, too; bits of a leaf, leaves, and inner nodes. */
static void any_units(uint64_t *random, int64_t *first, int64_t *last)
{
	static const uint32_t most[] = {1, 1, 40, 64, 300, 1500};
	int64_t length = 1 + random_below(random, most[random_below(random, 6)]);

	*first = random_below(random, random_below(random, 2) ? 64 : 500);
	*last = *first + length - 1 < UNITS ? *first + length - 1 : UNITS - 1;
}

static bool take_one(pawl_table *table, int64_t first, int64_t last)
{
	pawl_range range;
	double began = seconds_now(), held;

	refused = pawl_range_acquire(table, 0, first, last, PAWL_EXCLUSIVE, &range);
	if (!has_got(refused)) /* after a late holder */
		return false;
	began = seconds_now();
	hold(first, last);
	refused = pawl_range_release(table, &range);
	held = seconds_now() - began;
	longest = held > longest ? held : longest;
	acquires++;
	return refused == PAWL_SUCCESS;
}

/* The first unit whose count is wrong; UNITS if none is. */
static int64_t wrong_unit(void)
{
	static int64_t all[UNITS];
	int64_t i = 0;

	MPI_Allreduce(mine, all, UNITS, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
	while (i < UNITS && counts[i] == all[i])
		i++;
	return i;
}

/* One round; returns whether a holder was late. */
static bool round_is_late(pawl_table *table, double lease,
			  void (*draw)(uint64_t *, int64_t *, int64_t *))
{
	uint64_t random = 521288629 + (uint64_t)tap_rank * 7919;
	double end, late;

	memset(mine, 0, sizeof mine);
	if (tap_rank == 0)
		memset(counts, 0, UNITS * sizeof *counts);
	acquires = 0;
	longest = 0;
	refused = PAWL_SUCCESS;
	pawl_table_reset_stats(table);
	meet();
	end = seconds_now() + tap_budget;
	while (seconds_now() < end) {
		int64_t first, last;

		draw(&random, &first, &last);
		if (!take_one(table, first, last))
			break;
	}
	meet();
	MPI_Allreduce(&longest, &late, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	if (tap_rank == 0 && tap_verbose)
		note("held for %.1f ms at the most", late * 1e3);
	return late >= lease;
}

static void crowd(const char *kind, const char *lease, const char *what,
		  void (*draw)(uint64_t *, int64_t *, int64_t *))
{
	uint64_t least, most;
	pawl_table *table = table_open(kind, 1, "lease", lease);
	struct pawl_stats s = {0};
	bool late = true;
	int64_t unit;

	for (int i = 0; table && late && i < ATTEMPTS; i++) {
		now_doing("%s, %s", kind, what);
		late = round_is_late(table, strtod(lease, NULL) * 1e-6, draw);
	}
	if (table && late) {
		table_close(table);
		skip("a holder was kept from its core for longer than its lease", "%s, %s", kind,
		     what);
		return;
	}
	unit = wrong_unit();
	if (table)
		pawl_table_get_stats(table, &s);
	expect_code(refused, PAWL_SUCCESS, "acquire or release");
	expect(s.recoveries == 0, "%llu recoveries", (unsigned long long)s.recoveries);
	expect(unit == UNITS, "additions to unit %lld were lost", (long long)unit);
	MPI_Reduce(&acquires, &least, 1, MPI_UINT64_T, MPI_MIN, 0, MPI_COMM_WORLD);
	MPI_Reduce(&acquires, &most, 1, MPI_UINT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
	if (tap_rank == 0)
		note("%s, lease %s us: %llu to %llu acquires a rank", what, lease,
		     (unsigned long long)least, (unsigned long long)most);
	table_close(table);
	result("%s, %s: no living client is given up", kind, what);
}

int main(int argc, char **argv)
{
	const struct pawl_kind *kind;
	MPI_Win win;
	MPI_Aint bytes;
	int64_t *own;
	int unit;
	const char *asked = getenv("TEST_LIVING_LEASE");
	char lease[32];

	snprintf(lease, sizeof lease, "%d", asked ? atoi(asked) : LEASE_US);
	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	if (!tap_one_host || tap_size < 2) {
		skip("needs 2 ranks of one host", "living clients");
		return tap_end();
	}
	bytes = tap_rank == 0 ? UNITS * (MPI_Aint)sizeof *counts : 0;
	MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win);
	MPI_Win_shared_query(win, 0, &bytes, &unit, &counts);
	for (int i = 0; (kind = pawl_kind_get(i)); i++) {
		if (!(kind->capabilities & PAWL_CAP_RANGES) ||
		    !(kind->capabilities & PAWL_CAP_RECOVERS) || !tap_wants(kind))
			continue;
		crowd(kind->name, lease, "all at one unit", one_unit);
		crowd(kind->name, lease, "units of all kinds", any_units);
	}
	MPI_Win_free(&win);
	return tap_end();
}
