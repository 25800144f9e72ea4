/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks are killed by SIGKILL, or are stopped and go on later; the others must still be able to
 * use their locks. One job of four ranks on one node for each scenario and seed:
 *
 *   survivors KIND SCENARIO SEED FILE
 *
 *   holding   rank 3 dies while it holds the lock
 *   waiting   rank 3 dies while it waits, as the last of the queue
 *   followed  rank 3 dies while it waits, and another rank waits behind it
 *   handing   ranks 2 and 3 die some microseconds after they began to release
 *   anytime   ranks 2 and 3 die at any time
 *   stopped   ranks 2 and 3 are stopped at any time, for many leases, and go on
 *
 * On a busy machine a rank may lose its core for longer than a lease while it holds a lock. Then
 * another rank may get it, but the release of one of both says that the lease was lost.
 *
 * Dead ranks take part in no collective call, so after the start the ranks communicate
 * through shared memory, and end without MPI_Finalize. Rank 0 writes TAP into a
 * file; the existence of the file shows that the job is over.
 */
#include <mpi.h>
#include <pawl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "mortal.h"
#include "tests/lock/tables.h"

enum { RANKS = 4, LOCKS = 2, NOTHING = -1 };
enum { LEASE_US = 10000, CRASH_S = 60, STOPS = 3 };

/* The state of a rank, for the others. */
struct rank_state {
	_Atomic(int) pid;
	_Atomic(int) inside[LOCKS]; /* mode, 0: not */
	_Atomic(int) dead, done;
	_Atomic(int) stops;      /* times it was stopped */
	_Atomic(int) doing;      /* the lock it acquires, holds or releases; or NOTHING */
	_Atomic(int64_t) died;   /* when, in nanoseconds */
	_Atomic(int64_t) grants; /* since the last death */
	_Atomic(int64_t) lost;   /* releases that came too late */
	_Atomic(int64_t) all;
};

struct shared {
	struct rank_state rank[RANKS];
	_Atomic(int) begun, deaths;
	/* Of two ranks, the first the smaller one, that held a lock at the same time: who has
	 * released it as if it had been alone. */
	_Atomic(int) clash[RANKS][RANKS];
	_Atomic(int64_t) recovered; /* the time from the death of a holder to the next grant */
	_Atomic(int64_t) recoveries;
};

static struct shared *all;
static struct rank_state *me;
static pawl_table *table;
static bool ranges, shares; /* capabilities of its kind */
static pawl_range held;
static int rank;
static FILE *out;
static uint64_t random_state;

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static unsigned below(unsigned n)
{
	return random_below(&random_state, n);
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
	return r < rank ? &all->clash[r][rank] : &all->clash[rank][r];
}

/* The client has released a lock, in time or not. */
static void end_clashes(int lock, bool in_time)
{
	for (int r = 0; r < RANKS; r++) {
		int mine = rank < r ? SMALLER_KEPT : LARGER_KEPT, old;

		if (r == rank || !atomic_load(clash_with(r)))
			continue;
		old = in_time ? atomic_fetch_or(clash_with(r), mine) | mine
			      : atomic_exchange(clash_with(r), 0);
		if (old != (CLASHES | SMALLER_KEPT | LARGER_KEPT))
			continue;
		atomic_store(clash_with(r), 0);
		if (in_time && !excused(&all->rank[r]) && !excused(me))
			wrong("ranks %d and %d held lock %d at the same time, and neither was late",
			      rank, r, lock);
	}
}

