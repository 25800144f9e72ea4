/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations of the MPI that fail in the middle of a call (transport mpi). The program is linked
 * with --wrap: the n-th call of the MPI that one rank makes for a lock returns an error, after it
 * has been performed or in place of that. Rank 1 fails, rank 0 is the other client; the lock lives
 * at either. For each kind, each n and both ways, with a lock of its own:
 *   held    rank 0 holds, rank 1 acquires: it must not be told that it has the lock
 *   free    rank 1 acquires and releases
 * Then every other call about these locks must end, with the lock or with PAWL_ERR_MPI, and never
 * with a lock that the other rank holds; all at the same time, for each may wait a second. Locks
 * that had no error can be used as before, and the table is freed.
 */
#include <pawl.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lock/tables.h"
#include "tests/wrap.h"

/* PLACES: calls of the MPI, one of which fails; far more than an acquire and a release make. */
enum { PLACES = 16, FREE = 4 * PLACES, LOCKS = 2 * FREE, SPARE = 2 };
enum { LOOKS = 20 };
static const double look_s = 0.001, most_s = 20;

static _Thread_local int left = -1; /* calls that succeed before one fails; -1: all do */
static _Thread_local bool performs; /* the call that fails is performed */

/* 1: this call fails. */
static bool fails(void)
{
	return left >= 0 && left-- == 0;
}

#define RMA_CALL(name, parameters, arguments)             \
	WRAP(int, name, parameters)                       \
	{                                                 \
		const bool fail = fails();                \
                                                          \
		if (!fail || performs) {                  \
			int rc = __real_##name arguments; \
                                                          \
			return fail ? MPI_ERR_OTHER : rc; \
		}                                         \
		return MPI_ERR_OTHER;                     \
	}

RMA_CALL(PMPI_Fetch_and_op,
	 (const void *from, void *to, MPI_Datatype type, int rank, MPI_Aint at, MPI_Op op,
	  MPI_Win win),
	 (from, to, type, rank, at, op, win))
RMA_CALL(PMPI_Compare_and_swap,
	 (const void *from, const void *compare, void *to, MPI_Datatype type, int rank, MPI_Aint at,
	  MPI_Win win),
	 (from, compare, to, type, rank, at, win))
RMA_CALL(PMPI_Get,
	 (void *to, int n, MPI_Datatype type, int rank, MPI_Aint at, int m, MPI_Datatype there,
	  MPI_Win win),
	 (to, n, type, rank, at, m, there, win))
RMA_CALL(PMPI_Put,
	 (const void *from, int n, MPI_Datatype type, int rank, MPI_Aint at, int m,
	  MPI_Datatype there, MPI_Win win),
	 (from, n, type, rank, at, m, there, win))
RMA_CALL(PMPI_Win_flush, (int rank, MPI_Win win), (rank, win))
RMA_CALL(PMPI_Win_flush_all, (MPI_Win win), (win))

/* ------------------------------------------------------------------------ calls */

/* A lock, or units of a space. */
struct hold {
	pawl_table *table;
	uint64_t lock;
	pawl_range range;
	bool ranges;
	bool failed; /* a call about it has failed, or it is SPARE */
};

static int acquire(struct hold *h)
{
	return h->ranges ? pawl_range_acquire(h->table, h->lock, 0, 9, PAWL_EXCLUSIVE, &h->range)
			 : pawl_lock_acquire(h->table, h->lock, PAWL_EXCLUSIVE);
}

static int release(struct hold *h)
{
	return h->ranges ? pawl_range_release(h->table, &h->range)
			 : pawl_lock_release(h->table, h->lock);
}

static void expect_loss(int rc, const char *what)
{
	expect(rc == PAWL_SUCCESS || rc == PAWL_ERR_MPI, "%s: %s (%s)", what, pawl_strerror(rc),
	       pawl_error_message());
	expect(rc == PAWL_SUCCESS || strstr(pawl_error_message(), "the MPI"),
	       "the message is \"%s\"", pawl_error_message());
}

