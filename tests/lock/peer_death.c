/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank of another node is killed, over transport ucx:
 *
 *   peer_death KIND FILE
 *
 * Four ranks of one host on two nodes (topology "node:2 core:2"), and four locks, one at
 * each rank. Rank 3 holds lock 0; ranks 1 and 2 queue for it; rank 0 kills rank 3. Then every
 * acquire of lock 0 and of lock 3 has to return PAWL_ERR_PEER, and soon; lock 1, of which the
 * dead rank knew nothing, goes on. The verdict, in TAP, goes into a file, as in survivors.c.
 */
#include <mpi.h>
#include <pawl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RANKS = 4, ROUNDS = 20, LIMIT_S = 20 };
#define SOON_S 6.0

struct shared {
	_Atomic(int) pid[RANKS], held, killed, done, failed;
	char why[200];
};

static struct shared *all;
static pawl_table *table;
static int rank;

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

__attribute__((format(printf, 1, 2))) static void wrong(const char *format, ...)
{
	va_list args;

	if (atomic_exchange(&all->failed, 1))
		return;
	va_start(args, format);
	vsnprintf(all->why, sizeof all->why, format, args);
	va_end(args);
}

static void await(_Atomic(int) *flag, int value)
{
	while (atomic_load(flag) < value)
		snooze(0.001);
}

/* An acquire of a lock that the dead rank has to do with. */
static void expect_death(int lock)
{
	int rc = pawl_lock_acquire(table, (uint64_t)lock, PAWL_EXCLUSIVE);

	if (rc != PAWL_ERR_PEER)
		wrong("rank %d, lock %d: %s instead of %s", rank, lock, pawl_strerror(rc),
		      pawl_strerror(PAWL_ERR_PEER));
	else if (!atomic_load(&all->killed))
		wrong("rank %d, lock %d: an error before anybody died", rank, lock);
	else if (!strstr(pawl_error_message(), "died"))
		wrong("rank %d: the message is %s", rank, pawl_error_message());
}

static void expect_life(int lock)
{
	for (int i = 0; i < ROUNDS; i++) {
		int rc = pawl_lock_acquire(table, (uint64_t)lock, PAWL_EXCLUSIVE);

		if (rc == PAWL_SUCCESS)
			rc = pawl_lock_release(table, (uint64_t)lock);
		if (rc != PAWL_SUCCESS)
			wrong("rank %d, lock %d, round %d: %s", rank, lock, i, pawl_strerror(rc));
	}
}

static void hold(void)
{
	int rc = pawl_lock_acquire(table, 0, PAWL_EXCLUSIVE);

	if (rc != PAWL_SUCCESS)
		wrong("rank 3: %s", pawl_strerror(rc));
	atomic_store(&all->held, 1);
	for (;;)
		pause();
}

static void kill_it(void)
{
	snooze(0.5); /* the others are in the queue */
	atomic_store(&all->killed, 1);
	kill(atomic_load(&all->pid[3]), SIGKILL);
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
		snooze(0.1 * rank);
	began = now();
	expect_death(rank == 0 ? 3 : 0);
	if (now() - began > SOON_S)
		wrong("rank %d waited %.1f s for the error", rank, now() - began);
	expect_life(1);
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
	MPI_Win win;
	MPI_Aint size;
	int unit, n;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	if (n != RANKS) {
		fprintf(stderr, "peer_death: needs %d ranks\n", RANKS);
		_exit(2);
	}
	MPI_Win_allocate_shared(rank == 0 ? sizeof *all : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &all,
				&win);
	MPI_Win_shared_query(win, 0, &size, &unit, &all);
	if (rank == 0)
		memset(all, 0, sizeof *all);
	MPI_Barrier(MPI_COMM_WORLD);
	atomic_store(&all->pid[rank], (int)getpid());
	MPI_Info_create(&info);
	MPI_Info_set(info, "pawl_transport", "ucx");
	MPI_Info_set(info, "pawl_topology", "node:2 core:2");
	if (pawl_table_create(MPI_COMM_WORLD, kind, RANKS, info, &table) != PAWL_SUCCESS) {
		fprintf(stderr, "peer_death: %s\n", pawl_error_message());
		_exit(1);
	}
	MPI_Info_free(&info);
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	double end;
	FILE *out;

	if (argc != 3) {
		fprintf(stderr, "usage: peer_death KIND FILE\n");
		return 2;
	}
	MPI_Init(&argc, &argv);
	start(argv[1]);
	signal(SIGALRM, hung);
	alarm(rank == 0 ? LIMIT_S + 2 : LIMIT_S);
	play();
	atomic_fetch_add(&all->done, 1);
	end = now() + LIMIT_S;
	/* Who is done is a home to others. */
	while (atomic_load(&all->done) < RANKS - 1 && now() < end)
		snooze(0.001);
	if (rank != 0)
		_exit(0);
	if (atomic_load(&all->done) < RANKS - 1)
		wrong("%d ranks hang", RANKS - 1 - atomic_load(&all->done));
	out = fopen(argv[2], "w");
	if (!out)
		_exit(2);
	if (atomic_load(&all->failed))
		fprintf(out, "not ok 1 - %s # %s\n", argv[1], all->why);
	else
		fprintf(out, "ok 1 - %s\n", argv[1]);
	fclose(out);
	_exit(0);
}
