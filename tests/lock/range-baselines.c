/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exclusion of every kind with ranges: two ranges that overlap are never held at the same
 * time unless both are shared, and disjoint ranges are. With random ranges, with all
 * ranks at one place, with several ranges and spaces at once, by try and timed
 * acquires. At the end every unit is free.
 *
 * Each space has an array at rank 0 with a word for each of its first units: the rank that
 * made the last change, and the number of changes. Holders change the words of their
 * range by plain loads and stores (or puts and gets between hosts), so a second holder
 * shows: a holder that looks again finds another rank's word, or a change is lost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables.h"

enum {
	UNITS = 1024, /* units with a word */
	APART = 64,   /* ranges of each rank in the test that holds several together */
	USED = 4,     /* spaces, by most cases */
	AT_LEAST = 3, /* the least rounds of a loop, however slow the machine */
	MOST_RANKS = UNITS / APART,
	WHO_BIT = 40
};

#define SLOW_S 50e-6
#define COUNT_MASK ((INT64_C(1) << WHO_BIT) - 1)

static const struct pawl_kind *kind;
static pawl_table *table;
static uint64_t spaces, seed;

/* ------------------------------------------------------------------- the arrays */

static MPI_Win win;
static volatile int64_t *shared; /* one host */
static int64_t *mine;            /* several hosts: the words of rank 0 */

static MPI_Aint area_bytes(void)
{
	return tap_rank == 0 ? (MPI_Aint)(spaces * UNITS * sizeof(int64_t)) : 0;
}

