/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From an MPI_Win to its struct window: a hash table that every lock reads, and that changes when
 * windows are created and freed.
 *
 * Readers take no lock. A window is in the table as long as its MPI_Win is valid, and a program
 * that uses a handle while it frees it is erroneous anyway. So the only change for a reader's own
 * window is that the table grows. The reader then reads the old table, which has all windows of the
 * time when it was replaced: old tables are kept.
 *
 * On its way a reader passes entries of other windows, which may be freed at any time. So an entry
 * has the handle beside the pointer, and a reader follows the pointer of its own window only. An
 * entry is used once: its handle never changes.
 */
#include <stdlib.h>

#include "dropin/dropin.h"

struct entry {
	MPI_Win win; /* written before window, which publishes it */
	_Atomic(struct window *) window;
};

struct table {
	uint64_t mask; /* entries - 1 */
	struct table *older;
	struct entry entry[];
};

static _Atomic(struct table *) current;
static pthread_mutex_t change = PTHREAD_MUTEX_INITIALIZER;
static uint64_t count;        /* of entries that are not null, removed ones included */
static struct window removed; /* a mark; only its address is used */

static uint64_t place(MPI_Win win)
{
	return ((uint64_t)(uintptr_t)win * UINT64_C(0x9e3779b97f4a7c15)) >> 20;
}

struct window *windows_find(MPI_Win win)
{
	/* Orders the table before its entries; pairs with the release in grow(). */
	struct table *t = atomic_load_explicit(&current, memory_order_acquire);

	if (!t)
		return NULL;
	for (uint64_t i = place(win);; i++) {
		struct entry *e = &t->entry[i & t->mask];
		/* Orders the entry before handle and contents; pairs with the release in put(). */
		struct window *w = atomic_load_explicit(&e->window, memory_order_acquire);

		if (!w || (e->win == win && w != &removed))
			return w;
	}
}

static struct window *look(struct entry *e)
{
	return atomic_load_explicit(&e->window, memory_order_relaxed);
}

static void put(struct table *t, MPI_Win win, struct window *w)
{
	uint64_t i = place(win);

	while (look(&t->entry[i & t->mask]))
		i++;
	t->entry[i & t->mask].win = win;
	/* Orders handle and contents before the entry; pairs with windows_find(). */
	atomic_store_explicit(&t->entry[i & t->mask].window, w, memory_order_release);
}

/* Make room for one more entry in a table that is at most half full. */
static bool grow(void)
{
	struct table *old = atomic_load_explicit(&current, memory_order_relaxed), *t;
	uint64_t entries = 64, live = 0;

	if (old && 2 * (count + 1) <= old->mask + 1)
		return true;
	for (uint64_t i = 0; old && i <= old->mask; i++)
		live += look(&old->entry[i]) && look(&old->entry[i]) != &removed;
	while (entries < 4 * (live + 1))
		entries *= 2;
	t = calloc(1, sizeof *t + entries * sizeof t->entry[0]);
	if (!t)
		return false;
	t->mask = entries - 1;
	t->older = old;
	for (uint64_t i = 0; old && i <= old->mask; i++) {
		struct window *w = look(&old->entry[i]);

		if (w && w != &removed)
			put(t, old->entry[i].win, w);
	}
	count = live;
	atomic_store_explicit(&current, t, memory_order_release);
	return true;
}

bool windows_add(struct window *w)
{
	bool ok;

	pthread_mutex_lock(&change);
	ok = grow();
	if (ok) {
		put(atomic_load_explicit(&current, memory_order_relaxed), w->win, w);
		count++;
	}
	pthread_mutex_unlock(&change);
	return ok;
}

void windows_remove(struct window *w)
{
	struct table *t;

	pthread_mutex_lock(&change);
	t = atomic_load_explicit(&current, memory_order_relaxed);
	for (uint64_t i = place(w->win);; i++) {
		struct entry *e = &t->entry[i & t->mask];
		struct window *found = look(e);

		if (found == w)
			atomic_store_explicit(&e->window, &removed, memory_order_relaxed);
		if (!found || found == w)
			break;
	}
	pthread_mutex_unlock(&change);
}
