/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operations of OLTP, after Filebench's (Citron paper (FAST'23), section 4.3.2, Table 2). For
 * 3200 reads there are 320 writes, both of 8 KB at a random place of a random data file, and one
 * write of 256 KB at a random place of the log. No MPI here.
 *
 * Different from the paper: there, each client has 50 threads that read, 10 that write, and one for
 * the log. Here a client performs one operation after the other, drawn at random in the same
 * proportions.
 */
#include "benchmarks/workloads/citron/ranges.h"

enum { PAGE_BLOCKS = 8192 / BLOCK_BYTES, LOG_BLOCKS = OLTP_LOG_BYTES / BLOCK_BYTES };
enum { READS = 3200, WRITES = 320, LOGS = 1 };

const char *const oltp_series[] = {"read", "write", "log", NULL};

uint64_t oltp_units(const struct settings *s)
{
	return s->file / BLOCK_BYTES;
}

struct oltp_access oltp_draw(uint64_t blocks, uint64_t *random)
{
	uint64_t x = random_next(random) >> 32, n = x % (READS + WRITES + LOGS), first, taken;
	struct oltp_access a = {.kind = n < READS            ? OLTP_READ
					: n < READS + WRITES ? OLTP_WRITE
							     : OLTP_LOG};

	taken = a.kind == OLTP_LOG ? LOG_BLOCKS : PAGE_BLOCKS;
	a.file = a.kind == OLTP_LOG ? OLTP_DATA_FILES
				    : (int)((random_next(random) >> 32) % OLTP_DATA_FILES);
	first = (random_next(random) >> 20) % (blocks - taken + 1);
	a.blocks = (struct span){(int64_t)first, (int64_t)(first + taken - 1)};
	return a;
}

struct span oltp_place(const struct oltp_access *a, uint64_t blocks)
{
	const int64_t base = a->file * (int64_t)blocks;

	return (struct span){base + a->blocks.first, base + a->blocks.last};
}
