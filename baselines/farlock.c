/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FARLock: an asymmetric lock in the order of arrival. After "FARLock" (OSDI'26), from its abstract
 * and what is known of its structure, without its code: two cohorts as in ALock
 * (src/lock/alock/alock.c), but Peterson's lock is held only while a client draws its ticket, not
 * during the critical section.
 *
 * The ranks of the home's node are the local cohort of a lock, and use only CPU atomics, loads and
 * stores. All others are its remote cohort, and use only operations of the transport. The cohorts
 * have no atomic operation in common, so no client can draw a ticket by a fetch-and-add. Each
 * cohort has an MCS queue (mcs.h); its leader competes with that of the other one in Peterson's
 * lock, whose flags are the two TAIL words, and draws its ticket under it by a read and a write.
 * Then it leaves the queue and waits for its turn. A client links itself to the one with the ticket
 * before its own and is granted the lock by it, as in an MCS queue, whatever their cohorts. So the
 * lock is handed over by one write, a waiter waits on its own memory, and the lock goes from one
 * cohort to the other without a new competition.
 *
 * Words, at the home. TAIL[local] is a NODE word and TAIL[remote] a NET word; each cohort only
 * reads the other's. VICTIM, DRAWN and LEFT are read and written by both, but never
 * read-modify-written. DRAWN has the last ticket, the slot that drew it, and since which ticket no
 * client found the lock free; it is written under Peterson's lock. LEFT is the ticket of the last
 * client that left without a successor; it is written by holders. The lock is free if LEFT is the
 * ticket in DRAWN.
 *
 * Rows. A leader that has Peterson's lock hands it on to the client behind it in its cohort, with
 * its ticket. That client draws the next one without a look at DRAWN, and the two need no link. The
 * last client of a row writes DRAWN. Length of a row: the cohort's budget (local_budget,
 * remote_budget), MOST_BUDGET at most. Then the next client in the queue is a leader.
 *
 * Queue nodes are slots. The words of a client's cohort (NODE or NET) serve the cohort's queue, and
 * those of the other domain the queue of tickets, as words of the cohort's domain.
 *
 * Free or not. A client draws ticket t + 1 while the holder of t leaves.
 *   F1  The client reads DRAWN, which has t, and LEFT. If LEFT is t, it writes DRAWN with t + 1 and
 *       the mark that it found the lock free, and has the lock.
 *   F2  Else it writes DRAWN with t + 1, and reads LEFT again. If LEFT is t now, it adds the mark
 *       to DRAWN, and has the lock.
 *   F3  Else it links itself to the client with t, and waits for its grant.
 *   L1  The holder looks for a link. If there is none, it writes LEFT, and then reads DRAWN.
 *   L2  If DRAWN still has t, it is done.
 *   L3  If DRAWN has a later ticket, it looks for the link and for the mark, until one of them is
 *       there. If it is the link, it grants the lock.
 *
 * Guarantees
 *   (A) Peterson's lock: (A) to (D) of alock.c.
 *   (B) DRAWN takes effect before its client leaves the queue or makes another one the leader. So
 *       leaders draw different tickets. In a row, tickets are drawn by the numbers that are handed
 *       on, and DRAWN is written before the row ends.
 *   (C) A client that does not find LEFT at t in F2 has written DRAWN before, so the holder of t,
 *       which writes LEFT later, finds that in L1. It goes to L3, where it finds the link of F3: no
 *       mark, because no later client finds the lock free before this one has left.
 *   (D) A client that finds LEFT at t has the lock alone: the holder of t does nothing but L1 to L3
 *       any more, and grants only if there is a link. If it is in L3, it finds the mark, or that of
 *       a later ticket: DRAWN has the distance to the last ticket with a mark.
 *   (E) A release by L1 to L3 without a grant has met no client that links itself to this slot:
 *       in L2 a client that draws later finds LEFT; in L3 there is the mark. Each grant is awaited.
 *       So no operation of an earlier acquire meets the words of a slot that is used again.
 *   (F) Tickets are counted modulo 2^32. A holder that hands the lock on writes LEFT at every
 *       2^24th ticket, to a value that is no ticket; so LEFT is never as old as a round. A client
 *       in L3 that looks at DRAWN after 2^32 tickets could take it for its own, and looks again.
 *   (G) What a holder did in node memory is visible to the next one: LEFT and the grant are stored
 *       after it, and read with acquire semantics, or both go through the transport.
 *   (H) to (J), releases that are posted in place of L1 to L3: at is_posted().
 *
 * Fairness: first come, first served, by the order of the tickets. While a cohort waits for
 * Peterson's lock, the other one draws at most as many tickets as its budget. With budgets of 1
 * each client competes for its ticket.
 *
 * Progress: starvation-free if holders release. A client that draws, or a try, may wait for a
 * client of its cohort that has swapped TAIL and has not linked itself yet (as in MCS); a release
 * that is not posted, for one that has drawn its ticket and has not linked itself yet. A leader
 * polls for Peterson's lock while the other cohort draws, not while it has the lock.
 *
 * Uncontended: local, a swap and a compare-and-swap, 4 loads and a store to acquire, a load and a
 * store to release, no call of the MPI. Remote, 2 atomics, 4 gets and 1 put to acquire, 1 put and 1
 * get to release: 7 round trips; if the transport keeps the order of operations and posts (UCX), 2
 * to acquire, and none to release. A hand-over is 1 put.
 *
 * Different from the paper, as far as is known: rows of tickets within a cohort, where the paper
 * has a variant that shares one ticket; links and grants from client to client. No deadlines.
 *
 * Model: models/farlock.pml, whose steps are named above and below.
 */