/* Rank 1 asks for a lock that rank 0 holds, and must not get it. Returns whether its call is still
 * waiting; ranges have no requests, and their tries do not wait. */
static bool ask(struct hold *h, pawl_request *request)
{
	int done = 1, rc;

	if (h->ranges) {
		rc = pawl_range_try_acquire(h->table, h->lock, 0, 9, PAWL_EXCLUSIVE, &h->range);
		expect(rc == PAWL_ERR_BUSY || rc == PAWL_ERR_MPI, "lock %d, held: %s", (int)h->lock,
		       pawl_strerror(rc));
		return false;
	}
	rc = pawl_lock_iacquire(h->table, h->lock, PAWL_EXCLUSIVE, request);
	done = rc != PAWL_SUCCESS;
	for (int i = 0; i < LOOKS && !done; i++) {
		rc = pawl_request_test(request, &done);
		linger(look_s);
	}
	expect(!done || rc == PAWL_ERR_MPI, "lock %d, held: %s", (int)h->lock, pawl_strerror(rc));
	return !done;
}

/* Acquire and release all that have failed. Each acquire may wait for a second, so they wait
 * together; ranges have no requests, so the first that is not free waits by itself, and the others
 * are left.
 */
static void use_all(struct hold *h, int n)
{
	pawl_request *request = calloc((size_t)n, sizeof *request);
	bool *open = calloc((size_t)n, sizeof *open);
	const pawl_table *waited = NULL;
	double began = seconds_now();
	int left_open = 0, used = 0;

	for (int i = 0; i < n; i++) {
		int rc;

		if (!h[i].failed)
			continue;
		used++;
		if (!h[i].ranges) {
			rc = pawl_lock_iacquire(h[i].table, h[i].lock, PAWL_EXCLUSIVE, &request[i]);
			open[i] = rc == PAWL_SUCCESS;
			left_open += open[i];
			expect_loss(rc, "acquire");
			continue;
		}
		rc = pawl_range_try_acquire(h[i].table, h[i].lock, 0, 9, PAWL_EXCLUSIVE,
					    &h[i].range);
		if (rc == PAWL_ERR_BUSY && waited == h[i].table)
			continue;
		if (rc == PAWL_ERR_BUSY) {
			waited = h[i].table;
			rc = acquire(&h[i]);
		}
		expect_loss(rc, "acquire");
		if (rc == PAWL_SUCCESS)
			expect_loss(release(&h[i]), "release");
	}
	for (int i = 0; left_open > 0; i = (i + 1) % n) {
		int done, rc;

		if (!open[i])
			continue;
		rc = pawl_request_test(&request[i], &done);
		if (!done)
			continue;
		open[i] = false;
		left_open--;
		expect_loss(rc, "acquire");
		if (rc == PAWL_SUCCESS)
			expect_loss(release(&h[i]), "release");
	}
	expect_time(seconds_now() - began < most_s, "%d locks take %.1f s", used,
		    seconds_now() - began);
	free(request);
	free(open);
}

/* ------------------------------------------------------------------------ parts */

/* Of four locks in a row, each home has two, and of these one lets the call be performed. */
static void begin(int i)
{
	left = i / 4;
	performs = i / 2 % 2;
}

/* Whether a call has failed since begin(). */
static bool end(void)
{
	bool failed = left < 0;

	left = -1;
	return failed;
}

/* A release may wait for a second, too. */
static int step(void)
{
	return tap_long ? 1 : 3;
}

static int held(struct hold *h, pawl_request *request, bool *waits)
{
	int failures = 0;

	for (int i = 0; i < FREE; i += step()) {
		if (tap_rank == 0)
			expect_code(acquire(&h[i]), PAWL_SUCCESS, "acquire");
		meet();
		if (tap_rank == 1) {
			begin(i);
			waits[i] = ask(&h[i], &request[i]);
			h[i].failed = end();
			failures += h[i].failed;
		}
		meet();
	}
	return failures;
}

