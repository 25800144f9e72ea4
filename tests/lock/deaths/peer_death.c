/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank of another node is killed, over transport ucx:
 *
 *   peer_death KIND SCENARIO FILE
 *
 * Four ranks of one host on two nodes (topology "node:2 core:2"), and eight locks, two at
 * each rank, of which 0, 3 and 4 are used. Rank 3 holds lock 0; the others want it; rank 0 kills
 *
 *   rank     rank 3, and asks for lock 3
 *   unseen   rank 3, and asks for lock 0: if all words of a lock are at its home, no living rank
 *            has ever communicated with rank 3
 *   node     ranks 2 and 3, and asks for lock 0, so that no rank of their node lives
 *   grow     rank 3, which has units behind the tree of its own space, while ranks 1 and 2 wait
 *            for its turn to end so that they can grow that space; then rank 0 grows it, too. Each
 *            call must return PAWL_ERR_PEER. For kinds whose spaces grow by a call.
 *   leave    nobody: ranks 2 and 3 end at once without having freed the table, the others a moment
 *            later. Connections begun in between would fail, of which UCX prints lines.
 *
 * Then (but for leave) every acquire of lock 0 and of lock 3 must return PAWL_ERR_PEER soon; lock
 * 4, which the dead rank did not use, and of which it keeps no word, still works. Lock 0 of a kind
 * that recovers works, too, perhaps after a PAWL_ERR_PEER. The verdict, in TAP, goes into a file
 * (mortal.h).
 */
#include <mpi.h>
#include <pawl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mortal.h"

enum { RANKS = 4, LOCKS = 8, ROUNDS = 20, TRIES = 5, LIMIT_S = 20 };
#define SOON_S 8.0
#define LEASE_S 2
#define LEASE_US "2000000"
/* A client suspects the dead rank after two leases, and looks again for one and a half; the others
 * notice within a lease that it has recovered the lock. */
#define RECOVERED_S (5.0 * LEASE_S)

enum { RANK, UNSEEN, NODE, GROW, LEAVE, SCENARIOS };
static const char *const scenarios[] = {"rank", "unseen", "node", "grow", "leave"};

struct shared {
	_Atomic(int) pid[RANKS], held, killed, done;
};

static struct shared *all;
static pawl_table *table;
static int rank, scenario;
static bool recovers, ranges; /* what the kind does */
static pawl_range range;

static void await(_Atomic(int) *flag, int value)
{
	while (atomic_load(flag) < value)
		sleep_for(0.001);
}

/* With a kind with ranges, a space stands for the lock. */
static int acquire(int lock)
{
	if (ranges)
		return pawl_range_acquire(table, (uint64_t)lock, 0, 99, PAWL_EXCLUSIVE, &range);
	return pawl_lock_acquire(table, (uint64_t)lock, PAWL_EXCLUSIVE);
}

static int release(int lock)
{
	return ranges ? pawl_range_release(table, &range)
		      : pawl_lock_release(table, (uint64_t)lock);
}

/* An acquire of a lock that the dead rank used. */
static void expect_death(int lock)
{
	int rc = acquire(lock);

	if (rc != PAWL_ERR_PEER)
		wrong("rank %d, lock %d: %s instead of %s", rank, lock, pawl_strerror(rc),
		      pawl_strerror(PAWL_ERR_PEER));
	else if (!atomic_load(&all->killed))
		wrong("rank %d, lock %d: an error before anybody died", rank, lock);
	else if (!strstr(pawl_error_message(), "died"))
		wrong("rank %d: the message is %s", rank, pawl_error_message());
}

/* A lock of a kind that recovers, whose home lives: a client behind the dead rank may have to try
 * again. */
static void expect_recovery(int lock)
{
	int rc = PAWL_ERR_PEER;

	for (int i = 0; i < TRIES && rc == PAWL_ERR_PEER; i++) {
		sleep_for(0.5 * i * LEASE_S);
		rc = acquire(lock);
	}
	if (rc != PAWL_RECOVERED)
		wrong("rank %d, lock %d: %s", rank, lock, pawl_strerror(rc));
	if (!atomic_load(&all->killed))
		wrong("rank %d, lock %d: recovered before anybody died", rank, lock);
	rc = release(lock);
	/* It may grant the lock to the dead rank. */
	if (rc != PAWL_SUCCESS && rc != PAWL_ERR_PEER)
		wrong("rank %d, lock %d, release: %s", rank, lock, pawl_strerror(rc));
}

static void expect_no_growth(int space)
{
	int64_t units = -1;
	int rc = pawl_range_grow(table, (uint64_t)space, &units);

	if (rc != PAWL_ERR_PEER)
		wrong("rank %d grows space %d: %s, to %lld units", rank, space, pawl_strerror(rc),
		      (long long)units);
	else if (!atomic_load(&all->killed))
		wrong("rank %d grows space %d: an error before anybody died", rank, space);
	else if (!strstr(pawl_error_message(), "died"))
		wrong("rank %d: the message is %s", rank, pawl_error_message());
}

