/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open and close the UCX transport of a table. Ranks exchange their contacts (how they are reached)
 * through the MPI only, and each node keeps one copy of all contacts.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/agree.h"
#include "base/sparse.h"
#include "rma/memory/shm.h"
#include "rma/own_windows.h"
#include "rma/ucx/parts.h"

/* LEAST_DESCRIPTORS: two interfaces, and a few connections. */
enum {
	DEVICES = 1024,
	ALIGN = 16,
	HOST = 256,
	LEAST_DESCRIPTORS = UCX_OWN_DESCRIPTORS + 17,
	MOST_NUMBERS = 32
};

/* Whether the user has set this variable. */
static bool is_set(const char *name)
{
	return getenv(name) != NULL;
}

static bool set(ucp_config_t *config, const char *name, const char *value)
{
	return ucp_config_modify(config, name, value) == UCS_OK;
}

/* Whether no rank has devices that perform atomics. Then UCX is given no segment, and only delivers
 * messages. */
static bool is_by_cpu(MPI_Comm comm, bool has_rdma)
{
	const char *mode = getenv("UCX_ATOMIC_MODE");

	return all_agree(comm, mode ? strcmp(mode, "cpu") == 0 : !has_rdma);
}

static ucs_status_t open_context(struct rma_ucx *u, const char *devices, bool only_tcp)
{
	ucp_params_t params = {
	    .field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED,
	    .features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP,
	    .mt_workers_shared = 1,
	};
	ucp_config_t *config;
	unsigned major, minor, release;
	ucs_status_t status;
	bool ok;

	/* These features install handlers that perform operations for any process that connects. */
	if (!u->by_cpu)
		params.features |= UCP_FEATURE_RMA | UCP_FEATURE_AMO64;
	status = ucp_config_read(NULL, NULL, &config);
	if (status != UCS_OK)
		return status;
	ok = is_set("UCX_NET_DEVICES") || set(config, "NET_DEVICES", devices);
	/* Shared memory has no peer-error mode in UCX 1.13, and would only take room. */
	if (only_tcp && !is_set("UCX_TLS"))
		ok = ok && set(config, "TLS", "tcp,self");
	/* A host that does not answer must not keep the thread, or a client with the mutex, for
	 * minutes. Later versions have another name for it, and warn of this one; and all warn of
	 * an option that they do not use. */
	ucp_get_version(&major, &minor, &release);
	if (ucx_uses(devices, false) && !is_set("UCX_TCP_CONN_NB") && major == 1 && minor <= 13)
		set(config, "CONN_NB", "y");
	status = ok ? ucp_init(&params, config, &u->context) : UCS_ERR_INVALID_PARAM;
	ucp_config_release(config);
	return status;
}

/* Takes messages that no rank of the table sends to this worker. Without it UCX would log them. */
static ucs_status_t on_other(void *arg, const void *header, size_t header_length, void *data,
			     size_t length, const ucp_am_recv_param_t *param)
{
	struct rma_ucx *u = arg;

	(void)header, (void)header_length, (void)data, (void)length, (void)param;
	atomic_fetch_add_explicit(&u->refused, 1, memory_order_relaxed);
	return UCS_OK;
}

static ucs_status_t handle(ucp_worker_h worker, unsigned id, ucp_am_recv_callback_t on_message,
			   void *arg)
{
	ucp_am_handler_param_t handler = {
	    .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
			  UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG,
	    .id = id,
	    .flags = UCP_AM_FLAG_WHOLE_MSG,
	    .cb = on_message,
	    .arg = arg,
	};

	return ucp_worker_set_am_recv_handler(worker, &handler);
}

/* UCX 1.13 closes a port for which accept() fails, and forgets to unregister the number of its
 * descriptor. A worker whose port gets this number does not start; so take it meanwhile. */
static ucs_status_t create_worker(ucp_context_h context, const ucp_worker_params_t *params,
				  ucp_worker_h *worker)
{
	ucs_status_t status = ucp_worker_create(context, params, worker);
	int fd[MOST_NUMBERS], n = 0;

	while (status == UCS_ERR_ALREADY_EXISTS && n < MOST_NUMBERS) {
		fd[n++] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		status = ucp_worker_create(context, params, worker);
	}
	while (n > 0)
		close(fd[--n]);
	return status;
}

