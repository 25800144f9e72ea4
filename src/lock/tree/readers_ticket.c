/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reader counter as a phase-fair ticket: the distributed counter of RMA-RW (HPDC'16, Section
 * 3.2.1, Listings 6, 9, 10), in the form of Brandenburg and Anderson's PF-T lock. All words are of
 * one domain: NODE if the table is on one node, NET if ranks of several nodes share a counter.
 *
 * Words: IN has the gate in its low half (even: open, odd: closed; it counts modulo 2^32) and in
 * its high half the number of readers that ever arrived; OUT is the number that ever left; BASE has
 * in its low half the number of arrivals when the present opening began, and in its high half how
 * many closings in a row have been undone, (D). Arrivals wrap at the top of the word and affect no
 * other field. They are compared modulo 2^32, and there are never that many readers.
 *
 * Reader, uncontended: acquire 1 atomic, release 1 atomic, 1 round trip each. Writer: 3 gets
 * (look), 1 atomic and 1 put (close), 1 or more gets (drain) for each counter; 1 get, then 1 atomic
 * for each counter to open. All counters at once.
 *
 * Ordering guarantees
 *   (A) A reader's arrival and its look at the gate are one atomic operation, and so are the
 *       writer's closing and its look at the arrivals. So each reader either arrived before the
 *       closing, and the writer waits for it, or sees the gate closed, and waits for the writer.
 *   (B) A reader that saw the gate closed has arrived for the next opening: it enters then without
 *       asking again, and the next writer waits for it. So no reader starves, however short the
 *       opening.
 *   (C) OUT is compared for equality with the arrivals before the closing; no reader that arrived
 *       later can leave before the opening. A reader that gives up does not count in OUT. It takes
 *       its arrival back, in one atomic operation with a look that finds the gate unchanged: so
 *       after a closing that did not count its arrival, and before the opening. If the gate has
 *       moved, the reader is in.
 *   (D) The gate does not wrap to the value that a reader saw before that reader looks again. A
 *       closing that is drained has waited for all readers that saw an earlier value; if a closing
 *       finds no readers, there are none. So readers that wait, or have yet to see that they need
 *       not wait, saw the gate as the last such closing left it, or as one of the k closings left
 *       it that have been undone since. The next closing leaves it 2 (k + 1) after the first of
 *       these values, which must not be 0 modulo 2^32: k + 1 < 2^31. A writer that undoes its
 *       closing writes k + 1, any other writes 0. When k = 2^31 - 2, a writer with a deadline
 *       closes only if there are no readers.
 *
 * Deadlines. A reader that waits for the opening takes its arrival back, as in (C) (RA3): 1 atomic,
 * and one more each time that other readers arrive or leave in between. A writer that waits in the
 * look has changed nothing. A writer that waits for readers to leave writes k + 1, and opens the
 * gates (D2): a put for each counter, in a round of its own, and what an opening costs. The next
 * writer cannot wait for those readers before it closes, as in readers_gate.c, because OUT does not
 * say whether the readers that leave came before the closing; hence (D). An undone closing starts
 * the readers' turn (T_R) anew.
 *
 * Different from the paper: as printed, readers back off and subtract themselves, and reset the
 * counter when it is full. Such a reset can erase the mark of a writer that came in between
 * (models/rma_rw_printed.pml), and the closing does not wait for readers to leave. Here no counter
 * is reset. T_R: a waiting writer lets a counter admit T_R readers since the opening; if no reader
 * is inside, it need not wait.
 *
 * Model: models/rma_rw_ticket.pml, whose steps are named below.
 */
#include "lock/tree/readers.h"

#include <stddef.h>
#include <stdio.h>

struct ticket {
	int64_t in, out, base, unused;
};
enum {
	IN = offsetof(struct ticket, in),
	OUT = offsetof(struct ticket, out),
	BASE = offsetof(struct ticket, base)
};
_Static_assert(sizeof(struct ticket) == 32, "two counters a cache line");

