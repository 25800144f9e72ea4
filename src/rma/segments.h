/* SPDX-License-Identifier: BSD-3-Clause */
/* The segments of a table, and what carries operations on them; see segments.c. */
#ifndef RMA_SEGMENTS_H
#define RMA_SEGMENTS_H

#include <mpi.h>
#include <stddef.h>

#include "rma/rma.h"

/* Whether there is a network, and which. The last: UCX if it works here, else the MPI. */
enum rma_network { RMA_NO_NETWORK, RMA_BY_MPI, RMA_BY_UCX, RMA_BY_EITHER };

enum rma_failure { RMA_OK, RMA_FAIL_WINDOW, RMA_FAIL_MODEL, RMA_FAIL_NOMEM };

/* What a transport may keep behind the words of every segment. */
enum { RMA_TAIL_BYTES = 512 };

struct rma_request {
	MPI_Comm comm;            /* all ranks, */
	MPI_Comm node_comm;       /* and those of this one's node, that map each other's segments */
	const int *node;          /* [ranks] the node of each; must outlive the segments */
	enum rma_network network; /* has to be one on several nodes */
	bool by_network;          /* words of the own node take the network, too */
	bool one_host;            /* all ranks are on one host, whatever node[] says */
	size_t bytes;             /* of each segment */
};

/*
 * Collective over comm: give every rank a zeroed segment, mapped by the ranks of its node, and open
 * to all of comm through the network. The result, also the failure, is the same on all ranks; err
 * then has the sentence.
 */
enum rma_failure rma_segments_create(struct rma *r, const struct rma_request *q, char *err,
				     size_t errlen);

/* Collective. */
void rma_segments_free(struct rma *r);
/* Instead of that, once MPI has ended: what is this process's own. Local. */
void rma_segments_forget(struct rma *r);

/* network.c: the transport that the request asks for. Collective; the failure is the same on all
 * ranks. */
enum rma_failure rma_network_open(struct rma *r, const struct rma_request *q, char *err,
				  size_t errlen);

/* For transports. Let the MPI look at its network. */
void rma_drive_mpi(struct rma_client *c);
/* Whether loads and stores see what the MPI does to the window. */
bool rma_is_unified(MPI_Win win);

#endif
