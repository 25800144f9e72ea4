/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DSLR: a reader-writer bakery in one word. Yoon, Chowdhury, Mozafari, "Distributed Lock Management
 * with RDMA: Decentralization without Starvation", SIGMOD'18; a baseline of the ShiftLock paper
 * (FAST'25, Section 4).
 *
 * The word at the lock's home has two pairs of counters: MAX_X and MAX_S, the tickets given to
 * writers and readers, and N_X and N_S, how many of these are done. One fetch-and-add draws a
 * ticket and returns what is ahead of it. It is a writer's turn when N_X and N_S equal the MAX_X
 * and MAX_S of its ticket; a reader's, when N_X equals MAX_X.
 *
 * Fairness: first come, first served, by the order of the fetch-and-adds; consecutive readers hold
 * the lock together. Uncontended: acquire 1 atomic, 1 round trip; release 1 atomic, 1 round trip,
 * or none if the transport posts (UCX between nodes) and there is no lease. A waiter polls by get
 * and pauses between polls in proportion to the clients ahead and to the measured time of a
 * hand-over, for backoff_max and an eighth of a lease at most (bakery.h).
 *
 * bakery.h describes why a carry never reaches another counter and why the answer of a release
 * decides nothing, and has the word and the steps on it.
 *
 * Leases. A client whose turn it is changes N_X or N_S within a lease after it enters. A waiter
 * that sees neither change for two leases (in 8 or more looks, because one long stop of its own
 * proves nothing) takes a client for dead: it swaps in a word with the next ERA and all counters 0.
 * All tickets of the previous era are void; a waiter with such a ticket draws another. A look that
 * took longer than a quarter of a lease restarts the count: the home was not responding, so other
 * clients' operations there waited as well.
 *
 * Ordering guarantees
 *   (A) A ticket and the counters with which it is compared come from one atomic operation.
 *   (B) When it is a ticket's turn, N_X and N_S do not change until its owner changes them (N_S: or
 *       another reader with the lock). So a late look still sees the turn.
 *   (C) A counter is changed by an unconditional addition only in the era that it is meant for. A
 *       holder that was away for more than one and a half leases releases by compare-and-swap,
 *       which fails in a later era. The addition of a quick holder has half a lease to arrive. It
 *       fetches the old word; if it has come too late nevertheless, the holder takes it back, and
 *       its release returns PAWL_ERR_LEASE_LOST.
 *   (D) A client that sees its turn late (half a lease after the previous look) changes BEAT by
 *       compare-and-swap before it enters. Others that count from an earlier time then fail to take
 *       it for dead, and start to count again. After four such slow answers in a row it enters,
 *       because then no look is quick enough for a client to be taken for dead. A pause is part of
 *       that half lease; it takes an eighth of a lease at most, so by itself it makes no look late.
 *   (E) With a lease the answer of a release says whether the era was still its own, (C), so the
 *       release waits for it. Without leases it decides nothing (bakery.h), and the release is
 *       posted.
 *
 * What a recovery may get wrong, and why the next holder is not told of it: at the leases below.
 *
 * Progress: starvation-free if holders release (lease 0), or are recovered.
 *
 * Why this is its best form: one atomic each to acquire and to release, as in the paper; and a
 * waiter that pauses for less than the clients ahead take, but looks all the time once it is next.
 * So it has more acquires a second than in the ShiftLock paper, and where half of them write, fewer
 * reads for each (doc/measured/reproduction.md).
 *
 * "dslr-printed" is the same lock with the pauses of the papers: a fixed time for each client
 * ahead, also for the one that is next, 1862 ns as in ShiftLock's artefact (more after 0.1 ms in
 * which no client proceeds).
 *
 * Different from the paper: counters of 13 bits that wrap around, instead of 16 bits that are reset
 * by the client that draws ticket 2^15, because the paper's reset leaves no trace in the word; ERA,
 * BEAT and the release by compare-and-swap, (C) and (D), are Pawl's. A try-acquire is a get and a
 * compare-and-swap of the whole word. There is no timed acquire: it would have to give a ticket
 * back, which only the last client in the line can do.
 *
 * Model: models/dslr.pml, whose steps A1 ... R3 are named below. It leaves out time, so it is that
 * of dslr-printed, too.
 */
#include "lock/ss/bakery.h"

#include <stdio.h>

enum { SLOW_ANSWERS = 4, QUIET_LOOKS = 8, PRINTED_PAUSE_NS = 1862 };

