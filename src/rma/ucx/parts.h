/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the UCX transport share; ucx/transport.c says how it works. */
#ifndef RMA_UCX_PARTS_H
#define RMA_UCX_PARTS_H

#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <ucp/api/ucp.h>

#include "rma/ucx/deaths.h"
#include "rma/ucx/ucx.h"
#include "rma/ucx/wire.h"

struct ucx_net;
struct rma_ucx;
struct ucx_pending;

/* In every segment, at RMA_TRANSPORT_AT: the threads that sleep on NET words of the segment, which
 * the thread that changes a word has to wake. */
enum { UCX_SLEEPERS = 30 };
struct ucx_sleeper {
	_Atomic(uint64_t) word; /* its offset + 1; 0: the entry is free */
	_Atomic(int64_t) value; /* as the sleeper has seen it */
};
struct ucx_asleep {
	_Atomic(int64_t) sleepers; /* their number, registered below or not */
	struct ucx_sleeper sleeper[UCX_SLEEPERS];
};
_Static_assert(sizeof(struct ucx_asleep) <= RMA_TRANSPORT_BYTES, "it has room");

enum { UCX_TABLES = 65536 };

/* How a process reaches others: the same for all of them, so the ranks of a host share one copy. At
 * `contacts` is a struct ucx_contact of contact_bytes for each rank. Behind these are the name of
 * the host of each node, and the integers of ucx/route.c. Behind the address of a contact, at a
 * multiple of 8 bytes, is what ucx/device.c adds. */
struct ucx_shared {
	_Atomic(int64_t) deaths; /* of ranks of the communicator, and lost connections: deaths.c */
	_Atomic(int) is_filled;
	int width, nodes; /* see ucx_route() */
	uint64_t contact_bytes;
	char contacts[]; /* at a multiple of 8 bytes, where all MPIs place a window */
};
struct ucx_contact {
	uint16_t address_bytes;
	char address[];
};
static inline size_t ucx_card_at(const struct ucx_contact *c)
{
	return (offsetof(struct ucx_contact, address) + c->address_bytes + 7) / 8 * 8;
}

/* For UCX's own operations: the segment of a rank in a table. */
struct ucx_key {
	uint64_t base; /* in the address space of the rank */
	uint64_t rkey_bytes;
	char rkey[];
};

/* ------------------------------------------------------------------ operations */

