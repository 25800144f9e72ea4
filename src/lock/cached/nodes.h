/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind cached: the queue of nodes, MCS with abandoned places (mcs.h), whose empty TAIL has the
 * directory; Q1 to Q4, L5, L6, D1 to D3 of README. */
#ifndef LOCK_CACHED_NODES_H
#define LOCK_CACHED_NODES_H

#include "lock/cached/first.h"
#include "lock/cached/modes.h"

/* The head of the node's queue enters the queue of nodes, or goes on from the node's place. False:
 * the deadline has passed. True: the node is the head, with this directory. */
bool nodes_enter(const struct lock_setup *s, struct lock_slot *slot, int64_t *dir);
/* The same, only if TAIL has this value. */
bool nodes_try_enter(struct lock_slot *slot, int64_t tail);
/* Whether the queue is empty, and TAIL. */
bool nodes_are_none(struct lock_slot *slot, int64_t *tail);
/* Whether another node is next. */
bool nodes_have_next(struct lock_slot *slot);
/* Whether it is, with an exclusive client that stays in the queue until it has the lock. */
bool nodes_next_writes(struct lock_slot *slot);
/* L5: leave the directory in TAIL. Returns the next node, to which it has to be granted, or 0. */
int64_t nodes_leave(struct lock_slot *slot, int64_t dir);
/* L6. PAWL_SUCCESS; LOCK_LEFT only if it may post. */
int nodes_grant(const struct lock_setup *s, struct lock_slot *slot, int64_t next, int64_t dir,
		bool posts);

#endif