ucs_status_t ucx_open_worker(struct rma_ucx *u, ucp_worker_h *worker, int *fd, enum wire_type type,
			     ucp_am_recv_callback_t on_message, void *arg)
{
	ucp_worker_params_t params = {
	    .field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
	    .thread_mode = UCS_THREAD_MODE_SERIALIZED,
	};
	ucs_status_t status = create_worker(u->context, &params, worker);

	if (status != UCS_OK) {
		*worker = NULL;
		return status;
	}
	status = ucp_worker_get_efd(*worker, fd);
	for (unsigned id = 0; id <= WIRE_ANSWER && status == UCS_OK; id++)
		status = id == (unsigned)type ? handle(*worker, id, on_message, arg)
					      : handle(*worker, id, on_other, u);
	return status;
}

static ucs_status_t open_memory(struct rma_ucx *u, void *base, size_t bytes)
{
	ucp_mem_map_params_t params = {
	    .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
	    .address = base,
	    .length = bytes,
	};

	return ucp_mem_map(u->context, &params, &u->memory);
}

/* ---------------------------------------------------------------------- contacts */

/* The caller's contact of *bytes, which the caller frees. NULL: there is no memory for *bytes, or,
 * if these are 0, UCX does not say how to reach it. */
static struct ucx_contact *own_contact(struct rma_ucx *u, const char *base, size_t *bytes)
{
	ucp_address_t *address = NULL;
	size_t address_bytes, rkey_bytes = 0;
	struct ucx_contact *contact;
	char host[MPI_MAX_PROCESSOR_NAME] = "";
	void *rkey = NULL;
	int length;

	*bytes = 0;
	if (!u->serving || ucp_worker_get_address(u->serving, &address, &address_bytes) != UCS_OK)
		return NULL;
	if (u->memory && ucp_rkey_pack(u->context, u->memory, &rkey, &rkey_bytes) != UCS_OK) {
		ucp_worker_release_address(u->serving, address);
		return NULL;
	}
	*bytes = (sizeof *contact + address_bytes + rkey_bytes + ALIGN - 1) / ALIGN * ALIGN;
	contact = calloc(1, *bytes);
	if (contact) {
		PMPI_Get_processor_name(host, &length);
		snprintf(contact->host, sizeof contact->host, "%.*s", UCX_HOST_BYTES - 1, host);
		contact->base = (uint64_t)(uintptr_t)base;
		contact->address_bytes = (uint16_t)address_bytes;
		contact->rkey_bytes = (uint16_t)rkey_bytes;
		memcpy(contact->bytes, address, address_bytes);
		if (rkey)
			memcpy(contact->bytes + address_bytes, rkey, rkey_bytes);
	}
	if (rkey)
		ucp_rkey_buffer_release(rkey);
	ucp_worker_release_address(u->serving, address);
	return contact;
}

/* Memory for all contacts, shared by the ranks of a node. */
static char *make_room(struct rma_ucx *u, MPI_Comm node_comm)
{
	MPI_Aint size;
	void *base;
	int rank, unit;

	PMPI_Comm_rank(node_comm, &rank);
	size = rank == 0 ? (MPI_Aint)((size_t)u->ranks * u->contact_bytes) : 0;
	if (!own_windows_agree(node_comm,
			       own_windows.allocate_shared(size, 1, MPI_INFO_NULL, node_comm, &base,
							   &u->contacts_win),
			       &u->contacts_win) ||
	    PMPI_Win_shared_query(u->contacts_win, 0, &size, &unit, &base) != MPI_SUCCESS)
		return NULL;
	u->contacts = base;
	return base;
}

/* Fill room with the contacts of all ranks, ordered by rank: the first rank of each node gathers
 * those of its node and exchanges them with the first ranks of other nodes. */
