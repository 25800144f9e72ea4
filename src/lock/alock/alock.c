/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ALock: an asymmetric lock. ALock paper (SPAA'24), section 5, Algorithms 1 to 4,
 * and the technical report before it (Asymmetric Mutual Exclusion for RDMA),
 * Algorithms 1 and 2.
 *
 * The ranks of the home's node are the local cohort of a lock, and use nothing but
 * CPU atomics, loads and stores; all others are its remote cohort, and use
 * nothing but operations of the transport. Each cohort has an MCS queue (mcs.h).
 * A client that comes to the head of an empty queue is the leader of its cohort, and meets
 * the leader of the other in Peterson's lock, of which the two TAIL words are the
 * flags. In a cohort the lock is handed on as often as its budget says
 * (local_budget, remote_budget); then the next client is a leader once more.
 *
 * Words, of 32 bytes at the home. TAIL[local] is a NODE word and TAIL[remote] a NET
 * word; each cohort only reads the other's. VICTIM is read and written by both, as a
 * whole and never otherwise. Queue nodes are slots: NODE words of local clients,
 * NET words of remote ones, which may well be neighbours of each other.
 *
 * Ordering guarantees, besides those of mcs.h. Peterson's lock needs that each of
 * two leaders looks at the other one after its own announcement is performed.
 *   (A) The swap of TAIL is performed before the look at the other TAIL. Local: the
 *       swap is a seq_cst read-modify-write and the look a seq_cst load. Remote: the
 *       flush after the swap (in mcs_enter) ends before the get is issued. So of
 *       two clients that come to empty queues at least one sees the other.
 *   (B) VICTIM is written after a look that saw the other cohort, and performed
 *       before the looks that end the wait. Local: a seq_cst store, and seq_cst loads.
 *       Remote: the flush of VICTIM. Without it a write that comes late would call
 *       the other cohort in while this one is inside.
 *   (C) A waiter has written VICTIM itself, after it came or after it was handed
 *       the end of the budget. So what is left in VICTIM from before does not matter.
 *   (D) Both reasons to stop waiting hold by themselves, so the two looks of one round
 *       need no order. "The other TAIL is null" may be missed; but the leader that
 *       sets it again writes VICTIM before it waits, and that stays until we are in.
 * What a holder did in node memory is visible to the next one of its node: the local
 * cohort goes through TAIL[local] or a grant each time, a remote one through the
 * transport.
 *
 * Progress: starvation-free if holders release, and fair: a cohort is first come,
 * first served, and has at most its budget of acquires while the leader of the other
 * waits. (A leader whose time is over begins a new turn of the other cohort.) Release, and
 * a try or a leader that is given up, may wait for a successor that has swapped
 * TAIL and not yet linked itself (as MCS does). A leader polls for its turn.
 *
 * Uncontended: local, a swap and a load to acquire, a compare-and-swap to release,
 * no call of the MPI; remote, 1 atomic and 1 get in 2 round trips to acquire, 1
 * atomic to release.
 *
 * Different from the papers
 *   - TAIL is swapped by one fetching operation, not in a loop of compare-and-swap.
 *   - A leader first looks at the other TAIL, and writes VICTIM only if it is set;
 *     the papers write first. This spares a client that is alone a round trip. Writing VICTIM
 *     together with the swap would spare it too, and be wrong: a client that then
 *     turns out to be no leader has called the other cohort in on its predecessor.
 *   - Budget and flag are one word: STATUS is 1 + what is left of the budget.
 *   - There is a try-acquire: a leader that sees the other cohort writes VICTIM and
 *     leaves its queue; if somebody queued behind it meanwhile, that one becomes the
 *     leader, as with a budget that is over.
 *   - There is a timed acquire: a client in a queue abandons its place (mcs.h); a
 *     leader leaves its queue as a try does, for it has written VICTIM.
 *   - On a table of one node all are local, and nobody looks at the other TAIL.
 *
 * Model: models/alock.pml, whose steps P1 ... P3 and T are named below.
 */
#include "lock/mcs/mcs.h"

#include <stdio.h>
#include <stdlib.h>

/* TAIL by enum rma_domain: that of the local cohort, that of the remote one. */
enum { TAIL = 0, VICTIM = 16, LOCK_BYTES = 32, WORD_BYTES = 8 };
_Static_assert(TAIL + 2 * WORD_BYTES == VICTIM && VICTIM + WORD_BYTES <= LOCK_BYTES,
	       "the words of a lock do not overlap and fit into it");

/* What a grant says if nothing is left of the budget. */
enum { BUDGET_OVER = 1 };

struct alock_options {
	int64_t budget[2]; /* acquires in a row of a cohort */
};
_Static_assert(sizeof(struct alock_options) <= LOCK_OPTION_BYTES, "the options fit");

RMA_INLINE const struct alock_options *options_of(const struct lock_space *s)
{
	return lock_options(s);
}

/* What a slot keeps from acquire to release. */
struct alock_slot {
	struct rma_word tail; /* of its cohort */
	int64_t passed;       /* what is left of the budget */
};
_Static_assert(sizeof(struct alock_slot) <= LOCK_OWN_BYTES, "it fits into a slot");

RMA_INLINE struct alock_slot *own_of(struct lock_slot *slot)
{
	return lock_own(slot);
}

struct constants {
	uint64_t locks;
	uint64_t clients[2]; /* of a cohort, at most */
};

/* ----------------------------------------------------------------- layout */

/* Ranks of the largest node, and all but those of the smallest. */
static bool count_clients(const struct lock_space *s, struct constants *k)
{
	const struct topo *t = s->topo;
	int *size = calloc((size_t)t->nnodes, sizeof *size), most = 0, least = t->nranks;

	if (!size)
		return false;
	for (int p = 0; p < t->nranks; p++)
		size[t->node[p]]++;
	for (int n = 0; n < t->nnodes; n++) {
		most = size[n] > most ? size[n] : most;
		least = size[n] < least ? size[n] : least;
	}
	free(size);
	k->clients[RMA_NODE] = (uint64_t)most * (uint64_t)s->max_held;
	k->clients[RMA_NET] = (uint64_t)(t->nranks - least) * (uint64_t)s->max_held;
	return true;
}

static int layout(struct lock_space *s, char *err, size_t errlen)
{
	struct constants *k = lock_constants(s, sizeof *k, err, errlen);

	if (!k)
		return PAWL_ERR_NOMEM;
	if (!count_clients(s, k)) {
		snprintf(err, errlen, "out of memory");
		return PAWL_ERR_NOMEM;
	}
	k->locks = lock_reserve(s, s->block, LOCK_BYTES);
	return PAWL_SUCCESS;
}

static void describe(const struct lock_space *s, char *text, size_t len)
{
	snprintf(text, len, "budgets: local %lld, remote %lld",
		 (long long)options_of(s)->budget[RMA_NODE],
		 (long long)options_of(s)->budget[RMA_NET]);
}

/* A word of the lock. Seen as a NODE word by all: so local clients load and store
 * it, and for the remote ones it is far. */
RMA_INLINE struct rma_word word_of(const struct lock_space *s, struct lock_slot *slot,
				   uint64_t offset)
{
	const struct constants *k = s->state;

	return lock_home_word(s, &slot->client, RMA_NODE, k->locks + offset, LOCK_BYTES,
			      slot->lock);
}

RMA_INLINE struct rma_word tail_of(const struct lock_space *s, struct lock_slot *slot,
				   enum rma_domain cohort)
{
	return word_of(s, slot, TAIL + (uint64_t)cohort * WORD_BYTES);
}

/* The cohort of a client, by any word of the lock. */
RMA_INLINE enum rma_domain cohort_of(struct rma_word w)
{
	return w.flags & RMA_FAR ? RMA_NET : RMA_NODE;
}

RMA_INLINE enum rma_domain other_than(enum rma_domain cohort)
{
	return cohort == RMA_NODE ? RMA_NET : RMA_NODE;
}

/* ---------------------------------------------------------- the two leaders */

/* P1: whether the other cohort is there. On one node there is none. */
RMA_INLINE bool is_alone(const struct lock_space *s, struct lock_slot *slot, enum rma_domain cohort)
{
	struct rma_client *c = &slot->client;
	struct rma_word other;
	int64_t tail;

	if (s->domain == RMA_NODE || FAULT(alock_alone))
		return true;
	other = tail_of(s, slot, other_than(cohort));
	rma_get(c, other, &tail);
	rma_flush(c, other); /* orders the look before what follows from it; (A) */
	return tail == 0;
}

/* P2: let the other cohort go first. */
static void give_way(const struct lock_space *s, struct lock_slot *slot, enum rma_domain cohort)
{
	struct rma_word victim = word_of(s, slot, VICTIM);

	rma_put(&slot->client, victim, cohort + 1);
	/* orders VICTIM before the looks at it and at the other TAIL, and before the
	 * end of a try; pairs with the looks of the other leader; (B). */
	if (!FAULT(alock_victim))
		rma_flush(&slot->client, victim);
}

/* P3: wait until the other cohort is gone, or lets us. False: the deadline has passed. */
static RMA_SLOW_PATH bool await_turn(const struct lock_space *s, struct lock_slot *slot,
				     enum rma_domain cohort)
{
	struct rma_client *c = &slot->client;
	struct rma_word victim = word_of(s, slot, VICTIM);
	struct rma_word other = tail_of(s, slot, other_than(cohort));
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

static RMA_SLOW_PATH void hand_over(const struct lock_space *s, struct lock_slot *slot,
				    enum rma_domain cohort, int64_t succ, int64_t status)
{
	mcs_hand_over(s, slot, cohort, own_of(slot)->tail, succ, status);
}

/* A leader that has written VICTIM goes away; a client that queued behind it leads in its place. */
static void stand_down(const struct lock_space *s, struct lock_slot *slot, enum rma_domain cohort)
{
	int64_t succ;

	if (!mcs_leave(slot, cohort, own_of(slot)->tail, &succ))
		hand_over(s, slot, cohort, succ, BUDGET_OVER);
}

/* The head of the queue has the lock only if the other cohort has not. */
RMA_INLINE int lead(const struct lock_space *s, struct lock_slot *slot, enum rma_domain cohort)
{
	own_of(slot)->passed = options_of(s)->budget[cohort];
	if (is_alone(s, slot, cohort) || await_turn(s, slot, cohort))
		return PAWL_SUCCESS;
	if (!FAULT(alock_stay))
		stand_down(s, slot, cohort);
	return PAWL_ERR_TIMEOUT;
}

/* --------------------------------------------------------------- protocol */

/* In the queue: wait for the grant; (C). */
static int await_grant(const struct lock_space *s, struct lock_slot *slot, enum rma_domain cohort)
{
	int64_t status;

	if (!mcs_await_grant(slot, cohort, &status))
		return LOCK_QUEUED;
	own_of(slot)->passed = status - 1;
	if (FAULT(alock_budget))
		own_of(slot)->passed += own_of(slot)->passed == 0;
	return own_of(slot)->passed == 0 ? lead(s, slot, cohort) : PAWL_SUCCESS;
}

/* There is a predecessor: link to it. */
static RMA_SLOW_PATH int wait_behind(const struct lock_space *s, struct lock_slot *slot,
				     enum rma_domain cohort, int64_t pred)
{
	mcs_link(s, slot, cohort, pred);
	return await_grant(s, slot, cohort);
}

static int acquire(const struct lock_space *s, struct lock_slot *slot)
{
	enum rma_domain cohort = cohort_of(word_of(s, slot, TAIL));
	bool alone = FAULT(alock_look) && is_alone(s, slot, cohort);
	int64_t pred;

	own_of(slot)->tail = tail_of(s, slot, cohort);
	pred = mcs_enter(slot, cohort, own_of(slot)->tail);
	if (pred)
		return wait_behind(s, slot, cohort, pred);
	if (alone) {
		own_of(slot)->passed = options_of(s)->budget[cohort];
		return PAWL_SUCCESS;
	}
	return lead(s, slot, cohort);
}

static int resume(const struct lock_space *s, struct lock_slot *slot)
{
	enum rma_domain cohort = cohort_of(own_of(slot)->tail);
	int rc = mcs_resume(slot, cohort, MCS_ABANDONED);

	return rc == PAWL_SUCCESS ? await_grant(s, slot, cohort) : rc;
}

static bool passed(const struct lock_space *s, struct lock_slot *slot)
{
	(void)s;
	return mcs_passed(slot, cohort_of(own_of(slot)->tail));
}

/* T: lead the queue only if it is empty, and only if the other one is. Else P2, lest
 * the other leader wait for us, and find other tries there each time it looks. */
static int try_acquire(const struct lock_space *s, struct lock_slot *slot)
{
	enum rma_domain cohort = cohort_of(word_of(s, slot, TAIL));

	own_of(slot)->tail = tail_of(s, slot, cohort);
	if (mcs_try_enter(slot, cohort, own_of(slot)->tail))
		return PAWL_ERR_BUSY;
	own_of(slot)->passed = options_of(s)->budget[cohort];
	if (is_alone(s, slot, cohort))
		return PAWL_SUCCESS;
	give_way(s, slot, cohort);
	stand_down(s, slot, cohort);
	return PAWL_ERR_BUSY;
}

static int release(const struct lock_space *s, struct lock_slot *slot)
{
	enum rma_domain cohort = cohort_of(own_of(slot)->tail);
	int64_t succ;

	/* The next one has one acquire less left than we: 1 + passed - 1. */
	if (!mcs_leave(slot, cohort, own_of(slot)->tail, &succ))
		hand_over(s, slot, cohort, succ, own_of(slot)->passed);
	return PAWL_SUCCESS;
}

/* -------------------------------------------------------------- simulator */

/* Everybody ahead in the own queue once. And the other cohort's budget before the first of these
 * or us, after each one of them (its own budget may be over, or its time as a leader), and, if
 * the leader of our queue has not written VICTIM yet, once more. */
static uint64_t most_ahead(const struct lock_space *s, enum rma_domain cohort)
{
	const struct constants *k = s->state;
	uint64_t ahead = k->clients[cohort] - 1;
	uint64_t other = (uint64_t)options_of(s)->budget[other_than(cohort)];

	return ahead + other * (ahead + 1 + (ahead > 0));
}

static uint64_t overtakes(const struct lock_space *s, int mode)
{
	const struct constants *k = s->state;
	uint64_t local, remote;

	(void)mode;
	if (s->domain == RMA_NODE)
		return k->clients[RMA_NODE] - 1;
	local = most_ahead(s, RMA_NODE);
	remote = most_ahead(s, RMA_NET);
	return local > remote ? local : remote;
}

static bool idle(const struct lock_space *s, uint64_t lock, const struct lock_memory *m, char *err,
		 size_t errlen)
{
	const struct constants *k = s->state;
	const int64_t *words = lock_memory_home(s, m, k->locks, LOCK_BYTES, lock);

	snprintf(err, errlen, "TAIL is 0x%llx (local) and 0x%llx (remote)",
		 (unsigned long long)words[RMA_NODE], (unsigned long long)words[RMA_NET]);
	return words[RMA_NODE] == 0 && words[RMA_NET] == 0;
}

static const struct option_spec options[] = {
    LOCK_NUMBER(struct alock_options, budget[RMA_NODE], "local_budget", 1, 1048575, "5",
		"acquires in a row by the home's node while other nodes wait"),
    LOCK_NUMBER(struct alock_options, budget[RMA_NET], "remote_budget", 1, 1048575, "20",
		"acquires in a row by other nodes while the home's node waits"),
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
    .layout = layout,
    .describe = describe,
    .acquire = acquire,
    .try_acquire = try_acquire,
    .release = release,
    .timed = &(const struct lock_timed_calls){.resume = resume, .passed = passed},
    .check = &(const struct lock_check_calls){.overtakes = overtakes, .idle = idle},
};
