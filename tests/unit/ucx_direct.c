/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UCX's own operations (ucx/direct.c) over a replacement of UCX: it takes operands when an
 * operation is issued, and brings puts to their target at a flush of the endpoint, not before. So
 * a put that a client's flush does not cover is missing. Prints TAP.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rma/ucx/parts.h"
#include "tests/tap.h"

enum { RANKS = 3, WORDS = 512, MOST = 4096 };

static int64_t word[RANKS][WORDS];
static struct ucx_peer peer[RANKS], *peers[RANKS];
static struct ucx_net net = {.ranks = RANKS, .peer = peers};
static struct rma_ucx ucx = {.net = &net};
static struct rma rma = {.state = &ucx};
static struct rma_client client = {.rma = &rma};

/* Operations that are issued and not complete; a complete put waits for its flush. */
static struct pending {
	int rank;
	int64_t *where, value;
	bool put, completed;
	ucp_request_param_t params;
} pending[MOST];
static int n_pending, most_unanswered;
static bool has_failed[RANKS]; /* the endpoint: UCX refuses operations at once */

/* ------------------------------------------------------------------- UCX */

static int rank_of(ucp_ep_h ep)
{
	return (int)((uintptr_t)ep - 1);
}

static ucs_status_ptr_t add(ucp_ep_h ep, uint64_t to, int64_t value, bool put,
			    const ucp_request_param_t *params)
{
	if (has_failed[rank_of(ep)])
		return UCS_STATUS_PTR(UCS_ERR_CONNECTION_RESET);
	if (n_pending == MOST)
		return UCS_STATUS_PTR(UCS_ERR_NO_MEMORY);
	pending[n_pending] =
	    (struct pending){rank_of(ep), (int64_t *)(uintptr_t)to, value, put, false, *params};
	return &pending[n_pending++];
}

ucs_status_ptr_t ucp_put_nbx(ucp_ep_h ep, const void *from, size_t size, uint64_t to,
			     ucp_rkey_h rkey, const ucp_request_param_t *params)
{
	int64_t value;

	(void)rkey;
	memcpy(&value, from, size);
	return add(ep, to, value, true, params);
}

ucs_status_ptr_t ucp_get_nbx(ucp_ep_h ep, void *result, size_t size, uint64_t from, ucp_rkey_h rkey,
			     const ucp_request_param_t *params)
{
	(void)rkey;
	memcpy(result, (const void *)(uintptr_t)from, size);
	return add(ep, 0, 0, false, params);
}

ucs_status_ptr_t ucp_atomic_op_nbx(ucp_ep_h ep, ucp_atomic_op_t op, const void *operand, size_t n,
				   uint64_t to, ucp_rkey_h rkey, const ucp_request_param_t *params)
{
	int64_t *w = (int64_t *)(uintptr_t)to, *result = params->reply_buffer, old = *w;

	(void)rkey, (void)n, (void)op;
	*w += *(const int64_t *)operand;
	*result = old;
	return add(ep, 0, 0, false, params);
}

/* Perform every put that was issued on this endpoint. */
ucs_status_ptr_t ucp_ep_flush_nbx(ucp_ep_h ep, const ucp_request_param_t *params)
{
	for (int i = 0; i < n_pending; i++)
		if (pending[i].put && pending[i].rank == rank_of(ep)) {
			*pending[i].where = pending[i].value;
			pending[i].put = false;
		}
	return add(ep, 0, 0, false, params);
}

void ucp_request_free(void *request)
{
	(void)request;
}

/* ---------------------------------------------------- of the other sources */

struct ucx_peer *ucx_reach_slowly(struct rma_client *c, int rank)
{
	struct ucx_peer *p = ucx_net_of(c->rma)->peer[rank];

	if (p->state == UCX_UP)
		return p;
	c->loss = p->loss;
	c->failed = true;
	return NULL;
}

ucp_rkey_h ucx_key_of(struct rma_ucx *u, struct ucx_peer *p, uint64_t *base)
{
	(void)u;
	*base = (uint64_t)(uintptr_t)word[p->rank];
	return NULL;
}

