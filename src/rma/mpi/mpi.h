/* SPDX-License-Identifier: BSD-3-Clause */
/* NET words through the MPI; see transport.c. */
#ifndef RMA_MPI_MPI_H
#define RMA_MPI_MPI_H

#include "rma/segments.h"

/* Collective: put the segments in r->map under a window over all ranks. The result is the same on
 * all; of a failure, too, r->transport takes back what it made. */
enum rma_failure mpi_open(struct rma *r, const struct rma_request *q, char *err, size_t errlen);

#endif
