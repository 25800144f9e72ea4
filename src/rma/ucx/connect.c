/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections of the UCX transport. One is set up when its rank is first used, so a process has as
 * many as it has peers. An empty request and its answer set it up: until the answer has come, no
 * operation is sent over it. So the three ways in which it may end differ:
 *   - It cannot be begun, because the process has no descriptors or memory left for it. UCX 1.13
 *     aborts the process if it runs out of descriptors at some points, and closes the port of a
 *     rank that has none for a connection that arrives. So a rank begins no connection unless some
 *     are left, also for ranks that may still connect to it.
 *   - It is refused, or ends before the answer. No operation was lost, and it is tried again.
 *   - It was up. Then the rank at the other end counts as dead; operations on it fail.
 *     (Endpoints are in peer-error mode.)
 * Where a device performs operations (ucx/device.c), the request and its answer also connect its
 * endpoints. If these fail, the connection has, and no rank need have died.
 */
#include "base/sparse.h"
#include "rma/ucx/device.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* How long after a connection has failed the next one may begin. */
enum { AGAIN_NS = 10000000 };

/* Descriptors that are left to the rest of the process. A client that is in the middle of an
 * acquire or a release may use some of them. */
enum { LEFT_FREE = 8, LEFT_FREE_INSIDE = 3 };

const struct ucx_contact *ucx_contact_of(const struct ucx_net *n, int rank)
{
	return (const struct ucx_contact *)(const void *)(n->shared->contacts +
							  (size_t)rank * n->shared->contact_bytes);
}

const char *ucx_host_of(const struct ucx_net *n, int rank)
{
	return n->shared->contacts + (size_t)n->ranks * n->shared->contact_bytes +
	       (size_t)n->node[rank] * UCX_HOST_BYTES;
}

/* ----------------------------------------------------------------- descriptors */

long ucx_free_descriptors(void)
{
	struct rlimit limit;
	long open = -1; /* not counting the one of the directory */
	DIR *all = opendir("/proc/self/fd");

	if (!all)
		return errno == EMFILE || errno == ENFILE ? 0 : LONG_MAX;
	for (struct dirent *d; (d = readdir(all));)
		open += d->d_name[0] != '.';
	closedir(all);
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= LONG_MAX)
		return LONG_MAX;
	return (long)limit.rlim_cur > open ? (long)limit.rlim_cur - open : 0;
}

void ucx_raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* Descriptors for ranks that have not connected to this one yet, at most half of those that it had
 * at first. */
static long for_callers(const struct ucx_net *n)
{
	long most = n->descriptors / 2, all = n->callers_most;

	return (all < most ? all : most) - atomic_load(&n->callers);
}

static bool has_descriptors(const struct ucx_net *n, bool inside)
{
	long callers = for_callers(n), left = ucx_free_descriptors();

	if (inside || callers < 0)
		callers = 0;
	return left >= callers + (inside ? LEFT_FREE_INSIDE : LEFT_FREE);
}

/* ------------------------------------------------------------------ connections */

ucs_status_t ucx_connect(ucp_worker_h worker, const struct ucx_contact *contact,
			 ucp_err_handler_cb_t on_end, void *arg, ucp_ep_h *ep)
{
	ucp_ep_params_t params = {
	    .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
			  UCP_EP_PARAM_FIELD_ERR_HANDLER,
	    .address = (const ucp_address_t *)(const void *)contact->address,
	    .err_mode = UCP_ERR_HANDLING_MODE_PEER,
	    .err_handler = {on_end, arg},
	};
	ucs_status_t status = ucp_ep_create(worker, &params, ep);

	if (status != UCS_OK)
		*ep = NULL;
	return status;
}

static void on_sent(void *request, ucs_status_t status, void *arg)
{
	(void)status, (void)arg; /* a failure ends the connection */
	ucp_request_free(request);
}

ucs_status_t ucx_greet(const struct ucx_net *n, ucp_ep_h ep, struct ucx_greeting *g, int rank,
		       uint64_t number)
{
	ucp_request_param_t params = ucx_message_params(UCP_AM_SEND_FLAG_REPLY, on_sent, NULL);
	const struct wire_header h = {.type = WIRE_REQUEST,
				      .index = UCX_GREETING,
				      .number = number,
				      .from = n->rank,
				      .to = rank};
	ucs_status_ptr_t status;

	g->number = number;
	g->iov = (ucp_dt_iov_t){&g->message, sizeof g->message.header + g->end_bytes};
	wire_seal(&n->key, &h, &g->message, g->iov.length);
	status = ucp_am_send_nbx(ep, WIRE_REQUEST, NULL, 0, &g->iov, 1, &params);
	return UCS_PTR_IS_ERR(status) ? UCS_PTR_STATUS(status) : UCS_OK;
}

static void lose(struct ucx_peer *p, ucs_status_t status)
{
	struct ucx_net *n = p->net;

	atomic_store(&n->any_dead, true);
	if (ucx_knows_death(n))
		p->loss[0] = '\0';
	else if (!p->loss[0])
		snprintf(
		    p->loss, sizeof p->loss,
		    "the connection to rank %d on host %s has ended (%s): its process, its host or"
		    " the network has failed",
		    p->rank, ucx_host_of(n, p->rank), ucs_status_string(status));
}

void ucx_ended(struct ucx_peer *p, ucs_status_t status)
{
	if (p->state != UCX_CALLING && p->state != UCX_UP)
		return;
	p->status = status;
	p->net->ended_endpoints = true;
	if (p->state == UCX_UP)
		lose(p, status);
	p->refused = p->state != UCX_UP;
	p->state = p->state == UCX_UP ? UCX_DEAD : UCX_REFUSED;
}

