/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why a table cannot be created: no_table [NAME=VALUE...]
 *
 * To be run where that fails. The variables are set once the MPI has begun, which may not depend on
 * them. Rank 0 prints "create: ", the code and the message. If the creation works, that is said,
 * and the status is 0.
 */
#include <mpi.h>
#include <pawl.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	pawl_table *table;
	int rank, rc;

	MPI_Init(&argc, &argv);
	for (int i = 1; i < argc; i++)
		putenv(argv[i]);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	rc = pawl_table_create(MPI_COMM_WORLD, "d-mcs", 2, MPI_INFO_NULL, &table);
	if (rank == 0 && rc != PAWL_SUCCESS)
		printf("create: %s: %s\n", pawl_strerror(rc), pawl_error_message());
	else if (rank == 0)
		printf("the table was created\n");
	if (rc == PAWL_SUCCESS)
		pawl_table_free(&table);
	MPI_Finalize();
	return rc != PAWL_SUCCESS;
}
