/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * BT-IO: the interleaved access of the Citron paper (FAST'23), section 4.3.1 (Figure 8), to
 * one file that all ranks share. The file has five numbers for each point of a grid of --grid^3
 * points. Clients write their runs (grid.c) under range locks, then read them back and check them,
 * solution after solution. No two clients write the same number, but the file has blocks: the
 * writer of a run reads its blocks, changes them, and writes them back. So numbers are lost if the
 * locks let two clients into one block.
 *
 * Different from the paper: the file has room for one solution, which the next one
 * replaces; BT writes up to 40 solutions behind each other, and reads all at the end. Nothing
 * is computed between them.
 *
 * Checked: a client reads what it wrote, each time and once more at the end.
 */
#include <stdlib.h>
#include <string.h>

#include "benchmarks/workloads/citron/ranges.h"

enum { NUMBERS = BTIO_NUMBERS, POINT_BYTES = BTIO_POINT_BYTES };

static struct {
	struct stripes file;
	struct grid_run *run;
	uint64_t runs;
	char *buffer;      /* of blocks */
	uint64_t solution; /* the current solution: 1, 2, ... */
	uint64_t next;     /* run */
	bool reads;        /* the solution is written: the next run is read */
} btio;

static uint64_t number(uint64_t solution, uint64_t point, int k)
{
	return (solution << 40) + point * NUMBERS + (uint64_t)k;
}

/* Where the run begins in the buffer. */
static char *start_of(const struct grid_run *r)
{
	return btio.buffer + r->point * POINT_BYTES % BLOCK_BYTES;
}

static void fill(const struct grid_run *r, uint64_t solution)
{
	char *at = start_of(r);

	for (uint64_t p = 0; p < r->points; p++) {
		for (int k = 0; k < NUMBERS; k++, at += sizeof(uint64_t)) {
			uint64_t value = number(solution, r->point + p, k);

			memcpy(at, &value, sizeof value);
		}
	}
}

/* The number of wrong values in the run; before the first solution all are 0. */
static uint64_t count_wrong(const struct grid_run *r, uint64_t solution)
{
	const char *at = start_of(r);
	uint64_t wrong = 0;

	for (uint64_t p = 0; p < r->points; p++) {
		for (int k = 0; k < NUMBERS; k++, at += sizeof(uint64_t)) {
			uint64_t value;

			memcpy(&value, at, sizeof value);
			wrong += value != (solution ? number(solution, r->point + p, k) : 0);
		}
	}
	return wrong;
}

static void write_run(struct trial *t, const struct grid_run *r)
{
	const struct span s = grid_span(r);
	pawl_range held;

	range_lock(t, 0, s, PAWL_EXCLUSIVE, &held);
	stripes_get(&btio.file, s, btio.buffer);
	fill(r, btio.solution);
	stripes_put(&btio.file, s, btio.buffer);
	range_unlock(t, &held);
	t->exclusive++;
}

static void read_run(struct trial *t, const struct grid_run *r, int mode)
{
	const struct span s = grid_span(r);
	pawl_range held;

	range_lock(t, 0, s, mode, &held);
	stripes_get(&btio.file, s, btio.buffer);
	range_unlock(t, &held);
	t->violations += count_wrong(r, btio.solution);
	t->exclusive += mode == PAWL_EXCLUSIVE;
}

static void step(struct trial *t, int mode)
{
	const struct grid_run *r = &btio.run[btio.next];
	const int what = btio.reads ? BTIO_READ : BTIO_WRITE;
	uint64_t start = ticks(), took;

	if (btio.reads)
		read_run(t, r, mode);
	else
		write_run(t, r);
	took = ticks() - start;
	times_add(&t->hist, took);
	times_add(&t->series[what], took);
	t->bytes += (uint64_t)r->points * POINT_BYTES;
	if (++btio.next < btio.runs)
		return;
	btio.next = 0;
	btio.solution += btio.reads;
	btio.reads = !btio.reads;
}

void btio_run(struct trial *t)
{
	const int mode = contestant_shares(t->contestant) ? PAWL_SHARED : PAWL_EXCLUSIVE;
	const uint64_t start = ticks();
	uint64_t now, done = 0;

	while ((now = ticks()) - start < t->ticks && done < t->limit && btio.runs) {
		step(t, mode);
		done++;
	}
	t->acquires = done;
	t->elapsed_ns = (double)(now - start) / ticks_per_ns;
}

/* ------------------------------------------------------------------ set-up, check */

static void free_all(void)
{
	free(btio.run);
	free(btio.buffer);
	stripes_close(&btio.file);
	memset(&btio, 0, sizeof btio);
}

int btio_open(struct trial *t, char *why, size_t whylen)
{
	const uint64_t blocks = btio_units(t->set);
	const uint64_t longest = t->set->grid * POINT_BYTES / BLOCK_BYTES + 2;
	bool ok;

	if (!range_spaces_fit(t, why, whylen))
		return BENCH_USAGE;
	if (t->is_active)
		btio.run = grid_runs(t->set->grid, t->client, t->active, &btio.runs);
	btio.buffer = malloc(longest * BLOCK_BYTES);
	btio.solution = 1;
	ok = btio.buffer && (btio.run || !t->is_active);
	if (stripes_open(&btio.file, t->team, blocks) && team_sum(t->team, !ok) == 0)
		return BENCH_OK;
	free_all();
	snprintf(why, whylen, "out of memory");
	return BENCH_USAGE;
}

/* All ranks are done: the file must have what was written last. */
void btio_close(struct trial *t)
{
	uint64_t wrong = 0;

	for (uint64_t i = 0; i < btio.runs; i++) {
		const bool is_written = btio.reads || i < btio.next;

		stripes_get(&btio.file, grid_span(&btio.run[i]), btio.buffer);
		wrong += count_wrong(&btio.run[i], btio.solution - !is_written);
	}
	if (wrong)
		fprintf(stderr, "pawl-bench: %s: rank %d finds %llu wrong numbers in the file\n",
			t->contestant->name, t->team->rank, (unsigned long long)wrong);
	t->violations += wrong;
	team_wait(t->team, true);
	free_all();
}
