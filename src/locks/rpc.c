/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Baseline: a server that is asked by messages. ShiftLock paper (FAST'25, section 4):
 * "RPC", locks kept by the CPU of a server, which says yes or no to each request; who is
 * refused asks again after a pause. What one-sided locks are there to avoid.
 *
 * The lowest rank of each node keeps the words of the locks whose homes are on the node, in
 * its private memory, and answers requests from a thread of its own: so a rank that computes,
 * or sits in a barrier, still serves. A word is 0, or -1 for a writer, or the number of
 * readers; only the server's thread changes it. This file calls MPI, as
 * mpi_win_lock.c does: messages are what it shows.
 *
 * Fairness: none; who asks at the right time is in. Uncontended: acquire 2 messages, 1
 * round trip; release the same, since it has to be done when it returns. Under contention
 * each refusal is another pair. Messages are no operations of the RMA layer, and so are
 * not in the statistics; waits counts the times that an answer was waited for.
 *
 * Ordering guarantees: (A) one thread reads and changes the words, one request at a time;
 * (B) a release is answered after the word was changed, so what the holder did comes before
 * the yes to the next one, by the order of messages.
 * Progress: dead-lock-free as long as the servers' threads get a core now and then. A
 * server that has nothing to do looks again and again for a while, and then once in a
 * millisecond: so the first request after a pause is answered late.
 *
 * Different from the paper: its server has threads that look all the time, on cores of
 * their own; ours shares the cores of the ranks.
 *
 * Needs MPI_THREAD_MULTIPLE, for the server's thread calls MPI beside the application.
 */
#include "locks/lock.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ACQUIRE_EXCLUSIVE, ACQUIRE_SHARED, RELEASE };
enum { REQUEST_TAG = 0, FIRST_ANSWER_TAG = 1 };
/* A server that was not asked looks on for so long, then sleeps: an eighth of the time
 * since it was, up to a millisecond. */
enum { ALERT_NS = 200000, NAP_SHARE = 8, NAP_MAX_NS = 1000000 };

#define WRITER INT64_C(-1)

struct request {
	uint64_t index; /* of the lock at its server */
	int32_t what, tag;
};

struct constants {
	MPI_Comm comm;
	int *server;     /* [ranks] who serves the locks of that home */
	uint64_t *first; /* [ranks] where they begin there */
	int64_t *words;  /* of the server */
	pthread_t thread;
	bool serves;
	_Atomic(bool) stop;
};

static int layout(struct lock_space *s, char *err, size_t errlen)
{
	struct constants *k = calloc(1, sizeof *k);

	if (!k) {
		snprintf(err, errlen, "out of memory");
		return PAWL_ERR_NOMEM;
	}
	k->comm = MPI_COMM_NULL;
	s->state = k;
	return PAWL_SUCCESS;
}

static void describe(const struct lock_space *s, char *text, size_t len)
{
	snprintf(text, len, "a server on each node, backoff %lld to %lld ns",
		 (long long)s->params.backoff_min, (long long)s->params.backoff_max);
}

/* ----------------------------------------------------------------------- server */

/* (A) */
static int decide(int64_t *word, int what)
{
	switch (what) {
	case ACQUIRE_EXCLUSIVE:
		if (*word != 0)
			return 0;
		*word = WRITER;
		return 1;
	case ACQUIRE_SHARED:
		if (*word == WRITER)
			return 0;
		++*word;
		return 1;
	default:
		*word -= *word == WRITER ? WRITER : 1;
		return 1;
	}
}

static void rest(uint64_t idle_ns)
{
	uint64_t nap = idle_ns / NAP_SHARE;

	if (idle_ns < ALERT_NS)
		sched_yield();
	else
		nanosleep(
		    &(struct timespec){.tv_nsec = (long)(nap < NAP_MAX_NS ? nap : NAP_MAX_NS)},
		    NULL);
}

static void *serve(void *arg)
{
	struct constants *k = arg;
	uint64_t asked = rma_now_ns();
	struct request r;
	MPI_Request next;
	MPI_Status status;

	MPI_Irecv(&r, sizeof r, MPI_BYTE, MPI_ANY_SOURCE, REQUEST_TAG, k->comm, &next);
	while (!atomic_load_explicit(&k->stop, memory_order_acquire)) {
		int done, yes;

		MPI_Test(&next, &done, &status);
		if (!done) {
			rest(rma_now_ns() - asked);
			continue;
		}
		yes = decide(&k->words[r.index], r.what);
		MPI_Send(&yes, 1, MPI_INT, status.MPI_SOURCE, r.tag, k->comm); /* (B) */
		asked = rma_now_ns();
		MPI_Irecv(&r, sizeof r, MPI_BYTE, MPI_ANY_SOURCE, REQUEST_TAG, k->comm, &next);
	}
	MPI_Cancel(&next);
	MPI_Wait(&next, &status);
	return NULL;
}

/* Every home's server, and how many of its locks come before; how many locks this rank
 * would serve. */
static uint64_t deal_out(struct lock_space *s, int rank)
{
	struct constants *k = s->state;
	const int *node = s->topo->node;
	uint64_t mine = 0;

	for (int home = 0; home < s->topo->nranks; home++) {
		int before = 0;

		k->server[home] = home;
		for (int r = home - 1; r >= 0; r--) {
			if (node[r] != node[home])
				continue;
			k->server[home] = k->server[r];
			before = (int)(k->first[r] / s->block) + 1;
			break;
		}
		k->first[home] = (uint64_t)before * s->block;
		if (k->server[home] == rank)
			mine += s->block;
	}
	return mine;
}

static int start(struct lock_space *s, void *mpi_comm, char *err, size_t errlen)
{
	struct constants *k = s->state;
	size_t ranks = (size_t)s->topo->nranks;
	uint64_t mine;
	int rank;

	MPI_Comm_dup(*(MPI_Comm *)mpi_comm, &k->comm);
	MPI_Comm_rank(k->comm, &rank);
	k->server = calloc(ranks, sizeof *k->server);
	k->first = calloc(ranks, sizeof *k->first);
	if (!k->server || !k->first) {
		snprintf(err, errlen, "out of memory");
		return PAWL_ERR_NOMEM;
	}
	mine = deal_out(s, rank);
	if (!mine)
		return PAWL_SUCCESS;
	k->words = calloc(mine, sizeof *k->words);
	if (!k->words) {
		snprintf(err, errlen, "out of memory");
		return PAWL_ERR_NOMEM;
	}
	k->serves = pthread_create(&k->thread, NULL, serve, k) == 0;
	if (k->serves)
		return PAWL_SUCCESS;
	snprintf(err, errlen, "rpc could not start the thread that answers its clients");
	return PAWL_ERR_NOMEM;
}

/* Nobody holds or awaits a lock by now, and every request was answered. */
static void stop(struct lock_space *s)
{
	struct constants *k = s->state;

	if (k->serves) {
		atomic_store_explicit(&k->stop, true, memory_order_release);
		pthread_join(k->thread, NULL);
	}
	if (k->comm != MPI_COMM_NULL)
		MPI_Comm_free(&k->comm);
	free(k->server);
	free(k->first);
	free(k->words);
}

/* ---------------------------------------------------------------------- clients */

/* Ask the lock's server, and wait for its answer. */
static bool ask(const struct lock_space *s, struct lock_slot *slot, int what)
{
	const struct constants *k = s->state;
	struct rma_pause p = {.rounds = 0};
	struct request r = {.what = what, .tag = FIRST_ANSWER_TAG + slot->index};
	MPI_Request answer;
	int home, yes = 0, done;

	lock_home(s, slot->lock, &home, &r.index);
	r.index += k->first[home];
	MPI_Irecv(&yes, 1, MPI_INT, k->server[home], r.tag, k->comm, &answer);
	MPI_Send(&r, sizeof r, MPI_BYTE, k->server[home], REQUEST_TAG, k->comm);
	for (MPI_Test(&answer, &done, MPI_STATUS_IGNORE); !done;
	     MPI_Test(&answer, &done, MPI_STATUS_IGNORE))
		rma_pause(&slot->client, &p, "the server's answer");
	return yes;
}

static int attempt_of(const struct lock_slot *slot)
{
	return slot->mode == PAWL_SHARED ? ACQUIRE_SHARED : ACQUIRE_EXCLUSIVE;
}

static int acquire(const struct lock_space *s, struct lock_slot *slot)
{
	struct rma_pause p = {
	    .min_ns = (uint64_t)s->params.backoff_min,
	    .max_ns = (uint64_t)s->params.backoff_max,
	    .deadline_ns = slot->deadline_ns,
	};

	while (!ask(s, slot, attempt_of(slot)))
		if (!rma_pause(&slot->client, &p, "the server to say yes"))
			return PAWL_ERR_TIMEOUT;
	return PAWL_SUCCESS;
}

static int try_acquire(const struct lock_space *s, struct lock_slot *slot)
{
	return ask(s, slot, attempt_of(slot)) ? PAWL_SUCCESS : PAWL_ERR_BUSY;
}

static int release(const struct lock_space *s, struct lock_slot *slot)
{
	ask(s, slot, RELEASE);
	return PAWL_SUCCESS;
}

const struct lock_protocol lock_rpc = {
    .kind =
	{
	    .name = "rpc",
	    .summary = "baseline: a server on each node that is asked by messages",
	    .reference = "FAST'25 (ShiftLock), section 4",
	    .options = "backoff_min backoff_max",
	    .capabilities = PAWL_CAP_SHARED | PAWL_CAP_TRY | PAWL_CAP_TIMED | PAWL_CAP_THREADS,
	},
    .layout = layout,
    .describe = describe,
    .open = start,
    .close = stop,
    .acquire = acquire,
    .try_acquire = try_acquire,
    .release = release,
};
