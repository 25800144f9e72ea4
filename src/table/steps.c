/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests that a program awaits together with other things: pawl_request_fd(),
 * pawl_request_mpi().
 *
 * Somebody has to take the steps of a request while the program sleeps in poll() or in
 * MPI_Waitany. That is a thread for each request, from the first of these calls until the request
 * has ended. It waits as a client does (rma/wait.c): on a node and over UCX it sleeps on the
 * awaited word, and the client that hands over wakes it; over transport mpi it polls with naps.
 * When the acquire has ended it writes to the descriptor, and completes the MPI's request. The
 * program's thread then takes the last step, by pawl_request_test(), so the lock is that thread's.
 * A request that has ended before gets no thread.
 *
 * Below MPI_THREAD_MULTIPLE the thread calls neither the MPI nor observers, as in left.c, and the
 * MPI's request, which such a thread completes, is refused.
 *
 * Guarantees
 *   (A) One thread at a time takes the steps: steps_end() joins the thread before its caller goes
 *       on. So (A) to (E) of client/request.c hold.
 *   (B) The thread changes nothing of the set of slots. The last step, which does, is the
 *       program's.
 *   (C) The MPI's request completes once. The thread completes it, unless `over` was set when it
 *       was begun; both are under the mutex. Its state belongs to the MPI, and lives until
 *       MPI_Request_free() or a wait of the program.
 *
 * Cost: that of a long wait (rma/wait.c: 1 to 3 per cent of a core, by naps of 2 ms), and two
 * switches between threads for each request that waits, one to the thread and one to the
 * program, besides the start of the thread; nothing for requests that are not awaited so.
 *
 * Considered and not chosen
 *   - One thread that sleeps on the words of all requests: futex_waitv() has 128 words, needs Linux
 *     5.16, and does not know the naps of transport mpi.
 *   - A thread that only watches the word, while the program takes the steps after each event: it
 *     needs no MPI, but a program that sleeps in MPI_Waitany() takes no steps.
 *   - The poll function of MPIX_Grequest_start(), called while the program waits in the MPI: only
 *     MPICH has it, and it calls the MPI from within the MPI.
 *   - A writer that wakes the descriptor of a waiter in another process: it has to know a socket of
 *     each waiter, and a release would make more system calls.
 */
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/thread.h"
#include "table/table.h"

/* A cancellation, and the end of MPI, wait for a slice. */
enum { SLICE_NS = 2000000, NAP_MS = 1 };

/* Of an MPI request. */
struct grequest {
	MPI_Request handle;
	bool cancelled;
	_Atomic(bool) asked; /* to be cancelled */
};

struct steps_thread {
	struct client_request *request;
	pthread_t thread;
	bool started;
	_Atomic(bool) stop;
	_Atomic(bool) over;    /* the acquire has ended */
	pthread_mutex_t mutex; /* of finished and mpi */
	bool finished;         /* the thread completes nothing any more */
	struct grequest *mpi;  /* not completed; NULL: there is none */
	int fd;                /* of eventfd() */
};

bool steps_may_wait(const pawl_table *t)
{
	return t->clients.threaded || !t->rma.transport->can.by_mpi;
}

/* --------------------------------------------------------- the MPI's request */

static int query(void *state, MPI_Status *status)
{
	const struct grequest *g = state;

	PMPI_Status_set_elements(status, MPI_BYTE, 0);
	PMPI_Status_set_cancelled(status, g->cancelled);
	status->MPI_SOURCE = MPI_UNDEFINED;
	status->MPI_TAG = MPI_UNDEFINED;
	return MPI_SUCCESS;
}

static int drop(void *state)
{
	free(state);
	return MPI_SUCCESS;
}

/* The thread completes the request: the caller may hold a lock of the MPI. */
static int ask_to_cancel(void *state, int complete)
{
	struct grequest *g = state;

	if (!complete)
		atomic_store(&g->asked, true);
	return MPI_SUCCESS;
}

/* From the call on, *g is the MPI's, and may be freed. */
static void complete(struct grequest *g, bool cancelled)
{
	if (!g)
		return;
	g->cancelled = cancelled;
	PMPI_Grequest_complete(g->handle);
}

/* Take the request that is to be completed; NULL: there is none. */
static struct grequest *take_mpi(struct steps_thread *s, bool only_asked, bool last)
{
	struct grequest *g;

