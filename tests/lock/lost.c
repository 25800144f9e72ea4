/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a client is told when the home of its lock is lost: lost [NAME=VALUE...] [COMMAND]
 *
 * To be run on two ranks of two nodes. The variables are set once the MPI has begun, which may not
 * depend on them. Rank 0 uses a lock of rank 1. Then rank 1 runs the command (an end of its host,
 * or its network), and rank 0 goes on until a call fails. It prints the code and the message, and
 * after which time; or why the table could not be created.
 */
#include <mpi.h>
#include <pawl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BEFORE = 5, LIMIT_S = 90 };

static time_t began;

static void say(const char *what, int rc)
{
	printf("%s after %ld s: %s: %s\n", what, (long)(time(NULL) - began), pawl_strerror(rc),
	       rc ? pawl_error_message() : "");
	fflush(stdout);
}

static void hangs(int signal)
{
	(void)signal;
	static const char text[] = "a call hangs\n";

	(void)!write(STDOUT_FILENO, text, sizeof text - 1);
	_exit(1);
}

/* Of acquire and release. */
static int take(pawl_table *table, const char **call)
{
	int rc = pawl_lock_acquire(table, 1, PAWL_EXCLUSIVE);

	*call = "acquire";
	if (rc != PAWL_SUCCESS)
		return rc;
	*call = "release";
	return pawl_lock_release(table, 1);
}

int main(int argc, char **argv)
{
	const char *call = "create";
	pawl_table *table;
	int rank, rc;

	MPI_Init(&argc, &argv);
	for (argv++; *argv && strchr(*argv, '=') && !strchr(*argv, ' '); argv++)
		putenv(*argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	signal(SIGALRM, hangs);
	alarm(LIMIT_S);
	began = time(NULL);
	/* Two locks: that of rank 1 is the second. */
	rc = pawl_table_create(MPI_COMM_WORLD, "d-mcs", 2, MPI_INFO_NULL, &table);
	for (int i = 0; rank == 0 && rc == PAWL_SUCCESS && i < BEFORE; i++)
		rc = take(table, &call);
	if (rc != PAWL_SUCCESS) {
		if (rank == 0)
			say(call, rc);
		MPI_Finalize();
		return 1;
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1) {
		sleep(1);
		if (*argv && system(*argv) != 0)
			printf("the command failed\n");
		sleep(LIMIT_S);
		_exit(1);
	}
	began = time(NULL);
	while (rc == PAWL_SUCCESS)
		rc = take(table, &call);
	say(call, rc);
	_exit(1);
}