/* This client holds the lock: note which holders it ought to exclude. */
static void note_clashes(int lock, int mode)
{
	for (int r = 0; r < RANKS; r++) {
		struct rank_state *other = &all->rank[r];
		int its = atomic_load(&other->inside[lock]);

		if (r == rank || !its || (its == PAWL_SHARED && mode == PAWL_SHARED))
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

	if (!ranges)
		return pawl_lock_acquire(table, (uint64_t)lock, mode);
	return pawl_range_acquire(table, (uint64_t)lock, COMMON_UNIT - below(lengths[below(4)]),
				  COMMON_UNIT + below(lengths[below(4)]), mode, &held);
}

static int release(int lock)
{
	return ranges ? pawl_range_release(table, &held) : pawl_lock_release(table, (uint64_t)lock);
}

static void enter(int lock, int mode)
{
	int rc;

	if (!shares)
		mode = PAWL_EXCLUSIVE;
	atomic_store(&me->doing, lock);
	rc = acquire(lock, mode);
	if (!has_got(rc))
		wrong("rank %d, acquire: %s: %s", rank, pawl_strerror(rc), pawl_error_message());
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
	rc = release(lock);
	if (rc == PAWL_SUCCESS || rc == PAWL_ERR_LEASE_LOST)
		end_clashes(lock, rc == PAWL_SUCCESS);
	if (rc == PAWL_ERR_LEASE_LOST)
		atomic_fetch_add(&me->lost, 1);
	else if (rc != PAWL_SUCCESS)
		wrong("rank %d, release: %s", rank, pawl_strerror(rc));
	atomic_store(&me->doing, NOTHING);
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
	if (rank == 3) {
		sleep_for(0.02);
		enter(0, PAWL_EXCLUSIVE);
		die(0);
	}
	work(1, 30, 1, 3);
}

/* Rank 0 holds the lock, rank 3 waits and dies, and rank 2 waits, too: behind rank 3, or
 * after its death. */
static void waiting(bool followed)
{
	if (rank == 0) {
		enter(0, PAWL_EXCLUSIVE);
		sleep_for(0.012);
		leave(0);
	} else if (rank == 3) {
		sleep_for(0.004);
		die_in(4000);
		enter(0, below(2) ? PAWL_SHARED : PAWL_EXCLUSIVE);
		while (true)
			pause();
	} else if (rank == 2 && followed) {
		sleep_for(0.006);
		once(1, 50);
	}
	work(1, 30, 1, 3);
}

static void handing(void)
{
	int after = 20 + (int)below(200);

	for (int i = 0; rank >= 2; i++) {
		enter(0, PAWL_EXCLUSIVE);
		if (i == after)
			die_in(1 + below(30));
		leave(0);
	}
	work(1, 20, 2, 3);
}

static void anytime(void)
{
	if (rank >= 2)
		die_in(1000 + below(60000));
	while (rank >= 2)
		once(LOCKS, 40);
	work(LOCKS, 40, 2, 3);
}

/* Rank 0 stops others, and lets them go on. */
static void stopped(void)
{
	if (rank == 0) {
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

static const struct {
	const char *name;
	int deaths;
} scenarios[] = {{"holding", 1}, {"waiting", 1}, {"followed", 1},
		 {"handing", 2}, {"anytime", 2}, {"stopped", 0}};

enum { SCENARIOS = sizeof scenarios / sizeof scenarios[0] };

static int scenario_of(const char *name)
{
	for (int i = 0; i < SCENARIOS; i++)
		if (strcmp(scenarios[i].name, name) == 0)
			return i;
	return NOTHING;
}

static void play(int scenario)
{
	switch (scenario) {
	case 0:
		holding();
		break;
	case 1:
	case 2:
		waiting(scenario == 2);
		break;
	case 3:
		handing();
		break;
	case 4:
		anytime();
		break;
	default:
		stopped();
	}
	/* Check that no lock is lost, in any mode. */
	for (int lock = 0; lock < LOCKS; lock++) {
		enter(lock, PAWL_EXCLUSIVE);
		leave(lock);
		enter(lock, PAWL_SHARED);
		leave(lock);
	}
	atomic_store(&me->done, 1);
}

/* ---------------------------------------------------------------------- frame */

static void hung(int signal)
{
	(void)signal;
	wrong("rank %d hangs at lock %d", rank, atomic_load(&me->doing));
	verdict(out, "survivors");
	fprintf(out, "1..1\n");
	fflush(out);
	_exit(1);
}

static void start(const char *kind)
{
	MPI_Info info;
	int n;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	if (n != RANKS) {
		fprintf(stderr, "survivors: needs %d ranks\n", RANKS);
		_exit(2);
	}
	all = mortal_share(MPI_COMM_WORLD, sizeof *all);
	me = &all->rank[rank];
	atomic_store(&me->pid, (int)getpid());
	atomic_store(&me->doing, NOTHING);
	MPI_Info_create(&info);
	MPI_Info_set(info, "pawl_lease", "10000");
	if (pawl_table_create(MPI_COMM_WORLD, kind, LOCKS, info, &table) != PAWL_SUCCESS) {
		fprintf(stderr, "survivors: %s\n", pawl_error_message());
		_exit(1);
	}
	MPI_Info_free(&info);
	ranges = pawl_kind_find(kind)->capabilities & PAWL_CAP_RANGES;
	shares = pawl_kind_find(kind)->capabilities & PAWL_CAP_SHARED;
	MPI_Barrier(MPI_COMM_WORLD);
}

static void report(const char *kind, int scenario, const char *seed)
{
	struct pawl_table_info info;
	int64_t lost = 0, grants = 0;

	for (int r = 0; r < RANKS; r++) {
		lost += atomic_load(&all->rank[r].lost);
		grants += atomic_load(&all->rank[r].all);
	}
	pawl_table_get_info(table, &info);
	verdict(out, "%s, %s, seed %s", kind, scenarios[scenario].name, seed);
	fprintf(out, "1..1\n# grants %lld recoveries %lld lost %lld recovered_us %lld (%s)\n",
		(long long)grants, (long long)atomic_load(&all->recoveries), (long long)lost,
		(long long)(atomic_load(&all->recovered) / 1000), info.parameters);
	fflush(out);
}

int main(int argc, char **argv)
{
	int scenario = argc == 5 ? scenario_of(argv[2]) : NOTHING;
	struct pawl_stats stats;

	if (scenario == NOTHING) {
		fprintf(stderr, "usage: survivors KIND"
				" holding|waiting|followed|handing|anytime|stopped SEED FILE\n");
		return 2;
	}
	out = fopen(argv[4], "a");
	if (!out) {
		perror(argv[4]);
		return 2;
	}
	MPI_Init(&argc, &argv);
	start(argv[1]);
	random_state = strtoull(argv[3], NULL, 10) * 1000 + (uint64_t)rank;
	signal(SIGALRM, hung);
	if (rank < 2)
		alarm(CRASH_S);
	play(scenario);
	pawl_table_get_stats(table, &stats);
	atomic_fetch_add(&all->recoveries, (int64_t)stats.recoveries);
	atomic_fetch_add(&all->begun, 1);
	while (rank == 0 && atomic_load(&all->begun) < RANKS - scenarios[scenario].deaths)
		sleep_for(0.001);
	if (rank == 0)
		report(argv[1], scenario, argv[3]);
	_exit(is_wrong());
}
