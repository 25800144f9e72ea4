/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which rank a request goes to. Any rank of a node can perform operations on the segments of all
 * ranks of the node, because it maps them. So where the descriptors, or option connections, do not
 * allow connections to all ranks of other nodes, a process connects to `width` ranks of each other
 * node only, and sends requests on the segments of the others to one of these.
 *
 * The rank at place i of its node connects to places i, i + 1, ... i + width - 1 of each node,
 * modulo the ranks of the node. So on nodes of one size each rank has as many callers as it calls.
 *
 * Results do not depend on the way: operations on a word are atomics by CPU, a client flushes an
 * operation before it issues one that must come later, and the thread that changes a word wakes the
 * sleepers of its segment, which are in shared memory. But a client also gets PAWL_ERR_PEER if the
 * rank that carries its request dies before the answer. Later requests go to another one.
 *
 * No connection is closed to make room for another one: an operation in flight, or one whose sender
 * does not know whether it was performed, would be lost with it.
 */
#include "rma/ucx/parts.h"

int ucx_route_nodes(const int *node, int ranks)
{
	int nodes = 0;

	for (int i = 0; i < ranks; i++)
		nodes = node[i] < nodes ? nodes : node[i] + 1;
	return nodes;
}

size_t ucx_route_ints(const int *node, int ranks)
{
	return 2 * (size_t)ranks + (size_t)ucx_route_nodes(node, ranks) + 1;
}

void ucx_route_fill(const int *node, int ranks, int *to)
{
	int nodes = ucx_route_nodes(node, ranks), *first = to, *index = first + nodes + 1,
	    *member = index + ranks;

	for (int i = 0; i <= nodes; i++)
		first[i] = 0;
	for (int i = 0; i < ranks; i++)
		index[i] = first[node[i] + 1]++;
	for (int i = 0; i < nodes; i++)
		first[i + 1] += first[i];
	for (int i = 0; i < ranks; i++)
		member[first[node[i]] + index[i]] = i;
}

const int *ucx_route_ranks(const struct ucx_net *n, int node, int *size)
{
	const int *first = ucx_route_table(n), *index = first + n->shared->nodes + 1;

	*size = first[node + 1] - first[node];
	return index + n->ranks + first[node];
}

void ucx_route_open(struct ucx_net *n)
{
	const int nodes = n->shared->nodes, width = n->shared->width;
	const int *first = ucx_route_table(n), *index = first + nodes + 1;
	long calls = 0;

	n->callers_most =
	    n->by_messages ? n->ranks - (first[n->my_node + 1] - first[n->my_node]) : n->ranks;
	if (!width)
		return;
	for (int i = 0; i < nodes; i++) {
		int there = first[i + 1] - first[i],
		    here = first[n->my_node + 1] - first[n->my_node];

		calls += i == n->my_node ? 0 : (long)((there + here - 1) / here) * width;
	}
	n->callers_most = calls < n->callers_most ? (int)calls : n->callers_most;
	n->first = first;
	n->member = index + n->ranks;
	n->index = index; /* from now on, requests are routed */
}

static bool is_dead(const struct ucx_net *n, int rank)
{
	return n->peer[rank] && n->peer[rank]->state == UCX_DEAD;
}

int ucx_route_by_node(const struct ucx_net *n, int rank)
{
	const int node = n->node[rank], size = n->first[node + 1] - n->first[node],
		  mine = n->index[n->rank] % size, width = n->shared->width,
		  ahead = (n->index[rank] - mine + size) % size;

	if (node == n->my_node || ahead < width)
		return rank;
	for (int k = 0; k < width; k++) {
		int place = (mine + (ahead + k) % width) % size,
		    other = n->member[n->first[node] + place];

		if (!is_dead(n, other))
			return other;
	}
	return rank;
}
