/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BASE_RANKS_H
#define BASE_RANKS_H

#include <pawl.h>
#include <stdbool.h>
#include <stdlib.h>

static inline void group_free(MPI_Group *group)
{
	if (*group != MPI_GROUP_NULL && *group != MPI_GROUP_EMPTY)
		PMPI_Group_free(group);
}

/* The ranks in `to` of the ranks of `from`, *n of them, MPI_UNDEFINED for those not there; to be
 * freed. NULL: there is no memory, or the MPI reports an error. Local. */
static inline int *ranks_in_group(MPI_Comm from, MPI_Group to, int *n)
{
	MPI_Group group = MPI_GROUP_NULL;
	int *there = NULL, *here;
	bool ok = PMPI_Comm_size(from, n) == MPI_SUCCESS;

	if (ok)
		there = malloc(2 * (size_t)*n * sizeof *there);
	ok = there && PMPI_Comm_group(from, &group) == MPI_SUCCESS;
	if (ok) {
		here = there + *n;
		for (int i = 0; i < *n; i++)
			here[i] = i;
		ok = PMPI_Group_translate_ranks(group, *n, here, to, there) == MPI_SUCCESS;
	}
	group_free(&group);
	if (ok)
		return there;
	free(there);
	return NULL;
}

static inline int *ranks_in(MPI_Comm from, MPI_Comm to, int *n)
{
	MPI_Group group = MPI_GROUP_NULL;
	int *ranks = NULL;

	if (PMPI_Comm_group(to, &group) == MPI_SUCCESS)
		ranks = ranks_in_group(from, group, n);
	group_free(&group);
	return ranks;
}

#endif
