/* SPDX-License-Identifier: BSD-3-Clause */
/* The exclusion test: requests, which go on while their client does something else, and which it
 * awaits with other things; and scopes, whose waits return now and then. */
#include <poll.h>
#include <string.h>

#include "api/scope.h"

#include "exclusion.h"

enum { TESTS = 6, FREE_LOCK = 2 };
#define COMPUTE 2e-4   /* seconds between two tests */
#define LONG_HOLD 0.13 /* seconds, in which a wait of a scope returns twice */

/* Whether the kind has requests; those whose acquire is a call of the MPI do not. */
static bool has_requests(void)
{
	pawl_request q = {{1, 2, 3, 4}};
	int rc;

	if (strcmp(kind->name, "mpi-win-lock") != 0 && strcmp(kind->name, "rpc") != 0)
		return true;
	rc = pawl_lock_iacquire(table, 0, PAWL_EXCLUSIVE, &q);
	expect_code(rc, PAWL_ERR_UNSUPPORTED, "request");
	expect(q.opaque[0] == 0, "a request that failed is not zero");
	return false;
}

static void request(uint64_t lock, int mode, pawl_request *q)
{
	expect_code(pawl_lock_iacquire(table, lock, mode, q), PAWL_SUCCESS, "request");
}

static bool test(pawl_request *q)
{
	int done = -1;

	expect_code(pawl_request_test(q, &done), PAWL_SUCCESS, "test");
	expect(done == 0 || done == 1, "done is %d", done);
	return done == 1;
}

static bool test_for_a_while(pawl_request *q)
{
	int looks = (int)random_below(&seed, TESTS);

	for (int i = 0; i < looks; i++) {
		if (test(q))
			return true;
		linger(random_below(&seed, 2) ? COMPUTE : 0);
	}
	return false;
}

static void rank_0_holds(void)
{
	if (tap_rank == 0)
		acquire(1, PAWL_EXCLUSIVE);
	meet();
}

/* Rank 0 holds the lock while rank 1 requests it, and does not wait. */
static void requested_while_held(void)
{
	pawl_request q;

	rank_0_holds();
	if (tap_rank == 1) {
		request(1, PAWL_EXCLUSIVE, &q);
		for (int i = 0; i < TESTS; i++)
			expect(!test(&q), "violation: the lock is held by rank 0");
		expect_code(pawl_lock_release(table, 1), PAWL_ERR_NOT_HELD, "not held yet");
		expect_code(pawl_lock_acquire(table, 1, PAWL_EXCLUSIVE), PAWL_ERR_HELD, "twice");
	}
	meet();
	if (tap_rank == 0)
		release(1);
	if (tap_rank == 1) {
		expect_code(pawl_request_wait(&q), PAWL_SUCCESS, "wait");
		inside_and_release(1, PAWL_EXCLUSIVE);
	}
	meet();
	if (tap_rank == 1) {
		request(1, PAWL_EXCLUSIVE, &q);
		while (!test(&q))
			;
		inside_and_release(1, PAWL_EXCLUSIVE);
	}
	expect_total(2 * (tap_rank == 1));
}

/* The place in the queue of d-mcs is that of the request, not of its first test. */
static void requested_first(void)
{
	pawl_request q;

	rank_0_holds();
	if (tap_rank == 1)
		request(1, PAWL_EXCLUSIVE, &q);
	meet();
	if (tap_rank == 0)
		release(1);
	if (tap_rank == 1) {
		linger(tap_budget / 2);
		expect_code(pawl_request_wait(&q), PAWL_SUCCESS, "wait");
		expect(payload_count(1, table_home(table, 1)) == 0,
		       "a client that came later was first");
		inside_and_release(1, PAWL_EXCLUSIVE);
	}
	if (tap_rank > 1) {
		acquire(1, PAWL_EXCLUSIVE);
		inside_and_release(1, PAWL_EXCLUSIVE);
	}
	expect_total(tap_rank > 0);
}

/* Whether a thread may await requests, and whether the MPI may. Else the calls are refused. */
static bool is_awaited(bool by_mpi)
{
	struct pawl_table_info info;

	if (tap_thread_level == MPI_THREAD_MULTIPLE)
		return true;
	expect_code(pawl_table_get_info(table, &info), PAWL_SUCCESS, "info");
	return !by_mpi && strcmp(info.transport, "mpi") != 0;
}

