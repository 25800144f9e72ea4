/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * D-MCS: the distributed MCS queue lock. RMA-RW paper (HPDC'16), Section 2.4, Listings 2 and 3.
 *
 * Fairness: first come, first served, by the order of the swaps of TAIL.
 *
 * Uncontended: acquire 1 atomic (swap of TAIL), 1 round trip; release 1 atomic (compare-and-swap of
 * TAIL), 1 round trip. A hand-over adds 2 puts: the link to the predecessor, and the grant to the
 * successor. A waiter waits on words in its own memory. If the transport posts (UCX between nodes),
 * the release takes no round trip, and in a hand-over holder and successor swap the holder's NEXT:
 * mcs_posted.h.
 *
 * Ordering guarantees: those of mcs.h and mcs_posted.h, which have the protocol.
 *
 * Progress: starvation-free if holders release. A release may wait for a successor that has swapped
 * TAIL and has not linked itself yet (as in MCS); if the transport posts, it does not wait. A
 * release passes over the waiters whose deadline has passed, with 4 operations for each.
 *
 * Different from the paper: the listing neither flushes the reset of NEXT and STATUS nor says what
 * orders it before the swap; see (A) of mcs.h. Its STATUS and WAIT are one word here. Queue nodes
 * belong to clients, not to processes, and are named by slot ids. All words are NODE words on one
 * node, NET words otherwise. The paper's release waits for its compare-and-swap.
 *
 * Models: models/dmcs.pml, models/dmcs_posted.pml.
 */
#include "lock/mcs/dmcs.h"
#include "lock/mcs/mcs_posted.h"

#include <stdio.h>

enum { GO = 1 };

RMA_INLINE struct rma_word tail_word(const struct lock_setup *s, struct lock_slot *slot)
{
	return lock_home_word(s, &slot->client, s->domain, s->words, DMCS_BYTES, slot->lock);
}

/* There is a predecessor: link to it and wait for its grant. */
static RMA_SLOW_PATH int wait_behind(const struct lock_setup *s, struct lock_slot *slot,
				     int64_t pred)
{
	int64_t status;

	mcs_link(s, slot, s->domain, pred);
	/* Depends on client and acquire, so that a schedule can be repeated. */
	if (FAULT(d_mcs_wait) && ((uint64_t)slot->id * 40503 + slot->acquires * 9973) % 100 == 0)
		return PAWL_SUCCESS;
	return mcs_await_grant(slot, s->domain, &status) ? PAWL_SUCCESS : LOCK_QUEUED;
}

static RMA_SLOW_PATH int acquire_posted(const struct lock_setup *s, struct lock_slot *slot)
{
	return mcs_posted_enter(s, slot, RMA_NET, mcs_slot(slot)->tail) ? PAWL_SUCCESS
									: LOCK_QUEUED;
}

int dmcs_acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t pred;

	mcs_slot(slot)->tail = tail_word(s, slot);
	if (s->posts)
		return acquire_posted(s, slot);
	pred = mcs_enter(slot, s->domain, mcs_slot(slot)->tail);
	return pred ? wait_behind(s, slot, pred) : PAWL_SUCCESS;
}

int dmcs_try_acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	mcs_slot(slot)->tail = tail_word(s, slot);
	if (s->posts)
		return mcs_posted_try_enter(s, slot, RMA_NET, mcs_slot(slot)->tail) ? PAWL_SUCCESS
										    : PAWL_ERR_BUSY;
	return mcs_try_enter(slot, s->domain, mcs_slot(slot)->tail) ? PAWL_ERR_BUSY : PAWL_SUCCESS;
}

static RMA_SLOW_PATH void hand_over(const struct lock_setup *s, struct lock_slot *slot,
				    int64_t succ)
{
	mcs_hand_over(s, slot, s->domain, mcs_slot(slot)->tail, succ, GO);
}

static RMA_SLOW_PATH int release_posted(const struct lock_setup *s, struct lock_slot *slot)
{
	return mcs_posted_leave(s, slot, RMA_NET, mcs_slot(slot)->tail, GO);
}