#include "lock/cohorts/cohorts.h"
#include "lock/mcs/mcs.h"

#include <stdio.h>

/* Offsets, behind the words of the cohorts. */
enum { DRAWN = COHORTS_BYTES, LEFT = 32, LOCK_BYTES = 40, WORD_BYTES = COHORTS_WORD_BYTES };
_Static_assert(DRAWN + WORD_BYTES == LEFT && LEFT + WORD_BYTES <= LOCK_BYTES,
	       "the words of a lock do not overlap and fit into it");

/* DRAWN, from its low bits: number of the slot; how many tickets ago a client found the lock free,
 * or FAR_AGO; ticket. */
enum { AGO_AT = 16, TICKET_AT = 32, MOST_SLOTS = 0xffff, FAR_AGO = 0xffff };

/* STATUS of a cohort's queue when a client is made its leader, from the low bits: 1; the rest of
 * the budget; and if that is not 0, the ticket in the same way as in DRAWN. */
enum { REST_AT = 1, MOST_BUDGET = 0x3fff, STATUS_AGO_AT = 15 };
_Static_assert(MOST_BUDGET << REST_AT < 1 << STATUS_AGO_AT, "the budget fits");

enum { GRANTED = 1, NO_TICKET = -1 };

/* A link when its owner has left, R1; ids are positive. */
enum { GONE = -1 };

/* So often a client that hands the lock on writes LEFT; (F). */
#define RENEWAL ATTEMPTS_OR(1 << 24, 8)

/* The words of a ticket. */
struct ticket {
	uint32_t number, ago;
};

struct farlock_slot {
	struct rma_word tail; /* of its cohort */
	struct ticket ticket;
	int64_t budget; /* the rest */
	int64_t succ;   /* the slot that has the next ticket; 0: not known */
	int64_t drawn;  /* DRAWN, as found by R2 or R3 */
	bool left;      /* it has left by R2 */
};
_Static_assert(sizeof(struct farlock_slot) <= LOCK_OWN_BYTES, "it fits into a slot");

RMA_INLINE struct farlock_slot *own_of(struct lock_slot *slot)
{
	return lock_own(slot);
}

/* ------------------------------------------------------------------ words */

RMA_INLINE struct rma_word word_of(const struct lock_setup *s, struct lock_slot *slot,
				   uint64_t offset)
{
	return cohorts_word(s, slot, LOCK_BYTES, offset);
}

RMA_INLINE struct rma_word tail_of(const struct lock_setup *s, struct lock_slot *slot,
				   enum rma_domain cohort)
{
	return cohorts_tail(s, slot, LOCK_BYTES, cohort);
}

