/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Baseline: a server that is asked by messages. ShiftLock paper (FAST'25, Section 4): "RPC", locks
 * kept by the CPU of a server, which answers each request with yes or no; a refused client asks
 * again after a pause.
 *
 * The server (server.h) keeps the words of its locks in its private memory. A word is 0, or -1 for
 * a writer, or the number of readers; only the server's thread changes it.
 *
 * Fairness: none; a client gets the lock if it asks at the right time. Uncontended: acquire 2
 * messages, 1 round trip; release the same, because it has to be complete when it returns. Under
 * contention each refusal takes two more messages.
 *
 * Ordering guarantees: (A) one thread reads and changes the words, one request at a time; (B) a
 * release is answered after the word has changed, so the holder's accesses come before the yes to
 * the next client, by the order of messages. Progress: deadlock-free as long as the servers'
 * threads get a core now and then.
 *
 * Why this is its best form: one message to ask and one to answer, and nothing else at the server
 * than a look at a word. Over Open MPI's TCP, whose messages are faster than its atomics, it is 20
 * times ahead of shiftlock (doc/measured/workloads.md). The ShiftLock paper states no figure of it.
 *
 * Different from the paper: its server has threads that poll all the time, each on its own core;
 * this one shares the cores of the ranks.
 */
#include "baselines/backoff.h"
#include "baselines/server/server.h"

#include <stdio.h>
#include <stdlib.h>

enum { ACQUIRE_EXCLUSIVE, ACQUIRE_SHARED, RELEASE };

#define WRITER INT64_C(-1)

struct constants {
	struct server server;
	int64_t *words;
};

static int layout(struct lock_setup *s, char *err, size_t errlen)
{
	struct constants *k = lock_constants(s, sizeof *k, err, errlen);

	if (!k)
		return PAWL_ERR_NOMEM;
	k->server.comm = MPI_COMM_NULL;
	return PAWL_SUCCESS;
}

static void describe(const struct lock_setup *s, char *text, size_t len)
{
	backoff_describe(s, "a server on each node, ", text, len);
}

/* ----------------------------------------------------------------------- server */

/* (A) */
static bool decide(int64_t *word, int what)
{
	switch (what) {
	case ACQUIRE_EXCLUSIVE:
		if (*word != 0)
			return false;
		*word = WRITER;
		return true;
	case ACQUIRE_SHARED:
		if (*word == WRITER)
			return false;
		++*word;
		return true;
	default:
		*word -= *word == WRITER ? WRITER : 1;
		return true;
	}
}

static void serve(void *state, const struct server_request *r, int rank)
{
	struct constants *k = state;
	bool yes = decide(&k->words[r->index], r->what);

	server_answer(&k->server, rank, r->tag, yes); /* (B) */
}

static int start(struct lock_setup *s, void *mpi_comm, char *err, size_t errlen)
{
	struct constants *k = s->state;
	int rc = server_prepare(&k->server, s, mpi_comm, err, errlen);

	if (rc != PAWL_SUCCESS)
		return rc;
	k->words = calloc(k->server.mine + 1, sizeof *k->words);
	if (!k->words) {
		snprintf(err, errlen, "out of memory");
		return PAWL_ERR_NOMEM;
	}
	k->server.serve = serve;
	k->server.state = k;
	return server_start(&k->server, s, err, errlen);
}

/* No client holds or awaits a lock any more. */
static void stop(struct lock_setup *s)
{
	struct constants *k = s->state;

	server_stop(&k->server);
	free(k->words);
}

static void halt(struct lock_setup *s)
{
	struct constants *k = s->state;

	server_halt(&k->server);
}

/* ---------------------------------------------------------------------- clients */

static bool ask(const struct lock_setup *s, struct lock_slot *slot, int what)
{
	const struct constants *k = s->state;

	return server_ask(&k->server, s, slot, what);
}

static int attempt_of(const struct lock_slot *slot)
{
	return slot->mode == PAWL_SHARED ? ACQUIRE_SHARED : ACQUIRE_EXCLUSIVE;
}

static int acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_pause p = backoff_pause(&options_of(s)->backoff, slot->deadline_ns);

	while (!ask(s, slot, attempt_of(slot)))
		if (!rma_pause(&slot->client, &p, "the server to say yes"))
			return PAWL_ERR_TIMEOUT;
	return PAWL_SUCCESS;
}

static int try_acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	return ask(s, slot, attempt_of(slot)) ? PAWL_SUCCESS : PAWL_ERR_BUSY;
}

static int release(const struct lock_setup *s, struct lock_slot *slot)
{
	ask(s, slot, RELEASE);
	return PAWL_SUCCESS;
}

static const struct option_spec options[] = {BACKOFF_LINES};

const struct lock_protocol lock_rpc = {
    .kind =
	{
	    .name = "rpc",
	    .summary = "baseline: a server on each node, which clients ask by messages",
	    .reference = "FAST'25 (ShiftLock), section 4",
	    .capabilities = PAWL_CAP_SHARED | PAWL_CAP_TRY | PAWL_CAP_TIMED | PAWL_CAP_THREADS,
	},
    .options = options,
    .layout = layout,
    .describe = describe,
    .acquire = acquire,
    .try_acquire = try_acquire,
    .release = release,
    .timed = LOCK_KEEPS_NO_PLACE,
    .mpi = &(const struct lock_mpi_calls){.open = start, .close = stop, .halt = halt},
};
