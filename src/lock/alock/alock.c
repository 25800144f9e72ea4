/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ALock: an asymmetric lock. ALock paper (SPAA'24), Section 5, Algorithms 1 to 4, and the technical
 * report before it (Asymmetric Mutual Exclusion for RDMA), Algorithms 1 and 2.
 *
 * The ranks of the home's node are the local cohort of a lock, and use only CPU atomics, loads and
 * stores. All others are its remote cohort, and use only operations of the transport. Each cohort
 * has an MCS queue (mcs.h). A client that enters an empty queue is the leader of its cohort, and
 * competes with the leader of the other cohort in Peterson's lock; the two TAIL words are its
 * flags. Within a cohort the lock is handed over as often as the cohort's budget allows
 * (local_budget, remote_budget); the next client is then a leader again.
 *
 * Words, of 32 bytes at the home. TAIL[local] is a NODE word and TAIL[remote] a NET word; each
 * cohort only reads the other's. VICTIM is read and written by both, but never read-modify-written.
 * Queue nodes are slots: NODE words for local clients, NET words for remote ones, which may be
 * neighbours of each other.
 *
 * Ordering guarantees, besides those of mcs.h. Peterson's lock requires that each of two leaders
 * looks at the other one after its own announcement has taken effect.
 *   (A) The swap of TAIL takes effect before the look at the other TAIL. Local: the swap is a
 *       seq_cst read-modify-write and the look a seq_cst load. Remote: the flush after the swap (in
 *       mcs_enter) ends before the get is issued, or the transport keeps the order of the two
 *       (rma_order()). So of two clients that enter empty queues at least one sees the other.
 *   (B) VICTIM is written after a look that saw the other cohort, and takes effect before the looks
 *       that end the wait. Local: a seq_cst store, and seq_cst loads. Remote: the flush of VICTIM.
 *       Without it a late write would let the other cohort in while this one is inside.
 *   (C) A waiter has written VICTIM itself, after it came or after it was handed the end of the
 *       budget. So an older value of VICTIM does not matter.
 *   (D) Either of the two reasons to stop waiting is sufficient, so the two looks of a round need
 *       no order. A leader may miss "the other TAIL is null"; but the leader that sets it again
 *       writes VICTIM before it waits, and VICTIM stays so until this leader is in.
 * What a holder did in node memory is visible to the next holder of its node: the local cohort goes
 * through TAIL[local] or a grant each time, a remote cohort through the transport.
 *
 *   (E) and (F), posted releases: at is_posted().
 *
 * Progress: starvation-free if holders release, and fair: a cohort is first come, first served, and
 * has at most as many acquires as its budget while the leader of the other waits. (A leader whose
 * deadline passes starts a new turn of the other cohort.) A release, and a try or a leader that
 * gives up, may wait for a successor that has swapped TAIL and has not linked itself yet (as in
 * MCS); a posted release does not. A leader polls for its turn.
 *
 * Uncontended: local, a swap and a load to acquire, a compare-and-swap to release, no call of the
 * MPI; remote, 1 atomic and 1 get to acquire, in 1 round trip if the transport keeps their order
 * (UCX) and 2 if not, 1 atomic to release, in no round trip if the transport posts (UCX).
 *
 * Different from the papers
 *   - TAIL is swapped by one fetching operation, not in a loop of compare-and-swap.
 *   - A leader first looks at the other TAIL, and writes VICTIM only if that is set; in the papers
 *     it writes first, which is a round trip more. To write VICTIM together with the swap is wrong:
 *     a client that then is no leader has let the other cohort in beside its predecessor.
 *   - Budget and flag are one word: STATUS is 1 + the rest of the budget.
 *   - Try-acquire: a leader that sees the other cohort writes VICTIM and leaves its queue to the
 *     client behind it, if there is one, as at the end of a budget. Timed acquire: so does a
 *     leader; a client in a queue abandons its place (mcs.h).
 *   - In a table of one node all clients are local, and do not look at the other TAIL.
 *   - The papers' release waits for its compare-and-swap.
 *
 * Model: models/alock.pml, also with posted releases; its steps P1 ... P3 and T are named below.
 */
#include "lock/cohorts/cohorts.h"
#include "lock/mcs/mcs_posted.h"

#include <stdio.h>
#include <string.h>

enum { LOCK_BYTES = 32 };
_Static_assert((int)COHORTS_BYTES <= LOCK_BYTES, "the words of a lock fit into it");

/* The grant when the budget is used up. */
enum { BUDGET_OVER = 1 };

struct alock_slot {
	struct mcs_slot queue; /* of its cohort */
	int64_t passed;        /* the rest of the budget */
};
_Static_assert(sizeof(struct alock_slot) <= LOCK_OWN_BYTES, "it fits into a slot");

RMA_INLINE struct alock_slot *own_of(struct lock_slot *slot)
{
	return lock_own(slot);
}

/* ----------------------------------------------------------------- layout */

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

/*
 * If the transport posts (UCX between nodes), the queue of the remote cohort is that of
 * mcs_posted.h: a release does not wait for the compare-and-swap that empties the queue.
 *   (E) TAIL[remote] may name a client that has left, but is never null while a remote client has
 *       or awaits the lock: the compare-and-swap names a queue node, which is not used again before
 *       the answer; (G) of mcs_posted.h. So the other leader may wait longer, and never enters too
 *       early.
 *   (F) A client that finds that its predecessor has left gets no grant, and so does not know the
 *       rest of the budget. It leads with a new one: it looks at TAIL[local] (P1) after it has
 *       found that, writes VICTIM if it sees the other cohort (P2), and waits (P3), as at the end
 *       of a budget. Peterson's lock does not need TAIL[remote] to be null in between: the
 *       predecessor is out, (A) holds for the swap of this client and its new look, and the rest
 *       as before. If the look sees no local client, the local leader that comes next
 *       sees TAIL[remote], and waits for this cohort to give way; if it sees one, this cohort gives
 *       way now. The look that shared the round trip of the swap does not serve here: a local
 *       leader may have come since and waited for the rest of the old budget, and would wait for
 *       all of the new one.
 */
/* Whether the releases of this cohort are posted; (E) and (F). */
RMA_INLINE bool is_posted(const struct lock_setup *s, enum rma_domain cohort)
{
	return cohort == RMA_NET && s->posts;
}

/* ---------------------------------------------------------- the two leaders */

/* P1: whether the other cohort is absent. On one node there is none. */
RMA_INLINE bool is_alone(const struct lock_setup *s, struct lock_slot *slot, enum rma_domain cohort)
{
	struct rma_client *c = &slot->client;
	struct rma_word other;
	int64_t tail;

	if (s->domain == RMA_NODE || FAULT(alock_alone))
		return true;
	other = tail_of(s, slot, cohort_other_than(cohort));
	rma_get(c, other, &tail);
	rma_flush(c, other); /* orders the look before what depends on it; (A) */
	return tail == 0;
}

/* P2: let the other cohort go first. */
static void give_way(const struct lock_setup *s, struct lock_slot *slot, enum rma_domain cohort)
{
	struct rma_word victim = word_of(s, slot, COHORTS_VICTIM);

	rma_put(&slot->client, victim, cohort + 1);
	/* Orders VICTIM before the looks at it and at the other TAIL, and before the end of a try;
	 * pairs with the looks of the other leader; (B). */
	if (!FAULT(alock_victim))
		rma_flush(&slot->client, victim);
}

/* P3: wait until the other cohort has gone, or has given way. False: the deadline has passed. */
static RMA_SLOW_PATH bool await_turn(const struct lock_setup *s, struct lock_slot *slot,
				     enum rma_domain cohort)
{
	struct rma_client *c = &slot->client;
	struct rma_word victim = word_of(s, slot, COHORTS_VICTIM);
	struct rma_word other = tail_of(s, slot, cohort_other_than(cohort));
	struct rma_pause p = {.deadline_ns = slot->deadline_ns};
	int64_t me = cohort + 1, tail, last;

	give_way(s, slot, cohort);
	for (;;) {
		rma_get(c, other, &tail);
		rma_get(c, victim, &last);
		rma_flush(c, other); /* orders both looks before what follows; (D) */
		if (tail == 0 || last != me)
			return true;
		if (!rma_pause(c, &p, "the other cohort's turn to end"))
			return false;
	}
}

static RMA_SLOW_PATH void hand_over(const struct lock_setup *s, struct lock_slot *slot,
				    enum rma_domain cohort, int64_t succ, int64_t status)
{
	mcs_hand_over(s, slot, cohort, own_of(slot)->queue.tail, succ, status);
}

/* The same over a transport that posts. As no release has to be fast here, the slot has settled
 * when it returns: a try and a timed acquire return it free. */
static RMA_SLOW_PATH void stand_down_posted(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct mcs_slot *q = &own_of(slot)->queue;
	int64_t succ = mcs_posted_look(slot, RMA_NET);
	struct rma_word grant;

	if (!succ) {
		rma_cas(c, q->tail, slot->id, 0, &q->answer);
		rma_flush(c, q->tail); /* orders the swap before the look at its result */
		if (q->answer != slot->id && !FAULT(alock_stand_down)) /* pairs with A3 */
			rma_await(c, slot->next[RMA_NET], -1, RMA_NE, -q->stays, RMA_SOON,
				  "its successor to find that it has left");
		return;
	}
	succ = mcs_posted_pass_over(s, slot, RMA_NET, q->tail, succ, BUDGET_OVER);
	if (!succ)
		return;
	grant = slot_status(s, c, RMA_NET, succ);
	rma_put(c, grant, BUDGET_OVER);
	rma_flush(c, grant); /* orders the grant before the return; pairs with A4 */
}

/* A leader that has written VICTIM leaves; a client that has queued behind it leads in its
 * place. */
static void stand_down(const struct lock_setup *s, struct lock_slot *slot, enum rma_domain cohort)
{
	int64_t succ;

	if (is_posted(s, cohort))
		stand_down_posted(s, slot);
	else if (!mcs_leave(slot, cohort, own_of(slot)->queue.tail, &succ))
		hand_over(s, slot, cohort, succ, BUDGET_OVER);
}

/* The head of the queue has the lock only if the other cohort does not have it. */
RMA_INLINE int lead_after(const struct lock_setup *s, struct lock_slot *slot,
			  enum rma_domain cohort, bool alone)
{
	own_of(slot)->passed = cohorts_options(s)->budget[cohort];
	if (alone || await_turn(s, slot, cohort))
		return PAWL_SUCCESS;
	if (!FAULT(alock_stay))
		stand_down(s, slot, cohort);
	return PAWL_ERR_TIMEOUT;
}

RMA_INLINE int lead(const struct lock_setup *s, struct lock_slot *slot, enum rma_domain cohort)
{
	return lead_after(s, slot, cohort, is_alone(s, slot, cohort));
}

/* --------------------------------------------------------------- protocol */

/* The turn of a client that was in the queue: it has the lock with the rest of the budget, or it
 * leads, because the budget is over or (MCS_WAIT) its predecessor has left; (C), (F). */
static int take_turn(const struct lock_setup *s, struct lock_slot *slot, enum rma_domain cohort,
		     int64_t status)
{
	if (FAULT(alock_left) && status == MCS_WAIT)
		status = 1 + cohorts_options(s)->budget[cohort];
	if (FAULT(alock_budget) && status == BUDGET_OVER)
		status++;
	own_of(slot)->passed = status - 1;
	return status <= BUDGET_OVER ? lead(s, slot, cohort) : PAWL_SUCCESS;
}

/* There is a predecessor: link to it, and wait for the grant. */
static RMA_SLOW_PATH int wait_behind(const struct lock_setup *s, struct lock_slot *slot,
				     enum rma_domain cohort, int64_t pred)
{
	int64_t status;

	if (is_posted(s, cohort)) {
		if (!mcs_posted_queue(s, slot, RMA_NET, pred, &status))
			return LOCK_QUEUED;
	} else {
		mcs_link(s, slot, cohort, pred);
		if (!mcs_await_grant(slot, cohort, &status))
			return LOCK_QUEUED;
	}
	return take_turn(s, slot, cohort, status);
}

/* The remote cohort, over a transport that keeps the order of operations: enter the queue, and look
 * for the other cohort in the same round trip; (A). */
static RMA_SLOW_PATH int acquire_in_order(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct rma_word tail = own_of(slot)->queue.tail;
	int64_t pred, other;

	mcs_post_enter(slot, RMA_NET, tail, &pred);
	rma_order(c, tail); /* orders the swap before the look; pairs with the other cohort's P1 */
	rma_get(c, tail_of(s, slot, RMA_NODE), &other);
	rma_flush(c, tail); /* orders both before the looks at their results */
	if (pred)
		return wait_behind(s, slot, RMA_NET, pred);
	return lead_after(s, slot, RMA_NET, other == 0 || FAULT(alock_alone));
}

static int acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	enum rma_domain cohort = cohort_of(word_of(s, slot, COHORTS_TAIL));
	bool alone = FAULT(alock_look) && is_alone(s, slot, cohort);
	int64_t pred;

	own_of(slot)->queue.tail = tail_of(s, slot, cohort);
	if (cohort == RMA_NET && rma_keeps_order(&slot->client) && !FAULT(alock_look))
		return acquire_in_order(s, slot);
	pred = mcs_enter(slot, cohort, own_of(slot)->queue.tail);
	if (pred)
		return wait_behind(s, slot, cohort, pred);
	if (alone) {
		own_of(slot)->passed = cohorts_options(s)->budget[cohort];
		return PAWL_SUCCESS;
	}
	return lead(s, slot, cohort);
}

