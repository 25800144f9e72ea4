/* SPDX-License-Identifier: BSD-3-Clause */
/* NET words through UCX; see transport.c. */
#ifndef RMA_UCX_UCX_H
#define RMA_UCX_UCX_H

#include <limits.h>

#include "rma/memory/segments.h"

/* File descriptors of a process and communicator over TCP: those of its three workers, with one
 * interface (6 more for each further one), and for each other rank a connection in each direction.
 * UCX_SHARE: of the descriptors that are free, connections in each direction take one in so many.
 * UCX_ADDRESS_BYTES: of a contact with one interface, IPv4. */
enum {
	UCX_OWN_DESCRIPTORS = 15,
	UCX_PEER_DESCRIPTORS = 2,
	UCX_SHARE = 4,
	UCX_HOST_BYTES = 44,
	UCX_ADDRESS_BYTES = 40
};

/* ucx/route.c. How many ranks of each other node a process connects to if it may have this many
 * connections in each direction; 0: all. first: [nodes + 1], where each node's ranks begin if they
 * are counted node by node. */
static inline int ucx_width(const int *first, int nodes, long connections)
{
	int least = INT_MAX, most = 0;
	long width;

	for (int i = 0; i < nodes; i++) {
		int size = first[i + 1] - first[i];

		least = size < least ? size : least;
		most = size > most ? size : most;
	}
	if (nodes < 2 || first[nodes] - least <= connections)
		return 0;
	/* A rank of a small node has more callers of a large one. */
	width = connections / ((nodes - 1) * (long)((most + least - 1) / least));
	return width >= most ? 0 : width > 1 ? (int)width : 1;
}

/* As rma_network_ask(). begun: q->begun, or NULL. */
int ucx_ask(struct rma_request *q, uint32_t *word);
void ucx_drop(void *begun);

/* Collective: open the segments in r->map to all ranks. If that fails, it fails on all ranks, err
 * has the message, and r is unchanged. */
enum rma_failure ucx_open(struct rma *r, const struct rma_request *q, char *err, size_t errlen);

#endif
