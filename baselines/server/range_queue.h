/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which clients hold ranges of a server's spaces, and which wait for some: what the servers
 * of it, llc and mt decide by. In one process and one thread; it knows no messages.
 *
 * First come, first served among those that overlap: a client waits for all that hold
 * units of its range, and for all that came before it and wait for some. Those that
 * overlap no such range are served at once.
 */
#ifndef BASELINES_SERVER_RANGE_QUEUE_H
#define BASELINES_SERVER_RANGE_QUEUE_H

#include "baselines/server/range_store.h"

struct range_queue;

/* A client has one range at a time. */
enum range_state { RANGE_NONE, RANGE_HELD, RANGE_AWAITED };

/* The client waits no longer: it holds its range. */
typedef void range_granted(void *arg, uint64_t client);

/* Spaces 0, 1, ..., and clients. NULL: no memory. */
struct range_queue *range_queue_create(const struct range_store *store, uint64_t spaces,
				       uint64_t clients);
void range_queue_free(struct range_queue *q);

/* RANGE_HELD: granted. Else the client waits from now on, if it is one that does
 * (RANGE_AWAITED), or has nothing (RANGE_NONE). */
enum range_state range_queue_ask(struct range_queue *q, uint64_t space, uint64_t client,
				 const struct range *wanted, bool waits);
/* The client holds its range no more; others may be granted theirs. */
void range_queue_release(struct range_queue *q, uint64_t client, range_granted *granted, void *arg);
/* The client does not wait any longer. False, and nothing happened, if it did not wait. */
bool range_queue_cancel(struct range_queue *q, uint64_t client, range_granted *granted, void *arg);

enum range_state range_queue_state(const struct range_queue *q, uint64_t client);
/* The structure with the ranges held in a space, and its pool. */
void *range_queue_held(const struct range_queue *q, uint64_t space);
const struct range_pool *range_queue_pool(const struct range_queue *q);

#endif
