/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that is linked with the library for another MPI. It prints the message of a call, and
 * succeeds if the call fails as it should. */
#include <mpi.h>
#include <pawl.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	pawl_table *table;
	int rc;

	MPI_Init(&argc, &argv);
	rc = pawl_table_create(MPI_COMM_WORLD, "d-mcs", 1, MPI_INFO_NULL, &table);
	printf("%d %s\n", rc, rc ? pawl_error_message() : "");
	MPI_Finalize();
	return rc != PAWL_ERR_MPI;
}
