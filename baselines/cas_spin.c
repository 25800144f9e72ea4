/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Baselines: a compare-and-swap spin lock at the home, without back-off ("cas-spin") and with
 * truncated exponential back-off ("cas-backoff", options backoff_min and backoff_max). "rdma-spin"
 * is cas-spin with NET words on one node, too, so that every access takes the network's path: the
 * spin lock that the ALock paper (SPAA'24, Section 6) compares with.
 *
 * Fairness: none; a client may starve. Uncontended: acquire 1 atomic, release 1 atomic, 1 round
 * trip each. Contended: every attempt is one more atomic at the home, which the other locks avoid.
 *
 * Ordering guarantees: (A) the swap that takes the lock is the one that found it free; (B) the word
 * names the holder, and only the holder clears it. Progress: deadlock-free.
 *
 * Why this is its best form: an acquire and a release are one atomic each, and no look at the word
 * comes before the swap, because a look costs as much as a swap and the word may have changed when
 * the swap comes. The limits of the pauses depend on the number of clients: up to 100 us, the
 * default, for tens of clients, 1 ms for 240. With that, 240 clients of a million locks (Zipf 0.99,
 * half writers) have 5.6 million acquires a second in simulation and 2.27 atomics each, where the
 * ShiftLock paper has 5.7 million (from its Table 4) and 2.36; without back-off 0.33 million
 * against 0.49.
 *
 * Different from the literature: the release swaps 0 in instead of storing it, so that all changes
 * of the word are atomics of one domain. Try and timed acquire give up after one attempt and at the
 * deadline.
 */
#include "baselines/backoff.h"

#include <stdio.h>
#include <stdlib.h>

enum { WORD_BYTES = 8 };
_Static_assert(WORD_BYTES == sizeof(int64_t), "one word a lock at its home");

/* The longest back-off of cas-spin, which starts without a pause. */
enum { SPIN_MOST_NS = 100000 };

static struct rma_word lock_word(const struct lock_setup *s, struct lock_slot *slot)
{
	return lock_home_word(s, &slot->client, s->domain, s->words, WORD_BYTES, slot->lock);
}

static bool attempt(struct lock_slot *slot, struct rma_word w)
{
	int64_t holder;

	rma_cas(&slot->client, w, 0, slot->id, &holder);
	rma_flush(&slot->client, w); /* orders the swap before the look at its result */
	return holder == 0;
}

static int acquire_from(const struct lock_setup *s, struct lock_slot *slot, int64_t min_ns,
			int64_t max_ns)
{
	struct rma_word w = lock_word(s, slot);
	struct rma_pause p = {
	    .min_ns = (uint64_t)min_ns,
	    .max_ns = (uint64_t)max_ns,
	    .deadline_ns = slot->deadline_ns,
	};

	while (!attempt(slot, w))
		if (!rma_pause(&slot->client, &p, "the lock word to be free"))
			return PAWL_ERR_TIMEOUT;
	return PAWL_SUCCESS;
}

static int acquire_spin(const struct lock_setup *s, struct lock_slot *slot)
{
	return acquire_from(s, slot, 0, SPIN_MOST_NS);
}

static int acquire_backoff(const struct lock_setup *s, struct lock_slot *slot)
{
	return acquire_from(s, slot, options_of(s)->backoff.min, options_of(s)->backoff.max);
}

static int try_acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	return attempt(slot, lock_word(s, slot)) ? PAWL_SUCCESS : PAWL_ERR_BUSY;
}

static int release(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_word w = lock_word(s, slot);
	int64_t holder;

	rma_fao(&slot->client, w, RMA_REPLACE, 0, &holder);
	rma_flush(&slot->client, w); /* orders the release before the return */
	return PAWL_SUCCESS;
}

/* ------------------------------------------------------------------- several */

struct own {
	int64_t holder; /* before the operation */
};
_Static_assert(sizeof(struct own) <= LOCK_OWN_BYTES, "it fits into a slot");

static int post(const struct lock_setup *s, struct lock_slot *slot)
{
	struct own *o = lock_own(slot);

	rma_cas(&slot->client, lock_word(s, slot), 0, slot->id, &o->holder);
	return PAWL_SUCCESS;
}

static int look(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct own *o = lock_own(slot);

	/* Orders the swap of post() before the look at its result. */
	rma_flush(&slot->client, lock_word(s, slot));
	return o->holder == 0 ? PAWL_SUCCESS : PAWL_ERR_BUSY;
}

static int post_release(const struct lock_setup *s, struct lock_slot *slot)
{
	struct own *o = lock_own(slot);

	rma_fao(&slot->client, lock_word(s, slot), RMA_REPLACE, 0, &o->holder);
	return PAWL_SUCCESS;
}

static int end_release(const struct lock_setup *s, struct lock_slot *slot)
{
	rma_flush(&slot->client, lock_word(s, slot)); /* orders the release before the return */
	return PAWL_SUCCESS;
}

static bool idle(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m, char *err,
		 size_t errlen)
{
	int64_t word = *lock_memory_home(s, m, s->words, WORD_BYTES, lock);

	snprintf(err, errlen, "its word is 0x%llx", (unsigned long long)word);
	return word == 0;
}

/* ------------------------------------------------------------------------ kinds */

static const struct lock_many_calls many = {
    .post = post,
    .look = look,
    .post_release = post_release,
    .end_release = end_release,
};
static const struct lock_check_calls check = {.idle = idle};

#define CAPABILITIES (PAWL_CAP_TRY | PAWL_CAP_TIMED)

#define CALLS                                                                     \
	.home_bytes = WORD_BYTES, .try_acquire = try_acquire, .release = release, \
	.timed = LOCK_KEEPS_NO_PLACE, .many = &many, .check = &check

const struct lock_protocol lock_cas_spin = {
    .kind =
	{
	    .name = "cas-spin",
	    .summary = "baseline: compare-and-swap until it succeeds",
	    .reference = "RMA-RW's and ShiftLock's baseline",
	    .capabilities = CAPABILITIES,
	},
    .acquire = acquire_spin,
    CALLS,
};

const struct lock_protocol lock_rdma_spin = {
    .kind =
	{
	    .name = "rdma-spin",
	    .summary = "baseline: cas-spin, by the network even on the home's node",
	    .reference = "ALock's baseline (SPAA'24, section 6)",
	    .capabilities = CAPABILITIES,
	},
    .by_network = true,
    .acquire = acquire_spin,
    CALLS,
};

static const struct option_spec options[] = {BACKOFF_LINES};

static void describe_backoff(const struct lock_setup *s, char *text, size_t len)
{
	backoff_describe(s, "", text, len);
}

const struct lock_protocol lock_cas_backoff = {
    .kind =
	{
	    .name = "cas-backoff",
	    .summary = "baseline: compare-and-swap with truncated exponential back-off",
	    .reference = "ShiftLock's baseline (FAST'25, section 4)",
	    .capabilities = CAPABILITIES,
	},
    .options = options,
    .describe = describe_backoff,
    .acquire = acquire_backoff,
    CALLS,
};
