/* SPDX-License-Identifier: BSD-3-Clause */
/* CPU time, in ns, of an uncontended acquire and release from C, for benchmarks/languages/run. */
#include <pawl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void take_turns(pawl_table *table, long turns);

/* Apart from the rest of the program, for callgrind. */
__attribute__((noinline)) void take_turns(pawl_table *table, long turns)
{
	for (long i = 0; i < turns; i++) {
		if (pawl_lock_acquire(table, 0, PAWL_EXCLUSIVE) || pawl_lock_release(table, 0))
			MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
	}
}

int main(int argc, char **argv)
{
	long turns = argc > 1 ? atol(argv[1]) : 1000000;
	pawl_table *table;
	clock_t begin;

	MPI_Init(&argc, &argv);
	if (pawl_table_create(MPI_COMM_WORLD, "d-mcs", 1, MPI_INFO_NULL, &table))
		MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
	begin = clock();
	take_turns(table, turns);
	printf("%.2f\n", (double)(clock() - begin) / CLOCKS_PER_SEC / (double)turns * 1e9);
	pawl_table_free(&table);
	MPI_Finalize();
	return EXIT_SUCCESS;
}
