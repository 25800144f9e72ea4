/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From an MPI_Win to its struct window: a hash table that every lock reads, and that changes when
 * windows are created and freed.
 *
 * Readers take no lock. A window is in the table as long as its MPI_Win is valid, and a program
 * that uses a handle while it frees it is erroneous anyway. So while a reader looks for its own
 * window, the entry of that window does not change, and neither does an entry become null on the
 * way to it: an entry becomes null only if the next one is.
 *
 * On its way a reader passes entries of other windows, which may be freed, and replaced by others,
 * at any time. So an entry has the handle beside the pointer, and a reader follows the pointer of
 * its own window only. The handle of another window, old or new, is not the reader's: that is in
 * its own entry meanwhile.
 *
 * When the table grows, readers in other threads may still read the old one. Without
 * MPI_THREAD_MULTIPLE there are none, and the old table is freed. Otherwise it is kept; the next
 * one has at least twice as many entries, so all old ones are smaller than the current one.
 */
#include <stdlib.h>

#include "dropin/dropin.h"

struct entry {
	_Atomic(MPI_Win) win; /* written before window, which publishes it */
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

		if (!w ||
		    (atomic_load_explicit(&e->win, memory_order_relaxed) == win && w != &removed))
			return w;
	}
}

/* ------------------------------------------------------- under the mutex change */

static struct window *look(struct entry *e)
{
	return atomic_load_explicit(&e->window, memory_order_relaxed);
}

static bool is_live(struct entry *e)
{
	return look(e) && look(e) != &removed;
}

static void put(struct table *t, MPI_Win win, struct window *w)
{
	uint64_t i = place(win);
	struct entry *e;

	while (is_live(&t->entry[i & t->mask]))
		i++;
	e = &t->entry[i & t->mask];
	count += !look(e);
	atomic_store_explicit(&e->win, win, memory_order_relaxed);
	/* Orders handle and contents before the entry; pairs with windows_find(). */
	atomic_store_explicit(&e->window, w, memory_order_release);
}

static void take(struct table *t, uint64_t i)
{
	struct entry *e = &t->entry[i & t->mask];

	atomic_store_explicit(&e->window, &removed, memory_order_relaxed);
	/* No window is looked for beyond the last entry before one that is null. */
	while (look(e) == &removed && !look(&t->entry[(i + 1) & t->mask])) {
		atomic_store_explicit(&e->window, NULL, memory_order_relaxed);
		count--;
		e = &t->entry[--i & t->mask];
	}
}

/* Make room for one more entry in a table that is at most half full. */
static bool grow(void)
{
	struct table *old = atomic_load_explicit(&current, memory_order_relaxed), *t;
	uint64_t entries = old ? 2 * (old->mask + 1) : 64;

	if (old && 2 * (count + 1) <= old->mask + 1)
		return true;
	t = calloc(1, sizeof *t + entries * sizeof t->entry[0]);
	if (!t)
		return false;
	t->mask = entries - 1;
	count = 0;
	for (uint64_t i = 0; old && i <= old->mask; i++)
		if (is_live(&old->entry[i]))
			put(t, old->entry[i].win, look(&old->entry[i]));
	/* Orders the entries before the table; pairs with windows_find(). */
	atomic_store_explicit(&current, t, memory_order_release);
	if (dropin_has_threads())
		t->older = old;
	else
		free(old);
	return true;
}

/* Remove the window that has this handle, which is not w's any more. */
static bool remove_stale(MPI_Win win)
{
	struct table *t = atomic_load_explicit(&current, memory_order_relaxed);

	for (uint64_t i = place(win); t && look(&t->entry[i & t->mask]); i++) {
		struct entry *e = &t->entry[i & t->mask];
		bool stale;

		if (e->win != win || !is_live(e))
			continue;
		stale = !look(e)->in_free;
		take(t, i);
		return stale;
	}
	return false;
}

bool windows_make_room(void)
{
	bool ok;

	pthread_mutex_lock(&change);
	ok = grow();
	pthread_mutex_unlock(&change);
	return ok;
}

bool windows_add(struct window *w, bool *stale)
{
	bool ok;

	pthread_mutex_lock(&change);
	*stale = remove_stale(w->win);
	ok = grow();
	if (ok)
		put(atomic_load_explicit(&current, memory_order_relaxed), w->win, w);
	pthread_mutex_unlock(&change);
	return ok;
}

void windows_remove(struct window *w)
{
	struct table *t;

	pthread_mutex_lock(&change);
	t = atomic_load_explicit(&current, memory_order_relaxed);
	for (uint64_t i = place(w->win); look(&t->entry[i & t->mask]); i++)
		if (look(&t->entry[i & t->mask]) == w) {
			take(t, i);
			break;
		}
	pthread_mutex_unlock(&change);
}
