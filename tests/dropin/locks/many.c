/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many windows in MPI_Win_lock_all epochs at the same time, as in PGAS programs.
 * TEST_WINDOWS in the environment is their number (40). All ranks add to words of all windows;
 * then exclusive locks succeed, because every epoch is closed.
 *
 * TEST_MEMORY in the environment is the number of MiB by which a rank's memory may grow when the
 * windows are created.
 */
#include "tests/dropin/area.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct area *areas;
static int windows = 40;

static long number(const char *variable, long otherwise)
{
	const char *text = getenv(variable);

	return text ? atol(text) : otherwise;
}

/* The memory of this process in KiB, from the system. */
static long memory(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kib = -1;

	while (f && fgets(line, sizeof line, f))
		if (strncmp(line, "VmRSS:", 6) == 0)
			kib = atol(line + 6);
	if (f)
		fclose(f);
	return kib;
}

static void open_all(void)
{
	long before = memory(), most = number("TEST_MEMORY", 0), grown;

	for (int i = 0; i < windows; i++) {
		now_doing("window %d", i);
		area_open(&areas[i], AREA_ALLOCATE, MPI_COMM_WORLD, 1, MPI_INFO_NULL);
		MPI_Win_set_errhandler(areas[i].win, MPI_ERRORS_RETURN);
	}
	grown = (memory() - before) / 1024;
	if (most && before > 0)
		expect(grown <= most, "%d windows took %ld MiB of a rank, and not %ld at most",
		       windows, grown, most);
}

static void lock_all(void)
{
	now_doing("lock_all");
	for (int i = 0; i < windows; i++) {
		int rc = MPI_Win_lock_all(0, areas[i].win);

		if (!expect(rc == MPI_SUCCESS, "MPI_Win_lock_all of window %d: error %d", i, rc))
			windows = i; /* the same on all ranks, which must hold equally many */
	}
	meet();
	now_doing("accumulates in all windows");
	for (int i = 0; i < windows; i++)
		area_add_atomically(&areas[i], (tap_rank + i) % tap_size, 0, 1);
	for (int i = 0; i < windows; i++)
		MPI_Win_unlock_all(areas[i].win);
}

static void lock_each(void)
{
	int target = (tap_rank + 1) % tap_size;

	meet();
	now_doing("exclusive locks");
	for (int i = 0; i < windows; i++) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, areas[i].win);
		area_add_plainly(&areas[i], target, 0, 1);
		MPI_Win_unlock(target, areas[i].win);
		area_expect(&areas[i], 2, area_sum(&areas[i], 0), "additions");
	}
}

int main(int argc, char **argv)
{
	int made;

	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	made = windows = (int)number("TEST_WINDOWS", windows);
	areas = calloc((size_t)windows, sizeof *areas);
	if (!areas)
		MPI_Abort(MPI_COMM_WORLD, 1);
	open_all();
	lock_all();
	lock_each();
	for (int i = 0; i < made; i++)
		area_close(&areas[i]);
	free(areas);
	result("%d windows in MPI_Win_lock_all epochs", made);
	return tap_end();
}
