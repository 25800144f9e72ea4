/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks of another host are killed, over transport ucx, while all work with locks of a kind that
 * recovers:
 *
 *   host_death KIND rank|host FILE
 *
 * All ranks acquire and release the locks of the first host, in both modes if there are. After a
 * while rank 0 kills the last rank, or all ranks of the last host, whatever they do at that
 * moment. The others go on: an acquire or release may return PAWL_ERR_PEER, and does not hang;
 * and in the end every rank of the first host gets every lock. Each rank has one lock, and those
 * of the first host are their own homes, which live.
 *
 * Exclusion is checked among the ranks of the first host: two of them are in a section at a time
 * only if one of them learns from its release that it lost its lease. The verdict, in TAP, goes
 * into a file (mortal.h).
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

enum { MOST_LOCKS = 16, TRIES = 10, LIMIT_S = 40 };
#define BEFORE_S 0.3
#define AFTER_S 1.5
#define LEASE_US "100000"

/* Of a host. */
struct shared {
	_Atomic(int) inside[MOST_LOCKS];
	_Atomic(int) killed, done, met, lost, died;
	_Atomic(long) grants;
};

static struct shared *here;
static pawl_table *table;
static int rank, ranks, locks;
static bool first_host, shares;
static uint64_t seed;

static unsigned below(unsigned n)
{
	return random_below(&seed, n);
}

/* Whether the code is one that a death may bring. */
static bool is_fine(int rc, const char *what, int lock)
{
	if (rc == PAWL_SUCCESS || rc == PAWL_ERR_LEASE_LOST)
		return true;
	atomic_fetch_add(&here->died, rc == PAWL_ERR_PEER);
	if (rc != PAWL_ERR_PEER)
		wrong("rank %d, %s of lock %d: %s: %s", rank, what, lock, pawl_strerror(rc),
		      pawl_error_message());
	return false;
}

static void leave(int lock, int mode)
{
	int rc;

	if (mode == PAWL_EXCLUSIVE)
		atomic_fetch_sub(&here->inside[lock], 1);
	rc = pawl_lock_release(table, (uint64_t)lock);
	is_fine(rc, "release", lock);
	atomic_fetch_add(&here->lost, rc == PAWL_ERR_LEASE_LOST);
}

static bool enter(int lock, int mode)
{
	if (!is_fine(pawl_lock_acquire(table, (uint64_t)lock, mode), "acquire", lock))
		return false;
	if (mode == PAWL_EXCLUSIVE && atomic_fetch_add(&here->inside[lock], 1) != 0)
		atomic_fetch_add(&here->met, 1);
	if (atomic_load(&here->killed))
		atomic_fetch_add(&here->grants, 1);
	return true;
}

static void work(double seconds)
{
	double end = seconds_now() + seconds;

	while (seconds_now() < end) {
		int lock = (int)below((unsigned)locks);
		int mode = shares && below(3) == 0 ? PAWL_SHARED : PAWL_EXCLUSIVE;

		if (!enter(lock, mode))
			continue;
		if (below(4) == 0)
			sleep_for(1e-4);
		leave(lock, mode);
	}
}

/* No lock is lost, in no mode. */
static void try_all(void)
{
	for (int i = 0; i < locks * (shares ? 2 : 1); i++) {
		int mode = i < locks ? PAWL_EXCLUSIVE : PAWL_SHARED, tries = 0;

		while (!enter(i % locks, mode) && ++tries < TRIES)
			sleep_for(0.05);
		if (tries == TRIES)
			wrong("rank %d never gets lock %d in mode %d", rank, i % locks, mode);
		else
			leave(i % locks, mode);
	}
}

static void hung(int signal)
{
	(void)signal;
	wrong("rank %d hangs", rank);
	_exit(1);
}

/* ---------------------------------------------------------------------- frame */

/* Who is on a host with the last rank, or is it. */
static bool is_victim(const char *scenario, MPI_Comm host)
{
	int last = rank;

	MPI_Allreduce(MPI_IN_PLACE, &last, 1, MPI_INT, MPI_MAX, host);
	return strcmp(scenario, "host") == 0 ? last == ranks - 1 : rank == ranks - 1;
}

static bool open_table(const char *kind)
{
	MPI_Info info;
	int rc;

	MPI_Info_create(&info);
	MPI_Info_set(info, "pawl_transport", "ucx");
	MPI_Info_set(info, "pawl_max_held", "1000");
	MPI_Info_set(info, "pawl_lease", LEASE_US);
	rc = pawl_table_create(MPI_COMM_WORLD, kind, (uint64_t)ranks, info, &table);
	MPI_Info_free(&info);
	if (rc != PAWL_SUCCESS && rank == 0)
		fprintf(stderr, "host_death: %s\n", pawl_error_message());
	return rc == PAWL_SUCCESS;
}

static void kill_them(const int *victims)
{
	for (int i = 0; i < ranks; i++)
		if (victims[i])
			kill(victims[i], SIGKILL);
	atomic_store(&here->killed, 1);
}

static void tell(const char *kind, const char *scenario, const char *path)
{
	FILE *out = fopen(path, "w");

	if (!out)
		_exit(2);
	if (atomic_load(&here->met) > atomic_load(&here->lost))
		wrong("%d times two ranks were inside, and %d leases were lost",
		      atomic_load(&here->met), atomic_load(&here->lost));
	if (atomic_load(&here->grants) < locks)
		wrong("%ld grants after the death", atomic_load(&here->grants));
	verdict(out, "%s, %s: %ld grants, %d PAWL_ERR_PEER, %d leases lost", kind, scenario,
		atomic_load(&here->grants), atomic_load(&here->died), atomic_load(&here->lost));
	fclose(out);
}

static void play(const char *scenario, MPI_Comm host)
{
	int mine = is_victim(scenario, host) ? (int)getpid() : 0, *victims;

	victims = calloc((size_t)ranks, sizeof *victims);
	if (!victims)
		_exit(2);
	MPI_Allgather(&mine, 1, MPI_INT, victims, 1, MPI_INT, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	work(BEFORE_S + (mine ? LIMIT_S : 0));
	if (rank == 0)
		kill_them(victims);
	free(victims);
	work(AFTER_S);
	try_all();
}

int main(int argc, char **argv)
{
	MPI_Comm host;
	double end;

	if (argc != 4 || (strcmp(argv[2], "rank") != 0 && strcmp(argv[2], "host") != 0)) {
		fprintf(stderr, "usage: host_death KIND rank|host FILE\n");
		return 2;
	}
	MPI_Init(&argc, &argv);
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
	shares = pawl_kind_find(argv[1])->capabilities & PAWL_CAP_SHARED;
	seed = (uint64_t)rank + 1;
	if (!open_table(argv[1]))
		_exit(1);
	signal(SIGALRM, hung);
	alarm(LIMIT_S);
	play(argv[2], host);
	atomic_fetch_add(&here->done, 1);
	/* Who is done is a home to others. */
	end = seconds_now() + LIMIT_S;
	while (first_host && atomic_load(&here->done) < locks && seconds_now() < end)
		sleep_for(0.001);
	while (!first_host && access(argv[3], F_OK) != 0 && seconds_now() < end)
		sleep_for(0.02);
	if (rank == 0 && atomic_load(&here->done) < locks)
		wrong("a rank hangs");
	if (rank == 0)
		tell(argv[1], argv[2], argv[3]);
	_exit(0);
}