	pthread_mutex_lock(&s->mutex);
	g = s->mpi;
	if (g && only_asked && !atomic_load(&g->asked))
		g = NULL;
	if (g)
		s->mpi = NULL;
	s->finished = s->finished || last;
	pthread_mutex_unlock(&s->mutex);
	return g;
}

int steps_begin_mpi(struct client_request *q, MPI_Request *mpi)
{
	struct steps_thread *s = q->thread_of_steps;
	struct grequest *g = calloc(1, sizeof *g);
	bool had_one, finished;
	int rc;

	if (!g)
		return error_set(PAWL_ERR_NOMEM, "out of memory for a request of the MPI");
	rc = PMPI_Grequest_start(query, drop, ask_to_cancel, g, &g->handle);
	if (rc != MPI_SUCCESS) {
		free(g);
		return table_mpi_failed("MPI_Grequest_start", rc);
	}
	*mpi = g->handle;
	pthread_mutex_lock(&s->mutex);
	had_one = s->mpi != NULL;
	finished = s->finished;
	if (!had_one && !finished)
		s->mpi = g;
	pthread_mutex_unlock(&s->mutex);
	if (had_one || finished)
		complete(g, had_one);
	if (!had_one)
		return PAWL_SUCCESS;
	PMPI_Request_free(mpi);
	return error_set(PAWL_ERR_HELD, "request: the MPI has a request for it already");
}

/* --------------------------------------------------------------- the thread */

static void *take_steps(void *arg)
{
	struct steps_thread *s = arg;
	bool over;

	do {
		over = client_request_advance(s->request, rma_now_ns() + SLICE_NS);
		complete(take_mpi(s, true, false), true);
	} while (!over && !atomic_load(&s->stop));
	/* Orders the steps before the last one, which is another thread's; pairs with
	 * steps_are_over(). */
	atomic_store(&s->over, over);
	if (over)
		eventfd_write(s->fd, 1);
	complete(take_mpi(s, false, true), !over);
	return NULL;
}

static bool start(struct steps_thread *s)
{
	if (s->request->code != CLIENT_PENDING) {
		s->over = s->finished = true;
		eventfd_write(s->fd, 1);
		return true;
	}
	s->started = thread_start(&s->thread, take_steps, s);
	return s->started;
}

bool steps_begin(pawl_table *t, struct client_request *q)
{
	struct steps_thread *s = q->thread_of_steps;

	if (s)
		return true;
	s = calloc(1, sizeof *s);
	if (!s)
		return false;
	*s = (struct steps_thread){.request = q, .mutex = PTHREAD_MUTEX_INITIALIZER};
	s->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	q->slot->client.no_mpi = !t->clients.threaded;
	q->thread_of_steps = s;
	if (s->fd >= 0 && start(s))
		return true;
	steps_end(q);
	return false;
}

int steps_fd(const struct client_request *q)
{
	return q->thread_of_steps->fd;
}

/* ---------------------------------------------------------------- the caller */

/* Sleep until the descriptor is readable, for a moment at most. */
static void nap(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	poll(&p, 1, NAP_MS);
}

bool steps_are_over(pawl_table *t, struct client_request *q, bool waits, uint64_t until_ns)
{
	struct steps_thread *s = q->thread_of_steps;
	struct rma_client driver = {.rma = &t->rma};

	while (!atomic_load(&s->over)) {
		/* Others may need this process to drive the MPI. */
		t->rma.transport->progress(&driver);
		if (!waits || (until_ns && rma_now_ns() >= until_ns))
			return false;
		nap(s->fd);
	}
	steps_end(q);
	return true;
}

void steps_end(struct client_request *q)
{
	struct steps_thread *s = q->thread_of_steps;

	if (!s)
		return;
	atomic_store(&s->stop, true);
	if (s->started)
		pthread_join(s->thread, NULL);
	if (s->fd >= 0)
		close(s->fd);
	pthread_mutex_destroy(&s->mutex);
	free(s);
	q->thread_of_steps = NULL;
	q->slot->client.no_mpi = false;
}

void steps_end_all(pawl_table *t)
{
	for (int i = 0; t->clients.requests && i < slots_used(&t->clients); i++)
		if (t->clients.requests[i])
			steps_end(t->clients.requests[i]);
}
