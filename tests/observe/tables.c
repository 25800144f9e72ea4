/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several tables of one job, for tests/trace.sh: "grid", a table for each row and each column of
 * ranks; "two", two tables of all ranks at a time; "others", one without rank 0; "late
 * [SECONDS]", the same, and after so many seconds one of all ranks.
 */
#include <pawl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check(int rc)
{
	if (rc)
		MPI_Abort(MPI_COMM_WORLD, rc);
}

static pawl_table *open_table(int color, int key)
{
	pawl_table *t;
	MPI_Comm comm;

	MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm);
	check(pawl_table_create(comm, "d-mcs", 4, MPI_INFO_NULL, &t));
	MPI_Comm_free(&comm);
	return t;
}

static void use(pawl_table *t, pawl_table *inner, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		check(pawl_lock_acquire(t, i % 4, PAWL_EXCLUSIVE));
		if (inner)
			use(inner, NULL, 1);
		check(pawl_lock_release(t, i % 4));
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	pawl_table *t[2];
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (strcmp(what, "grid") == 0) {
		t[0] = open_table(rank / 2, rank), t[1] = open_table(rank % 2, rank);
		use(t[0], t[1], 20);
		check(pawl_table_free(&t[1]) + pawl_table_free(&t[0]));
	} else if (strcmp(what, "two") == 0) {
		t[0] = open_table(0, rank), t[1] = open_table(0, rank);
		use(t[0], NULL, 20000), use(t[1], NULL, 20000);
		check(pawl_table_free(&t[0]) + pawl_table_free(&t[1]));
	} else {
		t[0] = open_table(rank > 0, rank);
		use(t[0], NULL, rank > 0 ? 10 : 0);
		check(pawl_table_free(&t[0]));
		sleep(argc > 2 ? (unsigned)atoi(argv[2]) : 0);
		MPI_Barrier(MPI_COMM_WORLD);
		if (strcmp(what, "late") == 0) {
			t[0] = open_table(0, rank);
			use(t[0], NULL, 5);
			check(pawl_table_free(&t[0]));
		}
	}
	MPI_Finalize();
	return 0;
}
