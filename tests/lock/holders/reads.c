/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Optimistic reads of every kind that has them: readers that look at the lock before and after
 * they read, among clients that acquire it in both modes. A read that is valid saw no change under
 * it. Without exclusive clients every read is valid, and no reader changes a word; with one that
 * holds the lock, a read waits for it. Arguments that are wrong are refused.
 */
#include <stdio.h>

#include "tests/lock/payload.h"
#include "tests/lock/tables.h"

enum { LOCKS = 2, AT_LEAST = 50, ALONE = 100 };

static const struct pawl_kind *kind;
static pawl_table *table;
static uint64_t seed;
static int64_t written, valid, repeated;

static void release(uint64_t lock)
{
	expect_code(pawl_lock_release(table, lock), PAWL_SUCCESS, "release");
}

static void read_once(uint64_t lock)
{
	pawl_read read = PAWL_READ_INIT;
	struct payload_seen seen;
	int rc;

	for (;; repeated++) {
		if (!expect_code(pawl_lock_read_begin(table, lock, &read), PAWL_SUCCESS, "begin"))
			return;
		payload_see(lock, table_home(table, lock), random_below(&seed, 100) == 0, &seen);
		rc = pawl_lock_read_validate(table, lock, &read);
		if (rc != PAWL_ERR_BUSY)
			break;
	}
	if (!expect_code(rc, PAWL_SUCCESS, "validate"))
		return;
	payload_judge(lock, &seen);
	valid++;
}

static void act(void)
{
	uint64_t lock = random_below(&seed, LOCKS);
	uint32_t what = random_below(&seed, 10);

	if (what >= 3) {
		read_once(lock);
		return;
	}
	expect_code(pawl_lock_acquire(table, lock, what ? PAWL_EXCLUSIVE : PAWL_SHARED),
		    PAWL_SUCCESS, "acquire");
	if (what)
		payload_write(lock, table_home(table, lock), random_below(&seed, 100) == 0);
	else
		payload_read(lock, table_home(table, lock), false);
	written += what > 0;
	release(lock);
}