static bool fill(struct rma *r, MPI_Comm comm, MPI_Comm leaders, MPI_Comm node_comm,
		 const char *mine, char *room)
{
	struct rma_ucx *u = ucx_of(r);
	int size, node_ranks, nodes = 0, at = 0, *count = NULL, *first = NULL;
	char *of_node = NULL, *of_all = NULL;
	bool leads = leaders != MPI_COMM_NULL, ok = true;

	/* A contact is preceded by its rank. */
	size = (int)u->contact_bytes + ALIGN;
	PMPI_Comm_size(node_comm, &node_ranks);
	if (leads) {
		PMPI_Comm_size(leaders, &nodes);
		count = calloc((size_t)nodes, sizeof *count);
		first = calloc((size_t)nodes, sizeof *first);
		of_node = malloc((size_t)node_ranks * (size_t)size);
		of_all = malloc((size_t)u->ranks * (size_t)size);
		ok = count && first && of_node && of_all;
	}
	ok = all_agree(comm, ok);
	if (ok)
		PMPI_Gather(mine, size, MPI_BYTE, of_node, size, MPI_BYTE, 0, node_comm);
	if (ok && leads) {
		node_ranks *= size;
		PMPI_Allgather(&node_ranks, 1, MPI_INT, count, 1, MPI_INT, leaders);
		for (int i = 0; i < nodes; i++) {
			first[i] = at;
			at += count[i];
		}
		PMPI_Allgatherv(of_node, node_ranks, MPI_BYTE, of_all, count, first, MPI_BYTE,
				leaders);
		for (int i = 0; i < u->ranks; i++) {
			const char *one = of_all + (size_t)i * (size_t)size;
			int rank;

			memcpy(&rank, one, sizeof rank);
			memcpy(room + (size_t)rank * u->contact_bytes, one + ALIGN,
			       u->contact_bytes);
		}
	}
	free(count);
	free(first);
	free(of_node);
	free(of_all);
	return ok;
}

/* The result, and its message, of the first rank that has failed. */
static enum rma_failure agree(MPI_Comm comm, enum rma_failure mine, char *err, size_t errlen)
{
	int rank, first, result = (int)mine;

	PMPI_Comm_rank(comm, &rank);
	first = mine == RMA_OK ? INT_MAX : rank;
	PMPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm);
	if (first == INT_MAX)
		return RMA_OK;
	PMPI_Bcast(&result, 1, MPI_INT, first, comm);
	PMPI_Bcast(err, (int)errlen, MPI_CHAR, first, comm);
	return (enum rma_failure)result;
}

static enum rma_failure exchange(struct rma *r, const struct rma_request *q, char *err,
				 size_t errlen)
{
	MPI_Comm comm = q->comm, node_comm = q->node_comm;
	struct rma_ucx *u = ucx_of(r);
	size_t bytes;
	struct ucx_contact *contact = own_contact(u, r->map[r->rank], &bytes);
	enum rma_failure failure = contact ? RMA_OK : bytes ? RMA_FAIL_NOMEM : RMA_FAIL_WINDOW;
	uint64_t most = bytes;
	MPI_Comm leaders = MPI_COMM_NULL;
	struct shm_shortage shortage;
	char *room, *mine;
	int node_rank;
	bool ok;

	snprintf(err, errlen, "%s",
		 bytes ? "out of memory" : "UCX does not say how to reach a worker");
	failure = agree(comm, failure, err, errlen);
	if (failure != RMA_OK) {
		free(contact);
		return failure;
	}
	PMPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_UINT64_T, MPI_MAX, comm);
	u->contact_bytes = most;
	PMPI_Comm_rank(node_comm, &node_rank);
	if (!shm_check(comm, q->one_host ? comm : node_comm,
		       node_rank == 0 ? (uint64_t)u->ranks * most : 0, &shortage)) {
		shm_tell(&shortage, "UCX, for the addresses of all ranks,", err, errlen);
		free(contact);
		return RMA_FAIL_NOMEM;
	}
	snprintf(err, errlen,
		 "no memory for the addresses of all ranks, %llu bytes each, which the ranks of a"
		 " host share: is there room in /dev/shm?",
		 (unsigned long long)bytes);
	room = make_room(u, node_comm);
	mine = calloc(1, most + ALIGN);
	ok = all_agree(comm, room && mine);
	if (ok) {
		memcpy(mine, &r->rank, sizeof r->rank);
		memcpy(mine + ALIGN, contact, bytes);
		ok = all_agree(comm, PMPI_Comm_split(comm, node_rank == 0 ? 0 : MPI_UNDEFINED,
						     r->rank, &leaders) == MPI_SUCCESS);
		ok = ok && fill(r, comm, leaders, node_comm, mine, room);
		if (leaders != MPI_COMM_NULL)
			PMPI_Comm_free(&leaders);
	}
	free(mine);
	free(contact);
	return ok ? RMA_OK : RMA_FAIL_NOMEM;
}

/* --------------------------------------------------------- beginning and end */

/* Keep the message, and return the failure. */
static enum rma_failure failed(char *err, size_t errlen, enum rma_failure failure, const char *text)
{
	snprintf(err, errlen, "%s", text);
	return failure;
}

/* The table's key. Like everything that ranks tell each other before they trust UCX messages, it
 * travels through the MPI. */
