/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks that get other homes while the table lives. Clients hold each lock one at a time before and
 * after that, counts go on, and so do names, semaphores, counters and numbers for storage. While a
 * rank holds or awaits a lock, or a lock is not repaired, all ranks are refused.
 */
#include <stdio.h>
#include <string.h>

#include "tests/lock/payload.h"
#include "tests/lock/tables.h"

enum { LOCKS = 11, ROUNDS = 44, MOVES = 3 };

static pawl_table *table;
static const struct pawl_kind *kind;
static bool ranges;
static pawl_range range;

static int shifted(uint64_t lock, void *arg)
{
	return (int)((lock + *(const uint64_t *)arg) % (uint64_t)tap_size);
}

static int nowhere(uint64_t lock, void *arg)
{
	(void)arg;
	return lock == LOCKS - 1 ? tap_size : 0;
}

/* A rank further on than now. */
static int next(uint64_t lock, void *arg)
{
	return (table_home(arg, lock) + 1) % tap_size;
}

static int acquire(uint64_t lock, int mode)
{
	return ranges ? pawl_range_acquire(table, lock, 0, PAWL_RANGE_END, mode, &range)
		      : pawl_lock_acquire(table, lock, mode);
}

static int release(uint64_t lock)
{
	return ranges ? pawl_range_release(table, &range) : pawl_lock_release(table, lock);
}

static void refused(pawl_home_fn *home, int code, const char *words, const char *what)
{
	uint64_t by = 1;
	int before[LOCKS];

	for (uint64_t l = 0; l < LOCKS; l++)
		before[l] = table_home(table, l);
	expect_code(pawl_table_rehome(table, home, &by), code, what);
	expect_message(words);
	for (uint64_t l = 0; l < LOCKS; l++)
		expect(table_home(table, l) == before[l], "%s: lock %d has moved", what, (int)l);
}

