/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library that cleans up in MPI_Finalize: it sets an attribute of MPI_COMM_SELF before it creates
 * its window, and in the attribute's delete function it unlocks the window, locks it again, and
 * frees it. There are two such libraries; in the second one, every other rank sets the attribute
 * after the window is created.
 *
 * The results come from within MPI_Finalize, so this program prints TAP itself.
 */
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/tap.h"

struct library {
	const char *name;
	MPI_Win win;
	long *memory;
};

static struct library early = {.name = "an attribute set before the window"};
static struct library mixed = {.name = "attributes set before and after the window"};
static int rank, size;
static bool broken, good = true;

static int mode(void)
{
	return broken ? MPI_MODE_NOCHECK : 0;
}

/* Not atomic, with time for others to come between. */
static void add_one(struct library *l)
{
	long word;

	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, mode(), l->win);
	MPI_Get(&word, 1, MPI_LONG, 0, 0, 1, MPI_LONG, l->win);
	MPI_Win_flush(0, l->win);
	usleep(2000);
	word++;
	MPI_Put(&word, 1, MPI_LONG, 0, 0, 1, MPI_LONG, l->win);
	MPI_Win_unlock(0, l->win);
}

static int end(MPI_Comm comm, int keyval, void *value, void *extra)
{
	struct library *l = value;
	long word = 0;

	(void)comm, (void)keyval, (void)extra;
	MPI_Win_unlock_all(l->win);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < 5; i++)
		add_one(l);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		MPI_Win_lock(MPI_LOCK_SHARED, 0, mode(), l->win);
		MPI_Get(&word, 1, MPI_LONG, 0, 0, 1, MPI_LONG, l->win);
		MPI_Win_unlock(0, l->win);
	}
	MPI_Win_free(&l->win);
	if (rank == 0) {
		bool all = word == 5L * size;

		good = good && all;
		ok(all, "%s: %ld of %ld", l->name, word, 5L * size);
	}
	return MPI_SUCCESS;
}

static void set(struct library *l)
{
	int keyval;

	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end, &keyval, NULL);
	MPI_Comm_set_attr(MPI_COMM_SELF, keyval, l);
}

static void make(struct library *l)
{
	MPI_Win_allocate(2 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &l->memory,
			 &l->win);
	l->memory[0] = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(mode(), l->win);
}

static void on_alarm(int sig)
{
	static const char text[] = "# hung\n";
	ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);

	(void)sig, (void)ignored;
	_exit(1);
}

int main(int argc, char **argv)
{
	const char *text = getenv("TEST_BREAK");

	broken = text && strcmp(text, "1") == 0;
	signal(SIGALRM, on_alarm);
	alarm(50);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	set(&early);
	make(&early);
	if (rank % 2 == 0)
		set(&mixed);
	make(&mixed);
	if (rank % 2 != 0)
		set(&mixed);
	if (rank == 0)
		printf("1..2\n");
	fflush(stdout);
	MPI_Finalize();
	return good ? 0 : 1;
}
