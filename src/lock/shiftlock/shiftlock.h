/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words of ShiftLock: a block of four at the lock's home, and the values in queue nodes.
 * shiftlock.c is the protocol, shiftlock_lease.c the recovery.
 *
 * Word A (changed by sums only, which keep each field in its range):
 *
 *   63 .. 36  REL    releases, modulo 2^28; at the top, so that it may wrap
 *   35 .. 20  RDR    readers present: arrived and not yet gone
 *   19 ..  4  WP     writers present
 *    3        DEAD   the block is given up
 *    2        ABSENT the next writer has left; shiftlock_pass.c
 *    1 ..  0  EPOCH  0 or 1; changed to let blocked readers in
 *
 * A client counts once, and an absent one twice, so with at most SHIFTLOCK_CLIENTS clients at one
 * lock RDR and WP are at most 2^15; WP also counts the writers that a row still has to subtract, at
 * most GRANT_MOST_ROW. In a dead block they start at 2^15, and EPOCH with ABSENT at 6: what late
 * clients add and subtract there (ABSENT is only subtracted) does not change DEAD, because a carry
 * goes upwards, from WP into RDR.
 */
#ifndef LOCK_SHIFTLOCK_SHIFTLOCK_H
#define LOCK_SHIFTLOCK_SHIFTLOCK_H

#include "lock/lock.h"
#include "lock/pauses.h"

enum { BLOCK_A = 0, BLOCK_TAIL = 8, BLOCK_HEAD = 16, BLOCK_REPLACEMENT = 24, BLOCK_BYTES = 32 };
_Static_assert(BLOCK_TAIL == BLOCK_A + 8 && BLOCK_HEAD == BLOCK_TAIL + 8 &&
		   BLOCK_REPLACEMENT == BLOCK_HEAD + 8 && BLOCK_BYTES == BLOCK_REPLACEMENT + 8,
	       "four words a block");

enum { A_ABSENT_BIT = 2, A_DEAD_BIT = 3, A_WP_BIT = 4, A_RDR_BIT = 20, A_REL_BIT = 36 };
enum {
	A_EPOCH = 3,
	A_ABSENT = 1 << A_ABSENT_BIT,
	A_DEAD = 1 << A_DEAD_BIT,
	SHIFTLOCK_CLIENTS = (1 << 15) - 1
};
#define A_ONE_WP (INT64_C(1) << A_WP_BIT)
#define A_ONE_RDR (INT64_C(1) << A_RDR_BIT)
#define A_ONE_REL (INT64_C(1) << A_REL_BIT)
#define A_REL_MASK (-A_ONE_REL)
_Static_assert(A_ABSENT > A_EPOCH && A_DEAD > A_ABSENT && A_WP_BIT == A_DEAD_BIT + 1 &&
		   A_RDR_BIT == A_WP_BIT + 16 && A_REL_BIT == A_RDR_BIT + 16,
	       "the fields of A do not overlap");

RMA_INLINE int64_t a_writers(int64_t a)
{
	return (a >> A_WP_BIT) & 0xffff;
}

RMA_INLINE int64_t a_readers(int64_t a)
{
	return (a >> A_RDR_BIT) & 0xffff;
}

/* The field REL n releases later, in its place. */
RMA_INLINE int64_t a_rel_after(int64_t a, int64_t n)
{
	return (int64_t)((uint64_t)(a & A_REL_MASK) + ((uint64_t)n << A_REL_BIT));
}

/* The number of releases from one REL to a later one. */
RMA_INLINE int64_t a_rel_between(int64_t from, int64_t to)
{
	return (int64_t)(((uint64_t)to - (uint64_t)(from & A_REL_MASK)) >> A_REL_BIT);
}

/* What to add to change EPOCH from this value. */
RMA_INLINE int64_t a_next_epoch(int64_t epoch)
{
	return epoch ? -1 : 1;
}

