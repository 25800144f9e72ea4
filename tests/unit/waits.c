/* SPDX-License-Identifier: BSD-3-Clause */
/* Cycles in the graph of waits. Prints TAP. */
#include "observe/watchdog/waits.h"
#include "tests/tap.h"
#include "tests/wrap.h"

#include <pawl.h>
#include <string.h>

enum { PROCESSES = 4, TABLES = 2, FAR_APART = 300 };

static struct waits w;
static bool by_process;
static struct waits_process process[FAR_APART + 1];
static const struct waits_table locks = {.id = 1, .number = 1, .about = "k, 9 locks"};
static const struct waits_table other = {.id = 2, .number = 2, .about = "k, 9 locks"};
static const struct waits_table spaces = {
    .id = 3, .number = 3, .about = "r, 1 space", .ranges = true};

/* Linked with --wrap: allocations that succeed before one fails; -1: all do. */
static int left = -1;

static bool fails(void)
{
	return left >= 0 && left-- == 0;
}

MAY_FAIL(void *, calloc, NULL, (size_t n, size_t size), (n, size))
MAY_FAIL(void *, realloc, NULL, (void *old, size_t size), (old, size))

static void begin(void)
{
	w.n = 0;
	for (int i = 0; i <= FAR_APART; i++)
		process[i] = (struct waits_process){.id = (uint64_t)i + 1, .rank = i, .host = "h"};
}

static void add(int p, enum waits_state state, const struct waits_table *t, uint64_t lock, int mode,
		uint64_t thread)
{
	waits_add(&w, &(struct waits_entry){.process = &process[p],
					    .table = t,
					    .thread = thread,
					    .state = state,
					    .mode = mode,
					    .lock = lock});
}

static void holds(int p, uint64_t lock)
{
	add(p, WAITS_HOLDS, &locks, lock, PAWL_EXCLUSIVE, 1);
}

static void awaits(int p, uint64_t lock)
{
	add(p, WAITS_AWAITS, &locks, lock, PAWL_EXCLUSIVE, 1);
}

/* The number of waits in the cycle that is found from entry `from`. */
static size_t cycle(size_t from)
{
	size_t path[2 * WAITS_CYCLE];

	return waits_find_cycle(&w, from, by_process, path) / 2;
}

static void add_range(int p, enum waits_state state, int64_t first, int64_t last)
{
	waits_add(&w, &(struct waits_entry){.process = &process[p],
					    .table = &spaces,
					    .thread = 1,
					    .state = state,
					    .mode = PAWL_EXCLUSIVE,
					    .first = first,
					    .last = last});
}

static void test_cycles(void)
{
	char text[512];
	size_t path[2 * WAITS_CYCLE], n;

	begin();
	awaits(0, 1), holds(0, 0), awaits(1, 0), holds(1, 1);
	ok(cycle(0) == 2 && cycle(2) == 2, "two clients");
	n = waits_find_cycle(&w, 0, false, path);
	waits_tell_cycle(&w, path, n, text, sizeof text);
	ok(strcmp(text,
		  "rank 0 on host h awaits lock 1 of table 1 (k, 9 locks), which rank 1 on host h"
		  " holds; rank 1 on host h awaits lock 0 of table 1 (k, 9 locks), which rank 0 on"
		  " host h holds") == 0,
	   "its text");
	awaits(2, 0);
	ok(cycle(4) == 2, "a client that waits for a cycle of others");
	begin();
	awaits(0, 1), holds(0, 0), holds(1, 1), awaits(2, 0);
	ok(cycle(0) == 0 && cycle(3) == 0, "a chain");
	begin();
	for (int i = 0; i < FAR_APART; i++)
		holds(i, (uint64_t)i), awaits(i, (uint64_t)(i + 1) % FAR_APART);
	ok(cycle(1) == 0, "a cycle that is longer than the limit");
}

