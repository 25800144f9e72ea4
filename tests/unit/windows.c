/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of windows of the layer under MPI_Win_lock: a window in it is found, also while other
 * windows are added, removed, and freed, and their memory is reused. Prints TAP. No
 * MPI is started.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../../src/dropin/windows.c"
#include "tests/tap.h"

enum { ROUNDS = 4000000, MANY = 500, FEW = 20, TURNS = 200000 };

static bool threads = true;

bool dropin_has_threads(void)
{
	return threads;
}

static bool add(struct window *w)
{
	bool stale;

	return windows_add(w, &stale) && !stale;
}

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
		found = add(&w[i]) && found;
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
	add(&w[0]);
	ok(windows_find(w[0].win) == &w[0], "a handle may come again");
	windows_remove(&w[0]);
}

/* The handle of a window comes again before the window is removed. */
static void handle_comes_again(bool in_free)
{
	struct window old = {.win = handle(5), .in_free = in_free}, new = {.win = handle(5)};
	bool stale;

	add(&old);
	windows_add(&new, &stale);
	ok(stale == !in_free && windows_find(handle(5)) == &new,
	   in_free ? "a window that another thread is freeing gives way to one with its handle"
		   : "so does one that was not freed through the layer, which is reported");
	windows_remove(&old);
	ok(windows_find(handle(5)) == &new, "the new one stays");
	windows_remove(&new);
}

static uint64_t bytes_kept(void)
{
	uint64_t entries = 0;

	for (struct table *t = current; t; t = t->older)
		entries += t->mask + 1;
	return entries * sizeof(struct entry);
}

/* A few windows at a time, and many in all. */
static void in_turn(void)
{
	static struct window w[FEW];
	bool found = true;

	for (int i = 0; i < TURNS; i++) {
		struct window *one = &w[rand() % FEW];

		if (one->win) {
			found = found && windows_find(one->win) == one;
			windows_remove(one);
			one->win = handle(0);
		} else {
			one->win = handle((uintptr_t)i + 1);
			found = add(one) && found;
		}
	}
	ok(found, "windows that come and go in turn are found");
	for (int i = 0; i < FEW; i++)
		if (w[i].win)
			windows_remove(&w[i]);
	printf("# %llu bytes\n", (unsigned long long)bytes_kept());
}

static void memory(void)
{
	in_turn();
	ok(bytes_kept() < 64 * 1024, "many windows in turn, a few at a time, take little memory");
	threads = false;
	for (uint64_t i = current->mask; i > 0; i--) {
		struct window *one = calloc(1, sizeof *one);

		one->win = handle((uintptr_t)i);
		add(one);
	}
	ok(!current->older, "without threads an old table is freed");
	threads = true;
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
		add(&a);
		add(&b);
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
	handle_comes_again(true);
	handle_comes_again(false);
	memory();
	return tap_plan();
}
