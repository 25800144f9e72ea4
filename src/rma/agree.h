/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RMA_AGREE_H
#define RMA_AGREE_H

#include <mpi.h>
#include <stdbool.h>

/* Whether mine is true on every rank of comm. Collective. */
static inline bool rma_all_agree(MPI_Comm comm, bool mine)
{
	int ok = mine;

	PMPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_MIN, comm);
	return ok;
}

#endif
