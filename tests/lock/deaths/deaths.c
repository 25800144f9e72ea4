/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks die by SIGKILL, or are stopped; the others must go on:
 *
 *   deaths KIND SCENARIO FILE [SEED]
 *
 * Scenarios are in of_holders.c, of_peers.c and of_hosts.c. The verdict, in TAP, goes into FILE,
 * because launchers may lose output, and the existence of the file shows that the job is over. A
 * rank that lives on another host than rank 0 has its own file, FILE.RANK, which rank 0 reads.
 */
#include "deaths.h"

#include <stdarg.h>

struct frame frame;

/* Precedes the memory of the scenario. */
struct findings {
	_Alignas(64) _Atomic(int) failed;
	_Atomic(int) done; /* ranks that have got to the end */
	char why[200];
};

static struct findings *here;
static struct section current;

void *share_memory(size_t bytes)
{
	MPI_Aint size;
	MPI_Win win;
	int unit, rank;

	MPI_Comm_rank(frame.near, &rank);
	bytes += sizeof *here;
	MPI_Win_allocate_shared(rank == 0 ? (MPI_Aint)bytes : 0, 1, MPI_INFO_NULL, frame.near,
				&here, &win);
	MPI_Win_shared_query(win, 0, &size, &unit, &here);
	if (rank == 0)
		memset(here, 0, bytes);
	MPI_Barrier(frame.near);
	return here + 1;
}

void wrong(const char *format, ...)
{
	va_list args;

	if (atomic_exchange(&here->failed, 1))
		return;
	va_start(args, format);
	vsnprintf(here->why, sizeof here->why, format, args);
	va_end(args);
}

bool is_wrong(void)
{
	return atomic_load(&here->failed);
}

void verdict(FILE *out, const char *name, ...)
{
	va_list args;

	fprintf(out, "%s 1 - ", is_wrong() ? "not ok" : "ok");
	va_start(args, name);
	vfprintf(out, name, args);
	va_end(args);
	if (is_wrong())
		fprintf(out, " # %s", here->why);
	fputc('\n', out);
}

unsigned below(unsigned n)
{
	return random_below(&frame.seed, n);
}

/* ------------------------------------------------------------------- sections */

int enter_section(struct section *s)
{
	uint64_t lock = (uint64_t)s->lock;

	current = *s;
	if (!frame.ranges)
		return pawl_lock_acquire(frame.table, lock, s->mode);
	return pawl_range_acquire(frame.table, lock, s->first, s->last, s->mode, &s->range);
}

int leave_section(const struct section *s)
{
	return frame.ranges ? pawl_range_release(frame.table, &s->range)
			    : pawl_lock_release(frame.table, (uint64_t)s->lock);
}

/* -------------------------------------------------------------------- results */

static void write_result(void)
{
	char name[4096];
	FILE *out;

	if (frame.far)
		snprintf(name, sizeof name, "%s.%d", frame.path, frame.rank);
	else
		snprintf(name, sizeof name, "%s", frame.path);
	out = fopen(name, "w");
	if (!out)
		_exit(2);
	if (frame.far)
		verdict(out, "rank %d", frame.rank);
	else if (frame.scenario->report)
		frame.scenario->report(out);
	else
		verdict(out, "%s, %s", frame.kind, frame.scenario->name);
	if (fclose(out) != 0)
		_exit(2);
}

/* Handles SIGALRM, and SIGABRT of any library. */
static void ended(int signal)
{
	wrong("rank %d %s at %lld to %lld of lock %d", frame.rank,
	      signal == SIGALRM ? "hangs" : "is aborted", (long long)current.first,
	      (long long)current.last, current.lock);
	if (frame.rank == 0 || frame.far)
		write_result();
	_exit(1);
}

static void judge(void)
{
	double end = seconds_now() + frame.scenario->limit_s;

	while (atomic_load(&here->done) < frame.ends && !is_wrong() && seconds_now() < end)
		sleep_for(0.001);
	if (atomic_load(&here->done) < frame.ends)
		wrong("%d ranks hang", frame.ends - atomic_load(&here->done));
	if (frame.scenario->judge)
		frame.scenario->judge();
}

/* A rank that is done still serves as a home. */
static void stay(void)
{
	double end = seconds_now() + frame.scenario->limit_s;

	while (access(frame.path, F_OK) != 0 && seconds_now() < end)
		sleep_for(0.02);
}

/* ---------------------------------------------------------------------- frame */

static const struct scenario *find_scenario(const char *name)
{
	static const struct scenario *const files[] = {deaths_of_holders, deaths_of_peers,
						       deaths_of_hosts};

	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		for (const struct scenario *s = files[i]; s->name; s++)
			if (strcmp(s->name, name) == 0)
				return s;
	fprintf(stderr, "deaths: there is no scenario %s\n", name);
	return NULL;
}

static bool read_arguments(int argc, char **argv)
{
	const struct pawl_kind *kind = argc >= 4 ? pawl_kind_find(argv[1]) : NULL;

	frame.scenario = kind ? find_scenario(argv[2]) : NULL;
	if (!frame.scenario || argc > 5) {
		fprintf(stderr, "usage: deaths KIND SCENARIO FILE [SEED]\n");
		return false;
	}
	frame.kind = argv[1];
	frame.path = argv[3];
	frame.seed = argc == 5 ? strtoull(argv[4], NULL, 10) : 0;
	frame.ranges = kind->capabilities & PAWL_CAP_RANGES;
	frame.shares = kind->capabilities & PAWL_CAP_SHARED;
	frame.recovers = kind->capabilities & PAWL_CAP_RECOVERS;
	frame.tells = strstr(kind->options, "recoveries");
	return true;
}

static void start(void)
{
	MPI_Info info;
	int rc;

	MPI_Comm_rank(MPI_COMM_WORLD, &frame.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &frame.ranks);
	if (frame.scenario->ranks && frame.ranks != frame.scenario->ranks) {
		fprintf(stderr, "deaths: needs %d ranks\n", frame.scenario->ranks);
		_exit(2);
	}
	frame.seed = frame.seed * 1000 + (uint64_t)frame.rank;
	frame.near = MPI_COMM_WORLD;
	frame.ends = frame.ranks - frame.scenario->deaths;
	frame.scenario->start();
	MPI_Info_create(&info);
	frame.scenario->options(info);
	rc = pawl_table_create(MPI_COMM_WORLD, frame.kind, frame.scenario->locks(), info,
			       &frame.table);
	MPI_Info_free(&info);
	if (rc != PAWL_SUCCESS) {
		fprintf(stderr, "deaths: %s\n", pawl_error_message());
		_exit(1);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	if (!read_arguments(argc, argv))
		return 2;
	MPI_Init(&argc, &argv);
	set_variables();
	start();
	signal(SIGALRM, ended);
	signal(SIGABRT, ended);
	alarm((unsigned)frame.scenario->limit_s);
	frame.scenario->play();
	if (frame.scenario->check)
		frame.scenario->check();
	alarm(0);
	atomic_fetch_add(&here->done, 1);
	if (frame.rank == 0)
		judge();
	if (frame.rank == 0 || frame.far)
		write_result();
	stay();
	_exit(0);
}