struct dslr_options {
	struct lock_backoff backoff; /* min: for each client ahead, before a poll; max: in total */
	int64_t lease_us;            /* 0: none */
};
_Static_assert(sizeof(struct dslr_options) <= LOCK_OPTION_BYTES, "the options fit");

RMA_INLINE const struct dslr_options *options_of(const struct lock_setup *s)
{
	return lock_options(s);
}

struct dslr_slot {
	struct rma_word word;
	uint64_t era;   /* of the ticket */
	uint64_t since; /* the ticket was found valid by an operation that began at this time */
};
_Static_assert(sizeof(struct dslr_slot) <= LOCK_OWN_BYTES, "it fits into a slot");

RMA_INLINE struct dslr_slot *own_of(struct lock_slot *slot)
{
	return lock_own(slot);
}

/* dslr-printed does not have these options, which are never 0. */
static bool is_printed(const struct lock_setup *s)
{
	return options_of(s)->backoff.max == 0;
}

static void describe(const struct lock_setup *s, char *text, size_t len)
{
	if (is_printed(s))
		snprintf(text, len, "lease %lld us, %d ns for each client ahead",
			 (long long)options_of(s)->lease_us, PRINTED_PAUSE_NS);
	else
		snprintf(
		    text, len,
		    "lease %lld us, backoff at first %lld ns for each client ahead, at most %lld"
		    " ns",
		    (long long)options_of(s)->lease_us, (long long)options_of(s)->backoff.min,
		    (long long)options_of(s)->backoff.max);
}

RMA_INLINE struct rma_word lock_word(const struct lock_setup *s, struct lock_slot *slot)
{
	return lock_home_word(s, &slot->client, s->domain, s->words, BAKERY_BYTES, slot->lock);
}

/* ---------------------------------------------------------------- beat and era */

static uint64_t next_beat(uint64_t word)
{
	uint64_t beat = ((word >> BEAT) + 1) & BEATS;

	return (word & ~(BEATS << BEAT)) | beat << BEAT;
}

static uint64_t next_era(uint64_t word)
{
	return ((bakery_era_of(word) + 1) & ERAS) << ERA;
}

/* ---------------------------------------------------------------------- leases */

/*
 * Limits of recovery. That a holder is dead is a guess from a clock. A holder that sleeps in its
 * critical section for longer than its lease loses the lock; others may enter, and its release
 * returns PAWL_ERR_LEASE_LOST. Two recoveries may conflict (ABA, Figure 2b of the ShiftLock paper):
 * a client that is about to reset the lock is stopped, another resets it, and when the first
 * continues, the word happens to have its old value. ERA prevents this: the word differs from then
 * on. ERA has 6 bits. A client still does harm if it stops between its last look and its swap for
 * exactly 64 recoveries (at least 128 leases), or while every counter wraps around to exactly its
 * old value. Nothing in one word can prevent that. The word also becomes wrong if a release arrives
 * after its holder was given up and is taken back after one more recovery: in the adversary, in one
 * of several thousand worlds in which clients are stopped for many leases within a release. A
 * release by compare-and-swap would prevent that, but costs a round trip, and would not be the
 * paper's lock (unchecked_release). The same happens if the machine of a holder is suspended, so
 * that the holder's clock stands still, and its release does not see that the lease is over. Stops
 * within an acquire do no harm. With lease 0 there are no recoveries, and acquire and release read
 * no clock.
 *
 * The next holder is not told of a recovery (life NULL; the library's own kinds have to tell). A
 * life needs a name that no other one gets (lock/life.h), and ERA has 6 bits, with which the word
 * is full. A word of its own for the name would be written after the swap that recovers, and
 * clients come in between the two. And the word of lock/life.h relies on releases that are checked,
 * which these are not.
 */

RMA_INLINE uint64_t lease_of(const struct lock_setup *s)
{
	return (uint64_t)options_of(s)->lease_us * 1000;
}

/* (D): it was not this client's turn at since, and is now. False: the era is over. */
static bool confirm(const struct lock_setup *s, struct lock_slot *slot, struct rma_word w,
		    uint64_t word, uint64_t since)
{
	struct rma_client *c = &slot->client;
	uint64_t lease = lease_of(s), era = bakery_era_of(word);

	own_of(slot)->era = era;
	if (__builtin_expect(bakery_has_carried(word, slot->mode), 0))
		bakery_clear_guard(c, w, N_X, era);
	for (int slow = 0; lease && rma_clock(c) - since > lease / 2 && slow < SLOW_ANSWERS;) {
		uint64_t issued = rma_clock(c), by = next_beat(word);

		if (bakery_swap(c, w, &word, by)) {
			word = by;
			since = issued;
			slow++;
		} else if (bakery_era_of(word) != era) {
			return false;
		}
	}
	own_of(slot)->since = since;
	return true;
}