static int descriptor_of(pawl_request *q)
{
	int fd = -1, again = -1;

	expect_code(pawl_request_fd(q, &fd), PAWL_SUCCESS, "descriptor");
	expect_code(pawl_request_fd(q, &again), PAWL_SUCCESS, "descriptor");
	expect(fd >= 0 && fd == again, "descriptors %d and %d", fd, again);
	return fd;
}

static bool is_readable(int fd, int milliseconds)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, milliseconds) == 1;
}

static MPI_Request begin_mpi(pawl_request *q)
{
	MPI_Request mpi = MPI_REQUEST_NULL, other = MPI_REQUEST_NULL;
	int rc;

	expect_code(pawl_request_mpi(q, &mpi), PAWL_SUCCESS, "the MPI's request");
	rc = pawl_request_mpi(q, &other); /* the first one may have completed */
	expect(rc == PAWL_SUCCESS || rc == PAWL_ERR_HELD, "a second one: %s", pawl_strerror(rc));
	if (rc == PAWL_SUCCESS)
		MPI_Wait(&other, MPI_STATUS_IGNORE);
	return mpi;
}

/* Await a request, in one of the ways. The holder may need this rank to drive the MPI for the data,
 * and only at this level the thread that awaits the request does. */
static void await(pawl_request *q)
{
	const bool by_thread = tap_thread_level == MPI_THREAD_MULTIPLE;
	uint64_t way = random_below(&seed, 3);
	MPI_Request mpi;

	if (way == 1 && is_awaited(false)) {
		while (!is_readable(descriptor_of(q), by_thread ? 1000 : 1))
			linger(COMPUTE);
		expect(test(q), "a request whose descriptor is readable has not ended");
	} else if (way == 2 && is_awaited(true)) {
		mpi = begin_mpi(q);
		MPI_Wait(&mpi, MPI_STATUS_IGNORE);
		expect(test(q), "a request that the MPI has completed has not ended");
	} else {
		expect_code(pawl_request_wait(q), PAWL_SUCCESS, "wait");
	}
}

static bool has_been_cancelled(MPI_Request *mpi)
{
	MPI_Status status;
	int is_cancelled = -1;

	MPI_Wait(mpi, &status);
	MPI_Test_cancelled(&status, &is_cancelled);
	return is_cancelled;
}

/* Rank 1 awaits a lock that rank 0 holds, until a message has come, and then the lock. */
static void awaited_with_others(void)
{
	MPI_Request both[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
	pawl_request q = {{0}};
	int fd, which = -1;

	rank_0_holds();
	if (tap_rank == 1) {
		request(1, PAWL_EXCLUSIVE, &q);
		fd = descriptor_of(&q);
		if (is_awaited(true)) {
			MPI_Irecv(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, &both[0]);
			both[1] = begin_mpi(&q);
			MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
			MPI_Waitany(2, both, &which, MPI_STATUS_IGNORE);
			expect(which == 0, "violation: the lock is held by rank 0");
		}
		expect(!test(&q) && !is_readable(fd, 0), "violation: the lock is held by rank 0");
		expect_code(pawl_lock_release(table, 1), PAWL_ERR_NOT_HELD, "not held yet");
		meet();
		if (is_awaited(true)) {
			MPI_Waitany(2, both, &which, MPI_STATUS_IGNORE);
			expect(which == 1, "MPI_Waitany: %d", which);
		}
		expect(is_readable(fd, -1) && test(&q), "the descriptor is readable, not ended");
		inside_and_release(1, PAWL_EXCLUSIVE);
	} else {
		if (tap_rank == 0 && tap_size > 1 && is_awaited(true)) {
			MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD);
		}
		meet();
		if (tap_rank == 0)
			release(1);
	}
	expect_total(tap_rank == 1);
}

/* Rank 0 holds the lock until rank 1 has cancelled what awaits it. */
static void awaited_in_vain(void)
{
	MPI_Request mpi = MPI_REQUEST_NULL;
	pawl_request q;

	rank_0_holds();
	if (tap_rank == 1) {
		request(1, PAWL_EXCLUSIVE, &q);
		if (is_awaited(true)) {
			mpi = begin_mpi(&q);
			MPI_Cancel(&mpi);
			expect(has_been_cancelled(&mpi), "MPI_Cancel() of what waits");
			expect(!test(&q), "a request goes on after MPI_Cancel()");
			mpi = begin_mpi(&q);
		}
		descriptor_of(&q);
		if (!can(PAWL_CAP_TIMED))
			MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
		expect_code(pawl_request_cancel(&q), PAWL_SUCCESS, "cancel");
		if (can(PAWL_CAP_TIMED) && is_awaited(true))
			expect(has_been_cancelled(&mpi), "the MPI's request of a cancelled one");
		else if (is_awaited(true))
			MPI_Wait(&mpi, MPI_STATUS_IGNORE);
		request(FREE_LOCK, PAWL_EXCLUSIVE, &q);
		expect(is_readable(descriptor_of(&q), -1), "the descriptor of a free lock");
		expect_code(pawl_request_cancel(&q), PAWL_SUCCESS, "cancel what is free");
	}
	if (!can(PAWL_CAP_TIMED) && tap_rank == 0 && tap_size > 1)
		MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (!can(PAWL_CAP_TIMED) && tap_rank == 0)
		release(1);
	meet();
	if (can(PAWL_CAP_TIMED) && tap_rank == 0)
		release(1);
	meet();
}

