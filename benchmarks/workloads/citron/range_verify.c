/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The check that ranges exclude others. Each of the first units has a word at rank 0, which names
 * the holder: 0, or a rank. An exclusive holder finds zeros in its range, writes its rank to all of
 * it, waits for a while, finds its rank everywhere, and writes zeros; a sharing holder finds zeros
 * twice. On one node the words are shared memory, changed by plain loads and stores; over several
 * nodes they lie in a window, and are got and put. Nothing is atomic.
 *
 * The logarithm of lengths and the borders are drawn uniformly, so that small and large ranges
 * meet everywhere.
 */
#include <string.h>

#include "ranges.h"

enum { UNITS = 2048, MOST_SPACES = 16, LONGEST_LOG2 = 9 };

static struct {
	bool is_there, is_mapped;
	MPI_Win win;
	int64_t *mine;
	volatile int64_t *word; /* of rank 0, if mapped */
} board;

/* The same on all ranks; rank 0 has the words. */
static void create(const struct team *team)
{
	MPI_Aint size = team->rank == 0 ? UNITS * MOST_SPACES * (MPI_Aint)sizeof(int64_t) : 0;
	void *first = NULL;
	int unit;

	board.is_mapped = team->nodes == 1;
	if (board.is_mapped) {
		MPI_Win_allocate_shared(size, sizeof(int64_t), MPI_INFO_NULL, team->comm,
					(void *)&board.mine, &board.win);
		MPI_Win_shared_query(board.win, 0, &size, &unit, (void *)&first);
		board.word = first;
	} else {
		MPI_Win_allocate(size, sizeof(int64_t), MPI_INFO_NULL, team->comm,
				 (void *)&board.mine, &board.win);
	}
	MPI_Win_lock_all(MPI_MODE_NOCHECK, board.win);
	board.is_there = true;
}

void range_verify_end(void)
{
	if (!board.is_there)
		return;
	MPI_Win_unlock_all(board.win);
	MPI_Win_free(&board.win);
	board.is_there = false;
}

static void clear(const struct team *team)
{
	if (team->rank == 0)
		memset(board.mine, 0, sizeof(int64_t) * UNITS * MOST_SPACES);
	MPI_Win_sync(board.win);
	team_wait(team, true);
}

/* ----------------------------------------------------------------------- the words */

static void look(MPI_Aint at, int n, int64_t *words)
{
	for (int i = 0; board.is_mapped && i < n; i++)
		words[i] = board.word[at + i];
	if (board.is_mapped)
		return;
	MPI_Get(words, n, MPI_INT64_T, 0, at, n, MPI_INT64_T, board.win);
	/* Orders the get before the use of its result. */
	MPI_Win_flush(0, board.win);
}

static void mark(MPI_Aint at, int n, int64_t value)
{
	int64_t words[1 << LONGEST_LOG2];

	for (int i = 0; board.is_mapped && i < n; i++)
		board.word[at + i] = value;
	if (board.is_mapped)
		return;
	for (int i = 0; i < n; i++)
		words[i] = value;
	MPI_Put(words, n, MPI_INT64_T, 0, at, n, MPI_INT64_T, board.win);
	/* Orders the put before the release; pairs with the next holder's acquire, then its get. */
	MPI_Win_flush(0, board.win);
}

static bool all_are(MPI_Aint at, int n, int64_t value)
{
	int64_t words[1 << LONGEST_LOG2];
	bool same = true;

	look(at, n, words);
	for (int i = 0; i < n; i++)
		same = same && words[i] == value;
	return same;
}

/* ------------------------------------------------------------------------- the loop */

static struct span draw(struct trial *t)
{
	const uint64_t units = t->set->space, room = units < UNITS ? units : UNITS;
	uint64_t x = random_next(&t->random), most = UINT64_C(1) << (x >> 60) % (LONGEST_LOG2 + 1);
	uint64_t n = 1 + (x >> 20 & 0xffff) % most;

	n = n < room ? n : room;
	x = random_next(&t->random) % (room - n + 1);
	return (struct span){(int64_t)x, (int64_t)(x + n - 1)};
}

/* The number of violations. */
static uint64_t check_once(struct trial *t, MPI_Aint at, int n, int mode)
{
	const int64_t me = t->team->rank + 1;
	uint64_t wrong = !all_are(at, n, 0);

	if (mode == PAWL_SHARED) {
		verify_linger(t);
		return wrong + !all_are(at, n, 0);
	}
	mark(at, n, me);
	verify_linger(t);
	wrong += !all_are(at, n, me);
	mark(at, n, 0);
	return wrong;
}

static void step(struct trial *t)
{
	const struct span s = draw(t);
	const struct pick p = trial_pick(t);
	const uint64_t space = p.lock % MOST_SPACES;
	pawl_range held;
	uint64_t wrong;

	watchdog_at("in acquire");
	range_lock(t, space, s, p.mode, &held);
	watchdog_at("in the critical section");
	wrong =
	    check_once(t, (MPI_Aint)space * UNITS + s.first, (int)(s.last - s.first + 1), p.mode);
	watchdog_at("in release");
	/* What a sharing holder saw does not count if its release says that it lost the range. */
	if (range_unlock(t, &held) == PAWL_SUCCESS || p.mode != PAWL_SHARED)
		t->violations += wrong;
}

void range_verify_run(struct trial *t)
{
	const uint64_t end = (uint64_t)(t->set->verify * 1e9 * ticks_per_ns);
	uint64_t start;

	if (!board.is_there)
		create(t->team);
	clear(t->team);
	start = ticks();
	while (ticks() - start < end)
		step(t);
	watchdog_at("waiting for the other ranks");
	team_wait(t->team, true);
}
