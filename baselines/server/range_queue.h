/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clients that hold or await ranges of a server's spaces, for the servers of it, llc and mt. It
 * runs in one thread and knows no messages.
 *
 * First come, first served among ranges that overlap: a client waits for all holders of units of
 * its range, and for all clients that came before it and await some of them. A client whose range
 * overlaps no such range is served at once.
 */
#ifndef BASELINES_SERVER_RANGE_QUEUE_H
#define BASELINES_SERVER_RANGE_QUEUE_H

#include "baselines/server/range_store.h"

struct range_queue;

/* A client has one range at a time: none, held or awaited. */
enum range_state { RANGE_NONE, RANGE_HELD, RANGE_AWAITED };

/* The client's range has been granted. */
typedef void range_granted(void *arg, uint64_t client);

/* Spaces and clients are numbered from 0. NULL: no memory. */
struct range_queue *range_queue_create(const struct range_store *store, uint64_t spaces,
				       uint64_t clients);
void range_queue_free(struct range_queue *q);

/* RANGE_HELD: granted. RANGE_AWAITED: the client waits from now on. RANGE_NONE: it has nothing,
 * because it does not wait. */
enum range_state range_queue_ask(struct range_queue *q, uint64_t space, uint64_t client,
				 const struct range *wanted, bool waits);
/* The client releases its range; others may be granted theirs. */
void range_queue_release(struct range_queue *q, uint64_t client, range_granted *granted, void *arg);
/* The client stops waiting. False: it was not waiting, and nothing changes. */
bool range_queue_cancel(struct range_queue *q, uint64_t client, range_granted *granted, void *arg);

/* Of a space: the number of held ranges. Of all: the number of awaited ranges with which ranges
 * have been compared until now. For the simulator, in which that takes time. */
uint64_t range_queue_holders(const struct range_queue *q, uint64_t space);
uint64_t range_queue_compared(const struct range_queue *q);

enum range_state range_queue_state(const struct range_queue *q, uint64_t client);
/* The structure with the held ranges of a space, and its pool. */
void *range_queue_held(const struct range_queue *q, uint64_t space);
const struct range_pool *range_queue_pool(const struct range_queue *q);

#endif