/* Fields of IN; of OUT and BASE, the arrivals; and of BASE, what is above them. */
enum { HALF = 32, CLOSED = 1 };
#define GATE_BITS (FAULT(rma_rw_round) ? 2 : HALF)
#define MOST_UNDONE (FAULT(rma_rw_round) ? INT32_MAX : INT32_MAX - 1)
#define GATE_MASK ((INT64_C(1) << GATE_BITS) - 1)
#define ARRIVAL (INT64_C(1) << HALF)
#define ARRIVALS_MASK (ARRIVAL - 1)

static int64_t arrivals(int64_t in)
{
	return (int64_t)((uint64_t)in >> HALF);
}

static int64_t undone(int64_t base)
{
	return (int64_t)((uint64_t)base >> HALF);
}

static int64_t one_less(int64_t in)
{
	return (int64_t)((uint64_t)in - (uint64_t)ARRIVAL);
}

static int64_t one_more(int64_t in)
{
	return (int64_t)((uint64_t)in + (uint64_t)ARRIVAL);
}

/* a - b, for counts that are compared modulo 2^32. */
static uint32_t difference(int64_t a, int64_t b)
{
	return (uint32_t)a - (uint32_t)b;
}

/* RA3: take the arrival back, if the gate is unchanged; (C). False: this reader is in. */
static RMA_SLOW_PATH bool withdraw(struct rma_client *c, struct rma_word in, int64_t gate,
				   int64_t seen)
{
	int64_t old;

	while ((seen & GATE_MASK) == gate) {
		rma_cas(c, in, seen, one_less(seen), &old);
		rma_flush(c, in); /* orders the swap before the look at old */
		if (old == seen)
			return true;
		seen = old;
	}
	return false;
}

static enum readers_entry enter(const struct lock_setup *s, const struct readers *r,
				struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct rma_word in = readers_word(s, r, c, slot->lock, readers_own_group(r, c), IN);
	int64_t old, seen;

	/* RA1: arrive, and see the gate; (A). */
	rma_fao(c, in, RMA_SUM, ARRIVAL, &old);
	rma_flush(c, in); /* orders the arrival before the look at the gate */
	/* RA2: closed: wait for the next opening, in which this reader has a place; (B). */
	if (!(old & CLOSED) || rma_await_until(c, in, GATE_MASK, RMA_NE, old & GATE_MASK, RMA_LATER,
					       slot->deadline_ns, "the writers to finish", &seen))
		return READERS_IN;
	if (FAULT(rma_rw_withdraw)) { /* leaves as a reader that was in */
		rma_acc(c, readers_word(s, r, c, slot->lock, readers_own_group(r, c), OUT), 1);
		rma_flush(c, in);
		return READERS_TIMEOUT;
	}
	return withdraw(c, in, old & GATE_MASK, seen) ? READERS_TIMEOUT : READERS_IN;
}

static bool try_enter(const struct lock_setup *s, const struct readers *r, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct rma_word in = readers_word(s, r, c, slot->lock, readers_own_group(r, c), IN);
	int64_t seen, old;

	rma_get(c, in, &seen);
	rma_flush(c, in); /* orders the get before the look at the gate */
	/* RA1, only if the gate is open; again if other readers come in between. */
	while (!(seen & CLOSED)) {
		rma_cas(c, in, seen, one_more(seen), &old);
		rma_flush(c, in); /* orders the swap before the look at old */
		if (old == seen)
			return true;
		seen = old;
	}
	return false;
}

static void leave(const struct lock_setup *s, const struct readers *r, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct rma_word out = readers_word(s, r, c, slot->lock, readers_own_group(r, c), OUT);

	/* RR1. */
	rma_acc(c, out, 1);
	rma_flush(c, out); /* orders the departure before the return; pairs with D */
}

/* L: what a counter shows. */
struct look {
	int64_t in, out, base;
};

static void get_look(const struct lock_setup *s, const struct readers *r, struct lock_slot *slot,
		     int g, struct look *l)
{
	struct rma_client *c = &slot->client;

	struct rma_word first = readers_word(s, r, c, slot->lock, g, 0);

	rma_get(c, readers_beside(first, IN), &l->in);
	rma_get(c, readers_beside(first, OUT), &l->out);
	rma_get(c, readers_beside(first, BASE), &l->base);
}

