/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NET words through UCX (UCP). doc/ucx.md has the figures.
 *
 * Segments are those of rma_mpi.c, in memory that the ranks of a node share, and open to
 * other nodes by ucp_mem_map. A process has two workers for each table: through one the others
 * operate on its segment, driven by a thread that sleeps until something comes
 * (rma_ucx_serve.c); through the other it operates on theirs, driven by the clients that wait for
 * their operations. So no answer wakes the thread, and no request wakes a client.
 *
 * Atomicity. Where no device performs atomics, UCX has the target perform them by CPU
 * instructions, and is told to do so: then a NET word that is mapped here is changed by
 * CPU atomics, too, and only other nodes are reached through UCX. Where there may be such
 * devices, and for kinds that take the network's path always, every NET word goes through UCX.
 *
 * A store through UCX is a swap, unless a device may perform it: its answer is the completion,
 * and put and flush would take two round trips. All operations of a client that were
 * issued since its last flush travel together; a flush awaits their answers.
 *
 * Failures. Endpoints are in peer-error mode. An operation on a rank that died fails, and the
 * protocol is left where it stands, for core/lock.c, at the flush. So is one that waits for
 * longer than a second, if it is known that some rank of the table died: the one it waits
 * for, or one ahead of that. Who learns of a death tells all ranks.
 */
#include <poll.h>
#include <stdlib.h>

#include "rma/rma_ucx_parts.h"

enum {
	POLL_MS = 10,             /* a client looks that often, whatever wakes it */
	LOOKS_PER_YIELD = 4,      /* at its answers */
	MOURNING_NS = 1000000000, /* the longest wait after a death */
};

static struct rma_ucx *ucx_of(const struct rma_client *c)
{
	return c->rma->ucx;
}

/* Whether this process performs operations on the word by itself. */
static bool is_near(const struct rma_client *c, struct rma_word w)
{
	return w.map && ucx_of(c)->by_cpu;
}

/* ------------------------------------------------------------------ failures */

static void give_up(struct rma_client *c)
{
	c->failed = false;
	if (c->escape)
		longjmp(*c->escape, 1);
}

/* ---------------------------------------------------------------- completion */

static void on_done(void *request, ucs_status_t status, void *arg)
{
	struct ucx_flight *f = arg;

	if (f->client) {
		f->client->failed = f->client->failed || status != UCS_OK;
		f->client->flying--;
		f->peer->stands = f->peer->stands || status == UCS_OK;
		*f->at = f->next;
		if (f->next)
			f->next->at = f->at;
	}
	free(f);
	ucp_request_free(request);
}

/* What UCX said to an operation on p that was just issued. */
static void issued(struct rma_client *c, struct ucx_peer *p, struct ucx_flight *f,
		   ucs_status_ptr_t status)
{
	if (!UCS_PTR_IS_PTR(status)) {
		c->failed = c->failed || UCS_PTR_IS_ERR(status);
		free(f);
		return;
	}
	c->flying++;
	f->client = c;
	f->peer = p;
	f->at = &p->flights;
	f->next = p->flights;
	if (f->next)
		f->next->at = &f->next;
	p->flights = f;
}

/* Under the mutex, as all that follows. */
static bool step(struct rma_ucx *u)
{
	bool some = ucp_worker_progress(u->asking) > 0;

	if (u->unburied) {
		ucx_bury(u);
		ucp_worker_signal(u->serving); /* the thread tells the others */
	} else if (!some) {
		return false;
	}
	if (u->blocked)
		ucp_worker_signal(u->asking); /* what came may be theirs */
	return true;
}

static void sleep_until_event(struct rma_ucx *u)
{
	struct pollfd fd = {.fd = u->asking_fd, .events = POLLIN};

	if (ucp_worker_arm(u->asking) != UCS_OK)
		return;
	u->blocked++;
	pthread_mutex_unlock(&u->mutex);
	poll(&fd, 1, POLL_MS);
	pthread_mutex_lock(&u->mutex);
	u->blocked--;
}

