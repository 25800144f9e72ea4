/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrong calls on ranges, with all kinds: each returns its code, with a message that names what
 * is at fault, and the extreme valid values are accepted. Each rank has its own space.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lock/tables.h"

static bool can(const struct pawl_kind *kind, uint64_t capability)
{
	return kind->capabilities & capability;
}

/* Check each of the three calls. */
static void refused(pawl_table *t, uint64_t space, int64_t first, int64_t last, int mode, int code,
		    const char *word)
{
	pawl_range range;

	expect_code(pawl_range_acquire(t, space, first, last, mode, &range), code, word);
	expect_message(word);
	expect_code(pawl_range_try_acquire(t, space, first, last, mode, &range), code, word);
	expect_message(word);
	expect_code(pawl_range_timed_acquire(t, space, first, last, mode, 0.1, &range), code, word);
	expect_message(word);
}

static void nothing_given(void)
{
	pawl_table *t = table_open("lld", (uint64_t)tap_size, NULL, NULL);
	pawl_range range = {{0, 0}};

	expect_code(pawl_range_acquire(NULL, 0, 0, 1, PAWL_EXCLUSIVE, &range), PAWL_ERR_ARG,
		    "table");
	expect_message("table is null");
	expect_code(pawl_range_acquire(t, 0, 0, 1, PAWL_EXCLUSIVE, NULL), PAWL_ERR_ARG, "range");
	expect_message("range is null");
	expect_code(pawl_range_release(NULL, &range), PAWL_ERR_ARG, "release, table");
	expect_code(pawl_range_release(t, NULL), PAWL_ERR_ARG, "release, range");
	expect_code(pawl_range_release(t, &range), PAWL_ERR_NOT_HELD, "a range of zeros");
	expect_code(pawl_range_abandon(NULL, &range), PAWL_ERR_ARG, "abandon, table");
	expect_code(pawl_range_abandon(t, &range), PAWL_ERR_NOT_HELD, "abandon a range of zeros");
	expect_code(pawl_range_grow(NULL, 0, NULL), PAWL_ERR_ARG, "grow");
	expect_code(pawl_range_shrink(NULL, 0, 1), PAWL_ERR_ARG, "shrink");
	table_close(t);
	result("no table, no range");
}

static void no_ranges(void)
{
	pawl_table *t = table_open("d-mcs", (uint64_t)tap_size, NULL, NULL);

	refused(t, 0, 0, 1, PAWL_EXCLUSIVE, PAWL_ERR_UNSUPPORTED, "d-mcs has locks");
	expect_code(pawl_range_grow(t, 0, NULL), PAWL_ERR_UNSUPPORTED, "grow");
	expect_message("d-mcs");
	table_close(t);
	result("a kind without ranges");
}

static void units(pawl_table *t, const struct pawl_kind *kind)
{
	static const struct {
		int64_t first, last;
		const char *word;
	} cases[] = {
	    {5, 4, "units 5 to 4"},
	    {-1, 0, "units -1 to 0"},
	    {INT64_MIN, INT64_MAX, "units -9223372036854775808 to 9223372036854775807"},
	    {INT64_MIN, INT64_MIN, "units -9223372036854775808 to"},
	    {INT64_MAX, INT64_MAX - 1, "units 9223372036854775807 to"},
	    {0, -1, "units 0 to -1"},
	};
	uint64_t mine = (uint64_t)tap_rank;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		refused(t, mine, cases[i].first, cases[i].last, PAWL_EXCLUSIVE, PAWL_ERR_RANGE,
			cases[i].word);
	refused(t, (uint64_t)tap_size, 0, 1, PAWL_EXCLUSIVE, PAWL_ERR_RANGE, "space");
	refused(t, UINT64_MAX, 0, 1, PAWL_EXCLUSIVE, PAWL_ERR_RANGE, "space");
	refused(t, mine, 0, 1, 77, PAWL_ERR_ARG, "mode: 77");
	if (!can(kind, PAWL_CAP_SHARED))
		refused(t, mine, 0, 1, PAWL_SHARED, PAWL_ERR_UNSUPPORTED, "PAWL_SHARED");
	result("%s: units, spaces and modes that there are not", kind->name);
}

/* This rank holds units first to last of its own space. */
static void held_once(pawl_table *t, const struct pawl_kind *kind, int64_t first, int64_t last)
{
	uint64_t mine = (uint64_t)tap_rank;
	pawl_range range, other;

	if (!expect_code(pawl_range_acquire(t, mine, first, last, PAWL_EXCLUSIVE, &range),
			 PAWL_SUCCESS, "acquire"))
		return;
	expect_code(pawl_range_acquire(t, mine, last, last, PAWL_EXCLUSIVE, &other), PAWL_ERR_HELD,
		    "its last unit");
	expect_message("which this thread has");
	expect_code(pawl_range_try_acquire(t, mine, 0, INT64_MAX, PAWL_EXCLUSIVE, &other),
		    can(kind, PAWL_CAP_TRY) ? PAWL_ERR_HELD : PAWL_ERR_UNSUPPORTED, "all units");
	expect_code(pawl_range_release(t, &range), PAWL_SUCCESS, "release");
	expect_code(pawl_range_release(t, &range), PAWL_ERR_NOT_HELD, "release again");
	expect_message("not held");
}

