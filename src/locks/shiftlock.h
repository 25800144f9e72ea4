/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words of ShiftLock: a block of four at the lock's home, and what stands in
 * queue nodes. shiftlock.c is the protocol, shiftlock_lease.c the recovery.
 *
 * Word A (all of it changed by sums, a field never leaves its range):
 *
 *   63 .. 36  REL    releases, modulo 2^28; at the top, so that it wraps in peace
 *   35 .. 20  RDR    readers present: arrived and not yet gone
 *   19 ..  4  WP     writers present
 *    3        DEAD   the block is given up
 *    2 ..  0  EPOCH  0 or 1; changed to let blocked readers in
 *
 * A client counts once, so that with at most SHIFTLOCK_CLIENTS clients at one lock
 * RDR and WP stay below 2^15. In a dead block they begin at 2^15, and EPOCH at 2:
 * what late clients add and take there changes no other field.
 */
#ifndef LOCKS_SHIFTLOCK_H
#define LOCKS_SHIFTLOCK_H

#include "locks/lock.h"

enum { BLOCK_A = 0, BLOCK_TAIL = 8, BLOCK_HEAD = 16, BLOCK_HEIR = 24, BLOCK_BYTES = 32 };
_Static_assert(BLOCK_TAIL == BLOCK_A + 8 && BLOCK_HEAD == BLOCK_TAIL + 8 &&
		   BLOCK_HEIR == BLOCK_HEAD + 8 && BLOCK_BYTES == BLOCK_HEIR + 8,
	       "four words a block");

enum { A_DEAD_BIT = 3, A_WP_BIT = 4, A_RDR_BIT = 20, A_REL_BIT = 36 };
enum { A_EPOCH = 7, A_DEAD = 1 << A_DEAD_BIT, SHIFTLOCK_CLIENTS = (1 << 15) - 1 };
#define A_ONE_WP (INT64_C(1) << A_WP_BIT)
#define A_ONE_RDR (INT64_C(1) << A_RDR_BIT)
#define A_ONE_REL (INT64_C(1) << A_REL_BIT)
#define A_REL_MASK (-A_ONE_REL)
_Static_assert(A_DEAD > A_EPOCH && A_WP_BIT == A_DEAD_BIT + 1 && A_RDR_BIT == A_WP_BIT + 16 &&
		   A_REL_BIT == A_RDR_BIT + 16,
	       "the fields of A do not overlap");

RMA_INLINE int64_t a_writers(int64_t a)
{
	return (a >> A_WP_BIT) & 0xffff;
}

RMA_INLINE int64_t a_readers(int64_t a)
{
	return (a >> A_RDR_BIT) & 0xffff;
}

/* The field REL in its place, n releases later. */
RMA_INLINE int64_t a_rel_after(int64_t a, int64_t n)
{
	return (int64_t)((uint64_t)(a & A_REL_MASK) + ((uint64_t)n << A_REL_BIT));
}

/*
 * Who a writer is: its slot's id, and below 2^16 how many times this slot has
 * queued. TAIL, HEAD and NEXT hold that; NEXT also a tag of the queueing that the
 * link is meant for, never 0. STATUS holds the grant.
 */
enum { SELF_TURN_BIT = 40, NEXT_TAG_BIT = 56 };
#define SELF_ID_MASK ((INT64_C(1) << SELF_TURN_BIT) - 1)
#define SELF_MASK ((INT64_C(1) << NEXT_TAG_BIT) - 1)
#define NEXT_TAG_MASK (-(INT64_C(1) << NEXT_TAG_BIT))

RMA_INLINE int64_t self_turn(int64_t self)
{
	return (self >> SELF_TURN_BIT) & 0xffff;
}

RMA_INLINE int64_t self_tag(int64_t self)
{
	return (int64_t)((uint64_t)(self_turn(self) % 255 + 1) << NEXT_TAG_BIT);
}

/* The grant: for which queueing, the REL to wait for, writers in a row so far. */
enum { GRANT_GIVEN = 1, GRANT_EPOCH = 2, GRANT_DRAIN = 4 };
enum { GRANT_ROW_BIT = 3, GRANT_REL_BIT = 20, GRANT_TURN_BIT = 48, GRANT_MOST_ROW = 0xffff };
#define GRANT_MASK ((-(INT64_C(1) << GRANT_TURN_BIT)) | GRANT_GIVEN)

RMA_INLINE int64_t grant_for(int64_t self)
{
	return (int64_t)((uint64_t)self_turn(self) << GRANT_TURN_BIT) | GRANT_GIVEN;
}

struct shiftlock {
	uint64_t blocks; /* the first of each lock */
	uint64_t spares; /* those that take the place of dead ones */
	uint64_t used;   /* word: how many spares are in use */
	int64_t n_spares;
	int64_t turn; /* writers in a row */
	bool coarse;  /* the lease is long for the kernel's coarse clock */
};

/* 0: none */
RMA_INLINE uint64_t lease_ns(const struct lock_space *s)
{
	return (uint64_t)s->params.lease_us * 1000;
}

/* notes of a slot */
enum { NOTE_BLOCK, NOTE_SELF, NOTE_TURN };

/* A word of the block that the slot works on. */
RMA_INLINE struct rma_word block_word(const struct lock_slot *slot, int offset)
{
	struct rma_word w = slot->tail; /* A */

	w.offset += (uint64_t)offset;
	if (w.map)
		w.map += offset / 8;
	return w;
}

/* What a client that waits has seen of A: progress is EPOCH and REL. */
struct lease_watch {
	uint64_t looked; /* the last look at A began, and it was not dead, */
	uint64_t since;  /* and the first one that saw this was over */
	int64_t seen;
};

/* The slot's block is dead: go on elsewhere. Internal, never returned to callers. */
enum { SHIFTLOCK_DEAD = -1 };

/* The place of the lock's living block, as far as this client knows. */
void shiftlock_find(const struct lock_space *s, struct lock_slot *slot);
/* The slot's block is dead: find the one in its place, or put one there. PAWL_SUCCESS
 * or PAWL_ERR_TOO_MANY. */
int shiftlock_next_block(const struct lock_space *s, struct lock_slot *slot);
uint64_t shiftlock_scratch_words(const struct lock_space *s);
/* The time in nanoseconds from 1 on, exact; 0 without leases. */
uint64_t lease_now(const struct lock_space *s, struct lock_slot *slot);
/* The same, no later than it is, for the way of an uncontended acquire. */
uint64_t lease_glance(const struct lock_space *s, struct lock_slot *slot);
void lease_watch_begin(const struct lock_space *s, struct lock_slot *slot, struct lease_watch *w,
		       uint64_t before, int64_t a);
/* A was this, by a look that began at the time given. SHIFTLOCK_DEAD if it is dead,
 * or now is for lack of progress. */
int lease_check(const struct lock_space *s, struct lock_slot *slot, struct lease_watch *w,
		uint64_t before, int64_t a);
/* Look at A, and check. */
int lease_look(const struct lock_space *s, struct lock_slot *slot, struct lease_watch *w);
/* When to look again; 0: never. */
uint64_t lease_next_look(const struct lock_space *s, struct lock_slot *slot);

#endif