/* Until all operations of c have been answered. */
static void complete(struct rma_client *c)
{
	struct rma_ucx *u = ucx_of(c);
	const struct rma_waiting *how = &c->rma->waiting;
	uint64_t start = c->flying ? rma_now_ns() : 0, until = 0, now;

	for (unsigned look = 1; c->flying; look++) {
		if (step(u))
			continue;
		now = rma_now_ns();
		if (how->park && now - start > how->spin_ns[RMA_SOON])
			u->crowded_until = now + UCX_VAIN_NS; /* looking on was in vain */
		if (how->park && now < u->crowded_until) {
			sleep_until_event(u);
			continue;
		}
		pthread_mutex_unlock(&u->mutex);
		if (how->crowded || look % LOOKS_PER_YIELD == 0)
			ucx_yield(&until);
		pthread_mutex_lock(&u->mutex);
		if (until > u->crowded_until)
			u->crowded_until = until;
	}
	c->operands = 0;
	c->target = RMA_NO_TARGET;
}

/* ---------------------------------------------------------------- operations */

/* Keep the operand where UCX may read it until the operation is complete. */
static int64_t *keep(struct rma_client *c, int64_t value)
{
	int64_t *place;

	if (c->operands == RMA_OPERANDS)
		complete(c);
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
	struct ucx_peer *p = ucx_peer(ucx_of(c), rank);

	*f = p ? calloc(1, sizeof **f) : NULL;
	if (*f)
		return p;
	c->failed = true;
	return NULL;
}

