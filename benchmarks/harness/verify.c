/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data that the locks protect, and the check that they do.
 *
 * On one node the data is shared memory, changed by plain loads and stores. Over
 * several nodes it lies in a window, the data of lock l at rank l mod P, and a holder gets, changes
 * and puts it back inside the critical section. Nothing is atomic: if two writers hold the lock
 * together, increments are lost; if a reader and a writer do, the reader sees words that differ or
 * change.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

enum { CELL_WORDS = sizeof(struct cell) / sizeof(int64_t), YIELD_ONCE_IN = 8, SLEEP_ONCE_IN = 64 };

static uint64_t cells_here(const struct trial *t)
{
	uint64_t ranks = (uint64_t)t->team->ranks;

	return t->team->nodes > 1 ? (t->n_cells + ranks - 1) / ranks : t->n_cells;
}

void cells_create(struct trial *t, uint64_t locks)
{
	const struct team *team = t->team;
	MPI_Aint size;
	int unit;

	t->n_cells = locks < MAX_CELLS ? locks : MAX_CELLS;
	size = (MPI_Aint)(cells_here(t) * sizeof(struct cell));
	if (team->nodes == 1) {
		MPI_Win_allocate_shared(team->rank ? 0 : size, 1, MPI_INFO_NULL, team->comm,
					(void *)&t->cells, &t->win);
		MPI_Win_shared_query(t->win, 0, &size, &unit, (void *)&t->cells);
	} else {
		MPI_Alloc_mem(size, MPI_INFO_NULL, (void *)&t->cells);
		MPI_Win_create(t->cells, size, sizeof(int64_t), MPI_INFO_NULL, team->comm, &t->win);
	}
	MPI_Win_lock_all(MPI_MODE_NOCHECK, t->win);
}

void cells_free(struct trial *t)
{
	struct cell *mine = t->team->nodes > 1 ? t->cells : NULL;

	MPI_Win_unlock_all(t->win);
	MPI_Win_free(&t->win);
	if (mine)
		MPI_Free_mem(mine);
}

/* A barrier follows. */
void cells_clear(struct trial *t)
{
	if (t->team->nodes > 1 || t->team->rank == 0)
		memset((void *)t->cells, 0, cells_here(t) * sizeof(struct cell));
	MPI_Win_sync(t->win);
}

/* --------------------------------------------- words over the network */

static void remote(struct trial *t, uint64_t lock, int first, int words, int64_t *buffer, bool put)
{
	uint64_t ranks = (uint64_t)t->team->ranks;
	MPI_Aint at = (MPI_Aint)(lock / ranks * CELL_WORDS) + first;
	int rank = (int)(lock % ranks);

	if (put)
		MPI_Put(buffer, words, MPI_INT64_T, rank, at, words, MPI_INT64_T, t->win);
	else
		MPI_Get(buffer, words, MPI_INT64_T, rank, at, words, MPI_INT64_T, t->win);
	MPI_Win_flush(rank, t->win);
}

enum { COUNTER = 4, TOUCHED = 5 };

void cells_touch(struct trial *t, struct pick p)
{
	int64_t value = t->team->rank;

	if (p.lock >= t->n_cells)
		return;
	if (t->team->nodes > 1)
		remote(t, p.lock, TOUCHED, 1, &value, p.mode == PAWL_EXCLUSIVE);
	else if (p.mode == PAWL_EXCLUSIVE)
		t->cells[p.lock].touched = value;
	else
		(void)t->cells[p.lock].touched;
}

void cells_count(struct trial *t, struct pick p)
{
	int64_t value;

	if (p.lock >= t->n_cells)
		return;
	t->counted += p.mode == PAWL_EXCLUSIVE;
	if (t->team->nodes > 1) {
		remote(t, p.lock, COUNTER, 1, &value, false);
		value++;
		if (p.mode == PAWL_EXCLUSIVE)
			remote(t, p.lock, COUNTER, 1, &value, true);
	} else if (p.mode == PAWL_EXCLUSIVE) {
		t->cells[p.lock].counter = t->cells[p.lock].counter + 1;
	} else {
		(void)t->cells[p.lock].counter;
	}
}

