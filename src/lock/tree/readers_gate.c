/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reader counter behind a gate: the distributed counter of RMA-RW (HPDC'16, Section 3.2.1,
 * Listings 6, 9, 10) for readers that are all on the counter's node. They use only CPU atomics and
 * plain loads, so a read lock of a table over many nodes costs no operation on the network. Writers
 * of other nodes only put and get, because their atomics would not be atomic with the readers'.
 *
 * Words: GATE is 2r while the counter is open for phase r, and 2r + 1 after a writer has closed it.
 * A[r & 1] has in its low half the number of readers in phase r, in its high half the number that
 * ever arrived there (it wraps at the top of the word). BASE is the number of arrivals in A of the
 * present phase when that began.
 *
 * Reader, uncontended: acquire 2 gets and 1 atomic, release 1 atomic, all near. Writer: 3 gets
 * (look), 2 puts (close), 1 or more gets (drain) for each counter; 1 put for each counter to open.
 * All counters at once.
 *
 * Ordering guarantees
 *   (A) A reader counts itself into phase r and then looks at GATE; a writer closes GATE (put,
 *       flush) and then looks at A (get). Both orders are sequentially consistent: the reader's
 *       atomic is a full fence, and the writer's flush completes the put at the counter before the
 *       get starts. So the writer that closes phase r sees a reader that still sees GATE <= 2r, and
 *       waits for it; a reader that does not see that subtracts itself.
 *   (B) A reader that comes while the gate is closed counts itself into the next phase and, by (A),
 *       has a place there: the next writer to close waits for it, however short the opening.
 *   (C) The low half of A[r & 1] is 0 when phase r + 1 is closed, that is, before phase r + 2
 *       counts there, except for readers that are about to subtract themselves; these can only
 *       delay a writer. The drain ensures that. If a try-acquire, or a writer whose deadline has
 *       passed in the drain, has opened the next phase without a drain, the look of the next writer
 *       ensures it (L2). So of two consecutive phases at most one is opened without a drain.
 *   (D) The phases of all counters of a lock are equal: only the head of the root queue changes
 *       them, and it completes the opening of all before it leaves.
 *   (E) A reader that has a place in a phase may leave at any time as if it had been in: until then
 *       it is counted, and waited for, whether its phase is open, closed or in the future.
 *
 * Deadlines. A reader that waits for its phase subtracts itself, by one near atomic (RA6); (E). A
 * writer that waits in the look has changed nothing. A writer that waits for readers to leave opens
 * the next phase (D2), as a try does; the number of phases has 63 bits and does not wrap.
 *
 * Progress: a reader subtracts itself and tries again if two writers have passed between two of its
 * instructions. After ATTEMPTS of these it queues as a writer would, and has the lock for itself in
 * that one critical section; so it does not starve.
 *
 * Different from the paper: see readers_ticket.c; T_R is as there. Model: models/rma_rw_gate.pml,
 * whose steps are named below.
 */
#include "lock/tree/readers.h"

#include <stddef.h>
#include <stdio.h>

struct gated {
	int64_t a[2];
	int64_t gate;
	int64_t base;
};
enum {
	A0 = offsetof(struct gated, a),
	GATE = offsetof(struct gated, gate),
	BASE = offsetof(struct gated, base)
};
_Static_assert(sizeof(struct gated) == 32, "two counters a cache line");

#define ATTEMPTS ATTEMPTS_OR(4, 1)

#define ARRIVE ((INT64_C(1) << 32) + 1)
#define ACTIVE_MASK INT64_C(0xffffffff)

static struct rma_word active_word(const struct lock_setup *s, const struct readers *r,
				   struct lock_slot *slot, int g, int64_t phase)
{
	return readers_word(s, r, &slot->client, slot->lock, g, A0 + (uint64_t)(phase & 1) * 8);
}

static struct rma_word gate_word(const struct lock_setup *s, const struct readers *r,
				 struct lock_slot *slot, int g)
{
	return readers_word(s, r, &slot->client, slot->lock, g, GATE);
}