/* The cohort of another client of this client's lock. */
static inline enum rma_domain cohort_of_slot(const struct lock_setup *s, struct lock_slot *slot,
					     int64_t id)
{
	int home = own_of(slot)->tail.rank;

	return s->topo->node[slot_rank(id)] == s->topo->node[home] ? RMA_NODE : RMA_NET;
}

/* The words of a slot in the queue of tickets: those of the other domain, used as words of its
 * cohort's domain. */
static inline struct rma_word link_of(const struct lock_setup *s, struct lock_slot *slot,
				      enum rma_domain cohort, int64_t id)
{
	return rma_word(slot->client.rma, cohort, slot_rank(id),
			slot_offset(s, id) + (cohort == RMA_NODE ? SLOT_NEXT_NET : SLOT_NEXT_NODE));
}

static inline struct rma_word grant_of(const struct lock_setup *s, struct lock_slot *slot,
				       enum rma_domain cohort, int64_t id)
{
	return rma_word(slot->client.rma, cohort, slot_rank(id),
			slot_offset(s, id) +
			    (cohort == RMA_NODE ? SLOT_STATUS_NET : SLOT_STATUS_NODE));
}

/*
 * Posted releases. If the transport posts (rma_post()), no client waits for a remote client that
 * leaves, which does this in place of L1 to L3:
 *   R1  It swaps its own link for GONE. If it finds a link, it grants the lock and posts that.
 *   R2  Else it posts L1: it writes LEFT, and then reads DRAWN. Its release ends.
 *   R3  The slot may be used again when L2 or L3 says that no client will link itself to it any
 *       more. The client looks when it needs the slot.
 *   F3' A client that draws behind a remote one links itself by a swap. If it finds GONE, it ends
 *       the drawing, waits until LEFT is t (F4), and has the lock.
 *
 *   (H) The swaps of R1 and F3' are on one NET word, which no client of the home's node changes by
 *       CPU. The second one finds the first: either the releaser finds the link and grants the
 *       lock, or the client that draws finds GONE. What the client waits for in F4 has been issued
 *       without a further call of the releaser. So the answer of R2 decides only when the slot is
 *       used again.
 *   (I) LEFT is t when the next client has the lock, also by F4, so no write of LEFT comes after
 *       that of a later holder, and LEFT is t until this client itself leaves. R3 is (E) with GONE:
 *       in L2 no client links itself any more, by (C); in L3 the link is there, and its client does
 *       not change it again, or the mark is.
 *   (J) The words of a lock do not tell a holder from a client whose LEFT is on its way. A try that
 *       finds the lock taken waits for the releases of its own process, and tries once more
 *       (posts_unmarked).
 */
/* Whether the clients of this cohort post their releases. */
RMA_INLINE bool is_posted(const struct lock_setup *s, enum rma_domain cohort)
{
	return cohort == RMA_NET && s->posts;
}

/* ---------------------------------------------------------------- tickets */

RMA_INLINE struct ticket ticket_in(int64_t drawn)
{
	return (struct ticket){
	    .number = (uint32_t)((uint64_t)drawn >> TICKET_AT),
	    .ago = ((uint64_t)drawn >> AGO_AT) & FAR_AGO,
	};
}

RMA_INLINE struct ticket ticket_after(struct ticket t, bool is_free)
{
	return (struct ticket){
	    .number = t.number + 1,
	    .ago = is_free            ? 0
		   : t.ago == FAR_AGO ? FAR_AGO
				      : t.ago + 1,
	};
}

/* DRAWN of a ticket of this client. */
RMA_INLINE int64_t drawn_by(const struct lock_setup *s, const struct lock_slot *slot,
			    struct ticket t)
{
	uint64_t number =
	    (uint64_t)slot->client.rma->rank * (uint64_t)s->max_held + (uint64_t)slot->index;

	return (int64_t)((uint64_t)t.number << TICKET_AT | (uint64_t)t.ago << AGO_AT | number);
}

/* The slot id in DRAWN. */
static inline int64_t slot_in(const struct lock_setup *s, int64_t drawn)
{
	uint32_t number = (uint32_t)drawn & MOST_SLOTS;

	return slot_make_id((int)(number / (uint32_t)s->max_held),
			    (int)(number % (uint32_t)s->max_held));
}

