/* SPDX-License-Identifier: BSD-3-Clause */
/* The segments of a table, and the transport of operations on them; see segments.c. */
#ifndef RMA_SEGMENTS_H
#define RMA_SEGMENTS_H

#include <mpi.h>
#include <stddef.h>

#include "rma/rma.h"

/* The transport between nodes. RMA_BY_EITHER: UCX if it works here, else the MPI. */
enum rma_network { RMA_NO_NETWORK, RMA_BY_MPI, RMA_BY_UCX, RMA_BY_EITHER };

/* RMA_FAIL_CONNECT: ranks do not reach each other, or a resource for connections is missing. */
enum rma_failure { RMA_OK, RMA_FAIL_WINDOW, RMA_FAIL_MODEL, RMA_FAIL_NOMEM, RMA_FAIL_CONNECT };

struct rma_request {
	MPI_Comm comm;            /* all ranks */
	MPI_Comm node_comm;       /* the ranks of this node, which map each other's segments */
	const int *node;          /* [ranks] the node of each rank; must outlive the segments */
	enum rma_network network; /* not RMA_NO_NETWORK if there are several nodes */
	bool by_network;          /* NET words of this node go through the network, too */
	bool one_host;            /* all ranks are on one host, whatever node[] says */
	/* For the network: the ranks of this host, of which node_comm may be a part; the first
	 * ranks of all hosts, on these; where it may keep what the tables over comm share, NULL at
	 * first; and the most connections of a process in each direction, 0: as many as it has
	 * descriptors for. */
	MPI_Comm host_comm, leaders;
	void **kept;
	int connections;
	bool again; /* the ranks of comm have had such a network before */
	/* network.c: what this rank has for the network by now, and what all ranks have said. */
	void *begun;
	const uint32_t *said;
	size_t bytes; /* of the segments of this node */
};

/*
 * Collective over comm: give every rank a zeroed segment, which the ranks of its node map and which
 * all ranks reach through the network. The result is the same on all ranks; on failure err has the
 * message.
 */
enum rma_failure rma_segments_create(struct rma *r, const struct rma_request *q, char *err,
				     size_t errlen);

/* Collective. */
void rma_segments_free(struct rma *r);
/* In place of rma_segments_free() after MPI has ended: free this process's own memory. Local. */
void rma_segments_forget(struct rma *r);

/* network.c: open the transport that the request asks for. Collective; the result is the same on
 * all ranks. */
enum rma_failure rma_network_open(struct rma *r, const struct rma_request *q, char *err,
				  size_t errlen);

/* Local: whether it is known that the transport cannot be opened here, which would end the program,
 * and why. */
bool rma_network_refuses(const struct rma_request *q);
void rma_network_tell(char *err, size_t errlen);

/* The ranks of a table over a network agree once on the segments of their nodes, and on what the
 * network needs to know of all of them: words of which each bit is to be 1 on all ranks. Returns
 * how many, at most RMA_QUESTION_WORDS; 0: it knows all. Collective; q->begun is for the network,
 * or for rma_network_drop() if it is not opened. */
enum { RMA_QUESTION_WORDS = 512 };
int rma_network_ask(struct rma_request *q, uint32_t *word);
void rma_network_drop(const struct rma_request *q);

/* For transports: let the MPI progress, if this client may. False: it reports an error. */
bool rma_drive_mpi(struct rma_client *c);
/* Whether the window has MPI_WIN_UNIFIED, so that loads and stores see the MPI's operations. */
bool rma_is_unified(MPI_Win win);

#endif
