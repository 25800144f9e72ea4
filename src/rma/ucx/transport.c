/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NET words through UCX (UCP). doc/measured/ucx.md has the figures.
 *
 * Segments are those of segments.c: memory that the ranks of a node share, opened to other nodes by
 * ucp_mem_map. A process has two workers for the tables of a communicator (ucx/net.c). Other ranks
 * operate on its segments through the first, which a thread drives; the thread sleeps until
 * something arrives (ucx/serve.c). The process operates on other segments through the second, which
 * is driven by the clients that wait for their operations. So no answer wakes the thread, and no
 * request wakes a client.
 *
 * Atomicity. If no device performs atomics, the target's thread performs them by CPU, as messages
 * ask it to (ucx/messages.c). A NET word that is mapped here is then changed by CPU atomics, too,
 * and only other nodes get messages. If there may be a device that performs atomics, every
 * operation on a NET word is an operation of UCX (ucx/direct.c); or, if the device has addition and
 * compare-and-swap only, one of the device one level below (ucx/device.c). For kinds that always
 * take the network's path (by_network), every NET word goes through UCX in all cases.
 *
 * Any process that reaches a port can send messages; ucx/wire.h says which are accepted.
 *
 * Each of the two ways is a transport: an operation goes through one vtable and allocates nothing.
 * It belongs to the client until its flush or post, which takes the mutex and sends all
 * operations of the client since the last one. A flush waits for the answers. A post does not.
 *
 * Failures. Endpoints are in peer-error mode. An operation on a dead rank fails, and the client
 * leaves its protocol at the flush (client/guard.c). A client also leaves its protocol when it has
 * waited for longer than a second after a death in the table is known: it may be waiting for the
 * dead rank, or for a rank that is. All nodes are told (ucx/deaths.c).
 * A rank that cannot be reached is not dead (ucx/connect.c).
 */
#include <poll.h>
#include <stdlib.h>
#include <time.h>

#include "base/agree.h"
#include "base/error.h"
#include "rma/ucx/device.h"

enum {
	POLL_MS = 10,              /* longest sleep of a client between two looks */
	LOOKS_PER_YIELD = 4,       /* at the answers */
	DEAD_WAIT_NS = 1000000000, /* the longest wait after a death */
	PAUSE_NS = 1000000,
};

/* How long a client tries to reach the home of its lock, after which time one that has to go on
 * says that it waits, and how often from then on. */
#define REACH_NS UINT64_C(5000000000)
/* A lack of descriptors may pass: a caller whose greeting has not come yet has one, and another one
 * is kept for it; and a connection that ends has its own still. */
#define LACK_NS UINT64_C(200000000)
#define FIRST_NS UINT64_C(2000000000)
#define SAY_NS UINT64_C(10000000000)

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
	*f->at = f->next;
	if (f->next)
		f->next->at = f->at;
	if (!ok)
		ucx_lose(c, f->peer->loss);
	ucx_client(c)->unanswered--;
}

/* The rest of this section is under the mutex. */
bool ucx_step(struct ucx_net *n)
{
	bool some = ucp_worker_progress(n->asking) > 0;

	if (n->device)
		some = ucx_device_progress(n->device) || some;
	if (n->ended_endpoints) {
		ucx_close_ended(n);
		if (atomic_load(&n->any_dead))
			ucp_worker_signal(n->serving); /* its thread notifies the other ranks */
	} else if (!some) {
		return false;
	}
	if (n->blocked)
		ucp_worker_signal(n->asking); /* their answers may have come */
	return true;
}

static void sleep_until_event(struct ucx_net *n)
{
	struct pollfd fd[] = {{.fd = n->asking_fd, .events = POLLIN}, {.fd = -1, .events = POLLIN}};

	if (ucp_worker_arm(n->asking) != UCS_OK ||
	    (n->device && !ucx_device_arm(n->device, &fd[1].fd)))
		return;
	n->blocked++;
	pthread_mutex_unlock(&n->mutex);
	poll(fd, 2, POLL_MS);
	pthread_mutex_lock(&n->mutex);
	n->blocked--;
}

/* One look of a client that has waited since start_ns. */
static void look_again(struct rma_client *c, uint64_t start_ns, unsigned look)
{
	struct ucx_net *n = ucx_net_of(c->rma);
	const struct rma_waiting *how = &c->rma->waiting;
	uint64_t until = 0, now;

	if (ucx_step(n))
		return;
	now = rma_now_ns();
	if (how->park && now - start_ns > how->spin_ns[RMA_SOON])
		n->crowded_until = now + UCX_VAIN_NS; /* polling was in vain */
	if (how->park && now < n->crowded_until) {
		sleep_until_event(n);
		return;
	}
	pthread_mutex_unlock(&n->mutex);
	if (how->crowded || look % LOOKS_PER_YIELD == 0)
		ucx_yield(&until);
	pthread_mutex_lock(&n->mutex);
	if (until > n->crowded_until)
		n->crowded_until = until;
}

/* Wait until all operations of c have been answered, so that UCX no longer reads their operands. */
void ucx_complete(struct rma_client *c)
{
	uint64_t start = ucx_client(c)->unanswered ? rma_now_ns() : 0;

	for (unsigned look = 1; ucx_client(c)->unanswered; look++)
		look_again(c, start, look);
}

void ucx_pause(struct rma_client *c)
{
	struct ucx_net *n = ucx_net_of(c->rma);

	if (ucx_step(n))
		return;
	pthread_mutex_unlock(&n->mutex);
	nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
	pthread_mutex_lock(&n->mutex);
}

