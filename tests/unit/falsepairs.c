/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pairs of ranges that meet in citron's tree, compared with the definition, unit by unit: two
 * ranges conflict if both need some unit, or one locks a unit by an inner node that the other
 * needs or locks by an inner node, too. Prints TAP.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "benchmarks/workloads/citron/falsepairs.h"
#include "lock/citron/citron.h"
#include "tests/tap.h"

enum { UNITS = 4096, PAIRS = 4000 };

static struct span draw(uint64_t *random)
{
	uint64_t x = random_next(random), length = 1 + (x >> 40) % (UINT64_C(1) << (x >> 60) % 12);
	int64_t first = (int64_t)(random_next(random) % (UNITS - length + 1));

	return (struct span){first, first + (int64_t)length - 1};
}

/* The units that are locked, one by one. */
static void paint(struct span s, int k, bool *units)
{
	const int height = citron_height(UNITS);
	struct citron_node node[CITRON_MOST_SPLIT];
	int n = citron_split(height, s.first, s.last, k, node);

	memset(units, 0, UNITS * sizeof *units);
	for (int i = 0; i < n; i++)
		for (int64_t u = citron_first(height, node[i]); u <= citron_last(height, node[i]);
		     u++)
			units[u] = node[i].depth < height || (u >= s.first && u <= s.last);
}

static void against_units(int k)
{
	static bool a[UNITS], b[UNITS];
	uint64_t random = random_seed(3, k);
	bool covers = true, same = true;
	int meetings = 0, false_ones = 0;
	char what[120];

	for (int i = 0; i < PAIRS; i++) {
		struct span s = draw(&random), t = draw(&random);
		struct cover c, d;
		bool meet = false;

		covers = covers && cover_of(&c, UNITS, s, k) && cover_of(&d, UNITS, t, k);
		paint(s, k, a);
		paint(t, k, b);
		for (int u = 0; u < UNITS && !meet; u++)
			meet = a[u] && b[u];
		same = same && covers_meet(&c, &d) == meet;
		meetings += meet;
		false_ones += meet && (s.first > t.last || t.first > s.last);
	}
	snprintf(what, sizeof what, "k = %d: %d of %d pairs meet, %d of these falsely", k, meetings,
		 PAIRS, false_ones);
	ok(covers && same && meetings > 0, "%s", what);
	ok(false_ones > 0 && false_ones < meetings, "and both kinds of conflict are met");
}

static void known(void)
{
	const struct span left = {0, 2047}, right = {2048, 4095}, middle = {2047, 2048};
	struct cover a, b;

	ok(cover_of(&a, UNITS, left, 2) && cover_of(&b, UNITS, right, 2) && !covers_meet(&a, &b),
	   "the two halves do not meet");
	ok(cover_of(&a, UNITS, middle, 1) && a.units == UNITS, "one node for the middle: the root");
	ok(cover_of(&a, UNITS, middle, 2) && a.units == 2, "two: two bits");
}

int main(void)
{
	for (int k = 1; k <= MOST_NODES; k++)
		against_units(k);
	known();
	return tap_plan();
}