static int resume_posted(const struct lock_setup *s, struct lock_slot *slot)
{
	int rc = mcs_resume(slot, RMA_NET, mcs_posted_abandoned(slot));
	int64_t status;

	if (rc != PAWL_SUCCESS)
		return rc;
	return mcs_posted_await(slot, RMA_NET, &status) ? take_turn(s, slot, RMA_NET, status)
							: LOCK_QUEUED;
}

static int resume(const struct lock_setup *s, struct lock_slot *slot)
{
	enum rma_domain cohort = cohort_of(own_of(slot)->queue.tail);
	int64_t status;
	int rc;

	if (is_posted(s, cohort))
		return resume_posted(s, slot);
	rc = mcs_resume(slot, cohort, MCS_ABANDONED);
	if (rc != PAWL_SUCCESS)
		return rc;
	return mcs_await_grant(slot, cohort, &status) ? take_turn(s, slot, cohort, status)
						      : LOCK_QUEUED;
}

static bool passed(const struct lock_setup *s, struct lock_slot *slot)
{
	(void)s;
	return mcs_passed(slot, cohort_of(own_of(slot)->queue.tail));
}

/* T: enter only if no client of the cohort has the lock. */
static inline bool try_enter(const struct lock_setup *s, struct lock_slot *slot,
			     enum rma_domain cohort)
{
	struct rma_word tail = own_of(slot)->queue.tail;

