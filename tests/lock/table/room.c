/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables on hosts with little shared memory. Arguments: a kind and numbers of locks. Every
 * table is created and kept, all of its locks are touched if its number is followed by "!", and one
 * line has the result: "n: code message". A leading "h" asks for homes by a function.
 * Status 0 unless ranks differ.
 */
#include <pawl.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIMIT_S = 60, MOST_TABLES = 8, STEP = 64 };

static int rank;

static int at_zero(uint64_t lock, void *arg)
{
	(void)lock, (void)arg;
	return 0;
}

static void touch(pawl_table *table, uint64_t n)
{
	for (uint64_t l = 0; l < n && rank == 0; l += STEP) {
		if (pawl_lock_acquire(table, l, PAWL_EXCLUSIVE) || pawl_lock_release(table, l))
			_exit(1);
	}
}

int main(int argc, char **argv)
{
	pawl_table *table[MOST_TABLES];
	int tables = 0, low, high;

	alarm(LIMIT_S);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 2; i < argc && tables < MOST_TABLES; i++) {
		bool homed = argv[i][0] == 'h';
		uint64_t n = strtoull(argv[i] + homed, NULL, 0);
		int rc = homed ? pawl_table_create_homed(MPI_COMM_WORLD, argv[1], n, at_zero, NULL,
							 MPI_INFO_NULL, &table[tables])
			       : pawl_table_create(MPI_COMM_WORLD, argv[1], n, MPI_INFO_NULL,
						   &table[tables]);

		MPI_Allreduce(&rc, &low, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
		MPI_Allreduce(&rc, &high, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
		if (low != high)
			_exit(1);
		if (rank == 0)
			printf("%s: %d %s\n", argv[i], rc, rc ? pawl_error_message() : "");
		fflush(stdout);
		if (rc)
			continue;
		if (strchr(argv[i], '!'))
			touch(table[tables], n);
		tables++;
	}
	while (tables > 0)
		if (pawl_table_free(&table[--tables]))
			_exit(1);
	MPI_Finalize();
	return 0;
}
