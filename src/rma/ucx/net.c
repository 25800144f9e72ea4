/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tables of a communicator share over UCX: two workers of each process, the connections of
 * these, a thread, the key of messages, and a copy of all contacts (how ranks are reached) on each
 * host. It is made for the first table of the communicator and freed with the last one. So a
 * further table takes one agreement and nothing that grows with the number of ranks. (With UCX's
 * own operations, or those of a device, each table has keys of its segments, too.)
 *
 * Contacts travel through the MPI only: the first rank of each host gathers those of its host and
 * exchanges them with the first ranks of other hosts. A contact is the address of a worker, without
 * the transports that stay within a host.
 *
 * Threads. Clients of all tables take one mutex, for the worker `asking` and all that belongs to
 * connections. The thread takes requests from `serving` without the mutex, and finds their tables
 * by number in an array of atomic pointers. A table is removed when all ranks have completed their
 * operations on it. Then its pointer is cleared, and the call waits until the thread has passed the
 * start of its loop once more, where it uses no table (ucx_serve_pass()).
 *
 * A pending operation belongs to a client of some table, and is in the list of its peer until it is
 * answered or the peer dies. A table that ends takes its clients out of these lists, and gives back
 * the batches that they keep: one that is freed has settled, and one whose ranks have died
 * (pawl_table_shrink()) may have operations on their way, whose answers find no client.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/agree.h"
#include "base/sparse.h"
#include "rma/memory/shm.h"
#include "rma/own_windows.h"
#include "rma/ucx/device.h"

/* LEAST_DESCRIPTORS: two interfaces, and a few connections. */
enum {
	DEVICES = 1024,
	ALIGN = 8,
	HOST = 256,
	LEAST_DESCRIPTORS = UCX_OWN_DESCRIPTORS + 17,
	MOST_NUMBERS = 32,
	MOST_CONTACT = 2048
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

static ucs_status_t open_context(struct ucx_net *n, const char *devices, bool only_tcp)
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
	if (n->by_ucp)
		params.features |= UCP_FEATURE_RMA | UCP_FEATURE_AMO64;
	status = ucp_config_read(NULL, NULL, &config);
	if (status != UCS_OK)
		return status;
	ok = is_set("UCX_NET_DEVICES") || set(config, "NET_DEVICES", devices);
	/* Shared memory has no peer-error mode in UCX 1.13, and would only take room. */
	if (only_tcp)
		ok = ok && set(config, "TLS", "tcp,self");
	/* A host that does not answer must not keep the thread, or a client with the mutex, for
	 * minutes. Later versions have another name for it, and warn of this one; and all warn of
	 * an option that they do not use. */
	ucp_get_version(&major, &minor, &release);
	if (ucx_uses(devices, false) && !is_set("UCX_TCP_CONN_NB") && major == 1 && minor <= 13)
		set(config, "CONN_NB", "y");
	status = ok ? ucp_init(&params, config, &n->context) : UCS_ERR_INVALID_PARAM;
	ucp_config_release(config);
	return status;
}

/* Takes messages that no rank of the table sends to this worker. Without it UCX would log them. */
static ucs_status_t on_other(void *arg, const void *header, size_t header_length, void *data,
			     size_t length, const ucp_am_recv_param_t *param)
{
	struct ucx_net *n = arg;

	(void)header, (void)header_length, (void)data, (void)length, (void)param;
	atomic_fetch_add_explicit(&n->refused, 1, memory_order_relaxed);
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
	int fd[MOST_NUMBERS], taken = 0;

	while (status == UCS_ERR_ALREADY_EXISTS && taken < MOST_NUMBERS) {
		fd[taken++] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		status = ucp_worker_create(context, params, worker);
	}
	while (taken > 0)
		close(fd[--taken]);
	return status;
}

ucs_status_t ucx_open_worker(struct ucx_net *n, ucp_worker_h *worker, int *fd,
			     const ucp_am_recv_callback_t on[WIRE_TYPES], void *arg)
{
	ucp_worker_params_t params = {
	    .field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
	    .thread_mode = UCS_THREAD_MODE_SERIALIZED,
	};
	ucs_status_t status = create_worker(n->context, &params, worker);

	if (status != UCS_OK) {
		*worker = NULL;
		return status;
	}
	status = ucp_worker_get_efd(*worker, fd);
	for (unsigned id = 0; id < WIRE_TYPES && status == UCS_OK; id++)
		status =
		    on[id] ? handle(*worker, id, on[id], arg) : handle(*worker, id, on_other, n);
	return status;
}

