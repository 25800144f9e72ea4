/* SPDX-License-Identifier: BSD-3-Clause */
/* See ranges.h. */
#include "ranges.h"

#define SLOW_S 50e-6
enum { WHO_BIT = 40, AT_LEAST = 5 };
#define COUNT_MASK ((INT64_C(1) << WHO_BIT) - 1)

pawl_table *table;
uint64_t spaces, seed;

static MPI_Win win;
static volatile int64_t *shared; /* one host */
static int64_t *mine;            /* several hosts: the words of rank 0 */

static MPI_Aint area_bytes(void)
{
	return tap_rank == 0 ? (MPI_Aint)(spaces * UNITS * sizeof(int64_t)) : 0;
}

static void area_reset(void)
{
	meet();
	for (MPI_Aint i = 0; i < area_bytes() / (MPI_Aint)sizeof(int64_t); i++) {
		if (shared)
			shared[i] = 0;
		else
			mine[i] = 0;
	}
	MPI_Win_sync(win);
	meet();
	MPI_Win_sync(win);
}

void area_start(void)
{
	MPI_Aint bytes = area_bytes();
	void *base;
	int unit;

	if (tap_one_host) {
		MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
		MPI_Win_shared_query(win, 0, &bytes, &unit, &base);
		shared = base;
	} else {
		MPI_Alloc_mem(bytes + 8, MPI_INFO_NULL, &mine);
		MPI_Win_create(mine, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	}
	MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
	area_reset();
}

void area_end(void)
{
	meet();
	MPI_Win_unlock_all(win);
	/* Over several hosts the program ends without MPI_Finalize, so nothing is freed. */
	if (tap_one_host)
		MPI_Win_free(&win);
}

static void load(uint64_t space, int64_t first, int64_t n, int64_t *to)
{
	uint64_t at = space * UNITS + (uint64_t)first;

	if (shared) {
		for (int64_t i = 0; i < n; i++)
			to[i] = shared[at + (uint64_t)i];
		return;
	}
	MPI_Get(to, (int)n, MPI_INT64_T, 0, (MPI_Aint)(at * sizeof *to), (int)n, MPI_INT64_T, win);
	MPI_Win_flush(0, win);
}

static void store(uint64_t space, int64_t first, int64_t n, const int64_t *from)
{
	uint64_t at = space * UNITS + (uint64_t)first;

	if (shared) {
		for (int64_t i = 0; i < n; i++)
			shared[at + (uint64_t)i] = from[i];
		return;
	}
	MPI_Put(from, (int)n, MPI_INT64_T, 0, (MPI_Aint)(at * sizeof *from), (int)n, MPI_INT64_T,
		win);
	MPI_Win_flush(0, win);
}

bool acquire(struct held *h)
{
	int rc;

	if (h->how == TRY)
		rc = pawl_range_try_acquire(table, h->space, h->first, h->last, h->mode, &h->range);
	else if (h->how == TIMED)
		rc = pawl_range_timed_acquire(table, h->space, h->first, h->last, h->mode,
					      random_below(&seed, 200) * 1e-6, &h->range);
	else
		rc = pawl_range_acquire(table, h->space, h->first, h->last, h->mode, &h->range);
	if ((h->how == TRY && rc == PAWL_ERR_BUSY) || (h->how == TIMED && rc == PAWL_ERR_TIMEOUT))
		return false;
	return expect_code(rc, PAWL_SUCCESS, "acquire");
}

void release(const struct held *h)
{
	expect_code(pawl_range_release(table, &h->range), PAWL_SUCCESS, "release");
}

static void expect_same(const struct held *h, const int64_t *wanted, int64_t n)
{
	static int64_t seen[UNITS];

	load(h->space, h->first, n, seen);
	for (int64_t i = 0; i < n; i++)
		if (!expect(seen[i] == wanted[i],
			    "violation at unit %lld of space %llu, held %s: rank %lld changed it",
			    (long long)(h->first + i), (unsigned long long)h->space,
			    h->mode == PAWL_SHARED ? "shared" : "exclusively",
			    (long long)(seen[i] >> WHO_BIT) - 1))
			return;
}

int64_t inside(const struct held *h)
{
	static int64_t words[UNITS];
	int64_t n = (h->last < UNITS ? h->last + 1 : UNITS) - h->first;
	bool slowly = random_below(&seed, 8) == 0;

	if (h->first >= UNITS)
		return 0;
	load(h->space, h->first, n, words);
	for (int64_t i = 0; i < n && h->mode == PAWL_EXCLUSIVE; i++)
		words[i] = ((words[i] & COUNT_MASK) + 1) | (int64_t)(tap_rank + 1) << WHO_BIT;
	if (h->mode == PAWL_EXCLUSIVE)
		store(h->space, h->first, n, words);
	if (slowly)
		linger(SLOW_S);
	expect_same(h, words, n);
	return h->mode == PAWL_EXCLUSIVE ? n : 0;
}

int64_t visit(struct held *h)
{
	int64_t written;

	if (!acquire(h))
		return 0;
	written = inside(h);
	release(h);
	return written;
}

int64_t visits(int least, double seconds, void (*draw)(struct held *h, int round))
{
	double end = seconds_now() + seconds;
	int64_t written = 0;

	for (int round = 0; round < least || seconds_now() < end; round++) {
		struct held h = {.space = 1, .mode = PAWL_EXCLUSIVE};

		draw(&h, round);
		written += visit(&h);
	}
	return written;
}

void expect_total(int64_t written)
{
	static int64_t words[UNITS];
	int64_t wanted = 0, found = 0;

	meet();
	MPI_Reduce(&written, &wanted, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
	for (uint64_t s = 0; tap_rank == 0 && s < spaces; s++) {
		load(s, 0, UNITS, words);
		for (int i = 0; i < UNITS; i++)
			found += words[i] & COUNT_MASK;
	}
	if (tap_verbose)
		note("%lld changes", (long long)wanted);
	expect(tap_rank != 0 || found == wanted, "violation: %lld changes made, %lld found",
	       (long long)wanted, (long long)found);
	area_reset();
}

void contend(void (*draw)(struct held *h, int round))
{
	expect_total(visits(AT_LEAST, tap_budget, draw));
}
