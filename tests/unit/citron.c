/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Citron's tree: the knapsack against exhaustive search on small trees, and where clients of
 * any two depths meet. Prints TAP.
 */
#include <stdio.h>

#include "../../src/lock/citron/citron.h"
#include "tests/tap.h"

/* The units of a node that are not in the range; a leaf has none. */
static int64_t waste_of(int height, struct citron_node n, int64_t first, int64_t last)
{
	int64_t a = citron_first(height, n), b = citron_last(height, n), from, to;

	from = a > first ? a : first;
	to = b < last ? b : last;
	return n.depth == height ? 0 : b - a + 1 - (to >= from ? to - from + 1 : 0);
}

#define NEVER INT64_MAX

/* The least waste of at most k nodes under n that cover the part of the range in n, by trying all
 * covers. *used: the fewest nodes with that waste. An empty part wastes nothing. */
static int64_t search(int height, struct citron_node n, int64_t first, int64_t last, int k,
		      int *used);

/* The same for the children of n from the i-th on. */
static int64_t search_children(int height, struct citron_node n, int i, int64_t first, int64_t last,
			       int k, int *used)
{
	int64_t best = NEVER;

	*used = 0;
	if (i == 4)
		return 0;
	for (int a = 0; a <= k; a++) {
		struct citron_node child = {n.depth + 1, 4 * n.at + i};
		int here, there;
		int64_t x = search(height, child, first, last, a, &here), y;

		if (x == NEVER)
			continue;
		y = search_children(height, n, i + 1, first, last, k - a, &there);
		if (y == NEVER || x + y > best || (x + y == best && here + there >= *used))
			continue;
		best = x + y;
		*used = here + there;
	}
	return best;
}

static int64_t search(int height, struct citron_node n, int64_t first, int64_t last, int k,
		      int *used)
{
	int64_t whole = NEVER, split = NEVER;

	*used = 0;
	if (citron_first(height, n) > last || citron_last(height, n) < first)
		return 0;
	if (k > 0)
		whole = waste_of(height, n, first, last);
	if (n.depth < height)
		split = search_children(height, n, 0, first, last, k, used);
	if (whole > split || (whole == split && *used <= 1))
		return split;
	*used = 1;
	return whole;
}

/* Check that the nodes ascend and cover first to last once. */
static bool covers(int height, const struct citron_node *n, int count, int64_t first, int64_t last)
{
	int64_t next = first;

	for (int i = 0; i < count; i++) {
		if (citron_first(height, n[i]) > next || citron_last(height, n[i]) < next)
			return false;
		next = citron_last(height, n[i]) + 1;
	}
	return next > last;
}

static bool split_is_best(int height, int64_t first, int64_t last, int k)
{
	struct citron_node n[CITRON_NODES], root = {0, 0};
	int count = citron_split(height, first, last, k, n), used;
	int64_t waste = 0;

	for (int i = 0; i < count; i++)
		waste += waste_of(height, n[i], first, last);
	if (count >= 1 && count <= k && covers(height, n, count, first, last) &&
	    waste == search(height, root, first, last, k, &used) && count == used)
		return true;
	printf("# height %d, %lld to %lld, k %d: %d nodes, waste %lld\n", height, (long long)first,
	       (long long)last, k, count, (long long)waste);
	return false;
}

static void splits(void)
{
	bool good = true;

	for (int height = 1; height <= 2; height++)
		for (int64_t a = 0; a < citron_units(height); a += 16)
			for (int64_t b = a; b < citron_units(height); b += 24)
				for (int k = 1; k <= 4; k++)
					good = good && split_is_best(height, a, b, k);
	ok(good, "the split wastes as little as exhaustive search, with as few nodes");
}

/* A generator of places all over large trees. */
static int64_t draw(uint64_t *random, int64_t below)
{
	*random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (int64_t)(*random >> 16) % below;
}

