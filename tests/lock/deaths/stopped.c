/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The home of locks of every kind is stopped (SIGSTOP), and the other rank acquires and releases
 * them meanwhile, in every mode. To be run on two ranks that are two nodes, over a device that
 * performs atomics: by messages, each would wait for the home. A helper stops the home and lets it
 * go on; it is forked before the MPI begins.
 */
#include "tests/lock/tables.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { TIMES = 10 };
#define STOPPED_S 6.
#define MOST_S 1. /* for one mode; an emulated device takes some milliseconds, at worst 100 */

/* The home writes a byte to the helper when it is to be stopped. */
static int to_helper = -1;

static void help(int from, pid_t home)
{
	char byte;

	while (read(from, &byte, 1) == 1) {
		kill(home, SIGSTOP);
		usleep((useconds_t)(STOPPED_S * 1e6));
		kill(home, SIGCONT);
	}
	_exit(0);
}

static bool start_helper(void)
{
	pid_t home = getpid();
	int ends[2];

	if (pipe(ends) != 0)
		return false;
	switch (fork()) {
	case 0:
		close(ends[1]);
		help(ends[0], home);
		_exit(0);
	case -1:
		return false;
	default:
		close(ends[0]);
		to_helper = ends[1];
		return true;
	}
}

/* One of each kind, with a lock or an address space whose home is rank 0. */
enum { MOST_KINDS = 32 };
static struct subject {
	const struct pawl_kind *kind;
	pawl_table *table;
	double took; /* the longest of its modes */
} subject[MOST_KINDS];
static int subjects;

static void take(const struct subject *s, int mode)
{
	pawl_range range;

	if (s->kind->capabilities & PAWL_CAP_RANGES) {
		expect_code(pawl_range_acquire(s->table, 0, 0, 0, mode, &range), PAWL_SUCCESS,
			    "acquire");
		expect_code(pawl_range_release(s->table, &range), PAWL_SUCCESS, "release");
	} else {
		expect_code(pawl_lock_acquire(s->table, 0, mode), PAWL_SUCCESS, "acquire");
		expect_code(pawl_lock_release(s->table, 0), PAWL_SUCCESS, "release");
	}
}

/* Take it so many times in each mode. */
static void take_all(struct subject *s, int times)
{
	int mode;

	s->took = 0;
	for (int m = 0; m < TAP_MODES; m++) {
		double began = seconds_now(), took;

		if (!tap_mode(s->kind, m, &mode))
			continue;
		for (int i = 0; i < times; i++)
			take(s, mode);
		took = seconds_now() - began;
		s->took = took > s->took ? took : s->took;
	}
}

static void open_subject(const struct pawl_kind *kind)
{
	struct subject *s = &subject[subjects];

	now_doing("%s", kind->name);
	*s = (struct subject){.kind = kind};
	s->table = table_open(kind->name, 1, readers_expire(kind) ? "lease" : NULL, "20000");
	/* Connections are there before the home is stopped, and the lock was at both. */
	for (int turn = 0; s->table && turn < 4; turn++) {
		if (turn % 2 == tap_rank)
			take_all(s, 1);
		meet();
	}
	subjects += s->table != NULL;
}

/* Rank 1 takes all of them while rank 0 is stopped. Returns the time of that. */
static double while_stopped(void)
{
	double began = seconds_now();

	meet();
	if (tap_rank == 0) {
		expect(write(to_helper, "", 1) == 1, "the helper has gone");
		sleep_for(1); /* is stopped here */
		expect(seconds_now() - began > STOPPED_S / 2, "was not stopped");
		return 0;
	}
	sleep_for(0.5);
	began = seconds_now();
	for (int i = 0; i < subjects; i++)
		take_all(&subject[i], TIMES);
	return seconds_now() - began;
}

static void report(struct subject *s)
{
	expect(s->took < MOST_S, "took %.3f s", s->took);
	MPI_Allreduce(MPI_IN_PLACE, &s->took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	table_close(s->table);
	result("%s: %d acquires and releases in %.1f ms", s->kind->name, (int)TIMES, s->took * 1e3);
}

int main(int argc, char **argv)
{
	const struct pawl_kind *kind;
	bool helped = start_helper();
	double took;

	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	expect(helped, "no helper could be started");
	expect(tap_size == 2, "runs on 2 ranks");
	for (int i = 0; tap_size == 2 && subjects < MOST_KINDS && (kind = pawl_kind_get(i)); i++)
		if (tap_wants(kind) && !(kind->capabilities & PAWL_CAP_THREADS) &&
		    strcmp(kind->name, "mpi-win-lock") != 0) /* the MPI's */
			open_subject(kind);
	result("%d kinds, and their locks taken by both ranks", subjects);
	now_doing("the home is stopped");
	took = while_stopped();
	for (int i = 0; i < subjects; i++)
		report(&subject[i]);
	expect_time(took < STOPPED_S - 1, "took %.3f s, when the home may have gone on", took);
	result("all of them while the home was stopped for %.0f s", STOPPED_S);
	return tap_end();
}
