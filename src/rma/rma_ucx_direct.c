/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations as UCX has them: where devices may perform them, or where UCX was told how it is to
 * perform atomics (rma_ucx_messages.c is the other way). Each is one message or work request.
 *
 * A store is a put, whose completion at the target takes a flush of the endpoint.
 */
#include <stdlib.h>

#include "rma/rma_ucx_parts.h"

static void on_done(void *request, ucs_status_t status, void *arg)
{
	struct ucx_flight *f = arg;

	ucx_land(f, status == UCS_OK);
	free(f);
	ucp_request_free(request);
}

/* What UCX said to an operation on p that was just issued. */
static void issued(struct rma_client *c, struct ucx_peer *p, struct ucx_flight *f,
		   ucs_status_ptr_t status)
{
	if (UCS_PTR_IS_PTR(status)) {
		ucx_fly(c, p, f);
		return;
	}
	c->failed = c->failed || UCS_PTR_IS_ERR(status);
	free(f);
}

/* Keep the operand where UCX may read it until the operation is complete. */
static int64_t *keep(struct rma_client *c, int64_t value)
{
	int64_t *place;

	if (c->operands == RMA_OPERANDS)
		ucx_complete(c);
	place = &c->operand[c->operands++];
	*place = value;
	return place;
}

static ucp_request_param_t params_for(struct ucx_flight *f)
{
	return (ucp_request_param_t){
	    .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
	    .cb.send = on_done,
	    .user_data = f,
	};
}

/* The peer, and an operation on it to be issued; NULL: it fails. */
static struct ucx_peer *begin(struct rma_client *c, int rank, struct ucx_flight **f)
{
	struct ucx_peer *p = ucx_peer(c->rma->ucx, rank);

	*f = p ? calloc(1, sizeof **f) : NULL;
	if (*f)
		return p;
	c->failed = true;
	return NULL;
}

static void atomic(struct rma_client *c, int rank, uint64_t offset, ucp_atomic_op_t op,
		   int64_t operand, int64_t *result)
{
	struct ucx_flight *f;
	struct ucx_peer *p = begin(c, rank, &f);
	ucp_request_param_t params = params_for(f);
	int64_t *place;

	if (!p) {
		*result = 0;
		return;
	}
	place = keep(c, operand);
	params.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER;
	params.datatype = ucp_dt_make_contig(sizeof operand);
	params.reply_buffer = result;
	issued(c, p, f, ucp_atomic_op_nbx(p->ep, op, place, 1, p->base + offset, p->rkey, &params));
}

static void put(struct rma_client *c, int rank, uint64_t offset, int64_t value)
{
	struct ucx_flight *f;
	struct ucx_peer *p = begin(c, rank, &f);
	ucp_request_param_t params = params_for(f);
	int64_t *place;

	if (!p)
		return;
	place = keep(c, value);
	c->target = c->target == RMA_NO_TARGET || c->target == rank ? rank : RMA_MANY_TARGETS;
	issued(c, p, f,
	       ucp_put_nbx(p->ep, place, sizeof *place, p->base + offset, p->rkey, &params));
}

static void get(struct rma_client *c, int rank, uint64_t offset, int64_t *result)
{
	struct ucx_flight *f;
	struct ucx_peer *p = begin(c, rank, &f);
	ucp_request_param_t params = params_for(f);

	*result = 0;
	if (p)
		issued(
		    c, p, f,
		    ucp_get_nbx(p->ep, result, sizeof *result, p->base + offset, p->rkey, &params));
}

static void direct_issue(struct rma_client *c, int rank, uint64_t offset, const struct ucx_op *op)
{
	switch (op->kind) {
	case UCX_PUT:
		put(c, rank, offset, op->value);
		break;
	case UCX_GET:
		get(c, rank, offset, op->result);
		break;
	case UCX_ACC:
		atomic(c, rank, offset, UCP_ATOMIC_OP_ADD, op->value, &c->ignored[0]);
		break;
	case UCX_ADD:
		atomic(c, rank, offset, UCP_ATOMIC_OP_ADD, op->value, op->result);
		break;
	case UCX_SWAP:
		atomic(c, rank, offset, UCP_ATOMIC_OP_SWAP, op->value, op->result);
		break;
	case UCX_CAS:
		*op->result = op->value; /* where UCX takes it from */
		atomic(c, rank, offset, UCP_ATOMIC_OP_CSWAP, op->expected, op->result);
		break;
	}
}

static void flush_peer(struct rma_client *c, int rank)
{
	struct ucx_flight *f;
	struct ucx_peer *p = begin(c, rank, &f);
	ucp_request_param_t params = params_for(f);

	if (p)
		issued(c, p, f, ucp_ep_flush_nbx(p->ep, &params));
}

/* Puts that a device performs are complete there only after this. */
static void direct_push(struct rma_client *c)
{
	struct rma_ucx *u = c->rma->ucx;

	if (c->target == RMA_NO_TARGET)
		return;
	if (c->target != RMA_MANY_TARGETS) {
		flush_peer(c, c->target);
		return;
	}
	for (int i = 0; i < u->ranks; i++)
		if (u->peer[i] && !u->peer[i]->dead)
			flush_peer(c, i);
}

/* UCX 1.13 may forget an operation that was issued before the connection stood; if not, on_done()
 * comes yet. */
static void direct_lost(struct rma_ucx *u, struct ucx_flight *f)
{
	(void)u, (void)f;
}

const struct ucx_way ucx_direct = {
    .issue = direct_issue,
    .push = direct_push,
    .lost = direct_lost,
};
