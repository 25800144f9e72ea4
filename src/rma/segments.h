/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments in MPI windows; see segments.c. */
#ifndef RMA_SEGMENTS_H
#define RMA_SEGMENTS_H

#include <mpi.h>
#include <stddef.h>

#include "rma/rma.h"

/* Whether there is a network, and which. The last: UCX if it works here, else the MPI. */
enum rma_network { RMA_NO_NETWORK, RMA_BY_MPI, RMA_BY_UCX, RMA_BY_EITHER };

enum rma_failure { RMA_OK, RMA_FAIL_WINDOW, RMA_FAIL_MODEL, RMA_FAIL_NOMEM };

/*
 * Collective over comm: give every rank a zeroed segment of bytes, mapped by
 * the ranks of its node (node_comm), and open to all of comm through the network,
 * as has to be on several nodes. node[nranks] is the node of each rank;
 * it must outlive r. near: near words take the network's way, too. one_host: all ranks
 * are on one host, whatever node[] says.
 * The result, also the failure, is the same on all ranks; err then has the
 * sentence.
 */
enum rma_failure rma_mpi_create(struct rma *r, MPI_Comm comm, MPI_Comm node_comm, const int *node,
				enum rma_network net, bool near, bool one_host, size_t bytes,
				char *err, size_t errlen);

/* Collective. */
void rma_mpi_free(struct rma *r);
/* Of that, the window over the network alone. Collective. */
void rma_mpi_close_network(struct rma *r);
/* Instead of that, once MPI has ended: what is this process's own. Local. */
void rma_mpi_forget(struct rma *r);

#endif
