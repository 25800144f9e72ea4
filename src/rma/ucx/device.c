/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations of a device that performs only some atomics: 64-bit fetch-and-add and
 * compare-and-swap, as InfiniBand has them from the beginning (soft-RoCE, rc_verbs without extended
 * atomics). UCP uses all atomics of a device or none: without swap, and, or, the CPU of the target
 * performs all of them, and a lock waits for the process of its home. Here they are those of UCT,
 * one level below UCP. few.c makes the other operations of compare-and-swap.
 *
 * (D) One domain. Put, get, addition and compare-and-swap are posted to a queue pair of the device,
 *     for every NET word, also by the ranks of its node and its owner. Messages (ucx/messages.c)
 *     still connect ranks and tell of deaths; they may change the flag of deaths only, which no
 *     device changes. So device and software never change the same word.
 *
 * (C) Completion. An atomic and a get are complete when their value is here. A put is complete when
 *     the queue pair has completed all that was posted to it before the flush of its endpoint: the
 *     target's device has acknowledged it then, after which it performs no other operation on the
 *     word without having seen it.
 *
 * (O) Order. A reliable connection performs writes in their order; a write may overtake atomics and
 *     reads before it unless it carries a fence. Nothing relies on order here: the transport is not
 *     `ordered`, and flushes order.
 *
 * (V) Visibility. A rank loads NET words of its node (peek, await). The device writes 8 aligned
 *     bytes at once into memory that caches keep coherent. Segments are shared mappings: a fork
 *     does not give the process other pages than the device has.
 *
 * (M) Mixed accesses. A device makes its atomics exclude each other, but not puts: a put between
 *     the read and the write of an atomic is lost. Protocols may not put to a word that others
 *     change by atomics at that time; the adversary tears atomics to check it (sim/effect.c).
 *
 * (T) Waiting. No event tells the owner that a device has changed its word, and nobody wakes a
 *     client that sleeps on it (`wakes` is false; wait.c has what the nap costs).
 *
 * (F) Failure. A queue pair fails if the other end is gone, if the network does not deliver for
 *     longer than its retries (UCX_RC_TIMEOUT, UCX_RC_RETRY_COUNT), or by an error of the device.
 *     Then all of its operations fail, performed or not, and their clients leave (client/guard.c).
 *     The connection is not made again. The error names the device and the cause. A process that is
 *     stopped does not answer messages, but its device does, so it is not dead.
 *
 * Lifetimes. The device, its connections and the addresses of all devices belong to the net: they
 * serve all tables of the communicator. The registration of a segment, and the keys of those of
 * other ranks, belong to the table. An operation goes to the rank whose segment it names, never
 * through another one (ucx/route.c): the device of another rank has no key for it.
 *
 * Connections are made when the rank is first used, by the greeting of ucx/connect.c: it and its
 * answer carry the addresses of both ends. The rank is up when the device has then read a page of
 * it that is there for this; a device that is not reached is found before any word has changed.
 *
 * Why UCT and not libibverbs: its GIDs, LIDs, ports, service levels, timeouts and the choice of
 * devices are those that UCX's variables say, for this transport as for UCP and the MPI; a second
 * reading of them could differ. UCT's interface is not promised to last, and libibverbs' is; what
 * is used here is the same from UCX 1.13 to 1.18, and configure compiles it. Without it the
 * transport is built as if no device had atomics of its own.
 */
#include "rma/ucx/device.h"

#include "rma/ucx/device_parts.h"

struct device_client {
	struct ucx_client client;
	int put_to; /* 1 + the target of puts that are not flushed, if all have the same */
};
_Static_assert(sizeof(struct device_client) <= RMA_FEW_BELOW, "it fits into a client");

enum { PUT_NONE = 0, PUT_MANY = -1 };

static struct device_client *own_of(struct rma_client *c)
{
	return rma_own(c);
}

/* ------------------------------------------------------------------- completion */

bool ucx_device_progress(struct ucx_device *d)
{
	return uct_worker_progress(d->worker) > 0;
}

bool ucx_device_arm(struct ucx_device *d, int *fd)
{
	*fd = d->fd;
	return uct_iface_event_arm(d->iface, UCT_EVENT_SEND_COMP) == UCS_OK;
}

/* ------------------------------------------------------------------- operations */

static ucs_status_t post_one(struct rma_ucx *u, struct ucx_peer *p, uint64_t offset,
			     const struct ucx_op *op, struct device_flight *f)
{
	uct_ep_h ep = p->net->device->ends[p->rank].own;
	uct_rkey_t key;
	uint64_t to;
	ucs_status_t status = device_key_of(u, p->rank, &key, &to);

	if (status != UCS_OK)
		return status;
	to += offset;
	switch (op->code) {
	case WIRE_PUT:
		return uct_ep_put_short(ep, &op->value, sizeof op->value, to, key);
	case WIRE_GET:
		return uct_ep_get_bcopy(ep, device_copy, &f->value, sizeof f->value, to, key,
					&f->done);
	case WIRE_CAS:
		return uct_ep_atomic_cswap64(ep, (uint64_t)op->expected, (uint64_t)op->value, to,
					     key, &f->value, &f->done);
	default:
		return uct_ep_atomic64_fetch(ep, UCT_ATOMIC_OP_ADD, (uint64_t)op->value, &f->value,
					     to, key, &f->done);
	}
}

