/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of ucx/device.c share. Only they include UCT. */
#ifndef RMA_UCX_DEVICE_PARTS_H
#define RMA_UCX_DEVICE_PARTS_H

#include <uct/api/uct.h>

#include "rma/few.h"
#include "rma/ucx/device.h"

/* An operation on its way. UCT writes what it fetches here, and not to the client, which may have
 * left meanwhile. */
struct device_flight {
	struct ucx_pending pending;
	struct ucx_device *device;
	struct device_flight *next; /* of the spare ones */
	uct_completion_t done;
	uint64_t value;
	int64_t *result; /* NULL: none */
	bool looks;      /* it is the look after which the peer is up */
};

/* The connections of a rank: to that rank, and from it. */
struct device_ends {
	uct_ep_h own, accepted;
};

/* Keys of UCT in their packed form, and unpacked. */
struct device_key {
	uct_rkey_bundle_t bundle;
	bool is_there;
};

struct ucx_device {
	ucs_async_context_t *async;
	uct_worker_h worker;
	uct_component_h component;
	uct_md_h md;
	uct_iface_h iface;
	size_t address_bytes, end_bytes, key_bytes;
	int fd;
	void *page; /* which other ranks read once they are connected */
	uct_mem_h page_memory;
	struct device_ends *ends; /* [ranks] */
	struct device_flight **flight, *spare;
	unsigned flights;
	char name[64], atomics[192];
};

/* Of a table. */
struct device_table {
	uct_mem_h memory;
	struct device_key *key; /* [ranks] of their segments */
	struct rma_few few;
};

/* What ranks tell each other of their devices: the page, its key, and, behind that, the address of
 * the device. */
struct device_card {
	uint64_t page;
	uint16_t key_bytes, address_bytes;
	_Alignas(8) char key[];
};

/* device_connect.c. A spare flight; NULL: out of memory. One that is not needed; the end of one,
 * also if it was never posted. */
struct device_flight *device_take(struct ucx_device *d);
void device_spare(struct ucx_device *d, struct device_flight *f);
void device_done(struct device_flight *f, ucs_status_t status);
bool device_add_flight(struct ucx_device *d);
/* For UCT: fetch a word; a queue pair has failed. */
void device_copy(void *to, const void *from, size_t n);
ucs_status_t device_on_failure(void *arg, uct_ep_h ep, ucs_status_t status);
/* The device does not reach the rank, or has lost it in the middle of operations. */
void device_fail(struct ucx_peer *p, ucs_status_t status);

/* device_table.c: the key of a rank's segment, and where that is. */
ucs_status_t device_key_of(struct rma_ucx *u, int rank, uct_rkey_t *key, uint64_t *base);

#endif
