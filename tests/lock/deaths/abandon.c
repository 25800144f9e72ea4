/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks and ranges that their holder abandons, of the kinds that recover. When the lease is over,
 * another rank and then the former holder acquire the lock, and the slot of the
 * holder can be used again. Holders are told of the recovery until one of them has repaired what
 * the lock protects, and their numbers grow. A lease that is too short for this machine is raised,
 * and the table's parameters say so.
 */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "tests/lock/tables.h"

#define LEASE_US "20000"
#define LEASE_S 0.02

/* How long a client tries before the test fails. */
static const double PATIENCE = 20;

static const struct pawl_kind *kind;
static pawl_table *table;
static pawl_range range;
static bool timed; /* acquires ranges, by pawl_range_timed_acquire() */

static bool has_ranges(void)
{
	return kind->capabilities & PAWL_CAP_RANGES;
}

static int64_t last_unit; /* of ranges; the first is 60, or 0 of the whole space */

/* What a call that acquires has returned: PAWL_SUCCESS also for PAWL_RECOVERED; then told. */
static bool told;

static int note_told(int rc)
{
	told = rc == PAWL_RECOVERED;
	return has_got(rc) ? PAWL_SUCCESS : rc;
}

static int acquire_told(uint64_t lock, int mode)
{
	int64_t first = last_unit == PAWL_RANGE_END ? 0 : 60;

	if (has_ranges() && timed)
		return pawl_range_timed_acquire(table, lock, first, last_unit, mode, PATIENCE,
						&range);
	return has_ranges() ? pawl_range_acquire(table, lock, first, last_unit, mode, &range)
			    : pawl_lock_acquire(table, lock, mode);
}

static int acquire(uint64_t lock, int mode)
{
	return note_told(acquire_told(lock, mode));
}

static int release(uint64_t lock)
{
	return has_ranges() ? pawl_range_release(table, &range) : pawl_lock_release(table, lock);
}

static int abandon(uint64_t lock)
{
	return has_ranges() ? pawl_range_abandon(table, &range) : pawl_lock_abandon(table, lock);
}

/* A rank whose slot is not free yet tries again. */
static void acquire_some_time(uint64_t lock, int mode)
{
	double until = seconds_now() + PATIENCE;
	int rc;

	while ((rc = acquire(lock, mode)) == PAWL_ERR_TOO_MANY && seconds_now() < until)
		linger(0.001);
	if (expect_code(rc, PAWL_SUCCESS, "acquire at the end"))
		expect_code(release(lock), PAWL_SUCCESS, "release");
}

/* Rank 0 abandons lock 0, and the last rank and then rank 0 acquire it. */
static void abandoned(int mode, const char *how)
{
	int last = tap_size - 1;

	now_doing("%s, abandoned, %s", kind->name, how);
	if (tap_rank == 0 && expect_code(acquire(0, mode), PAWL_SUCCESS, "acquire")) {
		expect_code(abandon(0), PAWL_SUCCESS, "abandon");
		expect_code(release(0), PAWL_ERR_NOT_HELD, "release of what is abandoned");
		expect_code(abandon(0), PAWL_ERR_NOT_HELD, "abandon it again");
	}
	meet();
	if (tap_rank == last)
		acquire_some_time(0, PAWL_EXCLUSIVE);
	meet();
	if (tap_rank == 0) {
		/* Its only slot was taken. */
		acquire_some_time(0, mode);
		acquire_some_time(1, PAWL_EXCLUSIVE);
	}
	meet();
	result("%s: abandoned, %s", kind->name, how);
}

