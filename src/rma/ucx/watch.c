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
 * The connection has a worker of its own, because answers to clients must not wake the thread.
 */
#include "rma/ucx/parts.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* How long to wait for the connection, and how often to look. */
enum { LOOK_NS = 50000 };
#define CONNECT_NS UINT64_C(10000000000)

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

static int open_pidfd(const struct name *mine, const struct name *other)
{
#ifdef SYS_pidfd_open
	if (mine->space && mine->space == other->space)
		return (int)syscall(SYS_pidfd_open, (pid_t)other->pid, 0);
#else
	(void)mine, (void)other;
#endif
	return -1;
}

static void watch_next_process(struct rma_ucx *u, MPI_Comm node_comm)
{
	struct name mine = own_name(), next = mine;
	int rank, size;

	PMPI_Comm_rank(node_comm, &rank);
	PMPI_Comm_size(node_comm, &size);
	PMPI_Sendrecv(&mine, (int)sizeof mine, MPI_BYTE, (rank + size - 1) % size, 0, &next,
		      (int)sizeof next, MPI_BYTE, (rank + 1) % size, 0, node_comm,
		      MPI_STATUS_IGNORE);
	if (size > 1)
		u->next_pidfd = open_pidfd(&mine, &next);
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

void ucx_watch_open(struct rma *r, MPI_Comm node_comm)
{
	struct rma_ucx *u = ucx_of(r);
	int nodes = nodes_of(r);

	watch_next_process(u, node_comm);
	if (nodes > 1 && first_of(r, r->my_node) == r->rank)
		u->watched = first_of(r, (r->my_node + 1) % nodes);
}

static void note_death(struct rma_ucx *u)
{
	atomic_store(&u->any_dead, true);
	atomic_store(&u->watches, true);
}

static void on_end(void *arg, ucp_ep_h ep, ucs_status_t status)
{
	(void)ep, (void)status;
	note_death(arg);
}

static ucs_status_t on_answer(void *arg, const void *header, size_t header_length, void *data,
			      size_t length, const ucp_am_recv_param_t *param)
{
	struct rma_ucx *u = arg;
	struct wire_header h;

	(void)header, (void)header_length;
	if (ucx_take_message(u, WIRE_ANSWER, data, length, param, &h) && h.from == u->watched &&
	    h.number == u->hello.number)
		atomic_store(&u->watches, true);
	return UCS_OK;
}

static void on_sent(void *request, ucs_status_t status, void *arg)
{
	(void)status, (void)arg;
	ucp_request_free(request);
}

/* Send the message that sets up the connection. It has no operations, and number 0, which no
 * client's request has. False: it failed. */
static bool send_hello(struct rma_ucx *u)
{
	ucp_request_param_t params = ucx_message_params(UCP_AM_SEND_FLAG_REPLY, on_sent, NULL);
	const struct wire_header h = {.type = WIRE_REQUEST, .from = u->rank, .to = u->watched};
	ucs_status_ptr_t status;

	wire_seal(&u->key, &h, &u->hello, sizeof u->hello);
	u->hello_iov = (ucp_dt_iov_t){&u->hello, sizeof u->hello};
	status = ucp_am_send_nbx(u->watch_ep, WIRE_REQUEST, NULL, 0, &u->hello_iov, 1, &params);
	return !UCS_PTR_IS_ERR(status);
}

void ucx_watch_begin(struct rma *r)
{
	struct rma_ucx *u = ucx_of(r);

	if (u->watched < 0)
		return;
	if (!ucx_open_worker(u, &u->watching, &u->watching_fd, WIRE_ANSWER, on_answer, u) ||
	    !ucx_connect(u->watching, ucx_contact_of(u, u->watched), on_end, u, &u->watch_ep,
			 &u->watch_rkey) ||
	    !send_hello(u))
		note_death(u);
	ucx_watch_look(u, u->watching_fd);
}

void ucx_watch_await(struct rma_ucx *u)
{
	uint64_t end = rma_now_ns() + CONNECT_NS;

	while (u->watched >= 0 && !atomic_load(&u->watches) && rma_now_ns() < end)
		nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
}

void ucx_watch_look(struct rma_ucx *u, int fd)
{
	if (fd < 0)
		return;
	if (fd == u->next_pidfd) {
		note_death(u);
		close(fd);
		u->next_pidfd = -1;
		return;
	}
	do
		while (ucp_worker_progress(u->watching))
			;
	while (ucp_worker_arm(u->watching) == UCS_ERR_BUSY);
	if (atomic_load(&u->any_dead))
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
