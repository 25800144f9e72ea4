/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every kind with ranges: two ranges that overlap are never held at the same time unless both are
 * shared, and disjoint ranges are. With random ranges, with all ranks at one place, with several
 * ranges and spaces at once, by try and timed acquires, and with each kind's options. At the end
 * every unit is free. ranges_citron.c has what only citron does; range_errors.c has wrong calls.
 * Options come by the environment, where a kind ignores those that it does not have.
 *
 *   ranges [operations | ordered-operations]    citron's round trips only
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranges.h"

enum {
	PLACES = 1024, /* units in which most ranges lie */
	APART = 64,    /* ranges of each rank in the test that holds several together */
	USED = 4,      /* spaces, by most cases */
	WANTED = 20,   /* turns of the lone client of a crowd */
	MOST_RANKS = PLACES / APART
};

static const struct pawl_kind *kind;

static bool can(unsigned capability)
{
	return (kind->capabilities & capability) != 0;
}

/* The last rank can acquire all units of the first spaces. */
static void expect_free(uint64_t n)
{
	pawl_range range;
	double began;

	meet();
	began = seconds_now();
	for (uint64_t s = 0; tap_rank == tap_size - 1 && s < n; s++) {
		int rc;

		do
			rc = can(PAWL_CAP_TRY) ? pawl_range_try_acquire(table, s, 0, PAWL_RANGE_END,
									PAWL_EXCLUSIVE, &range)
					       : pawl_range_acquire(table, s, 0, PAWL_RANGE_END,
								    PAWL_EXCLUSIVE, &range);
		while (tries_again(rc, began));
		if (expect(rc == PAWL_SUCCESS, "space %llu is not free at the end: %s",
			   (unsigned long long)s, pawl_error_message()))
			expect_code(pawl_range_release(table, &range), PAWL_SUCCESS, "release");
	}
	meet();
}

/* ---------------------------------------------------------- ranges drawn at random */

/* A range that begins below a limit, with one unit, some, many, or without end. */
static void draw_below(struct held *h, int64_t limit)
{
	static const uint32_t most[] = {1, 1, 16, 16, 256};
	uint32_t kind_of = random_below(&seed, 6);

	h->first = random_below(&seed, (uint32_t)limit);
	if (kind_of == 5 && limit == PLACES && random_below(&seed, 8) == 0) {
		h->last = PAWL_RANGE_END;
		return;
	}
	h->last = h->first + random_below(&seed, most[kind_of % 5]);
	if (h->last >= limit)
		h->last = limit - 1;
}

static void one_place(struct held *h, int round)
{
	(void)round;
	h->first = 100;
	h->last = 131;
}

static void anywhere(struct held *h, int round)
{
	(void)round;
	draw_below(h, PLACES);
}

/* Neighbours: ranges that begin where others end; and both ends. */
static void borders(struct held *h, int round)
{
	static const int64_t ends[][2] = {
	    {0, 0}, {PAWL_RANGE_END, PAWL_RANGE_END}, {PAWL_RANGE_END - 5, PAWL_RANGE_END - 1}};

	h->first = round < 3 ? ends[round][0] : random_below(&seed, 12);
	h->last = round < 3 ? ends[round][1] : h->first + random_below(&seed, 4);
}

static void many_spaces(struct held *h, int round)
{
	anywhere(h, round);
	h->space = random_below(&seed, (uint32_t)spaces);
}

static void mixed_roles(struct held *h, int round)
{
	(void)round;
	draw_below(h, PLACES / 4);
	h->mode = random_below(&seed, 3) == 0 ? PAWL_EXCLUSIVE : PAWL_SHARED;
}

static void try_contended(struct held *h, int round)
{
	draw_below(h, PLACES / 4);
	h->how = round % 2 ? TRY : BLOCKING;
}

static void timed_contended(struct held *h, int round)
{
	(void)round;
	draw_below(h, PLACES / 4);
	h->how = TIMED;
}

static int64_t tree = 4096; /* units of the tree, if the kind has one */

/* Mostly small ranges in a few places; sometimes large ones, and some beyond any tree; some by try
 * or timed acquires. */
