/* SPDX-License-Identifier: BSD-3-Clause */
/* The exclusion test: requests, which go on while their client does something else; and scopes,
 * whose waits return now and then. */
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

/* Rank 0 holds the lock while rank 1 requests it, and does not wait. */
static void requested_while_held(void)
{
	pawl_request q;

	if (tap_rank == 0)
		acquire(1, PAWL_EXCLUSIVE);
	meet();
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

	if (tap_rank == 0)
		acquire(1, PAWL_EXCLUSIVE);
	meet();
	if (tap_rank == 1)
		request(1, PAWL_EXCLUSIVE, &q);
	meet();
	if (tap_rank == 0)
		release(1);
	if (tap_rank == 1) {
		linger(tap_budget / 2);
		expect_code(pawl_request_wait(&q), PAWL_SUCCESS, "wait");
		expect(payload_count(1, home_of(1)) == 0, "a client that came later was first");
		inside_and_release(1, PAWL_EXCLUSIVE);
	}
	if (tap_rank > 1) {
		acquire(1, PAWL_EXCLUSIVE);
		inside_and_release(1, PAWL_EXCLUSIVE);
	}
	expect_total(tap_rank > 0);
}

static void cancelled(void)
{
	pawl_request q, other;

	if (tap_rank == 0)
		acquire(1, PAWL_EXCLUSIVE);
	meet();
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
			expect_code(pawl_request_wait(&q), PAWL_SUCCESS, "wait");
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

	if (tap_rank == 0)
		acquire(1, PAWL_EXCLUSIVE);
	meet();
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
	expect(strstr(pawl_error_message(), "ended"), "message: %s", pawl_error_message());
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
	run("scopes wait and contend", scoped);
	run("requests misused", misused);
}