static void test_modes(void)
{
	begin();
	add(0, WAITS_AWAITS, &locks, 1, PAWL_SHARED, 1);
	add(0, WAITS_HOLDS, &locks, 0, PAWL_SHARED, 1);
	add(1, WAITS_AWAITS, &locks, 0, PAWL_EXCLUSIVE, 1);
	add(1, WAITS_HOLDS, &locks, 1, PAWL_EXCLUSIVE, 1);
	ok(cycle(0) == 2, "readers and writers");
	begin();
	add(0, WAITS_AWAITS, &locks, 0, PAWL_SHARED, 1);
	add(0, WAITS_HOLDS, &other, 0, PAWL_EXCLUSIVE, 1);
	add(1, WAITS_HOLDS, &locks, 0, PAWL_SHARED, 1);
	add(1, WAITS_AWAITS, &other, 0, PAWL_EXCLUSIVE, 1);
	ok(cycle(0) == 2, "a reader behind a waiting writer, and two tables");
	add(2, WAITS_HOLDS, &locks, 0, PAWL_EXCLUSIVE, 1);
	ok(cycle(0) == 0, "a reader that waits for a writer, and not for the reader");
	begin();
	add(0, WAITS_AWAITS, &locks, 0, PAWL_SHARED, 1);
	add(0, WAITS_HOLDS, &locks, 1, PAWL_EXCLUSIVE, 1);
	add(1, WAITS_HOLDS, &locks, 0, PAWL_INTENT_SHARED, 1);
	add(1, WAITS_AWAITS, &locks, 1, PAWL_EXCLUSIVE, 1);
	add(2, WAITS_HOLDS, &locks, 0, PAWL_INTENT, 1);
	ok(cycle(0) == 0, "an intent that does not exclude");
	w.entry[2].mode = PAWL_INTENT | PAWL_AHEAD;
	ok(cycle(0) == 2, "an intent that does");
	w.entry[0].mode = PAWL_INTENT_SHARED;
	w.entry[4].mode = PAWL_EXCLUSIVE;
	ok(cycle(0) == 0, "two intents, and a holder that excludes them");
	ok(strcmp(waits_mode(PAWL_SHARED), "shared") == 0 &&
	       strcmp(waits_mode(PAWL_EXCLUSIVE), "exclusively") == 0 &&
	       strcmp(waits_mode(PAWL_INTENT_SHARED | PAWL_AHEAD), "with intent") == 0,
	   "the names of the modes");
}

static void test_threads(void)
{
	size_t path[2 * WAITS_CYCLE], n;

	begin();
	awaits(0, 1), awaits(1, 0), holds(1, 1);
	add(0, WAITS_HOLDS, &locks, 0, PAWL_EXCLUSIVE, 2);
	ok(cycle(0) == 0, "another thread holds");
	w.entry[3].thread = 1;
	ok(cycle(0) == 2, "the same thread holds");
	w.entry[3].any_thread = true;
	ok(cycle(1) == 2, "the same thread holds, and others may release");
	n = waits_find_cycle(&w, 1, false, path);
	ok(strcmp(waits_title(&w, path, n), "deadlock") > 0, "the report says so");
	w.entry[3].thread = 2;
	ok(cycle(1) == 0, "another thread holds, and any may release");
	by_process = true;
	ok(cycle(1) == 2, "which is a cycle for the process");
	w.entry[3].any_thread = false;
	ok(cycle(1) == 0, "and none if only that thread may release");
	by_process = false;
}

static void test_ranges(void)
{
	char text[100];

	begin();
	add_range(0, WAITS_HOLDS, 0, 9), add_range(0, WAITS_AWAITS, 20, 29);
	add_range(1, WAITS_HOLDS, 25, 39), add_range(1, WAITS_AWAITS, 9, 12);
	ok(cycle(1) == 2, "ranges that overlap");
	waits_name(&w.entry[2], text, sizeof text);
	ok(strcmp(text, "units 25 to 39 of space 0 of table 3 (r, 1 space)") == 0, "their text");
	ok(waits_name(&w.entry[2], text, 6) == 5 && strcmp(text, "units") == 0, "as much as fits");
	add_range(2, WAITS_HOLDS, 12, 15);
	w.entry[0].last = 8;
	ok(cycle(1) == 0, "ranges that do not");
}

static void test_contain(void)
{
	size_t path[2 * WAITS_CYCLE], n;
	struct waits later = {.n = 0};

	begin();
	awaits(0, 1), holds(0, 0), awaits(1, 0), holds(1, 1);
	n = waits_find_cycle(&w, 0, false, path);
	for (size_t i = w.n; i-- > 0;)
		waits_add(&later, &w.entry[i]);
	ok(waits_contain(&later, &w, path, n), "a second reading has the same entries");
	later.entry[1].version++;
	ok(!waits_contain(&later, &w, path, n), "an entry has changed");
	waits_free(&later);
}

/* No cycle is found without memory, and no entry is lost. */
static void test_memory(void)
{
	begin();
	awaits(0, 1), holds(0, 0), awaits(1, 0), holds(1, 1);
	left = 0;
	ok(cycle(0) == 0, "a search without memory");
	left = -1;
	ok(cycle(0) == 2, "and with memory");
	while (w.n < w.room)
		awaits(0, 1);
	left = 0;
	ok(!waits_add(&w, &w.entry[0]) && w.n == w.room, "an entry without memory");
	left = -1;
	ok(cycle(0) == 2, "the others are still there");
}

int main(void)
{
	test_cycles();
	test_modes();
	test_threads();
	test_ranges();
	test_contain();
	test_memory();
	waits_free(&w);
	return tap_plan();
}
