/* SPDX-License-Identifier: BSD-3-Clause */
/* What a table has of ucx/device.c: the registration of its segment, and the keys of all. */
#include <stdio.h>
#include <stdlib.h>

#include "base/sparse.h"
#include "rma/ucx/device_parts.h"

static struct device_table *new_table(int ranks)
{
	struct device_table *t = calloc(1, sizeof *t);

	if (t)
		t->key = sparse_array((size_t)ranks, sizeof *t->key);
	if (t && t->key)
		return t;
	free(t);
	return NULL;
}

enum rma_failure ucx_device_register(struct rma_ucx *u, void *base, size_t bytes, char *err,
				     size_t errlen)
{
	struct ucx_device *d = u->net->device;
	struct device_table *t = new_table(u->net->ranks);
	ucs_status_t status;

	u->on_device = t;
	if (!t) {
		snprintf(err, errlen, "out of memory");
		return RMA_FAIL_NOMEM;
	}
	status = uct_md_mem_reg(d->md, base, bytes, UCT_MD_MEM_ACCESS_ALL, &t->memory);
	if (status == UCS_OK)
		return RMA_OK;
	t->memory = NULL;
	snprintf(err, errlen,
		 "device %s does not take the %llu bytes of rank %d's segment: %s (is the limit of"
		 " locked memory, ulimit -l, large enough?); UCX_ATOMIC_MODE=cpu does without the"
		 " device's atomics, option transport=mpi without UCX",
		 d->name, (unsigned long long)bytes, u->net->rank, ucs_status_string(status));
	return RMA_FAIL_WINDOW;
}

size_t ucx_device_key_bytes(const struct ucx_net *n)
{
	return n->device->key_bytes;
}

bool ucx_device_pack_key(const struct rma_ucx *u, void *to)
{
	return uct_md_mkey_pack(u->net->device->md, u->on_device->memory, to) == UCS_OK;
}

ucs_status_t device_key_of(struct rma_ucx *u, int rank, uct_rkey_t *key, uint64_t *base)
{
	struct device_key *k = &u->on_device->key[rank];
	const char *packed = ucx_packed_key(u, rank, base);
	ucs_status_t status = UCS_OK;

	if (!k->is_there)
		status = uct_rkey_unpack(u->net->device->component, packed, &k->bundle);
	k->is_there = status == UCS_OK;
	*key = k->bundle.rkey;
	return status;
}

void ucx_device_unregister(struct rma_ucx *u)
{
	struct device_table *t = u->on_device;
	const int ranks = u->net->ranks;

	for (int i = 0; i < ranks; i++)
		if (t->key[i].is_there)
			uct_rkey_release(u->net->device->component, &t->key[i].bundle);
	sparse_free(t->key, (size_t)ranks, sizeof *t->key);
	if (t->memory)
		uct_md_mem_dereg(u->net->device->md, t->memory);
	free(t);
	u->on_device = NULL;
}