int ucx_route_by_node(const struct ucx_net *n, int rank)
{
	(void)n;
	return rank;
}

/* As if nobody were known to have died. */
void ucx_ended(struct ucx_peer *p, ucs_status_t status)
{
	p->state = UCX_DEAD;
	snprintf(p->loss, sizeof p->loss, "rank %d: %d", p->rank, status);
}

void ucx_pause(struct rma_client *c)
{
	(void)c;
}

void ucx_pending_add(struct rma_client *c, struct ucx_peer *p, struct ucx_pending *f)
{
	f->client = c;
	f->peer = p;
	ucx_client(c)->unanswered++;
	if ((int)ucx_client(c)->unanswered > most_unanswered)
		most_unanswered = (int)ucx_client(c)->unanswered;
}

void ucx_pending_done(struct ucx_pending *f, bool ok)
{
	f->client->failed = f->client->failed || !ok;
	ucx_client(f->client)->unanswered--;
	f->client = NULL;
}

void ucx_complete(struct rma_client *c)
{
	for (int i = 0; i < n_pending; i++)
		if (!pending[i].completed) {
			pending[i].completed = true;
			pending[i].params.cb.send(&pending[i], UCS_OK, pending[i].params.user_data);
		}
	if (ucx_client(c)->unanswered)
		c->failed = true;
}

bool ucx_sends_at_once(const struct ucx_net *n, int rank)
{
	return n->peer[rank] != NULL;
}

void ucx_give_up(struct rma_client *c)
{
	c->failed = true;
}

bool ucx_answered(struct rma_client *c, const int64_t *result)
{
	(void)result;
	return !ucx_client(c)->unanswered;
}

void ucx_progress(struct rma_client *c)
{
	(void)c;
}

void ucx_sleep(struct rma_client *c, struct rma_word w, int64_t value, uint64_t ns)
{
	(void)c, (void)w, (void)value, (void)ns;
}

void ucx_close(struct rma *r)
{
	(void)r;
}

void ucx_leave(struct rma *r)
{
	(void)r;
}

/* ------------------------------------------------------------------ tests */

static void issue(int rank, int at, enum wire_operation code, int64_t value, int64_t *result)
{
	const struct rma_word w = {.rank = rank, .offset = (uint64_t)at * sizeof(int64_t)};

	if (code == WIRE_PUT)
		ucx_direct_transport.put(&client, w, value);
	else if (code == WIRE_GET)
		ucx_direct_transport.get(&client, w, result);
	else
		ucx_direct_transport.fao(&client, w, RMA_SUM, value, result);
}

static void flush(void)
{
	ucx_direct_transport.flush_all(&client);
}

static void start(void)
{
	memset(word, 0, sizeof word);
	n_pending = 0;
}

static bool arrived(int rank, int puts)
{
	for (int i = 0; i < puts; i++)
		if (word[rank][i] != i + 1)
			return false;
	return true;
}

/* Puts on rank 1, then another operation, and a flush. */
static void puts_then(int puts, int rank, enum wire_operation code, const char *what)
{
	char text[200];
	int64_t result = 0;

	start();
	for (int i = 0; i < puts; i++)
		issue(1, i, WIRE_PUT, i + 1, NULL);
	issue(rank, WORDS - 1, code, 1, code == WIRE_PUT ? NULL : &result);
	flush();
	snprintf(text, sizeof text, "%d puts, then %s: the flush covers them all", puts, what);
	ok(arrived(1, puts) && !client.failed && ucx_direct_client(&client)->put_to == UCX_NO_PUT &&
	       (code != WIRE_PUT || word[rank][WORDS - 1] == 1),
	   "%s", text);
}