RMA_INLINE bool has_left(int64_t left, struct ticket t)
{
	return left == (int64_t)t.number;
}

/* Whether a client with a later ticket has found the lock free; (D). */
static inline bool found_free(struct ticket last, struct ticket t)
{
	return last.number - t.number > last.ago;
}

static inline int64_t status_of(struct ticket t, int64_t rest)
{
	return (int64_t)((uint64_t)t.number << (STATUS_AGO_AT + AGO_AT) |
			 (uint64_t)t.ago << STATUS_AGO_AT | (uint64_t)rest << REST_AT | 1);
}

static inline struct ticket ticket_in_status(int64_t status)
{
	return (struct ticket){
	    .number = (uint32_t)((uint64_t)status >> (STATUS_AGO_AT + AGO_AT)),
	    .ago = ((uint64_t)status >> STATUS_AGO_AT) & FAR_AGO,
	};
}

/* ---------------------------------------------------------- the two leaders */

/* What a leader sees. */
struct view {
	int64_t other, victim, drawn, left;
};

/* P1 or P3, and F1: look for the other cohort, and then at DRAWN and LEFT. */
RMA_INLINE void look(const struct lock_setup *s, struct lock_slot *slot, enum rma_domain cohort,
		     struct view *v)
{
	struct rma_client *c = &slot->client;
	struct rma_word other = tail_of(s, slot, cohort_other_than(cohort));

	v->other = v->victim = 0;
	if (s->domain == RMA_NET && !FAULT(farlock_alone)) {
		rma_get(c, other, &v->other);
		rma_get(c, word_of(s, slot, COHORTS_VICTIM), &v->victim);
		/* Orders the look at the other TAIL before that at DRAWN; pairs with the order of
		 * DRAWN before the end of a drawing; (B). */
		if (!FAULT(farlock_early))
			rma_order(c, other);
	}
	rma_get(c, word_of(s, slot, DRAWN), &v->drawn);
	rma_get(c, word_of(s, slot, LEFT), &v->left);
	rma_flush(c, other); /* orders the gets before the looks at their results */
}

/* P2: let the other cohort go first. */
static void give_way(const struct lock_setup *s, struct lock_slot *slot, enum rma_domain cohort)
{
	struct rma_word victim = word_of(s, slot, COHORTS_VICTIM);

	rma_put(&slot->client, victim, cohort + 1);
	/* Orders VICTIM before the looks at it and at the other TAIL, and before the end of a try;
	 * pairs with the looks of the other leader; (A). */
	if (!FAULT(farlock_victim))
		rma_flush(&slot->client, victim);
}

/* P2 and P3: wait until the other cohort has gone, or has given way. */
static RMA_SLOW_PATH void await_turn(const struct lock_setup *s, struct lock_slot *slot,
				     enum rma_domain cohort, struct view *v)
{
	struct rma_pause p = {.rounds = 0};

	give_way(s, slot, cohort);
	for (;;) {
		look(s, slot, cohort, v);
		if (v->other == 0 || v->victim != cohort + 1)
			return;
		rma_pause(&slot->client, &p, "the other cohort to draw its tickets");
	}
}

/* ------------------------------------------------------------------ drawing */

/* Leave the queue of the cohort, or make the next client its leader: with the ticket, if the budget
 * is not over. */
RMA_INLINE void end_drawing(const struct lock_setup *s, struct lock_slot *slot,
			    enum rma_domain cohort)
{
	struct farlock_slot *own = own_of(slot);
	int64_t rest = own->budget - 1, succ;

	if (mcs_leave(slot, cohort, own->tail, &succ))
		return;
	if (!succ)
		succ = rma_await(&slot->client, slot->next[cohort], -1, RMA_NE, 0, RMA_SOON,
				 "a client of its cohort to link itself");
	if (rest > 0)
		own->succ = succ;
	/* Orders DRAWN before the next leader's drawing, whichever rank it is; (B). */
	if (!FAULT(farlock_home))
		rma_flush(&slot->client, own->tail);
	mcs_hand_over(s, slot, cohort, own->tail, succ, status_of(own->ticket, rest));
}

