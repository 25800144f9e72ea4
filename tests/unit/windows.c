/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of windows of the layer under MPI_Win_lock: a window in it is found, also while other
 * windows are added, removed, and freed, and their memory is reused. Prints TAP. No
 * MPI is started.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../../src/dropin/windows.c"
#include "unit.h"

enum { ROUNDS = 4000000, MANY = 500 };

static MPI_Win handle(uintptr_t n)
{
#ifdef OPEN_MPI
	return (MPI_Win)(n * 16);
#else
	return (MPI_Win)n;
#endif
}

static void come_and_go(void)
{
	static struct window w[MANY];
	bool found = true, gone = true;

	for (int i = 0; i < MANY; i++) {
		w[i].win = handle((uintptr_t)i + 1000);
		found = windows_add(&w[i]) && found;
	}
	for (int i = 0; i < MANY; i += 2)
		windows_remove(&w[i]);
	for (int i = 0; i < MANY; i++) {
		found = found && (i % 2 == 0 || windows_find(w[i].win) == &w[i]);
		gone = gone && (i % 2 != 0 || !windows_find(w[i].win));
	}
	ok(found, "windows that were added are found");
	ok(gone, "those that were removed are not");
	for (int i = 1; i < MANY; i += 2)
		windows_remove(&w[i]);
	windows_add(&w[0]);
	ok(windows_find(w[0].win) == &w[0], "a handle may come again");
	windows_remove(&w[0]);
}

/* A precedes B in the table: A is removed, and its memory is reused for data that has B's
 * handle in it, while a thread looks B up. */
static struct window a, b;
static _Atomic(bool) over;
static long mistakes;

static void *look_up(void *arg)
{
	MPI_Win wanted = *(MPI_Win *)arg;

	while (!atomic_load_explicit(&over, memory_order_relaxed)) {
		struct window *w = windows_find(wanted);

		mistakes += w && w != &b;
	}
	return NULL;
}

/* Handles that begin at the same entry. */
static void choose(MPI_Win *first, MPI_Win *second)
{
	uintptr_t n = 2;

	*first = handle(1);
	while ((place(handle(n)) ^ place(*first)) & 0xffff)
		n++;
	*second = handle(n);
}

static void others_are_freed(void)
{
	MPI_Win of_a, of_b;
	pthread_t reader;

	choose(&of_a, &of_b);
	b.win = of_b;
	if (pthread_create(&reader, NULL, look_up, &of_b) != 0) {
		ok(false, "a thread");
		return;
	}
	for (int i = 0; i < ROUNDS; i++) {
		a.win = of_a;
		windows_add(&a);
		windows_add(&b);
		windows_remove(&a);
		a.win = of_b;
		windows_remove(&b);
	}
	atomic_store(&over, true);
	pthread_join(reader, NULL);
	ok(mistakes == 0, "a window is not taken for another one that was freed");
}

int main(void)
{
	come_and_go();
	others_are_freed();
	return unit_end();
}
