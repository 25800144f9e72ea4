/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks of another host are killed, over transport ucx, while all use locks, or ranges, of a kind
 * that recovers: the last rank (scenario far-rank), or all ranks of the last host (host).
 *
 * All ranks acquire and release the locks of the first host, in both modes if the kind has them.
 * With a kind with ranges these are spaces, and ranges have one unit or many, in the tree and
 * behind it. After a while rank 0 kills the others, whatever they do at that moment. Those that are
 * left go on. An acquire or release may return PAWL_ERR_PEER (but not with ranges, whose words are
 * at their home only), and must not hang. At the end all ranks that live acquire every lock, or
 * each unit by itself and then all units. Each rank has one lock; the homes of those that are used
 * are on the first host, and live.
 *
 * Exclusion is checked among the ranks of the first host, by unit: two of them are in overlapping
 * sections at the same time only if one of the two ends with a lost lease.
 */
#include "deaths.h"

enum { MOST_LOCKS = 16, TRIES = 10, LIMIT_S = 30, MOST_EVENTS = 4096 };
#define BEFORE_S 0.3
#define AFTER_S 1.5
#define LEASE_US "100000"

/* The units of a space that are used; some are behind its tree. */
enum { UNITS = 1200 };
#define TREE_UNITS "1024"

/* The memory that the ranks of a host share. */
struct shared {
	_Atomic(int64_t) inside[MOST_LOCKS][UNITS]; /* the section that has it exclusively */
	int64_t met[MOST_EVENTS][2];                /* sections that overlapped in time */
	int64_t lost[MOST_EVENTS];                  /* sections that ended with a lost lease */
	_Atomic(int) meetings, losses;
	_Atomic(int) killed, died;
	_Atomic(long) grants, recoveries, longest_ms; /* since the death */
};

static struct shared *here;
static int locks;
static int *victims; /* by rank: the process, if it is to be killed */

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
	return !frame.far && s->mode == PAWL_EXCLUSIVE;
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
	if (rc != PAWL_ERR_PEER || frame.ranges)
		wrong("rank %d, %s of %lld to %lld of lock %d: %s: %s", frame.rank, what,
		      (long long)s->first, (long long)s->last, s->lock, pawl_strerror(rc),
		      pawl_error_message());
	return false;
}

static void leave(const struct section *s)
{
	int rc;

	unmark(s);
	rc = leave_section(s);
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
	double began = seconds_now();
	int rc;

	s->name = ++serial * frame.ranks + frame.rank;
	rc = enter_section(s);
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
	unsigned more = frame.ranges ? below(lengths[below(5)]) : 0;

	if (frame.shares && below(3) == 0)
		s.mode = PAWL_SHARED;
	s.first = frame.ranges ? below(UNITS - more) : 0;
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
			sleep_for(victims[frame.rank] ? 2e-3 : 1e-4);
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
		wrong("rank %d never gets %lld to %lld of lock %d in mode %d", frame.rank,
		      (long long)first, (long long)last, lock, mode);
}

/* Check that no lock is lost in any mode, and no unit. */
static void try_all(void)
{
	for (int lock = 0; lock < locks; lock++) {
		for (int unit = 0; unit < (frame.ranges ? UNITS : 1) && !is_wrong(); unit++)
			try_it(lock, PAWL_EXCLUSIVE, unit, unit);
		if (frame.ranges)
			try_it(lock, PAWL_EXCLUSIVE, 0, PAWL_RANGE_END);
		if (frame.shares)
			try_it(lock, PAWL_SHARED, 0, 0);
	}
}

/* ---------------------------------------------------------------------- frame */

/* Whether this rank is on a host with the last rank, or is it. */
static bool is_victim(MPI_Comm host)
{
	int last = frame.rank;

	MPI_Allreduce(MPI_IN_PLACE, &last, 1, MPI_INT, MPI_MAX, host);
	return strcmp(frame.scenario->name, "host") == 0 ? last == frame.ranks - 1
							 : frame.rank == frame.ranks - 1;
}

static void find_victims(MPI_Comm host)
{
	int mine = is_victim(host) ? (int)getpid() : 0;

	victims = calloc((size_t)frame.ranks, sizeof *victims);
	if (!victims)
		_exit(2);
	MPI_Allgather(&mine, 1, MPI_INT, victims, 1, MPI_INT, MPI_COMM_WORLD);
}

static void start(void)
{
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &frame.near);
	here = share_memory(sizeof *here);
	MPI_Comm_size(frame.near, &locks);
	MPI_Bcast(&locks, 1, MPI_INT, 0, MPI_COMM_WORLD);
	if (locks == frame.ranks || locks > MOST_LOCKS) {
		fprintf(stderr, "deaths: needs 2 hosts, of %d ranks at the most\n", MOST_LOCKS);
		_exit(2);
	}
	frame.far = frame.rank >= locks;
	frame.ends = locks;
	find_victims(frame.near);
}

static void options(MPI_Info info)
{
	MPI_Info_set(info, "pawl_transport", "ucx");
	MPI_Info_set(info, "pawl_max_held", "1000");
	MPI_Info_set(info, "pawl_lease", LEASE_US);
	if (frame.ranges)
		MPI_Info_set(info, "pawl_units", TREE_UNITS);
}

static uint64_t one_each(void)
{
	return (uint64_t)frame.ranks;
}

static void kill_them(void)
{
	for (int i = 0; i < frame.ranks; i++)
		if (victims[i])
			kill(victims[i], SIGKILL);
	atomic_store(&here->killed, 1);
}

static void play(void)
{
	struct pawl_stats stats;

	work(BEFORE_S + (victims[frame.rank] ? LIMIT_S : 0));
	if (frame.rank == 0)
		kill_them();
	work(AFTER_S);
	try_all();
	pawl_table_get_stats(frame.table, &stats);
	atomic_fetch_add(&here->recoveries, (long)stats.recoveries);
}

/* The result of another host: the line in its file. */
static void read_far(int r, double end)
{
	char name[4096], line[300] = "";

	snprintf(name, sizeof name, "%s.%d", frame.path, r);
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

static void judge(void)
{
	double end = seconds_now() + LIMIT_S;

	for (int r = locks; r < frame.ranks && !is_wrong(); r++)
		if (!victims[r])
			read_far(r, end);
	check_meetings();
	if (atomic_load(&here->grants) < locks)
		wrong("%ld grants after the death", atomic_load(&here->grants));
}

static void report(FILE *out)
{
	struct pawl_table_info info;

	pawl_table_get_info(frame.table, &info);
	verdict(out,
		"%s, %s: %ld grants, one after %ld ms, %d PAWL_ERR_PEER, %ld recoveries, %d leases"
		" lost, %d meetings (%s)",
		frame.kind, frame.scenario->name, atomic_load(&here->grants),
		atomic_load(&here->longest_ms), atomic_load(&here->died),
		atomic_load(&here->recoveries), atomic_load(&here->losses),
		atomic_load(&here->meetings), info.parameters);
}

#define OF_HOSTS(scenario)                                                                \
	{                                                                                 \
		.name = scenario, .limit_s = LIMIT_S, .start = start, .options = options, \
		.locks = one_each, .play = play, .judge = judge, .report = report         \
	}
const struct scenario deaths_of_hosts[] = {
    OF_HOSTS("far-rank"),
    OF_HOSTS("host"),
    {.name = NULL},
};