static ucs_status_t flush_one(struct ucx_peer *p, struct device_flight *f)
{
	return uct_ep_flush(p->net->device->ends[p->rank].own, UCT_FLUSH_FLAG_LOCAL, &f->done);
}

/* Prepare an operation: the peer, and what UCT completes. NULL: it fails. */
static struct ucx_peer *begin(struct rma_client *c, int rank, struct device_flight **f)
{
	struct ucx_device *d = ucx_net_of(c->rma)->device;
	struct ucx_peer *p;

	if (ucx_client(c)->unanswered >= UCX_OPERANDS)
		ucx_complete(c);
	while (!(*f = device_take(d))) {
		ucx_complete(c);
		ucx_pause(c); /* there is no memory, and other clients may have what is there */
	}
	p = ucx_reach(c, rank);
	if (!p)
		device_spare(d, *f);
	return p;
}

/* Evaluate UCT's result. False: the queue is full. Operations are pending before they are posted,
 * because posting may complete others, or fail. */
static bool is_posted(struct device_flight *f, ucs_status_t status)
{
	if (status == UCS_INPROGRESS)
		return true;
	if (status == UCS_ERR_NO_RESOURCE && f->pending.client)
		return false;
	if (UCS_STATUS_IS_ERR(status) && f->pending.peer->state == UCX_UP)
		device_fail(f->pending.peer, status);
	device_done(f, status);
	return true;
}

static void operate_locked(struct rma_client *c, int rank, uint64_t offset, const struct ucx_op *op)
{
	struct device_client *own = own_of(c);
	int to = 1 + rank;
	struct device_flight *f;
	struct ucx_peer *p;

	if (op->result)
		*op->result = 0;
	if (c->failed || !(p = begin(c, rank, &f)))
		return;
	f->result = op->result;
	if (op->code == WIRE_PUT)
		own->put_to = own->put_to == PUT_NONE || own->put_to == to ? to : PUT_MANY;
	ucx_pending_add(c, p, &f->pending);
	while (!is_posted(f, p->state == UCX_UP ? post_one(ucx_of(c->rma), p, offset, op, f)
						: UCS_ERR_ENDPOINT_TIMEOUT))
		ucx_pause(c);
}

static void flush_peer(struct rma_client *c, int rank)
{
	struct device_flight *f;
	struct ucx_peer *p = begin(c, rank, &f);

	if (!p)
		return;
	ucx_pending_add(c, p, &f->pending);
	while (!is_posted(f, p->state == UCX_UP ? flush_one(p, f) : UCS_ERR_ENDPOINT_TIMEOUT))
		ucx_pause(c);
}

static void flush_puts(struct rma_client *c)
{
	struct ucx_net *n = ucx_net_of(c->rma);
	int to = own_of(c)->put_to;

	own_of(c)->put_to = PUT_NONE;
	if (to > 0)
		flush_peer(c, to - 1);
	for (int i = 0; to == PUT_MANY && i < n->ranks; i++)
		if (n->peer[i] && n->peer[i]->state == UCX_UP)
			flush_peer(c, i);
}

static void operate(struct rma_client *c, struct rma_word w, struct ucx_op op)
{
	struct ucx_net *n = ucx_net_of(c->rma);

	pthread_mutex_lock(&n->mutex);
	operate_locked(c, w.rank, w.offset, &op);
	pthread_mutex_unlock(&n->mutex);
}

static void device_put(struct rma_client *c, struct rma_word w, int64_t value)
{
	operate(c, w, (struct ucx_op){.code = WIRE_PUT, .value = value});
}

static void device_get(struct rma_client *c, struct rma_word w, int64_t *result)
{
	operate(c, w, (struct ucx_op){.code = WIRE_GET, .result = result});
}

static void device_acc(struct rma_client *c, struct rma_word w, int64_t value)
{
	operate(c, w, (struct ucx_op){.code = WIRE_ADD, .value = value});
}

/* The other operations are few.c's. */
static void device_fao(struct rma_client *c, struct rma_word w, enum rma_op op, int64_t value,
		       int64_t *result)
{
	(void)op;
	operate(c, w, (struct ucx_op){.code = WIRE_ADD, .value = value, .result = result});
}

static void device_cas(struct rma_client *c, struct rma_word w, int64_t expected, int64_t value,
		       int64_t *result)
{
	operate(c, w, (struct ucx_op){WIRE_CAS, value, expected, result});
}

static void device_flush_all(struct rma_client *c)
{
	ucx_flush_by(c, flush_puts);
}

static void device_flush(struct rma_client *c, int rank)
{
	(void)rank;
	device_flush_all(c);
}

/* What has been posted to a queue pair takes effect without this process. */
static bool device_post(struct rma_client *c, struct rma_word w)
{
	return ucx_post_by(c, w, flush_puts);
}

static const struct rma_transport device_transport = {
    .name = "ucx",
    .can = {.can_fail = true, .is_served = true, .posts = true},
    .put = device_put,
    .get = device_get,
    .acc = device_acc,
    .fao = device_fao,
    .cas = device_cas,
    .flush = device_flush,
    .flush_all = device_flush_all,
    .post = device_post,
    .answered = ucx_answered,
    .progress = ucx_progress,
    .sleep = ucx_sleep,
    .close = ucx_close,
    .leave = ucx_leave,
};

void ucx_device_use(struct rma *r)
{
	r->atomics = ucx_net_of(r)->device->atomics;
	r->transport = &device_transport;
	rma_few_open(&ucx_of(r)->on_device->few, r);
}