static void not_awaited(void)
{
	MPI_Request mpi = MPI_REQUEST_NULL;
	pawl_request q;
	int fd = -1;

	request(tap_rank % 2, PAWL_EXCLUSIVE, &q);
	if (!is_awaited(true)) {
		expect_code(pawl_request_mpi(&q, &mpi), PAWL_ERR_THREAD, "the MPI's request");
		expect(strstr(pawl_error_message(), "MPI_THREAD_MULTIPLE"), "message: %s",
		       pawl_error_message());
	}
	if (!is_awaited(false))
		expect_code(pawl_request_fd(&q, &fd), PAWL_ERR_THREAD, "a descriptor");
	expect_code(pawl_request_fd(NULL, &fd), PAWL_ERR_ARG, "of null");
	expect_code(pawl_request_fd(&q, NULL), PAWL_ERR_ARG, "to null");
	expect_code(pawl_request_wait(&q), PAWL_SUCCESS, "wait");
	expect_code(pawl_request_fd(&q, &fd), PAWL_ERR_ARG, "of one that has ended");
	release(tap_rank % 2);
	meet();
}

static void cancelled(void)
{
	pawl_request q, other;

	rank_0_holds();
	if (tap_rank == 1) {
		request(FREE_LOCK, PAWL_EXCLUSIVE, &q); /* has it already */
		expect_code(pawl_request_cancel(&q), PAWL_SUCCESS, "cancel what is free");
		/* Without deadlines a cancel waits for the lock. */
		for (int i = 0; i < TESTS && can(PAWL_CAP_TIMED); i++) {
			request(1, PAWL_EXCLUSIVE, &q);
			request(FREE_LOCK, PAWL_EXCLUSIVE, &other);
			test_for_a_while(&q);
			expect_code(pawl_request_cancel(&q), PAWL_SUCCESS, "cancel what is held");
			expect(q.opaque[0] == 0, "a request that has ended is not zero");
			expect(test(&q), "a request that has ended is done");
			expect_code(pawl_request_cancel(&q), PAWL_SUCCESS, "cancel once more");
			expect_code(pawl_request_wait(&q), PAWL_SUCCESS, "and wait");
			expect_code(pawl_request_wait(&other), PAWL_SUCCESS, "wait for the other");
			release(FREE_LOCK);
		}
	}
	meet();
	if (tap_rank == 0)
		release(1);
	meet();
}

/* One or two requests at a time, tested for a while, and then cancelled or awaited. */
static void requests_contended(void)
{
	double began = seconds_now();
	int64_t written = 0;

	for (int i = 0; more(i, began); i++) {
		bool readers = can(PAWL_CAP_SHARED) && !readers_expire(kind);
		int mode = readers && random_below(&seed, 2) ? PAWL_SHARED : PAWL_EXCLUSIVE;
		pawl_request q;

		request(1, mode, &q);
		if (!test_for_a_while(&q)) {
			if (random_below(&seed, 4) == 0) {
				expect_code(pawl_request_cancel(&q), PAWL_SUCCESS, "cancel");
				continue;
			}
			await(&q);
		}
		if (random_below(&seed, 4) == 0) {
			request(FREE_LOCK, PAWL_EXCLUSIVE, &q); /* a higher number: no cycle */
			while (!test(&q))
				linger(COMPUTE);
			inside(FREE_LOCK, PAWL_EXCLUSIVE);
			written++;
			release(FREE_LOCK);
		}
		inside_and_release(1, mode);
		written += mode == PAWL_EXCLUSIVE;
	}
	expect_total(written);
}

