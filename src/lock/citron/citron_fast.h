/* SPDX-License-Identifier: BSD-3-Clause */
/* The fast path: a few leaves, and looks at the nodes above. */
#ifndef LOCK_CITRON_CITRON_FAST_H
#define LOCK_CITRON_CITRON_FAST_H

#include "lock/citron/citron_view.h"

/* Announce at the inner nodes above n; withdraw all announcements but the first keep. No flush. */
void citron_announce(struct citron_view *v, struct citron_node n);
void citron_withdraw(struct citron_view *v, int64_t keep);

/* A look at the nodes above nodes from ... to - 1 of the cover; the fetched words are in got[]. */
enum {
	GOT_LEAVES = 4 * CITRON_MOST_SPLIT,
	GOT_ABOVE = 2 * GOT_LEAVES,
	GOT_RAISED = 125,
	GOT_ROOT,
	GOT_TOP
};
struct citron_vacancy {
	int64_t from, to, count;
	bool all; /* all nodes are looked at, not only RAISED */
	struct citron_node node[GOT_RAISED - GOT_ABOVE];
};
/* Issue the look; no flush. */
void citron_ask_above(struct citron_view *v, struct citron_vacancy *a);
/* A3, after the flush: whether no node is occupied. False: v->met is set, or v->shut. */
bool citron_is_vacant(struct citron_view *v, struct citron_vacancy *a);
bool citron_await_vacant(struct citron_view *v, int64_t index);

/* The number of leaves of the range, if they are few; else 0. */
int64_t citron_few_leaves(const struct citron_view *v);
/* L2 for leaf i of the cover, whose word was before when L1 changed it. No flush. */
void citron_unset_bits(struct citron_view *v, int64_t i, int64_t before);
/* Take all leaves or none; in a turn at a queue by several requests. */
bool citron_try_leaves(struct citron_view *v, int64_t leaves);
/* Wait until the word at v->met is no longer in the way. */
bool citron_await_leaves(struct citron_view *v);

#endif
