/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests that a program leaves, and that cannot end without the lock: of kinds without deadlines,
 * and of ranges that wait in the order of arrival.
 *
 * A thread takes the remaining steps of such a request, and releases the lock as soon as the
 * request has it. It blocks all signals, and belongs to no client: its slot is ENDING
 * (client/slots.h), so a client that asks for the same lock waits as for another process. For other
 * clients it is a client that releases at once, so it adds no dead-lock.
 *
 * pawl_table_free() waits for these threads. At MPI_Finalize, and at the end of the process, they
 * stop where they are.
 *
 * Considered and not chosen: waits by tries, which can be left at any time. A client that tries has
 * no place in the order of arrival, and does not get a long range while short ones come and go.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

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
	if (rc == PAWL_SUCCESS) {
		client_request_end(&t->clients, left.request);
		client_release(&t->clients, slot);
	}
	if (left.seen.slot >= 0)
		observe_acquired(t->observe, &left.seen, slot, PAWL_ERR_TIMEOUT);
	/* Orders all of it before the end of the table; pairs with left_await(). */
	atomic_fetch_sub(&t->left, 1);
	return NULL;
}

static bool start(struct left *left)
{
	pthread_t thread;
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&thread, NULL, end_left, left);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc == 0)
		pthread_detach(thread);
	return rc == 0;
}

bool left_begin(pawl_table *t, struct client_request *q, const struct observe_record *r)
{
	struct left *left;

	if (!t->clients.threaded || q->steps.never)
		return false;
	left = malloc(sizeof *left);
	if (!left)
		return false;
	*left = (struct left){t, q, *r};
	atomic_fetch_add(&t->left, 1);
	client_request_leave(&t->clients, q);
	if (start(left))
		return true;
	client_request_return(&t->clients, q);
	atomic_fetch_sub(&t->left, 1);
	free(left);
	return false;
}

void left_await(pawl_table *t, bool stop)
{
	const struct timespec look = {.tv_nsec = LOOK_NS};

	if (stop)
		atomic_store(&t->left_stop, true);
	while (atomic_load(&t->left) > 0)
		nanosleep(&look, NULL);
}