static void expect_life(int lock)
{
	for (int i = 0; i < ROUNDS; i++) {
		int rc = acquire(lock);

		if (rc == PAWL_SUCCESS)
			rc = release(lock);
		if (rc != PAWL_SUCCESS)
			wrong("rank %d, lock %d, round %d: %s", rank, lock, i, pawl_strerror(rc));
	}
}

static void hold(void)
{
	int rc = scenario == GROW ? pawl_range_acquire(table, 3, 1000, 1010, PAWL_EXCLUSIVE, &range)
				  : acquire(0);

	if (rc != PAWL_SUCCESS)
		wrong("rank 3: %s", pawl_strerror(rc));
	atomic_store(&all->held, 1);
	for (;;)
		pause();
}

static void kill_it(void)
{
	sleep_for(0.5); /* the others are in the queue */
	atomic_store(&all->killed, 1);
	kill(atomic_load(&all->pid[3]), SIGKILL);
	if (scenario == NODE)
		kill(atomic_load(&all->pid[2]), SIGKILL);
}

static void play(void)
{
	double began;

	if (rank == 3)
		hold();
	await(&all->held, 1);
	if (rank == 0)
		kill_it();
	else
		sleep_for(0.1 * rank);
	began = seconds_now();
	if (scenario == GROW)
		expect_no_growth(3);
	else if (rank == 0 && scenario == RANK)
		expect_death(3);
	else if (recovers)
		expect_recovery(0);
	else
		expect_death(0);
	if (seconds_now() - began > (recovers ? RECOVERED_S : SOON_S))
		wrong("rank %d waited %.1f s", rank, seconds_now() - began);
	expect_life(4);
	if (rank == 1)
		expect_death(3);
}

static void leave(const char *file)
{
	FILE *out;

	if (rank >= 2)
		_exit(0);
	sleep_for(0.05);
	out = rank == 0 ? fopen(file, "w") : NULL;
	if (out)
		verdict(out, "leave");
	_exit(out && fclose(out) ? 2 : 0);
}

static void hung(int signal)
{
	(void)signal;
	wrong("rank %d hangs", rank);
	_exit(1);
}

static void start(const char *kind)
{
	MPI_Info info;
	int n;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	if (n != RANKS) {
		fprintf(stderr, "peer_death: needs %d ranks\n", RANKS);
		_exit(2);
	}
	all = mortal_share(MPI_COMM_WORLD, sizeof *all);
	atomic_store(&all->pid[rank], (int)getpid());
	MPI_Info_create(&info);
	MPI_Info_set(info, "pawl_transport", "ucx");
	MPI_Info_set(info, "pawl_topology", "node:2 core:2");
	MPI_Info_set(info, "pawl_distribution", "cyclic");
	recovers = pawl_kind_find(kind)->capabilities & PAWL_CAP_RECOVERS;
	ranges = pawl_kind_find(kind)->capabilities & PAWL_CAP_RANGES;
	if (scenario == GROW) {
		MPI_Info_set(info, "pawl_units", "256");
		MPI_Info_set(info, "pawl_units_most", "65536");
		MPI_Info_set(info, "pawl_growth", "call");
	} else if (recovers) {
		MPI_Info_set(info, "pawl_lease", LEASE_US);
	}
	if (pawl_table_create(MPI_COMM_WORLD, kind, LOCKS, info, &table) != PAWL_SUCCESS) {
		fprintf(stderr, "peer_death: %s\n", pawl_error_message());
		_exit(1);
	}
	MPI_Info_free(&info);
	MPI_Barrier(MPI_COMM_WORLD);
}

static int scenario_of(const char *name)
{
	int i = 0;

	while (i < SCENARIOS && strcmp(scenarios[i], name) != 0)
		i++;
	return i;
}

int main(int argc, char **argv)
{
	int ends;
	double end;
	FILE *out;

	scenario = argc == 4 ? scenario_of(argv[2]) : SCENARIOS;
	if (scenario == SCENARIOS) {
		fprintf(stderr, "usage: peer_death KIND rank|unseen|node|grow|leave FILE\n");
		return 2;
	}
	ends = RANKS - (scenario == NODE ? 2 : 1);
	MPI_Init(&argc, &argv);
	start(argv[1]);
	signal(SIGALRM, hung);
	alarm(rank == 0 ? LIMIT_S + 2 : LIMIT_S);
	if (scenario == LEAVE)
		leave(argv[3]);
	play();
	atomic_fetch_add(&all->done, 1);
	end = seconds_now() + LIMIT_S;
	/* A rank that is done still serves as a home. */
	while (atomic_load(&all->done) < ends && seconds_now() < end)
		sleep_for(0.001);
	if (rank != 0)
		_exit(0);
	if (atomic_load(&all->done) < ends)
		wrong("%d ranks hang", ends - atomic_load(&all->done));
	out = fopen(argv[3], "w");
	if (!out)
		_exit(2);
	verdict(out, "%s, %s", argv[1], argv[2]);
	fclose(out);
	_exit(0);
}
