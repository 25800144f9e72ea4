/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DrTM's lock: writers by compare-and-swap, readers by leases. Wei, Shi, Chen, Chen, Chen, "Fast
 * In-memory Transaction Processing using RDMA and HTM", SOSP'15, the section on shared locks with
 * leases; a baseline of the ShiftLock paper (FAST'25, Section 4).
 *
 * The word at the lock's home is 0, or names the writer that has the lock, or is the time until
 * which readers have it, by the clock that all ranks share (rma_clock()). A reader that finds 0
 * swaps in the end of a new lease. A reader that finds a lease with half of its time left has the
 * lock and changes nothing; one that finds less extends the lease. A writer swaps itself in for 0,
 * or for a lease that is over. Readers release without an operation.
 *
 * Fairness: none. Readers that keep coming extend the lease for ever. Uncontended: a writer
 * acquires by 1 atomic, 1 round trip, and releases by 1 atomic, 1 round trip. After readers, it
 * takes 2 atomics and waits until the lease is over, even if no client reads any more. A reader
 * acquires by 1 atomic (2 if a lease has run out) and releases by none.
 *
 * A reader's critical section is limited in time: it has at least half a lease (option lease). If
 * it lasts until the end of the lease, a writer may enter, and the reader's data may be torn. Its
 * release then returns PAWL_ERR_LEASE_LOST, and the data must not be used. So a reader is
 * optimistic: its data is valid if its release says so. A writer has the lock until it releases it;
 * if it dies, for ever.
 *
 * Clocks. E is a bound on the difference between a clock and rank 0's clock: zero between ranks of
 * one host, which share a clock; else half a round trip at the creation of the table, and 100 us
 * more for each second since (rma/shared_clock.c). A reader allows for E when it checks whether its
 * lease is over, a writer waits for E longer, and a new lease is 2 E longer, so that leases stay as
 * useful as they were at the start.
 *
 * Ordering guarantees
 *   (A) The swap that takes the lock is the one that found it free, or found its lease unchanged.
 *   (B) A writer swaps for a lease only when it is over by every clock. A reader has the lock by a
 *       lease, its own or one that it found, only if the lease is not over by any clock when the
 *       reader checks it, after its swap has returned. The end of a lease only ever moves to a
 *       later time: the new end is computed after the old one is known to have less than half a
 *       lease left, and is swapped in for that one only.
 *       A clock that stands still, because its machine is suspended, breaks that.
 *   (C) A reader's loads come before the look at the clock that shows that they were in time.
 *
 * Progress: deadlock-free, as long as a round trip takes less than half a lease now and then.
 *
 * Why this is its best form: a reader that finds a lease needs one atomic, and no release; a writer
 * that meets a lease sleeps until its end and does not look meanwhile. The length of a lease is a
 * choice between readers, who extend shorter ones, and writers, who wait for longer ones: option
 * lease. With readers only it is the best of the locks in simulation, 33 million acquires a second;
 * the ShiftLock paper states no figure of it but the order in its plots, where it is behind as
 * here.
 *
 * Different from the paper: the lock alone, without transactions; a lease near its end is extended
 * rather than shared; a writer waits for the end of a lease without looking at the word; clocks are
 * compared at the creation of the table, not by a service; the release swaps 0 in instead of
 * storing it, so that all changes of the word are atomics of one domain.
 *
 * Model: models/drtm.pml.
 */
#include "lock/lock.h"
#include "lock/pauses.h"

#include <stdio.h>
#include <stdlib.h>

/* Set in a word that has a writer's slot id. Otherwise the word is a time, which never reaches this
 * bit. */
#define WRITER (INT64_C(1) << 62)

enum { WORD_BYTES = 8, NAP_MAX_NS = 1000000 };
_Static_assert(WORD_BYTES == sizeof(int64_t), "one word a lock at its home");

struct drtm_options {
	struct lock_backoff backoff;
	int64_t lease_us; /* of readers, which have the lock by it only */
};
_Static_assert(sizeof(struct drtm_options) <= LOCK_OPTION_BYTES, "the options fit");

RMA_INLINE const struct drtm_options *options_of(const struct lock_setup *s)
{
	return lock_options(s);
}

struct drtm_slot {
	struct rma_word word; /* of the lock */
	int64_t end;          /* end of a reader's lease */
};
_Static_assert(sizeof(struct drtm_slot) <= LOCK_OWN_BYTES, "it fits into a slot");

RMA_INLINE struct drtm_slot *own_of(struct lock_slot *slot)
{
	return lock_own(slot);
}

static int layout(struct lock_setup *s, char *err, size_t errlen)
{
	if (options_of(s)->lease_us > 0)
		return PAWL_SUCCESS;
	snprintf(err, errlen,
		 "option lease: readers of drtm have the lock by nothing but a"
		 " lease, so 0 is not accepted here; accepted: 1 to 3600000000");
	return PAWL_ERR_OPTION;
}

static void describe(const struct lock_setup *s, char *text, size_t len)
{
	snprintf(text, len, "readers' lease %lld us, backoff %lld to %lld ns",
		 (long long)options_of(s)->lease_us, (long long)options_of(s)->backoff.min,
		 (long long)options_of(s)->backoff.max);
}

RMA_INLINE struct rma_word lock_word(const struct lock_setup *s, struct lock_slot *slot)
{
	return lock_home_word(s, &slot->client, s->domain, s->words, WORD_BYTES, slot->lock);
}

static uint64_t lease_of(const struct lock_setup *s)
{
	return (uint64_t)options_of(s)->lease_us * 1000;
}

/* Replace expected by another value. Returns what the word was. */
RMA_INLINE int64_t swap(struct rma_client *c, struct rma_word w, int64_t expected, int64_t by)
{
	int64_t seen;

	rma_cas(c, w, expected, by, &seen);
	rma_flush(c, w); /* orders the swap before the looks at its result and at the clock */
	return seen;
}

/* ----------------------------------------------------------------------- leases */

/* How long the lease will last by every clock; 0: it may be over. */
static uint64_t time_left(const struct rma_client *c, int64_t end)
{
	uint64_t now = rma_clock(c), latest = now + rma_clock_error(c, now);

	return latest < (uint64_t)end ? (uint64_t)end - latest : 0;
}

/* How long until the lease is over by every clock. */
static uint64_t time_until_over(const struct lock_setup *s, const struct rma_client *c, int64_t end)
{
	uint64_t now = rma_clock(c), error = rma_clock_error(c, now), over;

	over =
	    (uint64_t)end + (FAULT(drtm_clock) ? 0 : error) - (FAULT(drtm_lease) ? lease_of(s) : 0);
	return over < now ? 0 : over - now + 1;
}

static int64_t new_end(const struct lock_setup *s, const struct rma_client *c)
{
	uint64_t now = rma_clock(c);

	return (int64_t)(now + lease_of(s) + 2 * rma_clock_error(c, now));
}

/* ---------------------------------------------------------------------- writers */

/* Wait until a lease is over. False: the deadline comes first. */
static bool outwait(const struct lock_setup *s, struct lock_slot *slot, int64_t end)
{
	struct rma_pause p = {.deadline_ns = slot->deadline_ns};
	uint64_t left;

	while ((left = time_until_over(s, &slot->client, end)) > 0) {
		p.min_ns = p.max_ns = left < NAP_MAX_NS ? left : NAP_MAX_NS;
		if (!rma_pause(&slot->client, &p, "the readers' lease to be over"))
			return false;
	}
	return true;
}

static int acquire_exclusive(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_word w = own_of(slot)->word = lock_word(s, slot);
	struct rma_pause p = backoff_pause(&options_of(s)->backoff, slot->deadline_ns);
	int64_t expected = 0, seen;

	while ((seen = swap(&slot->client, w, expected, WRITER | slot->id)) != expected) {
		expected = 0;
		if (seen & WRITER) {
			if (!rma_pause(&slot->client, &p, "the writer to leave the lock word"))
				return PAWL_ERR_TIMEOUT;
		} else if (seen != 0) {
			if (!outwait(s, slot, seen))
				return PAWL_ERR_TIMEOUT;
			expected = seen; /* (B) */
		}
	}
	return PAWL_SUCCESS; /* (A) */
}

static int try_exclusive(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct rma_word w = own_of(slot)->word = lock_word(s, slot);
	int64_t seen = swap(c, w, 0, WRITER | slot->id);

	if (seen == 0)
		return PAWL_SUCCESS;
	if ((seen & WRITER) || time_until_over(s, c, seen) > 0)
		return PAWL_ERR_BUSY;
	return swap(c, w, seen, WRITER | slot->id) == seen ? PAWL_SUCCESS : PAWL_ERR_BUSY;
}

static void release_exclusive(struct lock_slot *slot)
{
	int64_t ignored;

	rma_fao(&slot->client, own_of(slot)->word, RMA_REPLACE, 0, &ignored);
	rma_flush(&slot->client, own_of(slot)->word); /* orders the release before the return */
}

/* ---------------------------------------------------------------------- readers */

/* Try one swap. True: the client has the lock, by the lease that it swapped in for *word or by the
 * one that it found. *word is the value of the word now. */
static bool read_by(const struct lock_setup *s, struct lock_slot *slot, int64_t *word)
{
	int64_t end = new_end(s, &slot->client);
	int64_t seen = swap(&slot->client, own_of(slot)->word, *word, end);

	*word = seen == *word ? end : seen;
	own_of(slot)->end = *word;
	return !(*word & WRITER) && time_left(&slot->client, *word) >= lease_of(s) / 2; /* (B) */
}

static int acquire_shared(const struct lock_setup *s, struct lock_slot *slot, bool once)
{
	struct rma_pause p = backoff_pause(&options_of(s)->backoff, slot->deadline_ns);
	int64_t word = 0;

	own_of(slot)->word = lock_word(s, slot);
	for (int tries = 1; !read_by(s, slot, &word); tries++) {
		bool blocked = word & WRITER;

		if (blocked && once)
			return PAWL_ERR_BUSY;
		/* A lease that is too short is extended at once, and once more if this client's own
		 * lease was over when the swap returned. */
		if ((blocked || tries > 2) && !rma_pause(&slot->client, &p, "a lease to read by"))
			return PAWL_ERR_TIMEOUT;
		if (blocked)
			word = 0;
	}
	return PAWL_SUCCESS;
}

static int release_shared(struct lock_slot *slot)
{
	/* (C); orders the loads of the critical section before the look at the clock; pairs with
	 * the swap of the writer that comes after the lease. */
	atomic_thread_fence(memory_order_seq_cst);
	return time_left(&slot->client, own_of(slot)->end) > 0 ? PAWL_SUCCESS : PAWL_ERR_LEASE_LOST;
}

/* ------------------------------------------------------------------------- both */

static int acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	return slot->mode == PAWL_SHARED ? acquire_shared(s, slot, false)
					 : acquire_exclusive(s, slot);
}

