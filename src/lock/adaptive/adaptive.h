/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind adaptive on one node: the words, and the interface between its parts: adaptive.c, the
 * calls; adaptive_layout.c, the places of the words; head.c, the head of the queue; counts.c, the
 * modes other than exclusive; direct.c, hand-overs without making W free; packages.c, queues of the
 * packages of the node; runs.c and turns.c, clients that acquire a lock again and again. */
#ifndef LOCK_ADAPTIVE_ADAPTIVE_H
#define LOCK_ADAPTIVE_ADAPTIVE_H

#include "lock/adaptive/kind.h"
#include "lock/mcs/mcs.h"

/* The words of a lock, NODE words at its home. */
enum {
	LINE_W = 0,
	LINE_QUEUE = 8, /* the tail of the queue of clients (mcs.h) */
	LINE_BYTES = 16
};

/* W: HELD, STRICT, and the numbers of sharers, of intents exclusive and of intents shared. 0: free.
 */
enum {
	W_HELD = 1,
	W_STRICT = 2, /* only the head may take W */
	COUNT_BITS = 19,
	SHARED_SHIFT = 6,
	INTENT_SHIFT = SHARED_SHIFT + COUNT_BITS,
	SHARED_INTENTS_SHIFT = INTENT_SHIFT + COUNT_BITS,
	MOST_CLIENTS = (1 << COUNT_BITS) - 1
};
#define W_COUNT(shift) ((int64_t)MOST_CLIENTS << (shift))
#define W_SHARERS W_COUNT(SHARED_SHIFT)
#define W_INTENTS W_COUNT(INTENT_SHIFT)
#define W_SHARED_INTENTS W_COUNT(SHARED_INTENTS_SHIFT) /* intents shared */
#define W_COUNTS (W_SHARERS | W_INTENTS | W_SHARED_INTENTS)
_Static_assert((W_HELD | W_STRICT) < 1 << SHARED_SHIFT && SHARED_INTENTS_SHIFT + COUNT_BITS <= 63,
	       "the fields of W do not overlap, and W is never negative");

struct adaptive_constants {
	int package_level;      /* level of the topology; 0: no package has a queue */
	struct lock_area tails; /* of the queues of packages */
	bool keeps_order;       /* patience 0 */
	bool decides;           /* the option leaves patience to the lock */
	uint64_t patience;      /* nanoseconds; if it decides, the longest */
};

/* A hand-over that takes longer, in ns, is slow. */
enum { SLOW_NS = 100000 };

/* How a client that has W came: by T1; from the queue, which it has left; or it is the head of the
 * queue (K1). */
enum adaptive_place { PLACE_NONE, PLACE_LEFT, PLACE_KEPT };

/* A slot's own part, which lasts from one acquire to the next. */
struct adaptive_slot {
	_Atomic(int64_t) *w;   /* W of lock number last - 1, if the process has it mapped */
	uint64_t last;         /* 1 + the lock for which w and queue were found; 0: w is NULL */
	struct rma_word queue; /* the tail of the queue, from which it finds W */
	uint64_t had;          /* 1 + the lock that it had last after it had not been free */
	uint64_t had_at;       /* when it had that lock */
	uint32_t had_then;     /* slot->acquires when it had that lock */
	uint64_t looked;     /* when it saw last that others queue; 0: they do not, or a new turn */
	uint64_t turn;       /* for how long it has run while others queue */
	int64_t behind;      /* the next client of its node, if it has inherited its place, or 0; or
			      * PLACE_OWN (packages.c) */
	uint64_t left;       /* 1 + the lock that it released last, until it acquires one again */
	uint64_t left_at;    /* when it released that lock */
	uint16_t shares;     /* shared acquires of those that look (turns.c) */
	uint16_t exclusives; /* exclusive acquires of those that look */
	int16_t long_waits;  /* waits that are to be patient, because hand-overs were slow */
	bool excluded;       /* as a sharer, when it counted itself last (S1) */
	bool is_absent : 1;  /* it did not come back soon when this was last measured (direct.c) */
	bool is_quick : 1;   /* it acquired again and again at once (runs.c) */
	bool times : 1;      /* the next look measures the time since this acquire (turns.c) */
	bool in_package : 1; /* it is in the queue of its package */
	uint8_t streak;      /* clients of that queue that have had W one after the other */
	uint8_t place;       /* an enum adaptive_place, from an acquire to its release */
	uint8_t handed;      /* hand-overs since W was looked at */
	uint8_t skip_direct; /* acquires until it hands W over directly again (direct.c) */
	uint8_t look_at;     /* which acquires look at its turn, by their number (turns.c) */
};
_Static_assert(sizeof(struct adaptive_slot) <= LOCK_OWN_BYTES, "it fits into a slot");