/* Leave with nothing drawn; a client that has queued behind this one leads in its place. */
static void stand_down(const struct lock_setup *s, struct lock_slot *slot, enum rma_domain cohort)
{
	own_of(slot)->budget = 1;
	end_drawing(s, slot, cohort);
}

/* Publish the ticket, unless a client behind this one will; end the drawing. */
RMA_INLINE void publish(const struct lock_setup *s, struct lock_slot *slot, enum rma_domain cohort)
{
	struct farlock_slot *own = own_of(slot);
	struct rma_client *c = &slot->client;
	struct rma_word drawn = word_of(s, slot, DRAWN);

	if (own->budget == 1 || rma_peek(c, slot->next[cohort]) == 0) {
		rma_put(c, drawn, drawn_by(s, slot, own->ticket));
		if (!FAULT(farlock_drawn))
			rma_order(c, drawn); /* orders DRAWN before the end; (B) */
	}
	end_drawing(s, slot, cohort);
}

/* Wait for the client with the ticket before. */
static int await_grant(const struct lock_setup *s, struct lock_slot *slot, enum rma_domain cohort)
{
	rma_await(&slot->client, grant_of(s, slot, cohort, slot->id), -1, RMA_NE, 0, RMA_SOON,
		  "the grant of the client with the ticket before its own");
	return PAWL_SUCCESS;
}

/* F3 or F3': link to the client with the ticket before. False: that one has left. */
static bool link_behind(const struct lock_setup *s, struct lock_slot *slot)
{
	enum rma_domain cohort = cohort_of_slot(s, slot, slot->from);
	struct rma_word link = link_of(s, slot, cohort, slot->from);
	struct rma_client *c = &slot->client;
	int64_t old = 0;

	if (is_posted(s, cohort))
		rma_fao(c, link, RMA_REPLACE, slot->id, &old);
	else
		rma_put(c, link, slot->id);
	/* Orders the link before the wait, and a swap before the look at old; pairs with L1 and L3,
	 * or R1. */
	if (is_posted(s, cohort) || !FAULT(farlock_link))
		rma_flush(c, link);
	return old != GONE;
}

/* F4: the client with the ticket before has left, and its LEFT is on the way. */
static RMA_SLOW_PATH int await_left(const struct lock_setup *s, struct lock_slot *slot,
				    int64_t before)
{
	struct rma_word w = word_of(s, slot, LEFT);
	struct rma_client *c = &slot->client;
	struct rma_pause p = {.rounds = 0};
	int64_t left;

	for (;;) {
		rma_get(c, w, &left);
		rma_flush(c, w); /* orders the get before the look at left */
		if (has_left(left, ticket_in(before)) || FAULT(farlock_arrive))
			return PAWL_SUCCESS;
		rma_pause(c, &p, "a release to arrive");
	}
}

/* F2 and F3: the lock was not free. */
static RMA_SLOW_PATH int draw_behind(const struct lock_setup *s, struct lock_slot *slot,
				     enum rma_domain cohort, int64_t before)
{
	struct farlock_slot *own = own_of(slot);
	struct rma_client *c = &slot->client;
	struct rma_word drawn = word_of(s, slot, DRAWN);
	bool is_free, linked = false;
	int64_t left;

	if (!FAULT(farlock_unmarked)) {
		rma_put(c, drawn, drawn_by(s, slot, own->ticket));
		/* Orders DRAWN before the look at LEFT; pairs with L1; (C). */
		rma_order(c, drawn);
	}
	rma_get(c, word_of(s, slot, LEFT), &left);
	rma_flush(c, drawn); /* orders the get before the look at LEFT */
	is_free = has_left(left, ticket_in(before)) && !FAULT(farlock_again);
	slot->from = slot_in(s, before);
	if (is_free) {
		if (!FAULT(farlock_mark))
			own->ticket.ago = 0;
		rma_put(c, drawn, drawn_by(s, slot, own->ticket));
	} else {
		linked = link_behind(s, slot);
	}
	rma_order(c, drawn); /* orders DRAWN before the end of the drawing; (B) */
	end_drawing(s, slot, cohort);
	if (is_free)
		return PAWL_SUCCESS;
	return linked ? await_grant(s, slot, cohort) : await_left(s, slot, before);
}