static bool is_idle(const struct look *l)
{
	return difference(arrivals(l->in), l->out) == 0;
}

static bool had_its_turn(const struct readers *r, const struct look *l)
{
	return is_idle(l) || difference(arrivals(l->in), l->base) >= (uint32_t)r->t_r;
}

/* L: let every counter admit T_R readers, or run idle. The three words are not one snapshot; this
 * matters for fairness, not for safety. False: the deadline has passed. */
static bool look_at_all(const struct lock_setup *s, const struct readers *r, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct look *looks = lock_scratch(slot);

	for (int g = 0; g < r->groups; g++)
		get_look(s, r, slot, g, &looks[g]);
	rma_flush_all(c, readers_far(s)); /* orders the gets before the looks at their results */
	for (int g = 0; g < r->groups; g++) {
		struct rma_pause p = {
		    .min_ns = READERS_LOOK_MIN_NS,
		    .max_ns = READERS_LOOK_MAX_NS,
		    .deadline_ns = slot->deadline_ns,
		    .lazy = true,
		};

		while (!had_its_turn(r, &looks[g])) {
			if (!rma_pause(c, &p, "the readers' turn to end"))
				return false;
			get_look(s, r, slot, g, &looks[g]);
			/* orders the gets before the looks at their results */
			rma_flush(c, readers_word(s, r, c, slot->lock, g, IN));
		}
	}
	return true;
}

/* C and D. False: the deadline has passed, and the gates are closed. */
static bool close_all(const struct lock_setup *s, const struct readers *r, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	int64_t *before = lock_scratch(slot), seen;

	/* C: close the gates, and read how many readers came before; (A). */
	for (int g = 0; g < r->groups; g++)
		rma_fao(c, readers_word(s, r, c, slot->lock, g, IN), RMA_SUM, CLOSED, &before[g]);
	rma_flush_all(c, readers_far(s)); /* orders the closing before the look at before[] */
	/* The next opening starts with these arrivals; if this closing is not undone, (D). */
	for (int g = 0; g < r->groups; g++)
		rma_put(c, readers_word(s, r, c, slot->lock, g, BASE), arrivals(before[g]));
	/* D: wait until all of them have left; (C). */
	for (int g = 0; g < r->groups && !FAULT(rma_rw_drain); g++)
		if (!rma_await_until(c, readers_word(s, r, c, slot->lock, g, OUT), ARRIVALS_MASK,
				     RMA_EQ, arrivals(before[g]), RMA_SOON, slot->deadline_ns,
				     "the readers inside to leave", &seen))
			return false;
	rma_flush_all(c, readers_far(s)); /* orders BASE before the next writer's look (L) */
	return true;
}

/* O. */
static void open_gates(const struct lock_setup *s, const struct readers *r, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	int own = readers_own_group(r, c);
	struct rma_word mine = readers_word(s, r, c, slot->lock, own, IN);
	int64_t in;

	/* The gates of all counters have the same value, and only this client changes them. */
	rma_get(c, mine, &in);
	rma_flush(c, mine); /* orders the get before the look at the gate */
	/* O: one step, modulo 4 in the model, independent of arrivals. */
	for (int g = 0; g < r->groups; g++)
		rma_acc(c, g == own ? mine : readers_word(s, r, c, slot->lock, g, IN),
			(in & GATE_MASK) == GATE_MASK ? -GATE_MASK : 1);
	rma_flush_all(c, readers_far(s)); /* orders the opening before this writer leaves the root
					     queue, so before the next closing (C) */
}

