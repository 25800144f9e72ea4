/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of each client in the grid of BT-IO (NAS Parallel Benchmarks, I/O version 2.4;
 * Citron paper (FAST'23), section 4.3.1). For c * c processes the grid is cut into c^3
 * cells. Process (row, column) has c of them, on a diagonal: at height k the cell in
 * column + k and row + k, modulo c. So it has a part of each plane, and writes
 * runs along x of side / c points, between the runs of others.
 *
 * BT needs a square number of processes. Here c is the root of the number of clients,
 * rounded up, and the c * c processes are distributed over the clients.
 */
#include <stdlib.h>

#include "benchmarks/workloads/citron/ranges.h"

const char *const file_series[] = {"write", "read", NULL};

uint64_t btio_units(const struct settings *s)
{
	return (s->grid * s->grid * s->grid * BTIO_POINT_BYTES + BLOCK_BYTES - 1) / BLOCK_BYTES;
}

struct span grid_span(const struct grid_run *r)
{
	return span_of_bytes(r->point * BTIO_POINT_BYTES, (uint64_t)r->points * BTIO_POINT_BYTES);
}

static uint64_t cuts(int clients)
{
	uint64_t c = 1;

	while (c * c < (uint64_t)clients)
		c++;
	return c;
}

/* The first point of a cell. Cells differ by one point if c does not divide the side. */
static uint64_t edge(uint64_t side, uint64_t c, uint64_t cell)
{
	return side * cell / c;
}

static uint64_t add_cell(struct grid_run *to, uint64_t side, uint64_t c, uint64_t i, uint64_t j,
			 uint64_t k)
{
	const uint64_t x = edge(side, c, i), points = edge(side, c, i + 1) - x;
	uint64_t n = 0;

	for (uint64_t z = edge(side, c, k); z < edge(side, c, k + 1) && points; z++)
		for (uint64_t y = edge(side, c, j); y < edge(side, c, j + 1); y++)
			to[n++] = (struct grid_run){(z * side + y) * side + x, (uint32_t)points};
	return n;
}

struct grid_run *grid_runs(uint64_t side, int client, int clients, uint64_t *count)
{
	const uint64_t c = cuts(clients), step = (uint64_t)clients;
	/* Each process has a run in each line of its cells; this is the most that their size
	 * allows. */
	const uint64_t most = (c * c + step - 1) / step * c * (side / c + 1) * (side / c + 1);
	struct grid_run *runs = malloc(sizeof *runs * most);

	*count = 0;
	for (uint64_t p = (uint64_t)client; runs && p < c * c; p += step)
		for (uint64_t k = 0; k < c; k++)
			*count +=
			    add_cell(runs + *count, side, c, (p % c + k) % c, (p / c + k) % c, k);
	return runs;
}