/* F1: draw a ticket under Peterson's lock. */
RMA_INLINE int draw(const struct lock_setup *s, struct lock_slot *slot, enum rma_domain cohort,
		    const struct view *v)
{
	struct farlock_slot *own = own_of(slot);
	bool is_free = has_left(v->left, ticket_in(v->drawn));

	own->budget = cohorts_options(s)->budget[cohort];
	if (own->budget > MOST_BUDGET)
		own->budget = MOST_BUDGET;
	own->ticket = ticket_after(ticket_in(v->drawn), is_free);
	if (!is_free)
		return draw_behind(s, slot, cohort, v->drawn);
	publish(s, slot, cohort);
	return PAWL_SUCCESS;
}

/* Draw the ticket after that of the client before this one in the cohort's queue, which knows
 * this client and will grant to it. */
static int draw_in_row(const struct lock_setup *s, struct lock_slot *slot, enum rma_domain cohort,
		       int64_t status)
{
	struct farlock_slot *own = own_of(slot);

	own->ticket = ticket_after(ticket_in_status(status), false);
	publish(s, slot, cohort);
	return await_grant(s, slot, cohort);
}

/* Draw as the leader of the cohort, when it is its turn. */
static RMA_SLOW_PATH int lead(const struct lock_setup *s, struct lock_slot *slot,
			      enum rma_domain cohort)
{
	struct view v;

	look(s, slot, cohort, &v);
	if (v.other != 0)
		await_turn(s, slot, cohort, &v);
	return draw(s, slot, cohort, &v);
}

/* --------------------------------------------------------------- protocol */

/* There is a predecessor in the cohort: wait until it makes this client the leader. */
static RMA_SLOW_PATH int wait_behind(const struct lock_setup *s, struct lock_slot *slot,
				     enum rma_domain cohort, int64_t pred)
{
	int64_t status;

	mcs_link(s, slot, cohort, pred);
	mcs_is_granted(slot, cohort, &status);
	own_of(slot)->budget = (status >> REST_AT) & MOST_BUDGET;
	if (own_of(slot)->budget > 0)
		return draw_in_row(s, slot, cohort, status);
	return lead(s, slot, cohort);
}

/* The cohort of this client; its words in the queue of tickets as before an acquire. */
RMA_INLINE enum rma_domain begin(const struct lock_setup *s, struct lock_slot *slot)
{
	enum rma_domain cohort = cohort_of(word_of(s, slot, COHORTS_TAIL));
	struct farlock_slot *own = own_of(slot);
	struct rma_client *c = &slot->client;

	own->tail = tail_of(s, slot, cohort);
	own->succ = 0;
	own->left = false;
	rma_poke(c, link_of(s, slot, cohort, slot->id), 0);
	rma_poke(c, grant_of(s, slot, cohort, slot->id), 0);
	return cohort;
}

static int acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	enum rma_domain cohort = begin(s, slot);
	struct rma_client *c = &slot->client;
	struct rma_word tail = own_of(slot)->tail;
	struct view v;
	int64_t pred;

	mcs_post_enter(slot, cohort, tail, &pred);
	/* Orders the swap before the look at the other cohort; pairs with the other leader's swap
	 * and look; (A). If it is a flush, pred is valid. */
	if (!FAULT(farlock_look))
		rma_order(c, tail);
	if (!rma_keeps_order(c) && !FAULT(farlock_look) && pred)
		return wait_behind(s, slot, cohort, pred);
	look(s, slot, cohort, &v);
	if (pred)
		return wait_behind(s, slot, cohort, pred);
	if (v.other != 0)
		await_turn(s, slot, cohort, &v);
	return draw(s, slot, cohort, &v);
}

/* T: draw only if both queues are empty and the lock is free. If the other cohort's leader is
 * there, write VICTIM (P2), so that it does not wait for this client. */
static int try_acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	enum rma_domain cohort = begin(s, slot);
	struct farlock_slot *own = own_of(slot);
	struct view v;

	if (mcs_try_enter(slot, cohort, own->tail))
		return PAWL_ERR_BUSY;
	look(s, slot, cohort, &v);
	if (v.other != 0)
		give_way(s, slot, cohort);
	if (v.other != 0 || !has_left(v.left, ticket_in(v.drawn))) {
		stand_down(s, slot, cohort);
		return PAWL_ERR_BUSY;
	}
	return draw(s, slot, cohort, &v);
}

