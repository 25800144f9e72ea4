/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How clients wait: a client that waits long on one node takes almost no processor time,
 * the application's own one-sided operations progress at a rank that waits, and in
 * a queue every rank gets a share. For a kind that uses the network even on one node,
 * the processor time of a wait depends on the MPI.
 */
#include <stdio.h>
#include <string.h>

#include "tests/lock/tables.h"

/* Other users of the machine can spoil a wait, not several in a row. */
static const int hold_ms[] = {300, 1000, 1000};

enum { ATTEMPTS = sizeof hold_ms / sizeof hold_ms[0] };

static pawl_table *table;

/* The largest share of a core, in per cent, that a waiting rank takes. */
static double burnt_percent(int holder, int mode, int ms)
{
	double cpu = 0, waited = 1, burnt, most;

	if (tap_rank == 0)
		expect_code(pawl_lock_acquire(table, 0, holder), PAWL_SUCCESS, "acquire");
	meet();
	if (tap_rank == 0) {
		sleep_for(ms * 1e-3);
		expect_code(pawl_lock_release(table, 0), PAWL_SUCCESS, "release");
	} else {
		waited = seconds_now();
		cpu = cpu_seconds();
		expect_code(pawl_lock_acquire(table, 0, mode), PAWL_SUCCESS, "acquire");
		cpu = cpu_seconds() - cpu;
		waited = seconds_now() - waited;
		expect_code(pawl_lock_release(table, 0), PAWL_SUCCESS, "release");
		expect(waited > ms * 0.5e-3, "the wait is over after %.0f ms", waited * 1e3);
	}
	burnt = 100 * cpu / waited;
	MPI_Allreduce(&burnt, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return most;
}

/* Kinds with back-off poll every 100 us (option backoff_max), as their papers have it. */
static int most_burnt_percent(const struct pawl_kind *kind)
{
	return strstr(kind->options, "backoff_max") ? 20 : 5;
}

static void long_wait(const struct pawl_kind *kind, int holder, int mode)
{
	const int most = most_burnt_percent(kind);
	double burnt = 100;

	now_doing("%s, a long wait", kind->name);
	for (int i = tap_long ? 1 : 0; i < ATTEMPTS && burnt >= most; i++)
		burnt = burnt_percent(holder, mode, hold_ms[i]);
	if (expect_time(burnt < most, "%.1f %% of a core in each of several waits", burnt) &&
	    tap_rank == 0)
		printf("# %.1f %% of a core\n", burnt);
	result("%s: a long wait of a %s for a %s burns less than %d %% of a core", kind->name,
	       mode == PAWL_SHARED ? "reader" : "writer",
	       holder == PAWL_SHARED ? "reader" : "writer", most);
}

/* Rank 1 holds the lock and fetches data from rank 0, which waits for the lock. */
static void work_at_who_waits(const struct pawl_kind *kind)
{
	enum { GETS = 100 };
	int64_t mine = 4711, got = 0;
	MPI_Win win;

	now_doing("%s, RMA at a rank that waits", kind->name);
	MPI_Win_create(&mine, sizeof mine, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	if (tap_rank == 1)
		expect_code(pawl_lock_acquire(table, 0, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
	meet();
	if (tap_rank == 1) {
		MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
		sleep_for(0.05); /* rank 0 sleeps by now */
		for (int i = 0; i < GETS; i++) {
			got = 0;
			MPI_Get(&got, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win);
			MPI_Win_flush(0, win);
			expect(got == 4711, "got %lld", (long long)got);
		}
		MPI_Win_unlock(0, win);
		expect_code(pawl_lock_release(table, 0), PAWL_SUCCESS, "release");
	} else if (tap_rank == 0) {
		expect_code(pawl_lock_acquire(table, 0, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
		expect_code(pawl_lock_release(table, 0), PAWL_SUCCESS, "release");
	}
	meet();
	MPI_Win_free(&win);
	result("%s: the holder works at the memory of a rank that waits", kind->name);
}

/* All in one queue: no rank gets less than a tenth of an equal share. */
static void shares(const struct pawl_kind *kind)
{
	double end;
	int64_t mine = 0, all, least;

	now_doing("%s, shares", kind->name);
	meet();
	end = seconds_now() + 5 * tap_budget;
	while (seconds_now() < end) {
		expect_code(pawl_lock_acquire(table, 0, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
		mine++;
		expect_code(pawl_lock_release(table, 0), PAWL_SUCCESS, "release");
	}
	meet();
	MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
	MPI_Allreduce(&mine, &least, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
	expect_time(least > 0, "a rank got nothing in %.1f s (all: %lld)", 5 * tap_budget,
		    (long long)all);
	note("%s: %lld acquires, the least of a rank %.0f %% of an equal share", kind->name,
	     (long long)all, 100.0 * (double)least * tap_size / (double)all);
	result("%s: everybody gets a share", kind->name);
}

static void one_kind(const struct pawl_kind *kind)
{
	struct pawl_table_info info;

	pawl_table_get_info(table, &info);
	if (strcmp(info.transport, "node") == 0) {
		long_wait(kind, PAWL_EXCLUSIVE, PAWL_EXCLUSIVE);
		if (kind->capabilities & PAWL_CAP_SHARED) {
			long_wait(kind, PAWL_EXCLUSIVE, PAWL_SHARED);
			long_wait(kind, PAWL_SHARED, PAWL_EXCLUSIVE);
		}
	}
	work_at_who_waits(kind);
	shares(kind);
	table_close(table);
	result("%s: the table is freed", kind->name);
}

int main(int argc, char **argv)
{
	const struct pawl_kind *kind;

	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	if (tap_size < 2 || !tap_one_host) {
		skip("needs 2 ranks on one host", "waiting");
		return tap_end();
	}
	for (int i = 0; (kind = tap_kind(&i));) {
		if (!(kind->capabilities & PAWL_CAP_FAIR))
			continue;
		table = table_open(kind->name, 1, NULL, NULL);
		if (!table) {
			result("%s: a table", kind->name);
			continue;
		}
		one_kind(kind);
	}
	return tap_end();
}
