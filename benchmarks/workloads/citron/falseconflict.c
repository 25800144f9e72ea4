/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FALSECONFLICT: the share of pairs of ranges that have no unit in common and still meet in the
 * tree of citron, by length and by k, the nodes of a range: Citron paper (FAST'23), section 4.6
 * (Figure 11). Nothing is locked; left borders are drawn uniformly on [0, N - L]. A set of ranges
 * is drawn at a time and all pairs of it are examined: this is as good as drawing pairs one by one,
 * and splits fewer ranges.
 *
 * Checked: a cover has the whole range and at most k nodes, more nodes never cover more
 * units, and ranges of up to a leaf's units have no false conflicts from k = 2 on.
 */
#include <string.h>

#include "falsepairs.h"

_Static_assert(2 + MOST_NODES <= MAX_COLUMNS, "a column for each k");

enum { LENGTHS = 11, DRAWN = 48, LEAF = 64 };

static struct {
	int lengths; /* 1, 4, 16, ..., as long as they fit */
	uint64_t pairs[LENGTHS], meet[LENGTHS][MOST_NODES + 1];
	struct span span[DRAWN];
	struct cover cover[DRAWN][MOST_NODES + 1]; /* by k */
} conflicts;

static int64_t length_of(int i)
{
	return INT64_C(1) << 2 * i;
}

/* The number of violations. */
static uint64_t draw(struct trial *t, int64_t length)
{
	const uint64_t room = t->set->space - (uint64_t)length + 1;
	uint64_t wrong = 0;

	for (int i = 0; i < DRAWN; i++) {
		struct cover *cover = conflicts.cover[i];
		struct span *s = &conflicts.span[i];

		s->first = (int64_t)(random_next(&t->random) % room);
		s->last = s->first + length - 1;
		for (int k = 1; k <= MOST_NODES; k++) {
			wrong += !cover_of(&cover[k], (int64_t)t->set->space, *s, k);
			wrong += k > 1 && cover[k].units > cover[k - 1].units;
		}
	}
	return wrong;
}

static void look_at_pair(struct trial *t, int l, int i, int j)
{
	const struct span *a = &conflicts.span[i], *b = &conflicts.span[j];

	conflicts.pairs[l]++;
	if (a->first <= b->last && b->first <= a->last)
		return;
	for (int k = 1; k <= MOST_NODES; k++) {
		bool meet = covers_meet(&conflicts.cover[i][k], &conflicts.cover[j][k]);

		conflicts.meet[l][k] += meet;
		t->violations += meet && k > 1 && length_of(l) <= LEAF;
	}
}

void falseconflict_run(struct trial *t)
{
	const uint64_t start = ticks();
	uint64_t now, done = 0;

	memset(conflicts.pairs, 0, sizeof conflicts.pairs);
	memset(conflicts.meet, 0, sizeof conflicts.meet);
	for (int l = 0; (now = ticks()) - start < t->ticks && done < t->limit;
	     l = (l + 1) % conflicts.lengths) {
		t->violations += draw(t, length_of(l));
		for (int i = 0; i < DRAWN; i++)
			for (int j = 0; j < i; j++)
				look_at_pair(t, l, i, j);
		done++;
		times_add(&t->hist, ticks() - now);
	}
	t->acquires = done;
	t->elapsed_ns = (double)(now - start) / ticks_per_ns;
}

int falseconflict_open(struct trial *t, char *why, size_t whylen)
{
	(void)why;
	(void)whylen;
	memset(&conflicts, 0, sizeof conflicts);
	while (conflicts.lengths < LENGTHS &&
	       (uint64_t)length_of(conflicts.lengths) <= t->set->space)
		conflicts.lengths++;
	return BENCH_OK;
}

void falseconflict_close(struct trial *t)
{
	for (t->rows = 0; t->rows < conflicts.lengths; t->rows++) {
		double *row = t->row[t->rows];
		double pairs = (double)team_sum(t->team, conflicts.pairs[t->rows]);

		row[0] = (double)length_of(t->rows);
		row[1] = pairs;
		for (int k = 1; k <= MOST_NODES; k++) {
			double meet = (double)team_sum(t->team, conflicts.meet[t->rows][k]);

			row[1 + k] = pairs > 0 ? meet / pairs : 0;
		}
	}
}