struct ucx_op {
	enum wire_operation code;
	int64_t value, expected; /* expected: for WIRE_CAS */
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

extern const struct rma_transport ucx_direct_transport, ucx_messages_transport;

/* Parameters to send a message, one piece of memory, as an iov. UCX 1.13 copies an iov behind its
 * own header and calls send(); a contiguous message it passes to sendmsg() in two pieces, which
 * takes longer. */
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

/* An operation or a message that has not been answered. */
struct ucx_pending {
	struct rma_client *client; /* NULL: it was answered, or the client knows that it failed */
	struct ucx_peer *peer;
	struct ucx_pending *next, **at; /* in the list of its peer; the pointer to this one */
	bool is_batch;                  /* a struct ucx_batch */
};

/* A request message: in use from its first operation until it is answered and UCX no longer needs
 * its bytes. */
struct ucx_batch {
	struct ucx_pending pending; /* has a client until the message is answered */
	struct ucx_batch *next;     /* in the list of a client's open batches, or of spare ones */
	struct ucx_peer *peer;
	const struct rma_ucx *table; /* of the client that has it; NULL: it is spare */
	enum wire_type type;         /* WIRE_REQUEST or WIRE_TASK */
	int rank, results;           /* the rank whose segment it names */
	uint32_t index;
	uint64_t number;   /* of its request; rank, index and number together are never reused */
	bool sending;      /* UCX may still read bytes */
	ucp_dt_iov_t used; /* the part of bytes in use */
	int64_t *result[WIRE_OPERANDS];
	char bytes[WIRE_REQUEST_BYTES];
	/* Of a task: its message, in place of bytes (NULL: none so far), and its result. */
	char *task;
	int64_t *task_result;
	size_t task_words;
};
_Static_assert((int)WIRE_OPERANDS >= (int)RMA_ORDERED, "a message has room for what is ordered");
_Static_assert(WIRE_TASK_BYTES - sizeof(struct wire_header) == RMA_TASK_BYTES &&
		   WIRE_ANSWER_BYTES - sizeof(struct wire_header) == RMA_RESULT_BYTES,
	       "a message has room for a task, and its answer for the result");

/* The pending operations of a client. */
struct ucx_client {
	_Atomic(unsigned) unanswered; /* operations not yet answered */
	struct rma_doubt doubt;       /* since a death is known */
	/* Of messages: those that are not sent yet, and a spare one. */
	struct ucx_batch *open, *ready;
};

/* The same, with what a client has of UCX's own operations. */
enum { UCX_OPERANDS = 64, UCX_NO_PUT = 0, UCX_MANY_PUTS = -1 };
struct ucx_direct_client {
	struct ucx_client client;
	int put_to;         /* 1 + the target of puts that are not flushed, if all have the same */
	unsigned n, issued; /* operations since they were all answered */
	struct ucx_direct_op {
		enum wire_operation code;
		int rank;
		uint64_t offset;
		int64_t value, expected; /* where UCX reads them */
		int64_t *result;
	} op[UCX_OPERANDS];
};
_Static_assert(sizeof(struct ucx_direct_client) <= RMA_OWN_BYTES, "it fits into a client");

static inline struct ucx_client *ucx_client(struct rma_client *c)
{
	return rma_own(c);
}

static inline struct ucx_direct_client *ucx_direct_client(struct rma_client *c)
{
	return rma_own(c);
}

/* An answer message. */
struct ucx_answer {
	ucp_dt_iov_t used; /* the part of bytes in use */
	_Alignas(int64_t) char bytes[WIRE_ANSWER_BYTES];
};

/* The request that sets up a connection. It has no operations, but the address of an endpoint of
 * the device, if there is one. Its index is that of no batch. */
enum { UCX_GREETING = -1, UCX_END_BYTES = 64 };
struct ucx_greeting {
	struct {
		struct wire_header header;
		char end[UCX_END_BYTES];
	} message;
	size_t end_bytes;
	ucp_dt_iov_t iov;
	uint64_t number;
};

/* A rank that this rank operates on. */
enum ucx_state {
	UCX_APART,   /* there is no connection */
	UCX_CALLING, /* it is being set up */
	UCX_REFUSED, /* it has failed before it was up, and is to be closed */
	UCX_UP,
	UCX_DEAD, /* it has failed: so the rank is dead */
};
struct ucx_peer {
	ucp_ep_h ep;
	int rank;
	enum ucx_state state;
	bool refused;        /* a connection to it has failed, and none has been up since */
	ucs_status_t status; /* of the last connection */
	uint64_t again_ns;   /* when the next one may begin */
	uint64_t sent;       /* the number of the last request; the first one is 1 */
	struct ucx_greeting greeting;
	struct ucx_pending *pending;
	struct ucx_net *net;
	bool told;        /* of a death, by this rank */
	char trouble[96]; /* of the device, with the last connection */
	char loss[256];   /* how it was lost, if no process need have died */
};

/* A node that this rank tells of a death: how many of its ranks have been asked for an answer in
 * vain, and since when the next one has been. */
struct ucx_telling {
	int asked;
	uint64_t since_ns;
};

/* A table. */
struct rma_ucx {
	struct ucx_net *net;
	char *const *map; /* of its struct rma */
	uint32_t number;  /* in the net */
	bool left;        /* the net; its ranks or the MPI have ended */
	bool by_cpu;      /* mapped words are changed by CPU */
	struct wire_limits limits;
	_Atomic(rma_serve *) serve; /* performs tasks, with serve_arg; NULL: there are none */
	void *serve_arg;
	/* Of UCX's own operations, and those of a device (ucx/device.c). */
	MPI_Win keys_win;
	const char *keys; /* [ranks] of key_bytes */
	size_t key_bytes;
	ucp_mem_h memory;
	ucp_rkey_h *rkey; /* [ranks], NULL: not unpacked */
	struct device_table *on_device;
};

/* What the tables of a communicator share: the workers and connections of this process, its thread,
 * and the contacts. */
struct ucx_net {
	ucp_context_h context;
	/* Other ranks operate on segments through serving, which only the thread drives. This
	 * rank's clients operate on other segments through asking, under the mutex. */
	ucp_worker_h serving, asking;
	int serving_fd, asking_fd;
	pthread_t thread;
	bool has_thread;
	_Atomic(bool) stop;
	/* Who performs operations: the target's thread, as messages ask; UCX itself; or else a
	 * device, one level below UCX (ucx/device.c). */
	bool by_messages, by_ucp;
	struct ucx_device *device;
	bool over_rdma; /* connections of UCP are over RDMA devices */
	/* The tables by number; number 0 is `own`, whose only words are the flags of deaths. The
	 * thread has not looked at a table that was removed since `seen` is what `removed` was. */
	_Atomic(struct rma_ucx *) *table;
	_Atomic(uint32_t) tables; /* one more than the highest number that was in use */
	_Atomic(uint64_t) removed, seen;
	struct rma_ucx own;
	struct rma own_rma;
	/* Of UCX's own operations: all of struct ucx_pending, and the spare ones. */
	struct ucx_pending **pending, *spare_pending;
	uint32_t n_pending;
	/* Of messages: the key, which requests of each rank have been accepted (used by the thread
	 * only), ... */
	struct siphash_key key;
	bool has_key;
	struct wire_window *window; /* [ranks] */
	uint64_t performed;         /* requests (used by the thread only) */
	_Atomic(uint64_t) refused;  /* messages that were forged, misled or replayed; wire.h */
	/* ... all batches, the spare ones, and a buffer for an answer. */
	struct ucx_batch **batch, *spare;
	uint32_t batches;
	struct ucx_answer *answer;
	void **kept; /* where the pointer to it is */
	int users;   /* tables */
	int rank, ranks, my_node;
	const int *node; /* [ranks] */
	/* The ranks of the nodes, one node after the other, where each begins, and where each rank
	 * is in its node; only if a process does not connect to all ranks of a node. */
	const int *member, *first, *index;
	MPI_Comm comm;
	MPI_Win win;
	bool lacks_win; /* it could not be made on this rank */
	struct ucx_shared *shared;
	pthread_mutex_t mutex;
	struct ucx_peer **peer; /* [ranks], NULL: never used */
	long descriptors;       /* that were free when the workers had been created */
	int callers_most;       /* ranks that may connect to this one, and how many have done so */
	_Atomic(int) callers;
	uint64_t crowded_until;   /* for clients; see ucx_yield() */
	unsigned blocked;         /* clients that sleep on asking_fd */
	_Atomic(bool) any_dead;   /* or a connection is lost */
	_Atomic(bool) sees_death; /* itself */
	bool ended_endpoints;     /* endpoints that have failed are still open */
	/* Used by the thread only (ucx/deaths.c): a death, of which it has known since death_ns, by
	 * a message or not; whether this rank tells others, and whether its node has told all. */
	uint64_t death_ns;
	bool is_told, tells, notified;
	struct ucx_telling telling[DEATHS_WAYS];
	struct rma_client notifier;
	/* Used by the thread only: whom it watches (ucx/watch.c); -1: no process. */
	int next_pidfd, watched, watching_fd;
	ucp_worker_h watching;
	ucp_ep_h watch_ep;
	_Atomic(int) watches; /* enum ucx_state of the connection to watched */
	ucs_status_t watch_status;
	struct ucx_greeting watch_greeting;
};

static inline struct rma_ucx *ucx_of(const struct rma *r)
{
	return r->state;
}

static inline struct ucx_net *ucx_net_of(const struct rma *r)
{
	return ucx_of(r)->net;
}

static inline struct ucx_asleep *ucx_asleep_in(char *const *map, int rank)
{
	return (struct ucx_asleep *)(void *)(map[rank] + RMA_TRANSPORT_AT);
}

/* ucx/devices.c: what the ranks ask each other before the first table, as words for
 * rma_network_ask(); returns how many. has_memory: this rank has had enough. Collective over the
 * first ranks of hosts. */
int ucx_ask_devices(const struct rma_request *q, bool has_memory, uint32_t *word);
/* What all ranks have said in q->said: whether they all have had enough memory; and then, the names
 * of the devices that connect the hosts, for UCX_NET_DEVICES; rank 0's n->key; and n->by_messages
 * is set: no rank has a UCX_ATOMIC_MODE other than cpu, or, if none has any, a device that may
 * perform atomics. False on a rank that has no such device. has_rdma: on some rank, some of them
 * may perform atomics themselves. */
bool ucx_all_have_memory(const struct rma_request *q);
bool ucx_choose_devices(struct ucx_net *n, const struct rma_request *q, char *text, size_t len,
			bool *has_rdma);
/* Whether some of these devices, or of those of UCX_NET_DEVICES, are for RDMA, or for TCP, which
 * UCX_TLS may exclude. */
bool ucx_uses(const char *devices, bool rdma);
/* For messages: this host, and what these or those of UCX_NET_DEVICES are: "h1 (eth0 10.0.0.1)";
 * and what may keep UCX from them: UCX_TLS, files that the process may not open, a limit of memory.
 */
void ucx_name_host(const char *devices, char *text, size_t len);

/* A thread that polls yields between two polls. If the yield takes longer than a moment, other
 * threads want the core. A polling thread then gets the core back late, but a sleeping thread gets
 * it as soon as it is woken; so threads do not poll until crowded_until. The same holds, for a
 * shorter time, after polling in vain: the kernel may have put the target's thread on the core of
 * the origin, where it does not run while the origin polls. */
enum { UCX_MOMENT_NS = 60000, UCX_CROWDED_NS = 20000000, UCX_VAIN_NS = 1000000 };
static inline void ucx_yield(uint64_t *crowded_until)
{
	uint64_t before = rma_now_ns(), after;

	sched_yield();
	after = rma_now_ns();
	if (after - before > UCX_MOMENT_NS)
		*crowded_until = after + UCX_CROWDED_NS;
}

/* ucx/serve.c: the thread that serves other ranks, and the sleep of a client until it does. */
bool ucx_serve_start(struct ucx_net *n);
void ucx_serve_stop(struct ucx_net *n);
/* Wait until the thread no longer looks at a table that has been removed. */
void ucx_serve_pass(struct ucx_net *n);
/* For the thread: wake those that sleep on words of the segment that have changed. */
void ucx_wake_sleepers(const struct rma_ucx *u, int segment);
void ucx_sleep(struct rma_client *c, struct rma_word w, int64_t value, uint64_t ns);

/* ucx/connect.c. Descriptors that the process may still open; the soft limit becomes the hard
 * one. */
long ucx_free_descriptors(void);
void ucx_raise_limit(void);
/* ucx/route.c. How many nodes there are. Where ranks are in their nodes, the same for all
 * processes: so many ints, which begin with the first place of each node; and what ucx_route()
 * needs. */
int ucx_route_nodes(const int *node, int ranks);
size_t ucx_route_ints(const int *node, int ranks);
void ucx_route_fill(const int *node, int ranks, int *to);
void ucx_route_open(struct ucx_net *n);
int *ucx_route_table(const struct ucx_net *n); /* in the shared memory */
/* The ranks of a node, and how many they are. */
const int *ucx_route_ranks(const struct ucx_net *n, int node, int *size);
/* The rank to which requests on this rank's segment go: itself, or another one of its node. Under
 * the mutex. */
int ucx_route_by_node(const struct ucx_net *n, int rank);
static inline int ucx_route(const struct ucx_net *n, int rank)
{
	return n->index ? ucx_route_by_node(n, rank) : rank;
}
/* Under the mutex: begin to connect to the rank, unless that has begun. inside: the client is in
 * the middle of a protocol. NULL: out of memory. Clients call ucx_reach(). */
struct ucx_peer *ucx_call(struct ucx_net *n, int rank, bool inside);
/* An answer has come, with so many bytes behind its header; the connection is up; it has ended. */
void ucx_is_greeted(struct ucx_net *n, const struct wire_header *h, const void *bytes,
		    size_t length);
void ucx_is_up(struct ucx_peer *p);
void ucx_ended(struct ucx_peer *p, ucs_status_t status);
const char *ucx_trouble(const struct ucx_peer *p); /* why it is not up */
/* Tell the user that a client of the lock has waited so long for a connection, and what to do. */
void ucx_say_waits(const struct ucx_net *n, int rank, uint64_t lock, uint64_t ns);
void ucx_close_ended(struct ucx_net *n); /* close the endpoints that have failed */
/* When no thread uses them any more: whether all ranks that this one has called have answered. */
bool ucx_is_answered(const struct ucx_net *n);
void ucx_disconnect(struct ucx_net *n);
/* For any worker: an endpoint to the rank with this contact; its first request; its end. */
const struct ucx_contact *ucx_contact_of(const struct ucx_net *n, int rank);
const char *ucx_host_of(const struct ucx_net *n, int rank);
ucs_status_t ucx_connect(ucp_worker_h worker, const struct ucx_contact *contact,
			 ucp_err_handler_cb_t on_end, void *arg, ucp_ep_h *ep);
ucs_status_t ucx_greet(const struct ucx_net *n, ucp_ep_h ep, struct ucx_greeting *g, int rank,
		       uint64_t number);
void ucx_close_endpoint(ucp_worker_h worker, ucp_ep_h ep);

/* ucx/net.c: the one at q->kept, which is opened if there is none, and closed when its last table
 * leaves it. mine: whether this rank has failed already. Collective; the result is the same on all
 * ranks. */
enum rma_failure ucx_net_open(const struct rma_request *q, enum rma_failure mine,
			      struct ucx_net **n, char *err, size_t errlen);
void ucx_net_leave(struct ucx_net *n);
/* In its place where ranks or the MPI have ended: local, and the net stays in memory. */
void ucx_net_abandon(struct ucx_net *n);
/* Create a worker; it handles messages of the types for which there is a function. */
ucs_status_t ucx_open_worker(struct ucx_net *n, ucp_worker_h *worker, int *fd,
			     const ucp_am_recv_callback_t on[WIRE_TYPES], void *arg);
/* The result, and its message, of the first rank that has failed. Collective. */
enum rma_failure ucx_agree(MPI_Comm comm, enum rma_failure mine, char *err, size_t errlen);

/* ucx/direct.c: allocate and free what pending operations need; ucx/open.c: the key of a segment,
 * for operations through p; an endpoint is going to be closed. Under the mutex. */
bool ucx_direct_open(struct ucx_net *n);
void ucx_direct_close(struct ucx_net *n);
void ucx_direct_forget(const struct rma_ucx *u); /* as ucx_messages_forget() */
ucp_rkey_h ucx_key_of(struct rma_ucx *u, struct ucx_peer *p, uint64_t *base);
const char *ucx_packed_key(const struct rma_ucx *u, int rank, uint64_t *base);
void ucx_forget_keys(struct ucx_net *n, int rank);

/* ucx/messages.c, ucx/perform.c. ucx_take_message: whether data is a message of this type to this
 * rank, by a rank of the communicator; *h is its header. Under the mutex: an operation in a
 * message, whatever the transport's way is; send those of c; its peer died. */
bool ucx_take_message(struct ucx_net *n, enum wire_type type, const void *data, size_t length,
		      const ucp_am_recv_param_t *param, struct wire_header *h);
bool ucx_messages_open(struct ucx_net *n);
void ucx_messages_close(struct ucx_net *n);
/* Under the mutex: the table ends, and no client has an operation that it waits for. */
void ucx_messages_forget(const struct rma_ucx *u);
void ucx_messages_issue(struct rma_client *c, int rank, uint64_t offset, const struct ucx_op *op);
void ucx_messages_push(struct rma_client *c);
void ucx_messages_lost(struct ucx_net *n, struct ucx_pending *f);
void ucx_perform_close(struct ucx_net *n);
ucs_status_t ucx_on_answer(void *arg, const void *header, size_t header_length, void *data,
			   size_t length, const ucp_am_recv_param_t *param);
ucs_status_t ucx_on_request(void *arg, const void *header, size_t header_length, void *data,
			    size_t length, const ucp_am_recv_param_t *param);
ucs_status_t ucx_on_task(void *arg, const void *header, size_t header_length, void *data,
			 size_t length, const ucp_am_recv_param_t *param);
bool ucx_serve_tasks(struct rma *r, rma_serve *fn, void *arg);

/* A wait of so many ns, in which time counts only as far as this process has run: one that is
 * stopped, or a machine that is suspended, has not waited. Sleeps for a moment; false: it is over.
 */
struct ucx_patience {
	uint64_t last, left;
};
struct ucx_patience ucx_patience(uint64_t ns);
bool ucx_is_patient(struct ucx_patience *p);

/* ucx/watch.c. open is collective over node_comm; false: no descriptor is left. begin and look are
 * for the thread; look handles a readable fd. await waits until the connection is up, also because
 * UCX 1.13 leaks an endpoint that is closed before; NULL: it is up, or there is none; else what is
 * wrong. close comes after all threads have ended. */
bool ucx_watch_open(struct ucx_net *n, MPI_Comm node_comm);
void ucx_watch_begin(struct ucx_net *n);
const char *ucx_watch_await(struct ucx_net *n);
void ucx_watch_look(struct ucx_net *n, int fd);
void ucx_watch_close(struct ucx_net *n);

/* transport.c: what both ways have in common. Under the mutex: begin a pending operation; end it;
 * wait until all operations of c have been answered. */
void ucx_pending_add(struct rma_client *c, struct ucx_peer *p, struct ucx_pending *f);
void ucx_pending_done(struct ucx_pending *f, bool ok);
void ucx_complete(struct rma_client *c);
bool ucx_step(struct ucx_net *n); /* drive `asking`; whether anything came. Under the mutex */
/* Under the mutex: whom requests on the rank's segment go to, as soon as the connection is up.
 * NULL: c has failed, because the rank is dead, or cannot be reached before c has changed any word.
 * Otherwise waits as long as it takes. */
struct ucx_peer *ucx_reach_slowly(struct rma_client *c, int rank);
static inline struct ucx_peer *ucx_reach(struct rma_client *c, int rank)
{
	const struct ucx_net *n = ucx_net_of(c->rma);
	struct ucx_peer *p = n->peer[ucx_route(n, rank)];

	return p && p->state == UCX_UP ? p : ucx_reach_slowly(c, rank);
}
/* Connect to the rank, before anything else. Takes the mutex. NULL, or what is wrong. */
const char *ucx_reach_first(struct ucx_net *n, int rank);
/* Whether this process lacks what a connection needs. */
static inline bool ucx_lacks_resources(const struct ucx_peer *p)
{
	return p->status == UCS_ERR_NO_MEMORY || p->status == UCS_ERR_EXCEEDS_LIMIT;
}
/* Wait for a moment, while UCX has no memory for an operation of c. */
void ucx_pause(struct rma_client *c);
/* Whether UCX has refused an operation only because it had no memory. */
static inline bool ucx_lacks_memory(ucs_status_ptr_t status)
{
	return UCS_PTR_IS_ERR(status) && (UCS_PTR_STATUS(status) == UCS_ERR_NO_MEMORY ||
					  UCS_PTR_STATUS(status) == UCS_ERR_NO_RESOURCE);
}
/* Whether a message to the rank is sent at once. */
bool ucx_sends_at_once(const struct ucx_net *n, int rank);
/* An operation of c has failed. loss: how its connection was lost; NULL or "": a rank has died. */
static inline void ucx_lose(struct rma_client *c, const char *loss)
{
	c->loss = loss;
	c->failed = true;
}
/* Leave the protocol of c, an operation of which has failed, where it is. */
void ucx_give_up(struct rma_client *c);

/* The flush of a transport, and its post, which starts what the client has issued by `push`. */
static inline void ucx_flush_by(struct rma_client *c, void (*push)(struct rma_client *c))
{
	struct ucx_net *n = ucx_net_of(c->rma);

	pthread_mutex_lock(&n->mutex);
	push(c);
	ucx_complete(c);
	pthread_mutex_unlock(&n->mutex);
	if (c->failed)
		ucx_give_up(c);
}

static inline bool ucx_post_by(struct rma_client *c, struct rma_word w,
			       void (*push)(struct rma_client *c))
{
	struct ucx_net *n = ucx_net_of(c->rma);
	bool ok;

	pthread_mutex_lock(&n->mutex);
	ok = ucx_sends_at_once(n, w.rank);
	if (ok)
		push(c);
	ok = ok && !c->failed;
	pthread_mutex_unlock(&n->mutex);
	return ok;
}
/* Members of both struct rma_transport. */
bool ucx_answered(struct rma_client *c, const int64_t *result);
void ucx_progress(struct rma_client *c);
void ucx_close(struct rma *r);
void ucx_leave(struct rma *r);

/* ucx/deaths.c, for the thread: a rank is dead: go on with telling others; another node has told
 * this one. How many ints it needs behind those of ucx/route.c. */
void ucx_notify(struct ucx_net *n);
void ucx_told(struct ucx_net *n);
/* Whether a rank is known to have died. */
bool ucx_knows_death(const struct ucx_net *n);
size_t ucx_deaths_ints(const int *node, int ranks);
/* Whether memory of the MPI's windows may be gone. */
bool ucx_is_ending(void);

#endif
