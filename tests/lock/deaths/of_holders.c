/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks of one node die, or are stopped and go on later; the others must still be able to use their
 * locks. One job of four ranks for each scenario and seed:
 *
 *   holding   rank 3 dies while it holds the lock
 *   alone     rank 3 dies while it holds the lock, which nobody else awaits
 *   waiting   rank 3 dies while it waits, as the last of the queue
 *   followed  rank 3 dies while it waits, and another rank waits behind it
 *   handing   ranks 2 and 3 die some microseconds after they began to release
 *   anytime   ranks 2 and 3 die at any time
 *   stopped   ranks 2 and 3 are stopped at any time, for many leases, and go on
 *
 * On a busy machine a rank may lose its core for longer than a lease while it holds a lock. Then
 * another rank may get it, but the release of one of both says that the lease was lost.
 */
#include "deaths.h"

#include <sys/time.h>
#include <time.h>

enum { RANKS = 4, LOCKS = 2, LEASE_US = 10000, STOPS = 3, LIMIT_S = 60 };

/* The state of a rank, for the others. */
struct rank_state {
	_Atomic(int) pid;
	_Atomic(int) inside[LOCKS]; /* mode, 0: not */
	_Atomic(int) dead;
	_Atomic(int) stops;      /* times it was stopped */
	_Atomic(int64_t) died;   /* when, in nanoseconds */
	_Atomic(int64_t) grants; /* since the last death */
	_Atomic(int64_t) lost;   /* releases that came too late */
	_Atomic(int64_t) all;
};

struct shared {
	struct rank_state rank[RANKS];
	_Atomic(int) deaths;
	/* Of two ranks, the first the smaller one, that held a lock at the same time: who has
	 * released it as if it had been alone. */
	_Atomic(int) clash[RANKS][RANKS];
	_Atomic(int64_t) recovered; /* the time from the death of a holder to the next grant */
	_Atomic(int64_t) recoveries;
};

static struct shared *all;
static struct rank_state *me;
static struct section held;

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* --------------------------------------------------------------------- deaths */

static void die(int signal)
{
	(void)signal;
	atomic_store(&me->died, now_ns());
	for (int r = 0; r < RANKS; r++)
		atomic_store(&all->rank[r].grants, 0);
	atomic_store(&me->dead, 1);
	atomic_fetch_add(&all->deaths, 1);
	kill(getpid(), SIGKILL);
}

static void die_in(int64_t us)
{
	struct itimerval t = {.it_value = {us / 1000000, us % 1000000}};

	signal(SIGALRM, die);
	setitimer(ITIMER_REAL, &t, NULL);
}

/* ---------------------------------------------------------------------- locks */

/* Whether holder r may have lost the lock: it died, or was stopped. */
static bool excused(const struct rank_state *r)
{
	return atomic_load(&r->dead) || atomic_load(&r->stops);
}

enum { CLASHES = 1, SMALLER_KEPT = 2, LARGER_KEPT = 4 };

static _Atomic(int) *clash_with(int r)
{
	return r < frame.rank ? &all->clash[r][frame.rank] : &all->clash[frame.rank][r];
}

/* The client has released a lock, in time or not. */
static void end_clashes(int lock, bool in_time)
{
	for (int r = 0; r < RANKS; r++) {
		int mine = frame.rank < r ? SMALLER_KEPT : LARGER_KEPT, old;

		if (r == frame.rank || !atomic_load(clash_with(r)))
			continue;
		old = in_time ? atomic_fetch_or(clash_with(r), mine) | mine
			      : atomic_exchange(clash_with(r), 0);
		if (old != (CLASHES | SMALLER_KEPT | LARGER_KEPT))
			continue;
		atomic_store(clash_with(r), 0);
		if (in_time && !excused(&all->rank[r]) && !excused(me))
			wrong("ranks %d and %d held lock %d at the same time, and neither was late",
			      frame.rank, r, lock);
	}
}