RMA_INLINE struct rma_word *adaptive_queue(struct lock_slot *slot)
{
	struct adaptive_slot *own = lock_own(slot);

	return &own->queue;
}

/* What a holder in the slot's mode adds to W. */
RMA_INLINE int64_t adaptive_one(const struct lock_slot *slot)
{
	if (slot->mode == PAWL_EXCLUSIVE)
		return W_HELD;
	if (slot->mode == PAWL_SHARED)
		return INT64_C(1) << SHARED_SHIFT;
	return INT64_C(1) << (slot->mode & PAWL_INTENT_SHARED ? SHARED_INTENTS_SHIFT
							      : INTENT_SHIFT);
}

/* The holders that exclude it: for these values of W it has to wait. */
RMA_INLINE int64_t adaptive_others(const struct lock_slot *slot)
{
	if (slot->mode == PAWL_EXCLUSIVE)
		return FAULT(adaptive_readers) ? W_HELD | W_SHARERS | W_INTENTS : W_HELD | W_COUNTS;
	if (slot->mode == PAWL_SHARED)
		return W_HELD | W_INTENTS;
	if (FAULT(adaptive_beside) && (slot->mode & PAWL_INTENT_SHARED))
		return 0;
	return slot->mode & PAWL_INTENT_SHARED ? W_HELD : W_HELD | W_SHARERS;
}

/* Another word of the lock. */
RMA_INLINE struct rma_word adaptive_word(struct lock_slot *slot, int offset)
{
	struct rma_word w = *adaptive_queue(slot);

	w.offset += (uint64_t)(int64_t)(offset - LINE_QUEUE);
	if (w.map)
		w.map += (offset - LINE_QUEUE) / (int)sizeof(int64_t);
	return w;
}

/* R1: make W free. Wakes the head, which sleeps only after it has set STRICT, and intents ahead,
 * which are counted. */
RMA_INLINE void adaptive_free(struct lock_slot *slot)
{
	struct rma_word w = adaptive_word(slot, LINE_W);
	int64_t old;

	rma_fao(&slot->client, w, RMA_SUM, -W_HELD, &old);
	if (__builtin_expect((old & (W_STRICT | W_COUNTS)) != 0, 0) && w.map)
		rma_wake(&slot->client, w);
}

/* The kind of a predecessor's grant: the client is the head of the queue, or has W, too. */
enum { HEAD_NOW = 1, HOLDER_NOW = 2, GRANT_KIND_BITS = 2 };
/* From this bit on, a grant of W has what packages.c needs. */
enum { GRANT_PACKAGE_SHIFT = 20 };
/* adaptive_slot.behind of a client that has no inherited place. */
enum { PLACE_OWN = -1 };

/* T1, T4: take W if it is free for this client, as the head of the queue or not. */
bool adaptive_take(struct lock_slot *slot, bool is_head);

/* The client has W, which it found not free before. For observers, the lock comes from a client of
 * this node. */
void adaptive_enter(struct lock_slot *slot);

/* Tries before a client queues. */
#define ATTEMPTS ATTEMPTS_OR(16, 2)

/* ---------------------------------------------------------------------- adaptive_layout.c */

/* The functions of these names in struct lock_protocol and in its block `check`. */
int adaptive_layout(struct lock_setup *s, char *err, size_t errlen);
void adaptive_describe(const struct lock_setup *s, char *text, size_t len);
uint64_t adaptive_overtakes(const struct lock_setup *s, int mode);
bool adaptive_idle(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m,
		   char *err, size_t errlen);

/* --------------------------------------------------------------------------------- head.c */

/* The client is the head of the queue, and has W if the grant says so. */
int head_acquire(const struct lock_setup *s, struct lock_slot *slot, int64_t grant);

/* --------------------------------------------------------------------- counts.c */

/* The clients that a client which takes back its count of W wakes if it finds them: the head, which
 * has set STRICT, and, if it was a sharer, intents exclusive that are ahead, which are counted. */
RMA_INLINE int64_t count_sleepers(const struct lock_slot *slot)
{
	return slot->mode == PAWL_SHARED ? W_STRICT | W_INTENTS : W_STRICT;
}

/* Take back a count of W. */
RMA_INLINE void count_leave(struct lock_slot *slot)
{
	struct rma_word w = adaptive_word(slot, LINE_W);
	int64_t old;

	rma_fao(&slot->client, w, RMA_SUM, -adaptive_one(slot), &old);
	if (__builtin_expect((old & count_sleepers(slot)) != 0, 0) && w.map)
		rma_wake(&slot->client, w);
}

