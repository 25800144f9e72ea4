/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All nodes learn that a rank has died, or that a connection is lost. Clients may wait for the
 * rank, or for one that does, without a connection to it (ucx/watch.c says who sees the death). To
 * know of one death is enough: from then on waits may be hopeless. The flag is in memory that the
 * ranks of a host share, so a message to one rank of a node tells the node.
 *
 * A process has died for certain if the kernel says so (ucx/watch.c). A connection that ends may
 * have another cause: a link that is down, or an error of a device (UCX 1.13 says "Endpoint
 * timeout" also if the other process was killed). Waits may be hopeless then, too, and errors say
 * what has ended instead. So the flag counts both apart. A node that has told of a lost connection
 * tells of no death later: it would change nothing but the words of errors elsewhere, which stay
 * true.
 *
 * A node that has learned of the death tells three others, and is told by three: node i the nodes
 * i - 1, 2i and 2i + 1, modulo the number of nodes. So there are 3 messages for each node.
 *   - 2i and 2i + 1 are the edges of de Bruijn's graph (in the form that takes any number of nodes:
 *     Imase and Itoh, IEEE Transactions on Computers C-30(6), 1981): from any node, all others are
 *     reached in ceil(log2(nodes)) steps.
 *   - i - 1 makes it certain, whichever nodes have no living rank: by the rings of ucx/watch.c, a
 *     living node before one that died is told, and tells those before it, down to the next that
 *     died. That one has a living node before it, for which the same holds.
 *
 * In a node, the first rank that knows tells, and notes when all of its messages have been
 * answered, or their nodes have no rank that could answer. If another rank that knows does not find
 * this note in time, it tells, too. A message that is not answered goes to the next rank of the
 * node, so a stopped rank delays it only.
 *
 * If the job is ending without having freed its tables, all ranks die within a moment, and UCX 1.13
 * aborts a process whose answer to a new connection cannot be sent because the other end has just
 * died. So a rank that has seen a death waits for a moment, and says nothing if it dies, too. A
 * rank that has been told goes on at once.
 */
#include "rma/ucx/deaths.h"
#include "rma/ucx/parts.h"

#define ENDING_NS UINT64_C(200000000) /* after which a death is not the end of the job */
#define BACKUP_NS UINT64_C(700000000) /* after which another rank of the node tells, too */
#define ANSWER_NS UINT64_C(300000000) /* for which an answer is awaited */

/* What the flag is increased by: a death, or the loss of a connection, which may have another
 * cause. */
#define DEATH INT64_C(1)
#define LOSS (INT64_C(1) << 32)

enum { SILENT, TELLS, HAS_TOLD };

/* What this rank's node has done. */
static _Atomic(int) *progress_of(const struct ucx_net *n)
{
	int *own = ucx_route_table(n) + ucx_route_ints(n->node, n->ranks) + n->my_node;

	return (_Atomic(int) *)(void *)own;
}

size_t ucx_deaths_ints(const int *node, int ranks)
{
	return (size_t)ucx_route_nodes(node, ranks);
}

/* False: later. */
static bool tell_rank(struct ucx_net *n, struct ucx_peer *p)
{
	struct ucx_op told = {.code = WIRE_ACC, .value = ucx_knows_death(n) ? DEATH : LOSS};

	if (p->state != UCX_UP)
		return false;
	if (p->told)
		return !p->pending; /* answered, with all else */
	/* It goes to the segment's rank, or to one that is connected already. */
	ucx_messages_issue(&n->notifier, p->rank, offsetof(struct ucx_shared, deaths), &told);
	p->told = true;
	return false;
}

/* Whether a rank of the node has answered, or there is none left to ask. Each rank begins with the
 * one at its own place. */
static bool tell_node(struct ucx_net *n, int node, struct ucx_telling *w, uint64_t now)
{
	int size;
	const int *member = ucx_route_ranks(n, node, &size);

	for (; w->asked < size && node != n->my_node; w->asked++, w->since_ns = 0) {
		int rank = member[(n->rank + w->asked) % size];
		struct ucx_peer *p = ucx_call(n, ucx_route(n, rank), true);

		if (!p)
			return false;
		if (p->state == UCX_DEAD || p->refused)
			continue;
		if (tell_rank(n, p))
			break;
		if (!w->since_ns)
			w->since_ns = now;
		if (now - w->since_ns < ANSWER_NS)
			return false;
	}
	w->asked = size;
	return true;
}

/* Whether this rank tells others: now, or not yet. */
static bool tells(struct ucx_net *n, _Atomic(int) *progress, uint64_t now)
{
	int silent = SILENT;

	if (n->tells || (!n->is_told && now - n->death_ns < ENDING_NS))
		return n->tells;
	n->tells = atomic_compare_exchange_strong(progress, &silent, TELLS) ||
		   now - n->death_ns > BACKUP_NS;
	return n->tells;
}

bool ucx_knows_death(const struct ucx_net *n)
{
	return atomic_load(&n->sees_death) || atomic_load(&n->shared->deaths) % LOSS;
}

/* Under the mutex. */
static void go_on(struct ucx_net *n)
{
	_Atomic(int) *progress = progress_of(n);
	const uint64_t now = rma_now_ns();
	int64_t none = 0;
	bool all = true;

	if (!n->death_ns)
		n->death_ns = now;
	if (atomic_load(&n->sees_death))
		atomic_fetch_or(&n->shared->deaths, DEATH);
	else
		atomic_compare_exchange_strong(&n->shared->deaths, &none, LOSS);
	n->notified = atomic_load(progress) == HAS_TOLD;
	if (n->notified || !tells(n, progress, now))
		return;
	for (int i = 0; i < DEATHS_WAYS; i++) {
		int node = deaths_next(n->my_node, n->shared->nodes, i);

		all = tell_node(n, node, &n->telling[i], now) && all;
	}
	ucx_messages_push(&n->notifier);
	n->notified = all;
	if (all)
		atomic_store(progress, HAS_TOLD);
}

void ucx_told(struct ucx_net *n)
{
	n->is_told = true;
	atomic_store(&n->any_dead, true);
}

/* MPI_Finalize takes away the memory that the ranks of a host share. The thread runs on, because
 * other ranks may still use locks. */
bool ucx_is_ending(void)
{
	int ending = 0;

	PMPI_Finalized(&ending);
	return ending;
}

void ucx_notify(struct ucx_net *n)
{
	if (ucx_is_ending())
		return;
	pthread_mutex_lock(&n->mutex);
	if (!n->notified)
		go_on(n);
	ucx_step(n);
	pthread_mutex_unlock(&n->mutex);
}
