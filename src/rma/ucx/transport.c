/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NET words through UCX (UCP). doc/ucx.md has the figures.
 *
 * Segments are those of segments.c, in memory that the ranks of a node share, and open to
 * other nodes by ucp_mem_map. A process has two workers for each table: through one the others
 * operate on its segment, driven by a thread that sleeps until something comes
 * (ucx/serve.c); through the other it operates on theirs, driven by the clients that wait for
 * their operations. So no answer wakes the thread, and no request wakes a client.
 *
 * Atomicity. Where no device performs atomics, the target's thread does, by CPU instructions,
 * as asked by messages (ucx/messages.c). Then a NET word that is mapped here is changed by
 * CPU atomics, too, and only other nodes are sent messages. Where there may be such devices, every
 * NET word goes through UCX's own operations (ucx/direct.c). For kinds that take the network's
 * path always every NET word goes either way.
 *
 * Any process that reaches a port can send messages; ucx/wire.h says which are accepted.
 *
 * Either way is a transport of its own: an operation goes through one vtable, allocates nothing,
 * and takes the mutex of the table at most once. By messages it takes it at the flush alone: all
 * operations of a client on one rank that were issued since its last flush travel together, and
 * until then are the client's. A flush awaits their answers. What is posted is not waited for.
 *
 * Failures. Endpoints are in peer-error mode. An operation on a rank that died fails, and the
 * protocol is left where it stands, for client/guard.c, at the flush. So is one that waits for
 * longer than a second, if it is known that some rank of the table died: the one it waits
 * for, or one ahead of that. A rank that learns of a death tells all others.
 */
#include <poll.h>
#include <stdlib.h>

#include "rma/ucx/parts.h"

enum {
	POLL_MS = 10,              /* a client looks that often, whatever wakes it */
	LOOKS_PER_YIELD = 4,       /* at its answers */
	DEAD_WAIT_NS = 1000000000, /* the longest wait after a death */
};

/* ------------------------------------------------------------------ failures */

void ucx_give_up(struct rma_client *c)
{
	c->failed = false;
	if (c->escape)
		longjmp(*c->escape, 1);
}

/* ---------------------------------------------------------------- completion */

void ucx_fly(struct rma_client *c, struct ucx_peer *p, struct ucx_flight *f)
{
	c->flying++;
	f->client = c;
	f->peer = p;
	f->at = &p->flights;
	f->next = p->flights;
	if (f->next)
		f->next->at = &f->next;
	p->flights = f;
}

void ucx_land(struct ucx_flight *f, bool well)
{
	struct rma_client *c = f->client;

	if (!c) /* it failed before */
		return;
	f->client = NULL;
	f->peer->stands = f->peer->stands || well;
	*f->at = f->next;
	if (f->next)
		f->next->at = f->at;
	c->failed = c->failed || !well;
	c->flying--;
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

/* Until all operations of c have been answered, so that nobody reads their operands any more. */
void ucx_complete(struct rma_client *c)
{
	struct rma_ucx *u = ucx_of(c->rma);
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
}

/* -------------------------------------------------------------------- posting */

/* A message is sent when it is issued, unless the connection does not stand yet, or the socket is
 * full: far more than this must be on its way for that. */
enum { POSTED_MOST = 32 };

bool ucx_is_clear(const struct rma_ucx *u, int rank)
{
	const struct ucx_peer *p = u->peer[rank];
	int n = 0;

	for (const struct ucx_flight *f = p ? p->flights : NULL; f && n < POSTED_MOST; f = f->next)
		n++;
	return p && p->stands && n < POSTED_MOST;
}

/* Whether nothing is in flight: a client that waits for one answer takes those of others, too, and
 * one that is about to send does not wait for them. */
bool ucx_answered(struct rma_client *c, const int64_t *result)
{
	(void)result;
	return !c->flying;
}

/* ------------------------------------------------------------------- waiting */

/* Let all ranks know that one died: those who wait for it may not be connected to it. */
static void tell(struct rma *r)
{
	static const struct ucx_op death = {.kind = WIRE_ACC, .value = 1};
	struct rma_ucx *u = ucx_of(r);

	u->told = true;
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
	if (!c->dead_since_ns || c->dead_wait != c->waits) {
		c->dead_since_ns = now;
		c->dead_wait = c->waits;
	}
	return now - c->dead_since_ns > DEAD_WAIT_NS;
}

void ucx_progress(struct rma_client *c)
{
	struct rma_ucx *u = ucx_of(c->rma);

	rma_drive_mpi(c);
	/* A death shows when somebody looks. */
	if (pthread_mutex_trylock(&u->mutex) == 0) {
		step(u);
		pthread_mutex_unlock(&u->mutex);
	}
	if (c->escape && is_hopeless(c))
		ucx_give_up(c);
}
