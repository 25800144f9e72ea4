/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks and ranges that their holder abandons, of the kinds that recover. When the lease is over,
 * another rank and then the former holder acquire the lock, and the slot of the
 * holder can be used again. A lease that is too short for this machine is raised, and the table's
 * parameters say so.
 */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "tables.h"

#define LEASE_US "20000"
#define LEASE_S 0.02

/* How long a client tries before the test fails. */
static const double PATIENCE = 20;

static const struct pawl_kind *kind;
static pawl_table *table;
static pawl_range range;
static bool timed; /* acquires ranges, by pawl_range_timed_acquire() */

static bool has_ranges(void)
{
	return kind->capabilities & PAWL_CAP_RANGES;
}

static int acquire(uint64_t lock, int mode)
{
	if (has_ranges() && timed)
		return pawl_range_timed_acquire(table, lock, 60, 70, mode, PATIENCE, &range);
	return has_ranges() ? pawl_range_acquire(table, lock, 60, 70, mode, &range)
			    : pawl_lock_acquire(table, lock, mode);
}

static int release(uint64_t lock)
{
	return has_ranges() ? pawl_range_release(table, &range) : pawl_lock_release(table, lock);
}

static int abandon(uint64_t lock)
{
	return has_ranges() ? pawl_range_abandon(table, &range) : pawl_lock_abandon(table, lock);
}

/* A rank whose slot is not free yet tries again. */
static void acquire_some_time(uint64_t lock, int mode)
{
	double until = seconds_now() + PATIENCE;
	int rc;

	while ((rc = acquire(lock, mode)) == PAWL_ERR_TOO_MANY && seconds_now() < until)
		linger(0.001);
	if (expect_code(rc, PAWL_SUCCESS, "acquire at the end"))
		expect_code(release(lock), PAWL_SUCCESS, "release");
}

/* Rank 0 abandons lock 0, and the last rank and then rank 0 acquire it. */
static void abandoned(int mode, const char *how)
{
	int last = tap_size - 1;

	now_doing("%s, abandoned, %s", kind->name, how);
	if (tap_rank == 0 && expect_code(acquire(0, mode), PAWL_SUCCESS, "acquire")) {
		expect_code(abandon(0), PAWL_SUCCESS, "abandon");
		expect_code(release(0), PAWL_ERR_NOT_HELD, "release of what is abandoned");
		expect_code(abandon(0), PAWL_ERR_NOT_HELD, "abandon it again");
	}
	meet();
	if (tap_rank == last)
		acquire_some_time(0, PAWL_EXCLUSIVE);
	meet();
	if (tap_rank == 0) {
		/* Its only slot was taken. */
		acquire_some_time(0, mode);
		acquire_some_time(1, PAWL_EXCLUSIVE);
	}
	meet();
	result("%s: abandoned, %s", kind->name, how);
}

