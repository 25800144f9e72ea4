/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank dies while it holds a lock of the default kind, which does not recover. The others notice
 * it, make a communicator of the ranks that are left, repair what the locks protect, and go on with
 * a smaller table.
 *
 * With an MPI that has ULFM (Open MPI 5: mpirun --with-ft ulfm) the MPI knows which ranks have
 * died. With another one the program has to know: here it is rank 1.
 *
 *   mpirun -n 4 ./shrunk        rank 1 goes away with its lock (2 ranks or more)
 *   ... ./shrunk kill FILE      rank 1 is killed, and FILE shows that the others have finished:
 *                               doc/recovery.md has the launchers' options
 */
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <pawl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TURNS = 50, LOCK = 3, DEAD = 1, TAG = 7 };

static pawl_table *table;
static int rank, ranks, kills;

static void must(int code)
{
	if (code != PAWL_SUCCESS) {
		fprintf(stderr, "%s: %s\n", pawl_strerror(code), pawl_error_message());
		MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
	}
}

/* The ranks that are left. */
static MPI_Comm survivors_of(MPI_Comm comm)
{
	const int dead = DEAD;
	MPI_Comm left = MPI_COMM_NULL;
	MPI_Group all, others;

#ifdef OMPI_HAVE_MPI_EXT_FTMPI
	if (kills) {
		MPIX_Comm_revoke(comm);
		MPIX_Comm_shrink(comm, &left);
		return left;
	}
#endif
	MPI_Comm_group(comm, &all);
	MPI_Group_excl(all, 1, &dead, &others);
	MPI_Comm_create_group(comm, others, TAG, &left);
	MPI_Group_free(&others);
	MPI_Group_free(&all);
	return left;
}

/* Go on without the dead. */
static MPI_Comm recover(void)
{
	MPI_Comm left = survivors_of(MPI_COMM_WORLD);

	must(pawl_table_shrink(&table, left));
	/* Here the program repairs what the locks protect; nobody holds one. */
	MPI_Barrier(left);
	return left;
}

static long work(void)
{
	long done = 0;

	for (int i = 0; i < TURNS; i++) {
		must(pawl_lock_acquire(table, LOCK, PAWL_EXCLUSIVE));
		done++;
		must(pawl_lock_release(table, LOCK));
	}
	return done;
}

int main(int argc, char **argv)
{
	int left_ranks;
	MPI_Comm left;
	FILE *over;
	long done, all = 0;

	kills = argc > 1 && strcmp(argv[1], "kill") == 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	must(pawl_table_create(MPI_COMM_WORLD, NULL, 10, MPI_INFO_NULL, &table));
	if (rank == DEAD)
		must(pawl_lock_acquire(table, LOCK, PAWL_EXCLUSIVE));
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == DEAD && kills)
		raise(SIGKILL);
	if (rank == DEAD) /* alone from now on, and without the others' locks */
		must(pawl_table_shrink(&table, MPI_COMM_SELF));
	if (rank != DEAD) {
		/* No holder takes so long: a rank has died. */
		if (pawl_lock_timed_acquire(table, LOCK, PAWL_EXCLUSIVE, 0.5) != PAWL_ERR_TIMEOUT)
			MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
		left = recover();
		done = work();
		MPI_Reduce(&done, &all, 1, MPI_LONG, MPI_SUM, 0, left);
		MPI_Comm_size(left, &left_ranks);
		if (rank == 0)
			printf("%ld sections of %d ranks that are left of %d\n", all, left_ranks,
			       ranks);
		fflush(stdout);
		MPI_Barrier(left);
	}
	if (rank == 0 && kills && argc > 2 && (over = fopen(argv[2], "w")))
		fclose(over);
	if (kills) /* MPI_Finalize would wait for rank 1 */
		_exit(EXIT_SUCCESS);
	must(pawl_table_free(&table));
	MPI_Finalize();
	return rank == 0 && all != (long)TURNS * (ranks - 1) ? EXIT_FAILURE : EXIT_SUCCESS;
}