/* Another client waits already when the holder abandons the lock. */
static void awaited(void)
{
	now_doing("%s, abandoned while awaited", kind->name);
	if (tap_rank == 0)
		expect_code(acquire(1, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
	meet();
	if (tap_rank == 0) {
		linger(0.005);
		expect_code(abandon(1), PAWL_SUCCESS, "abandon");
	} else {
		acquire_some_time(1, PAWL_EXCLUSIVE);
	}
	meet();
	if (tap_rank == 0)
		acquire_some_time(1, PAWL_EXCLUSIVE);
	meet();
	result("%s: abandoned while others wait", kind->name);
}

/* The last rank is stopped while it waits, and learns of its turn late, but within the lease. On a
 * busy machine it may be later than that; its release then returns PAWL_ERR_LEASE_LOST. */
static void stopped(void)
{
	int last = tap_size - 1, rc;
	int64_t pid = getpid();

	now_doing("%s, stopped while waiting", kind->name);
	MPI_Bcast(&pid, 1, MPI_INT64_T, last, MPI_COMM_WORLD);
	if (tap_rank == 0)
		expect_code(acquire(1, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
	meet();
	if (tap_rank == 0) {
		linger(0.003);
		kill((pid_t)pid, SIGSTOP);
		rc = release(1);
		expect(rc == PAWL_SUCCESS || rc == PAWL_ERR_LEASE_LOST, "release: %s",
		       pawl_strerror(rc));
		linger(0.7 * LEASE_S);
		kill((pid_t)pid, SIGCONT);
	} else if (tap_rank == last) {
		expect_code(acquire(1, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
		rc = release(1);
		expect(rc == PAWL_SUCCESS || rc == PAWL_ERR_LEASE_LOST, "release: %s",
		       pawl_strerror(rc));
	}
	meet();
	result("%s: stopped while waiting", kind->name);
}

/* A client that is kept from its core for a lease is taken for dead. */
static bool timed_code(int got, int wanted, const char *what)
{
	return expect_time(got == wanted, "%s: %s instead of %s: %s", what, pawl_strerror(got),
			   pawl_strerror(wanted), got ? pawl_error_message() : "");
}

static int64_t number(uint64_t lock)
{
	int64_t token = -1;

	timed_code(has_ranges() ? pawl_range_token(table, &range, &token)
				: pawl_lock_token(table, lock, &token),
		   PAWL_SUCCESS, "token");
	return token;
}

static int consistent(uint64_t lock)
{
	return has_ranges() ? pawl_range_consistent(table, &range)
			    : pawl_lock_consistent(table, lock);
}

/* Acquire, and release; wanted: whether the holder is to be told. repairs: it repairs what was
 * recovered. Returns its number. */
static int64_t hold_told(uint64_t lock, int mode, bool wanted, bool repairs)
{
	int64_t token = 0;
	int is = -1;

	if (!timed_code(acquire(lock, mode), PAWL_SUCCESS, "acquire"))
		return 0;
	expect_time(told == wanted, "told: %d, not %d", told, wanted);
	for (int i = 0; i < 2; i++) {
		timed_code(has_ranges() ? pawl_range_is_consistent(table, &range, &is)
					: pawl_lock_is_consistent(table, lock, &is),
			   PAWL_SUCCESS, "is consistent");
		expect_time(is == (i || !wanted), "is consistent: %d", is);
		if (!repairs)
			break;
		timed_code(consistent(lock), PAWL_SUCCESS, "consistent");
	}
	token = number(lock);
	timed_code(release(lock), PAWL_SUCCESS, "release");
	return token;
}

/* Each call for a lock that acquires; the last holder has died. */
static void tell_each(uint64_t lock)
{
	const int mode = PAWL_SHARED;
	pawl_request request;
	int rc, done = 0;

	timed_code(note_told(pawl_lock_try_acquire(table, lock, PAWL_EXCLUSIVE)), PAWL_SUCCESS,
		   "try");
	expect_time(told && !pawl_lock_release(table, lock), "try: not told, or not held");
	timed_code(note_told(pawl_lock_timed_acquire(table, lock, PAWL_EXCLUSIVE, PATIENCE)),
		   PAWL_SUCCESS, "timed acquire");
	expect_time(told && !pawl_lock_release(table, lock), "timed: not told, or not held");
	timed_code(note_told(pawl_lock_acquire_many(table, 1, &lock, &mode)), PAWL_SUCCESS, "many");
	expect_time(told, "many: not told");
	timed_code(pawl_lock_consistent(table, lock), PAWL_ERR_NOT_HELD, "consistent, shared");
	timed_code(pawl_lock_release(table, lock), PAWL_SUCCESS, "release");
	timed_code(pawl_lock_consistent(table, lock), PAWL_ERR_NOT_HELD, "consistent, released");
	timed_code(pawl_lock_iacquire(table, lock, PAWL_EXCLUSIVE, &request), PAWL_SUCCESS,
		   "request");
	rc = pawl_request_test(&request, &done);
	if (!done)
		rc = pawl_request_wait(&request);
	timed_code(rc, PAWL_RECOVERED, "request");
	expect_time(strstr(pawl_error_message(), "half changed"), "%s", pawl_error_message());
	timed_code(pawl_lock_release(table, lock), PAWL_SUCCESS, "release");
}

/* Rank 0 abandons lock 0 twice, and repairs it once. */
static void recovered(void)
{
	int last = tap_size - 1;
	int64_t token[4] = {0};

	now_doing("%s, told of a recovery", kind->name);
	last_unit = PAWL_RANGE_END;
	if (tap_rank == 0 && timed_code(acquire(0, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire")) {
		timed_code(consistent(0), PAWL_SUCCESS, "consistent"); /* of the rounds before */
		token[0] = number(0);
		timed_code(abandon(0), PAWL_SUCCESS, "abandon");
	}
	meet();
	if (tap_rank == last) {
		token[1] = hold_told(0, PAWL_EXCLUSIVE, true, false);
		if (!has_ranges())
			tell_each(0);
	}
	meet();
	if (tap_rank == 0) {
		token[2] = hold_told(0, PAWL_EXCLUSIVE, true, true);
		hold_told(0, PAWL_EXCLUSIVE, false, false);
	}
	meet();
	if (tap_rank == last) {
		if (kind->capabilities & PAWL_CAP_SHARED)
			hold_told(0, PAWL_SHARED, false, false);
		token[3] = hold_told(0, PAWL_EXCLUSIVE, false, true);
	}
	MPI_Allreduce(MPI_IN_PLACE, token, 4, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
	for (int i = 1; i < 4; i++)
		expect_time(token[i] > token[i - 1], "number %d is %lld after %lld", i,
			    (long long)token[i], (long long)token[i - 1]);
	last_unit = 70;
	if (tap_rank == 0 && timed_code(acquire(0, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire"))
		timed_code(abandon(0), PAWL_SUCCESS, "abandon");
	meet();
	if (tap_rank == last && timed_code(acquire(0, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire")) {
		expect_time(told, "not told of a second recovery");
		timed_code(consistent(0), has_ranges() ? PAWL_ERR_RANGE : PAWL_SUCCESS,
			   "consistent, of some units");
		timed_code(release(0), PAWL_SUCCESS, "release");
	}
	meet();
	result("%s: holders are told of a recovery until one repairs, and have numbers",
	       kind->name);
}

/* The kind recovers, and does not know what its holders would have to be told. */
static void tells_nobody(void)
{
	const uint64_t lock = 1;
	int is = -1;
	int64_t token;

	if (tap_rank == 0 && timed_code(acquire(lock, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire")) {
		expect_code(pawl_lock_is_consistent(table, lock, &is), PAWL_ERR_UNSUPPORTED, "is");
		expect_code(pawl_lock_consistent(table, lock), PAWL_ERR_UNSUPPORTED, "repair");
		expect_code(pawl_lock_token(table, lock, &token), PAWL_ERR_UNSUPPORTED, "number");
		timed_code(pawl_lock_release(table, lock), PAWL_SUCCESS, "release");
	}
	meet();
	result("%s: does not say that nothing was recovered", kind->name);
}

static int nodes(void)
{
	struct pawl_table_info info = {.nodes = 0};

	expect_code(pawl_table_get_info(table, &info), PAWL_SUCCESS, "info");
	return info.nodes;
}

static void recoveries(void)
{
	struct pawl_stats stats;
	uint64_t all;

	expect_code(pawl_table_get_stats(table, &stats), PAWL_SUCCESS, "statistics");
	MPI_Allreduce(&stats.recoveries, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
	expect(all > 0, "no recovery is counted");
	result("%s: recoveries are counted", kind->name);
}

/* With option recoveries 1, rank 0 abandons lock 0 again and again, until there is no memory for
 * another recovery; the rank that needs one gets an error. */
static void used_up(void)
{
	int last = tap_size - 1, rc = PAWL_SUCCESS, rounds = 0;
	MPI_Info info;

	now_doing("%s, recoveries used up", kind->name);
	MPI_Info_create(&info);
	MPI_Info_set(info, "pawl_lease", LEASE_US);
	MPI_Info_set(info, "pawl_recoveries", "1");
	rc = pawl_table_create(MPI_COMM_WORLD, kind->name, 2, info, &table);
	MPI_Info_free(&info);
	if (!expect_code(rc, PAWL_SUCCESS, "table"))
		return;
	for (; rc == PAWL_SUCCESS && rounds < 4; rounds++) {
		if (tap_rank == 0 &&
		    expect_code(acquire(0, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire"))
			expect_code(abandon(0), PAWL_SUCCESS, "abandon");
		meet();
		if (tap_rank == last) {
			rc = acquire(0, PAWL_EXCLUSIVE);
			if (rc == PAWL_SUCCESS)
				expect_code(release(0), PAWL_SUCCESS, "release");
			else
				expect(strstr(pawl_error_message(), "recoveries"), "%s",
				       pawl_error_message());
		}
		MPI_Bcast(&rc, 1, MPI_INT, last, MPI_COMM_WORLD);
	}
	expect_code(rc, PAWL_ERR_TOO_MANY, "one recovery more");
	expect(rounds > 1, "there was no room for the first one");
	table_close(table);
	result("%s: a message says that recoveries are used up", kind->name);
}

/* On any machine a lease of a microsecond is too short. */
static void raised(void)
{
	struct pawl_table_info info;
	pawl_table *t = table_open(kind->name, 1, "lease", "1");

	if (!t)
		return;
	expect_code(pawl_table_get_info(t, &info), PAWL_SUCCESS, "info");
	expect(strstr(info.parameters, "1 us asked for"), "the table does not say so: %s",
	       info.parameters);
	table_close(t);
	result("%s: a lease that is too short is raised, and the table says so", kind->name);
}

int main(int argc, char **argv)
{
	tap_start(&argc, &argv, MPI_THREAD_SERIALIZED);
	for (int i = 0; (kind = pawl_kind_get(i)); i++) {
		if (!(kind->capabilities & PAWL_CAP_RECOVERS) || !tap_wants(kind))
			continue;
		table = table_open(kind->name, 2, "lease", LEASE_US);
		if (!table)
			continue;
		last_unit = 70;
		abandoned(PAWL_EXCLUSIVE, "exclusively");
		if (kind->capabilities & PAWL_CAP_SHARED)
			abandoned(PAWL_SHARED, "shared");
		awaited();
		if (strstr(kind->options, "recoveries")) /* each life has a copy */
			recovered();
		else
			tells_nobody();
		/* Over several nodes a stopped rank also stops clients that use its memory by the
		 * MPI. */
		if (nodes() == 1 && tap_size > 1)
			stopped();
		recoveries();
		table_close(table);
		raised();
		if (strstr(kind->options, "recoveries"))
			used_up();
		timed = !timed && has_ranges() && kind->capabilities & PAWL_CAP_TIMED;
		if (timed)
			i--; /* once more */
	}
	return tap_end();
}