/* L3: a client has drawn the next ticket. Returns its slot, or 0 if it has found the lock free. */
static RMA_SLOW_PATH int64_t await_successor(const struct lock_setup *s, struct lock_slot *slot,
					     struct rma_word link, int64_t drawn)
{
	struct rma_client *c = &slot->client;
	struct rma_word w = word_of(s, slot, DRAWN);
	struct rma_pause p = {.rounds = 0};
	int64_t succ;

	while (!found_free(ticket_in(drawn), own_of(slot)->ticket)) {
		succ = rma_peek(c, link);
		if (succ)
			return succ;
		rma_pause(c, &p, "the client with the next ticket to link itself");
		rma_get(c, w, &drawn);
		rma_flush(c, w); /* orders the get before the look at its result */
	}
	return 0;
}

/* L1 and L2: leave without a successor. Returns one that has come meanwhile, or 0. */
RMA_INLINE int64_t leave(const struct lock_setup *s, struct lock_slot *slot, struct rma_word link)
{
	struct rma_client *c = &slot->client;
	struct rma_word left = word_of(s, slot, LEFT);
	struct ticket t = own_of(slot)->ticket;
	int64_t drawn;

	if (FAULT(farlock_left)) {
		rma_get(c, word_of(s, slot, DRAWN), &drawn);
		rma_flush(c, left);
	}
	rma_put(c, left, (int64_t)t.number);
	/* Orders LEFT before the look at DRAWN; pairs with F2; (C). */
	rma_order(c, left);
	if (!FAULT(farlock_left))
		rma_get(c, word_of(s, slot, DRAWN), &drawn);
	rma_flush(c, left); /* orders both before the look at DRAWN, and before the return */
	if (__builtin_expect(ticket_in(drawn).number == t.number, 1))
		return 0;
	return await_successor(s, slot, link, drawn);
}

/* Hand the lock to the client with the next ticket. */
static RMA_SLOW_PATH int hand_over(const struct lock_setup *s, struct lock_slot *slot, int64_t succ)
{
	struct rma_client *c = &slot->client;
	struct rma_word grant = grant_of(s, slot, cohort_of_slot(s, slot, succ), succ);

	if (own_of(slot)->ticket.number % RENEWAL == 0) {
		struct rma_word left = word_of(s, slot, LEFT);

		rma_put(c, left, NO_TICKET);
		rma_flush(c, left); /* orders LEFT before the writes of later holders; (F) */
	}
	rma_put(c, grant, GRANTED);
	if (s->posts && rma_post(c, grant))
		return LOCK_LEFT;
	if (!FAULT(farlock_grant))
		rma_flush(c, grant); /* orders the grant before the return; (E) */
	return PAWL_SUCCESS;
}

/* R3. Whether a slot that has posted its release may be used again. */
static bool settled(const struct lock_setup *s, struct lock_slot *slot)
{
	struct farlock_slot *own = own_of(slot);
	struct rma_word w = word_of(s, slot, DRAWN);
	struct rma_client *c = &slot->client;
	struct ticket last;

	if (!rma_answered(c, &own->drawn))
		return false;
	last = ticket_in(own->drawn);
	if (!own->left || last.number == own->ticket.number || found_free(last, own->ticket) ||
	    rma_peek(c, link_of(s, slot, RMA_NET, slot->id)) != GONE || FAULT(farlock_settled))
		return true;
	rma_get(c, w, &own->drawn);
	if (!rma_post(c, w))
		rma_flush(c, w); /* orders the get before the next look at its result */
	return false;
}

/* R1: look for a successor, and leave GONE for one that comes later. */
static int64_t look_behind(struct lock_slot *slot, struct rma_word link)
{
	struct rma_client *c = &slot->client;
	int64_t succ;

	if (FAULT(farlock_swap)) {
		succ = rma_peek(c, link);
		rma_poke(c, link, GONE);
	} else {
		rma_fao(c, link, RMA_REPLACE, GONE, &succ);
		rma_flush(c, link); /* orders the swap before the look at succ; pairs with F3' */
	}
	return succ;
}