static void on_end(void *arg, ucp_ep_h ep, ucs_status_t status)
{
	(void)ep;
	ucx_ended(arg, status);
}

/* Begin to connect. */
static void begin(struct ucx_net *n, struct ucx_peer *p, int rank, bool inside)
{
	p->again_ns = rma_now_ns() + AGAIN_NS;
	p->status = UCS_ERR_EXCEEDS_LIMIT;
	if (!has_descriptors(n, inside))
		return;
	p->state = UCX_CALLING;
	p->status = ucx_connect(n->asking, ucx_contact_of(n, rank), on_end, p, &p->ep);
	if (p->status == UCS_OK && n->device)
		p->status = ucx_device_begin(p);
	if (p->status == UCS_OK)
		p->status = ucx_greet(n, p->ep, &p->greeting, rank, ++p->sent);
	if (p->status != UCS_OK) {
		p->state = UCX_REFUSED;
		n->ended_endpoints = true;
	}
}

struct ucx_peer *ucx_call(struct ucx_net *n, int rank, bool inside)
{
	struct ucx_peer *p = n->peer[rank];

	if (!p) {
		p = calloc(1, sizeof *p);
		if (!p)
			return NULL;
		n->peer[rank] = p;
		p->net = n;
		p->rank = rank;
	}
	if (p->state == UCX_APART && rma_now_ns() >= p->again_ns)
		begin(n, p, rank, inside);
	return p;
}

void ucx_is_up(struct ucx_peer *p)
{
	p->state = UCX_UP;
	p->status = UCS_OK;
	p->refused = false;
	p->trouble[0] = '\0';
}

void ucx_is_greeted(struct ucx_net *n, const struct wire_header *h, const void *bytes,
		    size_t length)
{
	struct ucx_peer *p = n->peer[h->from];

	if (!p || p->state != UCX_CALLING || h->number != p->greeting.number)
		return;
	if (n->device)
		ucx_device_join(p, bytes, length);
	else
		ucx_is_up(p);
}

const char *ucx_trouble(const struct ucx_peer *p)
{
	if (!p || p->status == UCS_ERR_NO_MEMORY)
		return "out of memory";
	if (p->status == UCS_ERR_EXCEEDS_LIMIT)
		return "this process has too few file descriptors left (limit RLIMIT_NOFILE,"
		       " ulimit -n)";
	if (p->trouble[0])
		return p->trouble;
	return p->status == UCS_OK ? "no answer" : ucs_status_string(p->status);
}

void ucx_say_waits(const struct ucx_net *n, int rank, uint64_t lock, uint64_t ns)
{
	const struct ucx_peer *p = n->peer[ucx_route(n, rank)];
	char cure[128] = "see that its host runs and that its ports are open, or end the job";

	if (!p || p->status == UCS_ERR_NO_MEMORY)
		snprintf(cure, sizeof cure, "free memory on this host");
	else if (p->status == UCS_ERR_EXCEEDS_LIMIT)
		snprintf(cure, sizeof cure,
			 "close files, or raise the limit (prlimit --pid=%ld --nofile=NUMBER)",
			 (long)getpid());
	fprintf(stderr,
		"pawl: lock %llu: rank %d of the table has waited %.0f s for a connection to rank"
		" %d on host %s: %s; the call goes on when there is one: %s\n",
		(unsigned long long)lock, n->rank, (double)ns * 1e-9, rank, ucx_host_of(n, rank),
		ucx_trouble(p), cure);
}

/* -------------------------------------------------------------------------- end */

void ucx_close_endpoint(ucp_worker_h worker, ucp_ep_h ep)
{
	static const ucp_request_param_t force = {
	    .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
	    .flags = UCP_EP_CLOSE_FLAG_FORCE,
	};
	ucs_status_ptr_t closing = ucp_ep_close_nbx(ep, &force);

	if (UCS_PTR_IS_PTR(closing)) {
		while (ucp_request_check_status(closing) == UCS_INPROGRESS)
			ucp_worker_progress(worker);
		ucp_request_free(closing);
	}
}

/* This fails the operations that have not been answered and have not failed yet. */
static void close_peer(struct ucx_net *n, struct ucx_peer *p)
{
	ucp_ep_h ep = p->ep;

	ucx_forget_keys(n, p->rank);
	p->ep = NULL;
	if (n->device)
		ucx_device_part(p);
	if (ep)
		ucx_close_endpoint(n->asking, ep);
}

static void tell_clients(struct ucx_net *n, struct ucx_peer *p)
{
	while (p->pending) {
		struct ucx_pending *f = p->pending;

		ucx_pending_done(f, false);
		if (f->is_batch)
			ucx_messages_lost(n, f);
	}
}

void ucx_close_ended(struct ucx_net *n)
{
	while (n->ended_endpoints) {
		n->ended_endpoints = false;
		for (int i = 0; i < n->ranks; i++) {
			struct ucx_peer *p = n->peer[i];

			if (!p || (p->state != UCX_DEAD && p->state != UCX_REFUSED))
				continue;
			close_peer(n, p);
			tell_clients(n, p);
			if (p->state == UCX_REFUSED)
				p->state = UCX_APART;
		}
	}
}

bool ucx_is_answered(const struct ucx_net *n)
{
	for (int i = 0; n->peer && i < n->ranks; i++)
		if (n->peer[i] && n->peer[i]->state == UCX_CALLING)
			return false;
	return atomic_load(&n->watches) != UCX_CALLING;
}

void ucx_disconnect(struct ucx_net *n)
{
	for (int i = 0; n->peer && i < n->ranks; i++)
		if (n->peer[i]) {
			close_peer(n, n->peer[i]);
			free(n->peer[i]);
		}
	sparse_free(n->peer, (size_t)n->ranks, sizeof *n->peer);
	n->peer = NULL;
}
