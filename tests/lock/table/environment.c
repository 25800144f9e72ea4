/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table with options from the environment only:  environment KIND [NAME]  exits with the code of
 * its creation, and each rank prints the message. NAME is the name of the table. The ranks of a
 * host then count under lock 0. If KIND is "window", they count under MPI_Win_lock, without a
 * table.
 *
 * With TEST_NO_AFFINITY the kernel refuses sched_getaffinity after MPI_Init: the libraries call the
 * function of this program. (hwloc 2.9 itself, which the MPIs call, asks for ever then.)
 */
#include <errno.h>
#include <mpi.h>
#include <pawl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TURNS = 50 };

static int refuses;

int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set)
{
	long filled;

	if (refuses) {
		errno = EPERM;
		return -1;
	}
	filled = syscall(SYS_sched_getaffinity, pid, bytes, set);
	if (filled < 0)
		return -1;
	memset((char *)set + filled, 0, bytes - (size_t)filled);
	return 0;
}

static void turn(pawl_table *table, MPI_Win win, volatile long *word)
{
	if (table ? pawl_lock_acquire(table, 0, PAWL_EXCLUSIVE)
		  : MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win))
		return;
	*word = *word + 1;
	if (table ? pawl_lock_release(table, 0) : MPI_Win_unlock(0, win))
		*word = -1;
}

/* Whether all turns of the ranks of this host count. */
static int count(pawl_table *table)
{
	MPI_Comm host;
	MPI_Win win;
	MPI_Aint size;
	int rank, ranks, unit, right;
	long *word;

	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
	MPI_Comm_rank(host, &rank);
	MPI_Comm_size(host, &ranks);
	MPI_Win_allocate_shared(rank == 0 ? sizeof *word : 0, sizeof *word, MPI_INFO_NULL, host,
				&word, &win);
	MPI_Win_shared_query(win, 0, &size, &unit, &word);
	if (rank == 0)
		*word = 0;
	MPI_Barrier(host);
	for (int i = 0; i < TURNS; i++)
		turn(table, win, word);
	MPI_Barrier(host);
	right = *word == (long)ranks * TURNS;
	if (!right)
		printf("rank %d: %ld of %d turns\n", rank, *word, ranks * TURNS);
	MPI_Win_free(&win);
	MPI_Comm_free(&host);
	return right;
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "d-mcs";
	struct pawl_table_info about = {.max_held = 0};
	MPI_Info info = MPI_INFO_NULL;
	int rank, rc = PAWL_SUCCESS;
	pawl_table *table = NULL;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	refuses = getenv("TEST_NO_AFFINITY") != NULL;
	if (argc > 2) {
		MPI_Info_create(&info);
		MPI_Info_set(info, "pawl_name", argv[2]);
	}
	if (strcmp(kind, "window") != 0)
		rc = pawl_table_create(MPI_COMM_WORLD, kind, 8, info, &table);
	if (info != MPI_INFO_NULL)
		MPI_Info_free(&info);
	if (table)
		pawl_table_get_info(table, &about);
	if (rc == PAWL_SUCCESS)
		printf("rank %d: created %s \"%s\", max_held %d\n", rank,
		       table ? about.kind->name : "none", table ? about.name : "", about.max_held);
	else
		printf("rank %d: %s\n", rank, pawl_error_message());
	fflush(stdout);
	if (rc == PAWL_SUCCESS && !count(table))
		rc = PAWL_ERR_MPI;
	if (table && pawl_table_free(&table) != PAWL_SUCCESS)
		rc = PAWL_ERR_MPI;
	MPI_Finalize();
	return rc;
}
