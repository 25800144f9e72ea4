/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long windows, and what a layer keeps for them, live: delete callbacks of attributes, windows
 * over many groups or with many options one after the other, many windows at a time, and windows
 * that are shared with a spawned process. --only callbacks, groups, options, many, threads (with
 * --threads 1) or spawn.
 */
#include "tests/dropin/area.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------ delete callbacks */

static int callbacks_called;

static int unlock_all(MPI_Win win, int key, void *value, void *extra)
{
	(void)key, (void)value, (void)extra;
	callbacks_called++;
	return MPI_Win_unlock_all(win);
}

static void set_attribute(MPI_Win win, MPI_Win_delete_attr_function *f, void *value)
{
	int key;

	MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, f, &key, NULL);
	MPI_Win_set_attr(win, key, value);
	MPI_Win_free_keyval(&key);
}

/* The epoch of a window ends in a delete callback. */
static void epoch_ends(void)
{
	struct area a;

	for (int i = 0; i < 3; i++) {
		area_open(&a, AREA_ALLOCATE, MPI_COMM_WORLD, 1, MPI_INFO_NULL);
		set_attribute(a.win, unlock_all, NULL);
		MPI_Win_lock_all(0, a.win);
		meet();
		expect(MPI_Win_free(&a.win) == MPI_SUCCESS && callbacks_called == i + 1,
		       "MPI_Win_free failed, or called no callback");
		free(a.at);
	}
	result("a delete callback unlocks the window");
}

/* Open MPI has ended the window when it calls the callbacks. */
#ifndef OPEN_MPI

static void be_inside(int64_t *inside)
{
	const int64_t was = __atomic_fetch_add(inside, 1, __ATOMIC_SEQ_CST);

	expect(was == 0, "violation: %lld others are inside", (long long)was);
	linger(0.0005);
	__atomic_fetch_sub(inside, 1, __ATOMIC_SEQ_CST);
}

enum { LOCKS = 20 };

static int lock_and_unlock(MPI_Win win, int key, void *value, void *extra)
{
	(void)key, (void)extra;
	for (int i = 0; i < LOCKS; i++) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, area_broken() ? MPI_MODE_NOCHECK : 0, win);
		be_inside(value);
		MPI_Win_unlock(0, win);
	}
	return MPI_SUCCESS;
}

/* A delete callback locks the window, while rank 0 does, which has not freed it. */
static void callback_locks(void)
{
	int64_t *inside;
	MPI_Win memory, win;
	MPI_Aint size;
	int unit;

	MPI_Win_allocate_shared(sizeof *inside, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &inside, &memory);
	MPI_Win_shared_query(memory, 0, &size, &unit, &inside);
	*inside = 0;
	MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &(void *){NULL}, &win);
	if (tap_rank > 0)
		set_attribute(win, lock_and_unlock, inside);
	meet();
	if (tap_rank == 0)
		lock_and_unlock(win, 0, inside, NULL);
	MPI_Win_free(&win);
	meet();
	MPI_Win_free(&memory);
	result("a delete callback locks the window");
}

#endif

static void callbacks(void)
{
	epoch_ends();
#ifndef OPEN_MPI
	callback_locks();
#endif
}

/* ---------------------------------------------------------------- many groups */

