/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UCX's own operations, for jobs in which a device may perform them, or in which the user has told
 * UCX how to perform atomics (ucx/messages.c is the other way). Each operation is one message or
 * work request.
 *
 * A store is a put. UCX completes it when the operand may be reused; at the target it is complete
 * after a flush of the endpoint, which is what a client's flush waits for.
 *
 * A client keeps its operations to itself until its flush or post, or until it has UCX_OPERANDS of
 * them. Then it takes the mutex, once, and issues them all. So an operation takes no mutex, and one
 * that is flushed takes one.
 *
 * No operation allocates: UCX_OPERANDS of struct ucx_pending are allocated at the start, and a
 * client has at most this many at a time. More are allocated when several clients have so many at
 * once.
 */
#include <stdlib.h>

#include "rma/ucx/parts.h"

static bool add_flight(struct ucx_net *n)
{
	struct ucx_pending *f = calloc(1, sizeof *f), **all;

	all = f ? realloc(n->pending, (n->n_pending + 1) * sizeof(struct ucx_pending *)) : NULL;
	if (!all) {
		free(f);
		return false;
	}
	n->pending = all;
	n->pending[n->n_pending++] = f;
	f->next = n->spare_pending;
	n->spare_pending = f;
	return true;
}

bool ucx_direct_open(struct ucx_net *n)
{
	bool ok = true;

	for (int i = 0; i < UCX_OPERANDS; i++)
		ok = ok && add_flight(n);
	return ok;
}

void ucx_direct_close(struct ucx_net *n)
{
	for (uint32_t i = 0; i < n->n_pending; i++)
		free(n->pending[i]);
	free(n->pending);
}

void ucx_direct_forget(const struct rma_ucx *u)
{
	struct ucx_net *n = u->net;

	for (uint32_t i = 0; i < n->n_pending; i++)
		if (n->pending[i]->client && ucx_of(n->pending[i]->client->rma) == u)
			ucx_pending_done(n->pending[i], false);
}

static struct ucx_pending *take(struct ucx_net *n)
{
	struct ucx_pending *f;

	if (!n->spare_pending && !add_flight(n))
		return NULL;
	f = n->spare_pending;
	n->spare_pending = f->next;
	return f;
}

static void spare(struct ucx_net *n, struct ucx_pending *f)
{
	f->next = n->spare_pending;
	n->spare_pending = f;
}

static void on_done(void *request, ucs_status_t status, void *arg)
{
	struct ucx_pending *f = arg;

	ucx_pending_done(f, status == UCS_OK);
	spare(f->peer->net, f);
	ucp_request_free(request);
}

/* Evaluate UCX's result for an operation on p. False: it has to be issued again. */
static bool issued(struct rma_client *c, struct ucx_peer *p, struct ucx_pending *f,
		   ucs_status_ptr_t status)
{
	if (UCS_PTR_IS_PTR(status)) {
		ucx_pending_add(c, p, f);
		return true;
	}
	spare(ucx_net_of(c->rma), f);
	if (ucx_lacks_memory(status))
		return false;
	if (UCS_PTR_IS_ERR(status)) { /* of an endpoint that has failed; UCX may say so later */
		ucx_ended(p, UCS_PTR_STATUS(status));
		ucx_lose(c, p->loss);
	}
	return true;
}

static ucp_request_param_t params_for(struct ucx_pending *f)
{
	return (ucp_request_param_t){
	    .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
	    .cb.send = on_done,
	    .user_data = f,
	};
}

/* Prepare an operation: the peer, and a struct ucx_pending. NULL: it fails. The peer may die while
 * the client waits for one. */
static struct ucx_peer *begin(struct rma_client *c, int rank, struct ucx_pending **f)
{
	struct ucx_net *n = ucx_net_of(c->rma);
	struct ucx_peer *p;

	if (ucx_client(c)->unanswered >= UCX_OPERANDS)
		ucx_complete(c);
	while (!(*f = take(n))) {
		ucx_complete(c);
		ucx_pause(c); /* there is no memory, and other clients may have what is there */
	}
	p = ucx_reach(c, rank);
	if (!p)
		spare(n, *f);
	return p;
}

static bool atomic(struct rma_client *c, struct ucx_direct_op *d, ucp_atomic_op_t op,
		   const int64_t *operand, int64_t *result)
{
	struct ucx_pending *f;
	struct ucx_peer *p = begin(c, d->rank, &f);
	ucp_request_param_t params = params_for(f);
	ucp_rkey_h rkey;
	uint64_t base;

	if (!p)
		return true;
	params.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER;
	params.datatype = ucp_dt_make_contig(sizeof *operand);
	params.reply_buffer = result;
	rkey = ucx_key_of(ucx_of(c->rma), p, &base);
	return issued(c, p, f,
		      ucp_atomic_op_nbx(p->ep, op, operand, 1, base + d->offset, rkey, &params));
}

static bool transfer(struct rma_client *c, struct ucx_direct_op *d)
{
	struct ucx_direct_client *own = ucx_direct_client(c);
	int to = 1 + d->rank;
	struct ucx_pending *f;
	struct ucx_peer *p = begin(c, d->rank, &f);
	ucp_request_param_t params = params_for(f);
	ucp_rkey_h rkey;
	uint64_t base;

	if (!p)
		return true;
	rkey = ucx_key_of(ucx_of(c->rma), p, &base);
	base += d->offset;
	if (d->code == WIRE_GET)
		return issued(
		    c, p, f, ucp_get_nbx(p->ep, d->result, sizeof *d->result, base, rkey, &params));
	own->put_to = own->put_to == UCX_NO_PUT || own->put_to == to ? to : UCX_MANY_PUTS;
	return issued(c, p, f, ucp_put_nbx(p->ep, &d->value, sizeof d->value, base, rkey, &params));
}