/* RA1 to RA3: try once to get a place in a phase. Returns its number, or -1. */
static int64_t arrive(const struct lock_setup *s, const struct readers *r, struct lock_slot *slot,
		      bool closed_too)
{
	struct rma_client *c = &slot->client;
	int g = readers_own_group(r, c);
	struct rma_word gate = gate_word(s, r, slot, g);
	int64_t before, after, phase, ignored;

	/* RA1: the phase that is open, or the next to open. */
	rma_get(c, gate, &before);
	if ((before & 1) && !closed_too)
		return -1;
	phase = (before + 1) / 2;
	/* RA2: count this reader in. */
	rma_fao(c, active_word(s, r, slot, g, phase), RMA_SUM, ARRIVE, &ignored);
	/* RA3: has that phase been closed before? The atomic orders RA2 before this look; pairs
	 * with the flush between C and D; (A). */
	rma_get(c, gate, &after);
	if (after <= 2 * phase)
		return phase;
	/* RA4: too late. */
	rma_acc(c, active_word(s, r, slot, g, phase), -1);
	return -1;
}

static void leave(const struct lock_setup *s, const struct readers *r, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;

	/* RR1. Pairs with D. */
	rma_acc(c, active_word(s, r, slot, readers_own_group(r, c), rma_rw_slot(slot)->phase), -1);
}

static enum readers_entry enter(const struct lock_setup *s, const struct readers *r,
				struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct rma_word gate = gate_word(s, r, slot, readers_own_group(r, c));
	int64_t phase = -1, seen;

	for (int k = 0; phase < 0 && k < ATTEMPTS; k++)
		phase = arrive(s, r, slot, true);
	if (phase < 0)
		return READERS_AS_WRITER;
	rma_rw_slot(slot)->phase = phase & 1;
	/* RA5: the phase opens, and cannot be closed without waiting for this reader; (B). */
	if (rma_await_until(c, gate, -1, RMA_NE, 2 * phase - 1, RMA_SOON, slot->deadline_ns,
			    "the writers to finish", &seen))
		return READERS_IN;
	leave(s, r, slot); /* RA6; (E) */
	return READERS_TIMEOUT;
}

static bool try_enter(const struct lock_setup *s, const struct readers *r, struct lock_slot *slot)
{
	int64_t phase = arrive(s, r, slot, false);

	if (phase < 0)
		return false;
	rma_rw_slot(slot)->phase = phase & 1;
	return true;
}

/* What a counter shows: the phase in question, and the next one. */
struct look {
	int64_t now, next, base;
};

static void get_look(const struct lock_setup *s, const struct readers *r, struct lock_slot *slot,
		     int g, int64_t phase, struct look *l)
{
	struct rma_client *c = &slot->client;

	rma_get(c, active_word(s, r, slot, g, phase), &l->now);
	rma_get(c, active_word(s, r, slot, g, phase + 1), &l->next);
	rma_get(c, readers_word(s, r, c, slot->lock, g, BASE), &l->base);
}

static int64_t arrivals(int64_t a)
{
	return (int64_t)((uint64_t)a >> 32);
}

static bool had_its_turn(const struct readers *r, const struct look *l)
{
	uint32_t came = (uint32_t)(arrivals(l->now) - l->base);

	return (l->now & ACTIVE_MASK) == 0 || came >= r->t_r;
}

static int64_t own_phase(const struct lock_setup *s, const struct readers *r,
			 struct lock_slot *slot)
{
	int64_t gate;

	rma_get(&slot->client, gate_word(s, r, slot, readers_own_group(r, &slot->client)), &gate);
	return gate / 2;
}

/* L1: let every counter admit T_R readers, or run idle. False: the deadline has passed. */
static bool look_at_all(const struct lock_setup *s, const struct readers *r, struct lock_slot *slot,
			int64_t phase)
{
	struct rma_client *c = &slot->client;
	struct look *looks = lock_scratch(slot);

	for (int g = 0; g < r->groups; g++)
		get_look(s, r, slot, g, phase, &looks[g]);
	rma_flush_all(c, readers_far(s)); /* orders the gets before the looks at their results */
	for (int g = 0; g < r->groups; g++) {
		struct rma_pause p = {
		    .min_ns = READERS_LOOK_MIN_NS,
		    .max_ns = READERS_LOOK_MAX_NS,
		    .deadline_ns = slot->deadline_ns,
		    .lazy = true,
		};
		struct rma_word active = active_word(s, r, slot, g, phase);

		while (!had_its_turn(r, &looks[g])) {
			if (!rma_pause(c, &p, "the readers' turn to end"))
				return false;
			rma_get(c, active, &looks[g].now);
			rma_flush(c, active); /* orders the get before the look at its result */
		}
		if (FAULT(rma_rw_look))
			continue;
		/* L2: and until readers of the previous phase have left, whom a try, or a writer
		 * that gave up, may have left inside. */
		if ((looks[g].next & ACTIVE_MASK) &&
		    !rma_await_until(c, active_word(s, r, slot, g, phase + 1), ACTIVE_MASK, RMA_EQ,
				     0, RMA_SOON, slot->deadline_ns,
				     "the readers of the phase before to leave", &looks[g].next))
			return false;
	}
	return true;
}