static long kilobytes(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f && fscanf(f, "%*s %ld", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* How many communicators this process can still create, up to a limit. */
static int communicators_left(void)
{
	enum { MOST = 2500 };
	static MPI_Comm comm[MOST];
	int n = 0, left;

	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	while (n < MOST && MPI_Comm_dup(MPI_COMM_SELF, &comm[n]) == MPI_SUCCESS)
		n++;
	left = n;
	while (n > 0)
		MPI_Comm_free(&comm[--n]);
	return left;
}

/* A window over some of the ranks, in some order, with an option of its own. */
static void one_of_a_group(uint64_t *seed, int number)
{
	MPI_Comm comm;
	MPI_Info info;
	struct area a;
	char text[24];

	MPI_Comm_split(MPI_COMM_WORLD, (int)random_below(seed, 2), (int)random_below(seed, 100),
		       &comm);
	MPI_Info_create(&info);
	snprintf(text, sizeof text, "%d", number);
	MPI_Info_set(info, "pawl_patience", text);
	area_open(&a, AREA_ALLOCATE, comm, 1, info);
	area_lock(&a, MPI_LOCK_EXCLUSIVE, a.size - 1);
	area_add_plainly(&a, a.size - 1, 0, 1);
	MPI_Win_unlock(a.size - 1, a.win);
	expect(area_sum(&a, 0) == a.size, "violation: %d were added", a.size);
	area_close(&a);
	MPI_Info_free(&info);
	MPI_Comm_free(&comm);
}

static void groups(void)
{
#ifdef OPEN_MPI
	const int rounds = tap_long ? 3000 : 240;
#else
	const int rounds = tap_long ? 1500 : 48;
#endif
	uint64_t seed = (uint64_t)tap_rank + 5;
	int left = 0, files = 0;
	long memory = 0;

	for (int i = 0; i < rounds; i++) {
		now_doing("window %d over some group", i);
		/* By then libraries have allocated what they keep. */
		if (i == rounds / 3) {
			left = communicators_left();
			files = tap_entries("/proc/self/fd") + tap_entries("/dev/shm");
			memory = kilobytes();
		}
		one_of_a_group(&seed, i);
	}
	memory = kilobytes() - memory;
	files = tap_entries("/proc/self/fd") + tap_entries("/dev/shm") - files;
	left -= communicators_left();
	note("%ld kB, %d files, %d communicators more", memory, files, left);
	expect(left <= 32, "%d communicators fewer are left", left);
	expect(files <= 10, "%d files more", files);
	expect(memory <= 700, "%ld kB more", memory);
	result("%d windows over groups in turn", rounds);
}

/* --------------------------------------------------------------- many options */

/* A window over all ranks, with an option of its own. */
static void one_with_option(int number)
{
	MPI_Info info;
	MPI_Win win;
	char text[24];

	now_doing("a window with option %d", number);
	MPI_Info_create(&info);
	snprintf(text, sizeof text, "%d", number);
	MPI_Info_set(info, "pawl_patience", text);
	MPI_Win_allocate(16, 1, info, MPI_COMM_WORLD, &(void *){NULL}, &win);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, tap_rank, 0, win);
	MPI_Win_unlock(tap_rank, win);
	MPI_Win_free(&win);
	MPI_Info_free(&info);
}

/* More options than a process may have pools: what the layer makes for each ends with its window.
 * Then few options again and again: what it keeps for them ends, too, before there is more. */
static void options(void)
{
	enum { FEW = 12, CYCLES = 4 };
	const int rounds = tap_long ? 1500 : 270;
	int before, left, least = INT_MAX;

	one_with_option(0);
	before = communicators_left();
	for (int i = 1; i <= rounds; i++)
		one_with_option(i);
	left = communicators_left();
	expect(left >= before, "%d communicators are left of %d", left, before);
	result("%d windows with options in turn", rounds);

	for (int i = 0; i < CYCLES * FEW; i++) {
		one_with_option(i % FEW);
		left = communicators_left();
		least = left < least ? left : least;
	}
	note("%d communicators, later %d at the least", before, least);
	expect(before - least <= 32, "%d communicators fewer were left", before - least);
	result("%d windows with %d options again and again", CYCLES * FEW, FEW);
}

/* ------------------------------------------------------------- many at a time */

static void many(void)
{
	const int n = tap_long ? 900 : 500;
	MPI_Win *win = calloc((size_t)n, sizeof(MPI_Win));

	for (int i = 0; i < n; i++) {
		now_doing("window %d of %d", i, n);
		MPI_Win_allocate(16, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &(void *){NULL}, &win[i]);
		MPI_Win_lock(MPI_LOCK_SHARED, i % tap_size, 0, win[i]);
	}
	for (int i = 0; i < n; i++) {
		MPI_Win_unlock(i % tap_size, win[i]);
		MPI_Win_free(&win[i]);
	}
	free(win);
	result("%d windows at a time", n);
}

/* -------------------------------------------------------------------- threads */

static void *make_and_free(void *comm)
{
	for (int i = 0; i < (tap_long ? 500 : 30); i++) {
		MPI_Win win[2];

		for (int k = 0; k < 1 + i % 2; k++) {
			MPI_Win_allocate(16, 1, MPI_INFO_NULL, *(MPI_Comm *)comm, &(void *){NULL},
					 &win[k]);
			MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win[k]);
			MPI_Win_unlock(0, win[k]);
		}
		for (int k = 0; k < 1 + i % 2; k++)
			MPI_Win_free(&win[k]);
	}
	return NULL;
}

