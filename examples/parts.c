/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bank with branches, and locks for the bank and for each branch. Clients that use
 * different branches do not wait for each other, nor do readers of one branch, and yet a
 * client can lock the bank as a whole.
 *
 *   to                          the bank (lock 0) with   the branch with
 *   read a branch               PAWL_INTENT_SHARED       PAWL_SHARED
 *   change a branch             PAWL_INTENT              PAWL_EXCLUSIVE
 *   read all branches           PAWL_SHARED              no lock
 *   change several branches     PAWL_EXCLUSIVE           no lock
 *
 * A client that moves money between branches would not notice a reader without an intent, and
 * that reader would find a branch that does not add up.
 *
 *   mpicc parts.c $(pkg-config --cflags --libs pawl) -o parts
 *   mpirun -n 4 ./parts
 */
#include <pawl.h>
#include <stdio.h>
#include <stdlib.h>

enum { BRANCHES = 8, BANK = 0, FIRST_BRANCH = 1, LOCKS = FIRST_BRANCH + BRANCHES };
enum { OWN, LENT, TOTAL, FIELDS }; /* of a branch: its cash, its loans, and their sum */
enum { TURNS = 400, START = 1000 };

static pawl_table *table;
static MPI_Win win;
static int ranks;
static long wrong;

static void must(int code)
{
	if (code != PAWL_SUCCESS) {
		fprintf(stderr, "%s: %s\n", pawl_strerror(code), pawl_error_message());
		MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
	}
}

static void get(int branch, long *fields)
{
	MPI_Get(fields, FIELDS, MPI_LONG, branch % ranks, branch / ranks * FIELDS, FIELDS, MPI_LONG,
		win);
	MPI_Win_flush(branch % ranks, win);
}

/* Flushed, so that the next holder sees it. */
static void put(int branch, const long *fields)
{
	MPI_Put(fields, FIELDS, MPI_LONG, branch % ranks, branch / ranks * FIELDS, FIELDS, MPI_LONG,
		win);
	MPI_Win_flush(branch % ranks, win);
}

static void read_branch(int branch)
{
	long f[FIELDS];

	must(pawl_lock_acquire_part(table, BANK, FIRST_BRANCH + branch, PAWL_SHARED));
	get(branch, f);
	must(pawl_lock_release_part(table, BANK, FIRST_BRANCH + branch));
	wrong += f[OWN] + f[LENT] != f[TOTAL];
}

static void lend(int branch, long amount)
{
	long f[FIELDS];

	must(pawl_lock_acquire_part(table, BANK, FIRST_BRANCH + branch, PAWL_EXCLUSIVE));
	get(branch, f);
	f[OWN] -= amount;
	put(branch, f);
	f[LENT] += amount;
	put(branch, f);
	must(pawl_lock_release_part(table, BANK, FIRST_BRANCH + branch));
}

static void read_bank(void)
{
	long f[FIELDS], sum = 0;

	must(pawl_lock_acquire(table, BANK, PAWL_SHARED));
	for (int b = 0; b < BRANCHES; b++) {
		get(b, f);
		sum += f[OWN] + f[LENT];
	}
	must(pawl_lock_release(table, BANK));
	wrong += sum != (long)BRANCHES * START;
}

static void move(int from, int to, long amount)
{
	long f[FIELDS];

	must(pawl_lock_acquire(table, BANK, PAWL_EXCLUSIVE));
	get(from, f);
	f[OWN] -= amount;
	put(from, f);
	f[TOTAL] -= amount;
	put(from, f);
	get(to, f);
	f[OWN] += amount;
	put(to, f);
	f[TOTAL] += amount;
	put(to, f);
	must(pawl_lock_release(table, BANK));
}

int main(int argc, char **argv)
{
	long *mine, all = 0;
	int rank, here;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	must(pawl_table_create(MPI_COMM_WORLD, NULL, LOCKS, MPI_INFO_NULL, &table));
	here = (BRANCHES + ranks - 1) / ranks;
	/* A multiple of 16 bytes: MPICH 4.0 shifts windows of other sizes. */
	MPI_Win_allocate((MPI_Aint)((size_t)(here + here % 2) * FIELDS * sizeof *mine),
			 sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
	for (int b = 0; b < here; b++) {
		mine[b * FIELDS + OWN] = mine[b * FIELDS + TOTAL] = START;
		mine[b * FIELDS + LENT] = 0;
	}
	MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
	MPI_Win_sync(win);
	MPI_Barrier(MPI_COMM_WORLD);

	srand((unsigned)rank + 1);
	for (int i = 0; i < TURNS; i++) {
		int branch = rand() % BRANCHES, what = rand() % 16;

		if (what == 0)
			move(branch, rand() % BRANCHES, 1 + rand() % 10);
		else if (what == 1)
			read_bank();
		else if (what < 5)
			lend(branch, 1 + rand() % 10);
		else
			read_branch(branch);
	}

	MPI_Reduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("parts: %d turns of %d ranks, %ld of them saw what does not add up\n", TURNS,
		       ranks, all);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	must(pawl_table_free(&table));
	MPI_Finalize();
	return all ? EXIT_FAILURE : EXIT_SUCCESS;
}
