/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NET words through UCX (UCP). doc/ucx.md has the figures.
 *
 * Segments are those of segments.c: memory that the ranks of a node share, opened to other nodes by
 * ucp_mem_map. A process has two workers for each table. Other ranks operate on its segment through
 * the first, which a thread drives; the thread sleeps until something arrives (ucx/serve.c). The
 * process operates on other segments through the second, which is driven by the clients that wait
 * for their operations. So no answer wakes the thread, and no request wakes a client.
 *
 * Atomicity. If no device performs atomics, the target's thread performs them by CPU, as messages
 * ask it to (ucx/messages.c). A NET word that is mapped here is then changed by CPU atomics, too,
 * and only other nodes get messages. If there may be a device that performs atomics, every
 * operation on a NET word is an operation of UCX (ucx/direct.c). For kinds that always take the
 * network's path (by_network), every NET word goes through UCX in both cases.
 *
 * Any process that reaches a port can send messages; ucx/wire.h says which are accepted.
 *
 * Each of the two ways is a transport: an operation goes through one vtable and allocates nothing.
 * It belongs to the client until its flush or post, which takes the table's mutex and sends all
 * operations of the client since the last one. A flush waits for the answers. A post does not.
 *
 * Failures. Endpoints are in peer-error mode. An operation on a dead rank fails, and the client
 * leaves its protocol at the flush (client/guard.c). A client also leaves its protocol when it has
 * waited for longer than a second after a death in the table is known: it may be waiting for the
 * dead rank, or for a rank that is. A rank that learns of a death tells all others.
 */
#include <poll.h>
#include <stdlib.h>

#include "rma/ucx/parts.h"

enum {
	POLL_MS = 10,              /* longest sleep of a client between two looks */
	LOOKS_PER_YIELD = 4,       /* at the answers */
	DEAD_WAIT_NS = 1000000000, /* the longest wait after a death */
};

/* ------------------------------------------------------------------ failures */

void ucx_give_up(struct rma_client *c)
{
	c->failed = false;
	if (c->on_loss)
		longjmp(*c->on_loss, 1);
}

/* ---------------------------------------------------------------- completion */

void ucx_pending_add(struct rma_client *c, struct ucx_peer *p, struct ucx_pending *f)
{
	ucx_client(c)->unanswered++;
	f->client = c;
	f->peer = p;
	f->at = &p->pending;
	f->next = p->pending;
	if (f->next)
		f->next->at = &f->next;
	p->pending = f;
}

void ucx_pending_done(struct ucx_pending *f, bool ok)
{
	struct rma_client *c = f->client;

	if (!c) /* it has failed already */
		return;
	f->client = NULL;
	f->peer->connected = f->peer->connected || ok;
	*f->at = f->next;
	if (f->next)
		f->next->at = f->at;
	if (!ok)
		c->failed = true;
	ucx_client(c)->unanswered--;
}

/* The rest of this section is under the mutex. */
static bool step(struct rma_ucx *u)
{
	bool some = ucp_worker_progress(u->asking) > 0;

	if (u->dead_endpoints) {
		ucx_close_dead(u);
		ucp_worker_signal(u->serving); /* its thread notifies the other ranks */
	} else if (!some) {
		return false;
	}
	if (u->blocked)
		ucp_worker_signal(u->asking); /* their answers may have come */
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

/* Wait until all operations of c have been answered, so that UCX no longer reads their operands. */
void ucx_complete(struct rma_client *c)
{
	struct rma_ucx *u = ucx_of(c->rma);
	const struct rma_waiting *how = &c->rma->waiting;
	uint64_t start = ucx_client(c)->unanswered ? rma_now_ns() : 0, until = 0, now;

	for (unsigned look = 1; ucx_client(c)->unanswered; look++) {
		if (step(u))
			continue;
		now = rma_now_ns();
		if (how->park && now - start > how->spin_ns[RMA_SOON])
			u->crowded_until = now + UCX_VAIN_NS; /* polling was in vain */
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
}

/* -------------------------------------------------------------------- posting */

/* A message is sent when it is issued, unless the connection is not up yet or the socket is full. A
 * socket holds far more than this many messages. */
enum { POSTED_MOST = 32 };

bool ucx_sends_at_once(const struct rma_ucx *u, int rank)
{
	const struct ucx_peer *p = u->peer[rank];
	int n = 0;

	for (const struct ucx_pending *f = p ? p->pending : NULL; f && n < POSTED_MOST; f = f->next)
		n++;
	return p && p->connected && n < POSTED_MOST;
}

/* Whether all operations of c have been answered; it does not tell them apart. It does not poll:
 * any client that waits for its answers takes those of all clients. */
bool ucx_answered(struct rma_client *c, const int64_t *result)
{
	(void)result;
	return !ucx_client(c)->unanswered;
}

/* ------------------------------------------------------------------- waiting */

/* Tell all ranks that a rank has died: ranks that wait for it may have no connection to it. */
static void notify_all(struct rma *r)
{
	static const struct ucx_op death = {.code = WIRE_ACC, .value = 1};
	struct rma_ucx *u = ucx_of(r);

	u->notified = true;
	for (int i = 0; i < u->ranks; i++) {
		if (r->map[i])
			atomic_store(&ucx_tail_of(r, i)->deaths, 1);
		else
			u->way->issue(&u->notifier, i, u->tail + offsetof(struct ucx_tail, deaths),
				      &death);
	}
	u->way->push(&u->notifier);
}

void ucx_notify(struct rma *r)
{
	struct rma_ucx *u = ucx_of(r);

	pthread_mutex_lock(&u->mutex);
	if (!u->notified)
		notify_all(r);
	step(u);
	pthread_mutex_unlock(&u->mutex);
}

/* Whether c has waited for so long after a death that no living rank is likely to end the wait. */
static bool is_hopeless(struct rma_client *c)
{
	struct ucx_client *u = ucx_client(c);
	uint64_t now = rma_now_ns();

	if (c->rma->outlives || !atomic_load(&ucx_tail_of(c->rma, c->rma->rank)->deaths))
		return false;
	if (!u->dead_since_ns || u->dead_wait != c->waits) {
		u->dead_since_ns = now;
		u->dead_wait = c->waits;
	}
	return now - u->dead_since_ns > DEAD_WAIT_NS;
}

void ucx_progress(struct rma_client *c)
{
	struct rma_ucx *u = ucx_of(c->rma);

	rma_drive_mpi(c);
	/* Only a call that drives the worker sees a death. */
	if (pthread_mutex_trylock(&u->mutex) == 0) {
		step(u);
		pthread_mutex_unlock(&u->mutex);
	}
	if (c->on_loss && is_hopeless(c))
		ucx_give_up(c);
}