static void area_start(void)
{
	MPI_Aint bytes = area_bytes();
	void *base;
	int unit;

	if (tap_one_host) {
		MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
		MPI_Win_shared_query(win, 0, &bytes, &unit, &base);
		shared = base;
	} else {
		MPI_Alloc_mem(bytes + 8, MPI_INFO_NULL, &mine);
		MPI_Win_create(mine, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	}
	MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
}

static void area_end(void)
{
	meet();
	MPI_Win_unlock_all(win);
	/* Over several hosts the program ends without MPI_Finalize, so nothing is freed. */
	if (tap_one_host)
		MPI_Win_free(&win);
}

static void area_reset(void)
{
	meet();
	for (MPI_Aint i = 0; i < area_bytes() / (MPI_Aint)sizeof(int64_t); i++) {
		if (shared)
			shared[i] = 0;
		else
			mine[i] = 0;
	}
	MPI_Win_sync(win);
	meet();
	MPI_Win_sync(win);
}

static void load(uint64_t space, int64_t first, int64_t n, int64_t *to)
{
	uint64_t at = space * UNITS + (uint64_t)first;

	if (shared) {
		for (int64_t i = 0; i < n; i++)
			to[i] = shared[at + (uint64_t)i];
		return;
	}
	MPI_Get(to, (int)n, MPI_INT64_T, 0, (MPI_Aint)(at * sizeof *to), (int)n, MPI_INT64_T, win);
	MPI_Win_flush(0, win);
}

static void store(uint64_t space, int64_t first, int64_t n, const int64_t *from)
{
	uint64_t at = space * UNITS + (uint64_t)first;

	if (shared) {
		for (int64_t i = 0; i < n; i++)
			shared[at + (uint64_t)i] = from[i];
		return;
	}
	MPI_Put(from, (int)n, MPI_INT64_T, 0, (MPI_Aint)(at * sizeof *from), (int)n, MPI_INT64_T,
		win);
	MPI_Win_flush(0, win);
}

/* ---------------------------------------------------------------------- holders */

struct held {
	uint64_t space;
	int64_t first, last;
	int mode;
	pawl_range range;
};

static bool can(unsigned capability)
{
	return (kind->capabilities & capability) != 0;
}

static void acquire(struct held *h, uint64_t space, int64_t first, int64_t last, int mode)
{
	*h = (struct held){.space = space, .first = first, .last = last, .mode = mode};
	expect_code(pawl_range_acquire(table, space, first, last, mode, &h->range), PAWL_SUCCESS,
		    "acquire");
}

static void release(const struct held *h)
{
	expect_code(pawl_range_release(table, &h->range), PAWL_SUCCESS, "release");
}

/* The number of its units that have a word. */
static int64_t words_of(const struct held *h)
{
	int64_t last = h->last < UNITS ? h->last : UNITS - 1;

	return h->first < UNITS ? last - h->first + 1 : 0;
}

static void expect_same(const struct held *h, const int64_t *wanted)
{
	int64_t seen[UNITS], n = words_of(h);

	load(h->space, h->first, n, seen);
	for (int64_t i = 0; i < n; i++)
		if (!expect(seen[i] == wanted[i],
			    "violation at unit %lld of space %llu, held %s: rank %lld changed it",
			    (long long)(h->first + i), (unsigned long long)h->space,
			    h->mode == PAWL_SHARED ? "shared" : "exclusively",
			    (long long)(seen[i] >> WHO_BIT) - 1))
			return;
}

/* The work of a holder; returns the number of words that it changed. */
static int64_t inside(const struct held *h)
{
	int64_t words[UNITS], n = words_of(h);
	bool slowly = random_below(&seed, 8) == 0;

	if (n == 0)
		return 0;
	load(h->space, h->first, n, words);
	for (int64_t i = 0; i < n && h->mode == PAWL_EXCLUSIVE; i++)
		words[i] = ((words[i] & COUNT_MASK) + 1) | (int64_t)(tap_rank + 1) << WHO_BIT;
	if (h->mode == PAWL_EXCLUSIVE)
		store(h->space, h->first, n, words);
	if (slowly)
		linger(SLOW_S);
	expect_same(h, words);
	return h->mode == PAWL_EXCLUSIVE ? n : 0;
}

static int64_t visit(uint64_t space, int64_t first, int64_t last, int mode)
{
	struct held h;
	int64_t written;

	acquire(&h, space, first, last, mode);
	written = inside(&h);
	release(&h);
	return written;
}

/* A range that begins below a limit, with one unit, some, many, or without end. */
static void draw(int64_t limit, int64_t *first, int64_t *last)
{
	static const uint32_t most[] = {1, 1, 16, 16, 256};
	uint32_t kind_of = random_below(&seed, 6);

	*first = random_below(&seed, (uint32_t)limit);
	if (kind_of == 5 && limit == UNITS && random_below(&seed, 8) == 0) {
		*last = PAWL_RANGE_END;
		return;
	}
	*last = *first + random_below(&seed, most[kind_of % 5]);
	if (*last >= limit)
		*last = limit - 1;
}

static bool more(int round, double began)
{
	return round < AT_LEAST || seconds_now() < began + tap_budget;
}

/* Check that no change is lost; written: those by this rank. */
static void expect_total(int64_t written)
{
	int64_t wanted = 0, found = 0, words[UNITS];

	meet();
	MPI_Reduce(&written, &wanted, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
	for (uint64_t s = 0; tap_rank == 0 && s < spaces; s++) {
		load(s, 0, UNITS, words);
		for (int i = 0; i < UNITS; i++)
			found += words[i] & COUNT_MASK;
	}
	if (tap_verbose)
		note("%lld changes", (long long)wanted);
	expect(tap_rank != 0 || found == wanted, "violation: %lld changes made, %lld found",
	       (long long)wanted, (long long)found);
	area_reset();
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

/* ------------------------------------------------------------------------ cases */

/* Each rank holds its own range, all at the same time. */
static void disjoint(void)
{
	int64_t first = tap_rank * APART, written = 0;
	struct held h;

	for (int i = 0; i < AT_LEAST; i++) {
		acquire(&h, 0, first, first + 9, PAWL_EXCLUSIVE);
		meet();
		written += inside(&h);
		meet();
		release(&h);
	}
	expect_total(written);
}

static void one_place(void)
{
	double began = seconds_now();
	int64_t written = 0;

	for (int i = 0; more(i, began); i++)
		written += visit(1, 100, 131, PAWL_EXCLUSIVE);
	expect_total(written);
}

static void anywhere(void)
{
	double began = seconds_now();
	int64_t written = 0, first, last;

	for (int i = 0; more(i, began); i++) {
		draw(UNITS, &first, &last);
		written += visit(1, first, last, PAWL_EXCLUSIVE);
	}
	expect_total(written);
}

/* Neighbours: ranges that begin where others end. */
static void borders(void)
{
	double began = seconds_now();
	int64_t written = 0;

	for (int i = 0; more(i, began); i++) {
		int64_t first = random_below(&seed, 12), n = 1 + random_below(&seed, 4);

		written += visit(1, first, first + n - 1, PAWL_EXCLUSIVE);
	}
	written += visit(1, 0, 0, PAWL_EXCLUSIVE);
	visit(1, PAWL_RANGE_END, PAWL_RANGE_END, PAWL_EXCLUSIVE);
	visit(1, PAWL_RANGE_END - 5, PAWL_RANGE_END - 1, PAWL_EXCLUSIVE);
	expect_total(written);
}

static void many_spaces(void)
{
	double began = seconds_now();
	int64_t written = 0, first, last;

	for (int i = 0; more(i, began); i++) {
		draw(UNITS, &first, &last);
		written +=
		    visit(random_below(&seed, (uint32_t)spaces), first, last, PAWL_EXCLUSIVE);
	}
	expect_total(written);
}

/* Two ranges of one space and one of another at once, in ascending order. */
static void several(void)
{
	double began = seconds_now();
	int64_t written = 0;

	for (int i = 0; more(i, began); i++) {
		struct held h[3];
		int first_out = (int)random_below(&seed, 3);
		int64_t first, last;

		for (int k = 0; k < 3; k++) {
			draw(256, &first, &last);
			acquire(&h[k], k == 2 ? 3 : 1, first + (k == 1 ? 512 : 0),
				last + (k == 1 ? 512 : 0), PAWL_EXCLUSIVE);
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
	int64_t written = 0;
	struct held h;

	if (tap_rank == 0)
		acquire(&h, 1, 200, 400, PAWL_EXCLUSIVE);
	meet();
	if (tap_rank != 0)
		acquire(&h, 1, 200 + tap_rank, 500, PAWL_EXCLUSIVE);
	for (int i = 0; i < (tap_rank == 0 ? 10 : 1); i++) {
		written += inside(&h);
		linger(tap_rank == 0 ? tap_budget / 10 : 0);
	}
	release(&h);
	expect_total(written);
}

static void readers_meet(void)
{
	struct held h;

	acquire(&h, 1, tap_rank, 50 + tap_rank, PAWL_SHARED);
	meet();
	release(&h);
	meet();
}

static void mixed_roles(void)
{
	double began = seconds_now();
	int64_t written = 0, first, last;

	for (int i = 0; more(i, began); i++) {
		draw(UNITS / 4, &first, &last);
		written += visit(1, first, last,
				 random_below(&seed, 3) == 0 ? PAWL_EXCLUSIVE : PAWL_SHARED);
	}
	expect_total(written);
}

/* ------------------------------------------------------------------ try and timed */

static void try_alone(void)
{
	struct held h;
	int rc;

	if (tap_rank == 0)
		acquire(&h, 1, 100, 199, PAWL_EXCLUSIVE);
	meet();
	if (tap_rank == tap_size - 1 && tap_size > 1) {
		rc = pawl_range_try_acquire(table, 1, 150, 160, PAWL_EXCLUSIVE, &h.range);
		expect_code(rc, PAWL_ERR_BUSY, "try of a part of what is held");
		rc = pawl_range_try_acquire(table, 1, 0, PAWL_RANGE_END, PAWL_EXCLUSIVE, &h.range);
		expect_code(rc, PAWL_ERR_BUSY, "try of the whole, some of which is held");
		rc = pawl_range_try_acquire(table, 1, 512, 600, PAWL_EXCLUSIVE, &h.range);
		expect_code(rc, PAWL_SUCCESS, "try of what is free beside it");
		expect_code(pawl_range_release(table, &h.range), PAWL_SUCCESS, "release");
	}
	meet();
	if (tap_rank == 0)
		release(&h);
}

static int64_t visit_by_try(int64_t first, int64_t last)
{
	struct held h = {.space = 1, .first = first, .last = last, .mode = PAWL_EXCLUSIVE};
	int rc = pawl_range_try_acquire(table, 1, first, last, PAWL_EXCLUSIVE, &h.range);
	int64_t written;

	if (rc == PAWL_ERR_BUSY)
		return 0;
	if (!expect_code(rc, PAWL_SUCCESS, "try acquire"))
		return 0;
	written = inside(&h);
	release(&h);
	return written;
}

static void try_contended(void)
{
	double began = seconds_now();
	int64_t written = 0, first, last;

	for (int i = 0; more(i, began); i++) {
		draw(UNITS / 4, &first, &last);
		written +=
		    i % 2 ? visit_by_try(first, last) : visit(1, first, last, PAWL_EXCLUSIVE);
	}
	expect_total(written);
}

static void timed_out(void)
{
	double began;
	struct held h;

	if (tap_rank == 0)
		acquire(&h, 1, 100, 199, PAWL_EXCLUSIVE);
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

static void timed_contended(void)
{
	double began = seconds_now();
	int64_t written = 0;

	for (int i = 0; more(i, began); i++) {
		struct held h = {.space = 1, .mode = PAWL_EXCLUSIVE};
		int rc;

		draw(UNITS / 4, &h.first, &h.last);
		rc = pawl_range_timed_acquire(table, 1, h.first, h.last, PAWL_EXCLUSIVE,
					      random_below(&seed, 100) * 1e-6, &h.range);
		if (rc == PAWL_ERR_TIMEOUT || !expect_code(rc, PAWL_SUCCESS, "timed acquire"))
			continue;
		written += inside(&h);
		release(&h);
	}
	expect_total(written);
}

/* --------------------------------------------------------------------- mistakes */

static void refused(void)
{
	struct held h;
	pawl_range r;

	expect_code(pawl_lock_acquire(table, 0, PAWL_EXCLUSIVE), PAWL_ERR_UNSUPPORTED, "a lock");
	expect_code(pawl_range_acquire(table, 0, 5, 4, PAWL_EXCLUSIVE, &r), PAWL_ERR_RANGE,
		    "a range that ends before it begins");
	expect_code(pawl_range_acquire(table, spaces, 0, 0, PAWL_EXCLUSIVE, &r), PAWL_ERR_RANGE,
		    "a space that there is not");
	if (!can(PAWL_CAP_SHARED))
		expect_code(pawl_range_acquire(table, 0, 0, 0, PAWL_SHARED, &r),
			    PAWL_ERR_UNSUPPORTED, "shared");
	if (!can(PAWL_CAP_TRY))
		expect_code(pawl_range_try_acquire(table, 0, 0, 0, PAWL_EXCLUSIVE, &r),
			    PAWL_ERR_UNSUPPORTED, "try acquire");
	if (!can(PAWL_CAP_TIMED))
		expect_code(pawl_range_timed_acquire(table, 0, 0, 0, PAWL_EXCLUSIVE, 1, &r),
			    PAWL_ERR_UNSUPPORTED, "timed acquire");
	acquire(&h, (uint64_t)tap_rank, 0, 5, PAWL_EXCLUSIVE);
	release(&h);
	expect_code(pawl_range_release(table, &h.range), PAWL_ERR_NOT_HELD, "released twice");
	acquire(&h, (uint64_t)tap_rank, 10, 20, PAWL_EXCLUSIVE);
	expect_code(pawl_range_acquire(table, (uint64_t)tap_rank, 20, 30, PAWL_EXCLUSIVE, &r),
		    PAWL_ERR_HELD, "units that it has itself");
	release(&h);
}

/* ---------------------------------------------------------------------- programs */

static void run_in(uint64_t n, const char *what, void (*test)(void))
{
	now_doing("%s, %s", kind->name, what);
	seed = (uint64_t)tap_rank * 1000003;
	meet();
	test();
	expect_free(n);
	result("%s: %s", kind->name, what);
}

static void run(const char *what, void (*test)(void))
{
	run_in(USED, what, test);
}

static void all_cases(void)
{
	run("ranges apart, all at one time", disjoint);
	run("one place, contended by all", one_place);
	run("ranges anywhere", anywhere);
	run("neighbours, and both ends", borders);
	run_in(spaces, "many spaces", many_spaces);
	run("several ranges at once", several);
	run("held for long", held_for_long);
	if (can(PAWL_CAP_SHARED)) {
		run("all readers inside at one time", readers_meet);
		run("roles mixed", mixed_roles);
	}
	if (can(PAWL_CAP_TRY)) {
		run("try acquire of what is held, and free", try_alone);
		run("try and blocking acquires mixed", try_contended);
	}
	if (can(PAWL_CAP_TIMED)) {
		run("timed acquire of what is held", timed_out);
		run("timed acquires contend", timed_contended);
	}
	run("what it cannot do is refused", refused);
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
}

static bool plays(const struct pawl_kind *k)
{
	return (k->capabilities & PAWL_CAP_RANGES) && tap_wants(k) &&
	       (!(k->capabilities & PAWL_CAP_THREADS) || tap_thread_level == MPI_THREAD_MULTIPLE);
}

int main(int argc, char **argv)
{
	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	if (tap_size > MOST_RANKS) {
		fprintf(stderr, "range-baselines: at most %d ranks\n", MOST_RANKS);
		return 2;
	}
	spaces = 2 * (uint64_t)tap_size + 3;
	area_start();
	area_reset();
	for (int i = 0; (kind = pawl_kind_get(i)); i++)
		if (plays(kind))
			one_kind();
	area_end();
	return tap_end();
}
