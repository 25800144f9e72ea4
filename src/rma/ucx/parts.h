/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the UCX transport share; ucx/transport.c says how it works. */
#ifndef RMA_UCX_PARTS_H
#define RMA_UCX_PARTS_H

#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <ucp/api/ucp.h>

#include "rma/ucx/ucx.h"
#include "rma/ucx/gate.h"
#include "rma/ucx/wire.h"

struct rma_ucx;
struct ucx_flight;

/* Behind the words of every segment, at offset rma_ucx.tail: which threads sleep on
 * which NET words of the segment, so that the owner's thread can wake them; and the mark of a
 * death. */
enum { UCX_SLEEPERS = 30 };
struct ucx_sleeper {
	_Atomic(uint64_t) word; /* its offset and 1; 0: free */
	_Atomic(int64_t) value; /* that the sleeper has seen */
};
struct ucx_tail {
	_Atomic(int64_t) sleepers; /* how many there are */
	_Atomic(int64_t) deaths;   /* not 0: a rank of the table died */
	struct ucx_sleeper sleeper[UCX_SLEEPERS];
};
_Static_assert(sizeof(struct ucx_tail) <= RMA_TAIL_BYTES, "the tail has room");

/* How a rank is reached: the same for all ranks of a node, and kept once on each node. */
struct ucx_contact {
	uint64_t base; /* of its segment, there */
	uint16_t address_bytes, rkey_bytes;
	char bytes[]; /* address, then rkey, which messages do not need */
};

/* ------------------------------------------------------------------ operations */

struct ucx_op {
	enum wire_operation kind;
	int64_t value, expected; /* WIRE_CAS: if it is as expected, value */
	int64_t *result;         /* NULL: none */
};

static inline enum wire_operation ucx_fetching(enum rma_op op)
{
	switch (op) {
	case RMA_REPLACE:
		return WIRE_SWAP;
	case RMA_OR:
		return WIRE_OR;
	case RMA_AND:
		return WIRE_AND;
	case RMA_SUM:
		break;
	}
	return WIRE_ADD;
}

/* What has to be done, after a death, in the one way or the other in which operations travel: by
 * UCX's own, or by messages of ours. Under the mutex. */
struct ucx_way {
	void (*issue)(struct rma_client *c, int rank, uint64_t offset, const struct ucx_op *op);
	/* See to it that all that was issued goes, and is complete when it is answered. */
	void (*push)(struct rma_client *c);
	/* A flight failed without UCX. */
	void (*lost)(struct rma_ucx *u, struct ucx_flight *f);
};
extern const struct ucx_way ucx_direct, ucx_messages;
extern const struct rma_transport ucx_direct_transport, ucx_messages_transport;

/* A message is one piece of memory. UCX 1.13 would hand it to the kernel in two, its own header and
 * this, by sendmsg(), which takes longer than to copy it and send(); of an iov it makes a copy. */
static inline ucp_request_param_t ucx_message_params(uint32_t flags,
						     ucp_send_nbx_callback_t on_sent, void *arg)
{
	return (ucp_request_param_t){
	    .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
			    UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_DATATYPE,
	    .flags = UCP_AM_SEND_FLAG_EAGER | flags,
	    .cb.send = on_sent,
	    .user_data = arg,
	    .datatype = ucp_dt_make_iov(),
	};
}

/* What was not answered yet. */
struct ucx_flight {
	struct rma_client *client; /* NULL: it was told that its operation failed */
	struct ucx_peer *peer;
	struct ucx_flight *next, **at; /* in the list of its peer, and the pointer to it there */
};

/* From the first operation until the answer, and until UCX needs the bytes no more. */
struct ucx_batch {
	struct ucx_flight flight; /* it has a client while it is on its way */
	struct ucx_batch *next;   /* open batches of the same client; or spare ones */
	struct ucx_peer *peer;
	int rank, results;
	uint32_t index;
	uint64_t number;   /* of its request: with the rank and the index, it has it once */
	bool sending;      /* UCX may read bytes yet */
	ucp_dt_iov_t used; /* of bytes */
	int64_t *result[RMA_OPERANDS];
	char bytes[WIRE_REQUEST_BYTES];
};
_Static_assert((int)RMA_OPERANDS == (int)WIRE_OPERANDS,
	       "a message has room for a client's operands");

