/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ABORT: how often an attempt at a range meets others and begins again, after the Citron
 * paper (FAST'23), section 4.7 (Figure 12). Ranges are those of range.c. The time is cut
 * into equal parts: one client is active in the first part, then two, four, and so on, and all in
 * the last. The other ranks drive the MPI meanwhile, because spaces live there. Other parameters of
 * a kind (m) are options of the library; use one run for each value.
 *
 * Each client knows the current part by its own clock since a barrier. That may be wrong by the
 * time of a barrier, but no client waits for another.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ranges.h"

enum { MOST_PARTS = 24 };

static struct {
	int parts, clients[MOST_PARTS];
	uint64_t acquires[MOST_PARTS], aborts[MOST_PARTS];
	double seconds;
} parts;

static uint64_t aborts(const struct trial *t)
{
	struct pawl_stats s;

	pawl_table_get_stats(t->table, &s);
	return s.aborts;
}

static void idle(const struct trial *t)
{
	int flag;

	MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, t->team->comm, &flag, MPI_STATUS_IGNORE);
	nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

static uint64_t play(struct trial *t, uint64_t start, int part)
{
	const uint64_t end = t->ticks / (uint64_t)parts.parts * (uint64_t)(part + 1);
	const bool plays = t->client < parts.clients[part];
	const uint64_t before = aborts(t);
	uint64_t done = 0;

	while (ticks() - start < end) {
		if (plays)
			range_cycle(t);
		else
			idle(t);
		done += plays;
	}
	parts.acquires[part] = done;
	parts.aborts[part] = aborts(t) - before;
	return done;
}

void abort_run(struct trial *t)
{
	const uint64_t start = ticks();

	t->acquires = 0;
	for (int i = 0; i < parts.parts; i++)
		t->acquires += play(t, start, i);
	t->elapsed_ns = (double)(ticks() - start) / ticks_per_ns;
	parts.seconds = t->elapsed_ns * 1e-9 / parts.parts;
}

int abort_open(struct trial *t, char *why, size_t whylen)
{
	if (t->set->iterations) {
		snprintf(why, whylen,
			 "--iterations: abort cuts a time into parts; accepted: --seconds");
		return BENCH_USAGE;
	}
	memset(&parts, 0, sizeof parts);
	for (int n = 1; n < t->active; n *= 2)
		parts.clients[parts.parts++] = n;
	parts.clients[parts.parts++] = t->active;
	return range_open(t, why, whylen);
}

void abort_close(struct trial *t)
{
	double slowest = parts.seconds;

	MPI_Allreduce(MPI_IN_PLACE, &slowest, 1, MPI_DOUBLE, MPI_MAX, t->team->comm);
	for (t->rows = 0; t->rows < parts.parts; t->rows++) {
		double all = (double)team_sum(t->team, parts.acquires[t->rows]);
		double again = (double)team_sum(t->team, parts.aborts[t->rows]);

		t->row[t->rows][0] = parts.clients[t->rows];
		t->row[t->rows][1] = all > 0 ? again / all : 0;
		t->row[t->rows][2] = slowest > 0 ? all / slowest : 0;
	}
	range_close(t);
}