static bool agree_on_key(struct rma_ucx *u, MPI_Comm comm)
{
	bool ok = true;

	if (u->rank == 0)
		ok = getrandom(&u->key, sizeof u->key, 0) == (ssize_t)sizeof u->key;
	PMPI_Bcast(&u->key, sizeof u->key, MPI_BYTE, 0, comm);
	return all_agree(comm, ok);
}

/* Local: create what this rank alone needs. */
static enum rma_failure open_here(struct rma *r, size_t bytes, const char *devices, bool only_tcp,
				  char *err, size_t errlen)
{
	struct rma_ucx *u = ucx_of(r);
	ucs_status_t status;
	char host[HOST];
	long free_now;

	u->peer = sparse_array((size_t)u->ranks, sizeof *u->peer);
	u->window = sparse_array((size_t)u->ranks, sizeof *u->window);
	if (!u->peer || !u->window || !ucx_messages_open(u) || !(u->by_cpu || ucx_direct_open(u)))
		return failed(err, errlen, RMA_FAIL_NOMEM, "out of memory");
	free_now = ucx_free_descriptors();
	if (free_now < LEAST_DESCRIPTORS) {
		snprintf(
		    err, errlen,
		    "a table over UCX needs %d file descriptors, and rank %d can open %ld more:"
		    " raise the limit (ulimit -n, RLIMIT_NOFILE); option transport=mpi does"
		    " without them",
		    LEAST_DESCRIPTORS, u->rank, free_now);
		return RMA_FAIL_CONNECT;
	}
	status = open_context(u, devices, only_tcp);
	if (status == UCS_OK)
		status = ucx_open_worker(u, &u->serving, &u->serving_fd, WIRE_REQUEST,
					 ucx_on_request, r);
	if (status == UCS_OK)
		status =
		    ucx_open_worker(u, &u->asking, &u->asking_fd, WIRE_ANSWER, ucx_on_answer, u);
	if (status == UCS_OK && !u->by_cpu)
		status = open_memory(u, r->map[r->rank], bytes + RMA_TAIL_BYTES);
	u->descriptors = ucx_free_descriptors();
	for (int i = 0; i < u->ranks; i++)
		u->far_ranks += !r->map[i] || !u->by_cpu;
	if (status == UCS_OK)
		return RMA_OK;
	ucx_name_host(devices, host, sizeof host);
	snprintf(err, errlen,
		 "UCX could not be started on rank %d, %s: %s (UCX_LOG_LEVEL=info tells more);"
		 " option transport=mpi does without it",
		 u->rank, host, ucs_status_string(status));
	return RMA_FAIL_WINDOW;
}

/* Wait until the first rank of each node has connected to that of the next one. Collective. */
static enum rma_failure connect_hosts(struct rma_ucx *u, const char *devices, char *err,
				      size_t errlen)
{
	const char *trouble = ucx_watch_await(u);
	char host[2][HOST];
	int about[2] = {trouble ? u->rank : INT_MAX, u->watched};

	PMPI_Allreduce(MPI_IN_PLACE, about, 1, MPI_INT, MPI_MIN, u->comm);
	if (about[0] == INT_MAX)
		return RMA_OK;
	PMPI_Bcast(&about[1], 1, MPI_INT, about[0], u->comm);
	for (int i = 0; i < 2; i++) {
		ucx_name_host(devices, host[i], sizeof host[i]);
		PMPI_Bcast(host[i], HOST, MPI_CHAR, about[i], u->comm);
	}
	if (trouble && u->rank == about[0])
		snprintf(err, errlen,
			 "UCX on rank %d, %s, cannot connect to rank %d, %s: %s. Set"
			 " UCX_NET_DEVICES to interfaces through which the hosts reach each other,"
			 " open all ports between them,%s or use option transport=mpi",
			 about[0], host[0], about[1], host[1], trouble,
			 is_set("UCX_TLS") ? " let UCX_TLS have the transports by which others"
					     " connect (ud_v for rc_v),"
					   : "");
	PMPI_Bcast(err, (int)errlen, MPI_CHAR, about[0], u->comm);
	return RMA_FAIL_CONNECT;
}

