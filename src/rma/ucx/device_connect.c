/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections of ucx/device.c, their failures, and the ends of operations. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rma/ucx/device_parts.h"

/* How long the worker is driven after a queue pair has failed. */
#define SETTLE_NS UINT64_C(20000000)

/* --------------------------------------------------------------------- failures */

void device_fail(struct ucx_peer *p, ucs_status_t status)
{
	struct ucx_net *n = p->net;

	if (p->state == UCX_UP)
		snprintf(p->loss, sizeof p->loss,
			 "device %s has lost the connection to rank %d on host %s (%s)",
			 n->device->name, p->rank, ucx_host_of(n, p->rank),
			 ucs_status_string(status));
	snprintf(p->trouble, sizeof p->trouble, "device %s: %s", n->device->name,
		 ucs_status_string(status));
	ucx_ended(p, status);
}

ucs_status_t device_on_failure(void *arg, uct_ep_h ep, ucs_status_t status)
{
	struct ucx_net *n = arg;

	/* An end that another rank uses: that rank sees the failure, too. */
	for (int i = 0; i < n->ranks; i++)
		if (n->peer && n->peer[i] && n->device->ends[i].own == ep)
			device_fail(n->peer[i], status);
	return UCS_OK;
}

/* ------------------------------------------------------------------- operations */

bool device_add_flight(struct ucx_device *d)
{
	struct device_flight *f = calloc(1, sizeof *f), **all;

	all = f ? realloc(d->flight, (d->flights + 1) * sizeof(struct device_flight *)) : NULL;
	if (!all) {
		free(f);
		return false;
	}
	d->flight = all;
	d->flight[d->flights++] = f;
	device_spare(d, f);
	return true;
}

/* The device has looked at a word of the rank, or has failed to. */
static void end_look(struct ucx_peer *p, ucs_status_t status)
{
	if (p->state != UCX_CALLING)
		return;
	if (status == UCS_OK)
		ucx_is_up(p);
	else
		device_fail(p, status);
}

static void on_done(uct_completion_t *done)
{
	char *whole = (char *)done - offsetof(struct device_flight, done);
	struct device_flight *f = (struct device_flight *)(void *)whole;
	bool ok = done->status == UCS_OK;

	if (f->looks)
		end_look(f->pending.peer, done->status);
	if (ok && f->pending.client && f->result)
		*f->result = (int64_t)f->value;
	ucx_pending_done(&f->pending, ok);
	device_spare(f->device, f);
}

void device_copy(void *to, const void *from, size_t n)
{
	memcpy(to, from, n);
}

void device_spare(struct ucx_device *d, struct device_flight *f)
{
	f->next = d->spare;
	d->spare = f;
}

struct device_flight *device_take(struct ucx_device *d)
{
	struct device_flight *f;

	if (!d->spare && !device_add_flight(d))
		return NULL;
	f = d->spare;
	d->spare = f->next;
	f->device = d;
	f->looks = false;
	f->result = NULL;
	f->pending.client = NULL;
	f->done = (uct_completion_t){.func = on_done, .count = 1, .status = UCS_OK};
	return f;
}

void ucx_device_forget(const struct rma_ucx *u)
{
	const struct ucx_device *d = u->net->device;

	for (unsigned i = 0; i < d->flights; i++)
		if (d->flight[i]->pending.client && ucx_of(d->flight[i]->pending.client->rma) == u)
			ucx_pending_done(&d->flight[i]->pending, false);
}

void device_done(struct device_flight *f, ucs_status_t status)
{
	f->done.status = status;
	on_done(&f->done);
}

/* ------------------------------------------------------------------ connections */

static const struct device_card *card_of(const struct ucx_net *n, int rank)
{
	const struct ucx_contact *c = ucx_contact_of(n, rank);

	return (const struct device_card *)(const void *)((const char *)c + ucx_card_at(c));
}

static const uct_device_addr_t *address_of(const struct device_card *card)
{
	return (const uct_device_addr_t *)(card->key + card->key_bytes);
}

