/* SPDX-License-Identifier: BSD-3-Clause */
/* See ranks.h. */
#include "ranks.h"

#include "tap.h"

#include <ctype.h>
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { TEXT = 600 };

int tap_rank, tap_size, tap_thread_level;
bool tap_one_host, tap_shared_host, tap_long, tap_verbose;
double tap_budget = 0.1;
#define LONG_BUDGET 0.25
int tap_rounds = 1000;

static unsigned limit_s = 60;
static bool threads, one_failure;
const char *tap_only, *tap_except;

static pthread_mutex_t reason_mutex = PTHREAD_MUTEX_INITIALIZER;
static char reason[TEXT];
static enum failure { NONE, LATE, ERROR } failure; /* of the running test */
static char doing[TEXT] = "the start";

/* --------------------------------------------------------------- watchdog */

static void on_alarm(int sig)
{
	static const char head[] = "# hung: ";
	ssize_t ignored;

	(void)sig;
	ignored = write(STDERR_FILENO, head, sizeof head - 1);
	ignored += write(STDERR_FILENO, doing, strnlen(doing, sizeof doing));
	ignored += write(STDERR_FILENO, "\n", 1);
	(void)ignored;
	_exit(1);
}

static PRINTF(2, 0) void format_into(char *text, const char *format, va_list ap)
{
	vsnprintf(text, TEXT, format, ap);
}

void now_doing(const char *format, ...)
{
	va_list ap;
	int used;

	alarm(0);
	used = snprintf(doing, sizeof doing, "rank %d: ", tap_rank);
	va_start(ap, format);
	vsnprintf(doing + used, sizeof doing - (size_t)used, format, ap);
	va_end(ap);
	alarm(limit_s);
}

/* ---------------------------------------------------------------- program */

static void set_option(const char *pair)
{
	char name[64] = "PAWL_";
	const char *equals = strchr(pair, '=');
	size_t len = strlen(name);

	if (!equals || equals - pair > 40) {
		fprintf(stderr, "--set wants NAME=VALUE\n");
		_exit(2);
	}
	for (const char *c = pair; c < equals; c++)
		name[len++] = (char)toupper((unsigned char)*c);
	name[len] = '\0';
	setenv(name, equals + 1, 1);
}

static void read_options(int argc, char **argv)
{
	for (int i = 1; i < argc; i += 2) {
		const char *value = i + 1 < argc ? argv[i + 1] : NULL;

		if (value && strcmp(argv[i], "--budget") == 0) {
			tap_budget = atof(value);
		} else if (value && strcmp(argv[i], "--limit") == 0) {
			limit_s = (unsigned)atoi(value);
		} else if (value && strcmp(argv[i], "--rounds") == 0) {
			tap_rounds = atoi(value);
		} else if (value && strcmp(argv[i], "--threads") == 0) {
			threads = atoi(value) != 0;
		} else if (value && strcmp(argv[i], "--set") == 0) {
			set_option(value);
		} else if (value && strcmp(argv[i], "--verbose") == 0) {
			tap_verbose = atoi(value) != 0;
		} else if (value && strcmp(argv[i], "--one-failure") == 0) {
			one_failure = atoi(value) != 0;
		} else if (value && strcmp(argv[i], "--only") == 0) {
			tap_only = value;
		} else if (value && strcmp(argv[i], "--except") == 0) {
			tap_except = value;
		} else {
			fprintf(stderr, "%s: unknown option %s\n", argv[0], argv[i]);
			_exit(2);
		}
	}
}

void set_variables(void)
{
	const char *list = getenv("TEST_VARIABLES");
	char *copy = list ? strdup(list) : NULL, *rest = NULL; /* the environment keeps it */

	for (char *each = copy ? strtok_r(copy, " ", &rest) : NULL; each;
	     each = strtok_r(NULL, " ", &rest))
		putenv(each);
}

