/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Citron's tree knapsack (Section 3.5.1): cover a range by at most k nodes with as few additional
 * units as possible.
 *
 * At each depth at most two nodes are partly in the range: the one with its first unit and the one
 * with its last. From the leaves up, waste[depth][side][j] is the least waste of such a node with
 * at most j nodes: either the node is taken whole, or the partial ones among its children are split
 * further, and the whole ones in between cost a node each and no waste. Only where the two sides
 * meet does j have to be divided. O(k log N + k^2); the paper's bound is O(k^2 log N).
 */
#include <string.h>

#include "lock/citron/citron.h"

#define NEVER INT64_MAX

enum { FIRST, LAST };

struct knapsack {
	int height, k;
	int64_t first, last;
	int64_t waste[CITRON_MOST_HEIGHT + 1][2][CITRON_NODES + 1];
};

static struct citron_node side_node(const struct knapsack *s, int64_t depth, int side)
{
	struct citron_node leaf = {s->height,
				   (side == FIRST ? s->first : s->last) >> CITRON_LEAF_BITS};

	return citron_above(leaf, depth);
}

static int64_t waste_of_whole(const struct knapsack *s, struct citron_node n)
{
	int64_t a = citron_first(s->height, n), b = citron_last(s->height, n);

	if (n.depth == s->height)
		return 0;
	return (s->first > a ? s->first - a : 0) + (s->last < b ? b - s->last : 0);
}

/* The number of whole children of n between its partial ones. *partial: bits of the sides that have
 * a partial one; one bit if both sides share it. */
static int whole_children(const struct knapsack *s, struct citron_node n, int side, int *partial)
{
	struct citron_node a = side_node(s, n.depth + 1, FIRST),
			   b = side_node(s, n.depth + 1, LAST);
	bool has_first = citron_is_under(a, n), has_last = citron_is_under(b, n);

	if (has_first && has_last) {
		*partial = a.at == b.at ? 1 << side : 1 << FIRST | 1 << LAST;
		return a.at == b.at ? 0 : (int)(b.at - a.at - 1);
	}
	*partial = has_first ? 1 << FIRST : 1 << LAST;
	return has_first ? (int)(3 - (a.at & 3)) : (int)(b.at & 3);
}

/* The least waste if the children of n are split, with j nodes left for the partial ones. *mine:
 * how many of these the first side takes, if there are two. */
static int64_t waste_of_split(const struct knapsack *s, struct citron_node n, int partial, int j,
			      int *mine)
{
	const int64_t(*below)[CITRON_NODES + 1] = s->waste[n.depth + 1];
	int64_t least = NEVER;

	if (partial != (1 << FIRST | 1 << LAST))
		return j > 0 ? below[partial == 1 << FIRST ? FIRST : LAST][j] : NEVER;
	for (int a = 1; a < j; a++)
		if (below[FIRST][a] != NEVER && below[LAST][j - a] != NEVER &&
		    below[FIRST][a] + below[LAST][j - a] < least) {
			least = below[FIRST][a] + below[LAST][j - a];
			*mine = a;
		}
	return least;
}

static void weigh(struct knapsack *s, int64_t depth, int side)
{
	struct citron_node n = side_node(s, depth, side);
	int64_t *waste = s->waste[depth][side], whole = waste_of_whole(s, n);
	int partial = 0, between = depth < s->height ? whole_children(s, n, side, &partial) : 0,
	    mine;

	waste[0] = NEVER;
	for (int j = 1; j <= s->k; j++) {
		int64_t split = whole ? waste_of_split(s, n, partial, j - between, &mine) : NEVER;

		waste[j] = split < whole ? split : whole;
	}
}

/* The nodes behind waste[depth][side][j]. Returns how many. */
static int emit(const struct knapsack *s, int64_t depth, int side, int j, struct citron_node *to)
{
	struct citron_node n = side_node(s, depth, side);
	int64_t whole = waste_of_whole(s, n), from;
	int partial, between, mine = 0, count = 0, both = 1 << FIRST | 1 << LAST;

	if (whole == s->waste[depth][side][j]) {
		to[0] = n;
		return 1;
	}
	between = whole_children(s, n, side, &partial);
	waste_of_split(s, n, partial, j - between, &mine);
	if (partial & 1 << FIRST)
		count = emit(s, depth + 1, FIRST, partial == both ? mine : j - between, to);
	from = partial & 1 << FIRST ? side_node(s, depth + 1, FIRST).at + 1 : 4 * n.at;
	for (int i = 0; i < between; i++)
		to[count++] = (struct citron_node){depth + 1, from + i};
	if (partial & 1 << LAST)
		count += emit(s, depth + 1, LAST, j - between - (partial == both ? mine : 0),
			      to + count);
	return count;
}

int citron_split(int height, int64_t first, int64_t last, int k, struct citron_node *nodes)
{
	struct knapsack s;
	int j = 1;

	s.height = height;
	s.k = k;
	s.first = first;
	s.last = last;
	for (int64_t depth = height; depth >= 0; depth--)
		for (int side = FIRST; side <= LAST; side++)
			weigh(&s, depth, side);
	while (s.waste[0][FIRST][j] != s.waste[0][FIRST][k])
		j++;
	return emit(&s, 0, FIRST, j, nodes);
}
