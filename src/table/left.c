/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests that a program leaves, and that cannot end without the lock: of kinds without deadlines,
 * and of ranges that wait in the order of arrival.
 *
 * A thread takes the remaining steps of such a request, and releases the lock as soon as the
 * request has it. It belongs to no client: its slot is ENDING (client/slots.h), so a client that
 * asks for the same lock waits as for another process. For other clients it is a client that
 * releases at once, so it adds no deadlock.
 *
 * Below MPI_THREAD_MULTIPLE the thread calls neither the MPI nor observers (rma_client.no_mpi): it
 * needs neither on one node, nor over transport ucx, which has a thread of its own at any level.
 * The program's thread drives the MPI. Only where the MPI carries the operations is there no such
 * thread, and the program waits for the lock.
 *
 * pawl_table_free() waits for these threads. At MPI_Finalize, and at the end of the process, they
 * stop where they are.
 *
 * Considered and not chosen: waits by tries, which can be left at any time. A client that tries has
 * no place in the order of arrival, and does not get a long range while short ones come and go.
 */
#include <stdlib.h>
#include <time.h>

#include "base/thread.h"
#include "table/table.h"

enum { SLICE_NS = 10000000, LOOK_NS = 100000 };

struct left {
	pawl_table *table;
	struct client_request *request;
	struct observe_record seen;
};

static void *end_left(void *arg)
{
	struct left left = *(struct left *)arg;
	pawl_table *t = left.table;
	struct lock_slot *slot = left.request->slot;
	int rc;

	free(arg);
	client_request_take_over(left.request);
	do
		rc = client_request_wait(&t->clients, left.request, rma_now_ns() + SLICE_NS);
	while (rc == CLIENT_PENDING && !atomic_load(&t->left_stop));
	if (left.seen.slot >= 0) /* before the slot is another client's */
		observe_acquired(t->observe, &left.seen, slot, PAWL_ERR_TIMEOUT);
	if (client_has_got(rc))
		client_request_put_back(&t->clients, left.request);
	/* Orders all of it before the end of the table; pairs with left_await(). */
	atomic_fetch_sub(&t->left, 1);
	return NULL;
}

static bool start(struct left *left)
{
	pthread_t thread;

	if (!thread_start(&thread, end_left, left))
		return false;
	pthread_detach(thread);
	return true;
}

bool left_begin(pawl_table *t, struct client_request *q, struct observe_record *r)
{
	struct rma_client *c = &q->slot->client;
	struct left *left;

	if (q->steps.never || !steps_may_wait(t))
		return false;
	left = malloc(sizeof *left);
	if (!left)
		return false;
	c->no_mpi = !t->clients.threaded;
	if (c->no_mpi && r->slot >= 0) {
		observe_acquired(t->observe, r, q->slot, PAWL_ERR_TIMEOUT);
		r->slot = -1;
	}
	*left = (struct left){t, q, *r};
	atomic_fetch_add(&t->left, 1);
	client_request_leave(&t->clients, q);
	if (start(left))
		return true;
	client_request_return(&t->clients, q);
	c->no_mpi = false;
	atomic_fetch_sub(&t->left, 1);
	free(left);
	return false;
}

void left_await(pawl_table *t, bool stop)
{
	const struct timespec look = {.tv_nsec = LOOK_NS};
	struct rma_client driver = {.rma = &t->rma};

	if (stop)
		atomic_store(&t->left_stop, true);
	while (atomic_load(&t->left) > 0) {
		if (!stop) /* others may need this process to drive the MPI */
			t->rma.transport->progress(&driver);
		nanosleep(&look, NULL);
	}
}
