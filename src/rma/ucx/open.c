/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open and close the UCX transport of a table: its place among the tables of the communicator
 * (ucx/net.c), and, for UCX's own operations or those of a device, the keys of its segments, of
 * which each node has a copy.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/sparse.h"
#include "rma/own_windows.h"
#include "rma/ucx/device.h"

/* ----------------------------------------------------------------------- numbers */

/* The lowest number that is free: the same on all ranks, since tables come and go by collective
 * calls. False: all are taken. */
static bool add_table(struct ucx_net *n, struct rma_ucx *u)
{
	uint32_t i = 1;

	while (i < UCX_TABLES && atomic_load(&n->table[i]))
		i++;
	if (i == UCX_TABLES)
		return false;
	u->number = i;
	if (i >= atomic_load(&n->tables))
		atomic_store(&n->tables, i + 1);
	atomic_store(&n->table[i], u);
	return true;
}

static void remove_table(struct rma_ucx *u)
{
	pthread_mutex_lock(&u->net->mutex);
	ucx_messages_forget(u);
	ucx_direct_forget(u);
	if (u->on_device)
		ucx_device_forget(u);
	pthread_mutex_unlock(&u->net->mutex);
	if (!u->number)
		return;
	atomic_store(&u->net->table[u->number], NULL);
	ucx_serve_pass(u->net);
}

/* -------------------------------------------------------------------------- keys */

static const struct ucx_key *key_at(const struct rma_ucx *u, int rank)
{
	return (const struct ucx_key *)(const void *)(u->keys + (size_t)rank * u->key_bytes);
}

const char *ucx_packed_key(const struct rma_ucx *u, int rank, uint64_t *base)
{
	*base = key_at(u, rank)->base;
	return key_at(u, rank)->rkey;
}

ucp_rkey_h ucx_key_of(struct rma_ucx *u, struct ucx_peer *p, uint64_t *base)
{
	const struct ucx_key *k = key_at(u, p->rank);

	*base = k->base;
	if (!u->rkey[p->rank])
		ucp_ep_rkey_unpack(p->ep, k->rkey, &u->rkey[p->rank]);
	return u->rkey[p->rank];
}

void ucx_forget_keys(struct ucx_net *n, int rank)
{
	for (uint32_t i = 1; i < atomic_load(&n->tables); i++) {
		struct rma_ucx *u = atomic_load(&n->table[i]);

		if (!u || !u->rkey || !u->rkey[rank])
			continue;
		ucp_rkey_destroy(u->rkey[rank]);
		u->rkey[rank] = NULL;
	}
}

static struct ucx_key *new_key(uint64_t base, size_t length)
{
	struct ucx_key *k = calloc(1, sizeof *k + length);

	if (k) {
		k->base = base;
		k->rkey_bytes = length;
	}
	return k;
}

/* The caller's key. NULL: there is none, or no memory for it. */
static struct ucx_key *own_key(struct rma_ucx *u, uint64_t base)
{
	struct ucx_key *k;
	size_t length;
	void *packed;

	if (!u->memory || ucp_rkey_pack(u->net->context, u->memory, &packed, &length) != UCS_OK)
		return NULL;
	k = new_key(base, length);
	if (k)
		memcpy(k->rkey, packed, length);
	ucp_rkey_buffer_release(packed);
	return k;
}

static struct ucx_key *own_device_key(const struct rma_ucx *u, uint64_t base)
{
	struct ucx_key *k = new_key(base, ucx_device_key_bytes(u->net));

	if (k && ucx_device_pack_key(u, k->rkey))
		return k;
	free(k);
	return NULL;
}

/* Collective: the ranks of a node share a copy of all keys. */
static bool share_keys(struct rma_ucx *u, const struct rma_request *q, const struct ucx_key *mine)
{
	struct ucx_net *n = u->net;
	const size_t bytes = mine ? (sizeof *mine + mine->rkey_bytes) : 0;
	uint64_t most = (bytes + 7) / 8 * 8;
	char *all, *padded;
	MPI_Aint size;
	void *base;
	int rank, unit;

	PMPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_UINT64_T, MPI_MAX, q->comm);
	u->key_bytes = most;
	PMPI_Comm_rank(q->node_comm, &rank);
	padded = calloc(1, most + 1);
	all = malloc((size_t)n->ranks * most + 1);
	size = rank == 0 ? (MPI_Aint)((size_t)n->ranks * most) : 0;
	if (!all_agree(q->comm, bytes && padded && all) ||
	    !own_windows_agree(q->comm,
			       own_windows.allocate_shared(size, 1, MPI_INFO_NULL, q->node_comm,
							   &base, &u->keys_win),
			       &u->keys_win)) {
		free(padded);
		free(all);
		return false;
	}
	memcpy(padded, mine, bytes);
	PMPI_Allgather(padded, (int)most, MPI_BYTE, all, (int)most, MPI_BYTE, q->comm);
	PMPI_Win_shared_query(u->keys_win, 0, &size, &unit, &base);
	if (rank == 0)
		memcpy(base, all, (size_t)n->ranks * most);
	free(padded);
	free(all);
	u->keys = base;
	/* Orders the copy before other ranks of the node read it. */
	return all_agree(q->comm, true);
}