/* ------------------------------------------------------------------ acquisition */

/* Pause before the next look: the longer, the more clients are ahead. */
static void back_off(const struct lock_setup *s, struct lock_slot *slot, struct rma_pause *p,
		     uint64_t ahead, uint64_t trip, uint64_t still)
{
	uint64_t lease = lease_of(s), ns = ahead * slow_pause_ns(PRINTED_PAUSE_NS, still);

	if (!is_printed(s))
		ns = bakery_pause_ns(&options_of(s)->backoff, ahead, trip, still);

	if (lease && ns > lease / 8)
		ns = lease / 8;
	p->min_ns = p->max_ns = ns;
	rma_pause(&slot->client, p, "its turn in the bakery");
}

/* A2: wait for the turn of a ticket that was drawn after since. False: the era is over, and the
 * ticket is void. */
static RMA_SLOW_PATH bool wait_turn(const struct lock_setup *s, struct lock_slot *slot,
				    struct rma_word w, uint64_t ticket, uint64_t since)
{
	struct rma_client *c = &slot->client;
	struct rma_pause p = {.rounds = 0};
	uint64_t lease = lease_of(s), word = ticket, trip = 0;
	uint64_t moved = rma_clock(c), answered = moved;
	unsigned quiet = 0;

	for (;;) {
		uint64_t before = word, issued, seen;

		back_off(s, slot, &p, bakery_ahead_of(word, ticket, slot->mode), trip,
			 answered - moved);
		issued = rma_clock(c);
		word = bakery_look(c, w);
		answered = rma_clock(c);
		note_trip(&trip, answered - issued);
		if (bakery_era_of(word) != bakery_era_of(ticket))
			return false;
		if (bakery_is_turn(word, ticket, slot->mode))
			return confirm(s, slot, w, word, since);
		since = issued;
		quiet++;
		if (bakery_moves(before, word) || (lease && answered - issued > lease / 4)) {
			moved = answered;
			quiet = 0;
		}
		/* A3: no client has proceeded for two leases. If the swap fails, one may have
		 * proceeded since the last look, with which the next look compares. */
		seen = word;
		if (lease && answered - moved > 2 * lease && quiet >= QUIET_LOOKS &&
		    bakery_swap(c, w, &seen, next_era(word))) {
			slot->recoveries++;
			return false;
		}
	}
}

/* Draw one ticket and wait for its turn. False: its era ended first. */
RMA_INLINE bool attempt(const struct lock_setup *s, struct lock_slot *slot, struct rma_word w)
{
	struct rma_client *c = &slot->client;
	int at = bakery_max_of(slot->mode);
	uint64_t since = lease_of(s) ? rma_clock(c) : 0;
	uint64_t ticket = bakery_add(c, w, at); /* A1; (A) */

	if (bakery_sets_guard(ticket, at)) {
		bakery_clear_guard(c, w, at, bakery_era_of(ticket));
		return wait_turn(s, slot, w, ticket, since);
	}
	if (bakery_is_turn(ticket, ticket, slot->mode))
		return confirm(s, slot, w, ticket + (UINT64_C(1) << at), since);
	return wait_turn(s, slot, w, ticket, since);
}

static int acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_word w = own_of(slot)->word = lock_word(s, slot);

	while (!attempt(s, slot, w))
		;
	return PAWL_SUCCESS;
}

static int try_acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct rma_word w = own_of(slot)->word = lock_word(s, slot);
	uint64_t word = bakery_look(c, w), since, by;

	/* A1 and A2 in one swap, as long as it would be this client's turn at once. */
	do {
		if (!bakery_is_turn(word, word, slot->mode))
			return PAWL_ERR_BUSY;
		since = rma_clock(c);
		by = bakery_counted(word, bakery_max_of(slot->mode));
	} while (!bakery_swap(c, w, &word, by));
	return confirm(s, slot, w, by, since) ? PAWL_SUCCESS : PAWL_ERR_BUSY;
}

