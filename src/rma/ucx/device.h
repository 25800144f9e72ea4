/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomics of a device that has only addition and compare-and-swap; see device.c. */
#ifndef RMA_UCX_DEVICE_H
#define RMA_UCX_DEVICE_H

#include "rma/ucx/parts.h"

/* What the devices that UCX may use perform on 64 bits. */
struct ucx_found {
	bool all; /* all atomics, so those of UCP are the device's */
	bool few; /* addition and compare-and-swap, and n->device is open */
};

/* Look for a device in a list such as UCX_NET_DEVICES. Local. */
struct ucx_found ucx_device_find(struct ucx_net *n, const char *devices);
void ucx_device_close(struct ucx_net *n);

/* What other ranks need to know of this rank's device, for its contact. Returns the bytes; 0: it
 * fails, or has not so much room. */
size_t ucx_device_card(const struct ucx_net *n, void *to, size_t room);

/* Of a table: open this rank's segment to the device. If it fails, err has the message. What it
 * packs is the key by which others operate on it. The end of both. */
enum rma_failure ucx_device_register(struct rma_ucx *u, void *base, size_t bytes, char *err,
				     size_t errlen);
size_t ucx_device_key_bytes(const struct ucx_net *n);
bool ucx_device_pack_key(const struct rma_ucx *u, void *to);
void ucx_device_unregister(struct rma_ucx *u);
/* Make the device the transport of r. */
void ucx_device_use(struct rma *r);

/* A connection has an endpoint at both ends. Under the mutex: create this end, whose address goes
 * into the greeting; connect it to the address in the answer, and look at the rank's memory, after
 * which p is up; destroy it. */
ucs_status_t ucx_device_begin(struct ucx_peer *p);
void ucx_device_join(struct ucx_peer *p, const void *address, size_t bytes);
void ucx_device_part(struct ucx_peer *p);
/* Takes the mutex: the other end, for the rank whose greeting has this address. Returns the bytes
 * of its own address; 0: it cannot be connected. */
size_t ucx_device_accept(struct ucx_net *n, int rank, const void *address, size_t bytes,
			 char own[UCX_END_BYTES]);

/* Under the mutex: complete operations; false: none has completed. */
bool ucx_device_progress(struct ucx_device *d);
/* Let the descriptor tell of the next completion. False: look again first. */
bool ucx_device_arm(struct ucx_device *d, int *fd);
void ucx_device_forget(const struct rma_ucx *u); /* as ucx_messages_forget() */

#endif
