/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Baselines: the lock protocol of foMPI (Gerstenberger, Besta, Hoefler, SC'13, Section 2.3), with
 * which the RMA-RW paper compares. "fompi-rw" is the whole protocol for single locks, "fompi-spin"
 * its exclusive half.
 *
 * Words: LOCAL at the lock's home (a high bit marks a writer; below it is the number of readers),
 * and one GLOBAL for the table at rank 0 (the number of exclusive locks held or requested; in foMPI
 * it keeps them apart from MPI_Win_lock_all).
 *
 * Exclusive: add 1 to GLOBAL; swap LOCAL from 0 to the writer mark; if that fails, subtract 1 from
 * GLOBAL, back off, and try again. Shared: add 1 to LOCAL; if a writer has it, stay counted and
 * poll until it leaves.
 *
 * Fairness: none. Writers starve while readers overlap. Uncontended: exclusive 2 atomics in 2 round
 * trips to acquire and 2 atomics in 1 to release; shared 1 and 1.
 *
 * Ordering guarantees: (A) a writer's swap succeeds only if LOCAL counts no reader; (B) a reader
 * that finds the mark waits until it has seen it gone, and its count keeps the next writer out.
 * Progress: deadlock-free.
 *
 * Why this is its best form: a reader needs one atomic each way, and GLOBAL and LOCAL are released
 * in one round trip. The RMA-RW paper states ratios to it only: from 64 ranks on rma-rw is more
 * than 6 times ahead, in simulation 7 to 70 times (doc/measured/reproduction.md).
 *
 * Different from the paper: nothing that shows here. A process that already holds an exclusive lock
 * adds to GLOBAL again (foMPI keeps a local count).
 */
#include "baselines/backoff.h"

#include <stdio.h>

#define WRITER (INT64_C(1) << 62)

enum { LOCAL_BYTES = 8, GLOBAL_BYTES = 64 };
_Static_assert(LOCAL_BYTES == sizeof(int64_t), "one word a lock at its home");

struct constants {
	uint64_t global;
};

static int layout(struct lock_setup *s, char *err, size_t errlen)
{
	struct constants *k = s->state;

	(void)err;
	(void)errlen;
	k->global = lock_reserve(s, 1, GLOBAL_BYTES);
	return PAWL_SUCCESS;
}

static void describe(const struct lock_setup *s, char *text, size_t len)
{
	backoff_describe(s, "", text, len);
}

static struct rma_word local_word(const struct lock_setup *s, struct lock_slot *slot)
{
	return lock_home_word(s, &slot->client, s->domain, s->words, LOCAL_BYTES, slot->lock);
}

static struct rma_word global_word(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;

	return rma_word(slot->client.rma, s->domain, 0, k->global);
}

static bool attempt_exclusive(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct rma_word global = global_word(s, slot), local = local_word(s, slot);
	int64_t ignored, holder;

	rma_fao(c, global, RMA_SUM, 1, &ignored);
	rma_flush(c, global); /* orders the count before the swap, as in foMPI */
	rma_cas(c, local, 0, WRITER, &holder);
	rma_flush(c, local); /* orders the swap before the look at its result */
	if (holder == 0)
		return true;
	rma_acc(c, global, -1);
	rma_flush(c, global); /* orders the count before the next attempt */
	return false;
}

static int acquire_exclusive(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_pause p = backoff_pause(&options_of(s)->backoff, slot->deadline_ns);

	while (!attempt_exclusive(s, slot))
		if (!rma_pause(&slot->client, &p, "holders to leave the lock word"))
			return PAWL_ERR_TIMEOUT;
	return PAWL_SUCCESS;
}

static void release_exclusive(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct rma_word global = global_word(s, slot), local = local_word(s, slot);

	rma_acc(c, local, -WRITER);
	rma_acc(c, global, -1);
	rma_flush(c, local);  /* orders the release before the return */
	rma_flush(c, global); /* orders the count before the return */
}

static bool count_reader(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_word local = local_word(s, slot);
	int64_t old;

	rma_fao(&slot->client, local, RMA_SUM, 1, &old);
	rma_flush(&slot->client, local); /* orders the count before the look at the mark */
	return !(old & WRITER);
}

static void uncount_reader(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_word local = local_word(s, slot);

	rma_acc(&slot->client, local, -1);
	rma_flush(&slot->client, local); /* orders the count before the return */
}

static int acquire_shared(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct rma_word local = local_word(s, slot);
	struct rma_pause p = backoff_pause(&options_of(s)->backoff, slot->deadline_ns);
	int64_t now;

	if (count_reader(s, slot))
		return PAWL_SUCCESS;
	do {
		if (!rma_pause(c, &p, "the writer to leave the lock word")) {
			uncount_reader(s, slot);
			return PAWL_ERR_TIMEOUT;
		}
		rma_get(c, local, &now);
		rma_flush(c, local); /* orders the get before the look at the mark */
	} while (now & WRITER);
	return PAWL_SUCCESS;
}

static int acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	return slot->mode == PAWL_SHARED ? acquire_shared(s, slot) : acquire_exclusive(s, slot);
}

static int try_acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	if (slot->mode == PAWL_EXCLUSIVE)
		return attempt_exclusive(s, slot) ? PAWL_SUCCESS : PAWL_ERR_BUSY;
	if (count_reader(s, slot))
		return PAWL_SUCCESS;
	uncount_reader(s, slot);
	return PAWL_ERR_BUSY;
}

static int release(const struct lock_setup *s, struct lock_slot *slot)
{
	if (slot->mode == PAWL_SHARED)
		uncount_reader(s, slot);
	else
		release_exclusive(s, slot);
	return PAWL_SUCCESS;
}

/* GLOBAL counts for all locks of the table, but this is called when all of them are idle. */
static bool idle(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m, char *err,
		 size_t errlen)
{
	const struct constants *k = s->state;
	int64_t local = *lock_memory_home(s, m, s->words, LOCAL_BYTES, lock);
	int64_t global = *lock_memory_word(m, 0, k->global);

	snprintf(err, errlen, "LOCAL is 0x%llx and GLOBAL %lld", (unsigned long long)local,
		 (long long)global);
	return local == 0 && global == 0;
}

static const struct option_spec options[] = {BACKOFF_LINES};

static const struct lock_check_calls check = {.idle = idle, .idle_together = true};

#define CAPABILITIES (PAWL_CAP_TRY | PAWL_CAP_TIMED)

#define CALLS                                                                                   \
	.options = options, .home_bytes = LOCAL_BYTES, .state_bytes = sizeof(struct constants), \
	.layout = layout, .describe = describe, .acquire = acquire, .try_acquire = try_acquire, \
	.release = release, .timed = LOCK_KEEPS_NO_PLACE, .check = &check

const struct lock_protocol lock_fompi_spin = {
    .kind =
	{
	    .name = "fompi-spin",
	    .summary = "baseline: foMPI's exclusive lock, a spin lock in two steps",
	    .reference = "SC'13 (foMPI), section 2.3",
	    .capabilities = CAPABILITIES,
	},
    CALLS,
};

const struct lock_protocol lock_fompi_rw = {
    .kind =
	{
	    .name = "fompi-rw",
	    .summary = "baseline: foMPI's reader-writer lock",
	    .reference = "SC'13 (foMPI), section 2.3",
	    .capabilities = CAPABILITIES | PAWL_CAP_SHARED,
	},
    CALLS,
};
