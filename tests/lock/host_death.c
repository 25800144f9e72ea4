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
 * into a file, as in survivors.c.
 */
#include <mpi.h>
#include <pawl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_LOCKS = 16, TRIES = 10, LIMIT_S = 40 };
#define BEFORE_S 0.3
#define AFTER_S 1.5
#define LEASE_US "100000"

/* Of a host. */
struct shared {
	_Atomic(int) inside[MOST_LOCKS];
	_Atomic(int) killed, done, failed, met, lost, died;
	_Atomic(long) grants;
	char why[200];
};

static struct shared *here;
static pawl_table *table;
static int rank, ranks, locks;
static bool first_host, shares;
static uint64_t seed;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void snooze(double seconds)
{
	struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};

	nanosleep(&t, NULL);
}

static unsigned below(unsigned n)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

__attribute__((format(printf, 1, 2))) static void wrong(const char *format, ...)
{
	va_list args;

	if (atomic_exchange(&here->failed, 1))
		return;
	va_start(args, format);
	vsnprintf(here->why, sizeof here->why, format, args);
	va_end(args);
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
	double end = now() + seconds;

	while (now() < end) {
		int lock = (int)below((unsigned)locks);
		int mode = shares && below(3) == 0 ? PAWL_SHARED : PAWL_EXCLUSIVE;

		if (!enter(lock, mode))
			continue;
		if (below(4) == 0)
			snooze(1e-4);
		leave(lock, mode);
	}
}

/* No lock is lost, in no mode. */
static void try_all(void)
{
	for (int i = 0; i < locks * (shares ? 2 : 1); i++) {
		int mode = i < locks ? PAWL_EXCLUSIVE : PAWL_SHARED, tries = 0;

		while (!enter(i % locks, mode) && ++tries < TRIES)
			snooze(0.05);
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

static void share_host(MPI_Comm host)
{
	MPI_Aint size;
	MPI_Win win;
	int unit, host_rank;

	MPI_Comm_rank(host, &host_rank);
	MPI_Win_allocate_shared(host_rank == 0 ? sizeof *here : 0, 1, MPI_INFO_NULL, host, &here,
				&win);
	MPI_Win_shared_query(win, 0, &size, &unit, &here);
	if (host_rank == 0)
		memset(here, 0, sizeof *here);
	MPI_Barrier(host);
}

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
	if (atomic_load(&here->failed))
		fprintf(out, "not ok 1 - %s, %s # %s\n", kind, scenario, here->why);
	else
		fprintf(out, "ok 1 - %s, %s # %ld grants, %d PAWL_ERR_PEER, %d leases lost\n", kind,
			scenario, atomic_load(&here->grants), atomic_load(&here->died),
			atomic_load(&here->lost));
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
	share_host(host);
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
	end = now() + LIMIT_S;
	while (first_host && atomic_load(&here->done) < locks && now() < end)
		snooze(0.001);
	while (!first_host && access(argv[3], F_OK) != 0 && now() < end)
		snooze(0.02);
	if (rank == 0 && atomic_load(&here->done) < locks)
		wrong("a rank hangs");
	if (rank == 0)
		tell(argv[1], argv[2], argv[3]);
	_exit(0);
}