/*
 * The name of a queueing writer: its slot's id, and how often the slot has queued, modulo 2^16.
 * TAIL, HEAD and NEXT have it; HEAD and NEXT also have whether the writer has a deadline, and NEXT
 * a tag of the queueing for which the link is meant, which is never 0. STATUS has the grant.
 */
enum { SELF_TURN_BIT = 40, NEXT_TAG_BIT = 56, NEXT_TAGS = 127 };
#define SELF_ID_MASK ((INT64_C(1) << SELF_TURN_BIT) - 1)
#define SELF_MASK ((INT64_C(1) << NEXT_TAG_BIT) - 1)
#define SELF_TIMED INT64_MIN
#define NEXT_TAG_MASK (INT64_C(127) << NEXT_TAG_BIT)
#define NEXT_NAME_MASK (SELF_MASK | SELF_TIMED)

RMA_INLINE int64_t self_turn(int64_t self)
{
	return FAULT(shiftlock_number) ? 0 : (self >> SELF_TURN_BIT) & 0xffff;
}

RMA_INLINE int64_t self_tag(int64_t self)
{
	return (self_turn(self) % NEXT_TAGS + 1) << NEXT_TAG_BIT;
}

/* The client that is linked behind this queueing, whose NEXT has this value; 0: none is yet. */
RMA_INLINE int64_t next_linked(int64_t next, int64_t self)
{
	return (next & NEXT_TAG_MASK) == self_tag(self) ? next & NEXT_NAME_MASK : 0;
}

/* The grant: the number of the queueing for which it is meant; the REL to wait for, or REL now; or
 * with OWES the writers of this row that A still counts, and the lowest bits of REL now; and the
 * writers in a row so far. */
enum { GRANT_GIVEN = 1, GRANT_EPOCH = 2, GRANT_DRAIN = 4, GRANT_OWES = 1 << 18 };
enum { GRANT_ROW_BIT = 3, GRANT_REL_BIT = 20, GRANT_TURN_BIT = 48, GRANT_MOST_ROW = 0x7fff };
enum { GRANT_OWED_BITS = 15, GRANT_REL_LOW = (1 << 13) - 1 };
_Static_assert(GRANT_OWES > GRANT_MOST_ROW << GRANT_ROW_BIT && GRANT_OWES < 1 << GRANT_REL_BIT,
	       "the fields of a grant do not overlap");
_Static_assert(GRANT_MOST_ROW >> GRANT_OWED_BITS == 0 &&
		   GRANT_REL_LOW >> (GRANT_TURN_BIT - GRANT_REL_BIT - GRANT_OWED_BITS) == 0,
	       "what a writer owes and the bits of REL share the place of REL");
_Static_assert(GRANT_MOST_ROW + SHIFTLOCK_CLIENTS + 1 < 1 << (A_RDR_BIT - A_WP_BIT),
	       "WP counts the writers of a row twice if they are back");
#define GRANT_MASK ((-(INT64_C(1) << GRANT_TURN_BIT)) | GRANT_GIVEN)

/* The bits of REL that a grant within a row has. */
RMA_INLINE int64_t a_rel_low(int64_t a)
{
	return (a >> A_REL_BIT) & GRANT_REL_LOW;
}

RMA_INLINE int64_t grant_for(int64_t self)
{
	return (int64_t)((uint64_t)self_turn(self) << GRANT_TURN_BIT) | GRANT_GIVEN;
}

/* STATUS of a writer that has left its place, and of one that was passed over. */
enum { STATUS_LEFT = 2, STATUS_PASSED = 4 };
_Static_assert(!((STATUS_LEFT | STATUS_PASSED) & GRANT_GIVEN), "neither is a grant");

RMA_INLINE int64_t status_left(int64_t self)
{
	return grant_for(self) - GRANT_GIVEN + STATUS_LEFT;
}

RMA_INLINE int64_t status_passed(int64_t self)
{
	return grant_for(self) - GRANT_GIVEN + STATUS_PASSED;
}

