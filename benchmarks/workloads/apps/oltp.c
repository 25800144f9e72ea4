/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OLTP: the conflicting access of the Citron paper (FAST'23), section 4.3.2 (Table 2), after
 * Filebench's OLTP: 10 data files and a log, of --file bytes each, and a space for each;
 * oltp_draw.c has the operations.
 *
 * The first word of a block counts its writes; all other words name the last writer. A writer reads
 * its blocks, increments the counts, and writes them back.
 * Checked: all words of a block agree each time it is read, and at the end the counts
 * add up to the writes.
 */
#include <stdlib.h>
#include <string.h>

#include "benchmarks/workloads/citron/ranges.h"

enum { BLOCK_WORDS = BLOCK_BYTES / sizeof(uint64_t), COUNT = 0, STAMP = 1 };
enum { LOG_BLOCKS = OLTP_LOG_BYTES / BLOCK_BYTES };

static struct {
	struct stripes files; /* adjacent */
	uint64_t blocks;      /* of each */
	uint64_t *buffer;
	uint64_t writes, written; /* operations; blocks */
} oltp;

/* The blocks in the buffer that were read half written. */
static uint64_t torn(uint64_t blocks)
{
	uint64_t bad = 0;

	for (uint64_t b = 0; b < blocks; b++) {
		const uint64_t *word = oltp.buffer + b * BLOCK_WORDS;
		bool same = true;

		for (int i = STAMP; i < BLOCK_WORDS; i++)
			same = same && word[i] == word[STAMP];
		bad += !same;
	}
	return bad;
}

static void change(uint64_t blocks, uint64_t stamp)
{
	for (uint64_t b = 0; b < blocks; b++) {
		uint64_t *word = oltp.buffer + b * BLOCK_WORDS;

		word[COUNT]++;
		for (int i = STAMP; i < BLOCK_WORDS; i++)
			word[i] = stamp;
	}
}

/* The bytes. */
static uint64_t perform(struct trial *t, const struct oltp_access *a, int mode)
{
	const uint64_t blocks = (uint64_t)(a->blocks.last - a->blocks.first + 1);
	const struct span place = oltp_place(a, oltp.blocks);
	pawl_range held;

	range_lock(t, (uint64_t)a->file, a->blocks, mode, &held);
	stripes_get(&oltp.files, place, oltp.buffer);
	t->violations += torn(blocks);
	if (a->kind != OLTP_READ) {
		change(blocks, (uint64_t)t->team->rank << 40 | ++oltp.writes);
		stripes_put(&oltp.files, place, oltp.buffer);
		oltp.written += blocks;
	}
	range_unlock(t, &held);
	return blocks * BLOCK_BYTES;
}

void oltp_run(struct trial *t)
{
	const int reader = contestant_shares(t->contestant) ? PAWL_SHARED : PAWL_EXCLUSIVE;
	const uint64_t start = ticks();
	uint64_t now, done = 0;

	while ((now = ticks()) - start < t->ticks && done < t->limit) {
		const struct oltp_access a = oltp_draw(oltp.blocks, &t->random);
		uint64_t began = ticks(), took;

		t->bytes += perform(t, &a, a.kind == OLTP_READ ? reader : PAWL_EXCLUSIVE);
		took = ticks() - began;
		times_add(&t->hist, took);
		times_add(&t->series[a.kind], took);
		t->exclusive += a.kind != OLTP_READ || reader == PAWL_EXCLUSIVE;
		done++;
	}
	t->acquires = done;
	t->elapsed_ns = (double)(now - start) / ticks_per_ns;
}

/* ------------------------------------------------------------------ set-up, check */

static void free_all(void)
{
	free(oltp.buffer);
	stripes_close(&oltp.files);
	memset(&oltp, 0, sizeof oltp);
}

int oltp_open(struct trial *t, char *why, size_t whylen)
{
	if (!range_spaces_fit(t, why, whylen))
		return BENCH_USAGE;
	oltp.blocks = oltp_units(t->set);
	oltp.buffer = malloc((size_t)LOG_BLOCKS * BLOCK_BYTES);
	if (stripes_open(&oltp.files, t->team, oltp.blocks * OLTP_FILES) &&
	    team_sum(t->team, !oltp.buffer) == 0)
		return BENCH_OK;
	free_all();
	snprintf(why, whylen, "out of memory");
	return BENCH_USAGE;
}

/* All ranks are done. Each checks its share of the blocks. */
void oltp_close(struct trial *t)
{
	const uint64_t ranks = (uint64_t)t->team->ranks, all = oltp.blocks * OLTP_FILES;
	uint64_t counted = 0, written;

	for (uint64_t b = (uint64_t)t->team->rank; b < all; b += ranks) {
		stripes_get(&oltp.files, (struct span){(int64_t)b, (int64_t)b}, oltp.buffer);
		t->violations += torn(1);
		counted += oltp.buffer[COUNT];
	}
	written = team_sum(t->team, oltp.written);
	counted = team_sum(t->team, counted);
	if (t->team->rank == 0 && written != counted) {
		fprintf(stderr, "pawl-bench: %s: %llu blocks were written, the files have %llu\n",
			t->contestant->name, (unsigned long long)written,
			(unsigned long long)counted);
		t->violations += written > counted ? written - counted : counted - written;
	}
	free_all();
}