/* ---------------------------------------------------------------------- contacts */

/* What a rank tells the first one of its host. */
struct offer {
	int rank;
	int descriptors;
	uint64_t bytes; /* of its contact; 0: the rank has failed */
	char contact[MOST_CONTACT];
};

static void make_offer(const struct ucx_net *n, struct offer *o)
{
	ucp_worker_attr_t attributes = {
	    .field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS | UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS,
	    .address_flags = n->by_ucp ? 0 : UCP_WORKER_ADDRESS_FLAG_NET_ONLY,
	};
	struct ucx_contact *c = (struct ucx_contact *)(void *)o->contact;
	size_t bytes, card = 0;

	memset(o, 0, sizeof *o);
	o->rank = n->rank;
	o->descriptors = n->descriptors > INT_MAX ? INT_MAX : (int)n->descriptors;
	if (ucp_worker_query(n->serving, &attributes) != UCS_OK)
		return;
	bytes = sizeof *c + attributes.address_length;
	if (bytes <= MOST_CONTACT) {
		c->address_bytes = (uint16_t)attributes.address_length;
		memcpy(c->address, attributes.address, attributes.address_length);
	}
	ucp_worker_release_address(n->serving, attributes.address);
	if (n->device) {
		bytes = ucx_card_at(c);
		card = bytes < MOST_CONTACT
			   ? ucx_device_card(n, o->contact + bytes, MOST_CONTACT - bytes)
			   : 0;
		if (!card)
			return;
	}
	if (bytes + card <= MOST_CONTACT)
		o->bytes = bytes + card;
}

/* What the first rank of a host knows. */
struct leader {
	MPI_Comm comm;
	int hosts, host_ranks;
	struct offer *offers; /* of this host */
	size_t stride;        /* of a contact; 0: a rank has failed */
	int64_t descriptors;  /* the least of all ranks */
	int *ranks, *first;   /* [hosts] ranks of each, and where they begin in all */
	char *names;          /* [hosts] of UCX_HOST_BYTES */
	char *mine, *all;     /* records: a rank, and its contact */
};

static size_t record_bytes(const struct leader *l)
{
	return ALIGN + l->stride;
}

/* Collective over the leaders. False: a rank has failed. */
static bool measure(struct leader *l)
{
	int64_t most[3] = {0, INT64_MIN, 0};

	for (int i = 0; l->offers && i < l->host_ranks; i++) {
		const struct offer *o = &l->offers[i];
		int64_t bytes = (int64_t)(o->bytes + ALIGN - 1);

		most[0] = bytes > most[0] ? bytes : most[0];
		most[1] = -o->descriptors > most[1] ? -o->descriptors : most[1];
		most[2] = most[2] || !o->bytes;
	}
	most[2] = most[2] || !l->offers;
	PMPI_Allreduce(MPI_IN_PLACE, most, 3, MPI_INT64_T, MPI_MAX, l->comm);
	l->stride = (size_t)most[0] / ALIGN * ALIGN;
	l->descriptors = -most[1];
	return !most[2];
}

static void pack(struct leader *l)
{
	for (int i = 0; i < l->host_ranks; i++) {
		const struct offer *o = &l->offers[i];
		char *to = l->mine + (size_t)i * record_bytes(l);

		memcpy(to, &o->rank, sizeof o->rank);
		memcpy(to + ALIGN, o->contact, o->bytes);
	}
}

