/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file in the memory of all ranks, in place of the CitronFS of the Citron paper (FAST'23),
 * section 4.3. Blocks are distributed over the ranks, and read and written as a whole. If all
 * ranks share memory, blocks are copied; else they are got and put through a window.
 * Access to a block is not atomic: a client that reads it while another writes it may see half of
 * the write.
 */
#include <stdlib.h>
#include <string.h>

#include "benchmarks/workloads/citron/ranges.h"

static uint64_t blocks_here(const struct stripes *f)
{
	const uint64_t ranks = (uint64_t)f->team->ranks;

	return (f->blocks + ranks - 1) / ranks;
}

static void map_all(struct stripes *f)
{
	f->map = malloc(sizeof *f->map * (size_t)f->team->ranks);
	for (int r = 0; f->map && r < f->team->ranks; r++) {
		MPI_Aint size;
		int unit;

		MPI_Win_shared_query(f->win, r, &size, &unit, (void *)&f->map[r]);
	}
}

bool stripes_open(struct stripes *f, const struct team *team, uint64_t blocks)
{
	const bool shared = team->nodes == 1;
	MPI_Aint bytes;

	*f = (struct stripes){.team = team, .blocks = blocks};
	bytes = (MPI_Aint)blocks_here(f) * BLOCK_BYTES;
	if (shared)
		MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, team->comm, (void *)&f->mine,
					&f->win);
	else
		MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, team->comm, (void *)&f->mine, &f->win);
	MPI_Win_lock_all(MPI_MODE_NOCHECK, f->win);
	memset(f->mine, 0, (size_t)bytes);
	if (shared)
		map_all(f);
	MPI_Win_sync(f->win);
	/* A barrier: no rank goes on before all blocks are zero. */
	return team_sum(team, shared && !f->map) == 0;
}

void stripes_close(struct stripes *f)
{
	if (!f->team)
		return;
	MPI_Win_unlock_all(f->win);
	MPI_Win_free(&f->win);
	free(f->map);
	memset(f, 0, sizeof *f);
}

static int rank_of(const struct stripes *f, int64_t block)
{
	return (int)(block % f->team->ranks);
}

static MPI_Aint place_of(const struct stripes *f, int64_t block)
{
	return (MPI_Aint)(block / f->team->ranks) * BLOCK_BYTES;
}

void stripes_get(const struct stripes *f, struct span of, void *to)
{
	char *at = to;

	for (int64_t b = of.first; b <= of.last; b++, at += BLOCK_BYTES) {
		if (f->map)
			memcpy(at, f->map[rank_of(f, b)] + place_of(f, b), BLOCK_BYTES);
		else
			MPI_Get(at, BLOCK_BYTES, MPI_BYTE, rank_of(f, b), place_of(f, b),
				BLOCK_BYTES, MPI_BYTE, f->win);
	}
	/* Orders the gets before the use of their results, and before the release. */
	if (!f->map)
		MPI_Win_flush_all(f->win);
}

void stripes_put(const struct stripes *f, struct span of, const void *from)
{
	const char *at = from;

	for (int64_t b = of.first; b <= of.last; b++, at += BLOCK_BYTES) {
		if (f->map)
			memcpy(f->map[rank_of(f, b)] + place_of(f, b), at, BLOCK_BYTES);
		else
			MPI_Put(at, BLOCK_BYTES, MPI_BYTE, rank_of(f, b), place_of(f, b),
				BLOCK_BYTES, MPI_BYTE, f->win);
	}
	/* Orders the puts before the release; pairs with the next holder's acquire, then its gets.
	 */
	if (!f->map)
		MPI_Win_flush_all(f->win);
}