static ucs_status_t create_end(struct ucx_device *d, uct_ep_h *end, char *address)
{
	uct_ep_params_t params = {.field_mask = UCT_EP_PARAM_FIELD_IFACE, .iface = d->iface};
	ucs_status_t status = uct_ep_create(&params, end);

	if (status != UCS_OK) {
		*end = NULL;
		return status;
	}
	return uct_ep_get_address(*end, (uct_ep_addr_t *)address);
}

ucs_status_t ucx_device_begin(struct ucx_peer *p)
{
	struct ucx_device *d = p->net->device;

	p->greeting.end_bytes = d->end_bytes;
	return create_end(d, &d->ends[p->rank].own, p->greeting.message.end);
}

/* Read a word of the rank's page. */
static ucs_status_t look(struct ucx_peer *p, struct device_flight *f)
{
	const struct device_card *card = card_of(p->net, p->rank);
	struct ucx_device *d = p->net->device;
	uct_rkey_bundle_t key;
	ucs_status_t status = uct_rkey_unpack(d->component, card->key, &key);

	if (status != UCS_OK)
		return status;
	f->looks = true;
	f->pending.peer = p;
	status = uct_ep_get_bcopy(d->ends[p->rank].own, device_copy, &f->value, sizeof f->value,
				  card->page, key.rkey, &f->done);
	uct_rkey_release(d->component, &key); /* the operation has a copy of what it needs */
	return status;
}

void ucx_device_join(struct ucx_peer *p, const void *address, size_t bytes)
{
	struct ucx_device *d = p->net->device;
	struct device_flight *f = NULL;
	ucs_status_t status = UCS_ERR_UNREACHABLE;

	if (bytes == d->end_bytes)
		status = uct_ep_connect_to_ep(d->ends[p->rank].own,
					      address_of(card_of(p->net, p->rank)), address);
	if (status == UCS_OK && !(f = device_take(d)))
		status = UCS_ERR_NO_MEMORY;
	if (status == UCS_OK)
		status = look(p, f); /* there is room for the first operation */
	if (status == UCS_INPROGRESS) {
		snprintf(p->trouble, sizeof p->trouble, "device %s: no answer", d->name);
		return;
	}
	if (f)
		device_spare(d, f);
	device_fail(p, status);
}

/* UCX frees a queue pair when the driver has said that nothing is left in it, and the worker has
 * been driven. The driver of soft-RoCE (Linux 6.12) says so several times, and UCX 1.18 aborts the
 * process if it hears that twice before the worker is driven. */
static void settle(const struct ucx_device *d)
{
	const uint64_t start = rma_now_ns();

	while (rma_now_ns() - start < SETTLE_NS)
		uct_worker_progress(d->worker);
}

void ucx_device_part(struct ucx_peer *p)
{
	struct ucx_device *d = p->net->device;
	struct device_ends *e = &d->ends[p->rank];

	if (e->own) {
		/* Those that are not complete end here, with an error. */
		uct_ep_flush(e->own, UCT_FLUSH_FLAG_CANCEL, NULL);
		uct_ep_destroy(e->own);
		if (p->state == UCX_DEAD)
			settle(d);
	}
	e->own = NULL;
}

size_t ucx_device_accept(struct ucx_net *n, int rank, const void *address, size_t bytes,
			 char own[UCX_END_BYTES])
{
	struct ucx_device *d = n->device;
	uct_ep_h *end = &d->ends[rank].accepted;
	ucs_status_t status = UCS_ERR_INVALID_PARAM;

	pthread_mutex_lock(&n->mutex);
	if (*end)
		uct_ep_destroy(*end);
	*end = NULL;
	if (bytes == d->end_bytes)
		status = create_end(d, end, own);
	if (status == UCS_OK)
		status = uct_ep_connect_to_ep(*end, address_of(card_of(n, rank)), address);
	pthread_mutex_unlock(&n->mutex);
	return status == UCS_OK ? bytes : 0;
}
