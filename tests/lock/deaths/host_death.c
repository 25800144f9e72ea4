/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks of another host are killed, over transport ucx, while all use locks, or ranges, of a
 * kind that recovers:
 *
 *   host_death KIND rank|host FILE
 *
 * All ranks acquire and release the locks of the first host, in both modes if the kind has them.
 * With a kind with ranges these are spaces, and ranges have one unit or many, in the tree and
 * behind it. After a while rank 0 kills the last rank, or all ranks of the last host, whatever they
 * do at that moment. The others go on. An acquire or release may return PAWL_ERR_PEER (but not with
 * ranges, whose words are at their home only), and must not hang. At the end all ranks that live
 * acquire every lock, or each unit by itself and then all units. Each rank has one lock; the homes
 * of those that are used are on the first host, and live.
 *
 * Exclusion is checked among the ranks of the first host, by unit: two of them are in overlapping
 * sections at the same time only if one of the two ends with a lost lease. The verdict, in TAP,
 * goes into a file (mortal.h); a rank that lives on another host has its own file, FILE.RANK, which
 * rank 0 reads.
 */
#include <mpi.h>
#include <pawl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mortal.h"
#include "tests/lock/tables.h"

enum { MOST_LOCKS = 16, TRIES = 10, LIMIT_S = 30, MOST_EVENTS = 4096 };
#define BEFORE_S 0.3
#define AFTER_S 1.5
#define LEASE_US "100000"

/* The units of a space that are used; some are behind its tree. */
enum { UNITS = 1200 };
#define TREE_UNITS "1024"

/* What a rank acquires or holds: a lock, or units of a space. The units of a lock are 0 to 0. */
struct section {
	int lock, mode;
	int64_t first, last;
	int64_t name; /* of all sections of all ranks */
	pawl_range range;
};

/* The memory that the ranks of a host share. */
struct shared {
	_Atomic(int64_t) inside[MOST_LOCKS][UNITS]; /* the section that has it exclusively */
	int64_t met[MOST_EVENTS][2];                /* sections that overlapped in time */
	int64_t lost[MOST_EVENTS];                  /* sections that ended with a lost lease */
	_Atomic(int) meetings, losses;
	_Atomic(int) killed, done, died;
	_Atomic(long) grants, recoveries, longest_ms; /* since the death */
};

static struct shared *here;
static pawl_table *table;
static int rank, ranks, locks;
static bool first_host, shares, ranges;
static int *victims; /* by rank: the process, if it is to be killed */
static uint64_t seed;
static struct section current;
static const char *kind, *scenario, *path; /* the arguments */

static unsigned below(unsigned n)
{
	return random_below(&seed, n);
}

/* ------------------------------------------------------------------- exclusion */

static int64_t *new_event(_Atomic(int) *count, int64_t *events, int words)
{
	int i = atomic_fetch_add(count, 1);

	if (i < MOST_EVENTS)
		return events + (ptrdiff_t)i * words;
	wrong("more than %d meetings or lost leases", MOST_EVENTS);
	return NULL;
}

static void note_meeting(int64_t a, int64_t b)
{
	int64_t *event = new_event(&here->meetings, here->met[0], 2);

	if (event) {
		event[0] = a;
		event[1] = b;
	}
}

static void note_loss(int64_t name)
{
	int64_t *event = new_event(&here->losses, here->lost, 1);

	if (event)
		*event = name;
}

/* The ranks of a host share the memory; entries of the dead do not count. */
static bool is_checked(const struct section *s)
{
	return first_host && s->mode == PAWL_EXCLUSIVE;
}

static void mark(const struct section *s)
{
	int64_t before = 0;

	for (int64_t i = s->first; is_checked(s) && i <= s->last && i < UNITS; i++) {
		int64_t other = atomic_exchange(&here->inside[s->lock][i], s->name);

		if (other && other != before)
			note_meeting(other, s->name);
		before = other;
	}
}

static void unmark(const struct section *s)
{
	for (int64_t i = s->first; is_checked(s) && i <= s->last && i < UNITS; i++) {
		int64_t mine = s->name;

		atomic_compare_exchange_strong(&here->inside[s->lock][i], &mine, 0);
	}
}

static bool is_lost(int64_t name)
{
	for (int i = 0; i < atomic_load(&here->losses); i++)
		if (here->lost[i] == name)
			return true;
	return false;
}

/* Check the recorded sections, at the end. */
static void check_meetings(void)
{
	for (int i = 0; i < atomic_load(&here->meetings) && !is_wrong(); i++)
		if (!is_lost(here->met[i][0]) && !is_lost(here->met[i][1]))
			wrong("two sections were in together, and no lease was lost");
}

/* -------------------------------------------------------------------- sections */

