/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process outside the job that sends UCX messages to it (ucx_victim.c):
 *
 *   ucx_outsider FILE MESSAGES [PER_SECOND]
 *
 * The job creates FILE, with the ports on which it listens and with messages of its own. This
 * process sends random, truncated, repeated, changed and forged messages (as far as that is
 * possible without the key) to each port that accepts connections, and then creates FILE.done. An
 * address of UCX over TCP is this process's own, except for the port. No MPI here.
 *
 * With PER_SECOND the same messages go in turn to the job and to a worker of this process
 * (outsider_is_attacking), so that the job can distinguish the cost of the messages from that of
 * this process.
 */
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucp/api/ucp.h>

#include "listeners.h"
#include "outsider.h"
#include "rma/ucx/wire.h"

enum { PORTS = 64, RECORDED = 256, BIG = 1 << 17, RENDEZVOUS = 8, FILE_S = 90, BURST = 20 };
#define PATIENCE_S 1.0
#define IGNORED_S 0.02
enum how { CHANCE, CUT, REPEAT, CHANGED, FORGED, HOWS };

struct message {
	unsigned char bytes[WIRE_REQUEST_BYTES];
	size_t length;
	unsigned type;
};

static ucp_context_h context;
static ucp_worker_h worker, listening;
/* The ports of the job, and one of this process. */
static unsigned port[PORTS + 1];
static ucp_ep_h to[PORTS + 1];
static bool ended[PORTS + 1]; /* or did not answer */
static int ports, recorded;
static struct message record[RECORDED];
static unsigned char big[BIG];
static long sent;

_Noreturn static void stop(const char *why)
{
	fprintf(stderr, "ucx_outsider: %s\n", why);
	exit(1);
}

static unsigned below(unsigned n)
{
	return (unsigned)(((unsigned)rand() >> 4) % n);
}

static void nap(double seconds)
{
	nanosleep(&(struct timespec){.tv_sec = (time_t)seconds,
				     .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))},
		  NULL);
}

/* --------------------------------------------------------------- what is known */

static void read_message(const char *line)
{
	struct message *m = &record[recorded];
	unsigned byte;
	int at = 0;

	if (recorded == RECORDED || sscanf(line, "message %u %n", &m->type, &at) != 1)
		return;
	for (line += at; m->length < sizeof m->bytes && sscanf(line, "%2x", &byte) == 1; line += 2)
		m->bytes[m->length++] = (unsigned char)byte;
	recorded++;
}

static void read_file(const char *path)
{
	static char line[1 << 14];
	struct listener l = {.address = htonl(INADDR_LOOPBACK)};
	int open_ports = 0;
	FILE *f = NULL;

	for (int i = 0; i < 10 * FILE_S && !(f = fopen(path, "r")); i++)
		nap(0.1);
	if (!f)
		stop("the job says nothing");
	while (fgets(line, sizeof line, f)) {
		read_message(line);
		if (ports == PORTS || sscanf(line, "port %u", &port[ports]) != 1)
			continue;
		open_ports++;
		l.port = port[ports];
		ports += listener_takes(&l);
	}
	fclose(f);
	fprintf(stderr, "ucx_outsider: %d of %d ports take connections\n", ports, open_ports);
	if (!ports || recorded < 2)
		stop("the job names no port, or no message");
}

/* -------------------------------------------------------------------- UCX */

static void open_worker(ucp_worker_h *w)
{
	ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
				      .thread_mode = UCS_THREAD_MODE_SINGLE};

	if (ucp_worker_create(context, &params, w) != UCS_OK)
		stop("no worker");
}

static ucs_status_t drop(void *arg, const void *header, size_t header_length, void *data,
			 size_t length, const ucp_am_recv_param_t *param)
{
	(void)arg, (void)header, (void)header_length, (void)data, (void)length, (void)param;
	return UCS_OK;
}

