/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ranges of the workloads: they lie in their space, have the right
 * length, and follow the law of their borders; records of the growing file are adjacent;
 * and every point of BT-IO's grid belongs to one client. Prints TAP.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "benchmarks/workloads/citron/ranges.h"
#include "tests/tap.h"

enum { DRAWS = 300000 };

/* ------------------------------------------------------------------------- ranges */

struct seen {
	uint64_t size[SPAN_SIZES], other;
	bool inside;
};

static struct seen draw(int64_t units, int64_t length, double skew, int client, int clients)
{
	struct seen seen = {.inside = true};
	uint64_t random = random_seed(1, client);
	struct spans law;

	spans_start(&law, units, length, skew, client, clients);
	for (int i = 0; i < DRAWS; i++) {
		struct span s = spans_next(&law, &random);
		int size = span_size(s);

		seen.inside = seen.inside && s.first >= 0 && s.first <= s.last && s.last < units;
		if (size >= 0)
			seen.size[size]++;
		else
			seen.other++;
	}
	return seen;
}

static void lengths(void)
{
	struct seen few = draw(1 << 20, 0, 0.9, 0, 2), fixed = draw(300, 256, 0, 0, 1);
	struct seen odd = draw(1000, 7, 0.9, 3, 8);
	bool fair = few.inside && few.other == 0, own = true;

	/* 6 standard deviations of 258. */
	for (int i = 0; i < SPAN_SIZES; i++)
		fair = fair && fabs((double)few.size[i] - DRAWS / 3.0) < 1550;
	ok(fair, "mixed, two clients: each size a third of the time");
	for (int c = 0; c < 6; c++) {
		struct seen s = draw(1 << 20, 0, 0.9, c, 6);

		own = own && s.inside && s.size[c % SPAN_SIZES] == DRAWS;
	}
	ok(own, "mixed, six clients: two of each size");
	ok(fixed.inside && fixed.size[2] == DRAWS, "256 units in a space of 300");
	ok(odd.inside && odd.other == DRAWS, "7 units");
	ok(draw(16, 16, 0.9, 0, 1).inside, "as long as the space");
}

/* The share of borders in the lower half, compared with the law. */
static void borders(double skew, double expected)
{
	uint64_t random = random_seed(2, 0), low = 0;
	struct spans law;
	char what[100];

	spans_start(&law, 1 << 20, 16, skew, 0, 1);
	for (int i = 0; i < DRAWS; i++)
		low += spans_next(&law, &random).first < 1 << 19;
	snprintf(what, sizeof what, "skew %g: %.4f of the borders in the lower half, wanted %.4f",
		 skew, (double)low / DRAWS, expected);
	/* 6 standard deviations. */
	ok(fabs((double)low / DRAWS - expected) < 0.0055, "%s", what);
}

static double share(double skew)
{
	double low = 0, all = 0;

	for (int k = 1; k <= (1 << 20) - 15; k++) {
		double p = pow(k, -skew);

		all += p;
		low += k <= 1 << 19 ? p : 0;
	}
	return low / all;
}

/* ------------------------------------------------------------------------ the file */

static void records(void)
{
	bool right = true, meet = false;
	int64_t end = -1;

	for (int i = 0; i < 64 * 20; i++) {
		struct span s = grow_span((uint64_t)i / 64, i % 64, 64);

		/* Each record begins in the block in which the one before it ended, or in the next.
		 */
		right = right && (i == 0 ? s.first == 0 : s.first == end || s.first == end + 1) &&
			s.last - s.first >= GROW_RECORD / BLOCK_BYTES - 1 &&
			s.last - s.first <= GROW_RECORD / BLOCK_BYTES + 1;
		meet = meet || s.first == end;
		end = s.last;
	}
	ok(right && end == (INT64_C(64) * 20 * GROW_RECORD - 1) / BLOCK_BYTES,
	   "records lie side by side, from 0 on");
	ok(meet, "and neighbours share blocks");
	ok(span_of_bytes(4095, 1).last == 0 && span_of_bytes(4095, 2).last == 1 &&
	       span_of_bytes(4096, 4096).first == 1 && span_of_bytes(4096, 4096).last == 1,
	   "blocks of bytes");
}

static void grid(uint64_t side, int clients)
{
	const uint64_t all = side * side * side;
	uint8_t *owners = calloc(all, 1);
	bool straight = true, once = owners != NULL;
	char what[100];

	for (int c = 0; c < clients && owners; c++) {
		uint64_t count;
		struct grid_run *runs = grid_runs(side, c, clients, &count);

		for (uint64_t i = 0; i < count; i++) {
			straight = straight && runs[i].points > 0 &&
				   runs[i].point % side + runs[i].points <= side;
			for (uint64_t p = 0; p < runs[i].points && straight; p++)
				owners[runs[i].point + p]++;
		}
		free(runs);
	}
	for (uint64_t p = 0; p < all && once; p++)
		once = owners[p] == 1;
	snprintf(what, sizeof what, "%llu^3 points, %d clients: each point has one owner",
		 (unsigned long long)side, clients);
	ok(straight && once, "%s", what);
	free(owners);
}

/* With 4 processes each has half of every line of the half that is its own. */
static void bt(void)
{
	uint64_t count;
	struct grid_run *runs = grid_runs(8, 1, 4, &count);
	bool half = runs != NULL && count == 2 * 4 * 4;

	for (uint64_t i = 0; i < count; i++)
		half = half && runs[i].points == 4;
	ok(half, "8^3 points, 4 clients: 2 cells of 16 runs of 4 points");
	free(runs);
}

int main(void)
{
	lengths();
	borders(0, share(0));
	borders(0.9, share(0.9));
	borders(0.99, share(0.99));
	records();
	for (int clients = 1; clients <= 9; clients++)
		grid(12, clients);
	grid(7, 9);
	grid(1, 3);
	grid(2, 30);
	bt();
	return tap_plan();
}