/* Threads create and free windows over one group, so that it has none now and then. */
static void threads(void)
{
	enum { THREADS = 3 };
	pthread_t thread[THREADS];
	MPI_Comm comm[THREADS];

	if (tap_thread_level < MPI_THREAD_MULTIPLE) {
		skip("no MPI_THREAD_MULTIPLE", "threads make windows");
		return;
	}
	now_doing("threads make windows");
	for (int i = 0; i < THREADS; i++) {
		MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
		pthread_create(&thread[i], NULL, make_and_free, &comm[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		MPI_Comm_free(&comm[i]);
	}
	result("threads make and free windows");
}

/* ---------------------------------------------------------------------- spawn */

/* Share a window with the other side; the parent's number. */
static int share(MPI_Comm inter, int high)
{
	static int64_t word;
	int number = (int)getpid();
	MPI_Comm both;
	MPI_Win win;

	MPI_Intercomm_merge(inter, high, &both);
	MPI_Bcast(&number, 1, MPI_INT, 0, both);
	MPI_Win_create(&word, sizeof word, 1, MPI_INFO_NULL, both, &win);
	for (int i = 0; i < 10; i++) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
		MPI_Win_unlock(0, win);
	}
	MPI_Win_free(&win);
	MPI_Comm_free(&both); /* Open MPI 4.1 hangs in MPI_Comm_disconnect of it */
	MPI_Comm_disconnect(&inter);
	return number;
}

static const char *file_of(int number)
{
	static char name[64];

	snprintf(name, sizeof name, "lifetimes.%d.tmp", number);
	return name;
}

/* It makes a file after MPI_Finalize. */
static _Noreturn void child(MPI_Comm parent)
{
	const int number = share(parent, 1);
	FILE *f;

	MPI_Finalize();
	f = fopen(file_of(number), "w");
	_exit(f && fclose(f) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* The child ends while its parent runs. */
static void spawn(char *program)
{
	char only[] = "--only", what[] = "spawn", *arguments[] = {only, what, NULL};
	const double end = seconds_now() + 20;
	const char *file;
	MPI_Comm inter;
	struct stat s;

	now_doing("a window with a spawned process");
	MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter,
		       MPI_ERRCODES_IGNORE);
	file = file_of(share(inter, 0));
	while (stat(file, &s) != 0 && seconds_now() < end)
		sleep_for(0.05);
	expect(unlink(file) == 0, "the child has not ended");
	result("a spawned process ends while its parent runs");
}

/* The program ends within an epoch, without MPI_Win_free. */
static void open_at_end(void)
{
	struct area a;

	area_open(&a, AREA_ALLOCATE, MPI_COMM_WORLD, 1, MPI_INFO_NULL);
	area_lock_all(&a);
	area_add_atomically(&a, 0, 0, 1);
	free(a.at);
	result("a window is locked at the end");
}

static bool is_asked(const char *what)
{
	return tap_only && strcmp(tap_only, what) == 0;
}

int main(int argc, char **argv)
{
	MPI_Comm parent;

	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	MPI_Comm_get_parent(&parent);
	if (parent != MPI_COMM_NULL)
		child(parent);
	if (is_asked("callbacks"))
		callbacks();
	if (is_asked("groups"))
		groups();
	if (is_asked("options"))
		options();
	if (is_asked("many"))
		many();
	if (is_asked("threads"))
		threads();
	if (is_asked("spawn"))
		spawn(argv[0]);
	if (is_asked("open"))
		open_at_end();
	return tap_end();
}
