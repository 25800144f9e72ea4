/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Servers that are asked by messages: what rpc.c and the range locks of range_server.c share.
 *
 * The lowest rank of each node serves the locks (or spaces) whose homes are on the node, in a
 * thread, so it also serves while the rank computes or waits in a barrier. It serves one request at
 * a time, in the order of arrival. It may answer a request later, after others. A client asks and
 * waits for the answer; it has one request at a time. Messages are not operations of the RMA layer,
 * so the statistics do not count them; waits counts how often a client waited for an answer.
 *
 * A server without requests polls for a while, and then once in a millisecond, so the first request
 * after a pause is answered late. It shares the cores of the ranks. Needs MPI_THREAD_MULTIPLE.
 */
#ifndef BASELINES_SERVER_SERVER_H
#define BASELINES_SERVER_SERVER_H

#include "lock/lock.h"

#include <pthread.h>

struct server_request {
	uint64_t index;      /* number of the lock at its server */
	int64_t first, last; /* of a range */
	int32_t what, tag;   /* what: defined by the kind; tag: of the answer */
};

/* The tag of an answer identifies the slot that has asked, in its process. */
enum { SERVER_REQUEST_TAG = 0, SERVER_FIRST_TAG = 1 };

struct server;

/* What a kind does with the requests. Its constants begin with a struct server, and are all zero
 * before but for that. */
struct server_calls {
	/* Allocate what a rank needs that serves. False: there is no memory. */
	bool (*create)(struct server *v, const struct lock_setup *s);
	/* Serve a request of a rank: call server_answer() now or later, or not if the request has
	 * no answer. Called in the server's thread. */
	void (*serve)(struct server *v, const struct server_request *r, int rank);
	/* Free it, also after a failed create. No client holds or awaits anything any more. */
	void (*destroy)(struct server *v);
};

/* Who carries the requests instead of the MPI, and has their servers' threads. prepare sets host,
 * first and mine; all ranks share one struct server. */
struct server_carrier {
	int (*prepare)(struct server *v, const struct lock_setup *s, void *world, char *err,
		       size_t errlen);
	void (*close)(struct server *v);
	void (*answer)(const struct server *v, int rank, bool yes);
	/* Ask with a request whose number, tag and units are set, and wait for the answer. */
	bool (*ask)(const struct server *v, struct lock_slot *slot, int host,
		    const struct server_request *r);
};
/* The simulator sets this; NULL: the MPI. */
extern const struct server_carrier *server_carrier;

struct server {
	MPI_Comm comm;
	int *host;       /* [ranks] the rank that serves the locks of this home */
	uint64_t *first; /* [ranks] the number of the home's first lock there */
	uint64_t mine;   /* number of locks that this rank serves */
	const struct server_calls *calls;
	pthread_t thread;
	bool serves;
	_Atomic(bool) stop;
	/* Set by serve, for a carrier that has to know how long it took: the number of held ranges
	 * before the request, and of awaited ranges with which it has compared others. */
	uint64_t holders, compared;
	void *carried; /* of the carrier */
};

/* Parts of a layout() and of struct lock_mpi_calls. Before close, every request has been
 * answered. */
int server_layout(struct lock_setup *s, const struct server_calls *calls);
int server_open(struct lock_setup *s, void *mpi_comm, char *err, size_t errlen);
void server_close(struct lock_setup *s);
void server_halt(struct lock_setup *s);

void server_answer(const struct server *v, int rank, int tag, bool yes);

/* Ask the server of the slot's lock, and wait for the answer. At the slot's deadline, if it has
 * one, send the request cancel. It has no answer of its own: the server then answers no to the
 * first request, unless it has already answered yes. SERVER_NO_CANCEL: wait in any case. */
enum { SERVER_NO_CANCEL = -1 };
bool server_ask(const struct lock_setup *s, struct lock_slot *slot, int what, int cancel);

#endif