/* This client holds the lock: note which holders it ought to exclude. */
static void note_clashes(int lock, int mode)
{
	for (int r = 0; r < RANKS; r++) {
		struct rank_state *other = &all->rank[r];
		int its = atomic_load(&other->inside[lock]);

		if (r == frame.rank || !its || (its == PAWL_SHARED && mode == PAWL_SHARED))
			continue;
		if (excused(other) || excused(me))
			continue;
		atomic_fetch_or(clash_with(r), CLASHES);
		/* Its end_clashes() may have been before that. */
		if (!atomic_load(&other->inside[lock]))
			atomic_store(clash_with(r), 0);
	}
}

/* The first grant after a holder's death. */
static void note_recovery(int lock)
{
	for (int r = 0; r < RANKS; r++) {
		struct rank_state *other = &all->rank[r];
		int64_t died = atomic_load(&other->died), none = 0;

		if (atomic_load(&other->dead) && atomic_load(&other->inside[lock]))
			atomic_compare_exchange_strong(&all->recovered, &none, now_ns() - died);
	}
}

/* With kinds with ranges a space stands for the lock, and all of its ranges have this unit. */
enum { COMMON_UNIT = 1000 };

static int acquire(int lock, int mode)
{
	static const unsigned lengths[] = {1, 30, 200, 1000};

	held = (struct section){.lock = lock, .mode = mode};
	if (frame.ranges) {
		held.first = COMMON_UNIT - (int)below(lengths[below(4)]);
		held.last = COMMON_UNIT + (int)below(lengths[below(4)]);
	}
	return enter_section(&held);
}

static void enter(int lock, int mode)
{
	int rc;

	if (!frame.shares)
		mode = PAWL_EXCLUSIVE;
	rc = acquire(lock, mode);
	if (!has_got(rc))
		wrong("rank %d, acquire: %s: %s", frame.rank, pawl_strerror(rc),
		      pawl_error_message());
	atomic_store(&me->inside[lock], mode);
	note_clashes(lock, mode);
	note_recovery(lock);
	atomic_fetch_add(&me->grants, 1);
	atomic_fetch_add(&me->all, 1);
}

static void leave(int lock)
{
	int rc;

	atomic_store(&me->inside[lock], 0);
	rc = leave_section(&held);
	if (rc == PAWL_SUCCESS || rc == PAWL_ERR_LEASE_LOST)
		end_clashes(lock, rc == PAWL_SUCCESS);
	if (rc == PAWL_ERR_LEASE_LOST)
		atomic_fetch_add(&me->lost, 1);
	else if (rc != PAWL_SUCCESS)
		wrong("rank %d, release: %s", frame.rank, pawl_strerror(rc));
}

static void once(int locks, int percent_shared)
{
	int lock = (int)below((unsigned)locks);

	enter(lock, (int)below(100) < percent_shared ? PAWL_SHARED : PAWL_EXCLUSIVE);
	if (below(4) == 0)
		for (int64_t until = now_ns() + below(50000); now_ns() < until;)
			;
	leave(lock);
}

/* Until that time after the last death, and for 200 ms at least. */
static void work(int locks, int percent_shared, int deaths, double leases)
{
	int64_t begun = now_ns(), end = INT64_MAX;

	while (now_ns() < end) {
		once(locks, percent_shared);
		if (end == INT64_MAX && atomic_load(&all->deaths) >= deaths &&
		    now_ns() - begun > 200000000)
			end = now_ns() + (int64_t)(leases * LEASE_US * 1000);
	}
}

/* ------------------------------------------------------------------ scenarios */

static void holding(void)
{
	if (frame.rank == 3) {
		sleep_for(0.02);
		enter(0, PAWL_EXCLUSIVE);
		die(0);
	}
	work(1, 30, 1, 3);
}

/* Nobody else has used the lock before, or awaits it. */
static void alone(void)
{
	if (frame.rank == 3) {
		enter(0, PAWL_EXCLUSIVE);
		die(0);
	}
	while (atomic_load(&all->deaths) == 0)
		sleep_for(0.001);
	work(1, 30, 1, 3);
}

/* Rank 0 holds the lock, rank 3 waits and dies, and rank 2 waits, too: behind rank 3, or
 * after its death. */