struct shiftlock {
	uint64_t spares; /* the blocks that replace dead ones */
	uint64_t used;   /* the word with the number of spares in use */
	int64_t n_spares;
	int64_t turn; /* writers in a row */
	bool coarse;  /* the lease is long enough for the kernel's coarse clock */
};

struct shiftlock_options {
	int64_t t_w;                 /* writers in a row; 0: 32 */
	struct lock_backoff backoff; /* between two looks at a word of another node */
	int64_t lease_us;            /* 0: none */
	int64_t recoveries;          /* at one home, at most */
};
_Static_assert(sizeof(struct shiftlock_options) <= LOCK_OPTION_BYTES, "the options fit");

RMA_INLINE const struct shiftlock_options *options_of(const struct lock_setup *s)
{
	return lock_options(s);
}

/* 0: none */
RMA_INLINE uint64_t lease_ns(const struct lock_setup *s)
{
	return (uint64_t)options_of(s)->lease_us * 1000;
}

struct shiftlock_slot {
	struct rma_word a; /* A of the block in use */
	int64_t self;      /* name of the last queueing */
	int64_t turn;      /* number of queueings so far */
	int64_t seen;      /* struct lease_watch of a place that was left */
	uint64_t since;    /* the same */
	int64_t row;       /* writers in a row before it */
	int64_t owed;      /* those of them that A still counts; only if queued */
	int64_t rel;   /* the lowest bits of REL, which no other client changes; only if queued */
	int64_t late;  /* lock + 1 at which the last release found a link to be late, or 0 */
	uint64_t trip; /* time of the quickest swap of a TAIL through the network, or 0 */
	uint8_t epoch; /* EPOCH at the acquire */
	bool queued;   /* it got the lock through the queue of writers */
};
_Static_assert(sizeof(struct shiftlock_slot) <= LOCK_OWN_BYTES, "it fits into a slot");

RMA_INLINE struct shiftlock_slot *own_of(struct lock_slot *slot)
{
	return lock_own(slot);
}

/* A of the slot's block, and another word of that block. */
RMA_INLINE struct rma_word a_word(struct lock_slot *slot)
{
	return own_of(slot)->a;
}

RMA_INLINE struct rma_word block_word(struct lock_slot *slot, int offset)
{
	struct rma_word w = a_word(slot);

	w.offset += (uint64_t)offset;
	if (w.map)
		w.map += offset / 8;
	return w;
}

/* What a waiter has seen of A. Progress shows in EPOCH and REL. */
struct lease_watch {
	uint64_t looked; /* start of the last look at A, which was not dead */
	uint64_t since;  /* end of the first look that saw this value */
	int64_t seen;
	int64_t a; /* all of A, at the last look */
};

/* The slot's block is dead, so continue at another one. Internal, never returned to callers. */
enum { SHIFTLOCK_DEAD = -1 };

/* What a slot knows of a few locks: lock + 1 and the offset of a block that replaced another. */
enum { SHIFTLOCK_KNOWN = 8 };

RMA_INLINE int64_t *shiftlock_known(struct lock_slot *slot)
{
	return (int64_t *)lock_scratch(slot) + 2 * (slot->lock % SHIFTLOCK_KNOWN);
}

/* lock + 1 and a time after which REL of its living block has changed, (J). */
RMA_INLINE int64_t *shiftlock_moved(struct lock_slot *slot)
{
	return shiftlock_known(slot) + 2 * SHIFTLOCK_KNOWN;
}

/* The word at this offset of the lock's home. */
struct rma_word shiftlock_at_home(const struct lock_setup *s, struct lock_slot *slot,
				  uint64_t offset);

/* Find the lock's living block, as far as this client knows. Whether it is one that replaced
 * another. */
RMA_INLINE bool shiftlock_find(const struct lock_setup *s, struct lock_slot *slot)
{
	const int64_t *hint = shiftlock_known(slot);

	if (__builtin_expect(hint[0] == (int64_t)slot->lock + 1, 0)) {
		own_of(slot)->a = shiftlock_at_home(s, slot, (uint64_t)hint[1]);
		return true;
	}
	own_of(slot)->a =
	    lock_home_word(s, &slot->client, s->domain, s->words, BLOCK_BYTES, slot->lock);
	return false;
}

