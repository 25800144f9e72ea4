/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Byte-range locks of windows (info key pawl_ranges): a table with one space for each rank of the
 * window. The units of a space are the bytes of the rank's window memory. The table belongs to the
 * window, because its size depends on the window's.
 *
 * A range is locked within an epoch at its target (epochs.c): the program's, or one that the layer
 * opens. Order: first the epoch, with the target's lock, then the range. At the unlock, first the
 * operations at the target are completed, then the range is unlocked, then the epoch ends. So a
 * process that waits for a target or a window holds nothing that a range waits for, unless it holds
 * a range of another target. So a program that locks ranges of several targets at a time locks all
 * those of one target before those of the next, in one order of targets, or within
 * MPI_Win_lock_all.
 *
 * Ranges belong to the process, like locks of windows: any thread may unlock them.
 */
#include <pawl-mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/info.h"
#include "dropin/dropin.h"
#include "observe/observe.h"

static const char default_kind[] = "citron";

/* The default for how many ranges a process may hold or await in a window; fewer if there are many
 * ranks, because kinds of lock limit their clients. */
enum { MOST_HELD = 64, FEW_HELD = 16, MANY_RANKS = 4096 };
/* The default for how many bytes of a rank have a tree, at most. Its memory is allocated when it is
 * touched, but reserved before. */
#define MOST_UNITS (INT64_C(1) << 28)

struct held_range {
	int rank;
	bool own; /* in an epoch that the layer opened */
	MPI_Aint first, last;
	pawl_range range;
};

struct ranges {
	pawl_table *table;
	pthread_mutex_t mutex; /* for the members below */
	int n;
	struct held_range held[]; /* [option max_held] */
};

/* ------------------------------------------------------------------ the table */

/* The kind must not need a thread. */
static bool is_usable(const struct pawl_kind *k)
{
	return (k->capabilities & PAWL_CAP_RANGES) && !(k->capabilities & PAWL_CAP_THREADS);
}

bool ranges_kind(const char *value, const char **kind, char *why, size_t len)
{
	const struct pawl_kind *k;
	size_t used;

	*kind = NULL;
	if (strcmp(value, "0") == 0)
		return true;
	k = pawl_kind_find(strcmp(value, "1") == 0 ? default_kind : value);
	if (k && is_usable(k)) {
		*kind = k->name;
		return true;
	}
	used = (size_t)snprintf(why, len,
				"info key pawl_ranges: \"%s\" is no lock of ranges; accepted: 0,"
				" 1 (%s)",
				value, default_kind);
	for (int i = 0; (k = pawl_kind_get(i)) && used < len; i++)
		if (is_usable(k))
			used += (size_t)snprintf(why + used, len - used, ", %s", k->name);
	return false;
}

static void set_default(MPI_Info info, const char *key, int64_t value)
{
	char text[24];

	if (info_has(info, key))
		return;
	snprintf(text, sizeof text, "%lld", (long long)value);
	PMPI_Info_set(info, key, text);
}

/* Bytes of the rank that has most; 0 for dynamic windows. */
static int64_t most_bytes(const struct window *w, MPI_Comm comm)
{
	const MPI_Aint *size = window_attribute(w->win, MPI_WIN_SIZE);
	int64_t bytes = size ? (int64_t)*size : 0;

	PMPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT64_T, MPI_MAX, comm);
	return bytes;
}

static void choose_options(const struct window *w, MPI_Comm comm, const char *kind, MPI_Info info)
{
	int64_t bytes = most_bytes(w, comm);

	set_default(info, "pawl_max_held", w->size > MANY_RANKS ? FEW_HELD : MOST_HELD);
	if (options_has(kind, "units"))
		set_default(info, "pawl_units",
			    bytes < 1            ? 1
			    : bytes < MOST_UNITS ? bytes
						 : MOST_UNITS);
	/* No lease: programs hold locks of windows for any time. */
	if (options_has(kind, "lease"))
		set_default(info, "pawl_lease", 0);
	PMPI_Info_set(info, "pawl_distribution", "block");
	PMPI_Info_set(info, "pawl_owner", "process");
	dropin_fix_options(info, comm);
}

static struct ranges *ranges_new(struct window *w, pawl_table *table)
{
	struct pawl_table_info info;
	struct ranges *r;

	pawl_table_get_info(table, &info);
	r = calloc(1, sizeof *r + (size_t)info.max_held * sizeof r->held[0]);
	w->epoch_users = calloc((size_t)w->size, sizeof *w->epoch_users);
	if (!r || !w->epoch_users) {
		free(r);
		free(w->epoch_users);
		w->epoch_users = NULL;
		return NULL;
	}
	r->table = table;
	pthread_mutex_init(&r->mutex, NULL);
	return r;
}

int ranges_open(struct window *w, MPI_Comm comm, const char *kind, MPI_Info options)
{
	pawl_table *table;
	int rc, ok;

	choose_options(w, comm, kind, options);
	rc = pawl_table_create(comm, kind, (uint64_t)w->size, options, &table);
	if (rc != PAWL_SUCCESS)
		return rc;
	pawl_private_adopt(table);
	w->ranges = ranges_new(w, table);
	ok = w->ranges != NULL;
	/* If one rank is out of memory, all fail. */
	PMPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_MIN, comm);
	if (ok)
		return PAWL_SUCCESS;
	if (w->ranges)
		ranges_close(w);
	else
		pawl_table_free(&table);
	return RANGES_NOMEM;
}

void ranges_close(struct window *w)
{
	struct ranges *r = w->ranges;

	if (!r)
		return;
	pawl_table_free(&r->table);
	pthread_mutex_destroy(&r->mutex);
	free(w->epoch_users);
	free(r);
	w->ranges = NULL;
	w->epoch_users = NULL;
}

