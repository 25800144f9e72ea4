/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BASE_RANKS_H
#define BASE_RANKS_H

#include <pawl.h>
#include <stdlib.h>

/* The ranks in `to` of the ranks of `from`, *n of them, MPI_UNDEFINED for those not there; to be
 * freed. NULL: there is no memory, or the MPI reports an error. Local. */
static inline int *ranks_in(MPI_Comm from, MPI_Comm to, int *n)
{
	MPI_Group of_from = MPI_GROUP_NULL, of_to = MPI_GROUP_NULL;
	int *there = NULL, *here, ok;

	if (PMPI_Comm_size(from, n) == MPI_SUCCESS)
		there = malloc(2 * (size_t)*n * sizeof *there);
	ok = there && PMPI_Comm_group(from, &of_from) == MPI_SUCCESS &&
	     PMPI_Comm_group(to, &of_to) == MPI_SUCCESS;
	if (ok) {
		here = there + *n;
		for (int i = 0; i < *n; i++)
			here[i] = i;
		ok = PMPI_Group_translate_ranks(of_from, *n, here, of_to, there) == MPI_SUCCESS;
	}
	if (of_from != MPI_GROUP_NULL)
		PMPI_Group_free(&of_from);
	if (of_to != MPI_GROUP_NULL)
		PMPI_Group_free(&of_to);
	if (ok)
		return there;
	free(there);
	return NULL;
}

#endif
