/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The target's side of ucx/messages.c: perform the operations of a message by CPU on this rank's
 * segment, and answer. All of this runs in the thread (ucx/serve.c).
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rma/ucx/device.h"

enum { PAUSE_NS = 1000000 };

static int64_t perform_one(_Atomic(int64_t) *word, const struct wire_op *op)
{
	int64_t old = op->expected;

	switch ((enum wire_operation)wire_operation(op)) {
	case WIRE_PUT:
		atomic_store(word, op->value);
		break;
	case WIRE_GET:
		return atomic_load(word);
	case WIRE_ACC:
	case WIRE_ADD:
		return atomic_fetch_add(word, op->value);
	case WIRE_OR:
		return atomic_fetch_or(word, op->value);
	case WIRE_AND:
		return atomic_fetch_and(word, op->value);
	case WIRE_SWAP:
		return atomic_exchange(word, op->value);
	case WIRE_CAS:
		atomic_compare_exchange_strong(word, &old, op->value);
		break;
	}
	return old;
}

/* ------------------------------------------------------------------- tasks */

/* A task is for the rank that gets it: for memory that others of its node may not map. */
bool ucx_serve_tasks(struct rma *r, rma_serve *fn, void *arg)
{
	struct rma_ucx *u = ucx_of(r);

	if (u->net->index) /* requests go to any rank of a node (ucx/route.c) */
		return false;
	u->serve_arg = arg;
	/* Orders the argument before the function; pairs with the acquire in perform_task(). */
	atomic_store_explicit(&u->serve, fn, memory_order_release);
	return true;
}

/* Perform a task, and append its result to the answer. False: nobody performs tasks. */
static bool perform_task(const struct rma_ucx *u, int from, const void *data, size_t length,
			 struct ucx_answer *m)
{
	rma_serve *serve = atomic_load_explicit(&u->serve, memory_order_acquire);
	const size_t header = sizeof(struct wire_header);
	size_t words;

	if (!serve)
		return false;
	words = (size_t)serve(u->serve_arg, from, (const char *)data + header, length - header,
			      (int64_t *)(void *)(m->bytes + header));
	m->used = (ucp_dt_iov_t){m->bytes, header + words * sizeof(int64_t)};
	return true;
}

/* -------------------------------------------------------------- operations */

/* Perform operations on the segment at base, within its limits, and append their results to the
 * answer. */
static void perform_all(char *base, const struct wire_op *op, int ops, struct ucx_answer *m)
{
	m->used = (ucp_dt_iov_t){m->bytes, sizeof(struct wire_header)};
	for (int i = 0; i < ops; i++) {
		char *word = base + wire_offset(&op[i]);
		int64_t old = perform_one((_Atomic(int64_t) *)(void *)word, &op[i]);

		if (!wire_has_result(wire_operation(&op[i])))
			continue;
		memcpy(m->bytes + m->used.length, &old, sizeof old);
		m->used.length += sizeof old;
	}
}

/* The answer to a greeting with the address of an endpoint of a device: that of this end. */
static void meet(struct ucx_net *n, int rank, const void *data, size_t length, struct ucx_answer *m)
{
	const size_t header = sizeof(struct wire_header);
	char *own = m->bytes + header;

	memset(own, 0, UCX_END_BYTES);
	m->used = (ucp_dt_iov_t){m->bytes, header};
	m->used.length +=
	    ucx_device_accept(n, rank, (const char *)data + header, length - header, own);
}

/* ------------------------------------------------------------------ answers */

static void on_sent(void *request, ucs_status_t status, void *arg)
{
	(void)status;
	free(arg);
	ucp_request_free(request);
}

/* While there is no memory, the origin waits. */
static void lack_memory(void)
{
	nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
}

/* If this fails, the origin is dead and needs no answer. */
static void send_answer(struct ucx_net *n, ucp_ep_h to)
{
	ucp_request_param_t params = ucx_message_params(0, on_sent, n->answer);
	ucs_status_ptr_t status;

	while (ucx_lacks_memory(
	    status = ucp_am_send_nbx(to, WIRE_ANSWER, NULL, 0, &n->answer->used, 1, &params)))
		lack_memory();
	if (UCS_PTR_IS_PTR(status))
		n->answer = NULL; /* UCX still reads it; on_sent() frees it */
}

