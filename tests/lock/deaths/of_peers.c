/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank of another node is killed, over transport ucx. Four ranks of one host on two nodes
 * (topology "node:2 core:2"), and eight locks, two at each rank, of which 0, 3 and 4 are used. Rank
 * 3 holds lock 0; the others want it; rank 0 kills
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
 * that recovers works, too, perhaps after a PAWL_ERR_PEER.
 */
#include "deaths.h"

enum { RANKS = 4, LOCKS = 8, ROUNDS = 20, TRIES = 5, LIMIT_S = 20 };
#define SOON_S 8.0
#define LEASE_S 2
#define LEASE_US "2000000"
/* A client suspects the dead rank after two leases, and looks again for one and a half; the others
 * notice within a lease that it has recovered the lock. */
#define RECOVERED_S (5.0 * LEASE_S)

struct shared {
	_Atomic(int) pid[RANKS], held, killed;
};

static struct shared *all;
static struct section held;

static bool is(const char *scenario)
{
	return strcmp(frame.scenario->name, scenario) == 0;
}

static void await(_Atomic(int) *flag, int value)
{
	while (atomic_load(flag) < value)
		sleep_for(0.001);
}

/* With a kind with ranges, a space stands for the lock. */
static int acquire(int lock)
{
	held = (struct section){.lock = lock, .mode = PAWL_EXCLUSIVE, .first = 0, .last = 99};
	return enter_section(&held);
}

/* Whether the message says what is known, and no more: that somebody has died, which the kernel
 * tells rank 2; or which connection has ended, of a rank that was killed; or that one has. */
static bool is_said(void)
{
	const char *said = pawl_error_message();
	bool ended = strstr(said, "a connection between other ranks has ended");
	char to[40];

	for (int r = is("node") ? 2 : 3; r < RANKS; r++) {
		snprintf(to, sizeof to, "connection to rank %d on host ", r);
		ended = ended || strstr(said, to);
	}
	return ended != (strstr(said, "died") != NULL);
}

/* An acquire of a lock that the dead rank used. */
static void expect_death(int lock)
{
	int rc = acquire(lock);

	if (rc != PAWL_ERR_PEER)
		wrong("rank %d, lock %d: %s instead of %s", frame.rank, lock, pawl_strerror(rc),
		      pawl_strerror(PAWL_ERR_PEER));
	else if (!atomic_load(&all->killed))
		wrong("rank %d, lock %d: an error before anybody died", frame.rank, lock);
	else if (!is_said())
		wrong("rank %d: the message is %s", frame.rank, pawl_error_message());
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
	if (rc != (frame.tells ? PAWL_RECOVERED : PAWL_SUCCESS))
		wrong("rank %d, lock %d: %s", frame.rank, lock, pawl_strerror(rc));
	if (!atomic_load(&all->killed))
		wrong("rank %d, lock %d: recovered before anybody died", frame.rank, lock);
	rc = leave_section(&held);
	/* It may grant the lock to the dead rank. */
	if (rc != PAWL_SUCCESS && rc != PAWL_ERR_PEER)
		wrong("rank %d, lock %d, release: %s", frame.rank, lock, pawl_strerror(rc));
}

static void expect_no_growth(int space)
{
	int64_t units = -1;
	int rc = pawl_range_grow(frame.table, (uint64_t)space, &units);

	if (rc != PAWL_ERR_PEER)
		wrong("rank %d grows space %d: %s, to %lld units", frame.rank, space,
		      pawl_strerror(rc), (long long)units);
	else if (!atomic_load(&all->killed))
		wrong("rank %d grows space %d: an error before anybody died", frame.rank, space);
	else if (!is_said())
		wrong("rank %d: the message is %s", frame.rank, pawl_error_message());
}

static void expect_life(int lock)
{
	for (int i = 0; i < ROUNDS; i++) {
		int rc = acquire(lock);

		if (rc == PAWL_SUCCESS)
			rc = leave_section(&held);
		if (rc != PAWL_SUCCESS)
			wrong("rank %d, lock %d, round %d: %s", frame.rank, lock, i,
			      pawl_strerror(rc));
	}
}

static void hold(void)
{
	int rc;

	held = (struct section){3, PAWL_EXCLUSIVE, .first = 1000, .last = 1010};
	rc = is("grow") ? enter_section(&held) : acquire(0);
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
	if (is("node"))
		kill(atomic_load(&all->pid[2]), SIGKILL);
}

static void play(void)
{
	double began;

	if (frame.rank == 3)
		hold();
	await(&all->held, 1);
	if (frame.rank == 0)
		kill_it();
	else
		sleep_for(0.1 * frame.rank);
	began = seconds_now();
	if (is("grow"))
		expect_no_growth(3);
	else if (frame.rank == 0 && is("rank"))
		expect_death(3);
	else if (frame.recovers)
		expect_recovery(0);
	else
		expect_death(0);
	if (seconds_now() - began > (frame.recovers ? RECOVERED_S : SOON_S))
		wrong("rank %d waited %.1f s", frame.rank, seconds_now() - began);
	expect_life(4);
	if (frame.rank == 1)
		expect_death(3);
}

static void leave(void)
{
	if (frame.rank >= 2)
		_exit(0);
	sleep_for(0.05);
}

static void start(void)
{
	all = share_memory(sizeof *all);
	atomic_store(&all->pid[frame.rank], (int)getpid());
}

static void options(MPI_Info info)
{
	MPI_Info_set(info, "pawl_transport", "ucx");
	MPI_Info_set(info, "pawl_topology", "node:2 core:2");
	MPI_Info_set(info, "pawl_distribution", "cyclic");
	if (is("grow")) {
		MPI_Info_set(info, "pawl_units", "256");
		MPI_Info_set(info, "pawl_units_most", "65536");
		MPI_Info_set(info, "pawl_growth", "call");
	} else if (frame.recovers) {
		MPI_Info_set(info, "pawl_lease", LEASE_US);
	}
}

static uint64_t locks(void)
{
	return LOCKS;
}

#define OF_PEERS(scenario, number, by)                                                   \
	{                                                                                \
		.name = #scenario, .ranks = RANKS, .deaths = number, .limit_s = LIMIT_S, \
		.start = start, .options = options, .locks = locks, .play = by           \
	}
const struct scenario deaths_of_peers[] = {
    OF_PEERS(rank, 1, play), OF_PEERS(unseen, 1, play), OF_PEERS(node, 2, play),
    OF_PEERS(grow, 1, play), OF_PEERS(leave, 2, leave), {.name = NULL},
};