static bool issue(struct rma_client *c, struct ucx_direct_op *d)
{
	switch (d->code) {
	case WIRE_PUT:
	case WIRE_GET:
		return transfer(c, d);
	case WIRE_ACC: /* its place for the other operand takes what comes back */
		return atomic(c, d, UCP_ATOMIC_OP_ADD, &d->value, &d->expected);
	case WIRE_ADD:
		return atomic(c, d, UCP_ATOMIC_OP_ADD, &d->value, d->result);
	case WIRE_OR:
		return atomic(c, d, UCP_ATOMIC_OP_OR, &d->value, d->result);
	case WIRE_AND:
		return atomic(c, d, UCP_ATOMIC_OP_AND, &d->value, d->result);
	case WIRE_SWAP:
		return atomic(c, d, UCP_ATOMIC_OP_SWAP, &d->value, d->result);
	case WIRE_CAS:
		*d->result = d->value; /* UCX takes the new value from the result buffer */
		return atomic(c, d, UCP_ATOMIC_OP_CSWAP, &d->expected, d->result);
	}
	return true;
}

/* Issue what the client has kept. Under the mutex. */
static void issue_all(struct rma_client *c)
{
	struct ucx_direct_client *own = ucx_direct_client(c);

	while (own->issued < own->n)
		if (issue(c, &own->op[own->issued]))
			own->issued++;
		else
			ucx_pause(c);
}

/* Places for operations are free again when all have been answered. */
static bool has_place(struct rma_client *c)
{
	struct ucx_direct_client *own = ucx_direct_client(c);

	if (own->issued == own->n && !own->client.unanswered)
		own->issued = own->n = 0;
	return own->n < UCX_OPERANDS;
}

/* Keep an operation; has_place() said yes. */
static void keep(struct rma_client *c, int rank, uint64_t offset, const struct ucx_op *op)
{
	struct ucx_direct_client *own = ucx_direct_client(c);

	if (op->result)
		*op->result = 0;
	own->op[own->n++] = (struct ucx_direct_op){
	    .code = op->code,
	    .rank = rank,
	    .offset = offset,
	    .value = op->value,
	    .expected = op->expected,
	    .result = op->result,
	};
}

/* Puts among those that are completed here still need their flush. Under the mutex. */
static void make_places(struct rma_client *c)
{
	issue_all(c);
	ucx_complete(c);
	has_place(c);
}

static void flush_peer(struct rma_client *c, int rank)
{
	bool done = false;

	while (!done) {
		struct ucx_pending *f;
		struct ucx_peer *p = begin(c, rank, &f);
		ucp_request_param_t params = params_for(f);

		done = !p || issued(c, p, f, ucp_ep_flush_nbx(p->ep, &params));
		if (!done)
			ucx_pause(c);
	}
}

/* A put that a device performs is complete at the target only after a flush of the endpoint. */
static void direct_push(struct rma_client *c)
{
	struct ucx_net *n = ucx_net_of(c->rma);
	int to;

	issue_all(c);
	to = ucx_direct_client(c)->put_to;
	ucx_direct_client(c)->put_to = UCX_NO_PUT;
	if (to > 0)
		flush_peer(c, to - 1);
	for (int i = 0; to == UCX_MANY_PUTS && i < n->ranks; i++)
		if (n->peer[i] && n->peer[i]->state == UCX_UP)
			flush_peer(c, i);
}

/* ------------------------------------------------------------- the transport */

static void operate(struct rma_client *c, struct rma_word w, struct ucx_op op)
{
	struct ucx_net *n = ucx_net_of(c->rma);

	if (!has_place(c)) {
		pthread_mutex_lock(&n->mutex);
		make_places(c);
		pthread_mutex_unlock(&n->mutex);
	}
	keep(c, w.rank, w.offset, &op);
}

static void direct_put(struct rma_client *c, struct rma_word w, int64_t value)
{
	operate(c, w, (struct ucx_op){.code = WIRE_PUT, .value = value});
}

static void direct_get(struct rma_client *c, struct rma_word w, int64_t *result)
{
	operate(c, w, (struct ucx_op){.code = WIRE_GET, .result = result});
}

static void direct_acc(struct rma_client *c, struct rma_word w, int64_t value)
{
	operate(c, w, (struct ucx_op){.code = WIRE_ACC, .value = value});
}

static void direct_fao(struct rma_client *c, struct rma_word w, enum rma_op op, int64_t value,
		       int64_t *result)
{
	operate(c, w, (struct ucx_op){.code = ucx_fetching(op), .value = value, .result = result});
}

static void direct_cas(struct rma_client *c, struct rma_word w, int64_t expected, int64_t value,
		       int64_t *result)
{
	operate(c, w, (struct ucx_op){WIRE_CAS, value, expected, result});
}

static void direct_flush_all(struct rma_client *c)
{
	ucx_flush_by(c, direct_push);
}

static void direct_flush(struct rma_client *c, int rank)
{
	(void)rank;
	direct_flush_all(c);
}

static bool direct_post(struct rma_client *c, struct rma_word w)
{
	return ucx_post_by(c, w, direct_push);
}

const struct rma_transport ucx_direct_transport = {
    .name = "ucx",
    .can = {.can_fail = true, .is_served = true, .posts = true},
    .put = direct_put,
    .get = direct_get,
    .acc = direct_acc,
    .fao = direct_fao,
    .cas = direct_cas,
    .flush = direct_flush,
    .flush_all = direct_flush_all,
    .post = direct_post,
    .answered = ucx_answered,
    .progress = ucx_progress,
    .sleep = ucx_sleep,
    .close = ucx_close,
    .leave = ucx_leave,
};
