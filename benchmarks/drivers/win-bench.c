/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Critical sections under MPI_Win_lock, in a program that knows only the MPI. "pawl-report run
 * dropin" runs it with the MPI's own locks and with those of libpawl-mpi. All ranks lock one
 * target, in rounds in which each rank has the same number of sections.
 *
 * Prints one line: sections per second of all ranks together; the mean time from one section
 * to the next and the longest of any rank, in microseconds; and whether the counter
 * that exclusive sections increment is right.
 */
#include <mpi.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "benchmarks/cli/cli.h"

struct settings {
	enum { EMPTY, GETPUT } section;
	enum { ALLOCATE, CREATE } window;
	double fw, seconds;
	int active, target;
	bool exits, help;
};

struct tally {
	int64_t sections, exclusive; /* of this rank */
	double longest;
	int64_t counted; /* of all ranks, in rounds that count */
	double seconds;
};

static int rank, ranks;

#define AT(member) .offset = offsetof(struct settings, member)

/* clang-format off */
static const struct cli_row rows[] = {
	{CLI_CHOICE, 0, "section", .argument = "WHAT", AT(section), .words = "empty, getput",
	 .help = "empty: nothing between lock and unlock (default); getput: a get and a put"},
	{CLI_REAL, 0, "fw", .argument = "PERCENT", AT(fw), .low = 0, .high = 100,
	 .help = "share of exclusive sections (default: 100)"},
	{CLI_SECONDS, 0, "seconds", .argument = "S", AT(seconds), .low = 0.001, .high = 3600,
	 .help = "time of the run (default: 0.5)"},
	{CLI_INT, 0, "active", .argument = "N", AT(active), .least = 1, .most = 1000000,
	 .help = "this number of ranks lock, the others wait (default: all)"},
	{CLI_INT, 0, "target", .argument = "RANK", AT(target), .least = 0, .most = 1000000,
	 .help = "the rank to lock (default: 0)"},
	{CLI_CHOICE, 0, "window", .argument = "HOW", AT(window), .words = "allocate, create",
	 .help = "create the window by MPI_Win_allocate (default) or MPI_Win_create"},
	{CLI_FLAG, 0, "exit", AT(exits),
	 .help = "end without MPI_Finalize, where MPICH hangs over several hosts"},
	{CLI_FLAG, 0, "help", 'h', AT(help), .help = "print this text"},
	{CLI_END},
};
/* clang-format on */

/* False: cli_error() has a message. */
static bool parse(struct settings *s, int argc, char **argv)
{
	*s = (struct settings){.fw = 100, .seconds = 0.5, .active = ranks};
	if (!cli_parse(rows, 0, s, argc, argv))
		return false;
	if (s->active > ranks)
		return cli_wrong("--active: %d is more than the %d ranks of this run", s->active,
				 ranks);
	if (s->target >= ranks)
		return cli_wrong("--target: rank %d of %d; accepted: 0 to %d", s->target, ranks,
				 ranks - 1);
	return true;
}

static uint64_t random_next(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* One get and one put of words that no other rank uses meanwhile; the unlock completes them.
 * Sharers only get. */
static void work(const struct settings *s, MPI_Win win, bool exclusive)
{
	static int64_t in, out;

	if (s->section == EMPTY)
		return;
	MPI_Get(&in, 1, MPI_INT64_T, s->target, 1, 1, MPI_INT64_T, win);
	if (exclusive)
		MPI_Put(&out, 1, MPI_INT64_T, s->target, 2, 1, MPI_INT64_T, win);
}

/* Now and then increment the counter, which shows a lock that does not exclude. */
static void count(const struct settings *s, MPI_Win win)
{
	int64_t value;

	MPI_Get(&value, 1, MPI_INT64_T, s->target, 0, 1, MPI_INT64_T, win);
	MPI_Win_flush(s->target, win);
	value++;
	MPI_Put(&value, 1, MPI_INT64_T, s->target, 0, 1, MPI_INT64_T, win);
}

enum { COUNT_EVERY = 64 };

static void play(const struct settings *s, MPI_Win win, int64_t sections, struct tally *t)
{
	static uint64_t random;
	double last = MPI_Wtime(), now;

	if (!random)
		random = (uint64_t)rank * 7919 + 12345;
	for (int64_t i = 0; i < sections; i++) {
		bool exclusive = (double)(random_next(&random) % 100000) < s->fw * 1000;

		MPI_Win_lock(exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, s->target, 0, win);
		if (exclusive && t->exclusive++ % COUNT_EVERY == 0)
			count(s, win);
		else
			work(s, win, exclusive);
		MPI_Win_unlock(s->target, win);
		t->sections++;
		now = MPI_Wtime();
		if (now - last > t->longest)
			t->longest = now - last;
		last = now;
	}
}

/* A barrier that drives the MPI and yields the core. */
static void meet(void)
{
	MPI_Request request;
	int done = 0;

	MPI_Ibarrier(MPI_COMM_WORLD, &request);
	while (!done) {
		MPI_Test(&request, &done, MPI_STATUS_IGNORE);
		sched_yield();
	}
}

/* Rounds, until the time is over. In a round all ranks have the same number of sections, so that a
 * rank that gets the lock more often does not count for more. */
static void rounds(const struct settings *s, MPI_Win win, struct tally *t)
{
	int64_t sections = 1;

	while (t->seconds < s->seconds) {
		double begin = MPI_Wtime(), took;

		if (rank < s->active)
			play(s, win, sections, t);
		meet();
		took = MPI_Wtime() - begin;
		MPI_Bcast(&took, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
		if (took * 4 > s->seconds)
			t->seconds += took;
		else /* too short to count */
			sections *= 2;
		t->counted += took * 4 > s->seconds ? sections * s->active : 0;
	}
}

static void report(const struct settings *s, const struct tally *mine, MPI_Win win, int64_t *base)
{
	int64_t written = (mine->exclusive + COUNT_EVERY - 1) / COUNT_EVERY, found = 0;
	double longest = mine->longest;

	MPI_Allreduce(MPI_IN_PLACE, &written, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
	MPI_Allreduce(MPI_IN_PLACE, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	if (rank == s->target) {
		MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
		found = base[0];
		MPI_Win_unlock(rank, win);
	}
	MPI_Bcast(&found, 1, MPI_INT64_T, s->target, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%.1f %.3f %.1f %s\n", (double)mine->counted / mine->seconds,
		       mine->seconds * 1e6 / (double)mine->counted, longest * 1e6,
		       found == written ? "right" : "WRONG");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct tally mine = {.sections = 0};
	struct settings s;
	static int64_t own[8];
	int64_t *base;
	MPI_Win win;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (!parse(&s, argc, argv)) {
		if (rank == 0)
			fprintf(stderr, "win-bench: %s\n", cli_error());
		MPI_Finalize();
		return 2;
	}
	if (s.help) {
		if (rank == 0)
			cli_help(stdout, rows, 0);
		MPI_Finalize();
		return 0;
	}
	if (s.window == CREATE) {
		base = own;
		MPI_Win_create(base, sizeof own, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	} else {
		MPI_Win_allocate(sizeof own, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	}
	memset(base, 0, sizeof own);
	meet();
	rounds(&s, win, &mine);
	report(&s, &mine, win, base);
	if (s.exits) {
		meet();
		fflush(NULL);
		_exit(0);
	}
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
