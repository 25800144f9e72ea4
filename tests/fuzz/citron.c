/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Citron's tree: two ranges, as the nodes that stand for them. Bytes draw the height, k, m, and the
 * first and last units, both ends of the tree among them.
 *
 * The nodes of a range cover it, ascending and without overlap, and more of them never waste more;
 * the cover of a range is the lowest node with all of it. Two ranges with a unit in common meet:
 * they have a leaf in common and their bits there meet, or a node of one is above a node of the
 * other, and where that one looks the other has announced itself.
 */
#include "property.h"

#include "lock/citron/citron.h"

struct ranged {
	int64_t first, last;
	struct citron_node node[CITRON_NODES];
	int nodes;
};

static int height, m;

static int64_t draw_unit(struct input *in)
{
	uint8_t b = next_byte(in);
	int64_t units = citron_units(height), unit;

	switch (b >> 6) {
	case 0:
		unit = b & 63;
		break;
	case 1:
		unit = units - 1 - (b & 63);
		break;
	case 2: /* near a border of an inner node */
		unit = (citron_units(b & 15) << (b >> 4 & 3)) - 1 + (next_byte(in) & 1);
		break;
	default:
		unit = (int64_t)(next_word(in) >> 1);
	}
	return unit % units;
}

/* The units of a node that are not in the range; a leaf has none. */
static int64_t waste_of(struct citron_node n, int64_t first, int64_t last)
{
	int64_t a = citron_first(height, n), b = citron_last(height, n);

	if (n.depth == height)
		return 0;
	return (first > a ? first - a : 0) + (last < b ? b - last : 0);
}

static int64_t check_split(const struct ranged *r, int k)
{
	int64_t next = r->first, waste = 0, before = -1;

	property(r->nodes >= 1 && r->nodes <= k, "there are 1 to k nodes");
	for (int i = 0; i < r->nodes; i++) {
		struct citron_node n = r->node[i];
		int64_t first = citron_first(height, n), last = citron_last(height, n);

		property(n.depth >= 0 && n.depth <= height && n.at >= 0 &&
			     n.at < INT64_C(1) << 2 * n.depth,
			 "nodes are of the tree");
		property(citron_index(n) >= 0 && citron_index(n) < citron_nodes(height),
			 "their places are in the array");
		property(first > before && first <= next && last >= next,
			 "nodes ascend, do not overlap and leave nothing out");
		property(first <= r->last, "each node has some of the range");
		before = last;
		next = last + 1;
		waste += waste_of(n, r->first, r->last);
	}
	property(next > r->last, "the last unit is covered");
	return waste;
}

static void check_cover(const struct ranged *r)
{
	struct citron_node n = citron_cover(height, r->first, r->last);

	property(citron_first(height, n) <= r->first && citron_last(height, n) >= r->last,
		 "the cover has all of the range");
	for (int i = 0; i < 4 && n.depth < height; i++) {
		struct citron_node child = {n.depth + 1, 4 * n.at + i};

		property(citron_is_under(child, n), "a child is under its parent");
		property(citron_first(height, child) > r->first ||
			     citron_last(height, child) < r->last,
			 "no lower node has all of it");
	}
}

/* The bits of a leaf, computed one by one. */
static void check_mask(const struct ranged *r, struct citron_node leaf)
{
	uint64_t mask = (uint64_t)citron_mask(leaf, r->first, r->last), wanted = 0;
	int64_t first = citron_first(height, leaf);

	for (int i = 0; i < CITRON_LEAF_UNITS; i++)
		if (first + i >= r->first && first + i <= r->last)
			wanted |= UINT64_C(1) << i;
	property(mask == wanted, "the mask has the units of the range");
	property(mask + (uint64_t)citron_clearing((int64_t)mask) == 0, "the sum clears it");
}

/* Whether the client at the higher node sees the client at the lower one. */
static bool sees(struct citron_node high, struct citron_node low)
{
	int64_t depth[CITRON_MOST_HEIGHT + 1];
	int n = citron_notified(low.depth, m, depth);

	property(n >= 0 && n <= CITRON_MOST_HEIGHT,
		 "announcements are at no more depths than there are");
	for (int i = 0; i < n; i++)
		if (depth[i] >= high.depth && depth[i] < high.depth + m)
			return true;
	return false;
}

static bool node_meets(const struct ranged *a, struct citron_node x, const struct ranged *b,
		       struct citron_node y)
{
	if (x.depth == y.depth)
		return x.at == y.at && (x.depth < height || (citron_mask(x, a->first, a->last) &
							     citron_mask(y, b->first, b->last)));
	if (x.depth < y.depth)
		return citron_is_under(y, x) && sees(x, y);
	return citron_is_under(x, y) && sees(y, x);
}

static bool meet(const struct ranged *a, const struct ranged *b)
{
	for (int i = 0; i < a->nodes; i++)
		for (int k = 0; k < b->nodes; k++)
			if (node_meets(a, a->node[i], b, b->node[k]))
				return true;
	return false;
}

static void draw_range(struct input *in, struct ranged *r, int k)
{
	int64_t a = draw_unit(in), b = draw_unit(in), waste;
	struct ranged more;

	r->first = a < b ? a : b;
	r->last = a < b ? b : a;
	r->nodes = citron_split(height, r->first, r->last, k, r->node);
	waste = check_split(r, k);
	more = *r;
	more.nodes = citron_split(height, r->first, r->last, k + 1, more.node);
	property(check_split(&more, k + 1) <= waste, "one node more does not waste more");
	more.nodes = citron_split(height, r->first, r->last, CITRON_NODES, more.node);
	property(check_split(&more, CITRON_NODES) == 0, "with enough nodes there is no waste");
	check_cover(r);
	for (int i = 0; i < r->nodes; i++)
		if (r->node[i].depth == height)
			check_mask(r, r->node[i]);
}

static void check_heights(int64_t units)
{
	int h = citron_height(units);

	if (h < 0) {
		property(units > citron_units(CITRON_MOST_HEIGHT), "some tree has that many units");
		return;
	}
	property(h >= 1 && h <= CITRON_MOST_HEIGHT && citron_units(h) >= units &&
		     (h == 1 || citron_units(h - 1) < units),
		 "the tree is the smallest one with that many units");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	struct ranged a, b;
	int k;

	height = 1 + next_byte(&in) % CITRON_MOST_HEIGHT;
	k = 1 + next_byte(&in) % CITRON_MOST_SPLIT;
	m = 1 + next_byte(&in) % 5;
	draw_range(&in, &a, k);
	/* Any number of nodes, as for readers that take an exact cover. */
	draw_range(&in, &b, next_byte(&in) & 1 ? CITRON_NODES - 1 : k);
	if (a.first <= b.last && b.first <= a.last)
		property(meet(&a, &b) && meet(&b, &a), "ranges with a unit in common meet");
	check_heights((int64_t)(next_word(&in) >> (in.size & 63)));
	return 0;
}
