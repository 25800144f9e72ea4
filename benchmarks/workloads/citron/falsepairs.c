/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which pairs of ranges meet in citron's tree although they have no unit in common. No MPI here.
 *
 * Two nodes are in conflict if one is above the other or both are the same; at a leaf, only if both
 * clients want a common bit. So a cover is a set of intervals of units (all units of an inner node,
 * the units wanted of a leaf), and two covers are in conflict if their intervals meet.
 */
#include "falsepairs.h"

#include "lock/citron/citron.h"

/* False: this is not a valid cover. */
bool cover_of(struct cover *c, int64_t units, struct span s, int k)
{
	const int height = citron_height(units);
	struct citron_node node[CITRON_MOST_SPLIT];
	int64_t covered = s.first;

	c->parts = citron_split(height, s.first, s.last, k, node);
	c->units = 0;
	for (int i = 0; i < c->parts; i++) {
		struct span *p = &c->part[i];
		bool leaf = node[i].depth == height;

		*p = (struct span){citron_first(height, node[i]), citron_last(height, node[i])};
		if (p->first > covered)
			return false;
		covered = p->last + 1;
		if (leaf && p->first < s.first)
			p->first = s.first;
		if (leaf && p->last > s.last)
			p->last = s.last;
		c->units += p->last - p->first + 1;
	}
	return c->parts >= 1 && c->parts <= k && covered > s.last;
}

bool covers_meet(const struct cover *a, const struct cover *b)
{
	for (int i = 0; i < a->parts; i++)
		for (int j = 0; j < b->parts; j++)
			if (a->part[i].first <= b->part[j].last &&
			    b->part[j].first <= a->part[i].last)
				return true;
	return false;
}
