/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The graph of waits. A client that awaits a lock waits for the clients that hold it: those whose
 * mode excludes its own. If there is none, it is behind another waiter in a queue, which waits for
 * a holder, so it waits for all holders. A holder waits if its thread awaits something. As a client
 * needs each of the holders to release, every cycle of this graph is a deadlock.
 *
 * A lock that any thread of its process may release (option owner=process) is part of a cycle with
 * a condition: another thread may release it. That is unlikely if the thread that has acquired it
 * waits, and it is not known if another thread of the process does.
 */
#include "observe/watchdog/waits.h"

#include <pawl.h>
#include <stdio.h>
#include <stdlib.h>

bool waits_add(struct waits *w, const struct waits_entry *e)
{
	if (w->n == w->room) {
		size_t room = w->room ? 2 * w->room : 64;
		struct waits_entry *more = realloc(w->entry, room * sizeof *more);

		if (!more)
			return false;
		w->entry = more;
		w->room = room;
	}
	w->entry[w->n++] = *e;
	return true;
}

void waits_free(struct waits *w)
{
	free(w->entry);
	*w = (struct waits){.n = 0};
}

/* ---------------------------------------------------------------------- edges */

static bool excludes(int a, int b)
{
	const int intents = PAWL_INTENT | PAWL_INTENT_SHARED;

	a &= ~PAWL_AHEAD;
	b &= ~PAWL_AHEAD;
	if (a == PAWL_EXCLUSIVE || b == PAWL_EXCLUSIVE)
		return true;
	if (a == PAWL_SHARED || b == PAWL_SHARED)
		return a == PAWL_INTENT || b == PAWL_INTENT;
	return !(a & intents) || !(b & intents);
}

static bool is_held_by(const struct waits_entry *a, const struct waits_entry *h)
{
	return h->state == WAITS_HOLDS && h->table->id == a->table->id && h->lock == a->lock;
}

static bool meets(const struct waits_entry *a, const struct waits_entry *h)
{
	return is_held_by(a, h) && excludes(a->mode, h->mode) &&
	       (!a->table->ranges || (a->first <= h->last && h->first <= a->last));
}

bool waits_is_blocked(const struct waits *w, const struct waits_entry *a,
		      const struct waits_entry *h)
{
	if (meets(a, h))
		return true;
	if (!is_held_by(a, h))
		return false;
	for (size_t i = 0; i < w->n; i++)
		if (meets(a, &w->entry[i]))
			return false;
	return true;
}

static bool is_same_client(const struct waits_entry *a, const struct waits_entry *h,
			   bool by_process)
{
	return a->process->id == h->process->id &&
	       (a->thread == h->thread || (by_process && h->any_thread));
}

/* ---------------------------------------------------------------------- search */

struct search {
	const struct waits *w;
	bool by_process;
	unsigned char *seen; /* by entry: not yet, on the path, done */
	size_t *path;        /* entries that await, and holders between them */
	size_t n;
};

enum { NEW, ON_PATH, DONE };

/* Turn the path so that the cycle, which begins at index `at`, comes first. */
static void keep_cycle(struct search *s, size_t at)
{
	for (size_t i = at; i < s->n; i++)
		s->path[i - at] = s->path[i];
	s->n -= at;
}

/* Depth first. True: s->path is a cycle. */
static bool visit(struct search *s, size_t a)
{
	const struct waits_entry *e = s->w->entry;
	size_t depth = s->n;

	if (depth == 2 * (size_t)WAITS_CYCLE)
		return false;
	s->seen[a] = ON_PATH;
	for (size_t h = 0; h < s->w->n; h++) {
		if (e[h].state != WAITS_HOLDS || !waits_is_blocked(s->w, &e[a], &e[h]))
			continue;
		for (size_t b = 0; b < s->w->n; b++) {
			if (e[b].state != WAITS_AWAITS ||
			    !is_same_client(&e[b], &e[h], s->by_process))
				continue;
			s->path[depth] = a;
			s->path[depth + 1] = h;
			s->n = depth + 2;
			if (s->seen[b] == ON_PATH) {
				size_t at = 0;

				while (s->path[at] != b)
					at += 2;
				keep_cycle(s, at);
				return true;
			}
			if (s->seen[b] == NEW && visit(s, b))
				return true;
		}
	}
	s->seen[a] = DONE;
	s->n = depth;
	return false;
}

size_t waits_find_cycle(const struct waits *w, size_t from, bool by_process,
			size_t path[2 * WAITS_CYCLE])
{
	struct search s = {
	    .w = w, .by_process = by_process, .seen = calloc(w->n ? w->n : 1, 1), .path = path};
	bool found;

	if (!s.seen)
		return 0;
	found = visit(&s, from);
	free(s.seen);
	return found ? s.n : 0;
}

static bool is_same(const struct waits_entry *a, const struct waits_entry *b)
{
	return a->process->id == b->process->id && a->table->id == b->table->id &&
	       a->version == b->version && a->state == b->state && a->lock == b->lock &&
	       a->mode == b->mode && a->thread == b->thread && a->first == b->first &&
	       a->last == b->last;
}

bool waits_contain(const struct waits *later, const struct waits *w, const size_t *path, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t j = 0;

		while (j < later->n && !is_same(&later->entry[j], &w->entry[path[i]]))
			j++;
		if (j == later->n)
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------------ texts */

const char *waits_mode(int mode)
{
	if (mode == PAWL_SHARED)
		return "shared";
	return mode & (PAWL_INTENT | PAWL_INTENT_SHARED) ? "with intent" : "exclusively";
}

size_t waits_name(const struct waits_entry *e, char *text, size_t len)
{
	const struct waits_table *t = e->table;
	unsigned long long lock = e->lock, number = t->number;
	int n;

	if (t->ranges)
		n = snprintf(text, len, "units %lld to %lld of space %llu of table %llu (%s)",
			     (long long)e->first, (long long)e->last, lock, number, t->about);
	else
		n = snprintf(text, len, "lock %llu of table %llu (%s)", lock, number, t->about);
	return (size_t)n < len ? (size_t)n : len - 1;
}

size_t waits_name_process(const struct waits_process *p, char *text, size_t len)
{
	int n = snprintf(text, len, "rank %d on host %s", p->rank, p->host);

	return (size_t)n < len ? (size_t)n : len - 1;
}

const char *waits_title(const struct waits *w, const size_t *path, size_t n)
{
	for (size_t i = 1; i < n; i += 2)
		if (w->entry[path[i]].any_thread)
			return "deadlock, unless another thread of these processes releases its"
			       " lock";
	return "deadlock";
}

static size_t append(char *text, size_t len, size_t used, const char *more)
{
	int n = snprintf(text + used, len - used, "%s", more);

	return used + (size_t)n < len ? used + (size_t)n : len - 1;
}

size_t waits_tell_cycle(const struct waits *w, const size_t *path, size_t n, char *text, size_t len)
{
	size_t used = 0;

	for (size_t i = 0; i < n && used + 1 < len; i += 2) {
		const struct waits_entry *a = &w->entry[path[i]], *h = &w->entry[path[i + 1]];

		if (i > 0)
			used = append(text, len, used, "; ");
		used += waits_name_process(a->process, text + used, len - used);
		used = append(text, len, used, " awaits ");
		used += waits_name(a, text + used, len - used);
		used = append(text, len, used, ", which ");
		used += waits_name_process(h->process, text + used, len - used);
		used = append(text, len, used, " holds");
	}
	return used;
}