/* Receive messages, and ignore them. */
static void take_messages(ucp_worker_h w)
{
	for (unsigned id = 0; id <= WIRE_ANSWER; id++) {
		ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
								UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
								UCP_AM_HANDLER_PARAM_FIELD_CB,
						  .id = id,
						  .flags = UCP_AM_FLAG_WHOLE_MSG,
						  .cb = drop};

		if (ucp_worker_set_am_recv_handler(w, &handler) != UCS_OK)
			stop("no handler");
	}
}

static void open_ucx(void)
{
	ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_AM};
	ucp_config_t *config;

	if (ucp_config_read(NULL, NULL, &config) != UCS_OK)
		stop("no configuration");
	ucp_config_modify(config, "TLS", "tcp,self");
	ucp_config_modify(config, "NET_DEVICES", "lo");
	if (ucp_init(&params, config, &context) != UCS_OK)
		stop("UCX does not start");
	ucp_config_release(config);
	open_worker(&worker);
	open_worker(&listening);
	take_messages(listening);
}

static void on_end(void *arg, ucp_ep_h ep, ucs_status_t status)
{
	(void)ep, (void)status;
	*(bool *)arg = true;
}

/* Connect to the port of the job or, if own, to this process. */
static void connect_to(int which, bool own)
{
	static struct listener mine[MOST_LISTENERS];
	ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
						UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
						UCP_EP_PARAM_FIELD_ERR_HANDLER,
				  .err_mode = UCP_ERR_HANDLING_MODE_PEER,
				  .err_handler = {on_end, &ended[which]}};
	int n = own ? 0 : listeners_find(mine), patched = own;
	ucp_address_t *address;
	uint16_t wanted = htons((uint16_t)port[which]);
	size_t length;
	char *copy;

	if (ucp_worker_get_address(listening, &address, &length) != UCS_OK)
		stop("no address");
	copy = malloc(length);
	memcpy(copy, address, length);
	for (size_t i = 0; i + sizeof wanted <= length; i++)
		for (int k = 0; k < n; k++) {
			uint16_t is = htons((uint16_t)mine[k].port);

			if (memcmp(copy + i, &is, sizeof is) != 0)
				continue;
			memcpy(copy + i, &wanted, sizeof wanted);
			patched++;
			break;
		}
	params.address = (const ucp_address_t *)(const void *)copy;
	if (!patched || ucp_ep_create(worker, &params, &to[which]) != UCS_OK)
		stop("no endpoint");
	ucp_worker_release_address(listening, address);
	free(copy);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Whether the request completes in that time. The job may ignore it for ever. */
static bool await(int which, ucs_status_ptr_t request, double seconds)
{
	double end = now() + seconds;
	ucs_status_t status;

	if (!UCS_PTR_IS_PTR(request))
		return !UCS_PTR_IS_ERR(request);
	do {
		ucp_worker_progress(worker);
		ucp_worker_progress(listening);
		status = ucp_request_check_status(request);
	} while (status == UCS_INPROGRESS && !ended[which] && now() < end);
	ucp_request_free(request);
	return status == UCS_OK;
}

/* A port that does not accept the message is not used any more: a worker that is not progressed
 * does not answer. */
static void send_bytes(int which, unsigned type, const void *bytes, size_t length, unsigned flags)
{
	ucp_request_param_t params = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = flags};

	if (await(which, ucp_am_send_nbx(to[which], type, NULL, 0, bytes, length, &params),
		  PATIENCE_S))
		sent += which < ports;
	else
		ended[which] = true;
}

/* --------------------------------------------------------------------- attack */

static void chance(struct message *m)
{
	m->length = below(sizeof m->bytes + 1);
	for (size_t i = 0; i < m->length; i++)
		m->bytes[i] = (unsigned char)below(256);
}

