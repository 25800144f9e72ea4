/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The observers of a table, with two ranks: their settings, names, ranges, acquires that fail, many
 * slots, many holders, percentiles, probes, a signal whose handler the program had, and calls
 * without an observer.
 */
#include <pawl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lock/tables.h"

enum { LOCKS = 128, HOLDERS = 7, TEXT = 1 << 16 };

#define FILE_NAME "observers.tmp"

static char text[TEXT];

/* What rank 0 has written. */
static const char *file(void)
{
	FILE *f = fopen(FILE_NAME, "r");
	size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;

	text[n] = '\0';
	if (f)
		fclose(f);
	return text;
}

static pawl_table *create(const char *kind, const char *variable, const char *value)
{
	pawl_table *t = NULL;

	setenv(variable, value, 1);
	expect_code(pawl_table_create(MPI_COMM_WORLD, kind, LOCKS, MPI_INFO_NULL, &t), PAWL_SUCCESS,
		    "pawl_table_create");
	unsetenv(variable);
	return t;
}

static void hold(pawl_table *t, uint64_t lock, int mode, double seconds)
{
	expect_code(pawl_lock_acquire(t, lock, mode), PAWL_SUCCESS, "acquire");
	sleep_for(seconds);
	expect_code(pawl_lock_release(t, lock), PAWL_SUCCESS, "release");
}

/* -------------------------------------------------------------------- settings */

/* All ranks refuse it, with a message that has the word. */
static void refused(const char *variable, const char *value, const char *word)
{
	pawl_table *t = NULL;

	now_doing("%s=%s", variable, value);
	setenv(variable, value, 1);
	expect_code(pawl_table_create(MPI_COMM_WORLD, "d-mcs", 1, MPI_INFO_NULL, &t),
		    PAWL_ERR_OPTION, value);
	unsetenv(variable);
	expect(strstr(pawl_error_message(), word), "%s: the message is \"%s\"", value,
	       pawl_error_message());
}

static const char *long_text(void)
{
	memset(text, 'x', 600);
	text[600] = '\0';
	return text;
}

/* Words for on and off, which name no file. */
static void switches(void)
{
	static const char *const words[] = {"no", "Off", "false", "0", "2", "yes", "ON", "true"};
	int off = 4;
	double s;

	for (int i = 0; i < (int)(sizeof words / sizeof *words); i++) {
		pawl_table *t = create("d-mcs", "PAWL_STATS", words[i]);

		now_doing("PAWL_STATS=%s", words[i]);
		expect_code(pawl_table_get_percentile(t, PAWL_TIME_HOLD, 50, &s),
			    i < off ? PAWL_ERR_UNSUPPORTED : PAWL_SUCCESS, words[i]);
		table_close(t);
		expect(access(words[i], F_OK) != 0, "a file %s", words[i]);
	}
	result("words for on and off");
}

static void settings(void)
{
	char path[4096];

	snprintf(path, sizeof path, "%s", getenv("PATH"));
	refused("PAWL_INJECT", "delay=1h", "\"delay=1h\" is none of");
	refused("PAWL_INJECT", "delay=1us mode=all", "\"mode=all\" is none of");
	refused("PAWL_INJECT", "rank=x", "\"rank=x\" is none of");
	refused("PAWL_INJECT", "lock=3", "no delay");
	refused("PAWL_PROBES", "maybe", "accepted: 0, no, off");
	refused("PAWL_TRACE", "yes", "names a file");
	refused("PAWL_STATS", long_text(), "PAWL_STATS is longer than 511");
	setenv("PAWL_STATS", "on", 1);
	refused("PAWL_STATS_ROWS", "-3", "\"-3\" is no number from 0 to");
	refused("PAWL_STATS_ROWS", "abc", "\"abc\" is no number");
	unsetenv("PAWL_STATS");
	setenv("PAWL_TRACE", FILE_NAME, 1);
	refused("PAWL_TRACE_MIB", "0", "no number from 1");
	refused("PAWL_TRACE_MIB", "65537", "no number from 1");
	refused("PAWL_TRACE_MIB", "7x", "no number from 1");
	refused("PAWL_TRACE_FILE_MIB", "0", "no number from 1");
	refused("PAWL_TRACE_RANKS", "3-1", "\"3-1\" is no list of");
	refused("PAWL_TRACE_LOCKS", "1,,2", "no list of");
	refused("PAWL_TRACE_TIME", "5", "no span of seconds");
	refused("PAWL_TRACE_TIME", "5-2", "no span of seconds");
	refused("PAWL_TRACE_TIME", "1s-900ms", "as in 10-20 or 500ms-2s");
	unsetenv("PAWL_TRACE");
	setenv("PATH", "/", 1);
	refused("PAWL_TRACE", "x.json.gz",
		tap_rank == 0 ? "compressed by gzip, which PATH does not have"
			      : "rank 0 cannot write the file");
	setenv("PATH", path, 1);
	result("settings that are refused");
}