	return is_posted(s, cohort) ? mcs_posted_try_enter(s, slot, RMA_NET, tail)
				    : mcs_try_enter(slot, cohort, tail) == 0;
}

/* T: lead only if both queues are empty. Else write VICTIM (P2), so that the other leader does not
 * wait for this client, nor find another try each time it looks. */
static int try_acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	enum rma_domain cohort = cohort_of(word_of(s, slot, COHORTS_TAIL));

	own_of(slot)->queue.tail = tail_of(s, slot, cohort);
	if (!try_enter(s, slot, cohort))
		return PAWL_ERR_BUSY;
	own_of(slot)->passed = cohorts_options(s)->budget[cohort];
	if (is_alone(s, slot, cohort))
		return PAWL_SUCCESS;
	give_way(s, slot, cohort);
	stand_down(s, slot, cohort);
	return PAWL_ERR_BUSY;
}

/* The next client has one acquire less than this one: 1 + passed - 1. */
static RMA_SLOW_PATH int release_remote(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_word tail = own_of(slot)->queue.tail;
	int64_t succ;

	if (s->posts)
		return mcs_posted_leave(s, slot, RMA_NET, tail, own_of(slot)->passed);
	if (!mcs_leave(slot, RMA_NET, tail, &succ))
		hand_over(s, slot, RMA_NET, succ, own_of(slot)->passed);
	return PAWL_SUCCESS;
}