static void start_atomic(struct rma_client *c, int rank, uint64_t offset, ucp_atomic_op_t op,
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

static void far_atomic(struct rma_client *c, struct rma_word w, ucp_atomic_op_t op, int64_t operand,
		       int64_t *result)
{
	pthread_mutex_lock(&ucx_of(c)->mutex);
	start_atomic(c, w.rank, w.offset, op, operand, result);
	pthread_mutex_unlock(&ucx_of(c)->mutex);
}

static void ucx_fao(struct rma_client *c, struct rma_word w, enum rma_op op, int64_t value,
		    int64_t *result)
{
	if (!is_near(c, w))
		far_atomic(c, w, op == RMA_REPLACE ? UCP_ATOMIC_OP_SWAP : UCP_ATOMIC_OP_ADD, value,
			   result);
	else if (op == RMA_REPLACE)
		*result = atomic_exchange(w.map, value);
	else
		*result = atomic_fetch_add(w.map, value);
}

static void ucx_cas(struct rma_client *c, struct rma_word w, int64_t expected, int64_t value,
		    int64_t *result)
{
	if (is_near(c, w)) {
		*result = expected;
		atomic_compare_exchange_strong(w.map, result, value);
		return;
	}
	*result = value; /* where UCX takes it from */
	far_atomic(c, w, UCP_ATOMIC_OP_CSWAP, expected, result);
}

static void ucx_acc(struct rma_client *c, struct rma_word w, int64_t value)
{
	if (is_near(c, w)) {
		atomic_fetch_add(w.map, value);
		rma_wake(c, w);
		return;
	}
	far_atomic(c, w, UCP_ATOMIC_OP_ADD, value, &c->ignored[0]);
}

static void put_by_device(struct rma_client *c, struct rma_word w, int64_t value)
{
	struct rma_ucx *u = ucx_of(c);
	ucp_request_param_t params;
	struct ucx_flight *f;
	struct ucx_peer *p;
	int64_t *place;

	pthread_mutex_lock(&u->mutex);
	p = begin(c, w.rank, &f);
	if (p) {
		place = keep(c, value);
		params = params_for(f);
		c->target =
		    c->target == RMA_NO_TARGET || c->target == w.rank ? w.rank : RMA_MANY_TARGETS;
		issued(
		    c, p, f,
		    ucp_put_nbx(p->ep, place, sizeof *place, p->base + w.offset, p->rkey, &params));
	}
	pthread_mutex_unlock(&u->mutex);
}

static void ucx_put(struct rma_client *c, struct rma_word w, int64_t value)
{
	if (is_near(c, w)) {
		atomic_store(w.map, value);
		rma_wake(c, w);
	} else if (ucx_of(c)->swaps) {
		far_atomic(c, w, UCP_ATOMIC_OP_SWAP, value, &c->ignored[0]);
	} else {
		put_by_device(c, w, value);
	}
}

static void ucx_get(struct rma_client *c, struct rma_word w, int64_t *result)
{
	struct rma_ucx *u = ucx_of(c);
	ucp_request_param_t params;
	struct ucx_flight *f;
	struct ucx_peer *p;

	if (is_near(c, w)) {
		*result = atomic_load(w.map);
		return;
	}
	*result = 0;
	pthread_mutex_lock(&u->mutex);
	p = begin(c, w.rank, &f);
	if (p) {
		params = params_for(f);
		issued(c, p, f,
		       ucp_get_nbx(p->ep, result, sizeof *result, p->base + w.offset, p->rkey,
				   &params));
	}
	pthread_mutex_unlock(&u->mutex);
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
static void flush_puts(struct rma_client *c)
{
	struct rma_ucx *u = ucx_of(c);

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

static void ucx_flush_all(struct rma_client *c)
{
	struct rma_ucx *u = ucx_of(c);

	pthread_mutex_lock(&u->mutex);
	flush_puts(c);
	complete(c);
	pthread_mutex_unlock(&u->mutex);
	if (c->failed)
		give_up(c);
}

static void ucx_flush(struct rma_client *c, int rank)
{
	/* Operations on near words are complete at once. */
	if (!c->rma->map[rank] || !ucx_of(c)->by_cpu)
		ucx_flush_all(c);
}

/* -------------------------------------------------------------------- posting */

/* A message is sent when it is issued, unless the connection does not stand yet, or the socket is
 * full: far more than this must be on its way for that. */
enum { POSTED_MOST = 32 };

static bool ucx_post(struct rma_client *c, struct rma_word w)
{
	struct rma_ucx *u = ucx_of(c);
	const struct ucx_flight *f = NULL;
	const struct ucx_peer *p;
	int n = 0;

	if (is_near(c, w))
		return false;
	pthread_mutex_lock(&u->mutex);
	p = u->peer[w.rank];
	if (p && p->stands && !c->failed)
		f = p->flights;
	for (; f && n < POSTED_MOST; f = f->next)
		n++;
	pthread_mutex_unlock(&u->mutex);
	return n > 0 && n < POSTED_MOST;
}

static bool ucx_answered(struct rma_client *c, const int64_t *result)
{
	struct rma_ucx *u = ucx_of(c);

	(void)result;
	if (c->flying && pthread_mutex_trylock(&u->mutex) == 0) {
		step(u);
		pthread_mutex_unlock(&u->mutex);
	}
	return !c->flying;
}

/* ------------------------------------------------------------------- waiting */

/* Let all ranks know that one died: those who wait for it may not be connected to it. */
static void tell(struct rma *r)
{
	static int64_t ignored;
	struct rma_ucx *u = r->ucx;

	u->told = true;
	for (int i = 0; i < u->ranks; i++) {
		if (r->map[i])
			atomic_store(&ucx_tail_of(r, i)->deaths, 1);
		else
			start_atomic(&u->teller, i, u->tail + offsetof(struct ucx_tail, deaths),
				     UCP_ATOMIC_OP_ADD, 1, &ignored);
	}
}

void ucx_mourn(struct rma *r)
{
	struct rma_ucx *u = r->ucx;

	pthread_mutex_lock(&u->mutex);
	if (!u->told)
		tell(r);
	step(u);
	pthread_mutex_unlock(&u->mutex);
}

/* Whether c has waited for too long to hope that somebody alive will end it. */
static bool is_hopeless(struct rma_client *c)
{
	uint64_t now = rma_now_ns();

	if (c->rma->outlives || !atomic_load(&ucx_tail_of(c->rma, c->rma->rank)->deaths))
		return false;
	if (!c->mourning_ns || c->mourning_wait != c->waits) {
		c->mourning_ns = now;
		c->mourning_wait = c->waits;
	}
	return now - c->mourning_ns > MOURNING_NS;
}

static void ucx_progress(struct rma_client *c)
{
	struct rma_ucx *u = ucx_of(c);

	u->progress(c);
	/* A death shows when somebody looks. */
	if (pthread_mutex_trylock(&u->mutex) == 0) {
		step(u);
		pthread_mutex_unlock(&u->mutex);
	}
	if (c->escape && is_hopeless(c))
		give_up(c);
}

const struct rma_transport ucx_transport = {
    .name = "ucx",
    .put = ucx_put,
    .get = ucx_get,
    .acc = ucx_acc,
    .fao = ucx_fao,
    .cas = ucx_cas,
    .flush = ucx_flush,
    .flush_all = ucx_flush_all,
    .post = ucx_post,
    .answered = ucx_answered,
    .progress = ucx_progress,
    .sleep = ucx_sleep,
};