/* ------------------------------------------------------------------ connecting */

static bool knows_a_death(const struct ucx_net *n)
{
	return atomic_load(&n->any_dead) || atomic_load(&n->shared->deaths);
}

/* Whether c has not changed any word yet: its call begins at this rank, to which it has never been
 * connected. */
static bool begins_at(const struct rma_client *c, int rank)
{
	const struct rma *r = c->rma;

	return r->first_rank && !c->inside && r->first_rank(c) == rank;
}

/* Of a rank to which this one had no connection, or of a wait; NULL: a rank has died. */
static const char *loss_elsewhere(const struct ucx_net *n)
{
	return ucx_knows_death(n)
		   ? NULL
		   : "a connection between other ranks has ended: a process, a host or the network"
		     " has failed, and this call has waited in vain since";
}

/* c has changed no word yet. */
static void refuse(struct rma_client *c, int rank, const char *trouble)
{
	c->failed = c->unreached = true;
	error_set(PAWL_ERR_CONNECT,
		  "lock %llu: its home, rank %d of the table on host %s, cannot be reached: %s;"
		  " nothing has changed, and the call can be repeated",
		  (unsigned long long)c->lock, rank, ucx_host_of(ucx_net_of(c->rma), rank),
		  trouble);
}

static bool lacks(const struct ucx_peer *p)
{
	return !p || (p->state == UCX_APART && ucx_lacks_resources(p));
}

/* A client within a protocol cannot leave it without breaking the lock for others, so it waits
 * until the connection can be made. */
struct ucx_peer *ucx_reach_slowly(struct rma_client *c, int rank)
{
	struct ucx_net *n = ucx_net_of(c->rma);
	bool inside = !begins_at(c, rank);
	uint64_t start = rma_now_ns(), now = start, said = start + FIRST_NS - SAY_NS;

	if (!inside && n->peer[ucx_route(n, rank)])
		n->peer[ucx_route(n, rank)]->again_ns = 0;
	for (unsigned look = 1;; look++) {
		struct ucx_peer *p = ucx_call(n, ucx_route(n, rank), inside);

		if (p && p->state == UCX_UP)
			return p;
		if ((p && p->state == UCX_DEAD) ||
		    (knows_a_death(n) && p && (p->refused || now - start > DEAD_WAIT_NS))) {
			c->unreached = false;
			ucx_lose(c, p->loss[0] ? p->loss : loss_elsewhere(n));
			return NULL;
		}
		if (!inside && now - start > (lacks(p) ? LACK_NS : REACH_NS)) {
			refuse(c, rank, ucx_trouble(p));
			return NULL;
		}
		if (now - said > SAY_NS) {
			said = now;
			ucx_say_waits(n, rank, c->lock, now - start);
		}
		look_again(c, start, look);
		now = rma_now_ns();
	}
}

const char *ucx_reach_first(struct ucx_net *n, int rank)
{
	struct ucx_patience patience = ucx_patience(REACH_NS);
	bool waits = true;

	while (waits) {
		struct ucx_peer *p;
		bool up;

		pthread_mutex_lock(&n->mutex);
		p = ucx_call(n, rank, false);
		ucx_step(n);
		up = p && p->state == UCX_UP;
		/* What the device lacks here, it would lack again. */
		waits = p && p->state != UCX_DEAD && !(p->trouble[0] && p->status != UCS_OK);
		pthread_mutex_unlock(&n->mutex);
		if (up)
			return NULL;
		waits = waits && ucx_is_patient(&patience);
	}
	return ucx_trouble(n->peer[rank]);
}

/* -------------------------------------------------------------------- posting */

/* A message is sent when it is issued, unless the connection is not up yet or the socket is full. A
 * socket holds far more than this many messages. */
enum { POSTED_MOST = 32 };

bool ucx_sends_at_once(const struct ucx_net *n, int rank)
{
	const struct ucx_peer *p = n->peer[ucx_route(n, rank)];
	int pending = 0;

	for (const struct ucx_pending *f = p ? p->pending : NULL; f && pending < POSTED_MOST;
	     f = f->next)
		pending++;
	return p && p->state == UCX_UP && pending < POSTED_MOST;
}

/* Whether all operations of c have been answered; it does not tell them apart. It does not poll:
 * any client that waits for its answers takes those of all clients. */
bool ucx_answered(struct rma_client *c, const int64_t *result)
{
	(void)result;
	return !ucx_client(c)->unanswered;
}

/* ------------------------------------------------------------------- waiting */

/* Whether c has waited for so long after a death that no living rank is likely to end the wait. */
static bool is_hopeless(struct rma_client *c)
{
	const struct ucx_net *n = ucx_net_of(c->rma);

	if (!atomic_load(&n->shared->deaths) || !rma_is_hopeless(c, &ucx_client(c)->doubt))
		return false;
	c->loss = loss_elsewhere(n);
	return true;
}

void ucx_progress(struct rma_client *c)
{
	struct ucx_net *n = ucx_net_of(c->rma);

	rma_drive_mpi(c);
	/* Only a call that drives the worker sees a death. */
	if (pthread_mutex_trylock(&n->mutex) == 0) {
		ucx_step(n);
		pthread_mutex_unlock(&n->mutex);
	}
	if (c->on_loss && is_hopeless(c))
		ucx_give_up(c);
}
