/* SPDX-License-Identifier: BSD-3-Clause */
/* Which tree of a space is in use: its word TOP, and spaces that grow. */
#ifndef LOCK_CITRON_CITRON_TOP_H
#define LOCK_CITRON_CITRON_TOP_H

#include "lock/citron/citron_view.h"

/* The space of the slot, under the TOP that its client knows. */
struct citron_view citron_look(const struct lock_setup *s, struct lock_slot *slot);
/* Under another TOP, with nothing held or announced. */
void citron_adopt(struct citron_view *v, int64_t top);
/* The tree that a hold was taken in. */
struct citron_view citron_look_back(const struct lock_setup *s, struct lock_slot *slot);
/* TOP as it is now; one round trip. */
int64_t citron_read_top(struct citron_view *v);
struct rma_word citron_top_word(const struct citron_view *v);
/* Whether a look at TOP permits to go on with what we know: the copy is in use, and not frozen. */
static inline bool citron_is_open(const struct citron_view *v, int64_t top)
{
	return copy_of(top) == copy_of(v->top) && !is_frozen(top);
}
/* Swap it; what was there. Wakes those that wait for it. */
int64_t citron_swap_top(struct citron_view *v, int64_t expected, int64_t top);
/* Set SHUT in the root; the word as it is then. */
void citron_shut(struct citron_view *v);
/* In a turn at SPILL: whether TOP is still what we know. If not, or if the tree was
 * grown right now for units up to last, v->shut. */
bool citron_may_spill(struct citron_view *v, int64_t last);
/* Make room for so many units, in a turn at SPILL; v->shut afterwards. */
void citron_raise(struct citron_view *v, int64_t units);
/* No client is left that takes an old root for the root. */
void citron_settle(struct citron_view *v);

#endif