int dmcs_release(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t succ;

	if (s->posts)
		return release_posted(s, slot);
	if (!mcs_leave(slot, s->domain, mcs_slot(slot)->tail, &succ))
		hand_over(s, slot, succ);
	return PAWL_SUCCESS;
}

/* ------------------------------------------------------------------- several */

static int post(const struct lock_setup *s, struct lock_slot *slot)
{
	struct mcs_slot *m = mcs_slot(slot);

	m->tail = tail_word(s, slot);
	mcs_post_try(slot, s->domain, m->tail, &m->answer);
	return PAWL_SUCCESS;
}

static int look(const struct lock_setup *s, struct lock_slot *slot)
{
	struct mcs_slot *m = mcs_slot(slot);

	if (!FAULT(d_mcs_many))
		/* Orders the swap of post() before the look at its answer. */
		rma_flush(&slot->client, m->tail);
	if (m->answer == 0)
		return PAWL_SUCCESS;
	/* The last client in the queue may have left: mcs_posted.h, T1 and T2. */
	return s->posts ? dmcs_try_acquire(s, slot) : PAWL_ERR_BUSY;
}

/* R1, and R2 without its flush. A release that is posted has no round trip to share. */
static int post_release(const struct lock_setup *s, struct lock_slot *slot)
{
	struct mcs_slot *m = mcs_slot(slot);

	m->asked = !s->posts && rma_peek(&slot->client, slot->next[s->domain]) == 0;
	if (m->asked)
		rma_cas(&slot->client, m->tail, slot->id, 0, &m->answer);
	return PAWL_SUCCESS;
}

static int end_release(const struct lock_setup *s, struct lock_slot *slot)
{
	struct mcs_slot *m = mcs_slot(slot);

	if (s->posts)
		return release_posted(s, slot);
	if (m->asked) {
		/* Orders the swap of R2 before the look at its answer. */
		rma_flush(&slot->client, m->tail);
		if (m->answer == slot->id)
			return PAWL_SUCCESS;
	}
	hand_over(s, slot, rma_peek(&slot->client, slot->next[s->domain]));
	return PAWL_SUCCESS;
}

static int resume(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t status;
	int rc;

	if (s->posts)
		return mcs_posted_resume(slot, RMA_NET);
	rc = mcs_resume(slot, s->domain, MCS_ABANDONED);
	if (rc != PAWL_SUCCESS)
		return rc;
	return mcs_await_grant(slot, s->domain, &status) ? PAWL_SUCCESS : LOCK_QUEUED;
}

static bool passed(const struct lock_setup *s, struct lock_slot *slot)
{
	return mcs_passed(slot, s->domain);
}

static inline bool settled(const struct lock_setup *s, struct lock_slot *slot)
{
	(void)s;
	return mcs_posted_settled(slot, RMA_NET);
}

void dmcs_describe(const struct lock_setup *s, char *text, size_t len)
{
	snprintf(text, len, "%s", s->posts ? "releases do not wait" : "");
}

static bool idle(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m, char *err,
		 size_t errlen)
{
	int64_t tail = *lock_memory_home(s, m, s->words, DMCS_BYTES, lock);

	snprintf(err, errlen, "TAIL is 0x%llx", (unsigned long long)tail);
	return tail == 0;
}

const struct lock_timed_calls dmcs_timed = {.resume = resume, .passed = passed};
const struct lock_many_calls dmcs_many = {
    .post = post,
    .look = look,
    .post_release = post_release,
    .end_release = end_release,
};
const struct lock_check_calls dmcs_check = {.overtakes = lock_others, .idle = idle};

const struct lock_protocol lock_dmcs = {
    .kind =
	{
	    .name = "d-mcs",
	    .summary = "one queue over all ranks: first come, first served, 8 bytes a lock",
	    .reference = "HPDC'16 (RMA-RW), section 2.4",
	    .capabilities = PAWL_CAP_TRY | PAWL_CAP_TIMED | PAWL_CAP_FAIR,
	},
    DMCS_CALLS,
    .settled = settled,
    .first_at_home = true,
};
