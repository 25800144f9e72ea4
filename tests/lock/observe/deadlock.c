/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Deadlocks, for the watchdog and pawl-stuck: deadlock KIND CASE [SECONDS]. The ranks wait until
 * the program ends itself, after some seconds, or when there is the file that TEST_END names;
 * tests/watchdog.sh reads stderr.
 *
 *   cycle    each rank holds lock rank and awaits lock rank + 1, modulo the number of ranks
 *   tables   the same with a table for each rank, in which it holds lock 5
 *   chain    the same, but the last rank awaits nothing: a long wait without a cycle
 *   asleep   as chain, but the last rank makes no MPI calls
 *   shared   each rank holds lock 0 shared, and then asks for it exclusively in a second table that
 *            the first rank holds: no cycle, for no rank awaits what it must give up
 *   killed   rank 0 is killed while it holds lock 0, which the others await
 *   late     no deadlock: rank 0 creates and frees a table a second after the others
 *   window   as cycle, of the targets of a window, under libpawl-mpi; KIND does not matter
 *   multiple as window, with MPI_THREAD_MULTIPLE, so that any thread may unlock
 */
#include <pawl.h>

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOCK = 5, LOCKS = 9, MOST_RANKS = 8, SECONDS = 3, LIMIT_S = 60 };

static void fail(void)
{
	fprintf(stderr, "%s\n", pawl_error_message());
	_exit(1);
}

static void leave(int signal)
{
	(void)signal;
	_exit(0);
}

static void *await_end(void *file)
{
	enum { LOOK_US = 50000 };

	while (access(file, F_OK) != 0)
		usleep(LOOK_US);
	_exit(0);
}

static pawl_table *create(const char *kind)
{
	pawl_table *table;
	MPI_Info info;

	MPI_Info_create(&info);
	MPI_Info_set(info, "pawl_watchdog", "0.5");
	if (pawl_table_create(MPI_COMM_WORLD, kind, LOCKS, info, &table))
		fail();
	MPI_Info_free(&info);
	return table;
}

static void acquire(pawl_table *table, uint64_t lock, int mode)
{
	if (pawl_lock_acquire(table, lock, mode))
		fail();
}

/* Lets the MPI progress, as a program does. */
static void stay(void)
{
	for (;;) {
		int flag;

		MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
		usleep(1000);
	}
}

static void lock_targets(int rank, int ranks, unsigned seconds)
{
	static long data;
	MPI_Win win;

	MPI_Win_create(&data, sizeof data, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Barrier(MPI_COMM_WORLD);
	alarm(seconds);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, (rank + 1) % ranks, 0, win);
	stay();
}

static void be_late(const char *kind, int rank)
{
	pawl_table *table;

	if (rank == 0)
		sleep(1);
	table = create(kind);
	if (rank == 0)
		sleep(1);
	if (pawl_table_free(&table))
		fail();
	MPI_Finalize();
	exit(0);
}

static void run(const char *kind, const char *what, int rank, int ranks, unsigned seconds)
{
	pawl_table *table[MOST_RANKS];
	bool asleep = strcmp(what, "asleep") == 0;
	int next = (rank + 1) % ranks, tables = strcmp(what, "tables") == 0 ? ranks : 1;

	if (strcmp(what, "shared") == 0)
		tables = 2;
	for (int i = 0; i < tables; i++)
		table[i] = create(kind);
	MPI_Barrier(MPI_COMM_WORLD);
	alarm(seconds);
	if (strcmp(what, "killed") == 0) {
		if (rank == 0)
			acquire(table[0], 0, PAWL_EXCLUSIVE);
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 0)
			kill(getpid(), SIGKILL);
		acquire(table[0], 0, PAWL_EXCLUSIVE);
	} else if (strcmp(what, "shared") == 0) {
		acquire(table[0], 0, PAWL_SHARED);
		if (rank == 0)
			acquire(table[1], 0, PAWL_EXCLUSIVE);
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank > 0)
			acquire(table[1], 0, PAWL_EXCLUSIVE);
	} else {
		acquire(table[tables > 1 ? rank : 0], tables > 1 ? LOCK : (uint64_t)rank,
			PAWL_EXCLUSIVE);
		MPI_Barrier(MPI_COMM_WORLD);
		if ((strcmp(what, "chain") != 0 && !asleep) || next != 0)
			acquire(table[tables > 1 ? next : 0], tables > 1 ? LOCK : (uint64_t)next,
				PAWL_EXCLUSIVE);
	}
	while (asleep)
		pause();
	stay();
}

int main(int argc, char **argv)
{
	int rank, ranks, level;
	unsigned seconds;
	bool multiple;
	pthread_t thread;

	if (argc < 3)
		return 2;
	signal(SIGALRM, leave);
	multiple = strcmp(argv[2], "multiple") == 0;
	MPI_Init_thread(&argc, &argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (ranks > MOST_RANKS)
		return 2;
	alarm(LIMIT_S);
	if (getenv("TEST_END") && pthread_create(&thread, NULL, await_end, getenv("TEST_END")))
		return 2;
	seconds = argc > 3 ? (unsigned)atoi(argv[3]) : SECONDS;
	if (strcmp(argv[2], "late") == 0)
		be_late(argv[1], rank);
	if (multiple || strcmp(argv[2], "window") == 0)
		lock_targets(rank, ranks, seconds);
	run(argv[1], argv[2], rank, ranks, seconds);
	return 1;
}