/* C: close the gates. BASE is for the next phase, in which no reader has counted itself yet: its
 * arrivals are those of the look. */
static void close_all(const struct lock_setup *s, const struct readers *r, struct lock_slot *slot,
		      int64_t phase)
{
	struct rma_client *c = &slot->client;
	const struct look *looks = lock_scratch(slot);

	for (int g = 0; g < r->groups; g++) {
		rma_put(c, readers_word(s, r, c, slot->lock, g, BASE), arrivals(looks[g].next));
		rma_put(c, gate_word(s, r, slot, g), 2 * phase + 1);
	}
	/* Orders the closing before the look at A (D); pairs with RA2 before RA3; (A). */
	if (!FAULT(rma_rw_close))
		rma_flush_all(c, readers_far(s));
}

/* D: wait until the readers inside have left. False: the deadline has passed. */
static bool drain_all(const struct lock_setup *s, const struct readers *r, struct lock_slot *slot,
		      int64_t phase)
{
	int64_t seen;

	if (FAULT(rma_rw_drain))
		return true;
	for (int g = 0; g < r->groups; g++)
		if (!rma_await_until(&slot->client, active_word(s, r, slot, g, phase), ACTIVE_MASK,
				     RMA_EQ, 0, RMA_SOON, slot->deadline_ns,
				     "the readers inside to leave", &seen))
			return false;
	return true;
}

/* O. */
static void open_gates(const struct lock_setup *s, const struct readers *r, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	int64_t phase = own_phase(s, r, slot);

	for (int g = 0; g < r->groups; g++)
		rma_put(c, gate_word(s, r, slot, g), 2 * phase + 2);
	rma_flush_all(c, readers_far(s)); /* orders the opening before this writer leaves the root
					     queue, so before the next closing (C); (D) */
}

static bool close_gates(const struct lock_setup *s, const struct readers *r, struct lock_slot *slot)
{
	int64_t phase = own_phase(s, r, slot);

	if (!look_at_all(s, r, slot, phase))
		return false;
	close_all(s, r, slot, phase);
	if (drain_all(s, r, slot, phase))
		return true;
	open_gates(s, r, slot); /* D2; (C) */
	return false;
}

static bool try_close(const struct lock_setup *s, const struct readers *r, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct look *looks = lock_scratch(slot);
	int64_t phase = own_phase(s, r, slot);
	bool inside = false;

	for (int g = 0; g < r->groups; g++)
		get_look(s, r, slot, g, phase, &looks[g]);
	rma_flush_all(c, readers_far(s)); /* orders the gets before the looks at their results */
	for (int g = 0; g < r->groups; g++)
		if ((looks[g].now | looks[g].next) & ACTIVE_MASK)
			return false;
	close_all(s, r, slot, phase);
	for (int g = 0; g < r->groups; g++)
		rma_get(c, active_word(s, r, slot, g, phase), &looks[g].now);
	rma_flush_all(c, readers_far(s)); /* orders the gets before the looks at their results */
	for (int g = 0; g < r->groups; g++)
		inside = inside || (looks[g].now & ACTIVE_MASK);
	if (inside)
		open_gates(s, r, slot);
	return !inside;
}

static bool idle(const int64_t *counter, char *err, size_t errlen)
{
	const struct gated *t = (const struct gated *)(const void *)counter;

	snprintf(err, errlen, "a reader counter has A 0x%llx, 0x%llx and GATE 0x%llx",
		 (unsigned long long)t->a[0], (unsigned long long)t->a[1],
		 (unsigned long long)t->gate);
	return !(t->gate & 1) && ((t->a[0] | t->a[1]) & ACTIVE_MASK) == 0;
}

/* A few arrivals before they wrap, in a phase whose number soon needs 32 bits. */
static void age(int64_t *counter)
{
	struct gated *t = (struct gated *)(void *)counter;

	t->a[0] = t->a[1] = -2 * (INT64_C(1) << 32);
	t->base = arrivals(t->a[1]);
	t->gate = 2 * INT64_C(0x7fffffff);
}

const struct readers_form readers_gate = {
    .name = "gate",
    .bytes = sizeof(struct gated),
    .scratch = sizeof(struct look) / sizeof(int64_t),
    .enter = enter,
    .try_enter = try_enter,
    .leave = leave,
    .close = close_gates,
    .try_close = try_close,
    .open = open_gates,
    .idle = idle,
    .age = age,
};