/* Collective over the leaders: all contacts. False: no memory. */
static bool exchange(const struct ucx_net *n, struct leader *l)
{
	char host[MPI_MAX_PROCESSOR_NAME] = "", *name;
	MPI_Datatype record;
	int length, at = 0;

	l->ranks = calloc((size_t)l->hosts, sizeof *l->ranks);
	l->first = calloc((size_t)l->hosts, sizeof *l->first);
	l->names = calloc((size_t)l->hosts + 1, UCX_HOST_BYTES);
	l->mine = calloc((size_t)l->host_ranks, record_bytes(l));
	l->all = malloc((size_t)n->ranks * record_bytes(l));
	if (!all_agree(l->comm, l->ranks && l->first && l->names && l->mine && l->all))
		return false;
	pack(l);
	PMPI_Get_processor_name(host, &length);
	name = l->names + (size_t)l->hosts * UCX_HOST_BYTES;
	snprintf(name, UCX_HOST_BYTES, "%.*s", UCX_HOST_BYTES - 1, host);
	PMPI_Allgather(name, UCX_HOST_BYTES, MPI_CHAR, l->names, UCX_HOST_BYTES, MPI_CHAR, l->comm);
	PMPI_Allgather(&l->host_ranks, 1, MPI_INT, l->ranks, 1, MPI_INT, l->comm);
	for (int i = 0; i < l->hosts; i++) {
		l->first[i] = at;
		at += l->ranks[i];
	}
	PMPI_Type_contiguous((int)record_bytes(l), MPI_BYTE, &record);
	PMPI_Type_commit(&record);
	PMPI_Allgatherv(l->mine, l->host_ranks, record, l->all, l->ranks, l->first, record,
			l->comm);
	PMPI_Type_free(&record);
	return true;
}

static size_t names_at(const struct ucx_net *n, size_t stride)
{
	return sizeof(struct ucx_shared) + (size_t)n->ranks * stride;
}

static size_t ints_at(const struct ucx_net *n, size_t stride, int nodes)
{
	return (names_at(n, stride) + (size_t)nodes * UCX_HOST_BYTES + ALIGN - 1) / ALIGN * ALIGN;
}

int *ucx_route_table(const struct ucx_net *n)
{
	return (int *)(void *)((char *)n->shared +
			       ints_at(n, n->shared->contact_bytes, n->shared->nodes));
}

static size_t shared_bytes(const struct ucx_net *n, size_t stride)
{
	return ints_at(n, stride, ucx_route_nodes(n->node, n->ranks)) +
	       (ucx_route_ints(n->node, n->ranks) + ucx_deaths_ints(n->node, n->ranks)) *
		   sizeof(int);
}

/* Fill the memory of this host, where all is in the order of ranks. */
static void fill(struct ucx_net *n, const struct leader *l, int connections)
{
	struct ucx_shared *s = n->shared;
	const char *from = l->all;
	long most = connections ? connections : (long)(l->descriptors / UCX_SHARE);
	int *table;

	s->contact_bytes = l->stride;
	s->nodes = ucx_route_nodes(n->node, n->ranks);
	for (int h = 0; h < l->hosts; h++)
		for (int i = 0; i < l->ranks[h]; i++, from += record_bytes(l)) {
			int rank;

			memcpy(&rank, from, sizeof rank);
			memcpy(s->contacts + (size_t)rank * l->stride, from + ALIGN, l->stride);
			memcpy((char *)s + names_at(n, l->stride) +
				   (size_t)n->node[rank] * UCX_HOST_BYTES,
			       l->names + (size_t)h * UCX_HOST_BYTES, UCX_HOST_BYTES);
		}
	table = ucx_route_table(n);
	ucx_route_fill(n->node, n->ranks, table);
	s->width = n->by_messages ? ucx_width(table, s->nodes, most) : 0;
	atomic_store(&s->is_filled, 1);
}

static enum rma_failure no_memory(char *err, size_t errlen)
{
	snprintf(err, errlen, "out of memory");
	return RMA_FAIL_NOMEM;
}

/* Of a rank that leads: all up to the window. If it fails, or another rank, stride is 0. */
static enum rma_failure lead(struct ucx_net *n, struct leader *l, bool ok, char *err, size_t errlen)
{
	struct shm_shortage shortage;

	PMPI_Comm_size(l->comm, &l->hosts);
	if (!measure(l)) {
		l->stride = 0;
		return ok && !l->offers ? no_memory(err, errlen) : RMA_OK;
	}
	if (!exchange(n, l)) {
		l->stride = 0;
		return no_memory(err, errlen);
	}
	if (shm_has_room(shared_bytes(n, l->stride), 1, shm_untouched(), false, &shortage))
		return RMA_OK;
	shm_tell(&shortage, "UCX, for the addresses of all ranks,", err, errlen);
	l->stride = 0;
	return RMA_FAIL_NOMEM;
}