/* The table and the segment that a request is for. NULL: this process does not have them. */
static const struct rma_ucx *find_segment(const struct ucx_net *n, const struct wire_header *h,
					  char **base)
{
	const struct rma_ucx *u = h->table < UCX_TABLES ? atomic_load(&n->table[h->table]) : NULL;

	if (u == &n->own) {
		*base = ucx_is_ending() ? NULL : (char *)n->shared;
		return *base ? u : NULL;
	}
	*base = u && h->segment >= 0 && h->segment < n->ranks ? u->map[h->segment] : NULL;
	return *base ? u : NULL;
}

/* Whether the number of the request is new; it is accepted then. */
static bool is_new(struct ucx_net *n, const struct wire_header *h)
{
	struct wire_window *window = &n->window[h->from];

	if (!window->highest && !window->seen)
		atomic_fetch_add(&n->callers, 1);
	return wire_is_new(window, h->number);
}

/* False: the request is refused. *wakes: it may have changed words of the segment. */
static bool perform(struct ucx_net *n, const struct rma_ucx *u, char *base,
		    const struct wire_header *h, const void *data, size_t length, bool *wakes)
{
	struct wire_op op[WIRE_OPS_MOST];
	bool meets;
	int ops;

	*wakes = false;
	if (h->type == WIRE_TASK)
		return h->segment == n->rank && is_new(n, h) &&
		       perform_task(u, h->from, data, length, n->answer);
	meets =
	    n->device && u == &n->own && h->index == (uint32_t)UCX_GREETING && length > sizeof *h;
	ops = meets ? 0 : wire_operations(&u->limits, data, length, op);
	if (ops < 0 || !is_new(n, h))
		return false;
	if (meets)
		meet(n, h->from, data, length, n->answer);
	else
		perform_all(base, op, ops, n->answer);
	if (ops > 0 && u == &n->own)
		ucx_told(n);
	*wakes = ops > 0 && u != &n->own;
	return true;
}

static ucs_status_t on_message(struct ucx_net *n, enum wire_type type, const void *data,
			       size_t length, const ucp_am_recv_param_t *param)
{
	const struct rma_ucx *u;
	struct wire_header h;
	char *base;
	bool wakes;

	while (!n->answer && !(n->answer = malloc(sizeof *n->answer)))
		lack_memory();
	if (!(param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) ||
	    !ucx_take_message(n, type, data, length, param, &h))
		return UCS_OK;
	u = find_segment(n, &h, &base);
	if (!u || !perform(n, u, base, &h, data, length, &wakes)) {
		atomic_fetch_add_explicit(&n->refused, 1, memory_order_relaxed);
		return UCS_OK;
	}
	n->performed++;
	h = (struct wire_header){.number = h.number,
				 .type = WIRE_ANSWER,
				 .index = h.index,
				 .from = n->rank,
				 .to = h.from,
				 .table = h.table,
				 .segment = h.segment};
	wire_seal(&n->key, &h, n->answer->bytes, n->answer->used.length);
	send_answer(n, param->reply_ep);
	if (wakes)
		ucx_wake_sleepers(u, h.segment);
	return UCS_OK;
}

ucs_status_t ucx_on_request(void *arg, const void *header, size_t header_length, void *data,
			    size_t length, const ucp_am_recv_param_t *param)
{
	(void)header, (void)header_length;
	return on_message(arg, WIRE_REQUEST, data, length, param);
}

ucs_status_t ucx_on_task(void *arg, const void *header, size_t header_length, void *data,
			 size_t length, const ucp_am_recv_param_t *param)
{
	(void)header, (void)header_length;
	return on_message(arg, WIRE_TASK, data, length, param);
}

void ucx_perform_close(struct ucx_net *n)
{
	free(n->answer);
}