/* Whether a sharer that S1 counted, where this was the value of W, is in. */
RMA_INLINE bool count_is_in(int64_t was)
{
	return !(was & (W_HELD | W_INTENTS | (FAULT(adaptive_strict) ? 0 : W_STRICT)));
}

/* S1 found the sharer excluded: take its count back. */
RMA_SLOW_PATH void count_take_back(struct lock_slot *slot);
/* S1 or T1, for a client that others in its mode do not exclude. */
bool count_at_once(struct lock_slot *slot);
/* C1, C2: an intent ahead: it is counted, and then waits for holders only. */
int count_ahead(struct lock_slot *slot);

/* ---------------------------------------------------------------------- runs.c */

/* The client has the lock, which it had to wait for. */
void run_begin(struct lock_slot *slot);
/* It has found that lock, or another one, not free: see whether it is quick. */
void run_end(const struct lock_setup *s, struct lock_slot *slot);
RMA_INLINE bool run_is_quick(const struct lock_slot *slot)
{
	const struct adaptive_slot *own = (const void *)slot->own;

	return own->is_quick;
}
/* Whether a quick head that looks finds that no client takes W again and again. */
bool run_has_ended(struct lock_slot *slot);

/* ---------------------------------------------------------------------turns.c */

/* The acquires for each look at the turn; and the number of the acquire that looks, if none does.
 */
enum { ACQUIRES_PER_LOOK = 64, NO_LOOK = 255 };

/* Whether this acquire is one of those that look. */
RMA_INLINE bool turn_looks(const struct lock_slot *slot)
{
	const struct adaptive_slot *own = (const void *)slot->own;

	return slot->acquires % ACQUIRES_PER_LOOK == own->look_at;
}
/* Whether the client, which has the words of the lock, has had its turn while others queue. */
bool turn_is_over(const struct lock_setup *s, struct lock_slot *slot);

/* ------------------------------------------------------------------------------- direct.c */

/* Whether hand-overs without making W free are expected to take less time than a client that runs
 * takes to come back. */
bool direct_is_better(const struct lock_setup *s, struct lock_slot *slot);
/* K2, K3: hand W to the next client of the queue, and leave the queue. False: the client has left
 * the queue, and still has W. */
bool direct_hand_on(const struct lock_setup *s, struct lock_slot *slot);
/* The client is the head of the queue by this grant. */
void direct_note_grant(const struct lock_setup *s, struct lock_slot *slot, int64_t grant);
/* A client that came from the queue has released the lock. */
void direct_note_release(struct lock_slot *slot);
/* A client acquires a lock. Whether others are likely to be in its queue. */
bool direct_note_acquire(const struct lock_setup *s, struct lock_slot *slot);
/* ----------------------------------------------------------------------------- packages.c */

/* The level of the topology of which each package has a queue, or 0. */
int package_level(const struct lock_setup *s);
/* Whether a client is to queue at its package. */
bool package_is_used(const struct lock_setup *s, struct lock_slot *slot);
/* Queue there, or go on to wait there. False: the deadline has passed, and the place is abandoned.
 * *grant is HEAD_NOW: queue at the node; or else a grant of W. */
bool package_enter(const struct lock_setup *s, struct lock_slot *slot, int64_t *grant);
int package_resume(struct lock_slot *slot, int64_t *grant);
/* Leave the queue of the package, if the client is in it; the next client is to queue at the node.
 */
void package_leave(const struct lock_setup *s, struct lock_slot *slot);
/* As mcs_leave() of the queue of the node, for a client that may have inherited its place. */
bool package_leave_node(struct lock_slot *slot, int64_t *succ);
/* Whether another client waits in the queue of the package; *succ as of mcs_leave(). If not, the
 * client has left it. */
bool package_has_next(const struct lock_setup *s, struct lock_slot *slot, int64_t *succ);
/* Whether W may go to it. */
bool package_goes_on(struct lock_slot *slot);
/* Hand W to it, with the place in the queue of the node. False: the queue is empty now. */
bool package_hand_on(const struct lock_setup *s, struct lock_slot *slot, int64_t succ,
		     int64_t grant);
/* What a grant of W to the next client of the node says. */
int64_t package_grant(struct lock_slot *slot);
/* The client is the head of the queue of its node, or has W, by this grant. */
void package_note_grant(const struct lock_setup *s, struct lock_slot *slot, int64_t grant);

#endif