/* Collective over the host. Memory for all contacts, which its first rank fills. */
static enum rma_failure share(struct ucx_net *n, const struct rma_request *q, struct leader *l,
			      MPI_Comm host_comm, char *err, size_t errlen)
{
	size_t bytes = l->all ? shared_bytes(n, l->stride) : 0;
	void *base = NULL;
	MPI_Aint size = 0;
	int unit, rc;

	rc = own_windows.allocate_shared((MPI_Aint)bytes, 1, MPI_INFO_NULL, host_comm, &base,
					 &n->win);
	if (rc == MPI_SUCCESS) {
		PMPI_Win_set_errhandler(n->win, MPI_ERRORS_RETURN);
		rc = PMPI_Win_shared_query(n->win, 0, &size, &unit, &base);
	} else {
		n->win = MPI_WIN_NULL;
		n->lacks_win = true;
	}
	if (rc == MPI_SUCCESS && size >= (MPI_Aint)sizeof *n->shared)
		n->shared = base;
	if (n->shared && bytes && !shm_zero(base, bytes))
		n->shared = NULL;
	if (n->shared && bytes)
		fill(n, l, q->connections);
	/* Orders the contacts before the ranks of other nodes of this host read them. */
	if (host_comm != q->node_comm)
		PMPI_Barrier(host_comm);
	if (n->shared)
		return RMA_OK;
	snprintf(err, errlen,
		 "no memory for the addresses of all ranks, which the ranks of a host share: is"
		 " there room in /dev/shm?");
	return RMA_FAIL_NOMEM;
}

/* The offers of a host go to its first rank, also if that has no memory for them. */
static void gather(struct offer *mine, struct leader *l, MPI_Comm host_comm, int host_rank)
{
	struct offer dropped;

	if (host_rank != 0) {
		PMPI_Send(mine, (int)(offsetof(struct offer, contact) + mine->bytes), MPI_BYTE, 0,
			  0, host_comm);
		return;
	}
	l->offers = calloc((size_t)l->host_ranks, sizeof *l->offers);
	if (l->offers)
		l->offers[0] = *mine;
	for (int i = 1; i < l->host_ranks; i++)
		PMPI_Recv(l->offers ? &l->offers[i] : &dropped, sizeof dropped, MPI_BYTE, i, 0,
			  host_comm, MPI_STATUS_IGNORE);
}

/* mine: whether this rank has failed already, with a message in err. */
static enum rma_failure share_contacts(struct ucx_net *n, const struct rma_request *q,
				       enum rma_failure mine, char *err, size_t errlen)
{
	MPI_Comm host_comm = q->host_comm == MPI_COMM_NULL ? q->node_comm : q->host_comm;
	struct leader l = {.comm = q->leaders};
	struct offer offer = {.rank = n->rank};
	char other[512] = "";
	enum rma_failure failure;
	int host_rank, all;

	PMPI_Comm_rank(host_comm, &host_rank);
	PMPI_Comm_size(host_comm, &l.host_ranks);
	if (mine == RMA_OK) {
		make_offer(n, &offer);
		if (!offer.bytes) {
			snprintf(err, errlen, "UCX does not say how to reach a worker");
			mine = RMA_FAIL_WINDOW;
		}
	}
	gather(&offer, &l, host_comm, host_rank);
	failure = host_rank == 0 ? lead(n, &l, mine == RMA_OK, other, sizeof other) : RMA_OK;
	/* No window if a rank has failed: it may lack what the MPI needs for one. */
	all = l.stride > 0;
	PMPI_Bcast(&all, 1, MPI_INT, 0, host_comm);
	if (all)
		failure = share(n, q, &l, host_comm, other, sizeof other);
	free(l.offers);
	free(l.ranks);
	free(l.first);
	free(l.names);
	free(l.mine);
	free(l.all);
	if (mine == RMA_OK && failure != RMA_OK)
		snprintf(err, errlen, "%s", other);
	return mine == RMA_OK ? failure : mine;
}

/* --------------------------------------------------------------------- beginning */

/* Keep the message, and return the failure. */
static enum rma_failure failed(char *err, size_t errlen, enum rma_failure failure, const char *text)
{
	snprintf(err, errlen, "%s", text);
	return failure;
}