/* R1 and R2 */
static int release_posted(const struct lock_setup *s, struct lock_slot *slot, struct rma_word link)
{
	struct farlock_slot *own = own_of(slot);
	struct rma_word left = word_of(s, slot, LEFT);
	struct rma_client *c = &slot->client;
	int64_t succ = look_behind(slot, link);

	if (succ)
		return hand_over(s, slot, succ);
	own->left = true;
	rma_put(c, left, (int64_t)own->ticket.number);
	rma_order(c, left); /* orders LEFT before the look at DRAWN; pairs with F2; (C) */
	rma_get(c, word_of(s, slot, DRAWN), &own->drawn);
	if (rma_post(c, left))
		return LOCK_LEFT;
	rma_flush(c, left); /* orders both before the look at DRAWN */
	return settled(s, slot) ? PAWL_SUCCESS : LOCK_LEFT;
}

static int release(const struct lock_setup *s, struct lock_slot *slot)
{
	struct farlock_slot *own = own_of(slot);
	struct rma_word link = link_of(s, slot, cohort_of(own->tail), slot->id);
	int64_t succ = own->succ;

	if (!succ && is_posted(s, cohort_of(own->tail)))
		return release_posted(s, slot, link);
	if (!succ)
		succ = rma_peek(&slot->client, link);
	if (!succ)
		succ = leave(s, slot, link);
	return succ ? hand_over(s, slot, succ) : PAWL_SUCCESS;
}

/* -------------------------------------------------------------- simulator */

/* The clients that draw their tickets before this one; the other cohort's budget is of tickets. And
 * before that, each other client has drawn one at most. */
static uint64_t overtakes(const struct lock_setup *s, int mode)
{
	return lock_others(s, mode) + cohorts_most_ahead(s);
}

static int64_t *words_at(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m)
{
	return lock_memory_home(s, m, s->words, LOCK_BYTES, lock);
}

static bool idle(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m, char *err,
		 size_t errlen)
{
	const int64_t *words = words_at(s, lock, m);
	int64_t drawn = words[DRAWN / WORD_BYTES], left = words[LEFT / WORD_BYTES];

	snprintf(err, errlen,
		 "TAIL is 0x%llx (local) and 0x%llx (remote), DRAWN 0x%llx, LEFT 0x%llx",
		 (unsigned long long)words[RMA_NODE], (unsigned long long)words[RMA_NET],
		 (unsigned long long)drawn, (unsigned long long)left);
	return words[RMA_NODE] == 0 && words[RMA_NET] == 0 && has_left(left, ticket_in(drawn));
}

static void age(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m)
{
	int64_t *words = words_at(s, lock, m);

	words[DRAWN / WORD_BYTES] = (int64_t)((UINT64_MAX - 1) << TICKET_AT);
	words[LEFT / WORD_BYTES] = (int64_t)(UINT32_MAX - 1);
}

static const struct option_spec options[] = {
    LOCK_LOCAL_BUDGET(struct cohorts_options, budget[RMA_NODE], "5"),
    LOCK_REMOTE_BUDGET(struct cohorts_options, budget[RMA_NET], "20"),
    LOCK_OPTIONS_END,
};

const struct lock_protocol lock_farlock = {
    .kind =
	{
	    .name = "farlock",
	    .summary = "baseline: two cohorts as in alock, which draw tickets",
	    .reference = "OSDI'26 (FARLock)",
	    .capabilities = PAWL_CAP_TRY | PAWL_CAP_FAIR,
	},
    .options = options,
    .home_bytes = LOCK_BYTES,
    .state_bytes = sizeof(struct cohorts),
    .most_slots = MOST_SLOTS,
    .layout = cohorts_layout,
    .describe = cohorts_describe,
    .acquire = acquire,
    .try_acquire = try_acquire,
    .release = release,
    .settled = settled,
    .posts_unmarked = true,
    .check = &(const struct lock_check_calls){.overtakes = overtakes, .idle = idle, .age = age},
    .first_at_home = true,
};
