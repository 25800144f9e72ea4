/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Leases on real clocks. A client that holds a lock for much longer than its lease loses it to
 * others, its release says so, and the lock can be used as before. A client that releases in time
 * does not lose the lock.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/lock/tables.h"

#define LEASE_US "100000"
#define LEASE_S 0.1

enum { TRIES = 20, PATIENCE_S = 10 };

static pawl_table *table;

/* Acquire and release; says whether the lease was lost. A client that does not run for a lease
 * between the two loses it, which happens on a busy machine. */
static bool loses_lease(void)
{
	int rc;

	expect_held(pawl_lock_acquire(table, 0, PAWL_EXCLUSIVE), "acquire");
	rc = pawl_lock_release(table, 0);
	if (rc != PAWL_ERR_LEASE_LOST)
		expect_code(rc, PAWL_SUCCESS, "release");
	return rc == PAWL_ERR_LEASE_LOST;
}

/* Rank 0 exceeds its lease; the others acquire the lock meanwhile, one after the other. */
static void outstayed(const struct pawl_kind *kind, int mode)
{
	/* Before rank 0 acquires, since it does so after a barrier. */
	double began = seconds_now();
	int rc = PAWL_SUCCESS;

	now_doing("%s, a lease exceeded", kind->name);
	meet();
	if (tap_rank == 0)
		expect_held(pawl_lock_acquire(table, 0, mode), "acquire");
	meet();
	if (tap_rank == 0) {
		/* Wait until all others have held the lock. */
		meet();
		rc = pawl_lock_release(table, 0);
		expect_code(rc, PAWL_ERR_LEASE_LOST, "release of what others had");
		expect_code(pawl_lock_release(table, 0), PAWL_ERR_NOT_HELD, "and once more");
	} else {
		bool lost = loses_lease();

		expect(seconds_now() - began > 0.4 * LEASE_S, "the lease is over after %.3f s",
		       seconds_now() - began);
		for (int i = 0; i < TRIES && lost; i++)
			lost = loses_lease();
		expect(!lost, "%d leases were lost one after the other", TRIES + 1);
		meet();
	}
	result("%s: a %s that exceeds its lease loses the lock, and its release says so",
	       kind->name, mode == PAWL_SHARED ? "reader" : "writer");
}

/* All ranks in turn, each within its lease: a turn that took as long as a lease does not count. */
static void kept(const struct pawl_kind *kind)
{
	int64_t lost = 0, all;
	double end;

	now_doing("%s, leases that are kept", kind->name);
	meet();
	end = seconds_now() + tap_budget;
	for (int in_time = 0; seconds_now() < (in_time < 3 ? end + PATIENCE_S : end);) {
		double began = seconds_now();
		bool loses = loses_lease();

		if (seconds_now() - began < LEASE_S) {
			in_time++;
			lost += loses;
		}
	}
	meet();
	MPI_Allreduce(&lost, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
	expect(all == 0, "%d leases of " LEASE_US " us were lost", (int)all);
	result("%s: a client that keeps to its lease loses nothing", kind->name);
}

static bool has_ranges(const struct pawl_kind *kind)
{
	return kind->capabilities & PAWL_CAP_RANGES;
}

static void held(uint64_t lock)
{
	expect_held(pawl_lock_acquire(table, lock, PAWL_EXCLUSIVE), "acquire");
	expect_code(pawl_lock_release(table, lock), PAWL_SUCCESS, "release");
}

/* Acquire and abandon; returns the code of the acquire. */
static int forget(const struct pawl_kind *kind)
{
	pawl_range range;
	int rc = has_ranges(kind) ? pawl_range_acquire(table, 0, 0, 9, PAWL_EXCLUSIVE, &range)
				  : pawl_lock_acquire(table, 0, PAWL_EXCLUSIVE);

	if (!has_got(rc))
		return rc;
	expect_code(has_ranges(kind) ? pawl_range_abandon(table, &range)
				     : pawl_lock_abandon(table, 0),
		    PAWL_SUCCESS, "abandon");
	return PAWL_SUCCESS;
}

/* Memory for one recovery: one rank after the other forgets the lock, until an acquire says that
 * there is no room for another recovery. */
static void exhausted(const struct pawl_kind *kind)
{
	enum { AT_MOST = 8 };
	int rc = PAWL_SUCCESS;

	now_doing("%s, no room for a recovery", kind->name);
	setenv("PAWL_RECOVERIES", "1", 1);
	table = table_open(kind->name, 1 + (uint64_t)tap_size, "lease", LEASE_US);
	unsetenv("PAWL_RECOVERIES");
	/* From the second acquire of a rank on, its way is the shortest. */
	if (table && !has_ranges(kind))
		held(1 + (uint64_t)tap_rank);
	for (int i = 0; i < AT_MOST && rc == PAWL_SUCCESS; i++) {
		if (table && tap_rank == i % tap_size) {
			const char *message;

			rc = forget(kind);
			message = pawl_error_message();
			expect(rc == PAWL_SUCCESS || strstr(message, "option recoveries"),
			       "the message: %s", message);
			expect(rc == PAWL_SUCCESS ||
				   strstr(message, has_ranges(kind) ? "space 0:" : "lock 0:"),
			       "the message: %s", message);
		}
		MPI_Bcast(&rc, 1, MPI_INT, i % tap_size, MPI_COMM_WORLD);
	}
	expect_code(rc, PAWL_ERR_TOO_MANY, "acquire after the last recovery");
	meet();
	table_close(table);
	result("%s: an acquire without room for another recovery says so", kind->name);
}

int main(int argc, char **argv)
{
	const struct pawl_kind *kind;

	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	if (tap_size < 2) {
		skip("needs 2 ranks", "leases");
		return tap_end();
	}
	for (int i = 0; (kind = tap_kind(&i));) {
		bool recovers = kind->capabilities & PAWL_CAP_RECOVERS;

		if (!recovers && !readers_expire(kind))
			continue;
		table = table_open(kind->name, 1, "lease", LEASE_US);
		if (!table) {
			result("%s: a table", kind->name);
			continue;
		}
		kept(kind);
		if (recovers)
			outstayed(kind, PAWL_EXCLUSIVE);
		if (kind->capabilities & PAWL_CAP_SHARED)
			outstayed(kind, PAWL_SHARED);
		kept(kind);
		table_close(table);
		result("%s: the table is freed", kind->name);
	}
	for (int i = 0; (kind = pawl_kind_get(i)); i++)
		if (tap_wants(kind) && strstr(kind->options, "recoveries"))
			exhausted(kind);
	return tap_end();
}