/* Local: what this rank alone needs, before it can be reached. */
static enum rma_failure open_here(struct ucx_net *n, const char *devices, bool only_tcp, char *err,
				  size_t errlen)
{
	const ucp_am_recv_callback_t serves[WIRE_TYPES] =
	    {[WIRE_REQUEST] = ucx_on_request, [WIRE_TASK] = ucx_on_task},
				     asks[WIRE_TYPES] = {[WIRE_ANSWER] = ucx_on_answer};
	ucs_status_t status;
	char host[HOST];
	long free_now;

	n->peer = sparse_array((size_t)n->ranks, sizeof *n->peer);
	n->window = sparse_array((size_t)n->ranks, sizeof *n->window);
	if (!n->peer || !n->window || !ucx_messages_open(n) || (n->by_ucp && !ucx_direct_open(n)))
		return failed(err, errlen, RMA_FAIL_NOMEM, "out of memory");
	free_now = ucx_free_descriptors();
	if (free_now < LEAST_DESCRIPTORS) {
		snprintf(
		    err, errlen,
		    "a table over UCX needs %d file descriptors, and rank %d can open %ld more:"
		    " raise the limit (ulimit -n, RLIMIT_NOFILE); option transport=mpi does"
		    " without them",
		    LEAST_DESCRIPTORS, n->rank, free_now);
		return RMA_FAIL_CONNECT;
	}
	status = open_context(n, devices, only_tcp);
	if (status == UCS_OK)
		status = ucx_open_worker(n, &n->serving, &n->serving_fd, serves, n);
	if (status == UCS_OK)
		status = ucx_open_worker(n, &n->asking, &n->asking_fd, asks, n);
	n->descriptors = ucx_free_descriptors();
	if (status == UCS_OK)
		return RMA_OK;
	ucx_name_host(devices, host, sizeof host);
	snprintf(err, errlen,
		 "UCX could not be started on rank %d, %s: %s (UCX_LOG_LEVEL=info tells more);"
		 " option transport=mpi does without it",
		 n->rank, host, ucs_status_string(status));
	return RMA_FAIL_WINDOW;
}

/* Whether operations are those of a device with few atomics: all ranks have one, and not all have a
 * device with all atomics, which UCP uses by itself. */
static bool choose_device(struct ucx_net *n, const char *devices)
{
	struct ucx_found found = ucx_device_find(n, devices);
	bool all = all_agree(n->comm, found.all), few = all_agree(n->comm, found.few);

	if (few && !all)
		return true;
	ucx_device_close(n);
	return false;
}

/* Whether UCP uses TCP alone: that of one host, where the user has not said otherwise; and beside a
 * device, if TCP connects the ranks. UCP only connects then, and TCP tells of a death at once. */
static bool choose_tcp(const struct ucx_net *n, const struct rma_request *q, const char *devices,
		       bool has_rdma)
{
	if (n->device)
		return all_agree(n->comm, ucx_uses(devices, false));
	return (q->one_host || (n->by_messages && !has_rdma)) && !is_set("UCX_TLS");
}

static enum rma_failure begin(struct ucx_net *n, const struct rma_request *q, char *devices,
			      char *err, size_t errlen)
{
	bool has_rdma, any = ucx_choose_devices(n, q, devices, DEVICES, &has_rdma);
	bool only_tcp;

	n->by_ucp = !n->by_messages && !choose_device(n, devices);
	only_tcp = choose_tcp(n, q, devices, has_rdma);
	n->over_rdma = any && ucx_uses(devices, true) && !(n->device && only_tcp);
	if (!any)
		return failed(err, errlen, RMA_FAIL_WINDOW,
			      "no network interface connects all hosts: set UCX_NET_DEVICES to the"
			      " interfaces to use, or option transport to mpi");
	if (!n->has_key)
		return failed(err, errlen, RMA_FAIL_WINDOW,
			      "the kernel gives no random numbers (getrandom) for the key of UCX's"
			      " messages; option transport=mpi does without it");
	ucx_raise_limit();
	return open_here(n, devices, only_tcp, err, errlen);
}

/* What each rank does by itself once it has the contacts. */
static enum rma_failure go_on(struct ucx_net *n, const struct rma_request *q, enum rma_failure mine,
			      char *err, size_t errlen)
{
	bool watches = ucx_watch_open(n, q->node_comm); /* its first step is collective */

	if (mine != RMA_OK || !n->shared)
		return mine;
	/* Before the thread starts, which reads it. */
	atomic_store(&n->table[0], &n->own);
	if (!watches)
		return failed(err, errlen, RMA_FAIL_CONNECT,
			      "a rank has no file descriptor left (ulimit -n, RLIMIT_NOFILE)");
	if (!ucx_serve_start(n))
		return failed(err, errlen, RMA_FAIL_NOMEM,
			      "no thread to serve other ranks could be started");
	return RMA_OK;
}