/* Acquire with a scope; how often its waits have returned without the lock. */
static int acquire_scope(struct pawl_private_scope *s)
{
	int returns = 0, rc = pawl_private_scope_begin(s);

	while (rc == SCOPE_GO_ON) {
		rc = pawl_private_scope_wait(s);
		returns += rc == SCOPE_GO_ON;
	}
	expect_code(rc, PAWL_SUCCESS, "a scope");
	expect(s->state == SCOPE_HELD, "the state of a scope is %d", s->state);
	return returns;
}

static void end_scope(struct pawl_private_scope *s)
{
	expect_code(pawl_private_scope_end(s), PAWL_SUCCESS, "end");
	expect(s->state == SCOPE_NONE, "the state of a scope is %d", s->state);
	expect_code(pawl_private_scope_end(s), PAWL_SUCCESS, "end once more");
}

/* A scope waits for a long time, is ended while it waits, and contends. */
static void scoped(void)
{
	struct pawl_private_scope s = {.table = &table, .lock = 1, .mode = PAWL_EXCLUSIVE};
	double began;
	int64_t written = 0;
	int returns;

	rank_0_holds();
	if (tap_rank == 0 && tap_size > 1) {
		/* Until rank 1 is about to wait. */
		MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		linger(LONG_HOLD);
	}
	if (tap_rank == 0)
		release(1);
	if (tap_rank == 1) {
		if (can(PAWL_CAP_TIMED)) {
			expect_code(pawl_private_scope_begin(&s), SCOPE_GO_ON, "begin");
			expect_code(pawl_private_scope_look(&s), SCOPE_GO_ON, "look");
			end_scope(&s);
		}
		MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
		returns = acquire_scope(&s);
		expect_time(returns > 0, "a wait returned %d times", returns);
		inside(1, PAWL_EXCLUSIVE);
		written++;
		end_scope(&s);
	}
	meet();
	began = seconds_now();
	for (int i = 0; more(i, began); i++) {
		s.wait = can(PAWL_CAP_TIMED) && random_below(&seed, 2) ? SCOPE_TIMED : SCOPE_WAITS;
		s.seconds = 60;
		acquire_scope(&s);
		inside(1, PAWL_EXCLUSIVE);
		written++;
		end_scope(&s);
	}
	expect_total(written);
}

static void misused(void)
{
	pawl_request q, stale;
	int done;

	if (tap_rank != 0)
		return;
	expect_code(pawl_lock_iacquire(table, 0, PAWL_EXCLUSIVE, NULL), PAWL_ERR_ARG, "null");
	expect_code(pawl_lock_iacquire(NULL, 0, PAWL_EXCLUSIVE, &q), PAWL_ERR_ARG, "no table");
	expect_code(pawl_lock_iacquire(table, locks, PAWL_EXCLUSIVE, &q), PAWL_ERR_RANGE, "beyond");
	expect_code(pawl_lock_iacquire(table, 0, 77, &q), PAWL_ERR_ARG, "mode 77");
	expect_code(pawl_request_test(NULL, &done), PAWL_ERR_ARG, "test null");
	expect_code(pawl_request_test(&q, NULL), PAWL_ERR_ARG, "test without done");
	expect_code(pawl_request_wait(NULL), PAWL_ERR_ARG, "wait for null");
	expect_code(pawl_request_cancel(NULL), PAWL_ERR_ARG, "cancel null");
	acquire(0, PAWL_EXCLUSIVE);
	expect_code(pawl_lock_iacquire(table, 0, PAWL_EXCLUSIVE, &q), PAWL_ERR_HELD, "held");
	release(0);
	request(0, PAWL_EXCLUSIVE, &q);
	stale = q;
	expect_code(pawl_lock_release(table, 0), PAWL_ERR_NOT_HELD, "before the test");
	expect_code(pawl_request_wait(&q), PAWL_SUCCESS, "wait");
	expect_code(pawl_request_test(&stale, &done), PAWL_ERR_ARG, "a copy");
	expect_message("ended");
	release(0);
	expect_code(pawl_request_cancel(&stale), PAWL_ERR_ARG, "a copy, later");
}

void run_requests(void (*run)(const char *what, void (*test)(void)))
{
	if (!has_requests())
		return;
	run("requests of what is held, and free", requested_while_held);
	if (strcmp(kind->name, "d-mcs") == 0)
		run("the place of a request", requested_first);
	run("requests are cancelled", cancelled);
	run("requests contend", requests_contended);
	if (is_awaited(false)) {
		run("requests are awaited with others", awaited_with_others);
		run("requests are awaited in vain", awaited_in_vain);
	}
	run("requests that cannot be awaited", not_awaited);
	run("scopes wait and contend", scoped);
	run("requests misused", misused);
}
