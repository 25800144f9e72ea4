/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a table needs from the system and the MPI fails on one rank. For each kind of lock, each
 * allocation of that rank's table fails once, the first, the second and so on, until none is left
 * (at less than full length those that no table before has had): the call then returns
 * PAWL_ERR_NOMEM on all ranks, with a message, and no table. Then no acquire or release allocates,
 * but for the first use of another node over UCX, acquires of many locks and requests, which return
 * a code and can be repeated. Reports of a table that ends lack what there was no memory for, and
 * the table is freed.
 *
 * The program is linked with --wrap: allocations of the library, and not those of the MPI, go
 * through functions of this file. So do mappings of memory, starts of threads, and the calls that
 * ask for the topology, which is a hint: without it there is a table. So do the calls that change
 * the length of a file, and those of the MPI that make communicators, windows and attributes, or
 * ask about them. The other ranks have the object that the failing rank lacks, and must not free it
 * by a call that waits for that rank.
 */
#include <errno.h>
#include <hwloc.h>
#include <pawl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/failing.h"
#include "tests/lock/tables.h"
#include "topo/discover.h"

enum { LOCKS = 64, MANY = 48, MOST_ALLOCATIONS = 400 };

MAY_FAIL(char *, strdup, NULL, (const char *text), (text))
MAY_FAIL(void *, mmap, MAP_FAILED,
	 (void *at, size_t size, int protection, int flags, int fd, off_t offset),
	 (at, size, protection, flags, fd, offset))
MAY_FAIL(int, ftruncate, (errno = ENOSPC, -1), (int fd, off_t length), (fd, length))
MAY_FAIL(int, posix_fallocate, ENOSPC, (int fd, off_t at, off_t length), (fd, at, length))
MAY_FAIL(int, sched_getaffinity, -1, (pid_t pid, size_t bytes, cpu_set_t *set), (pid, bytes, set))
MAY_FAIL(int, hwloc_topology_load, -1, (hwloc_topology_t hw), (hw))
MAY_FAIL(int, pthread_create, EAGAIN,
	 (pthread_t * thread, const pthread_attr_t *attributes, void *(*start)(void *), void *arg),
	 (thread, attributes, start, arg))
/* An epoch that has begun could not be left open. */
MAY_FAIL(int, PMPI_Win_lock_all, MPI_ERR_OTHER, (int assertion, MPI_Win win), (assertion, win))
MPI_CALL(PMPI_Comm_create_keyval,
	 (MPI_Comm_copy_attr_function * copy, MPI_Comm_delete_attr_function *end, int *key,
	  void *extra),
	 (copy, end, key, extra))
MPI_CALL(PMPI_Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made),
	 (comm, color, key, made))
MPI_CALL(PMPI_Win_create,
	 (void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win),
	 (base, size, unit, info, comm, win))
MPI_CALL(PMPI_Win_allocate_shared,
	 (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win),
	 (size, unit, info, comm, base, win))

/* -------------------------------------------------------------------- creation */

static int first_rank(uint64_t lock, void *arg)
{
	(void)lock, (void)arg;
	return 0;
}

/* PAWL_SUCCESS or the code of a failure, the same on all ranks; with a failure there is no table.
 */
