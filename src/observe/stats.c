/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statistics (PAWL_STATS): for each lock and each call site, how often clients acquired it and
 * waited for it, for how long, which rank held it longest, and from how far it came; and histograms
 * of all waits and holds.
 *
 *   PAWL_STATS=1           print a table on stderr; also yes, on, true
 *   PAWL_STATS=FILE        ... into a file of rank 0
 *   PAWL_STATS=json        print a line of JSON on stderr
 *   PAWL_STATS=json:FILE   ... into a file
 *   PAWL_STATS_ROWS=N      that many locks and call sites; 10 unless told
 *
 * A wait is the time of an acquire in which the client waited for another one, from the call to the
 * return. A hold is the time from the return of the acquire to the call of the release.
 *
 * On SIGUSR1 each rank prints its own figures so far. The handler only counts the signal; the rank
 * prints at the next event of a table: an acquire, a release, or a look of a waiter. The handler is
 * installed with the first table that has statistics, and calls the one that was there before: some
 * MPIs have one.
 *
 * Memory: sizeof(struct stats), about 190 kB a table and rank, allocated with the table.
 */
#include "observe/stats.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "observe/observers.h"

/* --------------------------------------------------------------------- signal */

static volatile sig_atomic_t signals;

static struct sigaction previous;
static pthread_once_t watched = PTHREAD_ONCE_INIT;

static void on_signal(int number, siginfo_t *info, void *context)
{
	signals++;
	if (previous.sa_flags & SA_SIGINFO)
		previous.sa_sigaction(number, info, context);
	else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
		previous.sa_handler(number);
}

static void watch_signal(void)
{
	struct sigaction mine = {.sa_sigaction = on_signal};

	sigaction(SIGUSR1, NULL, &previous);
	mine.sa_flags = SA_SIGINFO | SA_RESTART | (previous.sa_flags & SA_ONSTACK);
	mine.sa_mask = previous.sa_mask;
	sigaction(SIGUSR1, &mine, NULL);
}

static void answer_signal(struct stats *s)
{
	unsigned now = (unsigned)signals, shown = atomic_load(&s->shown);

	if (now != shown && atomic_compare_exchange_strong(&s->shown, &shown, now))
		stats_print_own(s);
}

/* --------------------------------------------------------------------- events */

static void acquired(void *state, const struct observe_record *r)
{
	struct stats *s = state;
	uint64_t ns = r->acquired_ns - r->begin_ns;
	bool ok = r->code == PAWL_SUCCESS;
	struct tally *t;

	answer_signal(s);
	if (!ok && !r->waited)
		return;
	pthread_mutex_lock(&s->mutex);
	t = tallies_find(&s->tallies, r->lock, tallies_site(&s->tallies, r->site));
	t->acquires += ok;
	if (r->waited) {
		t->contended++;
		t->wait_ns += ns;
		t->handed[r->level] += ok;
		if (ns > t->wait_most_ns) {
			t->wait_most_ns = ns;
			t->wait_rank = s->observe->table.rma->rank;
		}
	}
	histogram_add(&s->waits, ns);
	pthread_mutex_unlock(&s->mutex);
}

static void released(void *state, const struct observe_record *r)
{
	struct stats *s = state;
	uint64_t ns = r->release_ns - r->acquired_ns;
	struct tally *t;

	pthread_mutex_lock(&s->mutex);
	t = tallies_find(&s->tallies, r->lock, tallies_site(&s->tallies, r->site));
	t->far += r->far;
	t->hold_ns += ns;
	if (ns > t->hold_most_ns) {
		t->hold_most_ns = ns;
		t->hold_rank = s->observe->table.rma->rank;
	}
	histogram_add(&s->holds, ns);
	pthread_mutex_unlock(&s->mutex);
	answer_signal(s);
}

static void waiting(void *state, const struct observe_record *r, uint64_t waited_ns)
{
	(void)r, (void)waited_ns;
	answer_signal(state);
}

static void report(void *state)
{
	struct stats *s = state;

	stats_print(s, s->observe->table.comm, &(const struct stats_part){.everything = true});
}

static void stop(void *state)
{
	struct stats *s = state;

	pthread_mutex_destroy(&s->mutex);
	free(s);
}

static void report_locks(void *state, MPI_Comm comm, uint64_t first, uint64_t n, uint64_t extra,
			 const char *title)
{
	struct stats *s = state;

	stats_print(s, comm, &(const struct stats_part){first, n, extra, false, title});
	pthread_mutex_lock(&s->mutex);
	tallies_remove(&s->tallies, first, n, extra);
	pthread_mutex_unlock(&s->mutex);
}

static void percentile(void *state, bool holds, double percent, uint64_t *ns)
{
	struct stats *s = state;

	pthread_mutex_lock(&s->mutex);
	*ns = histogram_percentile(holds ? &s->holds : &s->waits, percent);
	pthread_mutex_unlock(&s->mutex);
}

/* ----------------------------------------------------------------------- open */

static void read_setting(struct stats *s, const char *value)
{
	s->json = strcmp(value, "json") == 0 || strncmp(value, "json:", 5) == 0;
	if (s->json)
		value += value[4] ? 5 : 4;
	else if (strcmp(value, "1") == 0)
		value = "";
	memccpy(s->file, value, '\0', sizeof s->file);
}

int observe_open_stats(const struct observe *o, const struct observer **calls, void **state)
{
	static const struct observer observer = {
	    .acquired = acquired,
	    .released = released,
	    .waiting = waiting,
	    .report = report,
	    .report_locks = report_locks,
	    .percentile = percentile,
	    .close = stop,
	};
	char value[OBSERVE_SETTING];
	uint64_t rows = 10;
	struct stats *s;
	int ok, rc = observe_setting(o->table.comm, "PAWL_STATS", value);

	if (rc != PAWL_SUCCESS || !value[0])
		return rc;
	rc = observe_number(o->table.comm, "PAWL_STATS_ROWS", 0, INT32_MAX, &rows);
	if (rc != PAWL_SUCCESS)
		return rc;
	s = calloc(1, sizeof *s);
	ok = s != NULL;
	PMPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_MIN, o->table.comm);
	if (!ok) {
		free(s);
		return error_set(PAWL_ERR_NOMEM, "out of memory for PAWL_STATS");
	}
	read_setting(s, value);
	s->rows = (int)rows;
	s->observe = o;
	stats_begin_file(s);
	tallies_clear(&s->tallies);
	pthread_mutex_init(&s->mutex, NULL);
	atomic_store(&s->shown, (unsigned)signals);
	pthread_once(&watched, watch_signal);
	*calls = &observer;
	*state = s;
	return PAWL_SUCCESS;
}