static void wait_and_die(bool another)
{
	if (frame.rank == 0) {
		enter(0, PAWL_EXCLUSIVE);
		sleep_for(0.012);
		leave(0);
	} else if (frame.rank == 3) {
		sleep_for(0.004);
		die_in(4000);
		enter(0, below(2) ? PAWL_SHARED : PAWL_EXCLUSIVE);
		while (true)
			pause();
	} else if (frame.rank == 2 && another) {
		sleep_for(0.006);
		once(1, 50);
	}
	work(1, 30, 1, 3);
}

static void waiting(void)
{
	wait_and_die(false);
}

static void followed(void)
{
	wait_and_die(true);
}

static void handing(void)
{
	int after = 20 + (int)below(200);

	for (int i = 0; frame.rank >= 2; i++) {
		enter(0, PAWL_EXCLUSIVE);
		if (i == after)
			die_in(1 + below(30));
		leave(0);
	}
	work(1, 20, 2, 3);
}

static void anytime(void)
{
	if (frame.rank >= 2)
		die_in(1000 + below(60000));
	while (frame.rank >= 2)
		once(LOCKS, 40);
	work(LOCKS, 40, 2, 3);
}

/* Rank 0 stops others, and lets them go on. */
static void stopped(void)
{
	if (frame.rank == 0) {
		for (int i = 0; i < STOPS; i++) {
			struct rank_state *other = &all->rank[2 + below(2)];

			sleep_for(0.001 * (1 + below(40)));
			atomic_fetch_add(&other->stops, 1);
			kill(atomic_load(&other->pid), SIGSTOP);
			sleep_for(LEASE_US * 1e-6 * (1 + below(40)));
			kill(atomic_load(&other->pid), SIGCONT);
		}
		atomic_fetch_add(&all->deaths, 1);
	}
	work(LOCKS, 30, 1, 3);
}

/* Check that no lock is lost, in any mode. */
static void use_all(void)
{
	struct pawl_stats stats;

	for (int lock = 0; lock < LOCKS; lock++) {
		enter(lock, PAWL_EXCLUSIVE);
		leave(lock);
		enter(lock, PAWL_SHARED);
		leave(lock);
	}
	pawl_table_get_stats(frame.table, &stats);
	atomic_fetch_add(&all->recoveries, (int64_t)stats.recoveries);
}

/* ---------------------------------------------------------------------- frame */

static void start(void)
{
	all = share_memory(sizeof *all);
	me = &all->rank[frame.rank];
	atomic_store(&me->pid, (int)getpid());
}

static void options(MPI_Info info)
{
	MPI_Info_set(info, "pawl_lease", "10000");
}

static uint64_t locks(void)
{
	return LOCKS;
}

static void report(FILE *out)
{
	struct pawl_table_info info;
	int64_t lost = 0, grants = 0;

	for (int r = 0; r < RANKS; r++) {
		lost += atomic_load(&all->rank[r].lost);
		grants += atomic_load(&all->rank[r].all);
	}
	pawl_table_get_info(frame.table, &info);
	verdict(out, "%s, %s", frame.kind, frame.scenario->name);
	fprintf(out, "1..1\n# grants %lld recoveries %lld lost %lld recovered_us %lld (%s)\n",
		(long long)grants, (long long)atomic_load(&all->recoveries), (long long)lost,
		(long long)(atomic_load(&all->recovered) / 1000), info.parameters);
}

#define OF_HOLDERS(scenario, number)                                                     \
	{                                                                                \
		.name = #scenario, .ranks = RANKS, .deaths = number, .limit_s = LIMIT_S, \
		.start = start, .options = options, .locks = locks, .play = scenario,    \
		.check = use_all, .report = report                                       \
	}
const struct scenario deaths_of_holders[] = {
    OF_HOLDERS(holding, 1), OF_HOLDERS(alone, 1),   OF_HOLDERS(waiting, 1), OF_HOLDERS(followed, 1),
    OF_HOLDERS(handing, 2), OF_HOLDERS(anytime, 2), OF_HOLDERS(stopped, 0), {.name = NULL},
};
