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

/* Perform operations on the segment at base, within its limits, and append their results to the
 * answer. */
static void perform_all(char *base, const struct wire_op *op, int ops, struct ucx_answer *m)
{
	m->used = (ucp_dt_iov_t){m->bytes, sizeof(struct wire_header)};
	for (int i = 0; i < ops; i++) {
		char *word = base + wire_offset(&op[i]);
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
	*base = u && h->segment >= 0 && h->segment < n->ranks ? u->rma->map[h->segment] : NULL;
	return *base ? u : NULL;
}

ucs_status_t ucx_on_request(void *arg, const void *header, size_t header_length, void *data,
			    size_t length, const ucp_am_recv_param_t *param)
{
	struct ucx_net *n = arg;
	struct wire_op op[WIRE_OPS_MOST];
	const struct rma_ucx *u;
	struct wire_window *window;
	struct wire_header h;
	char *base;
	int ops;

	(void)header, (void)header_length;
	while (!n->answer && !(n->answer = malloc(sizeof *n->answer)))
		lack_memory();
	if (!(param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) ||
	    !ucx_take_message(n, WIRE_REQUEST, data, length, param, &h))
		return UCS_OK;
	u = find_segment(n, &h, &base);
	ops = u ? wire_operations(&u->limits, data, length, op) : -1;
	window = &n->window[h.from];
	if (!window->highest && !window->seen)
		atomic_fetch_add(&n->callers, 1);
	if (ops < 0 || !wire_is_new(window, h.number)) {
		atomic_fetch_add_explicit(&n->refused, 1, memory_order_relaxed);
		return UCS_OK;
	}
	n->performed++;
	perform_all(base, op, ops, n->answer);
	h = (struct wire_header){.number = h.number,
				 .type = WIRE_ANSWER,
				 .index = h.index,
				 .from = n->rank,
				 .to = h.from,
				 .table = h.table,
				 .segment = h.segment};
	wire_seal(&n->key, &h, n->answer->bytes, n->answer->used.length);
	send_answer(n, param->reply_ep);
	if (ops > 0 && u != &n->own)
		ucx_wake_sleepers(u, h.segment);
	return UCS_OK;
}

void ucx_perform_close(struct ucx_net *n)
{
	free(n->answer);
}
