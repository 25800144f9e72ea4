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

#include <stdlib.h>

enum { ACQUIRE_EXCLUSIVE, ACQUIRE_SHARED, RELEASE };

#define WRITER INT64_C(-1)

struct constants {
	struct server server;
	int64_t *words;
};

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

static void serve(struct server *v, const struct server_request *r, int rank)
{
	struct constants *k = (void *)v;

	server_answer(v, rank, r->tag, decide(&k->words[r->index], r->what)); /* (B) */
}

static bool create(struct server *v, const struct lock_setup *s)
{
	struct constants *k = (void *)v;

	(void)s;
	k->words = calloc(v->mine, sizeof *k->words);
	return k->words;
}

static void destroy(struct server *v)
{
	struct constants *k = (void *)v;

	free(k->words);
}

static int layout(struct lock_setup *s, char *err, size_t errlen)
{
	static const struct server_calls calls = {create, serve, destroy};

	(void)err;
	(void)errlen;
	return server_layout(s, &calls);
}

/* ---------------------------------------------------------------------- clients */

static int attempt_of(const struct lock_slot *slot)
{
	return slot->mode == PAWL_SHARED ? ACQUIRE_SHARED : ACQUIRE_EXCLUSIVE;
}

static int acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_pause p = backoff_pause(&options_of(s)->backoff, slot->deadline_ns);

	while (!server_ask(s, slot, attempt_of(slot), SERVER_NO_CANCEL))
		if (!rma_pause(&slot->client, &p, "the server to say yes"))
			return PAWL_ERR_TIMEOUT;
	return PAWL_SUCCESS;
}

static int try_acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	return server_ask(s, slot, attempt_of(slot), SERVER_NO_CANCEL) ? PAWL_SUCCESS
								       : PAWL_ERR_BUSY;
}

static int release(const struct lock_setup *s, struct lock_slot *slot)
{
	server_ask(s, slot, RELEASE, SERVER_NO_CANCEL);
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
    .state_bytes = sizeof(struct constants),
    .layout = layout,
    .describe = describe,
    .acquire = acquire,
    .try_acquire = try_acquire,
    .release = release,
    .timed = LOCK_KEEPS_NO_PLACE,
    .mpi = &(const struct lock_mpi_calls){.open = server_open,
					  .close = server_close,
					  .halt = server_halt},
};
