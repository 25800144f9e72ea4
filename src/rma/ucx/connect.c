/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Endpoints of the UCX transport. An endpoint is created when its rank is first used, so a process
 * has as many as it has peers. Endpoints are in peer-error mode: the death of a peer makes
 * operations on it fail, and the peer stays dead.
 */
#include "rma/ucx/parts.h"

#include <stdlib.h>

static void on_death(void *arg, ucp_ep_h ep, ucs_status_t status)
{
	struct ucx_peer *p = arg;

	(void)ep;
	(void)status;
	p->dead = p->ucx->dead_endpoints = true;
	atomic_store(&p->ucx->any_dead, true);
}

const struct ucx_contact *ucx_contact_of(const struct rma_ucx *u, int rank)
{
	return (const struct ucx_contact *)(const void *)(u->contacts +
							  (size_t)rank * u->contact_bytes);
}

bool ucx_connect(ucp_worker_h worker, const struct ucx_contact *contact,
		 ucp_err_handler_cb_t on_end, void *arg, ucp_ep_h *ep, ucp_rkey_h *rkey)
{
	ucp_ep_params_t params = {
	    .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
			  UCP_EP_PARAM_FIELD_ERR_HANDLER,
	    .address = (const ucp_address_t *)(const void *)contact->bytes,
	    .err_mode = UCP_ERR_HANDLING_MODE_PEER,
	    .err_handler = {on_end, arg},
	};

	if (ucp_ep_create(worker, &params, ep) != UCS_OK) {
		*ep = NULL;
		return false;
	}
	*rkey = NULL;
	return !contact->rkey_bytes ||
	       ucp_ep_rkey_unpack(*ep, contact->bytes + contact->address_bytes, rkey) == UCS_OK;
}

struct ucx_peer *ucx_peer(struct rma_ucx *u, int rank)
{
	const struct ucx_contact *contact = ucx_contact_of(u, rank);
	struct ucx_peer *p = u->peer[rank];

	if (p)
		return p->dead ? NULL : p;
	p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	u->peer[rank] = p;
	p->ucx = u;
	p->base = contact->base;
	if (ucx_connect(u->asking, contact, on_death, p, &p->ep, &p->rkey))
		return p;
	p->dead = u->dead_endpoints = true;
	atomic_store(&u->any_dead, true);
	return NULL;
}

void ucx_close_endpoint(ucp_worker_h worker, ucp_ep_h ep)
{
	static const ucp_request_param_t force = {
	    .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
	    .flags = UCP_EP_CLOSE_FLAG_FORCE,
	};
	ucs_status_ptr_t closing = ucp_ep_close_nbx(ep, &force);

	if (UCS_PTR_IS_PTR(closing)) {
		while (ucp_request_check_status(closing) == UCS_INPROGRESS)
			ucp_worker_progress(worker);
		ucp_request_free(closing);
	}
}

/* This fails the operations that have not been answered and have not failed yet. */
static void close_peer(struct rma_ucx *u, struct ucx_peer *p)
{
	ucp_ep_h ep = p->ep;

	p->ep = NULL;
	if (ep)
		ucx_close_endpoint(u->asking, ep);
}

static void tell_clients(struct rma_ucx *u, struct ucx_peer *p)
{
	while (p->pending) {
		struct ucx_pending *f = p->pending;

		ucx_pending_done(f, false);
		u->way->lost(u, f);
	}
}

void ucx_close_dead(struct rma_ucx *u)
{
	while (u->dead_endpoints) {
		u->dead_endpoints = false;
		for (int i = 0; i < u->ranks; i++)
			if (u->peer[i] && u->peer[i]->dead) {
				close_peer(u, u->peer[i]);
				tell_clients(u, u->peer[i]);
			}
	}
}

void ucx_disconnect(struct rma_ucx *u)
{
	for (int i = 0; u->peer && i < u->ranks; i++) {
		struct ucx_peer *p = u->peer[i];

		if (!p)
			continue;
		if (p->rkey)
			ucp_rkey_destroy(p->rkey);
		close_peer(u, p);
		free(p);
	}
	free(u->peer);
	u->peer = NULL;
}
