/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations as Pawl's own messages (UCX active messages), for jobs in which no device performs
 * atomics. The operations that a client issues on one rank until its flush make one message. The
 * thread of that rank performs them in this order by CPU and answers with one message
 * (ucx/perform.c).
 *
 * UCX's own operations would take a message each. Besides, UCX 1.13 ends a process whose answer to
 * such an operation meets a connection that the kernel has just reset because the origin was
 * killed. If a message of ours cannot be sent, UCX returns an error.
 */
#include <stdlib.h>
#include <string.h>

#include "rma/ucx/parts.h"

enum { BATCHES = 8 /* at the start, so that few are allocated later */ };

/* ------------------------------------------------------------------ batches */

static bool add_batch(struct ucx_net *n)
{
	struct ucx_batch *b = calloc(1, sizeof *b), **all;

	all = b ? realloc(n->batch, (n->batches + 1) * sizeof(struct ucx_batch *)) : NULL;
	if (!all) {
		free(b);
		return false;
	}
	n->batch = all;
	b->index = n->batches;
	b->pending.is_batch = true;
	n->batch[n->batches++] = b;
	b->next = n->spare;
	n->spare = b;
	return true;
}

bool ucx_messages_open(struct ucx_net *n)
{
	bool ok = true;

	for (int i = 0; i < BATCHES; i++)
		ok = ok && add_batch(n);
	return ok;
}

void ucx_messages_close(struct ucx_net *n)
{
	for (uint32_t i = 0; i < n->batches; i++) {
		free(n->batch[i]->task);
		free(n->batch[i]);
	}
	free(n->batch);
}

static void spare(struct ucx_net *n, struct ucx_batch *b)
{
	if (b->sending || b->pending.client)
		return;
	b->table = NULL;
	b->next = n->spare;
	n->spare = b;
}

/* A spare batch for a client of the table. */
static struct ucx_batch *take(struct ucx_net *n, const struct rma_ucx *u)
{
	struct ucx_batch *b = n->spare;

	n->spare = b->next;
	b->table = u;
	return b;
}

void ucx_messages_forget(const struct rma_ucx *u)
{
	struct ucx_net *n = u->net;

	for (uint32_t i = 0; i < n->batches; i++)
		if (n->batch[i]->table == u) {
			ucx_pending_done(&n->batch[i]->pending, false);
			spare(n, n->batch[i]);
		}
}

static void begin_batch(struct rma_client *c, struct ucx_batch *b, int rank)
{
	b->type = WIRE_REQUEST;
	b->rank = rank;
	b->results = 0;
	b->used = (ucp_dt_iov_t){b->bytes, sizeof(struct wire_header)};
	b->next = ucx_client(c)->open;
	ucx_client(c)->open = b;
}

/* ------------------------------------------------------------------ sending */

static void on_sent(void *request, ucs_status_t status, void *arg)
{
	struct ucx_batch *b = arg;

	b->sending = false;
	if (status != UCS_OK)
		ucx_pending_done(&b->pending, false);
	spare(b->peer->net, b);
	ucp_request_free(request);
}

/* Under the mutex. */
static void send_batch(struct rma_client *c, struct ucx_batch *b)
{
	struct ucx_net *n = ucx_net_of(c->rma);
	ucp_request_param_t params = ucx_message_params(UCP_AM_SEND_FLAG_REPLY, on_sent, b);
	struct wire_header h = {.type = b->type,
				.index = b->index,
				.from = n->rank,
				.table = ucx_of(c->rma)->number,
				.segment = b->rank};
	ucs_status_ptr_t status;

	b->peer = ucx_reach(c, b->rank);
	if (!b->peer) {
		spare(n, b);
		return;
	}
	h.to = b->peer->rank;
	h.number = b->number = ++b->peer->sent;
	wire_seal(&n->key, &h, b->used.buffer, b->used.length);
	b->sending = true;
	ucx_pending_add(c, b->peer, &b->pending);
	while (ucx_lacks_memory(
		   status = ucp_am_send_nbx(b->peer->ep, b->type, NULL, 0, &b->used, 1, &params)) &&
	       b->pending.client) /* else it has failed meanwhile */
		ucx_pause(c);
	b->sending = UCS_PTR_IS_PTR(status);
	if (UCS_PTR_IS_ERR(status)) {
		ucx_pending_done(&b->pending, false);
		spare(n, b);
	}
}

/* Under the mutex. */
void ucx_messages_push(struct rma_client *c)
{
	struct ucx_batch *b = ucx_client(c)->open, *next;

	ucx_client(c)->open = NULL;
	for (; b; b = next) {
		next = b->next;
		send_batch(c, b);
	}
}

/* Both limits: operations differ in size, and some have no result. */
static bool is_full(const struct ucx_batch *b)
{
	return b->used.length + WIRE_OP_BYTES > sizeof b->bytes || b->results == WIRE_OPERANDS;
}