/* A delay for one mode: the other one takes less than the 30 seconds. */
static void delays(void)
{
	pawl_table *t = create("rma-rw", "PAWL_INJECT", "delay=20ms,mode=shared");
	double begun = seconds_now();

	hold(t, 1, PAWL_SHARED, 0);
	expect(seconds_now() - begun >= 0.02, "no delay");
	table_close(t);
	t = create("rma-rw", "PAWL_INJECT", "delay=30s mode=exclusive rank=0");
	begun = seconds_now();
	hold(t, 1, PAWL_SHARED, 0);
	expect_time(seconds_now() - begun < 30, "shared, delayed by %g s", seconds_now() - begun);
	table_close(t);
	result("PAWL_INJECT for a mode");
}

/* --------------------------------------------------------------------- figures */

static void percentiles(void)
{
	pawl_table *t = create("d-mcs", "PAWL_WATCHDOG", "0");
	double s = -1;

	expect_code(pawl_table_get_percentile(NULL, PAWL_TIME_HOLD, 50, &s), PAWL_ERR_ARG, "table");
	expect_code(pawl_table_get_percentile(t, PAWL_TIME_HOLD, 50, NULL), PAWL_ERR_ARG, "NULL");
	expect_code(pawl_table_get_percentile(t, 7, 50, &s), PAWL_ERR_ARG, "what");
	expect_code(pawl_table_get_percentile(t, PAWL_TIME_HOLD, 101, &s), PAWL_ERR_ARG, "percent");
	expect_code(pawl_table_get_percentile(t, PAWL_TIME_HOLD, 50, &s), PAWL_ERR_UNSUPPORTED,
		    "without PAWL_STATS");
	table_close(t);
	t = create("d-mcs", "PAWL_STATS", "/dev/null");
	hold(t, (uint64_t)tap_rank, PAWL_EXCLUSIVE, 0.01);
	expect_code(pawl_table_get_percentile(t, PAWL_TIME_HOLD, 50, &s), PAWL_SUCCESS, "hold");
	expect(s >= 0.01 && s < 30, "a hold of %g s", s);
	expect_code(pawl_table_get_percentile(t, PAWL_TIME_ACQUIRE, 100, &s), PAWL_SUCCESS, "wait");
	expect(s >= 0 && s < 30, "an acquire of %g s", s);
	meet();
	if (tap_rank == 0)
		expect_code(pawl_lock_acquire(t, 0, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
	meet();
	if (tap_rank > 0)
		expect_code(pawl_lock_try_acquire(t, 0, PAWL_EXCLUSIVE), PAWL_ERR_BUSY, "try");
	meet();
	if (tap_rank == 0)
		expect_code(pawl_lock_release(t, 0), PAWL_SUCCESS, "release");
	table_close(t);
	result("percentiles, and a try of a lock that is held");
}

/* Of two locks, one is told of a recovery: both are held, and for a time. */
static void recovered(void)
{
	const uint64_t locks[] = {0, 1};
	pawl_table *t;
	double s = -1;

	setenv("PAWL_LEASE", "100ms", 1);
	t = create("shiftlock", "PAWL_STATS", "/dev/null");
	unsetenv("PAWL_LEASE");
	if (tap_rank == 0) {
		expect_code(pawl_lock_acquire(t, 0, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
		expect_code(pawl_lock_abandon(t, 0), PAWL_SUCCESS, "abandon");
	}
	meet();
	if (tap_rank == 1) {
		expect_code(pawl_lock_acquire_many(t, 2, locks, NULL), PAWL_RECOVERED, "both");
		expect_code(pawl_lock_release_many(t, 2, locks), PAWL_SUCCESS, "release");
		expect_code(pawl_table_get_percentile(t, PAWL_TIME_HOLD, 100, &s), PAWL_SUCCESS,
			    "hold");
		expect(s < 30, "a hold of %g s", s);
	}
	meet();
	table_close(t);
	result("holds of several locks, one of which was recovered");
}

static void names(void)
{
	pawl_table *t = create("d-mcs", "PAWL_STATS", "json:" FILE_NAME);

	expect_code(pawl_table_set_name(t, "a\tname"), PAWL_ERR_ARG, "set_name");
	expect_code(pawl_table_set_name(t, "free lists"), PAWL_SUCCESS, "set_name");
	hold(t, 1, PAWL_EXCLUSIVE, 0);
	table_close(t);
	meet();
	if (tap_rank == 0)
		expect(strstr(file(), "free lists"), "in the file: %.200s", text);
	result("the name of a table in JSON");
}

/* ------------------------------------------------------------------- time lines */

static void ranges(void)
{
	pawl_table *t;
	pawl_range range;

	if (tap_rank == 0)
		unlink(FILE_NAME); /* statistics, and no time line */
	t = create("citron", "PAWL_TRACE", FILE_NAME);
	if (tap_rank == 0)
		expect_code(pawl_range_acquire(t, 0, 3, 9, PAWL_EXCLUSIVE, &range), PAWL_SUCCESS,
			    "range acquire");
	meet();
	if (tap_rank == 1)
		expect_code(pawl_range_timed_acquire(t, 0, 9, 12, PAWL_EXCLUSIVE, 0.01, &range),
			    PAWL_ERR_TIMEOUT, "timed range acquire");
	meet();
	if (tap_rank == 0)
		expect_code(pawl_range_release(t, &range), PAWL_SUCCESS, "range release");
	table_close(t);
	meet();
	if (tap_rank == 0) {
		expect(strstr(file(), "\"first\": 3, \"last\": 9"), "no range in the file");
		expect(strstr(text, "\"result\": \""), "no failed acquire in the file");
	}
	result("a time line with ranges, one of which was not acquired");
}

/* ------------------------------------------------------------------- watchdog */

/* More than the board has room for. */
static void many_slots(void)
{
	pawl_table *t;

	setenv("PAWL_MAX_HELD", "100", 1);
	t = create("d-mcs", "PAWL_WATCHDOG", "30");
	unsetenv("PAWL_MAX_HELD");
	if (tap_rank == 0) {
		for (uint64_t l = 0; l < 80; l++)
			expect_code(pawl_lock_acquire(t, l, PAWL_EXCLUSIVE), PAWL_SUCCESS, "many");
		for (uint64_t l = 0; l < 80; l++)
			expect_code(pawl_lock_release(t, l), PAWL_SUCCESS, "many");
	}
	table_close(t);
	result("the watchdog with more locks than it shows");
}

struct holder {
	pawl_table *t;
	pthread_t thread;
	int acquired, released;
};

static pthread_barrier_t begun, ended;

static void *share(void *arg)
{
	struct holder *h = arg;

	h->acquired = pawl_lock_acquire(h->t, 0, PAWL_SHARED);
	pthread_barrier_wait(&begun);
	pthread_barrier_wait(&ended);
	h->released = pawl_lock_release(h->t, 0);
	return NULL;
}

/* Threads of rank 0 share the lock that rank 1 awaits for a second. */
static void many_holders(void)
{
	pawl_table *t = create("rma-rw", "PAWL_WATCHDOG", "0.2");
	struct holder h[HOLDERS];
	int saved;

	if (tap_rank == 0) {
		pthread_barrier_init(&begun, NULL, HOLDERS + 1);
		pthread_barrier_init(&ended, NULL, HOLDERS + 1);
		for (int i = 0; i < HOLDERS; i++) {
			h[i].t = t;
			pthread_create(&h[i].thread, NULL, share, &h[i]);
		}
		pthread_barrier_wait(&begun);
	}
	meet();
	if (tap_rank == 0) {
		linger(1);
		pthread_barrier_wait(&ended);
		for (int i = 0; i < HOLDERS; i++) {
			pthread_join(h[i].thread, NULL);
			expect_code(h[i].acquired, PAWL_SUCCESS, "acquire");
			expect_code(h[i].released, PAWL_SUCCESS, "release");
		}
	} else if (tap_rank == 1) {
		fflush(stderr);
		saved = dup(STDERR_FILENO);
		expect(freopen(FILE_NAME, "w", stderr), "no file for stderr");
		expect_code(pawl_lock_acquire(t, 0, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
		fflush(stderr);
		dup2(saved, STDERR_FILENO);
		close(saved);
		expect_code(pawl_lock_release(t, 0), PAWL_SUCCESS, "release");
		expect(strstr(file(), "; held shared by rank 0") && strstr(text, " and by 3 more"),
		       "the report is \"%.300s\"", text);
	}
	table_close(t);
	result("the watchdog shows four of seven holders");
}

/* --------------------------------------------------------------------- signals */

static volatile sig_atomic_t handled;

static void on_signal(int number)
{
	handled += number == SIGUSR1;
}

static void on_signal_with_info(int number, siginfo_t *info, void *context)
{
	(void)context;
	handled += number == SIGUSR1 && info;
}

/* Before the first table with statistics, which takes over the handler. */
static void install_handler(void)
{
	struct sigaction action = {.sa_handler = on_signal};

	if (tap_rank > 0) {
		action.sa_flags = SA_SIGINFO;
		action.sa_sigaction = on_signal_with_info;
	}
	sigaction(SIGUSR1, &action, NULL);
}

static void signals(void)
{
	pawl_table *t = create("d-mcs", "PAWL_STATS", FILE_NAME);

	hold(t, 1, PAWL_EXCLUSIVE, 0);
	meet();
	raise(SIGUSR1);
	expect(handled == 1, "the program's handler was called %d times", (int)handled);
	hold(t, 1, PAWL_EXCLUSIVE, 0);
	meet();
	if (tap_rank == 0)
		expect(strstr(file(), "rank 0 alone, so far"), "in the file: %.200s", text);
	table_close(t);
	result("SIGUSR1 prints, and calls the handler of the program");
}

/* ---------------------------------------------------------------- probes, and none */

static void probes(void)
{
	pawl_table *t = NULL;
	int rc;

	setenv("PAWL_PROBES", "1", 1);
	rc = pawl_table_create(MPI_COMM_WORLD, "d-mcs", LOCKS, MPI_INFO_NULL, &t);
	unsetenv("PAWL_PROBES");
	if (rc == PAWL_ERR_UNSUPPORTED) {
		expect(strstr(pawl_error_message(), "sys/sdt.h"), "%s", pawl_error_message());
		result("PAWL_PROBES without <sys/sdt.h>");
		return;
	}
	expect_code(rc, PAWL_SUCCESS, "PAWL_PROBES");
	if (tap_rank == 0)
		expect_code(pawl_lock_acquire(t, 1, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
	meet();
	if (tap_rank == 0) {
		linger(0.2);
		expect_code(pawl_lock_release(t, 1), PAWL_SUCCESS, "release");
	} else {
		expect_code(pawl_lock_timed_acquire(t, 1, PAWL_EXCLUSIVE, 0.01), PAWL_ERR_TIMEOUT,
			    "timed acquire");
		hold(t, 1, PAWL_EXCLUSIVE, 0);
	}
	table_close(t);
	result("PAWL_PROBES");
}

/* The programs of these tests have a watchdog; here there is no observer. */
static void unobserved(void)
{
	pawl_table *t = create("mgl", "PAWL_WATCHDOG", "0");

	expect_code(pawl_lock_acquire_part(t, 0, 1 + (uint64_t)tap_rank, PAWL_EXCLUSIVE),
		    PAWL_SUCCESS, "part");
	expect_code(pawl_lock_acquire(t, 3 + (uint64_t)tap_rank, PAWL_EXCLUSIVE), PAWL_SUCCESS,
		    "another lock");
	expect_code(pawl_lock_release(t, 3 + (uint64_t)tap_rank), PAWL_SUCCESS, "another lock");
	expect_code(pawl_lock_release_part(t, 0, 1 + (uint64_t)tap_rank), PAWL_SUCCESS, "part");
	expect_code(pawl_lock_release(t, 7), PAWL_ERR_NOT_HELD, "no lock");
	expect_code(pawl_lock_release_many(t, 2, (const uint64_t[]){7, 8}), PAWL_ERR_NOT_HELD,
		    "no locks");
	expect_code(pawl_lock_release_many(t, 1, (const uint64_t[]){LOCKS}), PAWL_ERR_RANGE,
		    "not in the table");
	meet();
	if (tap_rank == 0)
		expect_code(pawl_lock_acquire(t, 7, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
	meet();
	if (tap_rank > 0) {
		expect_code(pawl_lock_try_acquire(t, 7, PAWL_EXCLUSIVE), PAWL_ERR_BUSY, "try");
		expect_code(pawl_lock_timed_acquire(t, 7, PAWL_EXCLUSIVE, 0.01), PAWL_ERR_TIMEOUT,
			    "timed");
	}
	meet();
	if (tap_rank == 0)
		expect_code(pawl_lock_release(t, 7), PAWL_SUCCESS, "release");
	table_close(t);
	setenv("PAWL_MAX_HELD", "1", 1);
	t = create("mgl", "PAWL_WATCHDOG", "0");
	unsetenv("PAWL_MAX_HELD");
	expect_code(pawl_lock_acquire_part(t, 0, 1, PAWL_EXCLUSIVE), PAWL_ERR_TOO_MANY,
		    "a part, with one slot");
	table_close(t);
	result("parts without an observer");
}

int main(int argc, char **argv)
{
	setenv("PAWL_WATCHDOG", "0", 0);
	tap_start(&argc, &argv, MPI_THREAD_MULTIPLE);
	install_handler();
	settings();
	switches();
	delays();
	names();
	signals();
	percentiles();
	recovered();
	ranges();
	many_slots();
	many_holders();
	probes();
	unobserved();
	if (tap_rank == 0)
		unlink(FILE_NAME);
	return tap_end();
}