/* An answer. */
struct ucx_answer {
	ucp_dt_iov_t used; /* of bytes */
	char bytes[WIRE_ANSWER_BYTES];
};

/* A rank that this one has talked to. */
struct ucx_peer {
	ucp_ep_h ep;
	ucp_rkey_h rkey;
	uint64_t base;
	bool dead;
	bool stands;   /* it has answered, so the connection does */
	uint64_t sent; /* requests: the number of the last one, counted from 1 */
	struct ucx_flight *flights;
	struct rma_ucx *ucx;
};

struct rma_ucx {
	ucp_context_h context;
	/* Others operate on this segment through serving, which only the thread drives;
	 * clients operate on others through asking, under the mutex. */
	ucp_worker_h serving, asking;
	int serving_fd, asking_fd;
	ucp_mem_h memory;
	pthread_t thread;
	bool has_thread;
	_Atomic(bool) stop;
	bool by_cpu; /* UCX performs atomics by CPU: so do we, on words mapped here */
	const struct ucx_way *way;
	struct gate gate; /* the hosts that may connect to serving, */
	bool has_gate;    /* where hosts are told apart */
	/* Of UCX's own operations: all flights, and those not in use. */
	struct ucx_flight **flight, *spare_flight;
	uint32_t flights;
	/* Of messages: the table's secret, the words that others may operate on, and which of each
	 * rank's requests have come (the thread's); */
	struct siphash_key key;
	struct wire_limits limits;
	struct wire_window *window; /* [ranks] */
	uint64_t performed;         /* requests (the thread's) */
	_Atomic(uint64_t) refused;  /* messages that were none, or came before */
	/* all batches, those not in use, and room for an answer. */
	struct ucx_batch **batch, *spare;
	uint32_t batches;
	struct ucx_answer *answer;
	size_t tail; /* offset of struct ucx_tail */
	int rank, ranks;
	MPI_Comm comm;
	MPI_Win contacts_win;
	const char *contacts; /* [ranks] of contact_bytes each */
	size_t contact_bytes;
	pthread_mutex_t mutex;
	struct ucx_peer **peer; /* [ranks], NULL: never used */
	uint64_t crowded_until; /* for clients; see ucx_yield() */
	unsigned blocked;       /* clients that sleep on asking_fd */
	_Atomic(bool) has_dead;
	bool unburied; /* some of their endpoints are open */
	bool told;     /* all others that there are dead ranks */
	struct rma_client notifier;
	/* Of the thread: whose end it watches (ucx/watch.c); -1: nobody's. */
	int next_pidfd, watched, watching_fd;
	ucp_worker_h watching;
	ucp_ep_h watch_ep;
	ucp_rkey_h watch_rkey;
	_Atomic(bool) watches; /* the connection for that stands, or will not */
	struct wire_header greeting;
	ucp_dt_iov_t greeting_iov;
};

static inline struct rma_ucx *ucx_of(const struct rma *r)
{
	return r->state;
}

static inline struct ucx_tail *ucx_tail_of(const struct rma *r, int rank)
{
	return (struct ucx_tail *)(void *)(r->map[rank] + ucx_of(r)->tail);
}

/* ucx/devices.c: the names of the devices that connect the hosts of comm, for
 * UCX_NET_DEVICES. Collective; false, on all ranks, if there are none. has_rdma: some of them
 * may perform atomics themselves, on some rank. */
bool ucx_choose_devices(MPI_Comm comm, bool one_host, char *text, size_t len, bool *has_rdma);

/* A thread that polls yields between two polls. If the yield took longer than a moment, other
 * threads want the core: then a thread that polls gets it late, and one that sleeps and is woken
 * gets it at once. So there is no polling until crowded_until. The same holds, for a shorter time,
 * where polling was in vain: the kernel may have put the target's thread on the core of the origin,
 * where it gets no turn while the origin polls. */
