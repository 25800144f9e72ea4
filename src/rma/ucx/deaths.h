/* SPDX-License-Identifier: BSD-3-Clause */
/* Which nodes a node tells of a death: see deaths.c. */
#ifndef RMA_UCX_DEATHS_H
#define RMA_UCX_DEATHS_H

enum { DEATHS_WAYS = 3 };

/* The one before it, and two by which any node is reached in log2(nodes) steps. */
static inline int deaths_next(int node, int nodes, int way)
{
	switch (way) {
	case 0:
		return node ? node - 1 : nodes - 1;
	case 1:
		return (int)(2 * (long long)node % nodes);
	default:
		return (int)((2 * (long long)node + 1) % nodes);
	}
}

#endif