static void contend(void)
{
	int64_t all = 0;
	double end;

	meet();
	end = seconds_now() + tap_budget;
	for (int i = 0; i < AT_LEAST || seconds_now() < end; i++)
		act();
	payload_expect(table, LOCKS, written);
	MPI_Allreduce(&valid, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
	expect(all > 0, "no read was valid");
}

/* Readers only: all reads are valid, by gets only. */
static void alone(void)
{
	struct pawl_stats s;

	repeated = 0;
	expect_code(pawl_table_reset_stats(table), PAWL_SUCCESS, "reset");
	meet();
	for (int i = 0; i < ALONE; i++)
		read_once(0);
	expect(repeated == 0, "%lld reads without a writer were repeated", (long long)repeated);
	expect_code(pawl_table_get_stats(table, &s), PAWL_SUCCESS, "statistics");
	expect(s.acquires == 0 && s.atomics[0] + s.atomics[1] + s.puts[0] + s.puts[1] == 0,
	       "readers changed words: %llu acquires, %llu atomics", (unsigned long long)s.acquires,
	       (unsigned long long)(s.atomics[0] + s.atomics[1]));
	expect(s.gets[0] + s.gets[1] == 2 * ALONE, "%llu gets for %d reads",
	       (unsigned long long)(s.gets[0] + s.gets[1]), ALONE);
	meet();
}

/* Rank 0 changes the words between begin and validate of the others. */
static void overtaken(void)
{
	pawl_read read = PAWL_READ_INIT;
	struct payload_seen seen;

	if (tap_size < 2)
		return;
	if (tap_rank > 0)
		expect_code(pawl_lock_read_begin(table, 0, &read), PAWL_SUCCESS, "begin");
	meet();
	if (tap_rank == 0) {
		expect_code(pawl_lock_acquire(table, 0, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
		payload_write(0, table_home(table, 0), false);
	}
	meet();
	if (tap_rank > 0) /* while it holds */
		expect_code(pawl_lock_read_validate(table, 0, &read), PAWL_ERR_BUSY, "validate");
	meet();
	if (tap_rank == 0)
		release(0);
	meet();
	if (tap_rank > 0)
		expect_code(pawl_lock_read_begin(table, 0, &read), PAWL_SUCCESS, "begin");
	meet();
	if (tap_rank == 0) {
		expect_code(pawl_lock_acquire(table, 0, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
		payload_write(0, table_home(table, 0), false);
		release(0);
	}
	meet();
	if (tap_rank > 0) /* after its release */
		expect_code(pawl_lock_read_validate(table, 0, &read), PAWL_ERR_BUSY, "validate");
	meet();
	payload_see(0, table_home(table, 0), false, &seen);
	payload_reset();
}

/* The lock is held for a while, so readers come to acquire it. */
static void fall_back(void)
{
	pawl_read read = PAWL_READ_INIT;
	struct pawl_stats s;

	if (tap_rank == 0)
		expect_code(pawl_lock_acquire(table, 0, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
	expect_code(pawl_table_reset_stats(table), PAWL_SUCCESS, "reset");
	meet();
	if (tap_rank == 0) {
		linger(0.02);
		release(0);
	} else {
		expect_code(pawl_lock_read_begin(table, 0, &read), PAWL_SUCCESS, "begin");
		expect_code(pawl_table_get_stats(table, &s), PAWL_SUCCESS, "statistics");
		if (s.acquires > 0) /* the lock is held now */
			expect_code(pawl_lock_read_begin(table, 0, &read), PAWL_ERR_HELD,
				    "begin of a holder");
		expect_code(pawl_lock_read_validate(table, 0, &read), PAWL_SUCCESS, "validate");
	}
	meet();
}

static void refused(void)
{
	pawl_read read = PAWL_READ_INIT;

	expect_code(pawl_lock_read_validate(table, 0, &read), PAWL_ERR_ARG, "no begin");
	expect_code(pawl_lock_read_begin(table, 0, NULL), PAWL_ERR_ARG, "no read");
	expect_code(pawl_lock_read_begin(NULL, 0, &read), PAWL_ERR_ARG, "no table");
	expect_code(pawl_lock_read_begin(table, LOCKS, &read), PAWL_ERR_RANGE, "no lock");
	expect_code(pawl_lock_read_begin(table, 0, &read), PAWL_SUCCESS, "begin");
	expect_code(pawl_lock_read_validate(table, 1, &read), PAWL_ERR_ARG, "another lock");
	expect_code(pawl_lock_read_validate(table, 0, &read), PAWL_SUCCESS, "validate");
	expect_code(pawl_lock_read_validate(table, 0, &read), PAWL_ERR_ARG, "ended");
	expect_code(pawl_lock_read_validate(table, LOCKS, &read), PAWL_ERR_RANGE, "end of no lock");
	expect_code(pawl_lock_read_begin(table, 1, &read), PAWL_SUCCESS, "begin");
	expect_code(pawl_lock_acquire(table, 1, PAWL_SHARED), PAWL_SUCCESS, "acquire");
	expect_code(pawl_lock_read_validate(table, 1, &read), PAWL_ERR_HELD, "held since");
	expect_code(pawl_lock_read_begin(table, 1, &read), PAWL_ERR_HELD, "held");
	release(1);
	meet();
}

static void one_kind(void)
{
	table = table_open(kind->name, LOCKS, NULL, NULL);
	if (!result("%s: a table", kind->name))
		return;
	seed = (uint64_t)tap_rank * 1000003 + 1;
	written = valid = repeated = 0;
	now_doing("%s, reads among writers", kind->name);
	contend();
	result("%s: a read that is valid saw no change", kind->name);
	if (tap_verbose)
		note("%lld valid, %lld repeated, %lld sections of writers", (long long)valid,
		     (long long)repeated, (long long)written);
	now_doing("%s, readers alone", kind->name);
	alone();
	result("%s: readers alone change no word, and repeat no read", kind->name);
	now_doing("%s, a writer between", kind->name);
	overtaken();
	result("%s: a read during which a writer came is not valid", kind->name);
	now_doing("%s, a writer stays", kind->name);
	fall_back();
	result("%s: a read waits for a writer", kind->name);
	now_doing("%s, wrong arguments", kind->name);
	refused();
	table_close(table);
	result("%s: wrong arguments are refused, and the table is freed", kind->name);
}

/* A kind without them says so. */
static void not_this_kind(void)
{
	pawl_read read = PAWL_READ_INIT;
	int rc;

	table = table_open(kind->name, LOCKS, NULL, NULL);
	if (table) {
		rc = pawl_lock_read_begin(table, 0, &read);
		expect_code(rc, PAWL_ERR_UNSUPPORTED, "begin");
	}
	table_close(table);
	result("%s: has no optimistic reads, and says so", kind->name);
}

int main(int argc, char **argv)
{
	bool told = false;

	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	payload_start();
	for (int i = 0; (kind = tap_kind(&i));) {
		if (kind->capabilities & PAWL_CAP_OPTIMISTIC) {
			one_kind();
		} else if (!told && !(kind->capabilities & PAWL_CAP_THREADS)) {
			told = true;
			not_this_kind();
		}
	}
	payload_end();
	return tap_end();
}
