/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conditions, semaphores and counters of real ranks: a buffer whose ranks wait for each other, more
 * clients than permits, and a counter from which each value comes once; then wrong calls.
 */
#include <limits.h>

#include "tests/lock/tables.h"

enum { NUMBERS = 8, THINGS = 60, TURNS = 40, PERMITS = 2, VALUES = 500 };

static pawl_table *table;

static int64_t add(uint64_t counter, int64_t value)
{
	int64_t before = INT64_MIN;

	expect_code(pawl_counter_add(table, counter, value, &before), PAWL_SUCCESS, "add");
	return before;
}

static void acquire(uint64_t lock)
{
	expect_code(pawl_lock_acquire(table, lock, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
}

static void release(uint64_t lock)
{
	expect_code(pawl_lock_release(table, lock), PAWL_SUCCESS, "release");
}

/* Rank 0 puts things, the others take them; the numbers of both are counters 1 and 2. */
static void buffer(bool timed)
{
	const uint64_t lock = NUMBERS - 1;
	int taken = 0, all = 0;

	for (bool over = false; !over && tap_size > 1;) {
		acquire(lock);
		if (tap_rank == 0) {
			add(1, 1);
			expect_code(pawl_lock_notify(table, lock, 1, NULL), PAWL_SUCCESS, "notify");
			over = add(1, 0) == THINGS;
		}
		while (tap_rank > 0 && add(1, 0) == add(2, 0) && add(2, 0) < THINGS) {
			int rc = timed ? pawl_lock_timed_wait(table, lock, 0.001)
				       : pawl_lock_wait(table, lock);

			expect(rc == PAWL_SUCCESS || (timed && rc == PAWL_ERR_TIMEOUT), "wait: %s",
			       pawl_error_message());
			if (rc != PAWL_SUCCESS && rc != PAWL_ERR_TIMEOUT)
				break;
		}
		if (tap_rank > 0 && add(2, 0) < add(1, 0)) {
			add(2, 1);
			taken++;
		}
		if (tap_rank > 0 && add(2, 0) == THINGS) {
			over = true;
			expect_code(pawl_lock_notify(table, lock, INT_MAX, NULL), PAWL_SUCCESS,
				    "notify all");
		}
		release(lock);
	}
	MPI_Allreduce(&taken, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	expect(all == (tap_size > 1 ? THINGS : 0), "%d of %d things", all, THINGS);
	add(1, tap_rank == 0 && tap_size > 1 ? -THINGS : 0);
	add(2, tap_rank == 0 && tap_size > 1 ? -THINGS : 0);
	meet();
	result("a buffer, by %s of a condition", timed ? "timed waits" : "waits");
}

static void permits(void)
{
	const uint64_t semaphore = 3;
	int64_t value = 0;
	int taken = 0;

	if (tap_rank == 0)
		expect_code(pawl_semaphore_init(table, semaphore, PERMITS), PAWL_SUCCESS, "init");
	meet();
	for (int i = 0; i < TURNS; i++) {
		int rc = i % 3 == 0   ? pawl_semaphore_try_acquire(table, semaphore)
			 : i % 3 == 1 ? pawl_semaphore_timed_acquire(table, semaphore, 1e-4)
				      : pawl_semaphore_acquire(table, semaphore);

		if (rc == PAWL_ERR_BUSY || rc == PAWL_ERR_TIMEOUT)
			continue;
		expect_code(rc, PAWL_SUCCESS, "acquire a permit");
		expect(add(4, 1) < PERMITS, "more permits than there are");
		taken++;
		linger(1e-5);
		add(4, -1);
		expect_code(pawl_semaphore_release(table, semaphore, 1, PERMITS), PAWL_SUCCESS,
			    "release");
	}
	expect(taken >= TURNS / 3, "%d permits", taken);
	meet();
	expect_code(pawl_semaphore_get_value(table, semaphore, &value), PAWL_SUCCESS, "value");
	expect(value == PERMITS, "%lld permits at the end", (long long)value);
	expect_code(pawl_semaphore_release(table, semaphore, 1, PERMITS), PAWL_ERR_RANGE,
		    "more than the bound");
	meet();
	result("a semaphore: never more permits than there are, and no more than the bound");
}

static void values(void)
{
	int64_t sum = 0, all, n = (int64_t)VALUES * tap_size;

	for (int i = 0; i < VALUES; i++)
		sum += add(5, 1);
	MPI_Allreduce(&sum, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
	expect(all == n * (n - 1) / 2, "the sum of the values is %lld", (long long)all);
	result("a counter: each value once");
}

static void wrong_calls(void)
{
	pawl_table *plain = table_open("d-mcs", 2, NULL, NULL), *leased = NULL;
	MPI_Info info;

	expect_code(pawl_lock_wait(table, 0), PAWL_ERR_NOT_HELD, "wait without the lock");
	expect_code(pawl_lock_notify(table, 0, 1, NULL), PAWL_ERR_NOT_HELD, "notify without it");
	expect_code(pawl_lock_timed_wait(table, 0, -1), PAWL_ERR_ARG, "a negative time");
	expect_code(pawl_lock_wait(table, NUMBERS), PAWL_ERR_RANGE, "no such lock");
	expect_code(pawl_semaphore_init(table, 0, -1), PAWL_ERR_ARG, "negative");
	expect_code(pawl_semaphore_release(table, 0, 0, 0), PAWL_ERR_ARG, "no permits");
	acquire((uint64_t)tap_rank % NUMBERS);
	expect_code(pawl_semaphore_acquire(table, (uint64_t)tap_rank % NUMBERS), PAWL_ERR_HELD,
		    "a semaphore whose lock this thread holds");
	expect_code(pawl_lock_timed_wait(table, (uint64_t)tap_rank % NUMBERS, 0), PAWL_ERR_TIMEOUT,
		    "no time to wait");
	release((uint64_t)tap_rank % NUMBERS);
	expect_code(pawl_counter_add(plain, 0, 1, NULL), PAWL_ERR_UNSUPPORTED, "no events");
	expect_message("events=yes");
	MPI_Info_create(&info);
	MPI_Info_set(info, "pawl_events", "yes");
	MPI_Info_set(info, "pawl_lease", "1s");
	expect_code(pawl_table_create(MPI_COMM_WORLD, "shiftlock", 2, info, &leased),
		    PAWL_ERR_OPTION, "events with a lease");
	MPI_Info_free(&info);
	table_close(plain);
	result("wrong calls");
}

int main(int argc, char **argv)
{
	static const char *const kinds[] = {"adaptive", "d-mcs", "mgl"};

	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	for (int i = 0; i < 3; i++) {
		table = table_open(kinds[i], NUMBERS, "events", "yes");
		buffer(false);
		buffer(true);
		permits();
		values();
		if (i == 0)
			wrong_calls();
		table_close(table);
		result("%s: the table is free", kinds[i]);
	}
	return tap_end();
}
