/* SPDX-License-Identifier: BSD-3-Clause */
/* NET words through UCX; see ucx/transport.c. In a build without UCX there is none of this. */
#ifndef RMA_UCX_UCX_H
#define RMA_UCX_UCX_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "rma/rma.h"

/* What this transport keeps behind the words of every segment. */
enum { RMA_UCX_TAIL_BYTES = 512 };

/*
 * Collective over comm, whose ranks have their segments, of bytes without the tail, in
 * r->map: open them to all others. by_network: near words, too, go through UCX. one_host:
 * all ranks are on one host. progress lets the MPI work. False, on all ranks, with
 * the sentence in err, if that does not work; r is as it was then.
 */
bool rma_ucx_open(struct rma *r, MPI_Comm comm, MPI_Comm node_comm, size_t bytes, bool by_network,
		  bool one_host, void (*progress)(struct rma_client *), char *err, size_t errlen);

/* Collective, when all ranks are done with their operations. */
void rma_ucx_close(struct rma *r, MPI_Comm comm);

/* Once MPI has ended, or the process is about to: the end of this process's thread. What
 * UCX has goes with the process. Local. */
void rma_ucx_leave(struct rma *r);

/* How words of a rank are reached. */
struct rma_ucx_path {
	char transport[32]; /* of UCX: "tcp", "rc_mlx5", ...; "memory": not through UCX */
	char device[64];    /* "eth0", "mlx5_0:1", ...; "" if there is none */
	char atomics[16];   /* who performs atomics: "cpu", or what UCX chose, "ucx" */
};

/* Of a table with this transport (r->ucx); connects if there is no connection yet. False
 * if the rank cannot be reached. */
bool rma_ucx_path(struct rma *r, int rank, struct rma_ucx_path *path);

#endif
