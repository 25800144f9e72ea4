/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reports of option watchdog. Rank 1 of three holds a lock for 2 seconds while rank 2 waits
 * for it, in a table over the ranks 2 and 1, in this order; tests/watchdog.sh reads stderr.
 */
#include <pawl.h>

#include <stdio.h>
#include <unistd.h>

enum { LOCK = 7, LOCKS = 9, HOLD_MS = 2000, LIMIT_S = 60 };

static void fail(void)
{
	printf("%s\n", pawl_error_message());
	fflush(stdout);
	_exit(1);
}

static void hold_and_await(MPI_Comm comm, const char *kind, int rank)
{
	pawl_table *table;
	MPI_Info info;

	MPI_Info_create(&info);
	MPI_Info_set(info, "pawl_watchdog", "0.25");
	if (pawl_table_create(comm, kind, LOCKS, info, &table))
		fail();
	MPI_Info_free(&info);
	if (rank == 1 && pawl_lock_acquire(table, LOCK, PAWL_EXCLUSIVE))
		fail();
	MPI_Barrier(comm);
	if (rank == 1)
		usleep(HOLD_MS * 1000);
	else if (pawl_lock_acquire(table, LOCK, PAWL_EXCLUSIVE))
		fail();
	if (pawl_lock_release(table, LOCK) || pawl_table_free(&table))
		fail();
}

int main(int argc, char **argv)
{
	MPI_Comm comm;
	int rank;

	alarm(LIMIT_S);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_split(MPI_COMM_WORLD, rank == 0, -rank, &comm);
	if (rank > 0)
		hold_and_await(comm, argv[1], rank);
	MPI_Comm_free(&comm);
	MPI_Finalize();
	return 0;
}