/* ---------------------------------------------------------------------- release */

/* R2: the holder was away for too long; (C). */
static RMA_SLOW_PATH int release_late(struct lock_slot *slot, int at)
{
	struct rma_client *c = &slot->client;
	uint64_t word = bakery_look(c, own_of(slot)->word);

	while (bakery_era_of(word) == own_of(slot)->era)
		if (bakery_swap(c, own_of(slot)->word, &word, bakery_counted(word, at)))
			return PAWL_SUCCESS;
	return PAWL_ERR_LEASE_LOST;
}

/* R3: the addition arrived in a later era, so take it back. */
static RMA_SLOW_PATH int take_back(struct lock_slot *slot, int at)
{
	rma_acc(&slot->client, own_of(slot)->word, -(int64_t)(UINT64_C(1) << at));
	rma_flush(&slot->client, own_of(slot)->word); /* orders it before the return */
	return PAWL_ERR_LEASE_LOST;
}

/* R1, with a lease; pairs with A2 of the next client */
static int release_leased(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	uint64_t lease = lease_of(s), old;
	int at = bakery_done_of(slot->mode);

	if (rma_clock(c) - own_of(slot)->since > lease + lease / 2)
		return release_late(slot, at);
	old = bakery_add(c, own_of(slot)->word, at);
	if (bakery_era_of(old) != own_of(slot)->era)
		return take_back(slot, at);
	return PAWL_SUCCESS;
}

static int release(const struct lock_setup *s, struct lock_slot *slot)
{
	if (lease_of(s))
		return release_leased(s, slot);
	bakery_leave(&slot->client, own_of(slot)->word, slot->mode); /* R1; (E) */
	return lock_end_release(s, slot, own_of(slot)->word);
}

/* --------------------------------------------------------------- the simulator */

static bool idle(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m, char *err,
		 size_t errlen)
{
	uint64_t word = (uint64_t)*lock_memory_home(s, m, s->words, BAKERY_BYTES, lock);

	snprintf(err, errlen, "its word is 0x%llx", (unsigned long long)word);
	return bakery_is_idle(word);
}

static void age(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m)
{
	*lock_memory_home(s, m, s->words, BAKERY_BYTES, lock) =
	    (int64_t)(bakery_aged() | BEATS << BEAT | ERAS << ERA);
}

/* Other clients write no words of a slot, so it may be used again at once. */
static bool abandon(const struct lock_setup *s, struct lock_slot *slot)
{
	(void)s;
	(void)slot;
	return true;
}

static const struct option_spec options[] = {
    LOCK_BACKOFF(struct dslr_options, backoff),
    LOCK_LEASE(struct dslr_options, lease_us, "0 (off)"),
    LOCK_OPTIONS_END,
};

static const struct option_spec options_printed[] = {
    LOCK_LEASE(struct dslr_options, lease_us, "0 (off)"),
    LOCK_OPTIONS_END,
};

static const struct lock_recovery_calls recovery = {.abandon = abandon, .unchecked_release = true};
/* Others overtake by earlier tickets. (The end of an era, which takes a death, voids the order.) */
static const struct lock_check_calls check = {.overtakes = lock_others, .idle = idle, .age = age};

#define CALLS                                                                         \
	.home_bytes = BAKERY_BYTES, .most_slots = BAKERY_COUNT, .describe = describe, \
	.acquire = acquire, .try_acquire = try_acquire, .release = release,           \
	.settled = lock_is_answered, .posts_unmarked = true, .recover = &recovery, .check = &check

#define CAPABILITIES (PAWL_CAP_SHARED | PAWL_CAP_TRY | PAWL_CAP_FAIR | PAWL_CAP_RECOVERS)

const struct lock_protocol lock_dslr = {
    .kind =
	{
	    .name = "dslr",
	    .summary = "baseline: a reader-writer bakery, tickets by fetch-and-add",
	    .reference = "SIGMOD'18 (DSLR); FAST'25 (ShiftLock), section 4",
	    .capabilities = CAPABILITIES,
	},
    .options = options,
    CALLS,
};

const struct lock_protocol lock_dslr_printed = {
    .kind =
	{
	    .name = "dslr-printed",
	    .summary = "baseline: dslr with its papers' pauses, a fixed time for each client ahead",
	    .reference = "ShiftLock's baseline as published (FAST'25, section 4)",
	    .capabilities = CAPABILITIES,
	},
    .options = options_printed,
    CALLS,
};
