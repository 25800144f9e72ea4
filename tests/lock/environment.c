/* SPDX-License-Identifier: BSD-3-Clause */
/* A table with options from the environment only:  environment KIND  exits with the code of its
 * creation, and each rank prints the message. */
#include <mpi.h>
#include <pawl.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	pawl_table *table = NULL;
	int rank, rc;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	rc = pawl_table_create(MPI_COMM_WORLD, argc > 1 ? argv[1] : "d-mcs", 8, MPI_INFO_NULL,
			       &table);
	printf("rank %d: %s\n", rank, rc == PAWL_SUCCESS ? "created" : pawl_error_message());
	fflush(stdout);
	if (table && pawl_table_free(&table) != PAWL_SUCCESS)
		rc = PAWL_ERR_MPI;
	MPI_Finalize();
	return rc;
}
