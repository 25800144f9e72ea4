/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timed acquires of every kind that has them: deadlines that pass at any step, mixed with acquires
 * without a deadline and with tries; clients that hold one lock and acquire another, in either
 * order, so that only deadlines prevent a deadlock. A writer excludes others, a call returns soon
 * after its deadline and not before it, and at the end each process can hold as many locks as at
 * first.
 */
#include <stdio.h>

#include "tests/lock/payload.h"
#include "tests/lock/tables.h"

enum { SHARED_LOCKS = 2, HELD = 8, TEXT = 16 };
enum { AT_LEAST = 20 };

/* A busy machine may stop a rank for this time. */
#define SLACK 5.0

static const struct pawl_kind *kind;
static pawl_table *table;
static uint64_t seed;
static double latest;               /* seconds after a deadline */
static int64_t written, over, full; /* sections of writers, deadlines that passed, no slot left */

static bool can(unsigned capability)
{
	return (kind->capabilities & capability) != 0;
}

/* A time-out in seconds: 0, or about the time of one hand-over, of a few, or of many. */
static double draw_patience(void)
{
	static const uint32_t most_us[] = {1, 20, 500, 5000};

	return random_below(&seed, most_us[random_below(&seed, 4)]) * 1e-6;
}

static int draw_mode(void)
{
	if (can(PAWL_CAP_INTENT) && random_below(&seed, 3) == 0)
		return (random_below(&seed, 2) ? PAWL_INTENT : PAWL_INTENT_SHARED) |
		       (random_below(&seed, 4) ? 0 : PAWL_AHEAD);
	return can(PAWL_CAP_SHARED) && !readers_expire(kind) && random_below(&seed, 3) == 0
		   ? PAWL_SHARED
		   : PAWL_EXCLUSIVE;
}

/* Whether the lock is held now. */
static bool acquire_in_time(uint64_t lock, int mode)
{
	double patience = draw_patience(), began = seconds_now(), took;
	int rc = pawl_lock_timed_acquire(table, lock, mode, patience);

	took = seconds_now() - began;
	if (rc == PAWL_SUCCESS)
		return true;
	if (rc == PAWL_ERR_TOO_MANY) {
		full++;
		return false;
	}
	expect_code(rc, PAWL_ERR_TIMEOUT, "timed acquire");
	expect(took >= patience, "gave up after %g s of %g s", took, patience);
	expect_time(took < patience + SLACK, "gave up after %g s of %g s", took, patience);
	latest = took - patience > latest ? took - patience : latest;
	over++;
	return false;
}

static bool acquire_somehow(uint64_t lock, int mode)
{
	uint32_t how = random_below(&seed, 8);
	int rc;

	if (how > 1)
		return acquire_in_time(lock, mode);
	if (how == 0 && can(PAWL_CAP_TRY)) {
		rc = pawl_lock_try_acquire(table, lock, mode & ~PAWL_AHEAD);
		if (rc == PAWL_ERR_BUSY)
			return false;
	} else {
		rc = pawl_lock_acquire(table, lock, mode);
	}
	if (rc == PAWL_ERR_TOO_MANY) {
		full++;
		return false;
	}
	return expect_code(rc, PAWL_SUCCESS, "acquire");
}

static void inside(uint64_t lock, int mode)
{
	bool slowly = random_below(&seed, 8) == 0;

	if (mode != PAWL_EXCLUSIVE) {
		payload_read(lock, table_home(table, lock), slowly);
		return;
	}
	payload_write(lock, table_home(table, lock), slowly);
	written++;
}

static void release(uint64_t lock)
{
	expect_code(pawl_lock_release(table, lock), PAWL_SUCCESS, "release");
}

static void one_round(void)
{
	uint64_t lock = random_below(&seed, SHARED_LOCKS), other = SHARED_LOCKS - 1 - lock;
	int mode = draw_mode();

	if (!acquire_somehow(lock, mode))
		return;
	inside(lock, mode);
	if (random_below(&seed, 4) == 0 && acquire_in_time(other, PAWL_EXCLUSIVE)) {
		inside(other, PAWL_EXCLUSIVE);
		release(other);
	}
	release(lock);
}

/* All ranks but one are in the queue when the time is over, and when the lock is released. */
static void leave_places(void)
{
	int rc;

	if (tap_rank == 0)
		expect_code(pawl_lock_acquire(table, 0, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
	meet();
	if (tap_rank != 0) {
		rc = pawl_lock_timed_acquire(table, 0, PAWL_EXCLUSIVE, 1e-3);
		over += expect_code(rc, PAWL_ERR_TIMEOUT, "timed acquire of what is held");
	}
	meet();
	if (tap_rank == 0)
		release(0);
}

static void contend(void)
{
	double began = seconds_now();
	int64_t all = 0;

	for (int i = 0; i < AT_LEAST || seconds_now() < began + 2 * tap_budget; i++)
		one_round();
	payload_expect(table, SHARED_LOCKS, written);
	MPI_Allreduce(&over, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
	expect(tap_size == 1 || all >= tap_size - 1, "%lld deadlines passed", (long long)all);
}

/* Check that no slot is left in a queue. */
static void hold_as_many(void)
{
	uint64_t first = SHARED_LOCKS + (uint64_t)tap_rank * HELD;

	meet();
	for (uint64_t i = 0; i < HELD; i++)
		expect_code(pawl_lock_acquire(table, first + i, PAWL_EXCLUSIVE), PAWL_SUCCESS,
			    "one more lock");
	for (uint64_t i = 0; i < HELD; i++)
		release(first + i);
}

static void one_kind(void)
{
	char held[TEXT];

	snprintf(held, sizeof held, "%d", HELD);
	table = table_open(kind->name, SHARED_LOCKS + (uint64_t)tap_size * HELD, "max_held", held);
	if (!result("%s: a table", kind->name))
		return;
	seed = (uint64_t)tap_rank * 1000003 + 1;
	written = over = full = 0;
	latest = 0;
	now_doing("%s, deadlines pass", kind->name);
	leave_places();
	contend();
	result("%s: deadlines pass while others come and go", kind->name);
	if (tap_verbose)
		note("%lld sections, %lld deadlines passed, the latest return %.3g ms later, %lld "
		     "times no slot",
		     (long long)written, (long long)over, latest * 1e3, (long long)full);
	now_doing("%s, all slots", kind->name);
	hold_as_many();
	table_close(table);
	result("%s: all slots serve again, and the table is freed", kind->name);
}

int main(int argc, char **argv)
{
	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	payload_start();
	for (int i = 0; (kind = tap_kind(&i));)
		if (can(PAWL_CAP_TIMED))
			one_kind();
	payload_end();
	return tap_end();
}