void tap_start(int *argc, char ***argv, int thread_level)
{
	MPI_Comm host;
	int size;

	const char *length = getenv("TEST_LONG"), *budget = getenv("TEST_BUDGET");

	tap_long = length && *length;
	if (tap_long)
		tap_budget = budget && *budget ? atof(budget) : LONG_BUDGET;
	/* A client that waits long says what it waits for, before the watchdog ends it. */
	setenv("PAWL_WATCHDOG", "20", 0);
	read_options(*argc, *argv);
	signal(SIGALRM, on_alarm);
	alarm(limit_s);
	MPI_Init_thread(argc, argv, threads ? MPI_THREAD_MULTIPLE : thread_level,
			&tap_thread_level);
	set_variables();
	MPI_Comm_rank(MPI_COMM_WORLD, &tap_rank);
	MPI_Comm_size(MPI_COMM_WORLD, &tap_size);
	tap_silent = tap_rank != 0;
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
	MPI_Comm_size(host, &size);
	MPI_Comm_free(&host);
	tap_one_host = size == tap_size;
	tap_shared_host = size > 1;
	MPI_Allreduce(MPI_IN_PLACE, &tap_one_host, 1, MPI_C_BOOL, MPI_LAND, MPI_COMM_WORLD);
	MPI_Allreduce(MPI_IN_PLACE, &tap_shared_host, 1, MPI_C_BOOL, MPI_LOR, MPI_COMM_WORLD);
}

int tap_end(void)
{
	int status;

	tap_plan();
	status = tap_failed != 0;
	now_doing("the end of MPI");
	meet();
	/* MPICH over several hosts may hang in MPI_Finalize. */
	if (!tap_one_host) {
		sleep_for(0.2);
		_exit(status);
	}
	MPI_Finalize();
	alarm(0);
	return status;
}

/* ---------------------------------------------------------------- results */

/* All ranks have arrived. Exit without MPI_Finalize, since windows may be in any state. */
static _Noreturn void end_at_once(void)
{
	tap_plan();
	meet();
	_exit(1);
}

/* The first reason of a kind is kept; an error comes before a time. */
static void fail_as(enum failure kind, const char *format, va_list ap)
{
	pthread_mutex_lock(&reason_mutex);
	if (kind > failure) {
		format_into(reason, format, ap);
		failure = kind;
	}
	pthread_mutex_unlock(&reason_mutex);
}

void fail(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fail_as(ERROR, format, ap);
	va_end(ap);
}

void fail_time(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fail_as(LATE, format, ap);
	va_end(ap);
}

bool result(const char *format, ...)
{
	/* The first rank with an error, else the first one with a time. */
	int first = failure == ERROR  ? tap_rank
		    : failure == LATE ? tap_size + tap_rank
				      : 2 * tap_size;
	bool passed;
	char name[TEXT];
	va_list ap;

	va_start(ap, format);
	format_into(name, format, ap);
	va_end(ap);
	meet();
	MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	passed = first == 2 * tap_size;
	if (!passed)
		MPI_Bcast(reason, TEXT, MPI_CHAR, first % tap_size, MPI_COMM_WORLD);
	if (passed)
		ok(true, "%s", name);
	else
		ok(false, "%s # rank %d: %s%s", name, first % tap_size, reason,
		   first < tap_size ? "" : " # timed");
	failure = NONE;
	if (one_failure && !passed)
		end_at_once();
	return passed;
}

void skip(const char *why, const char *format, ...)
{
	char name[TEXT];
	va_list ap;

	va_start(ap, format);
	format_into(name, format, ap);
	va_end(ap);
	ok(true, "%s # SKIP %s", name, why);
}

void note(const char *format, ...)
{
	char text[TEXT];
	va_list ap;

	va_start(ap, format);
	format_into(text, format, ap);
	va_end(ap);
	if (tap_rank == 0) {
		printf("# %s\n", text);
		fflush(stdout);
	}
}

/* ---------------------------------------------------------------- helpers */

void sleep_for(double seconds)
{
	struct timespec t = {
	    .tv_sec = (time_t)seconds,
	    .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9),
	};

	nanosleep(&t, NULL);
}

int tap_entries(const char *folder)
{
	DIR *dir = opendir(folder);
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

double cpu_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

void linger(double seconds)
{
	double end = seconds_now() + seconds;
	int flag;

	while (seconds_now() < end) {
		MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
		sched_yield();
	}
}

double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void meet(void)
{
	MPI_Request request;
	int done = 0;

	MPI_Ibarrier(MPI_COMM_WORLD, &request);
	for (int i = 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done; i++)
		sleep_for(i < 100 ? 20e-6 : 200e-6);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void sort_values(double *values, int n)
{
	qsort(values, (size_t)n, sizeof values[0], by_value);
}

uint32_t random_below(uint64_t *state, uint32_t n)
{
	/* splitmix64 */
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((z ^ (z >> 31)) % n);
}