static int release(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_word tail = own_of(slot)->queue.tail;
	int64_t succ;

	if (cohort_of(tail) == RMA_NET)
		return release_remote(s, slot);
	if (!mcs_leave(slot, RMA_NODE, tail, &succ))
		hand_over(s, slot, RMA_NODE, succ, own_of(slot)->passed);
	return PAWL_SUCCESS;
}

/* Only releases of remote clients are posted. */
static bool settled(const struct lock_setup *s, struct lock_slot *slot)
{
	(void)s;
	return mcs_posted_settled(slot, RMA_NET);
}

static void describe(const struct lock_setup *s, char *text, size_t len)
{
	size_t used;

	cohorts_describe(s, text, len);
	used = strlen(text);
	if (s->posts)
		snprintf(text + used, len - used, ", remote releases do not wait");
}

/* -------------------------------------------------------------- simulator */

static uint64_t overtakes(const struct lock_setup *s, int mode)
{
	(void)mode;
	return cohorts_most_ahead(s);
}

static bool idle(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m, char *err,
		 size_t errlen)
{
	const int64_t *words = lock_memory_home(s, m, s->words, LOCK_BYTES, lock);

	snprintf(err, errlen, "TAIL is 0x%llx (local) and 0x%llx (remote)",
		 (unsigned long long)words[RMA_NODE], (unsigned long long)words[RMA_NET]);
	return words[RMA_NODE] == 0 && words[RMA_NET] == 0;
}

static const struct option_spec options[] = {
    LOCK_LOCAL_BUDGET(struct cohorts_options, budget[RMA_NODE], "5"),
    LOCK_REMOTE_BUDGET(struct cohorts_options, budget[RMA_NET], "20"),
    LOCK_OPTIONS_END,
};

const struct lock_protocol lock_alock = {
    .kind =
	{
	    .name = "alock",
	    .summary = "two cohorts: the home's node by CPU atomics, all others by the network",
	    .reference = "SPAA'24 (ALock), section 5",
	    .capabilities = PAWL_CAP_TRY | PAWL_CAP_TIMED | PAWL_CAP_FAIR,
	},
    .options = options,
    .home_bytes = LOCK_BYTES,
    .state_bytes = sizeof(struct cohorts),
    .layout = cohorts_layout,
    .describe = describe,
    .acquire = acquire,
    .try_acquire = try_acquire,
    .release = release,
    .settled = settled,
    .timed = &(const struct lock_timed_calls){.resume = resume, .passed = passed},
    .check = &(const struct lock_check_calls){.overtakes = overtakes, .idle = idle},
    .first_at_home = true,
};
