/* SPDX-License-Identifier: BSD-3-Clause */
/* Which tree of a space is in use: its word TOP, and spaces that grow. */
#ifndef LOCK_CITRON_CITRON_TOP_H
#define LOCK_CITRON_CITRON_TOP_H

#include "lock/citron/citron_view.h"

/* The space of the slot, with the TOP that its client knows. */
void citron_look(struct citron_view *v, const struct lock_setup *s, struct lock_slot *slot);
/* Change to another TOP, with nothing held or announced. */
void citron_adopt(struct citron_view *v, int64_t top);
/* The tree in which the slot's range was taken. */
void citron_look_back(struct citron_view *v, const struct lock_setup *s, struct lock_slot *slot);
/* Read TOP; one round trip. */
int64_t citron_read_top(struct citron_view *v);
struct rma_word citron_top_word(const struct citron_view *v);
/* Whether, by a look at TOP, the client may continue: its copy is in use, and the space is not
 * frozen. */
static inline bool citron_is_open(const struct citron_view *v, int64_t top)
{
	return copy_of(top) == copy_of(v->top) && !is_frozen(top);
}
/* Swap TOP. Returns the previous value. Wakes clients that wait for a change. */
int64_t citron_swap_top(struct citron_view *v, int64_t expected, int64_t top);
/* Set SHUT in the root. */
void citron_shut(struct citron_view *v);
/* In a turn at SPILL: whether TOP is still the known one. If not, or if this call has let the tree
 * grow for units up to last, v->shut is set. */
bool citron_may_spill(struct citron_view *v, int64_t last);
/* Let the tree grow to this many units, in a turn at SPILL; sets v->shut. */
void citron_raise(struct citron_view *v, int64_t units);
/* Record that no client is left that takes an old root for the root. */
void citron_settle(struct citron_view *v);

#endif
