/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How soon all ranks of a job are told that one has died, over transport ucx, on several hosts:
 *
 *   told FILE
 *
 * The last rank has lock 0 and kills itself; all others wait for the lock. The words of a waiter
 * are its own, so few of them are connected to the dead rank. Each gets PAWL_ERR_PEER after it has
 * waited for a second since its node was told. Ranks write lines into FILE.ranks, of which the
 * first rank makes the verdict, in TAP, in FILE. The hosts have one clock and one file system.
 */
#include <fcntl.h>
#include <mpi.h>
#include <pawl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/ranks.h"

enum { BEFORE_S = 2, LIMIT_S = 30, LINE = 64, PATH = 512 };
#define WAITED_S 1.0 /* since it was told */
#define TOLD_S 2.0
/* Descriptors: for telling, three connections, and three that arrive; and two neighbours in the
 * queue, with one in each direction. */
#define MOST_MORE 10

static int rank, ranks;

static int descriptors(void)
{
	return tap_entries("/proc/self/fd") - 1; /* without that by which they are read */
}

static pawl_table *create(void)
{
	pawl_table *t;
	MPI_Info info;

	MPI_Info_create(&info);
	MPI_Info_set(info, "pawl_transport", "ucx");
	if (pawl_table_create(MPI_COMM_WORLD, "d-mcs", 1, info, &t) != PAWL_SUCCESS) {
		fprintf(stderr, "told: %s\n", pawl_error_message());
		_exit(1);
	}
	MPI_Info_free(&info);
	return t;
}

/* The time at which the last rank dies. */
static double agree_on_time(void)
{
	double at = seconds_now() + BEFORE_S;

	MPI_Bcast(&at, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	return at;
}

static void await(double time)
{
	while (seconds_now() < time)
		sleep_for(0.001);
}

static void append(const char *path, int rc, double told, int before)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT, 0600);
	char line[LINE];
	int n =
	    snprintf(line, sizeof line, "%d %d %.3f %d\n", rank, rc, told, descriptors() - before);

	if (fd < 0 || write(fd, line, (size_t)n) != n)
		_exit(2);
	close(fd);
}

struct sum {
	int lines, others, descriptors;
	double last;
};

static struct sum read_lines(const char *path)
{
	struct sum s = {0, 0, 0, 0};
	FILE *in = fopen(path, "r");
	int from, rc, grown;
	double told;

	while (in && fscanf(in, "%d %d %lf %d", &from, &rc, &told, &grown) == 4) {
		s.lines++;
		s.others += rc != PAWL_ERR_PEER;
		s.last = told > s.last ? told : s.last;
		s.descriptors = grown > s.descriptors ? grown : s.descriptors;
	}
	if (in)
		fclose(in);
	return s;
}

static void judge(const char *file, const char *path)
{
	const double end = seconds_now() + LIMIT_S;
	struct sum s;
	char part[PATH + 8];
	FILE *out;

	while ((s = read_lines(path)).lines < ranks - 1 && seconds_now() < end)
		sleep_for(0.02);
	snprintf(part, sizeof part, "%s.part", file);
	out = fopen(part, "w");
	if (!out)
		_exit(2);
	fprintf(out, "%sok 1 - %d ranks are told of a death within %.2f s\n",
		s.lines == ranks - 1 && !s.others && s.last < TOLD_S ? "" : "not ", s.lines,
		s.last);
	fprintf(out, "%sok 2 - and have %d more descriptors at most\n",
		s.descriptors <= MOST_MORE ? "" : "not ", s.descriptors);
	if (s.others)
		fprintf(out, "# %d calls ended in another way\n", s.others);
	fprintf(out, "1..2\n");
	if (fclose(out) != 0 || rename(part, file) != 0)
		_exit(2);
}

int main(int argc, char **argv)
{
	char path[PATH];
	pawl_table *t;
	double death;
	int rc, before;

	if (argc != 2) {
		fprintf(stderr, "usage: told FILE\n");
		return 2;
	}
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	snprintf(path, sizeof path, "%s.ranks", argv[1]);
	t = create();
	/* All connect to the lock's home. */
	rc = pawl_lock_acquire(t, 0, PAWL_EXCLUSIVE);
	if (rc == PAWL_SUCCESS)
		rc = pawl_lock_release(t, 0);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rc == PAWL_SUCCESS && rank == ranks - 1)
		rc = pawl_lock_acquire(t, 0, PAWL_EXCLUSIVE);
	MPI_Barrier(MPI_COMM_WORLD);
	death = agree_on_time();
	if (rank == ranks - 1) {
		await(death);
		raise(rc == PAWL_SUCCESS ? SIGKILL : SIGABRT);
	}
	alarm(LIMIT_S + BEFORE_S);
	/* One after the other: the queue is complete, and connections are up. */
	await(death - BEFORE_S + 0.75 * BEFORE_S * rank / ranks);
	before = descriptors();
	if (rc == PAWL_SUCCESS)
		rc = pawl_lock_acquire(t, 0, PAWL_EXCLUSIVE);
	append(path, rc, seconds_now() - death - WAITED_S, before);
	if (rank == 0)
		judge(argv[1], path);
	else
		while (access(argv[1], F_OK) != 0)
			sleep_for(0.05);
	_exit(0);
}
