/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that initialise the MPI with different thread levels, which MPI allows, and that
 * create, lock and free windows together. Rank 0 has MPI_THREAD_MULTIPLE, the others
 * MPI_THREAD_SINGLE; TEST_BREAK=1 as in area.h.
 */
#include "tests/dropin/area.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOWS = 20 /* more windows than a new pool of locks serves */ };

/* The rank, from variables of launchers, before MPI_Init; without them all have the same level. */
static bool is_first(void)
{
	static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const char *rank = getenv(names[i]);

		if (rank)
			return strcmp(rank, "0") == 0;
	}
	return true;
}

static int64_t use(struct area *a)
{
	int64_t done = 0;

	for (struct turns t = turns(20); turn(&t); done++) {
		area_lock(a, MPI_LOCK_EXCLUSIVE, 0);
		area_add_plainly(a, 0, 0, 1);
		MPI_Win_unlock(0, a->win);
	}
	return done;
}

int main(int argc, char **argv)
{
	static struct area areas[WINDOWS];
	int levels[2];
	int64_t done;

	tap_start(&argc, &argv, is_first() ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
	levels[0] = tap_thread_level;
	levels[1] = -tap_thread_level;
	MPI_Allreduce(MPI_IN_PLACE, levels, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	if (levels[0] == -levels[1])
		note("all ranks have thread level %d", levels[0]);
	for (int i = 0; i < WINDOWS; i++) {
		now_doing("window %d", i);
		area_open(&areas[i], AREA_ALLOCATE, MPI_COMM_WORLD, 1, MPI_INFO_NULL);
	}
	now_doing("exclusive locks");
	done = use(&areas[WINDOWS - 1]);
	area_expect(&areas[WINDOWS - 1], done, area_sum(&areas[WINDOWS - 1], 0), "increments");
	for (int i = 0; i < WINDOWS; i++)
		area_close(&areas[i]);
	result("%d windows of ranks with different thread levels", WINDOWS);
	return tap_end();
}