static void expect_agreement(int rc, const pawl_table *t)
{
	int code[2] = {rc, -rc};

	MPI_Allreduce(MPI_IN_PLACE, code, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	expect(code[0] == -code[1], "codes %d to %d", code[0], -code[1]);
	expect(rc == PAWL_SUCCESS || rc == PAWL_ERR_NOMEM || rc == PAWL_ERR_MPI ||
		   rc == PAWL_ERR_WINDOW || (rc == PAWL_ERR_OPTION && getenv("PAWL_TRACE")),
	       "%s: %s", pawl_strerror(rc), pawl_error_message());
	expect((rc == PAWL_SUCCESS) == (t != NULL), "%s, and %s table", pawl_strerror(rc),
	       t ? "a" : "no");
	expect(rc == PAWL_SUCCESS || strstr(pawl_error_message(), "memory") ||
		   strstr(pawl_error_message(), "thread") || strstr(pawl_error_message(), "MPI") ||
		   strstr(pawl_error_message(), "cannot be written"),
	       "the message is \"%s\"", pawl_error_message());
}

static int create(const char *kind, bool homed, pawl_table **t)
{
	return homed ? pawl_table_create_homed(MPI_COMM_WORLD, kind, LOCKS, first_rank, NULL,
					       MPI_INFO_NULL, t)
		     : pawl_table_create(MPI_COMM_WORLD, kind, LOCKS, MPI_INFO_NULL, t);
}

static bool over_ucx(void)
{
	const char *transport = getenv("PAWL_TRANSPORT");

	return transport && strcmp(transport, "ucx") == 0;
}

/* Each rank uses the locks of all ranks. Only over UCX this allocates. */
static void use(pawl_table *t, const char *kind)
{
	int before = calls_made;
	bool ranges = pawl_kind_find(kind)->capabilities & PAWL_CAP_RANGES;

	for (uint64_t lock = 0; lock < LOCKS; lock += LOCKS / 8) {
		pawl_range range;

		if (ranges) {
			expect_code(pawl_range_acquire(t, lock, 0, 9, PAWL_EXCLUSIVE, &range),
				    PAWL_SUCCESS, "pawl_range_acquire");
			expect_code(pawl_range_release(t, &range), PAWL_SUCCESS,
				    "pawl_range_release");
		} else {
			expect_code(pawl_lock_acquire(t, lock, PAWL_EXCLUSIVE), PAWL_SUCCESS,
				    "pawl_lock_acquire");
			expect_code(pawl_lock_release(t, lock), PAWL_SUCCESS, "pawl_lock_release");
		}
	}
	if (!over_ucx())
		expect(calls_made == before, "%d allocations by acquires and releases",
		       calls_made - before);
}

/* Returns the number of allocations that have failed: all, or at less than full length those of new
 * places. */
static int creation(const char *kind, bool homed, int victim)
{
	int n = 0;

	by_place = !tap_long;
	for (bool more = true; more && n < MOST_ALLOCATIONS; n += more) {
		pawl_table *t = NULL;
		int rc;

		now_doing("%s, allocation %d of rank %d", kind, n, victim);
		begin(victim, n);
		rc = create(kind, homed, &t);
		more = has_failed(victim);
		expect_agreement(rc, t);
		expect(more || rc == PAWL_SUCCESS, "%s with all memory", pawl_strerror(rc));
		if (t) {
			use(t, kind);
			meet();
			expect_code(pawl_table_free(&t), PAWL_SUCCESS, "pawl_table_free");
		}
	}
	expect(n < MOST_ALLOCATIONS, "more than %d allocations", n);
	expect(n > 0 || by_place, "no allocation has failed");
	by_place = false;
	return n;
}

/* A lock of rank 0, which the last rank has not used yet: a call that fails has changed nothing, is
 * repeated, and nobody else sees it. */
static void first_use(const char *kind)
{
	const int victim = tap_size - 1;
	int n = 0;

	for (int more = 1; more && n < MOST_ALLOCATIONS; n += more) {
		pawl_table *t = NULL;
		int rc;

		now_doing("%s, first use, allocation %d of rank %d", kind, n, victim);
		if (!expect_code(create(kind, false, &t), PAWL_SUCCESS, "pawl_table_create"))
			break;
		begin(victim, n);
		if (tap_rank == victim) {
			rc = pawl_lock_acquire(t, 0, PAWL_EXCLUSIVE);
			more = left < 0;
			left = -1;
			expect(rc == PAWL_SUCCESS ||
				   (more && (rc == PAWL_ERR_CONNECT || rc == PAWL_ERR_NOMEM)),
			       "%s: %s", pawl_strerror(rc), pawl_error_message());
			if (rc != PAWL_SUCCESS)
				expect_code(pawl_lock_acquire(t, 0, PAWL_EXCLUSIVE), PAWL_SUCCESS,
					    "the call, repeated");
			expect_code(pawl_lock_release(t, 0), PAWL_SUCCESS, "pawl_lock_release");
		}
		MPI_Bcast(&more, 1, MPI_INT, victim, MPI_COMM_WORLD);
		use(t, kind);
		meet();
		expect_code(pawl_table_free(&t), PAWL_SUCCESS, "pawl_table_free");
	}
	expect(n > 0, "no allocation has failed");
	result("%s: first use, each of %d allocations fails", kind, n);
}

static void creations(void)
{
	const struct pawl_kind *kind;

	for (int i = 0; (kind = pawl_kind_get(i)); i++) {
		int n;

		if (!tap_wants(kind) || ((kind->capabilities & PAWL_CAP_THREADS) &&
					 tap_thread_level < MPI_THREAD_MULTIPLE))
			continue;
		n = creation(kind->name, false, tap_size - 1);
		result("%s: %d allocations fail, one at a time", kind->name, n);
		if (over_ucx() && !(kind->capabilities & PAWL_CAP_RANGES))
			first_use(kind->name);
	}
}

/* ------------------------------------------------------- calls on a table that exists */

static void acquire_many(pawl_table *t)
{
	uint64_t locks[MANY];
	int rc = PAWL_ERR_NOMEM;

	for (int i = 0; i < MANY; i++)
		locks[i] = (uint64_t)i;
	for (int n = 0; rc == PAWL_ERR_NOMEM && n < MOST_ALLOCATIONS; n++) {
		begin(tap_rank, n);
		rc = pawl_lock_acquire_many(t, MANY, locks, NULL);
		left = -1;
		expect(rc == PAWL_SUCCESS || rc == PAWL_ERR_NOMEM, "acquire: %s",
		       pawl_error_message());
	}
	expect_code(pawl_lock_release(t, MANY), PAWL_ERR_NOT_HELD, "release of no lock");
	rc = PAWL_ERR_NOMEM;
	for (int n = 0; rc == PAWL_ERR_NOMEM && n < MOST_ALLOCATIONS; n++) {
		begin(tap_rank, n);
		rc = pawl_lock_release_many(t, MANY, locks);
		left = -1;
		expect(rc == PAWL_SUCCESS || rc == PAWL_ERR_NOMEM, "release: %s",
		       pawl_error_message());
	}
	expect_code(rc, PAWL_SUCCESS, "release of many locks");
}

/* A thread for a request that waits, which goes on if there is none. */
static void await(pawl_request *r)
{
	int fd = -1, rc = PAWL_ERR_NOMEM, done = 1;

	for (int n = 0; rc == PAWL_ERR_NOMEM && n < MOST_ALLOCATIONS; n++) {
		begin(tap_rank, n);
		rc = pawl_request_fd(r, &fd);
		left = -1;
		expect(n > 0 || rc == PAWL_ERR_NOMEM, "a descriptor without memory");
	}
	expect(rc == PAWL_SUCCESS && fd >= 0, "a descriptor: %s", pawl_error_message());
	expect_code(pawl_request_test(r, &done), PAWL_SUCCESS, "test");
	expect(!done, "the lock is held by rank 0");
}

/* Rank 0 holds, so that the others' requests need a stack. */
static void request(pawl_table *t)
{
	meet();
	if (tap_rank == 0)
		expect_code(pawl_lock_acquire(t, 0, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
	meet();
	for (int n = 0, rc = PAWL_ERR_NOMEM; tap_rank > 0 && rc == PAWL_ERR_NOMEM; n++) {
		pawl_request r;

		begin(tap_rank, n);
		rc = pawl_lock_iacquire(t, 0, PAWL_EXCLUSIVE, &r);
		left = -1;
		expect(rc == PAWL_SUCCESS || rc == PAWL_ERR_NOMEM, "request: %s",
		       pawl_error_message());
		expect(n > 0 || rc == PAWL_ERR_NOMEM, "a request without memory");
		if (rc != PAWL_SUCCESS)
			continue;
		await(&r);
		expect_code(pawl_request_cancel(&r), PAWL_SUCCESS, "cancel");
	}
	meet();
	if (tap_rank == 0)
		expect_code(pawl_lock_release(t, 0), PAWL_SUCCESS, "release");
}

static pawl_table *filled(void)
{
	pawl_table *t = NULL;

	if (!expect_code(create("d-mcs", false, &t), PAWL_SUCCESS, "pawl_table_create"))
		return NULL;
	for (uint64_t lock = 0; lock < LOCKS; lock++) {
		expect_code(pawl_lock_acquire(t, lock, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
		expect_code(pawl_lock_release(t, lock), PAWL_SUCCESS, "release");
	}
	return t;
}

/* Whatever a report lacks, the table is freed. */
static void reports(int victim)
{
	int n = 0;

	for (bool more = true; more && n < MOST_ALLOCATIONS; n += more) {
		pawl_table *t = filled();

		now_doing("report, allocation %d of rank %d", n, victim);
		begin(victim, n);
		expect_code(pawl_table_free(&t), PAWL_SUCCESS, "pawl_table_free");
		more = has_failed(victim);
	}
	expect(n > 0, "no allocation has failed");
	result("reports: each of %d allocations of rank %d fails", n, victim);
}

static void calls(const char *what)
{
	pawl_table *t;

	now_doing("calls%s", what);
	setenv("PAWL_MAX_HELD", "64", 1);
	t = filled();
	unsetenv("PAWL_MAX_HELD");
	if (t) {
		acquire_many(t);
		request(t);
		meet();
		expect_code(pawl_table_free(&t), PAWL_SUCCESS, "pawl_table_free");
	}
	result("acquires of many locks, and requests%s", what);
}

/* --------------------------------------------------------------------- program */

static const char *const observers[][2] = {
    {"PAWL_STATS", "/dev/null"},  {"PAWL_TRACE", "scarce.tmp"}, {"PAWL_TRACE_MIB", "1"},
    {"PAWL_INJECT", "delay=1ns"}, {"PAWL_WATCHDOG", "30"},
};

static void observe(bool set)
{
	for (size_t i = 0; i < sizeof observers / sizeof *observers; i++)
		if (set)
			setenv(observers[i][0], observers[i][1], 1);
		else
			unsetenv(observers[i][0]);
}

int main(int argc, char **argv)
{
	int n;

	setenv("PAWL_WATCHDOG", "0", 0);
	tap_start(&argc, &argv, MPI_THREAD_MULTIPLE);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
#ifdef MPICH_VERSION
	/* A window that the MPI has made on some ranks only cannot be freed, and UCX may abort in
	 * MPI_Finalize because of its memory. */
	tap_one_host = false;
#endif
	creations();
	if (tap_only)
		return tap_end();
	n = creation("d-mcs", true, 0);
	result("homes by a function: %d allocations fail, one at a time", n);
	topo_few_ranks = 0;
	for (int victim = 0; victim < tap_size; victim++) {
		n = creation("d-mcs", false, victim);
		result("a tree that ranks share: %d allocations of rank %d fail, one at a time", n,
		       victim);
	}
	topo_few_ranks = 256;
	observe(true);
	for (int victim = 0; victim < tap_size; victim++) {
		n = creation("d-mcs", false, victim);
		result("observers: %d allocations of rank %d fail, one at a time", n, victim);
		reports(victim);
	}
	calls(", with observers");
	observe(false);
	calls("");
	return tap_end();
}
