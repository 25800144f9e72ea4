/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Deaths that no operation shows. A waiter need not be connected to the rank that it waits for: a
 * compare-and-swap lock is at its home, and any rank may hold it. So ranks watch each other in two
 * rings, and the thread that serves (ucx/serve.c) learns of a death as of a message:
 *   - on a node, each rank watches the next one through the kernel: a pidfd becomes readable when
 *     the process has ended;
 *   - the first rank of each node watches the first rank of the next node by a connection, which
 *     carries only one empty message and its answer, to set it up.
 * Going back along a ring from a dead rank, the first living rank watches a dead one. So a living
 * rank of the same node sees a death; if the node has none, a living first rank of another node
 * does; and if no first rank lives, its death is seen on its node. To see the first death is
 * enough: from then on all ranks know that waits may be hopeless.
 *
 * The connection has a worker of its own, because answers to clients must not wake the thread. It
 * is up before the table is; so the ring is also the test whether the hosts reach each other.
 */
#include "rma/ucx/parts.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* How long to wait for the connection, how often to look, and what counts at most between two
 * looks: a process that does not run, or a machine that is suspended, has not waited. */
enum { LOOK_NS = 50000, MOST_BETWEEN_NS = 10000000 };
#define CONNECT_NS UINT64_C(5000000000)

/* How the other ranks of the node identify a process. */
struct name {
	uint64_t space; /* PID namespace of pid; 0: unknown */
	int64_t pid;
};

static struct name own_name(void)
{
	struct stat s;

	if (stat("/proc/self/ns/pid", &s) != 0)
		return (struct name){0, 0};
	return (struct name){(uint64_t)s.st_ino, (int64_t)getpid()};
}

/* False: a pidfd could be had, if there were a descriptor for it. */
static bool open_pidfd(const struct name *mine, const struct name *other, int *fd)
{
	*fd = -1;
#ifdef SYS_pidfd_open
	if (mine->space && mine->space == other->space)
		*fd = (int)syscall(SYS_pidfd_open, (pid_t)other->pid, 0);
	else
		return true;
	return *fd >= 0 || (errno != EMFILE && errno != ENFILE && errno != ENOMEM);
#else
	(void)mine, (void)other;
	return true;
#endif
}

static bool watch_next_process(struct rma_ucx *u, MPI_Comm node_comm)
{
	struct name mine = own_name(), next = mine;
	int rank, size;

	PMPI_Comm_rank(node_comm, &rank);
	PMPI_Comm_size(node_comm, &size);
	PMPI_Sendrecv(&mine, (int)sizeof mine, MPI_BYTE, (rank + size - 1) % size, 0, &next,
		      (int)sizeof next, MPI_BYTE, (rank + 1) % size, 0, node_comm,
		      MPI_STATUS_IGNORE);
	return size == 1 || open_pidfd(&mine, &next, &u->next_pidfd);
}

/* The first rank of a node. */
static int first_of(const struct rma *r, int node)
{
	int rank = 0;

	while (r->node[rank] != node)
		rank++;
	return rank;
}

static int nodes_of(const struct rma *r)
{
	int nodes = 0;

	for (int i = 0; i < ucx_of(r)->ranks; i++)
		nodes = r->node[i] < nodes ? nodes : r->node[i] + 1;
	return nodes;
}

bool ucx_watch_open(struct rma *r, MPI_Comm node_comm)
{
	struct rma_ucx *u = ucx_of(r);
	int nodes = nodes_of(r);

	if (nodes > 1 && first_of(r, r->my_node) == r->rank) {
		u->watched = first_of(r, (r->my_node + 1) % nodes);
		u->watches = UCX_CALLING;
	}
	return watch_next_process(u, node_comm);
}

/* The connection has ended, or could not be begun. If it was up, that is a death. */
static void end(struct rma_ucx *u, ucs_status_t status)
{
	u->watch_status = status;
	if (atomic_exchange(&u->watches, UCX_REFUSED) == UCX_UP)
		atomic_store(&u->any_dead, true);
}

static void on_end(void *arg, ucp_ep_h ep, ucs_status_t status)
{
	(void)ep;
	end(arg, status);
}

static ucs_status_t on_answer(void *arg, const void *header, size_t header_length, void *data,
			      size_t length, const ucp_am_recv_param_t *param)
{
	struct rma_ucx *u = arg;
	struct wire_header h;

	(void)header, (void)header_length;
	if (ucx_take_message(u, WIRE_ANSWER, data, length, param, &h) && h.from == u->watched &&
	    h.number == u->watch_greeting.number)
		atomic_store(&u->watches, UCX_UP);
	return UCS_OK;
}

/* Number 0 is that of no other request. */
void ucx_watch_begin(struct rma *r)
{
	struct rma_ucx *u = ucx_of(r);
	ucs_status_t status;

	if (u->watched < 0)
		return;
	status = ucx_open_worker(u, &u->watching, &u->watching_fd, WIRE_ANSWER, on_answer, u);
	if (status == UCS_OK)
		status = ucx_connect(u->watching, ucx_contact_of(u, u->watched), on_end, u,
				     &u->watch_ep, &u->watch_rkey);
	if (status == UCS_OK)
		status = ucx_greet(u, u->watch_ep, &u->watch_greeting, u->watched, 0);
	if (status != UCS_OK)
		end(u, status);
	else
		ucx_watch_look(u, u->watching_fd);
}

const char *ucx_watch_await(struct rma_ucx *u)
{
	uint64_t last = rma_now_ns(), waited = 0;

	if (u->watched < 0)
		return NULL;
	while (atomic_load(&u->watches) == UCX_CALLING && waited < CONNECT_NS) {
		uint64_t now;

		nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
		now = rma_now_ns();
		waited += now - last < MOST_BETWEEN_NS ? now - last : MOST_BETWEEN_NS;
		last = now;
	}
	switch (atomic_load(&u->watches)) {
	case UCX_UP:
		return NULL;
	case UCX_CALLING:
		return "no answer within 5 s";
	default:
		return ucs_status_string(u->watch_status);
	}
}

void ucx_watch_look(struct rma_ucx *u, int fd)
{
	if (fd < 0)
		return;
	if (fd == u->next_pidfd) {
		atomic_store(&u->any_dead, true);
		close(fd);
		u->next_pidfd = -1;
		return;
	}
	do
		while (ucp_worker_progress(u->watching))
			;
	while (ucp_worker_arm(u->watching) == UCS_ERR_BUSY);
	if (atomic_load(&u->watches) == UCX_REFUSED)
		u->watching_fd = -1;
}

void ucx_watch_close(struct rma_ucx *u)
{
	if (u->next_pidfd >= 0)
		close(u->next_pidfd);
	if (u->watch_rkey)
		ucp_rkey_destroy(u->watch_rkey);
	if (u->watch_ep)
		ucx_close_endpoint(u->watching, u->watch_ep);
	if (u->watching)
		ucp_worker_destroy(u->watching);
}
