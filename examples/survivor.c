/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank dies in the middle of a change; the others go on, and undo what it left half done. Two
 * accounts at rank 0 have a constant sum. A client first writes down what they were (the journal),
 * then changes them one by one, and then crosses out the journal. A client whose acquire returns
 * PAWL_RECOVERED knows that a holder has died, looks for a journal, and undoes the change.
 *
 *   mpirun -n 4 ./survivor        rank 1 forgets its lock, as a dead rank does
 *   ... ./survivor kill FILE      rank 1 is killed, and FILE shows that the others have finished:
 *                                 doc/recovery.md has the launchers' options
 */
#include <pawl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TURNS = 20, FATAL_TURN = 5, SUM = 1000 };
enum { PENDING, WAS_A, WAS_B, A, B, UNDONE, FINISHED, WORDS };

static pawl_table *table;
static MPI_Win win;
static int rank, ranks, kills;
static int64_t undone; /* changes, as this rank has seen */

static void must(int code)
{
	if (code != PAWL_SUCCESS) {
		fprintf(stderr, "%s: %s\n", pawl_strerror(code), pawl_error_message());
		MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
	}
}

static void put(int word, int64_t value)
{
	MPI_Put(&value, 1, MPI_INT64_T, 0, word, 1, MPI_INT64_T, win);
	MPI_Win_flush(0, win); /* in this order, also for the next holder */
}

static void get(int64_t *words)
{
	MPI_Get(words, WORDS, MPI_INT64_T, 0, 0, WORDS, MPI_INT64_T, win);
	MPI_Win_flush(0, win);
}

/* Acquire the lock, and read the words. */
static void acquire(int64_t *is)
{
	int rc = pawl_lock_acquire(table, 0, PAWL_EXCLUSIVE);

	if (rc != PAWL_RECOVERED)
		must(rc);
	get(is);
	if (rc == PAWL_RECOVERED) { /* a holder has died, or a rank that waited */
		if (is[PENDING]) {
			put(A, is[A] = is[WAS_A]);
			put(B, is[B] = is[WAS_B]);
			put(UNDONE, ++is[UNDONE]);
			put(PENDING, 0);
		}
		must(pawl_lock_consistent(table, 0)); /* the others are not told any more */
	}
	undone = is[UNDONE];
}

/* Move amount from A to B. Returns 0 if this rank dies meanwhile. */
static int move(int64_t amount, int dies)
{
	int64_t is[WORDS];

	acquire(is);
	put(WAS_A, is[A]);
	put(WAS_B, is[B]);
	put(PENDING, 1);
	put(A, is[A] - amount);
	if (dies && kills)
		raise(SIGKILL);
	if (dies) {
		must(pawl_lock_abandon(table, 0));
		return 0;
	}
	put(B, is[B] + amount);
	put(PENDING, 0);
	must(pawl_lock_release(table, 0)); /* PAWL_ERR_LEASE_LOST: this rank was taken for dead */
	return 1;
}

static void finish(void)
{
	int64_t is[WORDS];

	acquire(is);
	put(FINISHED, is[FINISHED] + 1);
	must(pawl_lock_release(table, 0));
}

int main(int argc, char **argv)
{
	int64_t *mine, is[WORDS];
	FILE *over;
	MPI_Info info;
	int alive = 1, wrong;

	kills = argc > 1 && strcmp(argv[1], "kill") == 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Info_create(&info);
	MPI_Info_set(info, "pawl_lease", "1s"); /* more than any change takes */
	must(pawl_table_create(MPI_COMM_WORLD, "shiftlock", 1, info, &table));
	MPI_Info_free(&info);
	MPI_Win_allocate(rank == 0 ? WORDS * sizeof *mine : 0, sizeof *mine, MPI_INFO_NULL,
			 MPI_COMM_WORLD, &mine, &win);
	MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
	for (int i = 0; rank == 0 && i < WORDS; i++)
		put(i, i == A ? SUM : 0);
	MPI_Barrier(MPI_COMM_WORLD);

	/* The others go on until the change of rank 1 has been undone. */
	for (int i = 0; alive && (i < TURNS || (ranks > 1 && !undone)); i++)
		alive = move(i % 2 ? -1 : 1, rank == 1 && i == FATAL_TURN);
	if (alive)
		finish();

	/* No collective call after a death: rank 0 looks until all others have finished. */
	do
		get(is);
	while (rank == 0 && is[FINISHED] < ranks - (ranks > 1));
	wrong = is[A] + is[B] != SUM || is[UNDONE] != (ranks > 1);
	if (rank == 0)
		printf("%lld and %lld, %lld changes undone\n", (long long)is[A], (long long)is[B],
		       (long long)is[UNDONE]);
	fflush(stdout);
	if (rank == 0 && kills && argc > 2 && (over = fopen(argv[2], "w")))
		fclose(over);
	if (kills)
		_exit(rank == 0 && wrong ? EXIT_FAILURE : EXIT_SUCCESS);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	must(pawl_table_free(&table));
	MPI_Finalize();
	return rank == 0 && wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