pawl_table *ranges_table(const struct window *w)
{
	return w->ranges ? w->ranges->table : NULL;
}

/* ---------------------------------------------------------------- what is held */

int ranges_held(const struct window *w, int rank)
{
	struct ranges *r = w->ranges;
	int n = 0;

	if (!r)
		return 0;
	pthread_mutex_lock(&r->mutex);
	for (int i = 0; i < r->n; i++)
		n += rank < 0 || r->held[i].rank == rank;
	pthread_mutex_unlock(&r->mutex);
	return n;
}

/* There is room: the table grants no more ranges, and a range is removed here before its
 * release. */
static void note(struct ranges *r, const struct held_range *held)
{
	pthread_mutex_lock(&r->mutex);
	r->held[r->n++] = *held;
	pthread_mutex_unlock(&r->mutex);
}

/* Remove a range with these bounds from the list. */
static bool take(struct ranges *r, int rank, MPI_Aint first, MPI_Aint last, struct held_range *held)
{
	bool found = false;

	pthread_mutex_lock(&r->mutex);
	for (int i = 0; i < r->n && !found; i++) {
		*held = r->held[i];
		found = held->rank == rank && held->first == first && held->last == last;
		if (found)
			r->held[i] = r->held[--r->n];
	}
	pthread_mutex_unlock(&r->mutex);
	return found;
}

/* ------------------------------------------------------------------- the calls */

/* The window, if it has ranges and this rank; else NULL, and the error has been raised. */
static struct window *find(MPI_Win win, int rank, const char *call, int *rc)
{
	struct window *w = windows_find(win);

	if (!w || !w->ranges) {
		*rc = dropin_raise(win, MPI_ERR_UNSUPPORTED_OPERATION,
				   "%s: the window has no byte ranges: it was not made with info"
				   " key pawl_ranges=1, or it keeps the locks of the MPI",
				   call);
		return NULL;
	}
	if (rank < 0 || rank >= w->size) {
		*rc = dropin_raise(win, MPI_ERR_RANK, "%s: rank %d is not in 0 to %d", call, rank,
				   w->size - 1);
		return NULL;
	}
	return w;
}

static int class_of(int code)
{
	switch (code) {
	case PAWL_ERR_UNSUPPORTED:
		return MPI_ERR_UNSUPPORTED_OPERATION;
	case PAWL_ERR_ARG:
	case PAWL_ERR_RANGE:
		return MPI_ERR_ARG;
	case PAWL_ERR_HELD:
		return MPI_ERR_RMA_SYNC;
	default:
		return MPI_ERR_OTHER;
	}
}

/* To observers the locks of a call come from the program's line, not from this layer's. */
static void set_site(const struct window *w, const void *site)
{
	if (w->observed)
		pawl_private_set_site(site);
}

static int acquire(const struct window *w, struct held_range *h, int mode)
{
	int rc = pawl_range_acquire(w->ranges->table, (uint64_t)h->rank, h->first, h->last, mode,
				    &h->range);

	/* Only with info key pawl_lease; no call of the layer would say so. */
	return rc == PAWL_RECOVERED ? PAWL_SUCCESS : rc;
}

static int lock_range(struct window *w, struct held_range *held, int mode)
{
	uint64_t begin = report_clock(w);
	int rc = epochs_enter(w, held->rank, &held->own);

	if (rc != MPI_SUCCESS)
		return rc;
	rc = acquire(w, held, mode);
	if (rc != PAWL_SUCCESS) {
		epochs_complete(w, held->rank, held->own);
		epochs_leave(w, held->rank, held->own);
		return dropin_raise(w->win, class_of(rc),
				    "pawl_win_lock_range of bytes %lld to %lld of target %d: %s",
				    (long long)held->first, (long long)held->last, held->rank,
				    pawl_error_message());
	}
	note(w->ranges, held);
	if (begin)
		report_wait(w, CALL_RANGE, begin);
	dropin_order_memory(w);
	return MPI_SUCCESS;
}

static int unlock_range(struct window *w, struct held_range *held)
{
	int rc = epochs_complete(w, held->rank, held->own);
	int ours = pawl_range_release(w->ranges->table, &held->range);
	int epoch = epochs_leave(w, held->rank, held->own);

	if (ours != PAWL_SUCCESS || epoch != PAWL_SUCCESS)
		return dropin_raise(w->win, MPI_ERR_OTHER, "pawl_win_unlock_range of target %d: %s",
				    held->rank, pawl_error_message());
	return rc;
}

int pawl_win_lock_range(MPI_Win win, int rank, MPI_Aint first, MPI_Aint last, int mode)
{
	struct held_range held = {.rank = rank, .first = first, .last = last};
	int rc = MPI_SUCCESS;
	struct window *w = find(win, rank, "pawl_win_lock_range", &rc);

	if (!w)
		return rc;
	set_site(w, __builtin_return_address(0));
	rc = lock_range(w, &held, mode);
	set_site(w, NULL);
	return rc;
}

int pawl_win_unlock_range(MPI_Win win, int rank, MPI_Aint first, MPI_Aint last)
{
	struct held_range held;
	int rc = MPI_SUCCESS;
	struct window *w = find(win, rank, "pawl_win_unlock_range", &rc);

	if (!w)
		return rc;
	if (!take(w->ranges, rank, first, last, &held))
		return dropin_raise(
		    win, MPI_ERR_RMA_SYNC,
		    "pawl_win_unlock_range of bytes %lld to %lld of target %d, which"
		    " are not locked with these bounds",
		    (long long)first, (long long)last, rank);
	set_site(w, __builtin_return_address(0));
	rc = unlock_range(w, &held);
	set_site(w, NULL);
	return rc;
}