/* Another client waits already when the holder abandons the lock. */
static void awaited(void)
{
	now_doing("%s, abandoned while awaited", kind->name);
	if (tap_rank == 0)
		expect_code(acquire(1, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
	meet();
	if (tap_rank == 0) {
		linger(0.005);
		expect_code(abandon(1), PAWL_SUCCESS, "abandon");
	} else {
		acquire_some_time(1, PAWL_EXCLUSIVE);
	}
	meet();
	if (tap_rank == 0)
		acquire_some_time(1, PAWL_EXCLUSIVE);
	meet();
	result("%s: abandoned while others wait", kind->name);
}

/* The last rank is stopped while it waits, and learns of its turn late, but within the lease. On a
 * busy machine it may be later than that; its release then returns PAWL_ERR_LEASE_LOST. */
static void stopped(void)
{
	int last = tap_size - 1, rc;
	int64_t pid = getpid();

	now_doing("%s, stopped while waiting", kind->name);
	MPI_Bcast(&pid, 1, MPI_INT64_T, last, MPI_COMM_WORLD);
	if (tap_rank == 0)
		expect_code(acquire(1, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
	meet();
	if (tap_rank == 0) {
		linger(0.003);
		kill((pid_t)pid, SIGSTOP);
		rc = release(1);
		expect(rc == PAWL_SUCCESS || rc == PAWL_ERR_LEASE_LOST, "release: %s",
		       pawl_strerror(rc));
		linger(0.7 * LEASE_S);
		kill((pid_t)pid, SIGCONT);
	} else if (tap_rank == last) {
		expect_code(acquire(1, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
		rc = release(1);
		expect(rc == PAWL_SUCCESS || rc == PAWL_ERR_LEASE_LOST, "release: %s",
		       pawl_strerror(rc));
	}
	meet();
	result("%s: stopped while waiting", kind->name);
}

static int nodes(void)
{
	struct pawl_table_info info = {.nodes = 0};

	expect_code(pawl_table_get_info(table, &info), PAWL_SUCCESS, "info");
	return info.nodes;
}

static void recoveries(void)
{
	struct pawl_stats stats;
	uint64_t all;

	expect_code(pawl_table_get_stats(table, &stats), PAWL_SUCCESS, "statistics");
	MPI_Allreduce(&stats.recoveries, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
	expect(all > 0, "no recovery is counted");
	result("%s: recoveries are counted", kind->name);
}

/* With option recoveries 1, rank 0 abandons lock 0 again and again, until there is no memory for
 * another recovery; the rank that needs one gets an error. */
static void used_up(void)
{
	int last = tap_size - 1, rc = PAWL_SUCCESS, rounds = 0;
	MPI_Info info;

	now_doing("%s, recoveries used up", kind->name);
	MPI_Info_create(&info);
	MPI_Info_set(info, "pawl_lease", LEASE_US);
	MPI_Info_set(info, "pawl_recoveries", "1");
	rc = pawl_table_create(MPI_COMM_WORLD, kind->name, 2, info, &table);
	MPI_Info_free(&info);
	if (!expect_code(rc, PAWL_SUCCESS, "table"))
		return;
	for (; rc == PAWL_SUCCESS && rounds < 4; rounds++) {
		if (tap_rank == 0 &&
		    expect_code(acquire(0, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire"))
			expect_code(abandon(0), PAWL_SUCCESS, "abandon");
		meet();
		if (tap_rank == last) {
			rc = acquire(0, PAWL_EXCLUSIVE);
			if (rc == PAWL_SUCCESS)
				expect_code(release(0), PAWL_SUCCESS, "release");
			else
				expect(strstr(pawl_error_message(), "recoveries"), "%s",
				       pawl_error_message());
		}
		MPI_Bcast(&rc, 1, MPI_INT, last, MPI_COMM_WORLD);
	}
	expect_code(rc, PAWL_ERR_TOO_MANY, "one recovery more");
	expect(rounds > 1, "there was no room for the first one");
	table_close(table);
	result("%s: a message says that recoveries are used up", kind->name);
}

/* On any machine a lease of a microsecond is too short. */
static void raised(void)
{
	struct pawl_table_info info;
	pawl_table *t = table_open(kind->name, 1, "lease", "1");

	if (!t)
		return;
	expect_code(pawl_table_get_info(t, &info), PAWL_SUCCESS, "info");
	expect(strstr(info.parameters, "1 us asked for"), "the table does not say so: %s",
	       info.parameters);
	table_close(t);
	result("%s: a lease that is too short is raised, and the table says so", kind->name);
}

int main(int argc, char **argv)
{
	tap_start(&argc, &argv, MPI_THREAD_SERIALIZED);
	for (int i = 0; (kind = pawl_kind_get(i)); i++) {
		if (!(kind->capabilities & PAWL_CAP_RECOVERS) || !tap_wants(kind))
			continue;
		table = table_open(kind->name, 2, "lease", LEASE_US);
		if (!table)
			continue;
		abandoned(PAWL_EXCLUSIVE, "exclusively");
		if (kind->capabilities & PAWL_CAP_SHARED)
			abandoned(PAWL_SHARED, "shared");
		awaited();
		/* Over several nodes a stopped rank also stops clients that use its memory by the
		 * MPI. */
		if (nodes() == 1 && tap_size > 1)
			stopped();
		recoveries();
		table_close(table);
		raised();
		if (strstr(kind->options, "recoveries"))
			used_up();
		timed = !timed && has_ranges() && kind->capabilities & PAWL_CAP_TIMED;
		if (timed)
			i--; /* once more */
	}
	return tap_end();
}