static bool try_close(const struct lock_setup *s, const struct readers *r, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct look *looks = lock_scratch(slot);
	int64_t *before = lock_scratch(slot), *out = before + r->groups;
	bool inside = false;

	/* OUT before IN: if they agree, no reader was inside when OUT was read, and no reader, also
	 * none that waits for an opening, has come since. (While the gates are open no arrival is
	 * taken back.) So the gate does not move while a reader has yet to see its opening; (D). */
	for (int g = 0; g < r->groups; g++)
		rma_get(c, readers_word(s, r, c, slot->lock, g, OUT), &looks[g].out);
	rma_flush_all(c, readers_far(s)); /* orders OUT before IN */
	for (int g = 0; g < r->groups; g++)
		rma_get(c, readers_word(s, r, c, slot->lock, g, IN), &looks[g].in);
	rma_flush_all(c, readers_far(s)); /* orders the gets before the looks at their results */
	for (int g = 0; g < r->groups; g++)
		if (!is_idle(&looks[g]))
			return false;
	for (int g = 0; g < r->groups; g++)
		rma_fao(c, readers_word(s, r, c, slot->lock, g, IN), RMA_SUM, CLOSED, &before[g]);
	rma_flush_all(c,
		      readers_far(s)); /* orders the closing before the look at those that left */
	for (int g = 0; g < r->groups; g++) {
		rma_put(c, readers_word(s, r, c, slot->lock, g, BASE), arrivals(before[g]));
		rma_get(c, readers_word(s, r, c, slot->lock, g, OUT), &out[g]);
	}
	rma_flush_all(c, readers_far(s)); /* orders the gets before the looks at their results */
	for (int g = 0; g < r->groups; g++)
		inside = inside || difference(arrivals(before[g]), out[g]) != 0;
	if (inside)
		open_gates(s, r, slot);
	return !inside;
}

/* D2: undo the closing, except for its number; (D). */
static void undo_closing(const struct lock_setup *s, const struct readers *r,
			 struct lock_slot *slot, int64_t k)
{
	struct rma_client *c = &slot->client;
	const int64_t *before = lock_scratch(slot);

	rma_flush_all(c, readers_far(s)); /* orders BASE of the closing before this one */
	for (int g = 0; g < r->groups; g++)
		rma_put(c, readers_word(s, r, c, slot->lock, g, BASE),
			(k + 1) << HALF | arrivals(before[g]));
	open_gates(s, r, slot);
}

/* With a deadline, and too many closings undone: try again and again. */
static bool close_when_idle(const struct lock_setup *s, const struct readers *r,
			    struct lock_slot *slot)
{
	struct rma_pause p = {
	    .min_ns = READERS_LOOK_MIN_NS,
	    .max_ns = READERS_LOOK_MAX_NS,
	    .deadline_ns = slot->deadline_ns,
	};

	while (!try_close(s, r, slot))
		if (!rma_pause(&slot->client, &p, "the readers inside to leave"))
			return false;
	return true;
}

static bool close_gates(const struct lock_setup *s, const struct readers *r, struct lock_slot *slot)
{
	const struct look *looks = lock_scratch(slot);
	int64_t k;

	if (!look_at_all(s, r, slot))
		return false;
	k = undone(looks[0].base); /* the same at all counters */
	if (slot->deadline_ns && k >= MOST_UNDONE)
		return close_when_idle(s, r, slot);
	if (close_all(s, r, slot))
		return true;
	undo_closing(s, r, slot, k);
	return false;
}

static bool idle(const int64_t *counter, char *err, size_t errlen)
{
	const struct ticket *t = (const struct ticket *)(const void *)counter;

	snprintf(err, errlen, "a reader counter has IN 0x%llx and OUT 0x%llx",
		 (unsigned long long)t->in, (unsigned long long)t->out);
	return !(t->in & CLOSED) && difference(arrivals(t->in), t->out) == 0;
}

/* A few arrivals before they wrap, and the gate just before it wraps; as after so many undone
 * closings that no more may be. */
static void age(int64_t *counter)
{
	struct ticket *t = (struct ticket *)(void *)counter;

	t->out = ARRIVALS_MASK - 2;
	t->base = (int64_t)MOST_UNDONE << HALF | t->out;
	t->in = -3 * ARRIVAL + GATE_MASK - 1;
}

const struct readers_form readers_ticket = {
    .name = "ticket",
    .bytes = sizeof(struct ticket),
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