static enum rma_failure say_apart(const struct ucx_net *n, const char *devices, int about[2],
				  const char *trouble, char *err, size_t errlen)
{
	char host[2][HOST];

	PMPI_Bcast(&about[1], 1, MPI_INT, about[0], n->comm);
	for (int i = 0; i < 2; i++) {
		ucx_name_host(devices, host[i], sizeof host[i]);
		PMPI_Bcast(host[i], HOST, MPI_CHAR, about[i], n->comm);
	}
	if (trouble && n->rank == about[0])
		snprintf(err, errlen,
			 "UCX on rank %d, %s, cannot connect to rank %d, %s: %s. Set"
			 " UCX_NET_DEVICES to interfaces through which the hosts reach each other,"
			 " open all ports between them,%s or use option transport=mpi",
			 about[0], host[0], about[1], host[1], trouble,
			 is_set("UCX_TLS") ? " let UCX_TLS have the transports by which others"
					     " connect (ud_verbs for rc_verbs),"
					   : "");
	PMPI_Bcast(err, (int)errlen, MPI_CHAR, about[0], n->comm);
	return RMA_FAIL_CONNECT;
}

/* Tell all ranks of the result of the first one that has failed. */
static enum rma_failure tell(MPI_Comm comm, enum rma_failure mine, int first, char *err,
			     size_t errlen)
{
	int result = (int)mine;

	PMPI_Bcast(&result, 1, MPI_INT, first, comm);
	PMPI_Bcast(err, (int)errlen, MPI_CHAR, first, comm);
	return (enum rma_failure)result;
}

enum rma_failure ucx_agree(MPI_Comm comm, enum rma_failure mine, char *err, size_t errlen)
{
	int rank, first;

	PMPI_Comm_rank(comm, &rank);
	first = mine == RMA_OK ? INT_MAX : rank;
	PMPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm);
	return first == INT_MAX ? RMA_OK : tell(comm, mine, first, err, errlen);
}

/* Whether the first rank of each node has connected to that of the next one, and each rank to
 * itself if a device changes its words. What is wrong, and with which rank; NULL: nothing. */
static const char *await_connections(struct ucx_net *n, int *rank)
{
	const char *trouble = ucx_watch_await(n);

	*rank = n->watched;
	if (trouble || !n->device)
		return trouble;
	if (n->watched >= 0)
		trouble = ucx_reach_first(n, n->watched);
	if (trouble)
		return trouble;
	*rank = n->rank;
	return ucx_reach_first(n, n->rank);
}

/* Whether all ranks have what they need, and are connected. Collective: the agreement for all that
 * precedes it. */
static enum rma_failure settle(struct ucx_net *n, enum rma_failure mine, const char *devices,
			       char *err, size_t errlen)
{
	int to = -1;
	const char *trouble = n->has_thread ? await_connections(n, &to) : NULL;
	int least[3] = {mine == RMA_OK ? INT_MAX : n->rank, trouble ? n->rank : INT_MAX,
			!n->lacks_win};
	int about[2];

	PMPI_Allreduce(MPI_IN_PLACE, least, 3, MPI_INT, MPI_MIN, n->comm);
	if (!least[2]) /* others may lack it, and the call that frees it would wait for them */
		n->win = MPI_WIN_NULL;
	if (least[0] < INT_MAX)
		return tell(n->comm, mine, least[0], err, errlen);
	if (least[1] == INT_MAX)
		return RMA_OK;
	about[0] = least[1];
	about[1] = to;
	return say_apart(n, devices, about, trouble, err, errlen);
}

/* Without MPI calls. NULL: there is no memory. */
static struct ucx_net *allocate(const struct rma_request *q)
{
	struct ucx_net *n = calloc(1, sizeof *n);

	if (!n)
		return NULL;
	n->table = sparse_array(UCX_TABLES, sizeof *n->table);
	n->comm = q->comm;
	n->win = MPI_WIN_NULL;
	n->kept = q->kept;
	n->node = q->node;
	n->users = 1;
	n->next_pidfd = n->watched = n->watching_fd = -1;
	n->own = (struct rma_ucx){.net = n,
				  .limits = {offsetof(struct ucx_shared, deaths), sizeof(int64_t)},
				  .keys_win = MPI_WIN_NULL};
	n->own_rma.state = &n->own;
	n->notifier.rma = &n->own_rma;
	pthread_mutex_init(&n->mutex, NULL);
	if (n->table)
		return n;
	pthread_mutex_destroy(&n->mutex);
	free(n);
	return NULL;
}