/* Whether a death explains the code. */
static bool is_fine(int rc, const char *what, const struct section *s)
{
	if (has_got(rc) || rc == PAWL_ERR_LEASE_LOST)
		return true;
	atomic_fetch_add(&here->died, rc == PAWL_ERR_PEER);
	if (rc != PAWL_ERR_PEER || ranges)
		wrong("rank %d, %s of %lld to %lld of lock %d: %s: %s", rank, what,
		      (long long)s->first, (long long)s->last, s->lock, pawl_strerror(rc),
		      pawl_error_message());
	return false;
}

static void leave(const struct section *s)
{
	int rc;

	unmark(s);
	rc = ranges ? pawl_range_release(table, &s->range)
		    : pawl_lock_release(table, (uint64_t)s->lock);
	is_fine(rc, "release", s);
	if (rc == PAWL_ERR_LEASE_LOST)
		note_loss(s->name);
}

static void note_grant(double began)
{
	long before = atomic_load(&here->longest_ms), ms = (long)((seconds_now() - began) * 1e3);

	if (!atomic_load(&here->killed))
		return;
	atomic_fetch_add(&here->grants, 1);
	while (ms > before && !atomic_compare_exchange_weak(&here->longest_ms, &before, ms))
		;
}

static bool enter(struct section *s)
{
	static int64_t serial;
	uint64_t lock = (uint64_t)s->lock;
	double began = seconds_now();
	int rc;

	s->name = ++serial * ranks + rank;
	current = *s;
	rc = ranges ? pawl_range_acquire(table, lock, s->first, s->last, s->mode, &s->range)
		    : pawl_lock_acquire(table, lock, s->mode);
	if (!is_fine(rc, "acquire", s))
		return false;
	mark(s);
	note_grant(began);
	return true;
}

static struct section draw(void)
{
	static const unsigned lengths[] = {1, 1, 30, 300, UNITS};
	struct section s = {.lock = (int)below((unsigned)locks), .mode = PAWL_EXCLUSIVE};
	unsigned more = ranges ? below(lengths[below(5)]) : 0;

	if (shares && below(3) == 0)
		s.mode = PAWL_SHARED;
	s.first = ranges ? below(UNITS - more) : 0;
	s.last = s.first + more;
	return s;
}

static void work(double seconds)
{
	double end = seconds_now() + seconds;

	while (seconds_now() < end) {
		struct section s = draw();

		if (!enter(&s))
			continue;
		/* Victims hold for longer than it takes to acquire, so that many die while they
		 * hold. */
		if (below(4) == 0)
			sleep_for(victims[rank] ? 2e-3 : 1e-4);
		leave(&s);
	}
}

static void try_it(int lock, int mode, int64_t first, int64_t last)
{
	struct section s = {.lock = lock, .mode = mode, .first = first, .last = last};
	int tries = 0;

	while (!enter(&s) && ++tries < TRIES)
		sleep_for(0.05);
	if (tries < TRIES)
		leave(&s);
	else
		wrong("rank %d never gets %lld to %lld of lock %d in mode %d", rank,
		      (long long)first, (long long)last, lock, mode);
}

/* Check that no lock is lost in any mode, and no unit. */
static void try_all(void)
{
	for (int lock = 0; lock < locks; lock++) {
		for (int unit = 0; unit < (ranges ? UNITS : 1) && !is_wrong(); unit++)
			try_it(lock, PAWL_EXCLUSIVE, unit, unit);
		if (ranges)
			try_it(lock, PAWL_EXCLUSIVE, 0, PAWL_RANGE_END);
		if (shares)
			try_it(lock, PAWL_SHARED, 0, 0);
	}
}

/* ---------------------------------------------------------------------- frame */

/* Whether this rank is on a host with the last rank, or is it. */
static bool is_victim(MPI_Comm host)
{
	int last = rank;

	MPI_Allreduce(MPI_IN_PLACE, &last, 1, MPI_INT, MPI_MAX, host);
	return strcmp(scenario, "host") == 0 ? last == ranks - 1 : rank == ranks - 1;
}

static void find_victims(MPI_Comm host)
{
	int mine = is_victim(host) ? (int)getpid() : 0;

	victims = calloc((size_t)ranks, sizeof *victims);
	if (!victims)
		_exit(2);
	MPI_Allgather(&mine, 1, MPI_INT, victims, 1, MPI_INT, MPI_COMM_WORLD);
}

static bool open_table(void)
{
	MPI_Info info;
	int rc;

	MPI_Info_create(&info);
	MPI_Info_set(info, "pawl_transport", "ucx");
	MPI_Info_set(info, "pawl_max_held", "1000");
	MPI_Info_set(info, "pawl_lease", LEASE_US);
	if (ranges)
		MPI_Info_set(info, "pawl_units", TREE_UNITS);
	rc = pawl_table_create(MPI_COMM_WORLD, kind, (uint64_t)ranks, info, &table);
	MPI_Info_free(&info);
	if (rc != PAWL_SUCCESS && rank == 0)
		fprintf(stderr, "host_death: %s\n", pawl_error_message());
	return rc == PAWL_SUCCESS;
}

