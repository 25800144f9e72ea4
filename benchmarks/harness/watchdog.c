/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ends a run that hangs. A thread in each rank sleeps until the time of the step is over; it then
 * prints where this rank is, waits until the other ranks have done so, too, and ends the process.
 * It does not call the MPI, and in a normal run it wakes up once a time-out only.
 */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
	const struct team *team;
	int seconds;
	uint64_t since_ns; /* 0: at rest */
	const char *contestant, *workload, *step;
	const char *volatile at;
} watched;

static void expire(void)
{
	fprintf(stderr, "pawl-bench: rank %d of %d hangs: %s, %s, %s%s%s; over %d s (--timeout)\n",
		watched.team->rank, watched.team->ranks, watched.contestant, watched.workload,
		watched.step, watched.at ? ", " : "", watched.at ? watched.at : "",
		watched.seconds);
	fflush(NULL);
	/* The launcher ends the other ranks when the first one ends. */
	sleep(2);
	_exit(BENCH_HANG);
}

static void *watch(void *arg)
{
	const uint64_t limit = (uint64_t)watched.seconds * 1000000000u;

	for (;;) {
		uint64_t now, left;

		pthread_mutex_lock(&mutex);
		now = clock_ns();
		left = watched.since_ns ? watched.since_ns + limit - now : limit;
		if (watched.since_ns && now - watched.since_ns >= limit)
			expire();
		pthread_mutex_unlock(&mutex);
		nanosleep(&(struct timespec){.tv_sec = (time_t)(left / 1000000000u),
					     .tv_nsec = (long)(left % 1000000000u)},
			  NULL);
	}
	return arg;
}

void watchdog_start(const struct team *t, int seconds, double expected)
{
	pthread_t thread;

	watched.team = t;
	watched.seconds = seconds + (int)expected;
	if (seconds > 0 && pthread_create(&thread, NULL, watch, NULL) == 0)
		pthread_detach(thread);
}

void watchdog_step(const char *contestant, const char *workload, const char *step)
{
	pthread_mutex_lock(&mutex);
	watched.contestant = contestant;
	watched.workload = workload;
	watched.step = step;
	watched.at = NULL;
	watched.since_ns = clock_ns();
	pthread_mutex_unlock(&mutex);
}

void watchdog_at(const char *at)
{
	watched.at = at;
}

void watchdog_rest(void)
{
	pthread_mutex_lock(&mutex);
	watched.since_ns = 0;
	pthread_mutex_unlock(&mutex);
}
