/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each thread of a rank is a client: under MPI_THREAD_MULTIPLE a
 * few threads on each rank compete for a few locks, by acquires and by requests, which a thread of
 * the library goes on with meanwhile.
 */
#include <poll.h>
#include <pthread.h>

#include "tests/lock/payload.h"
#include "tests/lock/tables.h"

enum { THREADS = 3, LOCKS = 2, AT_LEAST = 3 };

static const struct pawl_kind *kind;
static pawl_table *table;

struct worker {
	pthread_t thread;
	uint64_t seed;
	int64_t writes[LOCKS];
	bool started;
};

/* Acquire by a request, which its descriptor says has ended; or it is cancelled at first. */
static int request(struct worker *w, uint64_t lock, int mode)
{
	bool cancels = random_below(&w->seed, 4) == 0;
	struct pollfd p = {.events = POLLIN};
	int rc, done = 0;
	pawl_request q;

	rc = pawl_lock_iacquire(table, lock, mode, &q);
	if (rc == PAWL_ERR_UNSUPPORTED)
		return pawl_lock_acquire(table, lock, mode);
	if (rc != PAWL_SUCCESS)
		return rc;
	expect_code(pawl_request_fd(&q, &p.fd), PAWL_SUCCESS, "descriptor");
	if (cancels) {
		expect_code(pawl_request_cancel(&q), PAWL_SUCCESS, "cancel");
		return pawl_lock_acquire(table, lock, mode);
	}
	poll(&p, 1, -1);
	rc = pawl_request_test(&q, &done);
	expect(done, "a request whose descriptor is readable has not ended");
	return rc;
}

static void section(struct worker *w)
{
	bool requests = random_below(&w->seed, 4) == 0;
	uint64_t lock = random_below(&w->seed, LOCKS);
	bool shared = (kind->capabilities & PAWL_CAP_SHARED) && random_below(&w->seed, 2);
	int mode = shared ? PAWL_SHARED : PAWL_EXCLUSIVE, home = table_home(table, lock), rc;
	struct payload_seen seen;

	rc = requests ? request(w, lock, mode) : pawl_lock_acquire(table, lock, mode);
	if (!expect_code(rc, PAWL_SUCCESS, "acquire"))
		return;
	expect_code(pawl_lock_acquire(table, lock, mode), PAWL_ERR_HELD, "acquire once more");
	if (shared)
		payload_see(lock, home, false, &seen);
	else
		payload_write(lock, home, false);
	w->writes[lock] += !shared;
	rc = pawl_lock_release(table, lock);
	/* Values read without the lock are not checked. */
	if (!(shared && rc == PAWL_ERR_LEASE_LOST && readers_expire(kind))) {
		expect_code(rc, PAWL_SUCCESS, "release");
		if (shared)
			payload_judge(lock, &seen);
	}
	expect_code(pawl_lock_release(table, lock), PAWL_ERR_NOT_HELD, "release once more");
}

static void *work(void *arg)
{
	struct worker *w = arg;
	double end = seconds_now() + 3 * tap_budget;

	for (int i = 0; i < AT_LEAST || seconds_now() < end; i++)
		section(w);
	return NULL;
}

static void compete(void)
{
	struct worker workers[THREADS] = {{.started = false}};
	int64_t writes[LOCKS] = {0};

	payload_reset();
	now_doing("%s, %d threads a rank", kind->name, THREADS);
	for (int i = 0; i < THREADS; i++) {
		workers[i].seed = (uint64_t)(tap_rank * THREADS + i + 1);
		workers[i].started =
		    pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0;
		expect(workers[i].started, "no thread %d", i);
	}
	for (int i = 0; i < THREADS; i++) {
		if (workers[i].started)
			pthread_join(workers[i].thread, NULL);
		for (int l = 0; l < LOCKS; l++)
			writes[l] += workers[i].writes[l];
	}
	meet();
	MPI_Allreduce(MPI_IN_PLACE, writes, LOCKS, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
	for (uint64_t l = 0; l < LOCKS; l++) {
		int64_t found = payload_count(l, table_home(table, l));

		expect(found == writes[l], "lock %d: %lld writes done, %lld found", (int)l,
		       (long long)writes[l], (long long)found);
	}
	meet();
	result("%s: %d threads a rank compete", kind->name, THREADS);
}

/* One thread cannot release what another holds. */
static void *release_it(void *arg)
{
	(void)arg;
	expect_code(pawl_lock_release(table, (uint64_t)tap_rank % LOCKS), PAWL_ERR_NOT_HELD,
		    "release by another thread");
	expect_message("another thread of this process has it");
	return NULL;
}

static void somebody_elses(void)
{
	pthread_t other;

	if (tap_rank < LOCKS) {
		expect_code(pawl_lock_acquire(table, (uint64_t)tap_rank, PAWL_EXCLUSIVE),
			    PAWL_SUCCESS, "acquire");
		if (expect(pthread_create(&other, NULL, release_it, NULL) == 0, "no thread"))
			pthread_join(other, NULL);
		expect_code(pawl_lock_release(table, (uint64_t)tap_rank), PAWL_SUCCESS, "release");
	}
	result("%s: a thread cannot release another's lock", kind->name);
}

int main(int argc, char **argv)
{
	tap_start(&argc, &argv, MPI_THREAD_MULTIPLE);
	if (tap_thread_level < MPI_THREAD_MULTIPLE) {
		skip("the MPI does not grant MPI_THREAD_MULTIPLE", "threads");
		return tap_end();
	}
	payload_start();
	for (int i = 0; (kind = tap_kind(&i));) {
		if (!(kind->capabilities & PAWL_CAP_TRY)) {
			/* The MPI's own lock belongs to the process, not to a thread. */
			skip("not a lock of Pawl's", "%s: threads", kind->name);
			continue;
		}
		table = table_open(kind->name, LOCKS, "threads", "multiple");
		if (!table) {
			result("%s: a table", kind->name);
			continue;
		}
		compete();
		somebody_elses();
		table_close(table);
		result("%s: the table is freed", kind->name);
	}
	payload_end();
	return tap_end();
}