static int unheld(struct hold *h)
{
	int failures = 0, rc;

	for (int i = FREE; i < LOCKS && tap_rank == 1; i++) {
		begin(i - FREE);
		rc = acquire(&h[i]);
		expect_loss(rc, "acquire");
		if (rc == PAWL_SUCCESS)
			expect_loss(release(&h[i]), "release");
		h[i].failed = end();
		failures += h[i].failed;
	}
	meet();
	return failures;
}

/* A table of the kind, after the calls that fail. */
static bool begin_kind(const struct pawl_kind *kind, struct hold *h, bool contends)
{
	static pawl_request request[FREE];
	static bool waits[FREE];
	pawl_table *t;
	int failures;

	now_doing("%s", kind->name);
	t = table_open(kind->name, LOCKS + SPARE, NULL, NULL);
	for (int i = 0; i < LOCKS + SPARE; i++)
		h[i] = (struct hold){.table = t,
				     .lock = (uint64_t)i,
				     .ranges = kind->capabilities & PAWL_CAP_RANGES,
				     .failed = i >= LOCKS};
	if (!t)
		return false;
	failures = unheld(h);
	failures += contends ? held(h, request, waits) : 0;
	MPI_Bcast(&failures, 1, MPI_INT, 1, MPI_COMM_WORLD);
	for (int i = 0; i < LOCKS; i++)
		MPI_Bcast(&h[i].failed, 1, MPI_C_BOOL, 1, MPI_COMM_WORLD);
	expect(failures > 4, "only %d calls failed", failures);
	for (int i = 0; contends && tap_rank == 0 && i < FREE; i += step())
		expect_loss(release(&h[i]), "release");
	for (int i = 0; contends && tap_rank == 1 && i < FREE; i++)
		if (waits[i]) {
			int rc = pawl_request_wait(&request[i]);

			expect_loss(rc, "wait");
			if (rc == PAWL_SUCCESS)
				expect_loss(release(&h[i]), "release");
		}
	meet();
	result("%s: %d calls of the MPI fail%s", kind->name, failures,
	       contends ? ", some while others hold" : "");
	return true;
}

int main(int argc, char **argv)
{
	enum { MOST = 32, EACH = LOCKS + SPARE };
	const struct pawl_kind *kind;
	struct hold *h = calloc((size_t)MOST * EACH, sizeof *h);
	int kinds = 0;

	setenv("PAWL_TRANSPORT", "mpi", 1);
	setenv("PAWL_TOPOLOGY", "node:2 core:1", 1);
	setenv("PAWL_MAX_HELD", "192", 1);
	setenv("PAWL_DISTRIBUTION", "cyclic", 1);
	setenv("PAWL_WATCHDOG", "0", 1);
	tap_start(&argc, &argv, MPI_THREAD_FUNNELED);
	for (int i = 0; h && (kind = pawl_kind_get(i)); i++)
		if (tap_wants(kind) && !(kind->capabilities & PAWL_CAP_THREADS) && kinds < MOST &&
		    strcmp(kind->name, "mpi-win-lock") != 0)
			kinds += begin_kind(kind, h + kinds * EACH,
					    tap_long || tap_only || kinds % 4 == 0);
	now_doing("all kinds");
	if (tap_rank == 0)
		use_all(h, kinds * EACH);
	meet();
	result("all locks whose calls have failed, by the other rank");
	for (int k = 0; k < kinds; k++) {
		struct hold *spare = h + k * EACH + LOCKS;

		for (int i = 0; i < SPARE; i++) {
			expect_code(acquire(&spare[i]), PAWL_SUCCESS, "acquire of another lock");
			expect_code(release(&spare[i]), PAWL_SUCCESS, "release of another lock");
			meet();
		}
		table_close(spare->table);
	}
	result("other locks of these tables, and their ends");
	free(h);
	return tap_end();
}
