/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How late a waiter notices that the lock was given to it, after waits of several lengths. Over a
 * device nobody wakes it, so it naps between looks (rma/wait.c). To be run on two ranks of one host
 * that are two nodes.
 */
#include "tests/lock/tables.h"

enum { TURNS = 20 };
static const double waits_s[] = {0.001, 0.02, 0.1, 0.5};
/* Seconds. The longest nap is 2 ms; the rest is for a machine that has other work. */
#define LATEST 0.02

/* Rank 0 lets rank 1 wait for so long. Returns the time from the release to the acquire. */
static double hand_over(pawl_table *table, double wait)
{
	double released = 0, got = 0;

	if (tap_rank == 0)
		expect_code(pawl_lock_acquire(table, 0, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
	meet();
	if (tap_rank == 0) {
		sleep_for(wait);
		released = seconds_now();
	} else {
		expect_code(pawl_lock_acquire(table, 0, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
		got = seconds_now();
	}
	expect_code(pawl_lock_release(table, 0), PAWL_SUCCESS, "release");
	MPI_Allreduce(MPI_IN_PLACE, &released, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	MPI_Allreduce(MPI_IN_PLACE, &got, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return got - released;
}

static void measure(pawl_table *table, double wait)
{
	double late[TURNS];

	now_doing("waits of %.0f ms", wait * 1e3);
	for (int i = 0; i < TURNS; i++)
		late[i] = hand_over(table, wait);
	sort_values(late, TURNS);
	expect_time(late[TURNS / 2] < LATEST, "%.3f ms late", late[TURNS / 2] * 1e3);
	result("after %.0f ms: the waiter has the lock %.2f ms after the release began, at most "
	       "%.2f ms",
	       wait * 1e3, late[TURNS / 2] * 1e3, late[TURNS - 1] * 1e3);
}

int main(int argc, char **argv)
{
	pawl_table *table;

	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	expect(tap_size == 2, "runs on 2 ranks");
	table = tap_size == 2 ? table_open("d-mcs", 1, NULL, NULL) : NULL;
	for (size_t i = 0; table && i < sizeof waits_s / sizeof waits_s[0]; i++)
		measure(table, waits_s[i]);
	table_close(table);
	result("the table is freed");
	return tap_end();
}
