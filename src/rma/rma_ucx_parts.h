/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the UCX transport share; rma_ucx.c says how it works. */
#ifndef RMA_RMA_UCX_PARTS_H
#define RMA_RMA_UCX_PARTS_H

#include <pthread.h>
#include <sched.h>
#include <ucp/api/ucp.h>

#include "rma/rma_ucx.h"

/* Behind the words of every segment, at offset rma_ucx.tail: who sleeps on which NET word
 * of the segment, so that the owner's thread can wake it; and what dead ranks leave. */
enum { UCX_DOORS = 30 };
struct ucx_door {
	_Atomic(uint64_t) word; /* its offset and 1; 0: nobody */
	_Atomic(int64_t) value; /* with which the sleeper saw it */
};
struct ucx_tail {
	_Atomic(int64_t) sleepers; /* doors in use */
	_Atomic(int64_t) deaths;   /* not 0: a rank of the table died */
	struct ucx_door door[UCX_DOORS];
};
_Static_assert(sizeof(struct ucx_tail) <= RMA_UCX_TAIL_BYTES, "the tail has room");

/* How a rank is reached: the same for all ranks of a node, and kept once on each node. */
struct ucx_card {
	uint64_t base; /* of its segment, there */
	uint16_t address_bytes, rkey_bytes;
	char bytes[]; /* address, then rkey */
};

/* An operation that was not answered yet. */
struct ucx_flight {
	struct rma_client *client;     /* NULL: it was told that its operation failed */
	struct ucx_flight *next, **at; /* in the list of its peer, and who points to it there */
};

/* A rank that this one has talked to. */
struct ucx_peer {
	ucp_ep_h ep;
	ucp_rkey_h rkey;
	uint64_t base;
	bool dead;
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
	bool swaps;  /* a store through UCX is a swap */
	size_t tail; /* offset of struct ucx_tail */
	int ranks;
	MPI_Win cards_win;
	const char *cards; /* [ranks] of card_bytes each */
	size_t card_bytes;
	pthread_mutex_t mutex;
	struct ucx_peer **peer; /* [ranks], NULL: never used */
	uint64_t crowded_until; /* for clients; see ucx_yield() */
	unsigned blocked;       /* clients that sleep on asking_fd */
	_Atomic(bool) has_dead;
	bool unburied; /* some of their endpoints are open */
	bool told;     /* all others that there are dead ranks */
	struct rma_client teller;
	void (*progress)(struct rma_client *);
};

static inline struct ucx_tail *ucx_tail_of(const struct rma *r, int rank)
{
	return (struct ucx_tail *)(void *)(r->map[rank] + r->ucx->tail);
}

/* rma_ucx_devices.c: the names of the devices that connect the hosts of comm, for
 * UCX_NET_DEVICES. Collective; false, on all ranks, if there are none. has_rdma: some of them
 * may perform atomics themselves, on some rank. */
bool ucx_choose_devices(MPI_Comm comm, bool one_host, char *text, size_t len, bool *has_rdma);

/* Who looks again and again gives the core away in between. If it was away for longer than
 * a moment others want it: then who looks gets it late, and who sleeps, and is woken, at once.
 * So there is no looking on until crowded_until. */
enum { UCX_MOMENT_NS = 15000, UCX_CROWDED_NS = 20000000 };
static inline void ucx_yield(uint64_t *crowded_until)
{
	uint64_t before = rma_now_ns(), after;

	sched_yield();
	after = rma_now_ns();
	if (after - before > UCX_MOMENT_NS)
		*crowded_until = after + UCX_CROWDED_NS;
}

/* rma_ucx_serve.c: the thread that serves others, and those who sleep until it has. */
bool ucx_serve_start(struct rma *r);
void ucx_serve_stop(struct rma_ucx *u);
void ucx_sleep(struct rma_client *c, struct rma_word w, int64_t value, uint64_t ns);

/* rma_ucx_connect.c: under the mutex. NULL: the rank is dead. */
struct ucx_peer *ucx_peer(struct rma_ucx *u, int rank);
void ucx_bury(struct rma_ucx *u); /* close the endpoints of dead ranks */
void ucx_disconnect(struct rma_ucx *u);

/* rma_ucx.c. mourn: some rank is dead; tell all others, and see to it that they hear. */
void ucx_mourn(struct rma *r);
extern const struct rma_transport ucx_transport;

#endif
