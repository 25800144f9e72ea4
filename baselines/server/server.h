/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Servers that are asked by messages: what rpc.c and the range locks of range_server.c
 * have in common.
 *
 * The lowest rank of each node serves the locks (or spaces) whose homes are on the node,
 * from a thread of its own: so a rank that computes, or sits in a barrier, still serves.
 * Requests are served one at a time, in the order of their arrival. The answer to one may
 * be given later, while others are served. A client asks and waits for the answer; it has
 * one request under way at a time. Messages are no operations of the RMA layer, and so are
 * not in the statistics; waits counts the times that an answer was waited for.
 *
 * A server that has nothing to do looks again and again for a while, and then once in a
 * millisecond: so the first request after a pause is answered late. It shares the cores
 * of the ranks. Needs MPI_THREAD_MULTIPLE.
 */
#ifndef BASELINES_SERVER_SERVER_H
#define BASELINES_SERVER_SERVER_H

#include "lock/lock.h"

#include <pthread.h>

struct server_request {
	uint64_t index;      /* of the lock at its server */
	int64_t first, last; /* of a range */
	int32_t what, tag;   /* the kind's own; the answer's, which names the slot */
};

/* Tags of answers name the slot of its process that asked. */
enum { SERVER_REQUEST_TAG = 0, SERVER_FIRST_TAG = 1 };

struct server {
	MPI_Comm comm;
	int *host;       /* [ranks] the rank that serves the locks of that home */
	uint64_t *first; /* [ranks] where they begin there */
	uint64_t mine;   /* locks that this rank serves */
	/* Serve a request of a rank: server_answer() it now or later, or not if it asks
	 * for no answer. In the server's thread. */
	void (*serve)(void *state, const struct server_request *r, int rank);
	void *state;
	pthread_t thread;
	bool serves;
	_Atomic(bool) stop;
};

/* Of a structure that is all zero: which rank serves which homes. Collective over the MPI_Comm that
 * mpi_comm points to. PAWL_SUCCESS, or a code with the sentence in err. */
int server_prepare(struct server *v, const struct lock_space *s, void *mpi_comm, char *err,
		   size_t errlen);
/* Begin to serve, if this rank does; serve and state are set. */
int server_start(struct server *v, const struct lock_space *s, char *err, size_t errlen);
/* The end of the thread alone: nobody is answered any more. */
void server_halt(struct server *v);
/* The end, also of one that failed to begin. Every request has been answered. */
void server_stop(struct server *v);

void server_answer(const struct server *v, int rank, int tag, bool yes);

/* Ask the server of the slot's lock, and wait for its answer. */
bool server_ask(const struct server *v, const struct lock_space *s, struct lock_slot *slot,
		int what);
/* The same; at the slot's deadline, if it has one, the request cancel follows, which has no
 * answer of its own: the server then says no to the first, unless it has said yes. */
bool server_ask_until(const struct server *v, const struct lock_space *s, struct lock_slot *slot,
		      int what, int cancel);

#endif