static void mixture(struct held *h, int round)
{
	static const uint32_t most[] = {1, 8, 64, 64, 100, 300, 1100, 6000};
	uint32_t length = 1 + random_below(&seed, most[random_below(&seed, 8)]);
	uint32_t places = random_below(&seed, 4) ? 300 : (uint32_t)(tree + tree / 8);
	uint32_t how = random_below(&seed, 8);

	(void)round;
	h->space = random_below(&seed, 2);
	h->first = random_below(&seed, places);
	h->last = random_below(&seed, 100) ? h->first + length - 1 : PAWL_RANGE_END;
	if (how == 0 && can(PAWL_CAP_TRY))
		h->how = TRY;
	else if (how == 1 && can(PAWL_CAP_TIMED))
		h->how = TIMED;
}

/* ------------------------------------------------------------------------ cases */

/* Each rank holds its own range, all at the same time. */
static void disjoint(void)
{
	int64_t written = 0;

	for (int i = 0; i < 3; i++) {
		struct held h = {.first = tap_rank * APART, .mode = PAWL_EXCLUSIVE};

		h.last = h.first + 9;
		acquire(&h);
		meet();
		written += inside(&h);
		meet();
		release(&h);
	}
	expect_total(written);
}

/* Two ranges of one space and one of another at once, in ascending order. */
static void several(void)
{
	double end = seconds_now() + tap_budget;
	int64_t written = 0;

	for (int i = 0; i < 3 || seconds_now() < end; i++) {
		int first_out = (int)random_below(&seed, 3);
		struct held h[3];

		for (int k = 0; k < 3; k++) {
			h[k] = (struct held){.space = k == 2 ? 3 : 1, .mode = PAWL_EXCLUSIVE};
			draw_below(&h[k], 256);
			h[k].first += k == 1 ? 512 : 0;
			h[k].last += k == 1 ? 512 : 0;
			acquire(&h[k]);
		}
		for (int k = 0; k < 3; k++)
			written += inside(&h[k]);
		for (int k = 0; k < 3; k++)
			release(&h[(first_out + k) % 3]);
	}
	expect_total(written);
}

/* A client that holds for long keeps out all others, which come meanwhile. */
static void held_for_long(void)
{
	struct held h = {.space = 1, .first = 200, .last = 400, .mode = PAWL_EXCLUSIVE};
	int64_t written = 0;

	if (tap_rank == 0)
		acquire(&h);
	meet();
	if (tap_rank != 0) {
		h.first = 200 + tap_rank;
		h.last = 500;
		acquire(&h);
	}
	for (int i = 0; i < (tap_rank == 0 ? 10 : 1); i++) {
		written += inside(&h);
		linger(tap_rank == 0 ? tap_budget / 10 : 0);
	}
	release(&h);
	expect_total(written);
}

static void readers_meet(void)
{
	struct held h = {.space = 1, .first = tap_rank, .last = 50 + tap_rank, .mode = PAWL_SHARED};

	acquire(&h);
	meet();
	release(&h);
	meet();
}

/* Rank 0 holds units 100 to 199, the others try. */
static void others_try(void)
{
	struct held h = {.space = 1, .first = 100, .last = 199, .mode = PAWL_EXCLUSIVE};
	int rc;

	if (tap_rank == 0)
		acquire(&h);
	meet();
	if (tap_rank == tap_size - 1 && tap_size > 1) {
		rc = pawl_range_try_acquire(table, 1, 150, 160, PAWL_EXCLUSIVE, &h.range);
		expect_code(rc, PAWL_ERR_BUSY, "try of a part of what is held");
		rc = pawl_range_try_acquire(table, 1, 0, PAWL_RANGE_END, PAWL_EXCLUSIVE, &h.range);
		expect_code(rc, PAWL_ERR_BUSY, "try of the whole, some of which is held");
		rc = pawl_range_try_acquire(table, 1, 512, 600, PAWL_EXCLUSIVE, &h.range);
		expect_code(rc, PAWL_SUCCESS, "try of what is free beside it");
		release(&h);
	}
	meet();
	if (tap_rank == 0)
		release(&h);
}