static void ends(pawl_table *t, const struct pawl_kind *kind)
{
	held_once(t, kind, 0, 0);
	held_once(t, kind, 0, INT64_MAX);
	held_once(t, kind, INT64_MAX, INT64_MAX);
	held_once(t, kind, 63, 64);
	held_once(t, kind, (INT64_C(1) << 40) - 1, INT64_C(1) << 40);
	result("%s: the first unit, the last one, and all of them", kind->name);
}

static void calls(pawl_table *t, const struct pawl_kind *kind)
{
	uint64_t mine = (uint64_t)tap_rank;
	bool timed = can(kind, PAWL_CAP_TIMED);
	pawl_range range;

	expect_code(pawl_range_timed_acquire(t, mine, 0, 1, PAWL_EXCLUSIVE, -1, &range),
		    PAWL_ERR_ARG, "-1 seconds");
	expect_code(pawl_range_timed_acquire(t, mine, 0, 1, PAWL_EXCLUSIVE, NAN, &range),
		    PAWL_ERR_ARG, "seconds that are no number");
	expect_message("seconds");
	if (expect_code(pawl_range_timed_acquire(t, mine, 0, 1, PAWL_EXCLUSIVE, INFINITY, &range),
			timed ? PAWL_SUCCESS : PAWL_ERR_UNSUPPORTED, "for ever") &&
	    timed)
		expect_code(pawl_range_release(t, &range), PAWL_SUCCESS, "release");
	if (expect_code(pawl_range_acquire(t, mine, 7, 9, PAWL_EXCLUSIVE, &range), PAWL_SUCCESS,
			"acquire")) {
		/* Option lease is 0. */
		expect_code(pawl_range_abandon(t, &range), PAWL_ERR_UNSUPPORTED, "abandon");
		expect_message(can(kind, PAWL_CAP_RECOVERS) ? "lease" : kind->name);
		expect_code(pawl_range_release(t, &range), PAWL_SUCCESS, "release");
	}
	if (strcmp(kind->name, "citron") != 0) {
		expect_code(pawl_range_grow(t, mine, NULL), PAWL_ERR_UNSUPPORTED, "grow");
		expect_message(kind->name);
	}
	result("%s: seconds, abandoning, growing", kind->name);
}

/* To grow a space takes a slot. */
static void no_slot(void)
{
	pawl_table *t = table_open("citron", (uint64_t)tap_size, "max_held", "1");
	uint64_t mine = (uint64_t)tap_rank;
	pawl_range range;

	expect_code(pawl_range_acquire(t, mine, 0, 1, PAWL_EXCLUSIVE, &range), PAWL_SUCCESS,
		    "acquire");
	expect_code(pawl_range_grow(t, mine, NULL), PAWL_ERR_TOO_MANY, "grow");
	expect_message("max_held");
	expect_code(pawl_range_release(t, &range), PAWL_SUCCESS, "release");
	expect_code(pawl_range_grow(t, mine, NULL), PAWL_SUCCESS, "grow, with a slot");
	table_close(t);
	result("citron: growing without a slot");
}

/* Each rank holds some ranges, so the table cannot be freed. */
static void freed_too_early(pawl_table **t, const struct pawl_kind *kind)
{
	enum { RANGES = 6, APART = 70000 };
	uint64_t mine = (uint64_t)tap_rank;
	pawl_range range[RANGES];

	for (int i = 0; i < RANGES; i++)
		expect_code(pawl_range_acquire(*t, mine, i * APART, i * APART + 2, PAWL_EXCLUSIVE,
					       &range[i]),
			    PAWL_SUCCESS, "acquire");
	expect_code(pawl_table_free(t), PAWL_ERR_HELD, "free");
	expect_message("units 0 to 2 of space");
	expect_message("and 2 more");
	for (int i = 0; i < RANGES; i++)
		expect_code(pawl_range_release(*t, &range[i]), PAWL_SUCCESS, "release");
	result("%s: a table with ranges is not freed, and says which", kind->name);
}

/* Kinds with servers have threads. */
static void no_threads(const struct pawl_kind *kind)
{
	pawl_table *t = NULL;

	expect_code(pawl_table_create(MPI_COMM_WORLD, kind->name, 1, MPI_INFO_NULL, &t),
		    PAWL_ERR_THREAD, "a table");
	expect_message("MPI_THREAD_MULTIPLE");
	result("%s: without MPI_THREAD_MULTIPLE there is no table", kind->name);
}

int main(int argc, char **argv)
{
	const struct pawl_kind *kind;

	tap_start(&argc, &argv, MPI_THREAD_SERIALIZED);
	nothing_given();
	no_ranges();
	no_slot();
	for (int i = 0; (kind = pawl_kind_get(i)); i++) {
		pawl_table *t;

		if (!can(kind, PAWL_CAP_RANGES) || !tap_wants(kind))
			continue;
		now_doing("%s", kind->name);
		if (can(kind, PAWL_CAP_THREADS) && tap_thread_level < MPI_THREAD_MULTIPLE) {
			no_threads(kind);
			continue;
		}
		t = table_open(kind->name, (uint64_t)tap_size, NULL, NULL);
		if (!t)
			continue;
		units(t, kind);
		ends(t, kind);
		calls(t, kind);
		freed_too_early(&t, kind);
		table_close(t);
	}
	return tap_end();
}
