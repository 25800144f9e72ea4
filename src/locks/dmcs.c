/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * D-MCS: the distributed MCS queue lock. RMA-RW paper (HPDC'16), section 2.4,
 * Listings 2 and 3.
 *
 * Fairness: first come, first served, by the order of the swaps of TAIL.
 *
 * Uncontended: acquire 1 atomic (swap of TAIL), 1 round trip; release 1 atomic
 * (compare-and-swap of TAIL), 1 round trip. A hand-over adds 2 puts: the link
 * to the predecessor, and the grant to the successor. Waiting is on words of
 * the waiter's own memory.
 *
 * Ordering guarantees
 *   (A) Own NEXT and STATUS are reset before the swap makes this client visible:
 *       they are plain stores into own memory, and who could write them learns
 *       of us only from TAIL.
 *   (B) The link is written after the swap has told whose it is, and before we
 *       wait; at most one client ever links to a queue node, once.
 *   (C) What a holder did in node memory is visible to the next holder: the
 *       grant is stored after it and awaited with acquire semantics.
 *
 * Progress: starvation-free if holders release. Release may wait for a successor
 * that has swapped TAIL and not yet linked itself (as MCS does).
 *
 * Different from the paper: the listing flushes neither the reset of NEXT and
 * STATUS nor names what orders it before the swap; see (A). Its STATUS and WAIT
 * are one word. Queue nodes are per client and not per process, and are named
 * by slot ids. All words are NODE words on one node, NET words otherwise.
 *
 * Model: models/dmcs.pml, whose steps A1 ... R4 are named below.
 */
#include "locks/lock.h"

#include <stdio.h>
#include <stdlib.h>

enum { TAIL_BYTES = 8 };
_Static_assert(TAIL_BYTES == sizeof(int64_t), "one word a lock at its home");

enum { STATUS_WAIT = 0, STATUS_GO = 1 };

struct constants {
	uint64_t tails;
};

RMA_INLINE struct rma_word tail_word(const struct lock_space *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;

	return lock_home_word(s, &slot->client, s->domain, k->tails, TAIL_BYTES, slot->lock);
}

static int layout(struct lock_space *s, char *err, size_t errlen)
{
	struct constants *k = malloc(sizeof *k);

	if (!k) {
		snprintf(err, errlen, "out of memory");
		return PAWL_ERR_NOMEM;
	}
	k->tails = lock_reserve(s, s->block, TAIL_BYTES);
	s->state = k;
	return PAWL_SUCCESS;
}

/* There is a predecessor: link to it, and wait for its grant. */
static RMA_SLOW_PATH int wait_behind(const struct lock_space *s, struct lock_slot *slot,
				     int64_t pred)
{
	struct rma_client *c = &slot->client;
	struct rma_word link = slot_next(s, c, s->domain, pred);

	/* A3: the predecessor sees us; (B). */
	rma_put(c, link, slot->id);
	rma_flush(c, link); /* orders the link before our wait; pairs with R3 */
#ifdef BREAK_DMCS_WAIT
	if (BREAK_DMCS_WAIT)
		return PAWL_SUCCESS;
#endif
	/* A4: wait for the grant of R4; (C). */
	rma_await(c, slot->status[s->domain], -1, RMA_NE, STATUS_WAIT, RMA_SOON,
		  "the grant of its predecessor");
	return PAWL_SUCCESS;
}

static int acquire(const struct lock_space *s, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct rma_word tail = slot->tail = tail_word(s, slot);
	int64_t pred;

	/* A1: our queue node says "no successor, not yet ours"; (A). */
	rma_poke(c, slot->next[s->domain], 0);
	rma_poke(c, slot->status[s->domain], STATUS_WAIT);
	/* A2: enter the queue at its tail. */
	rma_fao(c, tail, RMA_REPLACE, slot->id, &pred);
	rma_flush(c, tail); /* orders the swap before the look at pred */
	return pred ? wait_behind(s, slot, pred) : PAWL_SUCCESS;
}

static int try_acquire(const struct lock_space *s, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct rma_word tail = slot->tail = tail_word(s, slot);
	int64_t pred;

	/* A1 and A2, only if the queue is empty. */
	rma_poke(c, slot->next[s->domain], 0);
	rma_cas(c, tail, 0, slot->id, &pred);
	rma_flush(c, tail); /* orders the swap before the look at pred */
	return pred ? PAWL_ERR_BUSY : PAWL_SUCCESS;
}

/* R4: grant the lock; succ 0: to somebody who came after us and is about to link. */
static RMA_SLOW_PATH void hand_over(const struct lock_space *s, struct lock_slot *slot,
				    int64_t succ)
{
	struct rma_client *c = &slot->client;
	struct rma_word grant;

	if (!succ) /* R3; pairs with A3 */
		succ = rma_await(c, slot->next[s->domain], -1, RMA_NE, 0, RMA_SOON,
				 "its successor to link itself");
	grant = slot_status(s, c, s->domain, succ);
	rma_put(c, grant, STATUS_GO);
	rma_flush(c, grant); /* orders the grant before our return; pairs with A4 */
}

static int release(const struct lock_space *s, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	int64_t succ = rma_peek(c, slot->next[s->domain]); /* R1: is somebody linked to us? */

	if (!succ) {
		int64_t last;

		/* R2: if we are still the tail, the queue becomes empty. */
		rma_cas(c, slot->tail, slot->id, 0, &last);
		rma_flush(c, slot->tail); /* orders the swap before the look at last */
		if (last == slot->id)
			return PAWL_SUCCESS;
	}
	hand_over(s, slot, succ);
	return PAWL_SUCCESS;
}

/* The queue ahead. */
static uint64_t overtakes(const struct lock_space *s, int mode)
{
	(void)mode;
	return (uint64_t)s->topo->nranks * (uint64_t)s->max_held - 1;
}

static bool idle(const struct lock_space *s, uint64_t lock, const struct lock_memory *m, char *err,
		 size_t errlen)
{
	const struct constants *k = s->state;
	int64_t tail = *lock_memory_home(s, m, k->tails, TAIL_BYTES, lock);

	snprintf(err, errlen, "TAIL is 0x%llx", (unsigned long long)tail);
	return tail == 0;
}

#ifndef DMCS_NAME
#define DMCS_NAME "d-mcs"
#define DMCS_PROTOCOL lock_dmcs
#endif

const struct lock_protocol DMCS_PROTOCOL = {
    .kind =
	{
	    .name = DMCS_NAME,
	    .summary = "one queue over all ranks: first come, first served, 8 bytes a lock",
	    .reference = "HPDC'16 (RMA-RW), section 2.4",
	    .options = "",
	    .capabilities = PAWL_CAP_TRY | PAWL_CAP_FAIR,
	},
    .layout = layout,
    .acquire = acquire,
    .try_acquire = try_acquire,
    .release = release,
    .overtakes = overtakes,
    .idle = idle,
};