/* Each rank changes what each lock protects. */
static void use(void)
{
	int64_t changes = 0;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t lock = (uint64_t)i % LOCKS;

		expect_code(acquire(lock, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
		payload_write(lock, 0, i % 8 == 0);
		changes++;
		expect_code(release(lock), PAWL_SUCCESS, "release");
	}
	payload_expect(NULL, LOCKS, changes);
}

/* While rank 1 holds a lock, and while the last rank has a request. */
static void in_use(void)
{
	pawl_request q;

	if (tap_rank == 1)
		expect_code(acquire(1, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
	refused(shifted, PAWL_ERR_HELD, "before pawl_table_rehome()", "a lock is held");
	expect_message("rank 1 holds");
	if (!ranges && tap_rank == tap_size - 1)
		expect_code(pawl_lock_iacquire(table, 2, PAWL_EXCLUSIVE, &q), PAWL_SUCCESS, "ask");
	if (tap_rank == 1)
		expect_code(release(1), PAWL_SUCCESS, "release");
	if (ranges)
		return;
	refused(shifted, PAWL_ERR_HELD, "before pawl_table_rehome()", "a lock is requested");
	if (tap_rank == tap_size - 1)
		expect_code(pawl_request_cancel(&q), PAWL_SUCCESS, "cancel");
}

static uint64_t acquires(void)
{
	struct pawl_stats stats;

	expect_code(pawl_table_get_stats(table, &stats), PAWL_SUCCESS, "statistics");
	return stats.acquires;
}

static void moved(void)
{
	const pawl_table *before;
	uint64_t count;

	now_doing("%s moves", kind->name);
	ranges = kind->capabilities & PAWL_CAP_RANGES;
	before = table = table_open(kind->name, LOCKS, NULL, NULL);
	use();
	in_use();
	refused(tap_rank == 0 ? NULL : shifted, PAWL_ERR_ARG, "home is a null", "no function");
	refused(nowhere, PAWL_ERR_ARG, "not in the communicator", "no rank");
	count = acquires();
	for (uint64_t by = 1; by <= MOVES; by++) {
		expect_code(pawl_table_rehome(table, shifted, &by), PAWL_SUCCESS, "rehome");
		for (uint64_t l = 0; l < LOCKS; l++)
			expect(table_home(table, l) == shifted(l, &by), "lock %d is at rank %d",
			       (int)l, table_home(table, l));
		use();
	}
	expect(acquires() == count + MOVES * ROUNDS, "%d acquires of %d", (int)acquires(),
	       (int)count + MOVES * ROUNDS);
	expect_code(pawl_table_rehome(table, next, table), PAWL_SUCCESS, "rehome by the homes");
	use();
	expect(table == before, "the handle has changed");
	table_close(table);
	result("%s: locks get other homes", kind->name);
}

/* Kinds whose servers, or windows, stay where they are. */
static void stays(void)
{
	ranges = kind->capabilities & PAWL_CAP_RANGES;
	table = table_open(kind->name, LOCKS, NULL, NULL);
	refused(shifted, PAWL_ERR_UNSUPPORTED, "keep their homes", "locks that stay");
	table_close(table);
	result("%s: locks keep their homes", kind->name);
}

static void names(void)
{
	char name[32];
	uint64_t lock[LOCKS], again;

	table = table_open("d-mcs", LOCKS, "names", "yes");
	for (int i = 0; i < LOCKS; i++) {
		snprintf(name, sizeof name, "a name of some words, %d", i);
		expect_code(pawl_lock_named(table, name, &lock[i]), PAWL_SUCCESS, "name");
	}
	meet();
	expect_code(pawl_table_rehome(table, next, table), PAWL_SUCCESS, "rehome");
	for (int i = 0; i < LOCKS; i++) {
		snprintf(name, sizeof name, "a name of some words, %d", i);
		expect_code(pawl_lock_named(table, name, &again), PAWL_SUCCESS, "name");
		expect(again == lock[i], "%s has another lock", name);
	}
	expect_code(pawl_lock_named(table, "one more", &again), PAWL_ERR_TOO_MANY, "one more");
	table_close(table);
	result("names stay");
}

static void events(void)
{
	int64_t value = 0;

	table = table_open("adaptive", LOCKS, "events", "yes");
	if (tap_rank == 0)
		expect_code(pawl_semaphore_init(table, 3, 7), PAWL_SUCCESS, "init");
	meet();
	if (tap_rank < 2)
		expect_code(pawl_semaphore_acquire(table, 3), PAWL_SUCCESS, "a permit");
	expect_code(pawl_counter_add(table, 5, 10, NULL), PAWL_SUCCESS, "add");
	meet();
	expect_code(pawl_table_rehome(table, next, table), PAWL_SUCCESS, "rehome");
	expect_code(pawl_semaphore_get_value(table, 3, &value), PAWL_SUCCESS, "value");
	expect(value == 5, "%d permits", (int)value);
	expect_code(pawl_counter_add(table, 5, 0, &value), PAWL_SUCCESS, "counter");
	expect(value == 10 * tap_size, "the counter is %d", (int)value);
	meet();
	for (int i = 0; i < ROUNDS; i++) { /* one permit for all */
		if (i > 0 || tap_rank > 0)
			expect_code(pawl_semaphore_acquire(table, 6), PAWL_SUCCESS, "wait");
		expect_code(pawl_semaphore_release(table, 6, 1, 0), PAWL_SUCCESS, "give");
	}
	table_close(table);
	result("semaphores and counters stay");
}

/* ---------------------------------------------------------------- with a lease */

static int64_t number(void)
{
	int64_t n = 0;

	expect_code(ranges ? pawl_range_token(table, &range, &n) : pawl_lock_token(table, 0, &n),
		    PAWL_SUCCESS, "number");
	return n;
}

/* Kinds that recover and tell no holder. */
static bool is_silent(void)
{
	return strncmp(kind->name, "dslr", 4) == 0;
}

/* The holder of lock 0 gives it up. */
static void given_up(void)
{
	int64_t before = 0, all;
	int rc;

	ranges = kind->capabilities & PAWL_CAP_RANGES;
	table = table_open(kind->name, LOCKS, "lease", "300ms");
	if (ranges) {
		refused(shifted, PAWL_ERR_UNSUPPORTED, "keep their homes", "spaces with a lease");
		use();
		table_close(table);
		result("%s: spaces with a lease keep their homes", kind->name);
		return;
	}
	if (tap_rank == 0) {
		expect_code(acquire(0, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
		for (int i = 0; i < 9; i++)
			before = number();
		expect_code(pawl_lock_abandon(table, 0), PAWL_SUCCESS, "give up");
	}
	meet();
	refused(shifted, PAWL_ERR_BUSY, "recovered", "not recovered");
	if (tap_rank == tap_size - 1) {
		expect_code(acquire(0, PAWL_EXCLUSIVE), PAWL_RECOVERED, "recover");
		before = number();
		expect_code(release(0), PAWL_SUCCESS, "release");
	}
	meet();
	refused(shifted, PAWL_ERR_BUSY, "recovered", "not repaired");
	if (tap_rank == tap_size - 1) {
		expect_code(acquire(0, PAWL_EXCLUSIVE), PAWL_RECOVERED, "repair");
		expect_code(pawl_lock_consistent(table, 0), PAWL_SUCCESS, "repaired");
		expect_code(release(0), PAWL_SUCCESS, "release");
	}
	meet();
	for (int i = 0; i < MOVES; i++) {
		expect_code(pawl_table_rehome(table, next, table), PAWL_SUCCESS, "rehome");
		MPI_Allreduce(&before, &all, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
		rc = acquire(0, PAWL_EXCLUSIVE);
		expect_code(rc, PAWL_SUCCESS, "acquire");
		before = number();
		expect(before > all, "number %lld after %lld", (long long)before, (long long)all);
		expect_code(release(0), PAWL_SUCCESS, "release");
		meet();
	}
	use();
	table_close(table);
	result("%s: recoveries end before locks move, and numbers grow", kind->name);
}

/* ------------------------------------------------------------------- what is left */

static void reads(void)
{
	pawl_read read = PAWL_READ_INIT;

	table = table_open("declock", LOCKS, NULL, NULL);
	expect_code(pawl_lock_read_begin(table, 4, &read), PAWL_SUCCESS, "begin");
	expect_code(pawl_table_rehome(table, next, table), PAWL_SUCCESS, "rehome");
	expect_code(pawl_lock_read_validate(table, 4, &read), PAWL_ERR_BUSY, "a read before");
	expect_code(pawl_lock_read_validate(table, 4, &read), PAWL_ERR_ARG, "no read");
	expect_code(pawl_lock_read_begin(table, 4, &read), PAWL_SUCCESS, "begin again");
	expect_code(pawl_lock_read_validate(table, 4, &read), PAWL_SUCCESS, "valid");
	table_close(table);
	result("a read that has begun before is not valid");
}

/* The last rank is still in the queue when the lock gets free. */
static void places(void)
{
	ranges = false;
	table = table_open("d-mcs", LOCKS, NULL, NULL);
	if (tap_rank == 0)
		expect_code(acquire(0, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
	meet();
	if (tap_rank == tap_size - 1)
		expect_code(pawl_lock_timed_acquire(table, 0, PAWL_EXCLUSIVE, 0.001),
			    PAWL_ERR_TIMEOUT, "timed acquire");
	meet();
	if (tap_rank == 0)
		expect_code(release(0), PAWL_SUCCESS, "release");
	expect_code(pawl_table_rehome(table, next, table), PAWL_SUCCESS, "rehome");
	use();
	table_close(table);
	expect_code(pawl_table_rehome(NULL, next, NULL), PAWL_ERR_ARG, "no table");
	result("places in queues end");
}

/* With 2 ranks or more. */
int main(int argc, char **argv)
{
	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	payload_start();
	for (int i = 0; (kind = pawl_kind_get(i)); i++) {
		if (!tap_wants(kind) || kind->capabilities & PAWL_CAP_THREADS)
			continue; /* servers are threads */
		if (strcmp(kind->name, "mpi-win-lock") == 0)
			stays();
		else
			moved();
		if (kind->capabilities & PAWL_CAP_RECOVERS && !is_silent())
			given_up();
	}
	names();
	events();
	reads();
	places();
	payload_end();
	return tap_end();
}