static void many(void)
{
	static int64_t result[WORDS];
	bool bad = false;

	start();
	most_unanswered = 0;
	for (int i = 0; i < WORDS; i++)
		word[2][i] = i;
	for (int i = 0; i < WORDS; i++) {
		issue(1, i, WIRE_PUT, i + 1, NULL);
		issue(2, i, WIRE_GET, 0, &result[i]);
	}
	flush();
	for (int i = 0; i < WORDS; i++)
		bad = bad || result[i] != i;
	ok(!bad && arrived(1, WORDS) && !client.failed, "many puts and gets under one flush");
	ok(most_unanswered <= UCX_OPERANDS + RANKS, "of which few are on their way at a time");
}

/* The mutex is not even made here: whatever takes it is seen. */
static int locked;

int pthread_mutex_lock(pthread_mutex_t *m)
{
	(void)m;
	locked++;
	return 0;
}

int pthread_mutex_unlock(pthread_mutex_t *m)
{
	(void)m;
	return 0;
}

static void one_lock(void)
{
	int64_t result = 0;
	struct rma_word w = {.rank = 1};

	start();
	locked = 0;
	ucx_direct_transport.fao(&client, w, RMA_SUM, 1, &result);
	ucx_direct_transport.put(&client, w, 7);
	ok(locked == 0 && n_pending == 0, "operations belong to the client until its flush");
	ucx_direct_transport.flush(&client, 1);
	ok(locked == 1 && word[1][0] == 7 && result == 0 && !client.failed,
	   "which takes the mutex, once");
}

static void no_allocation(void)
{
	int64_t result = 0;
	size_t before;

	start();
	before = mallinfo2().uordblks;
	for (int i = 0; i < 10; i++) {
		for (int k = 0; k < 3 * UCX_OPERANDS; k++)
			issue(k % RANKS, k, WIRE_ADD, 1, &result);
		before = i == 0 ? mallinfo2().uordblks : before;
		/* Nothing is freed before the flush, so any allocation shows. */
		if (mallinfo2().uordblks != before)
			break;
		flush();
		n_pending = 0;
	}
	ok(mallinfo2().uordblks == before && net.n_pending == UCX_OPERANDS,
	   "no operation allocates");
}

/* On an endpoint that has failed: the client learns how, and others go on. */
static void refused(enum wire_operation code, const char *name)
{
	char cause[40];
	int64_t result = 0;

	start();
	snprintf(cause, sizeof cause, "rank 1: %d", UCS_ERR_CONNECTION_RESET);
	has_failed[1] = true;
	issue(1, 0, code, 1, &result);
	issue(1, 1, code, 1, &result);
	flush();
	ok(client.failed && client.loss && strcmp(client.loss, cause) == 0 && !peer[0].loss[0],
	   "a %s that UCX refuses at once fails, with a cause", name);
	has_failed[1] = client.failed = false;
	client.loss = NULL;
	issue(2, 0, WIRE_PUT, 1, NULL);
	flush();
	ok(!client.failed && arrived(2, 1), "and one on another rank does not");
	peer[1].state = UCX_UP;
}

int main(void)
{
	for (int i = 0; i < RANKS; i++) {
		peer[i] = (struct ucx_peer){
		    .ep = (ucp_ep_h)(uintptr_t)(i + 1), .state = UCX_UP, .rank = i, .net = &net};
		peers[i] = &peer[i];
	}
	if (!ucx_direct_open(&net))
		return EXIT_FAILURE;
	puts_then(1, 1, WIRE_PUT, "a put there");
	puts_then(63, 2, WIRE_PUT, "a put elsewhere");
	puts_then(64, 1, WIRE_PUT, "a put there");
	puts_then(64, 2, WIRE_PUT, "a put elsewhere");
	puts_then(64, 1, WIRE_ADD, "an atomic there");
	puts_then(64, 2, WIRE_ADD, "an atomic elsewhere");
	puts_then(200, 0, WIRE_GET, "a get elsewhere");
	many();
	one_lock();
	no_allocation();
	refused(WIRE_PUT, "put");
	refused(WIRE_GET, "get");
	refused(WIRE_ADD, "fetch-and-add");
	ucx_direct_close(&net);
	return tap_plan();
}
