/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BASE_AGREE_H
#define BASE_AGREE_H

#include <pawl.h>
#include <stdbool.h>

/* Whether mine is true on every rank of comm; false if the MPI fails. Collective. */
static inline bool all_agree(MPI_Comm comm, bool mine)
{
	int ok = mine;

	return PMPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS && ok;
}

#endif
