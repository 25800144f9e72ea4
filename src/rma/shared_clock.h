/* SPDX-License-Identifier: BSD-3-Clause */
/* Compare the clocks of the ranks of a communicator. */
#ifndef RMA_SHARED_CLOCK_H
#define RMA_SHARED_CLOCK_H

#include <mpi.h>

#include "rma/client.h"

/* The clock of rank 0, as this rank knows it. Collective; false, on all ranks, if the MPI fails. */
bool rma_compare_clocks(MPI_Comm comm, struct rma_shared_clock *k);

#endif
