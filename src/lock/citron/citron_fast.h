/* SPDX-License-Identifier: BSD-3-Clause */
/* The fast path: a few leaves, and looks at the nodes above. */
#ifndef LOCK_CITRON_CITRON_FAST_H
#define LOCK_CITRON_CITRON_FAST_H

#include "lock/citron/citron_view.h"

/* At inner nodes; no flush. */
void citron_announce(struct citron_view *v, struct citron_node n);
void citron_withdraw(struct citron_view *v, int64_t keep);

/* A look at the nodes above nodes from to to - 1 of the cover; words that were got are in got[]. */
enum {
	GOT_LEAVES = 4 * CITRON_MOST_SPLIT,
	GOT_ABOVE = 2 * GOT_LEAVES,
	GOT_RAISED = GETS - 3,
	GOT_ROOT,
	GOT_TOP
};
struct citron_vacancy {
	int64_t from, to, count;
	bool all; /* the nodes were asked for, and not only RAISED */
	struct citron_node node[GOT_RAISED - GOT_ABOVE];
};
/* No flush. */
void citron_ask_above(struct citron_view *v, struct citron_vacancy *a);
/* A3, after the flush: whether none is occupied; else v->met, or the root shut. */
bool citron_is_vacant(struct citron_view *v, struct citron_vacancy *a);
bool citron_await_vacant(struct citron_view *v, int64_t index);

/* The leaves of a range, if they are few; 0 if not. */
int64_t citron_few_leaves(const struct citron_view *v);
/* L2 for leaf i of the cover, whose word was before when L1 changed it. No flush. */
void citron_unset_bits(struct citron_view *v, int64_t i, int64_t before);
/* All or nothing. */
bool citron_try_leaves(struct citron_view *v, int64_t leaves);
/* Until v->met lets its bits go, or is not occupied any more. */
bool citron_await_leaves(struct citron_view *v);

#endif