static enum rma_failure open_all(struct rma *r, const struct rma_request *q, char *err,
				 size_t errlen)
{
	struct rma_ucx *u = ucx_of(r);
	char devices[DEVICES];
	enum rma_failure failure;
	bool has_rdma;

	if (!ucx_choose_devices(q->comm, q->one_host, devices, sizeof devices, &has_rdma))
		return failed(err, errlen, RMA_FAIL_WINDOW,
			      "no network interface connects all hosts: set UCX_NET_DEVICES to the"
			      " interfaces to use, or option transport to mpi");
	u->over_rdma = ucx_uses(devices, true);
	u->by_cpu = is_by_cpu(q->comm, has_rdma);
	if (!agree_on_key(u, q->comm))
		return failed(err, errlen, RMA_FAIL_WINDOW,
			      "the kernel gives no random numbers (getrandom) for the key of UCX's"
			      " messages; option transport=mpi does without it");
	ucx_raise_limit();
	failure =
	    open_here(r, q->bytes, devices, q->one_host || (u->by_cpu && !has_rdma), err, errlen);
	failure = agree(q->comm, failure, err, errlen);
	if (failure == RMA_OK)
		failure = exchange(r, q, err, errlen);
	if (failure != RMA_OK)
		return failure;
	/* Before the thread starts, which reads them. */
	u->way = u->by_cpu ? &ucx_messages : &ucx_direct;
	r->transport = u->by_cpu ? &ucx_messages_transport : &ucx_direct_transport;
	u->by_cpu = u->by_cpu && !q->by_network;
	if (!all_agree(q->comm, ucx_watch_open(r, q->node_comm)))
		return failed(err, errlen, RMA_FAIL_CONNECT,
			      "a rank has no file descriptor left (ulimit -n, RLIMIT_NOFILE)");
	if (!all_agree(q->comm, ucx_serve_start(r)))
		return failed(err, errlen, RMA_FAIL_NOMEM,
			      "no thread to serve other ranks could be started");
	return connect_hosts(u, devices, err, errlen);
}

enum rma_failure ucx_open(struct rma *r, const struct rma_request *q, char *err, size_t errlen)
{
	const struct rma_transport *before = r->transport;
	struct rma_ucx *u = calloc(1, sizeof *u);
	enum rma_failure failure;

	if (!all_agree(q->comm, u != NULL)) {
		free(u);
		return failed(err, errlen, RMA_FAIL_NOMEM, "out of memory");
	}
	PMPI_Comm_size(q->comm, &u->ranks);
	u->comm = q->comm;
	u->rank = r->rank;
	u->tail = q->bytes;
	u->limits = (struct wire_limits){RMA_HEADER_BYTES, q->bytes,
					 q->bytes + offsetof(struct ucx_tail, deaths)};
	u->contacts_win = MPI_WIN_NULL;
	u->next_pidfd = u->watched = u->watching_fd = -1;
	u->notifier.rma = r;
	pthread_mutex_init(&u->mutex, NULL);
	r->state = u;
	failure = open_all(r, q, err, errlen);
	if (failure != RMA_OK) {
		ucx_close(r);
		r->transport = before;
	}
	return failure;
}

static void close_workers(struct rma_ucx *u, bool answered)
{
	ucx_disconnect(u);
	ucx_watch_close(u);
	if (u->asking)
		ucp_worker_destroy(u->asking);
	if (u->memory)
		ucp_mem_unmap(u->context, u->memory);
	if (u->serving && answered)
		ucp_worker_destroy(u->serving);
	if (u->context && answered)
		ucp_cleanup(u->context);
}

void ucx_close(struct rma *r)
{
	struct rma_ucx *u = r->state;
	bool answered, left;

	/* The barrier orders the last operations of all ranks before the end of any thread; what
	 * all agree on orders the end of all threads before the end of connections, which would
	 * look like a failure to them.
	 * If a rank still calls another, that one may have an answer which it could not send. UCX
	 * 1.13 aborts a process that destroys a worker with such an answer, so it stays. RDMA
	 * devices connect by datagrams, and there it also aborts one that closes an endpoint which
	 * is being set up, so all stays. */
	PMPI_Barrier(u->comm);
	ucx_serve_stop(u);
	answered = all_agree(u->comm, ucx_is_answered(u));
	left = !answered && u->over_rdma;
	if (!left)
		close_workers(u, answered);
	ucx_messages_close(u);
	ucx_direct_close(u);
	ucx_perform_close(u);
	sparse_free(u->window, (size_t)u->ranks, sizeof *u->window);
	if (u->contacts_win != MPI_WIN_NULL)
		own_windows.free(&u->contacts_win);
	pthread_mutex_destroy(&u->mutex);
	explicit_bzero(&u->key, sizeof u->key);
	if (!left)
		free(u);
	r->state = NULL;
}

void ucx_leave(struct rma *r)
{
	if (r->state)
		ucx_serve_stop(r->state);
}