static void exact(void)
{
	uint64_t random = 1;
	bool good = true;
	int most = 0;

	for (int i = 0; i < 20000; i++) {
		struct citron_node n[CITRON_NODES];
		int height = 1 + (int)draw(&random, CITRON_MOST_HEIGHT), count;
		int64_t units = citron_units(height), a = draw(&random, units),
			b = a + draw(&random, units - a), waste = 0;

		count = citron_split(height, a, b, CITRON_NODES, n);
		most = count > most ? count : most;
		for (int j = 0; j < count; j++)
			waste += waste_of(height, n[j], a, b);
		good = good && count <= CITRON_NODES && covers(height, n, count, a, b) && !waste;
	}
	printf("# at most %d nodes\n", most);
	ok(good, "with enough nodes the split is exact, in trees of all heights");
}

/* The words that are read are exactly those needed: clients at any node and at one above it meet.
 */
static void meeting(void)
{
	bool good = true;

	for (int m = 1; m <= 5; m++)
		for (int64_t low = 1; low <= CITRON_MOST_HEIGHT; low++) {
			int64_t depth[CITRON_MOST_HEIGHT];
			int n = citron_notified(low, m, depth);

			for (int64_t high = 0; high < low; high++) {
				bool meet = false;

				for (int i = 0; i < n; i++)
					meet = meet || (depth[i] >= high && depth[i] < high + m);
				good = good && meet;
			}
			for (int i = 0; i < n; i++)
				good = good && depth[i] >= 0 && depth[i] < low &&
				       (depth[i] >= m - 1 || depth[i] == low - 1);
		}
	ok(good, "the client that is above looks where those below announce themselves");
}

static void arithmetic(void)
{
	bool good = true;
	int64_t index = 0;

	for (int64_t depth = 0; depth <= 6; depth++)
		for (int64_t at = 0; at < INT64_C(1) << 2 * depth; at++) {
			struct citron_node n = {depth, at};

			/* the paper's numbers begin at 1 */
			good = good && citron_index(n) == index++;
			good =
			    good && (depth == 0 || citron_index(citron_above(n, depth - 1)) + 1 ==
						       (citron_index(n) + 1 + 2) / 4);
		}
	ok(good && citron_nodes(6) == index,
	   "nodes lie in level order, parents by the paper's rule");
	ok(citron_height(1) == 1 && citron_height(256) == 1 && citron_height(257) == 2 &&
	       citron_height(INT64_C(1) << 40) == 17 && citron_height((INT64_C(1) << 40) + 1) == -1,
	   "heights");
	ok(citron_nodes(11) == 5592405, "5.6 million nodes for 2^28 units, a word each");
}

static void masks(void)
{
	bool good = true;
	struct citron_node leaf = {3, 5};

	for (int64_t a = 250; a < 400; a++)
		for (int64_t b = a; b < 400; b++) {
			uint64_t mask = 0;

			if (b < 320 || a > 383)
				continue;
			for (int64_t i = 0; i < 64; i++)
				mask |= (uint64_t)(320 + i >= a && 320 + i <= b) << i;
			good = good && (uint64_t)citron_mask(leaf, a, b) == mask;
		}
	ok(good, "the bits of a range in a leaf");
	good = true;
	for (int64_t a = 320; a <= 383; a++)
		for (int64_t b = a; b <= 383; b++) {
			int64_t mask = citron_mask(leaf, a, b);

			/* A full leaf, and one without other bits. */
			good = good &&
			       UINT64_MAX + (uint64_t)citron_clearing(mask) == ~(uint64_t)mask &&
			       (uint64_t)mask + (uint64_t)citron_clearing(mask) == 0;
		}
	ok(good, "the addition that clears them, bit 63 alone among them");
}

static void covering(void)
{
	bool good = true;

	for (int64_t a = 0; a < 1024; a += 7)
		for (int64_t b = a; b < 1024; b += 5) {
			struct citron_node n = citron_cover(2, a, b), child = {n.depth + 1, 0};

			good = good && citron_first(2, n) <= a && citron_last(2, n) >= b;
			for (int i = 0; i < 4 && n.depth < 2; i++) {
				child.at = 4 * n.at + i;
				good = good &&
				       !(citron_first(2, child) <= a && citron_last(2, child) >= b);
			}
		}
	ok(good, "the lowest node above a range");
}

int main(void)
{
	arithmetic();
	masks();
	covering();
	meeting();
	splits();
	exact();
	return tap_plan();
}