static struct ucx_batch *find_batch(struct rma_client *c, int rank)
{
	struct ucx_batch *b = ucx_client(c)->open;

	while (b && b->rank != rank)
		b = b->next;
	return b;
}

/* A new batch. If the client's batch for the rank is full, or there is no memory for another one,
 * send all its batches first. Under the mutex. NULL: no memory for the notifier, which does not
 * wait. */
static struct ucx_batch *open_batch(struct rma_client *c, int rank)
{
	struct ucx_net *n = ucx_net_of(c->rma);
	struct ucx_batch *b;

	if (find_batch(c, rank))
		ucx_messages_push(c);
	while (!n->spare && !add_batch(n)) {
		if (c == &n->notifier)
			return NULL;
		ucx_messages_push(c);
		ucx_complete(c);
		if (!n->spare)
			ucx_pause(c); /* for batches of other clients */
	}
	b = take(n, ucx_of(c->rma));
	begin_batch(c, b, rank);
	return b;
}

static void append(struct rma_client *c, struct ucx_batch *b, uint64_t offset,
		   const struct ucx_op *op)
{
	struct wire_op w = {offset << WIRE_OPERATION_BITS | op->code, op->value, op->expected};
	size_t bytes = wire_op_bytes(op->code);

	if (op->result)
		*op->result = 0;
	if (!b) {
		c->failed = true;
		return;
	}
	memcpy(b->bytes + b->used.length, &w, bytes);
	b->used.length += bytes;
	if (op->result)
		b->result[b->results++] = op->result;
}

void ucx_messages_issue(struct rma_client *c, int rank, uint64_t offset, const struct ucx_op *op)
{
	struct ucx_batch *b = find_batch(c, rank);

	append(c, b && !is_full(b) ? b : open_batch(c, rank), offset, op);
}

/* A client owns its batches until they are sent, and has kept a spare one since its last flush. So
 * only a second batch needs the mutex. */
static void issue(struct rma_client *c, struct rma_word w, const struct ucx_op *op)
{
	struct ucx_net *n = ucx_net_of(c->rma);
	struct ucx_batch *b = find_batch(c, w.rank);

	if (!b && ucx_client(c)->ready) {
		b = ucx_client(c)->ready;
		ucx_client(c)->ready = NULL;
		begin_batch(c, b, w.rank);
	}
	if (b && !is_full(b)) {
		append(c, b, w.offset, op);
		return;
	}
	pthread_mutex_lock(&n->mutex);
	ucx_messages_issue(c, w.rank, w.offset, op);
	pthread_mutex_unlock(&n->mutex);
}

/* ------------------------------------------------------------------ answers */

/* With a rendezvous, which Pawl never uses, data is not the message but a descriptor of UCX. */
bool ucx_take_message(struct ucx_net *n, enum wire_type type, const void *data, size_t length,
		      const ucp_am_recv_param_t *param, struct wire_header *h)
{
	const struct wire_expected e = {type, n->rank, n->ranks};

	if (!(param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) &&
	    wire_open(&n->key, &e, data, length, h))
		return true;
	atomic_fetch_add_explicit(&n->refused, 1, memory_order_relaxed);
	return false;
}

ucs_status_t ucx_on_answer(void *arg, const void *header, size_t header_length, void *data,
			   size_t length, const ucp_am_recv_param_t *param)
{
	struct ucx_net *n = arg;
	const char *bytes = (const char *)data + sizeof(struct wire_header);
	struct wire_header h;
	struct ucx_batch *b;
	size_t words;

	(void)header, (void)header_length;
	if (!ucx_take_message(n, WIRE_ANSWER, data, length, param, &h))
		return UCS_OK;
	if (h.index == (uint32_t)UCX_GREETING)
		ucx_is_greeted(n, &h, bytes, length - sizeof h);
	b = h.index < n->batches ? n->batch[h.index] : NULL;
	words = b && b->type == WIRE_TASK ? b->task_words : b ? (size_t)b->results : 0;
	if (!b || b->peer->rank != h.from || b->number != h.number || !b->pending.client ||
	    length != sizeof h + words * sizeof(int64_t))
		return UCS_OK; /* it has failed meanwhile, or been answered */
	if (b->type == WIRE_TASK)
		memcpy(b->task_result, bytes, words * sizeof(int64_t));
	for (int i = 0; i < b->results; i++)
		memcpy(b->result[i], bytes + (size_t)i * sizeof(int64_t), sizeof(int64_t));
	ucx_pending_done(&b->pending, true);
	spare(n, b);
	return UCS_OK;
}

void ucx_messages_lost(struct ucx_net *n, struct ucx_pending *f)
{
	spare(n, (struct ucx_batch *)(void *)f);
}

/* ---------------------------------------------------------------------- tasks */