enum { UCX_MOMENT_NS = 60000, UCX_CROWDED_NS = 20000000, UCX_VAIN_NS = 1000000 };
static inline void ucx_yield(uint64_t *crowded_until)
{
	uint64_t before = rma_now_ns(), after;

	sched_yield();
	after = rma_now_ns();
	if (after - before > UCX_MOMENT_NS)
		*crowded_until = after + UCX_CROWDED_NS;
}

/* ucx/serve.c: the thread that serves others, and threads that sleep until it has. */
bool ucx_serve_start(struct rma *r);
void ucx_serve_stop(struct rma_ucx *u);
void ucx_sleep(struct rma_client *c, struct rma_word w, int64_t value, uint64_t ns);

/* ucx/connect.c: under the mutex. NULL: the rank is dead. */
struct ucx_peer *ucx_peer(struct rma_ucx *u, int rank);
void ucx_bury(struct rma_ucx *u); /* close the endpoints of dead ranks */
void ucx_disconnect(struct rma_ucx *u);
/* Of any worker: an endpoint to the rank with that contact, and its end. *rkey: NULL where there is
 * none. */
const struct ucx_contact *ucx_contact_of(const struct rma_ucx *u, int rank);
bool ucx_connect(ucp_worker_h worker, const struct ucx_contact *contact,
		 ucp_err_handler_cb_t on_end, void *arg, ucp_ep_h *ep, ucp_rkey_h *rkey);
void ucx_close_endpoint(ucp_worker_h worker, ucp_ep_h ep);

/* ucx/open.c: a worker, and what it does with a kind of messages. */
bool ucx_open_worker(struct rma_ucx *u, ucp_worker_h *worker, int *fd, enum wire_kind kind,
		     ucp_am_recv_callback_t on_message, void *arg);

/* ucx/direct.c: flights made beforehand, and their end. */
bool ucx_direct_open(struct rma_ucx *u);
void ucx_direct_close(struct rma_ucx *u);

/* ucx/messages.c, ucx/perform.c. take_message: whether what UCX brought is a message of
 * this kind, for this rank, by a rank of the table; *h is its header. */
bool ucx_take_message(struct rma_ucx *u, enum wire_kind kind, const void *data, size_t length,
		      const ucp_am_recv_param_t *param, struct wire_header *h);
bool ucx_messages_open(struct rma_ucx *u);
void ucx_messages_close(struct rma_ucx *u);
void ucx_perform_close(struct rma_ucx *u);
ucs_status_t ucx_on_answer(void *arg, const void *header, size_t header_length, void *data,
			   size_t length, const ucp_am_recv_param_t *param);
ucs_status_t ucx_on_request(void *arg, const void *header, size_t header_length, void *data,
			    size_t length, const ucp_am_recv_param_t *param);

/* ucx/watch.c: open is collective over node_comm; begin and look, at what is readable, are
 * for the thread; await when those of all ranks run, for UCX 1.13 leaks what it closes before it is
 * connected; close when they have ended. */
void ucx_watch_open(struct rma *r, MPI_Comm node_comm);
void ucx_watch_begin(struct rma *r);
void ucx_watch_await(struct rma_ucx *u);
void ucx_watch_look(struct rma_ucx *u, int fd);
void ucx_watch_close(struct rma_ucx *u);

/* transport.c: what both ways have in common. A flight begins, and ends; until all of c have been
 * answered; all but the last under the mutex. */
void ucx_fly(struct rma_client *c, struct ucx_peer *p, struct ucx_flight *f);
void ucx_land(struct ucx_flight *f, bool well);
void ucx_complete(struct rma_client *c);
/* Whether what is sent to the rank now goes at once. */
bool ucx_is_clear(const struct rma_ucx *u, int rank);
/* Where an operation failed: leave the protocol where it stands. */
void ucx_give_up(struct rma_client *c);
/* Of struct rma_transport, as they are. */
bool ucx_answered(struct rma_client *c, const int64_t *result);
void ucx_progress(struct rma_client *c);
void ucx_close(struct rma *r);
void ucx_leave(struct rma *r);

/* A rank is dead: tell all others. */
void ucx_notify(struct rma *r);

#endif
