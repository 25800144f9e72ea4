/* SPDX-License-Identifier: BSD-3-Clause */
/* Lock caching: the queue of nodes, MCS with abandoned places (mcs.h), whose empty TAIL has the
 * directory; Q1 to Q4, K, L5, L6, D1 to D3, A3, P1, P2 of README. */
#ifndef LOCK_CACHED_NODES_H
#define LOCK_CACHED_NODES_H

#include "lock/cached/first.h"
#include "lock/cached/modes.h"
#include "lock/cached/uncached.h"

/* What the head of the node's queue has of the queue of nodes: nothing; the node's place there, and
 * its deadline has passed, or MODE admits the client, or it has waited for a while, and sharers may
 * be in the way (T); its head's. */
enum nodes { NODES_NONE, NODES_LATE, NODES_OPEN, NODES_STALLED, NODES_HEAD };

/* Whether the client looks at MODE while its node has a place, and leaves that if it can. */
static inline bool nodes_may_leave(struct lock_slot *slot)
{
	const struct cached_slot *own = lock_own(slot);

	return !is_exclusive(slot) && (is_ahead(slot) || own->beside || slot->deadline_ns);
}
/* The head of the node's queue enters the queue of nodes, or goes on from the node's place.
 * has_place: it has that. look_ns: how long to wait for the grant until the client looks at MODE,
 * or for sharers that keep the queue, longer each time. NODES_HEAD: with this directory.
 * NODES_NONE: the deadline has passed. */
enum nodes nodes_enter(const struct lock_setup *s, struct lock_slot *slot, bool has_place,
		       uint64_t *look_ns, int64_t *dir);
/* The node whose place this TAIL is; -1: none. Whether it is that of another node. */
int nodes_last(int64_t tail);
bool nodes_other_is_last(struct lock_slot *slot, int64_t tail);
/* D1: abandon the place. False: the grant came first, or has been left. */
bool nodes_abandon(struct lock_slot *slot, int64_t *dir);
/* D1: the place is for the next head of the node's queue; has: with the grant of this directory. */
void nodes_leave_place(struct lock_slot *slot, bool has, int64_t dir);
/* Whether a place has been left so, which this client has from here on. */
bool nodes_take_place(struct lock_slot *slot);
/* A3: tell heads that recall, as far as MODE of nodes shows them, of a client ahead. */
void nodes_ask(const struct lock_setup *s, struct lock_slot *slot);
/* Enter only if TAIL has this value, or this directory, left by the node that it had. */
bool nodes_try_enter(struct lock_slot *slot, int64_t tail, int64_t dir);
/* Whether the queue is empty, or its last node has left it; TAIL, and the directory then. */
bool nodes_are_none(const struct lock_setup *s, struct lock_slot *slot, int64_t *tail,
		    int64_t *dir);
/* T7: a try enters behind the node that this TAIL names. NODES_NONE: another one has entered, or
 * the queue has become empty; NODES_LATE: it has a place that it can abandon; NODES_HEAD: that node
 * has left (P2), with this directory. */
enum nodes nodes_try_behind(const struct lock_setup *s, struct lock_slot *slot, int64_t tail,
			    int64_t *dir);
/* Whether the place has been granted the lock by now, with this directory. */
bool nodes_are_granted(struct lock_slot *slot, int64_t *dir);
/* K: what the head has recalled, while its node keeps the queue, in STATUS, which nobody else uses
 * then. */
void nodes_keep(struct lock_slot *slot, int64_t dir);
int64_t nodes_directory(struct lock_slot *slot);
void nodes_forget(struct lock_slot *slot);
/* T2: mark NEXT of a node that keeps the queue. False: nobody has linked itself there, or an
 * exclusive client that stays until it has the lock. */
bool nodes_seek(const struct lock_setup *s, struct lock_slot *slot, int node, int64_t *next);
/* T4: whether another node has taken the queue over from sharers of this one, which does not keep
 * it any more. */
bool nodes_are_taken(struct lock_slot *slot);
/* T4, of a client that has W alone, after sharers or not. False: another node has taken the queue
 * over. Else *dir is the directory; *stays becomes false if another node has tried to take over. */
bool nodes_claim(struct lock_slot *slot, bool shared, int64_t *dir, bool *stays);
/* The head waits for so long, if its deadline allows, so that more writers come. */
void nodes_gather(struct lock_slot *slot, uint64_t ns);
/* Whether another node is next. */
bool nodes_have_next(struct lock_slot *slot);
/* Whether it is, with an exclusive client that stays in the queue until it has the lock. */
bool nodes_next_writes(struct lock_slot *slot);
/* Whether it is, with an exclusive client. */
bool nodes_next_excludes(struct lock_slot *slot);
/* L5, P1: leave the directory, and pay before. Returns the next place, to which it has to be
 * granted, or 0: then nodes_end() has to follow, with *left. */
int64_t nodes_leave(const struct lock_setup *s, struct lock_slot *slot, int64_t *dir,
		    int64_t *left);
/* P1: swap TAIL from this place, unless it is 0, to the directory. PAWL_SUCCESS; LOCK_LEFT only if
 * it may post. */
int nodes_end(const struct lock_setup *s, struct lock_slot *slot, int64_t left, int64_t dir,
	      bool posts);
/* L6. PAWL_SUCCESS; LOCK_LEFT only if it may post. */
int nodes_grant(const struct lock_setup *s, struct lock_slot *slot, int64_t next, int64_t dir,
		bool posts);

#endif