static void messages_task(struct rma_client *c, int rank, const struct rma_task *task)
{
	struct ucx_net *n = ucx_net_of(c->rma);
	struct ucx_batch *b;

	pthread_mutex_lock(&n->mutex);
	b = open_batch(c, rank);
	while (!b->task && !(b->task = malloc(WIRE_TASK_BYTES)))
		ucx_pause(c);
	memcpy(b->task + sizeof(struct wire_header), task->bytes, task->length);
	b->used = (ucp_dt_iov_t){b->task, sizeof(struct wire_header) + task->length};
	b->type = WIRE_TASK;
	b->task_result = task->result;
	b->task_words = task->words;
	ucx_messages_push(c);
	ucx_step(n); /* answers to others may have come */
	pthread_mutex_unlock(&n->mutex);
}

static bool messages_answers(struct rma_client *c)
{
	struct ucx_net *n = ucx_net_of(c->rma);

	pthread_mutex_lock(&n->mutex);
	ucx_complete(c);
	pthread_mutex_unlock(&n->mutex);
	return !c->failed;
}

/* ------------------------------------------------------------- the transport */

/* Whether this process performs operations on the word by CPU. */
static bool is_near(const struct rma_client *c, struct rma_word w)
{
	return w.map && ucx_of(c->rma)->by_cpu;
}

static void messages_fao(struct rma_client *c, struct rma_word w, enum rma_op op, int64_t value,
			 int64_t *result)
{
	if (!is_near(c, w)) {
		issue(c, w,
		      &(struct ucx_op){.code = ucx_fetching(op), .value = value, .result = result});
		return;
	}
	*result = rma_fetch_by_cpu(w.map, op, value);
}

static void messages_cas(struct rma_client *c, struct rma_word w, int64_t expected, int64_t value,
			 int64_t *result)
{
	if (is_near(c, w)) {
		*result = expected;
		atomic_compare_exchange_strong(w.map, result, value);
		return;
	}
	issue(c, w, &(struct ucx_op){WIRE_CAS, value, expected, result});
}

static void messages_acc(struct rma_client *c, struct rma_word w, int64_t value)
{
	if (is_near(c, w)) {
		atomic_fetch_add(w.map, value);
		rma_wake(c, w);
		return;
	}
	issue(c, w, &(struct ucx_op){.code = WIRE_ACC, .value = value});
}

static void messages_put(struct rma_client *c, struct rma_word w, int64_t value)
{
	if (is_near(c, w)) {
		atomic_store(w.map, value);
		rma_wake(c, w);
		return;
	}
	issue(c, w, &(struct ucx_op){.code = WIRE_PUT, .value = value});
}

static void messages_get(struct rma_client *c, struct rma_word w, int64_t *result)
{
	if (is_near(c, w))
		*result = atomic_load(w.map);
	else
		issue(c, w, &(struct ucx_op){.code = WIRE_GET, .result = result});
}

/* The next operation takes this batch and so needs no mutex. */
static void keep_one_ready(struct rma_client *c)
{
	struct ucx_net *n = ucx_net_of(c->rma);

	if (!ucx_client(c)->ready && n->spare)
		ucx_client(c)->ready = take(n, ucx_of(c->rma));
}

static void messages_flush_all(struct rma_client *c)
{
	struct ucx_net *n = ucx_net_of(c->rma);

	pthread_mutex_lock(&n->mutex);
	ucx_messages_push(c);
	ucx_complete(c);
	keep_one_ready(c);
	pthread_mutex_unlock(&n->mutex);
	if (c->failed)
		ucx_give_up(c);
}

static void messages_flush(struct rma_client *c, int rank)
{
	/* Operations on near words are complete on return. */
	if (!c->rma->map[rank] || !ucx_of(c->rma)->by_cpu)
		messages_flush_all(c);
}

static bool messages_post(struct rma_client *c, struct rma_word w)
{
	struct ucx_net *n = ucx_net_of(c->rma);
	bool ok;

	if (is_near(c, w))
		return false;
	pthread_mutex_lock(&n->mutex);
	ok = ucx_sends_at_once(n, w.rank);
	if (ok)
		ucx_messages_push(c);
	keep_one_ready(c);
	ok = ok && !c->failed;
	pthread_mutex_unlock(&n->mutex);
	return ok;
}

/* The operations of a message are performed in their order, but messages may overtake each
 * other. */
const struct rma_transport ucx_messages_transport = {
    .name = "ucx",
    .can = {.can_fail = true, .is_served = true, .wakes = true, .posts = true, .ordered = true},
    .put = messages_put,
    .get = messages_get,
    .acc = messages_acc,
    .fao = messages_fao,
    .cas = messages_cas,
    .flush = messages_flush,
    .flush_all = messages_flush_all,
    .post = messages_post,
    .answered = ucx_answered,
    .progress = ucx_progress,
    .sleep = ucx_sleep,
    .task = messages_task,
    .answers = messages_answers,
    .serve = ucx_serve_tasks,
    .close = ucx_close,
    .leave = ucx_leave,
};
