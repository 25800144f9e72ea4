/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Citron's tree: heights, masks, and where clients of different depths meet (Section 3.5.5, "meet
 * in the middle").
 *
 * A client of the slow path at a node announces itself at its parent, at every m-th ancestor from
 * there upwards, and at depth m - 1 in place of anything higher, where all would meet. A client at
 * a node a looks at the m depths of inner nodes from a on. The two meet: let t be the depth of a,
 * and p the depth of the other's parent, t <= p. If p < m - 1, the only announcement is at p, and p
 * - t < m. Otherwise, if t >= m - 1, one of p, p - m, p - 2m, ... is in t to t + m - 1, and was not
 * replaced, because it is not above m - 1. If t < m - 1, depth m - 1 is in t to t + m - 1, and it
 * has an announcement, because one of p, p - m, ... is in 0 to m - 1.
 *
 * Clients of the fast path announce themselves by levels; citron.c.
 */
#include "lock/citron/citron.h"

int citron_height(int64_t units)
{
	for (int height = 1; height <= CITRON_MOST_HEIGHT; height++)
		if (citron_units(height) >= units)
			return height;
	return -1;
}

int citron_notified(int64_t depth, int m, int64_t *depths)
{
	int n = 0;
	int64_t at = depth - 1;

	if (depth == 0)
		return 0;
	if (at < m - 1) {
		depths[n++] = at;
		return n;
	}
	for (; at >= m - 1; at -= m)
		depths[n++] = at;
	if (depths[n - 1] > m - 1)
		depths[n++] = m - 1;
	return n;
}

struct citron_node citron_cover(int height, int64_t first, int64_t last)
{
	struct citron_node a = {height, first >> CITRON_LEAF_BITS};
	int64_t b = last >> CITRON_LEAF_BITS;

	for (; a.at != b; b >>= 2)
		a = citron_above(a, a.depth - 1);
	return a;
}
