/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The other end of rma_ucx_messages.c: perform what a message asks for, by CPU instructions on
 * this rank's segment, and answer. All of it is the thread's (rma_ucx_serve.c).
 */
#include <stdlib.h>
#include <string.h>

#include "rma/rma_ucx_parts.h"

struct ucx_mail {
	ucp_dt_iov_t used; /* of bytes */
	char bytes[sizeof(struct ucx_header) + RMA_OPERANDS * sizeof(int64_t)];
};

static int64_t perform(_Atomic(int64_t) *word, const struct ucx_wire_op *op, unsigned kind)
{
	int64_t old = op->expected;

	switch ((enum ucx_kind)kind) {
	case UCX_PUT:
		atomic_store(word, op->value);
		break;
	case UCX_GET:
		return atomic_load(word);
	case UCX_ACC:
	case UCX_ADD:
		return atomic_fetch_add(word, op->value);
	case UCX_SWAP:
		return atomic_exchange(word, op->value);
	case UCX_CAS:
		atomic_compare_exchange_strong(word, &old, op->value);
		break;
	}
	return old;
}

/* Where the word is; NULL: there is none. */
static _Atomic(int64_t) *word_at(const struct rma *r, uint64_t offset)
{
	if (offset % sizeof(int64_t) || offset > r->ucx->tail + sizeof(struct ucx_tail) - 8)
		return NULL;
	return (_Atomic(int64_t) *)(void *)(r->map[r->rank] + offset);
}

static bool perform_all(const struct rma *r, const char *bytes, size_t length, struct ucx_mail *m)
{
	memcpy(m->bytes, bytes, sizeof(struct ucx_header));
	m->used = (ucp_dt_iov_t){m->bytes, sizeof(struct ucx_header)};
	for (size_t at = sizeof(struct ucx_header); at < length;) {
		struct ucx_wire_op op = {.expected = 0};
		_Atomic(int64_t) *word;
		unsigned kind;
		int64_t old;

		if (length - at < UCX_OP_LEAST)
			return false;
		memcpy(&op, bytes + at, UCX_OP_LEAST);
		kind = op.where & UCX_KIND_MASK;
		word = word_at(r, op.where >> UCX_KIND_BITS);
		if (!word || kind > UCX_CAS || length - at < ucx_op_bytes(kind))
			return false;
		memcpy(&op, bytes + at, ucx_op_bytes(kind));
		at += ucx_op_bytes(kind);
		old = perform(word, &op, kind);
		if (!ucx_has_result(kind) || m->used.length + sizeof old > sizeof m->bytes)
			continue;
		memcpy(m->bytes + m->used.length, &old, sizeof old);
		m->used.length += sizeof old;
	}
	return true;
}

/* ------------------------------------------------------------------ answers */

static void on_sent(void *request, ucs_status_t status, void *arg)
{
	(void)status;
	free(arg);
	ucp_request_free(request);
}

/* Who asked may be dead: then nobody needs the answer. */
static void send_mail(struct rma_ucx *u, ucp_ep_h to)
{
	ucp_request_param_t params = ucx_message_params(0, on_sent, u->mail);
	ucs_status_ptr_t status =
	    ucp_am_send_nbx(to, UCX_ANSWER, NULL, 0, &u->mail->used, 1, &params);

	if (UCS_PTR_IS_PTR(status))
		u->mail = NULL; /* UCX reads it yet; on_sent() frees it */
}

ucs_status_t ucx_on_request(void *arg, const void *header, size_t header_length, void *data,
			    size_t length, const ucp_am_recv_param_t *param)
{
	const struct rma *r = arg;
	struct rma_ucx *u = r->ucx;

	(void)header, (void)header_length;
	if (!u->mail)
		u->mail = malloc(sizeof *u->mail);
	if (u->mail && length >= sizeof(struct ucx_header) &&
	    (param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) &&
	    perform_all(r, data, length, u->mail))
		send_mail(u, param->reply_ep);
	return UCS_OK;
}

void ucx_perform_close(struct rma_ucx *u)
{
	free(u->mail);
}