bool cells_turn(struct trial *t, struct pick p)
{
	const int64_t me = t->team->rank + 1; /* a cell that no rank has held has 0 */
	const int ranks = t->team->ranks;
	int64_t before = me;

	if (p.lock >= t->n_cells || p.mode != PAWL_EXCLUSIVE)
		return false;
	if (t->team->nodes > 1) {
		int rank = (int)(p.lock % (uint64_t)ranks);
		MPI_Aint at = (MPI_Aint)(p.lock / (uint64_t)ranks * CELL_WORDS) + TOUCHED;

		MPI_Fetch_and_op(&me, &before, MPI_INT64_T, rank, at, MPI_REPLACE, t->win);
		MPI_Win_flush(rank, t->win);
		return before != me;
	}
	before = t->cells[p.lock].touched;
	if (before != me) /* else the cell stays as it is */
		t->cells[p.lock].touched = me;
	return before != me;
}

/* ------------------------------------------------------------ verification */

static bool differ(const int64_t *w)
{
	return w[0] != w[1] || w[0] != w[2] || w[0] != w[3];
}

static void get_words(struct trial *t, uint64_t lock, int64_t *w)
{
	if (t->team->nodes > 1)
		remote(t, lock, 0, 4, w, false);
	for (int i = 0; t->team->nodes == 1 && i < 4; i++)
		w[i] = t->cells[lock].word[i];
}

static void put_words(struct trial *t, uint64_t lock, int64_t *w)
{
	if (t->team->nodes > 1)
		remote(t, lock, 0, 4, w, true);
	for (int i = 0; t->team->nodes == 1 && i < 4; i++)
		t->cells[lock].word[i] = w[i];
}

/* Now and then prolong a critical section, so that others come in if the lock lets them. */
void verify_linger(struct trial *t)
{
	uint64_t x = random_next(&t->random) >> 32;

	if (x % SLEEP_ONCE_IN == 0)
		nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
	else if (x % YIELD_ONCE_IN == 0)
		sched_yield();
}

/* The number of violations. */
static uint64_t verify_once(struct trial *t, struct pick p)
{
	int64_t w[4], first;
	uint64_t wrong;

	get_words(t, p.lock, w);
	wrong = differ(w);
	first = w[0];
	verify_linger(t);
	if (p.mode == PAWL_EXCLUSIVE) {
		for (int i = 0; i < 4; i++)
			w[i]++;
		put_words(t, p.lock, w);
		t->verified++;
	} else {
		get_words(t, p.lock, w);
		wrong += differ(w) || w[0] != first;
	}
	return wrong;
}

void verify_run(struct trial *t)
{
	const uint64_t end = (uint64_t)(t->set->verify * 1e9 * ticks_per_ns), start = ticks();

	while (ticks() - start < end) {
		struct pick p = trial_pick(t);
		uint64_t wrong;
		int rc;

		p.lock %= t->n_cells;
		watchdog_at("in acquire");
		if (trial_refused(pawl_lock_acquire(t->table, p.lock, p.mode)))
			trial_abort(t, "acquire");
		watchdog_at("in the critical section");
		wrong = verify_once(t, p);
		watchdog_at("in release");
		rc = pawl_lock_release(t->table, p.lock);
		if (has_failed(rc))
			trial_abort(t, "release");
		/* The release told the reader that it had lost the lock: no violation. */
		if (rc == PAWL_SUCCESS || p.mode != PAWL_SHARED)
			t->violations += wrong;
	}
	watchdog_at("waiting for the other ranks");
	team_wait(t->team, true);
}

void cells_sum(struct trial *t, uint64_t *sums)
{
	sums[0] = sums[1] = 0;
	if (t->team->nodes == 1 && t->team->rank != 0)
		return;
	MPI_Win_sync(t->win);
	for (uint64_t i = 0; i < cells_here(t); i++) {
		sums[0] += (uint64_t)t->cells[i].word[0];
		sums[1] += (uint64_t)t->cells[i].counter;
	}
}