static void start(void)
{
	unsigned can = pawl_kind_find(kind)->capabilities;
	MPI_Comm host;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
	here = mortal_share(host, sizeof *here);
	MPI_Comm_size(host, &locks);
	MPI_Bcast(&locks, 1, MPI_INT, 0, MPI_COMM_WORLD);
	if (locks == ranks || locks > MOST_LOCKS) {
		fprintf(stderr, "host_death: needs 2 hosts, of %d ranks at the most\n", MOST_LOCKS);
		_exit(2);
	}
	first_host = rank < locks;
	shares = can & PAWL_CAP_SHARED;
	ranges = can & PAWL_CAP_RANGES;
	seed = (uint64_t)rank + 1;
	find_victims(host);
	if (!open_table())
		_exit(1);
}

static void kill_them(void)
{
	for (int i = 0; i < ranks; i++)
		if (victims[i])
			kill(victims[i], SIGKILL);
	atomic_store(&here->killed, 1);
}

static void play(void)
{
	struct pawl_stats stats;

	MPI_Barrier(MPI_COMM_WORLD);
	work(BEFORE_S + (victims[rank] ? LIMIT_S : 0));
	if (rank == 0)
		kill_them();
	work(AFTER_S);
	try_all();
	alarm(0);
	pawl_table_get_stats(table, &stats);
	atomic_fetch_add(&here->recoveries, (long)stats.recoveries);
	atomic_fetch_add(&here->done, 1);
}

/* The result of another host: the line in its file. */
static void read_far(int r, double end)
{
	char name[4096], line[300] = "";

	snprintf(name, sizeof name, "%s.%d", path, r);
	for (FILE *in; !strchr(line, '\n') && seconds_now() < end; sleep_for(0.01)) {
		in = fopen(name, "r");
		if (!in)
			continue;
		if (!fgets(line, sizeof line, in))
			line[0] = '\0';
		fclose(in);
	}
	remove(name);
	line[strcspn(line, "\n")] = '\0';
	if (strncmp(line, "ok", 2) != 0)
		wrong("rank %d says: %s", r, line[0] ? line : "nothing; it hangs");
}

static void write_far(void)
{
	char name[4096];
	FILE *out;

	snprintf(name, sizeof name, "%s.%d", path, rank);
	out = fopen(name, "w");
	if (!out)
		_exit(2);
	verdict(out, "rank %d", rank);
	fclose(out);
}

static void write_results(void)
{
	struct pawl_table_info info;
	FILE *out = fopen(path, "w");

	if (!out)
		_exit(2);
	pawl_table_get_info(table, &info);
	verdict(out,
		"%s, %s: %ld grants, one after %ld ms, %d PAWL_ERR_PEER, %ld recoveries, %d leases"
		" lost, %d meetings (%s)",
		kind, scenario, atomic_load(&here->grants), atomic_load(&here->longest_ms),
		atomic_load(&here->died), atomic_load(&here->recoveries),
		atomic_load(&here->losses), atomic_load(&here->meetings), info.parameters);
	fclose(out);
}

static void judge(void)
{
	double end = seconds_now() + LIMIT_S;

	while (atomic_load(&here->done) < locks && !is_wrong() && seconds_now() < end)
		sleep_for(0.001);
	if (atomic_load(&here->done) < locks)
		wrong("a rank hangs");
	for (int r = locks; r < ranks && !is_wrong(); r++)
		if (!victims[r])
			read_far(r, end);
	check_meetings();
	if (atomic_load(&here->grants) < locks)
		wrong("%ld grants after the death", atomic_load(&here->grants));
	write_results();
}

/* A rank that is done still serves as a home. */
static void stay(void)
{
	double end = seconds_now() + LIMIT_S;

	while (access(path, F_OK) != 0 && seconds_now() < end)
		sleep_for(0.02);
}

/* Handles SIGALRM, and SIGABRT of any library. */
static void ended(int signal)
{
	wrong("rank %d %s at %lld to %lld of lock %d", rank,
	      signal == SIGALRM ? "hangs" : "is aborted", (long long)current.first,
	      (long long)current.last, current.lock);
	if (rank == 0)
		write_results();
	if (!first_host)
		write_far();
	_exit(1);
}

int main(int argc, char **argv)
{
	if (argc != 4 || (strcmp(argv[2], "rank") != 0 && strcmp(argv[2], "host") != 0) ||
	    !pawl_kind_find(argv[1])) {
		fprintf(stderr, "usage: host_death KIND rank|host FILE\n");
		return 2;
	}
	kind = argv[1];
	scenario = argv[2];
	path = argv[3];
	MPI_Init(&argc, &argv);
	start();
	signal(SIGALRM, ended);
	signal(SIGABRT, ended);
	alarm(LIMIT_S);
	play();
	if (rank == 0)
		judge();
	if (!first_host)
		write_far();
	stay();
	_exit(0);
}
