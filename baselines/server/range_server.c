/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Baselines: range locks kept by a server that is asked by messages. Citron paper (FAST'23),
 * Section 4.1 and Table 1, type I: "IT", "LLC" and "MT". They differ in the structure for the
 * ranges: an interval tree (range_tree.c), a list (range_list.c), a B-tree of disjoint ranges
 * (range_btree.c).
 *
 * The server (server.h) has the held and the awaited ranges (range_queue.h). A request that has to
 * wait is answered when it is granted.
 *
 * Fairness: first come, first served among requests that overlap, by their arrival at the server.
 * Operations: acquire 2 messages, 1 round trip, which includes the wait; release the same, because
 * it has to be complete when it returns. A try that would have to wait is answered with no; a timed
 * acquire sends a third message at its deadline. it and llc have shared mode, in which ranges may
 * overlap in their structures; mt does not.
 *
 * Ordering guarantees: (A) one thread reads and changes the structures, one request at a time; (B)
 * a range is granted after the releases that it waited for were served, so their holders' accesses
 * come before the yes, by the order of messages; (C) a client's requests arrive in their order. So
 * a cancel finds its acquire waiting, or granted, with the yes in flight; in the second case it
 * changes nothing. Progress: starvation-free if holders release and the servers' threads get a core
 * now and then.
 *
 * Why this is its best form: one message each way, and a client that has to wait is answered when
 * it has its range, so it asks once. A call of the structure takes 80 to 390 ns with 1 to 256
 * ranges where threads use it in turn (benchmarks/server-times). In simulation, with 18 threads, it
 * and mt reach 3.3 million ranges of one unit a second, and llc 22.7 million, because there the
 * threads do not wait for each other; the Citron paper has them 1.56 times below citron, which
 * would be 5 million here. Two hosts over TCP: doc/measured/ranges.md.
 *
 * Different from the paper: one thread on each node instead of 18, on the cores of the ranks, so
 * the list needs no atomics. The paper does not describe waiting; here all three wait in the same
 * way.
 */
#include "baselines/server/range_queue.h"
#include "baselines/server/server.h"

#include <stdio.h>

enum { ASK, TRY, RELEASE, CANCEL, WHAT_MASK = 3, SHARED = 4 };

struct constants {
	struct server server;
	const struct range_store *store;
	struct range_queue *queue;
	int max_held;
};

static void describe(const struct lock_setup *s, char *text, size_t len)
{
	(void)s;
	snprintf(text, len, "a server on each node");
}

/* ----------------------------------------------------------------------- server */

/* (B) */
static void answer_yes(void *constants, uint64_t client)
{
	struct constants *k = constants;
	uint64_t held = (uint64_t)k->max_held;

	server_answer(&k->server, (int)(client / held), SERVER_FIRST_TAG + (int)(client % held),
		      true);
}

static void serve_ask(struct constants *k, const struct server_request *r, int rank,
		      uint64_t client)
{
	bool waits = (r->what & WHAT_MASK) == ASK;
	struct range wanted = {
	    .first = r->first,
	    .last = r->last,
	    .shared = (r->what & SHARED) != 0,
	};
	enum range_state state = range_queue_ask(k->queue, r->index, client, &wanted, waits);

	if (state != RANGE_AWAITED)
		server_answer(&k->server, rank, r->tag, state == RANGE_HELD);
}

static void serve_request(struct constants *k, const struct server_request *r, int rank)
{
	int slot = r->tag - SERVER_FIRST_TAG;
	uint64_t client = (uint64_t)rank * (uint64_t)k->max_held + (uint64_t)slot;

	switch (r->what & WHAT_MASK) {
	case ASK:
	case TRY:
		serve_ask(k, r, rank, client);
		return;
	case RELEASE:
		range_queue_release(k->queue, client, answer_yes, k);
		server_answer(&k->server, rank, r->tag, true);
		return;
	default: /* CANCEL; (C) */
		if (range_queue_cancel(k->queue, client, answer_yes, k))
			server_answer(&k->server, rank, r->tag, false);
	}
}

/* (A) */
static void serve(struct server *v, const struct server_request *r, int rank)
{
	struct constants *k = (void *)v;
	uint64_t before = range_queue_compared(k->queue);

	v->holders = range_queue_holders(k->queue, r->index);
	serve_request(k, r, rank);
	v->compared = range_queue_compared(k->queue) - before;
}

static bool create(struct server *v, const struct lock_setup *s)
{
	struct constants *k = (void *)v;

	k->queue = range_queue_create(k->store, v->mine, lock_all_slots(s));
	return k->queue;
}

static void destroy(struct server *v)
{
	struct constants *k = (void *)v;

	range_queue_free(k->queue);
}

static int lay_out(struct lock_setup *s, const struct range_store *store)
{
	static const struct server_calls calls = {create, serve, destroy};
	struct constants *k = s->state;

	k->store = store;
	k->max_held = s->max_held;
	return server_layout(s, &calls);
}

/* ---------------------------------------------------------------------- clients */

static int with_mode(const struct lock_slot *slot, int what)
{
	return slot->mode == PAWL_SHARED ? what | SHARED : what;
}

static int acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	return server_ask(s, slot, with_mode(slot, ASK), CANCEL) ? PAWL_SUCCESS : PAWL_ERR_TIMEOUT;
}

static int try_acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	return server_ask(s, slot, with_mode(slot, TRY), SERVER_NO_CANCEL) ? PAWL_SUCCESS
									   : PAWL_ERR_BUSY;
}

static int release(const struct lock_setup *s, struct lock_slot *slot)
{
	server_ask(s, slot, RELEASE, SERVER_NO_CANCEL);
	return PAWL_SUCCESS;
}

/* ------------------------------------------------------------------------ kinds */

static const struct lock_range_calls ranges = {.keeps_out = lock_keeps_units};
static const struct lock_mpi_calls servers = {
    .open = server_open, .close = server_close, .halt = server_halt, .by_server = true};

/* A kind: its structure, and what it can beside what all three can. */
#define KIND(kind_name, text, structure, more)                                        \
	static int layout_##kind_name(struct lock_setup *s, char *err, size_t errlen) \
	{                                                                             \
		(void)err;                                                            \
		(void)errlen;                                                         \
		return lay_out(s, &(structure));                                      \
	}                                                                             \
	const struct lock_protocol lock_##kind_name = {                               \
	    .kind =                                                                   \
		{                                                                     \
		    .name = #kind_name,                                               \
		    .summary = "baseline: a server on each node with " text,          \
		    .reference = "FAST'23 (Citron), section 4",                       \
		    .capabilities = PAWL_CAP_TRY | PAWL_CAP_TIMED | PAWL_CAP_FAIR |   \
				    PAWL_CAP_THREADS | PAWL_CAP_RANGES | (more),      \
		},                                                                    \
	    .state_bytes = sizeof(struct constants),                                  \
	    .layout = layout_##kind_name,                                             \
	    .describe = describe,                                                     \
	    .acquire = acquire,                                                       \
	    .try_acquire = try_acquire,                                               \
	    .release = release,                                                       \
	    .timed = LOCK_KEEPS_NO_PLACE,                                             \
	    .range = &ranges,                                                         \
	    .mpi = &servers,                                                          \
	}

KIND(it, "an interval tree", range_tree, PAWL_CAP_SHARED);
KIND(llc, "a list of ranges", range_list, PAWL_CAP_SHARED);
KIND(mt, "a B-tree of disjoint ranges", range_btree, 0);
