/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UCX's own operations, for jobs in which a device may perform them, or in which the user has told
 * UCX how to perform atomics (ucx/messages.c is the other way). Each operation is one message or
 * work request.
 *
 * A store is a put. UCX completes it when the operand may be reused; at the target it is complete
 * after a flush of the endpoint, which is what a client's flush waits for.
 *
 * No operation allocates: RMA_OPERANDS flights are allocated at the start, and a client has at most
 * this many at a time. More are allocated when several clients have so many at once.
 */
#include <stdlib.h>

#include "rma/ucx/parts.h"

static bool add_flight(struct rma_ucx *u)
{
	struct ucx_flight *f = calloc(1, sizeof *f), **all;

	all = f ? realloc(u->flight, (u->flights + 1) * sizeof(struct ucx_flight *)) : NULL;
	if (!all) {
		free(f);
		return false;
	}
	u->flight = all;
	u->flight[u->flights++] = f;
	f->next = u->spare_flight;
	u->spare_flight = f;
	return true;
}

bool ucx_direct_open(struct rma_ucx *u)
{
	bool ok = true;

	for (int i = 0; i < RMA_OPERANDS; i++)
		ok = ok && add_flight(u);
	return ok;
}

void ucx_direct_close(struct rma_ucx *u)
{
	for (uint32_t i = 0; i < u->flights; i++)
		free(u->flight[i]);
	free(u->flight);
}

static struct ucx_flight *take(struct rma_ucx *u)
{
	struct ucx_flight *f;

	if (!u->spare_flight && !add_flight(u))
		return NULL;
	f = u->spare_flight;
	u->spare_flight = f->next;
	return f;
}

static void spare(struct rma_ucx *u, struct ucx_flight *f)
{
	f->next = u->spare_flight;
	u->spare_flight = f;
}

static void on_done(void *request, ucs_status_t status, void *arg)
{
	struct ucx_flight *f = arg;

	ucx_land(f, status == UCS_OK);
	spare(f->peer->ucx, f);
	ucp_request_free(request);
}

/* Evaluate UCX's result for an operation on p. */
static void issued(struct rma_client *c, struct ucx_peer *p, struct ucx_flight *f,
		   ucs_status_ptr_t status)
{
	if (UCS_PTR_IS_PTR(status)) {
		ucx_fly(c, p, f);
		return;
	}
	c->failed = c->failed || UCS_PTR_IS_ERR(status);
	spare(ucx_of(c->rma), f);
}

/* Keep the operand where UCX may read it until the operation is complete. begin() has made room. */
static int64_t *keep(struct rma_client *c, int64_t value)
{
	int64_t *place = &c->operand[c->operands++];

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

/* Prepare an operation: the peer, and a flight. NULL: it fails. If there is no room for another
 * operation, first wait for all operations of c; the peer may die meanwhile. Puts among these still
 * need their flush, so c->target stays. */
static struct ucx_peer *begin(struct rma_client *c, int rank, struct ucx_flight **f)
{
	struct ucx_peer *p;

	if (c->operands == RMA_OPERANDS || c->flying >= RMA_OPERANDS)
		ucx_complete(c);
	p = ucx_peer(ucx_of(c->rma), rank);
	*f = p ? take(ucx_of(c->rma)) : NULL;
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
	case WIRE_PUT:
		put(c, rank, offset, op->value);
		break;
	case WIRE_GET:
		get(c, rank, offset, op->result);
		break;
	case WIRE_ACC:
		atomic(c, rank, offset, UCP_ATOMIC_OP_ADD, op->value, &c->ignored[0]);
		break;
	case WIRE_ADD:
		atomic(c, rank, offset, UCP_ATOMIC_OP_ADD, op->value, op->result);
		break;
	case WIRE_OR:
		atomic(c, rank, offset, UCP_ATOMIC_OP_OR, op->value, op->result);
		break;
	case WIRE_AND:
		atomic(c, rank, offset, UCP_ATOMIC_OP_AND, op->value, op->result);
		break;
	case WIRE_SWAP:
		atomic(c, rank, offset, UCP_ATOMIC_OP_SWAP, op->value, op->result);
		break;
	case WIRE_CAS:
		*op->result = op->value; /* UCX takes the new value from the result buffer */
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

/* A put that a device performs is complete at the target only after this. */
static void direct_push(struct rma_client *c)
{
	struct rma_ucx *u = ucx_of(c->rma);

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

/* Nothing: on_done() may still come and makes the flight spare. UCX 1.13 may forget an operation
 * that was issued before the connection was up; then the flight is not used again. */
static void direct_lost(struct rma_ucx *u, struct ucx_flight *f)
{
	(void)u, (void)f;
}

const struct ucx_way ucx_direct = {
    .issue = direct_issue,
    .push = direct_push,
    .lost = direct_lost,
};

/* ------------------------------------------------------------- the transport */

static void operate(struct rma_client *c, struct rma_word w, struct ucx_op op)
{
	struct rma_ucx *u = ucx_of(c->rma);

	pthread_mutex_lock(&u->mutex);
	direct_issue(c, w.rank, w.offset, &op);
	pthread_mutex_unlock(&u->mutex);
}

static void direct_put(struct rma_client *c, struct rma_word w, int64_t value)
{
	operate(c, w, (struct ucx_op){.kind = WIRE_PUT, .value = value});
}

static void direct_get(struct rma_client *c, struct rma_word w, int64_t *result)
{
	operate(c, w, (struct ucx_op){.kind = WIRE_GET, .result = result});
}

static void direct_acc(struct rma_client *c, struct rma_word w, int64_t value)
{
	operate(c, w, (struct ucx_op){.kind = WIRE_ACC, .value = value});
}

static void direct_fao(struct rma_client *c, struct rma_word w, enum rma_op op, int64_t value,
		       int64_t *result)
{
	operate(c, w, (struct ucx_op){.kind = ucx_fetching(op), .value = value, .result = result});
}

static void direct_cas(struct rma_client *c, struct rma_word w, int64_t expected, int64_t value,
		       int64_t *result)
{
	operate(c, w, (struct ucx_op){WIRE_CAS, value, expected, result});
}

static void direct_flush_all(struct rma_client *c)
{
	struct rma_ucx *u = ucx_of(c->rma);

	pthread_mutex_lock(&u->mutex);
	direct_push(c);
	ucx_complete(c);
	c->target = RMA_NO_TARGET;
	pthread_mutex_unlock(&u->mutex);
	if (c->failed)
		ucx_give_up(c);
}

static void direct_flush(struct rma_client *c, int rank)
{
	(void)rank;
	direct_flush_all(c);
}

static bool direct_post(struct rma_client *c, struct rma_word w)
{
	struct rma_ucx *u = ucx_of(c->rma);
	bool ok;

	pthread_mutex_lock(&u->mutex);
	ok = ucx_is_clear(u, w.rank);
	if (ok)
		direct_push(c);
	ok = ok && !c->failed;
	pthread_mutex_unlock(&u->mutex);
	return ok;
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