static int try_acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	return slot->mode == PAWL_SHARED ? acquire_shared(s, slot, true) : try_exclusive(s, slot);
}

static int release(const struct lock_setup *s, struct lock_slot *slot)
{
	(void)s;
	if (slot->mode == PAWL_SHARED)
		return release_shared(slot);
	release_exclusive(slot);
	return PAWL_SUCCESS;
}

static bool idle(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m, char *err,
		 size_t errlen)
{
	int64_t word = *lock_memory_home(s, m, s->words, WORD_BYTES, lock);

	snprintf(err, errlen, "its word is 0x%llx", (unsigned long long)word);
	return !(word & WRITER);
}

static const struct option_spec options[] = {
    LOCK_BACKOFF(struct drtm_options, backoff),
    LOCK_LEASE(struct drtm_options, lease_us, "10000"),
    LOCK_OPTIONS_END,
};

const struct lock_protocol lock_drtm = {
    .kind =
	{
	    .name = "drtm",
	    .summary = "baseline: writers by compare-and-swap, readers by leases in time",
	    .reference = "SOSP'15 (DrTM); FAST'25 (ShiftLock), section 4",
	    .capabilities = PAWL_CAP_SHARED | PAWL_CAP_TRY | PAWL_CAP_TIMED,
	},
    .options = options,
    .shares_clock = true,
    .home_bytes = WORD_BYTES,
    .layout = layout,
    .describe = describe,
    .acquire = acquire,
    .try_acquire = try_acquire,
    .release = release,
    .timed = LOCK_KEEPS_NO_PLACE,
    .check = &(const struct lock_check_calls){.idle = idle},
};