/* Whether the slot's block replaced another. */
static inline bool shiftlock_is_later(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct shiftlock *k = s->state;

	return a_word(slot).offset >= k->spares;
}

struct lock_life shiftlock_life(const struct lock_setup *s, struct lock_slot *slot);
/* The slot's block is dead: find the block in its place, or put one there. PAWL_SUCCESS or
 * PAWL_ERR_TOO_MANY. */
int shiftlock_next_block(const struct lock_setup *s, struct lock_slot *slot);
uint64_t shiftlock_scratch_words(const struct lock_setup *s);
/* The time in nanoseconds, from 1 on, exact; 0 without leases. */
uint64_t lease_now(const struct lock_setup *s, struct lock_slot *slot);
/* The same for an uncontended acquire: it may be behind, never ahead. */
uint64_t lease_now_cheap(const struct lock_setup *s, struct lock_slot *slot);
void lease_watch_begin(const struct lock_setup *s, struct lock_slot *slot, struct lease_watch *w,
		       uint64_t before, int64_t a);
/* A had this value, in a look that began at time before. SHIFTLOCK_DEAD: the block is dead, or is
 * now given up for lack of progress. */
int lease_check(const struct lock_setup *s, struct lock_slot *slot, struct lease_watch *w,
		uint64_t before, int64_t a);
/* Look at A, and check. */
int lease_look(const struct lock_setup *s, struct lock_slot *slot, struct lease_watch *w);
/* REL of the block has changed since this time. */
void lease_note_moved(struct lock_slot *slot, uint64_t since);
/* Whether the client knows that REL has changed at most a lease ago; (J). */
bool lease_has_moved(const struct lock_setup *s, struct lock_slot *slot);
/* When to look again; 0: never. */
uint64_t lease_next_look(const struct lock_setup *s, struct lock_slot *slot);

/* The client that is linked behind this slot; 0: none comes. */
int64_t pass_await_link(const struct lock_setup *s, struct lock_slot *slot);
/* The client at the head of a queue in which this client was not; 0: none comes. Takes HEAD; (D),
 * pairs with W5. */
int64_t pass_take_head(const struct lock_setup *s, struct lock_slot *slot);
/* R5: give the lock to the next writer. The releaser's sum found old, subtracted the writers that
 * it owed, and changed EPOCH. */
void pass_grant(const struct lock_setup *s, struct lock_slot *slot, int64_t to, int64_t owed,
		int64_t old);
/* R6: give the lock to the next writer of the row, which owes the releaser's sum, too. REL stays as
 * it is. With a lease, PAWL_ERR_LEASE_LOST if the block is dead, (H); else PAWL_SUCCESS. */
int pass_grant_owing(const struct lock_setup *s, struct lock_slot *slot, int64_t to);
/* L1, L2: a writer that would be next does not wait for the readers, which have left when REL is
 * rel. A was seen as a. PAWL_ERR_TIMEOUT: the writer is absent; if it is queued, pass_put_back()
 * has to follow. PAWL_SUCCESS: the readers have left, and the writer has the lock. Or
 * SHIFTLOCK_DEAD. */
int pass_be_absent(struct lock_slot *slot, int64_t a, int64_t rel, bool queued);
/* Put a queued writer that is absent back at the head of the queue. */
void pass_put_back(const struct lock_setup *s, struct lock_slot *slot, int64_t writer);
/* L3. False: the grant came first. *status is the last known STATUS. */
bool pass_leave_queue(const struct lock_setup *s, struct lock_slot *slot, int64_t *status);
/* Whether the release of a reader, which found old, was the last one for which an absent writer
 * waits. */
bool pass_is_last(int64_t old);
/* B2: then the reader releases for that writer. A was seen as a. */
void pass_release_absent(const struct lock_setup *s, struct lock_slot *slot, int64_t a);

#endif
