/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that takes functions from the MPI's library itself, by dlsym(), bypassing preloaded
 * libraries. Its argument says which: "all" of those below; "windows", all but MPI_Init; "lock",
 * MPI_Win_lock of exclusive locks; "some", the same every other time. It counts under exclusive
 * locks and prints TAP; errors of windows are returned, and the first one ends it with status 3.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/tap.h"

enum { ROUNDS = 200 };

static __typeof__(&MPI_Init) init = MPI_Init;
static __typeof__(&MPI_Win_allocate) win_allocate = MPI_Win_allocate;
static __typeof__(&MPI_Win_lock) win_lock = MPI_Win_lock;
static __typeof__(&MPI_Win_unlock) win_unlock = MPI_Win_unlock;
static __typeof__(&MPI_Win_free) win_free = MPI_Win_free;

/* The MPI's library, found by a function that no preloaded library defines. */
static void *mpi_library(void)
{
	Dl_info info;
	void *here;

	here = dlsym(RTLD_DEFAULT, "MPI_Get_version");
	return here && dladdr(here, &info) ? dlopen(info.dli_fname, RTLD_NOW | RTLD_LOCAL) : NULL;
}

static void take(void *call, const char *name)
{
	void *library = mpi_library(), *found = library ? dlsym(library, name) : NULL;

	if (!found) {
		printf("Bail out! no %s in the MPI's library\n", name);
		_exit(2);
	}
	memcpy(call, &found, sizeof found);
}

static bool count(MPI_Win win, bool sometimes)
{
	__typeof__(&MPI_Win_lock) direct = win_lock;

	for (int i = 0; i < ROUNDS; i++) {
		long word;

		win_lock = sometimes && i % 2 == 0 ? MPI_Win_lock : direct;
		if (win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win) != MPI_SUCCESS)
			return false;
		MPI_Get(&word, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
		MPI_Win_flush(0, win);
		word++;
		MPI_Put(&word, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
		if (win_unlock(0, win) != MPI_SUCCESS)
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	bool all = strcmp(what, "all") == 0, windows = all || strcmp(what, "windows") == 0;
	long *memory;
	bool good;
	int rank, size;
	MPI_Win win;

	alarm(50);
	if (all)
		take(&init, "MPI_Init");
	if (windows) {
		take(&win_allocate, "MPI_Win_allocate");
		take(&win_unlock, "MPI_Win_unlock");
		take(&win_free, "MPI_Win_free");
	}
	if (what[0])
		take(&win_lock, "MPI_Win_lock");
	init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	win_allocate(2 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	memory[0] = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	if (!count(win, strcmp(what, "some") == 0)) {
		printf("an error, rank %d\n", rank);
		fflush(stdout);
		_exit(3);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	good = rank != 0 || memory[0] == (long)ROUNDS * size;
	tap_silent = rank != 0;
	ok(good, "%ld of %ld", memory[0], (long)ROUNDS * size);
	tap_plan();
	win_free(&win);
	MPI_Finalize();
	return good ? 0 : 1;
}