static void timed_out(void)
{
	struct held h = {.space = 1, .first = 100, .last = 199, .mode = PAWL_EXCLUSIVE};
	double began;

	if (tap_rank == 0)
		acquire(&h);
	meet();
	began = seconds_now();
	if (tap_rank != 0) {
		expect_code(
		    pawl_range_timed_acquire(table, 1, 199, 300, PAWL_EXCLUSIVE, 0.02, &h.range),
		    PAWL_ERR_TIMEOUT, "timed acquire of what is held");
		expect(seconds_now() - began >= 0.02, "it gave up before its time");
	}
	meet();
	if (tap_rank == 0)
		release(&h);
}

/* One rank acquires the other sort of range, until it has had it that many times; the rest acquire
 * all the time. */
static void meet_crowd(bool large_one)
{
	bool lone = tap_rank == 0, large = lone == large_one;
	int64_t first = large ? 0 : 32 * (tap_rank % 2), written = 0;
	struct held h = {.first = first, .last = large ? 4000 : first + 47, .mode = PAWL_EXCLUSIVE};
	MPI_Request lone_is_done = MPI_REQUEST_NULL;
	int over = 0, turns = 0;

	if (!lone)
		MPI_Ibarrier(MPI_COMM_WORLD, &lone_is_done);
	while (!over) {
		written += visit(&h);
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
	expect_total(written);
}

static void large_one(void)
{
	meet_crowd(true);
}

static void small_one(void)
{
	meet_crowd(false);
}

/* ---------------------------------------------------------------------- programs */

static void begin(const char *what)
{
	now_doing("%s, %s", kind->name, what);
	seed = (uint64_t)tap_rank * 1000003;
	meet();
}

static void run(const char *what, void (*test)(void))
{
	begin(what);
	test();
	expect_free(USED);
	result("%s: %s", kind->name, what);
}

/* All contend for ranges that they draw. */
static void run_drawn(const char *what, void (*draw)(struct held *h, int round))
{
	begin(what);
	contend(draw);
	expect_free(spaces);
	result("%s: %s", kind->name, what);
}

static void all_cases(void)
{
	run("ranges apart, all at one time", disjoint);
	run_drawn("one place, contended by all", one_place);
	run_drawn("ranges anywhere", anywhere);
	run_drawn("neighbours, and both ends", borders);
	run_drawn("many spaces", many_spaces);
	run_drawn("ranges and acquires of all sorts", mixture);
	run("several ranges at once", several);
	run("held for long", held_for_long);
	if (can(PAWL_CAP_SHARED)) {
		run("all readers inside at one time", readers_meet);
		run_drawn("roles mixed", mixed_roles);
	}
	if (can(PAWL_CAP_TRY)) {
		run("try acquire of what is held, and free", others_try);
		run_drawn("try and blocking acquires mixed", try_contended);
	}
	if (can(PAWL_CAP_TIMED)) {
		run("timed acquire of what is held", timed_out);
		run_drawn("timed acquires contend", timed_contended);
	}
	if (can(PAWL_CAP_FAIR) && tap_size > 1) {
		run("a large range among small ones gets its turns", large_one);
		run("a small range among large ones gets its turns", small_one);
	}
}

/* Segments, for kinds that have them, such that ranks can hold separate ranges and that
 * some ranges take several; --set takes precedence. */
static pawl_table *open_table(void)
{
	pawl_table *t = NULL;
	MPI_Info info;

	MPI_Info_create(&info);
	if (strstr(kind->options, "segment_units")) {
		MPI_Info_set(info, "pawl_segments", "16");
		MPI_Info_set(info, "pawl_segment_units", "64");
	}
	if (kind->capabilities & PAWL_CAP_RECOVERS)
		MPI_Info_set(info, "pawl_lease", "0");
	expect_code(pawl_table_create(MPI_COMM_WORLD, kind->name, spaces, info, &t), PAWL_SUCCESS,
		    "pawl_table_create");
	MPI_Info_free(&info);
	return t;
}

/* A table that options of the environment describe, with ranges of all sorts. */
static void with_tree(const char *units, const char *k, const char *m)
{
	char what[80];

	setenv("PAWL_UNITS", units, 1);
	setenv("PAWL_K", k, 1);
	setenv("PAWL_M", m, 1);
	tree = strtoll(units, NULL, 10);
	table = table_open(kind->name, spaces, NULL, NULL);
	snprintf(what, sizeof what, "%s units, k %s, m %s", units, k, m);
	if (table)
		run_drawn(what, mixture);
	table_close(table);
	unsetenv("PAWL_UNITS");
	unsetenv("PAWL_K");
	unsetenv("PAWL_M");
}

/* What takes some operations each, if the kind has segments or rounds up. */
static void side_by_side(void)
{
	static const int64_t first[] = {500, 0, 10, 300, 301, 100000000},
			     last[] = {600, 9, 299, 300, 499, PAWL_RANGE_END};
	bool holds = tap_rank == tap_size - 1;
	struct held h[6];

	setenv("PAWL_K", "0", 1);
	setenv("PAWL_SEGMENTS", "1000", 1);
	setenv("PAWL_SEGMENT_UNITS", "1", 1);
	table = table_open(kind->name, 1, NULL, NULL);
	unsetenv("PAWL_K");
	unsetenv("PAWL_SEGMENTS");
	unsetenv("PAWL_SEGMENT_UNITS");
	for (int i = 0; i < 6; i++) {
		now_doing("%s, range %d of several", kind->name, i);
		h[i] = (struct held){.first = first[i], .last = last[i], .mode = PAWL_EXCLUSIVE};
		if (table && holds)
			acquire(&h[i]);
		meet();
	}
	for (int i = 0; table && i < 6 && !holds && can(PAWL_CAP_TRY); i++)
		expect_code(pawl_range_try_acquire(table, 0, first[i], first[i], PAWL_EXCLUSIVE,
						   &h[i].range),
			    PAWL_ERR_BUSY, "try");
	for (int i = 0; i < 6; i++) {
		meet();
		now_doing("%s, release %d of several", kind->name, i);
		if (table && holds)
			release(&h[i]);
	}
	table_close(table);
	result("%s: one client has several ranges side by side", kind->name);
}

static void one_kind(void)
{
	struct pawl_table_info info;

	now_doing("%s, a new table", kind->name);
	table = open_table();
	if (!result("%s: a table", kind->name))
		return;
	pawl_table_get_info(table, &info);
	note("%s on %s; %s", kind->name, info.topology, info.parameters);
	all_cases();
	table_close(table);
	result("%s: the table is freed", kind->name);
	side_by_side();
	if (!strstr(kind->options, "units_most"))
		return;
	with_tree("1048576", "2", "4");
	with_tree("4096", "1", "2");
	with_tree("1024", "3", "1");
	with_tree("256", "2", "5");
}

static bool plays(const struct pawl_kind *k)
{
	return (k->capabilities & PAWL_CAP_RANGES) && tap_wants(k) &&
	       (!(k->capabilities & PAWL_CAP_THREADS) || tap_thread_level == MPI_THREAD_MULTIPLE);
}

int main(int argc, char **argv)
{
	bool ordered = argc > 1 && strcmp(argv[1], "ordered-operations") == 0;
	bool operations = ordered || (argc > 1 && strcmp(argv[1], "operations") == 0);
	int left = argc - operations;
	char **rest = argv + operations;

	rest[0] = argv[0];
	tap_start(&left, &rest, MPI_THREAD_SINGLE);
	if (operations) {
		citron_operations(ordered);
		return tap_end();
	}
	if (tap_size > MOST_RANKS) {
		fprintf(stderr, "ranges: at most %d ranks\n", MOST_RANKS);
		return 2;
	}
	spaces = 2 * (uint64_t)tap_size + 3;
	area_start();
	for (int i = 0; (kind = pawl_kind_get(i)); i++)
		if (plays(kind))
			one_kind();
	if (tap_wants(pawl_kind_find("citron")))
		citron_cases();
	area_end();
	return tap_end();
}