/* A request that would overwrite words, with a high number, to either rank. */
static void forge(struct message *m)
{
	struct wire_header h = {.tag = (uint64_t)rand() << 32 ^ (uint64_t)rand(),
				.number = (uint64_t)rand(),
				.type = WIRE_REQUEST,
				.from = (int32_t)below(2),
				.to = (int32_t)below(2)};
	struct wire_op op = {.value = -1};

	m->type = WIRE_REQUEST;
	m->length = sizeof h;
	memcpy(m->bytes, &h, sizeof h);
	for (unsigned n = 1 + below(20); n > 0; n--) {
		op.where = (uint64_t)below(1 << 15) * 8 << WIRE_OPERATION_BITS |
			   (below(2) ? WIRE_PUT : WIRE_SWAP);
		memcpy(m->bytes + m->length, &op, WIRE_OP_LEAST);
		m->length += WIRE_OP_LEAST;
	}
}

static void attack(int which, int i)
{
	struct message m = record[below((unsigned)recorded)];

	switch ((enum how)(i % HOWS)) {
	case CHANCE:
		chance(&m);
		break;
	case CUT:
		m.length = below((unsigned)m.length);
		break;
	case REPEAT:
		break;
	case CHANGED:
		for (unsigned n = 1 + below(3); n > 0; n--)
			m.bytes[below((unsigned)m.length)] ^= (unsigned char)(1u << below(8));
		break;
	default:
		forge(&m);
	}
	send_bytes(which, m.type, m.bytes, m.length,
		   UCP_AM_SEND_FLAG_EAGER | (i / HOWS % 2 ? UCP_AM_SEND_FLAG_REPLY : 0));
}

/* Messages whose data the receiver fetches, instead of having it behind the header. */
static void rendezvous(int which)
{
	for (int i = 0; i < RENDEZVOUS && !ended[which]; i++) {
		ucp_request_param_t params = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
					      .flags = UCP_AM_SEND_FLAG_RNDV};

		await(which,
		      ucp_am_send_nbx(to[which], WIRE_REQUEST + (unsigned)i % 2, NULL, 0, big,
				      sizeof big, &params),
		      IGNORED_S);
	}
}

/* The number of messages due since the start at this rate; 0 a second: no limit. */
static void await_turn(long number, int per_second, double start)
{
	double due = start + (per_second ? (double)(number / BURST * BURST) / per_second : 0);

	if (number % BURST == 0 && due > now())
		nap(due - now());
}

static int answering(void)
{
	int n = 0;

	for (int k = 0; k < ports; k++)
		n += !ended[k];
	return n;
}

/* Send to each port that answers, in turn. */
static void attack_all(int messages, int per_second)
{
	long number = 0;
	double start;

	for (int i = 0; i < ports; i++) {
		connect_to(i, false);
		attack(i, i);
	}
	connect_to(ports, true);
	fprintf(stderr, "ucx_outsider: %d of %d ports answer\n", answering(), ports);
	start = now();
	for (int i = 0; answering() && sent < messages; number++) {
		await_turn(number, per_second, start);
		if (per_second && !outsider_is_attacking()) {
			attack(ports, (int)number);
			continue;
		}
		if (!ended[i % ports])
			attack(i % ports, i / ports);
		i++;
	}
	for (int i = 0; i < ports; i++)
		rendezvous(i);
	for (int i = 0; i < ports; i++) {
		static const ucp_request_param_t none;

		if (!ended[i])
			await(i, ucp_ep_flush_nbx(to[i], &none), PATIENCE_S);
	}
}

int main(int argc, char **argv)
{
	char done[4096];
	int messages = argc > 2 ? atoi(argv[2]) : 0;
	FILE *f;

	if (messages < 1)
		stop("usage: ucx_outsider FILE MESSAGES [PER_SECOND]");
	read_file(argv[1]);
	open_ucx();
	srand(1);
	attack_all(messages, argc > 3 ? atoi(argv[3]) : 0);
	nap(0.2);
	snprintf(done, sizeof done, "%s.done", argv[1]);
	f = fopen(done, "w");
	if (!f || fprintf(f, "%ld\n", sent) < 0 || fclose(f) != 0)
		stop("no file");
	return 0;
}