static bool exchange_keys(struct rma *r, const struct rma_request *q)
{
	struct rma_ucx *u = ucx_of(r);
	ucp_mem_map_params_t params = {
	    .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
	    .address = r->map[r->rank],
	    .length = q->bytes,
	};
	const uint64_t base = (uint64_t)(uintptr_t)r->map[r->rank];
	struct ucx_key *mine;
	bool ok;

	if (u->on_device) {
		mine = own_device_key(u, base);
	} else {
		if (ucp_mem_map(u->net->context, &params, &u->memory) != UCS_OK)
			u->memory = NULL;
		u->rkey = sparse_array((size_t)u->net->ranks, sizeof(ucp_rkey_h));
		mine = u->rkey ? own_key(u, base) : NULL;
	}
	ok = share_keys(u, q, mine);
	free(mine);
	return ok;
}

/* --------------------------------------------------------- beginning and end */

static enum rma_failure open_table(struct rma *r, const struct rma_request *q, char *err,
				   size_t errlen)
{
	struct rma_ucx *u = ucx_of(r);
	enum rma_failure failure;

	if (!add_table(u->net, u)) {
		snprintf(err, errlen, "%d tables of a communicator are open over UCX: free some",
			 UCX_TABLES - 1);
		return RMA_FAIL_NOMEM;
	}
	r->transport = u->by_cpu ? &ucx_messages_transport : &ucx_direct_transport;
	if (u->net->device) {
		failure = ucx_device_register(u, r->map[r->rank], q->bytes, err, errlen);
		failure = ucx_agree(q->comm, failure, err, errlen);
		if (failure != RMA_OK)
			return failure;
	}
	if (!u->by_cpu && !exchange_keys(r, q)) {
		snprintf(err, errlen, "no memory for, or no keys of, the segments of a table");
		return RMA_FAIL_NOMEM;
	}
	u->by_cpu = u->by_cpu && !q->by_network;
	if (u->on_device)
		ucx_device_use(r);
	/* Orders the numbers of all ranks before the first operation of any, with what the ranks
	 * of a table agree on before pawl_table_create() returns. */
	return RMA_OK;
}

enum rma_failure ucx_open(struct rma *r, const struct rma_request *q, char *err, size_t errlen)
{
	const struct rma_transport *before = r->transport;
	struct rma_ucx *u = calloc(1, sizeof *u);
	enum rma_failure failure = u ? RMA_OK : RMA_FAIL_NOMEM;
	struct ucx_net *n;

	if (!u)
		snprintf(err, errlen, "out of memory");
	failure = ucx_net_open(q, failure, &n, err, errlen);
	if (failure != RMA_OK) {
		free(u);
		return failure;
	}
	*u = (struct rma_ucx){.net = n,
			      .map = r->map,
			      .limits = {RMA_HEADER_BYTES, q->bytes},
			      .by_cpu = n->by_messages,
			      .keys_win = MPI_WIN_NULL};
	if (n->device) /* messages change the flag of deaths only */
		u->limits.first = u->limits.end;
	r->state = u;
	failure = open_table(r, q, err, errlen);
	if (failure != RMA_OK) {
		ucx_close(r);
		r->transport = before;
	}
	return failure;
}

void ucx_close(struct rma *r)
{
	struct rma_ucx *u = ucx_of(r);
	struct ucx_net *n = u->net;

	/* Orders the last operations of all ranks before the end of any segment. */
	PMPI_Barrier(n->comm);
	if (u->rkey) {
		pthread_mutex_lock(&n->mutex);
		for (int i = 0; i < n->ranks; i++)
			if (u->rkey[i])
				ucp_rkey_destroy(u->rkey[i]);
		sparse_free(u->rkey, (size_t)n->ranks, sizeof(ucp_rkey_h));
		u->rkey = NULL;
		pthread_mutex_unlock(&n->mutex);
	}
	remove_table(u);
	if (u->memory)
		ucp_mem_unmap(n->context, u->memory);
	if (u->on_device)
		ucx_device_unregister(u);
	if (u->keys_win != MPI_WIN_NULL)
		own_windows.free(&u->keys_win);
	free(u);
	r->state = NULL;
	r->atomics = NULL;
	ucx_net_leave(n);
}

/* The last table takes the thread with it; connections go with the process. */
void ucx_leave(struct rma *r)
{
	struct rma_ucx *u = ucx_of(r);

	if (!u || u->left)
		return;
	u->left = true;
	remove_table(u);
	ucx_net_abandon(u->net);
}
