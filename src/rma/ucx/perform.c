/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The target's side of ucx/messages.c: perform the operations of a message by CPU on this rank's
 * segment, and answer. All of this runs in the thread (ucx/serve.c).
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rma/ucx/parts.h"

enum { PAUSE_NS = 1000000 };

static int64_t perform(_Atomic(int64_t) *word, const struct wire_op *op)
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

/* Perform operations that are within the limits, and append their results to the answer. */
static void perform_all(const struct rma *r, const struct wire_op *op, int n, struct ucx_answer *m)
{
	m->used = (ucp_dt_iov_t){m->bytes, sizeof(struct wire_header)};
	for (int i = 0; i < n; i++) {
		char *word = r->map[r->rank] + wire_offset(&op[i]);
		int64_t old = perform((_Atomic(int64_t) *)(void *)word, &op[i]);

		if (!wire_has_result(wire_operation(&op[i])))
			continue;
		memcpy(m->bytes + m->used.length, &old, sizeof old);
		m->used.length += sizeof old;
	}
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
static void send_answer(struct rma_ucx *u, ucp_ep_h to)
{
	ucp_request_param_t params = ucx_message_params(0, on_sent, u->answer);
	ucs_status_ptr_t status;

	while (ucx_lacks_memory(
	    status = ucp_am_send_nbx(to, WIRE_ANSWER, NULL, 0, &u->answer->used, 1, &params)))
		lack_memory();
	if (UCS_PTR_IS_PTR(status))
		u->answer = NULL; /* UCX still reads it; on_sent() frees it */
}

ucs_status_t ucx_on_request(void *arg, const void *header, size_t header_length, void *data,
			    size_t length, const ucp_am_recv_param_t *param)
{
	const struct rma *r = arg;
	struct rma_ucx *u = ucx_of(r);
	struct wire_op op[WIRE_OPS_MOST];
	struct wire_window *window;
	struct wire_header h;
	int n;

	(void)header, (void)header_length;
	while (!u->answer && !(u->answer = malloc(sizeof *u->answer)))
		lack_memory();
	if (!(param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) ||
	    !ucx_take_message(u, WIRE_REQUEST, data, length, param, &h))
		return UCS_OK;
	n = wire_operations(&u->limits, data, length, op);
	window = &u->window[h.from];
	if (!window->highest && !window->seen)
		atomic_fetch_add(&u->callers, 1);
	if (n < 0 || !wire_is_new(window, h.number)) {
		atomic_fetch_add_explicit(&u->refused, 1, memory_order_relaxed);
		return UCS_OK;
	}
	u->performed++;
	perform_all(r, op, n, u->answer);
	h = (struct wire_header){.number = h.number,
				 .type = WIRE_ANSWER,
				 .index = h.index,
				 .from = u->rank,
				 .to = h.from};
	wire_seal(&u->key, &h, u->answer->bytes, u->answer->used.length);
	send_answer(u, param->reply_ep);
	return UCS_OK;
}

void ucx_perform_close(struct rma_ucx *u)
{
	free(u->answer);
}