/* mine: whether this rank has failed already, for lack of memory. */
static enum rma_failure make(const struct rma_request *q, struct ucx_net *n, enum rma_failure mine,
			     char *err, size_t errlen)
{
	char devices[DEVICES];
	enum rma_failure failure;

	PMPI_Comm_size(q->comm, &n->ranks);
	PMPI_Comm_rank(q->comm, &n->rank);
	n->my_node = n->node[n->rank];
	failure = begin(n, q, devices, err, errlen);
	if (mine != RMA_OK)
		failure = no_memory(err, errlen);
	failure = share_contacts(n, q, failure, err, errlen);
	failure = go_on(n, q, failure, err, errlen);
	failure = settle(n, failure, devices, err, errlen);
	if (failure == RMA_OK)
		ucx_route_open(n);
	return failure;
}

int ucx_ask(struct rma_request *q, uint32_t *word)
{
	if (q->kept && *q->kept)
		return 0;
	q->begun = allocate(q);
	return ucx_ask_devices(q, q->begun != NULL, word);
}

void ucx_drop(void *begun)
{
	struct ucx_net *n = begun;

	if (!n)
		return;
	pthread_mutex_destroy(&n->mutex);
	sparse_free(n->table, UCX_TABLES, sizeof *n->table);
	free(n);
}

enum rma_failure ucx_net_open(const struct rma_request *q, enum rma_failure mine,
			      struct ucx_net **n, char *err, size_t errlen)
{
	enum rma_failure failure;

	*n = q->kept ? *q->kept : NULL;
	if (*n) {
		failure = ucx_agree(q->comm, mine, err, errlen);
		(*n)->users += failure == RMA_OK;
		return failure;
	}
	*n = q->begun;
	if (!ucx_all_have_memory(q)) {
		ucx_drop(*n);
		return failed(err, errlen, RMA_FAIL_NOMEM, "out of memory");
	}
	failure = make(q, *n, mine, err, errlen);
	if (failure != RMA_OK)
		ucx_net_leave(*n);
	else if (q->kept)
		*q->kept = *n;
	return failure;
}

/* --------------------------------------------------------------------------- end */

static void close_workers(struct ucx_net *n, bool answered)
{
	ucx_disconnect(n);
	ucx_device_close(n);
	ucx_watch_close(n);
	if (n->asking)
		ucp_worker_destroy(n->asking);
	if (n->serving && answered)
		ucp_worker_destroy(n->serving);
	if (n->context && answered)
		ucp_cleanup(n->context);
}

void ucx_net_abandon(struct ucx_net *n)
{
	if (--n->users > 0)
		return;
	if (n->kept)
		*n->kept = NULL;
	ucx_serve_stop(n);
}

void ucx_net_leave(struct ucx_net *n)
{
	bool answered, left;

	if (--n->users > 0)
		return;
	if (n->kept)
		*n->kept = NULL;
	/* The caller's barrier orders the last operations of all ranks before the end of any
	 * thread; what all agree on orders the end of all threads before the end of connections,
	 * which would look like a failure to them.
	 * If a rank still calls another, that one may have an answer which it could not send. UCX
	 * 1.13 aborts a process that destroys a worker with such an answer, so it stays. RDMA
	 * devices connect by datagrams, and there it also aborts one that closes an endpoint which
	 * is being set up, so all stays. */
	ucx_serve_stop(n);
	answered = all_agree(n->comm, ucx_is_answered(n));
	left = !answered && n->over_rdma;
	if (!left)
		close_workers(n, answered);
	ucx_messages_close(n);
	ucx_direct_close(n);
	ucx_perform_close(n);
	sparse_free(n->window, (size_t)n->ranks, sizeof *n->window);
	if (n->win != MPI_WIN_NULL)
		own_windows.free(&n->win);
	pthread_mutex_destroy(&n->mutex);
	explicit_bzero(&n->key, sizeof n->key);
	if (left)
		return;
	sparse_free(n->table, UCX_TABLES, sizeof *n->table);
	free(n);
}
