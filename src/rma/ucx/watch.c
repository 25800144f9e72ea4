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
 * looks. */
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

static bool watch_next_process(struct ucx_net *n, MPI_Comm node_comm)
{
	struct name mine = own_name(), next = mine;
	int rank, size;

	PMPI_Comm_rank(node_comm, &rank);
	PMPI_Comm_size(node_comm, &size);
	PMPI_Sendrecv(&mine, (int)sizeof mine, MPI_BYTE, (rank + size - 1) % size, 0, &next,
		      (int)sizeof next, MPI_BYTE, (rank + 1) % size, 0, node_comm,
		      MPI_STATUS_IGNORE);
	return size == 1 || open_pidfd(&mine, &next, &n->next_pidfd);
}

/* The first rank of a node. */
static int first_of(const struct ucx_net *n, int node)
{
	int rank = 0;

	while (n->node[rank] != node)
		rank++;
	return rank;
}

bool ucx_watch_open(struct ucx_net *n, MPI_Comm node_comm)
{
	int nodes = ucx_route_nodes(n->node, n->ranks);

	if (nodes > 1 && first_of(n, n->my_node) == n->rank) {
		n->watched = first_of(n, (n->my_node + 1) % nodes);
		n->watches = UCX_CALLING;
	}
	return watch_next_process(n, node_comm);
}

/* The connection has ended, or could not be begun. */
static void end(struct ucx_net *n, ucs_status_t status)
{
	n->watch_status = status;
	if (atomic_exchange(&n->watches, UCX_REFUSED) == UCX_UP)
		atomic_store(&n->any_dead, true);
}

static void on_end(void *arg, ucp_ep_h ep, ucs_status_t status)
{
	(void)ep;
	end(arg, status);
}

static ucs_status_t on_answer(void *arg, const void *header, size_t header_length, void *data,
			      size_t length, const ucp_am_recv_param_t *param)
{
	struct ucx_net *n = arg;
	struct wire_header h;

	(void)header, (void)header_length;
	if (ucx_take_message(n, WIRE_ANSWER, data, length, param, &h) && h.from == n->watched &&
	    h.number == n->watch_greeting.number)
		atomic_store(&n->watches, UCX_UP);
	return UCS_OK;
}

/* Number 0 is that of no other request. */
void ucx_watch_begin(struct ucx_net *n)
{
	const ucp_am_recv_callback_t takes[WIRE_TYPES] = {[WIRE_ANSWER] = on_answer};
	ucs_status_t status;

	if (n->watched < 0)
		return;
	if (!n->shared || !atomic_load(&n->shared->is_filled)) {
		end(n, UCS_ERR_NO_RESOURCE);
		return;
	}
	status = ucx_open_worker(n, &n->watching, &n->watching_fd, takes, n);
	if (status == UCS_OK)
		status = ucx_connect(n->watching, ucx_contact_of(n, n->watched), on_end, n,
				     &n->watch_ep);
	if (status == UCS_OK)
		status = ucx_greet(n, n->watch_ep, &n->watch_greeting, n->watched, 0);
	if (status != UCS_OK)
		end(n, status);
	else
		ucx_watch_look(n, n->watching_fd);
}

struct ucx_patience ucx_patience(uint64_t ns)
{
	return (struct ucx_patience){rma_now_ns(), ns};
}

bool ucx_is_patient(struct ucx_patience *p)
{
	uint64_t now, gone;

	nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
	now = rma_now_ns();
	gone = now - p->last < MOST_BETWEEN_NS ? now - p->last : MOST_BETWEEN_NS;
	p->last = now;
	p->left -= gone < p->left ? gone : p->left;
	return p->left > 0;
}

const char *ucx_watch_await(struct ucx_net *n)
{
	struct ucx_patience patience = ucx_patience(CONNECT_NS);

	if (n->watched < 0)
		return NULL;
	while (atomic_load(&n->watches) == UCX_CALLING && ucx_is_patient(&patience))
		;
	switch (atomic_load(&n->watches)) {
	case UCX_UP:
		return NULL;
	case UCX_CALLING:
		return "no answer within 5 s";
	default:
		return ucs_status_string(n->watch_status);
	}
}

void ucx_watch_look(struct ucx_net *n, int fd)
{
	if (fd < 0)
		return;
	if (fd == n->next_pidfd) {
		atomic_store(&n->sees_death, true);
		atomic_store(&n->any_dead, true);
		close(fd);
		n->next_pidfd = -1;
		return;
	}
	do
		while (ucp_worker_progress(n->watching))
			;
	while (ucp_worker_arm(n->watching) == UCS_ERR_BUSY);
	if (atomic_load(&n->watches) == UCX_REFUSED)
		n->watching_fd = -1;
}

void ucx_watch_close(struct ucx_net *n)
{
	if (n->next_pidfd >= 0)
		close(n->next_pidfd);
	if (n->watch_ep)
		ucx_close_endpoint(n->watching, n->watch_ep);
	if (n->watching)
		ucp_worker_destroy(n->watching);
}
