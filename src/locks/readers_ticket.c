/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reader counter as a phase-fair ticket: the distributed counter of RMA-RW
 * (HPDC'16, section 3.2.1, Listings 6, 9, 10), in the form of Brandenburg and
 * Anderson's PF-T lock. All words are of one domain: NODE where the table is on
 * one node, NET where ranks of several nodes share a counter.
 *
 * Words: IN has the gate in its low two bits (even: open, odd: closed; it counts
 * modulo 4) and above them the number of readers that ever arrived; OUT the
 * number that ever left; BASE the arrivals when the present opening began.
 * Arrivals wrap at the top of the word and touch nothing; they are compared
 * modulo 2^62.
 *
 * Reader, uncontended: acquire 1 atomic, release 1 atomic, 1 round trip each.
 * Writer: 3 gets (look), 1 atomic and 1 put (close), 1 get or more (drain) a
 * counter; 1 get, then 1 atomic a counter to open. All counters at once.
 *
 * Ordering guarantees
 *   (A) A reader's arrival and its look at the gate are one atomic operation, as
 *       are the writer's closing and its look at the arrivals. So each reader
 *       either arrived before the closing, and the writer waits for it, or sees
 *       the gate closed, and waits for the writer.
 *   (B) A reader that saw the gate closed has arrived for the next opening: it
 *       gets in then without asking again, and the next writer waits for it. So
 *       nobody starves, however short the opening, and the gate cannot go round
 *       its four states while such a reader looks away.
 *   (C) OUT is compared for equality with the arrivals before the closing; none
 *       of those who arrived later can leave before the opening.
 *
 * Different from the paper: as printed, readers back off and count down again,
 * and reset the counter when it is full; such a reset can erase the mark of a
 * writer that came in between (models/rma_rw_printed.pml), and the closing does
 * not wait for readers to leave. Here counters only grow. T_R: a waiting writer
 * lets a counter admit T_R readers since the opening; if nobody is inside it
 * need not wait.
 *
 * Model: models/rma_rw_ticket.pml, whose steps are named below.
 */
#include "locks/readers.h"

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

enum { GATE_MASK = 3, CLOSED = 1, ARRIVAL = 4, ARRIVAL_SHIFT = 2 };

static int64_t arrivals(int64_t in)
{
	return (int64_t)((uint64_t)in >> ARRIVAL_SHIFT);
}

/* a - b in the 62 bits that arrivals have. */
static int64_t difference(int64_t a, int64_t b)
{
	return (int64_t)(((uint64_t)a - (uint64_t)b) << ARRIVAL_SHIFT) >> ARRIVAL_SHIFT;
}

static bool enter(const struct lock_space *s, const struct readers *r, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct rma_word in = readers_word(r, c, slot->lock, readers_own_group(r, c), IN);
	int64_t old;

	(void)s;
	/* RA1: arrive, and see the gate; (A). */
	rma_fao(c, in, RMA_SUM, ARRIVAL, &old);
	rma_flush(c, in); /* orders the arrival before the look at the gate */
	/* RA2: closed: wait for the next opening, which is ours; (B). */
	if (old & CLOSED)
		rma_await(c, in, GATE_MASK, RMA_NE, old & GATE_MASK, RMA_LATER,
			  "the writers to finish");
	return true;
}

static bool try_enter(const struct lock_space *s, const struct readers *r, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct rma_word in = readers_word(r, c, slot->lock, readers_own_group(r, c), IN);
	int64_t seen, old;

	(void)s;
	rma_get(c, in, &seen);
	rma_flush(c, in); /* orders the get before the look at the gate */
	/* RA1, only if the gate is open; again if other readers came between. */
	while (!(seen & CLOSED)) {
		rma_cas(c, in, seen, seen + ARRIVAL, &old);
		rma_flush(c, in); /* orders the swap before the look at old */
		if (old == seen)
			return true;
		seen = old;
	}
	return false;
}

static void leave(const struct lock_space *s, const struct readers *r, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct rma_word out = readers_word(r, c, slot->lock, readers_own_group(r, c), OUT);

	(void)s;
	/* RR1. */
	rma_acc(c, out, 1);
	rma_flush(c, out); /* orders the departure before our return; pairs with D */
}

/* L: what a counter says. */
struct look {
	int64_t in, out, base;
};

static void get_look(const struct readers *r, struct lock_slot *slot, int g, struct look *l)
{
	struct rma_client *c = &slot->client;

	rma_get(c, readers_word(r, c, slot->lock, g, IN), &l->in);
	rma_get(c, readers_word(r, c, slot->lock, g, OUT), &l->out);
	rma_get(c, readers_word(r, c, slot->lock, g, BASE), &l->base);
}

static bool is_idle(const struct look *l)
{
	return difference(arrivals(l->in), l->out) == 0;
}

static bool had_its_turn(const struct readers *r, const struct look *l)
{
	return is_idle(l) || difference(arrivals(l->in), l->base) >= r->t_r;
}

/* L: let every counter admit T_R readers, or run idle. The three words are not
 * one snapshot; this is a matter of fairness, not of safety. */
static void look_at_all(const struct lock_space *s, const struct readers *r, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct look *looks = (struct look *)(void *)slot->scratch;

	for (int g = 0; g < r->groups; g++)
		get_look(r, slot, g, &looks[g]);
	rma_flush_all(c, readers_far(s)); /* orders the gets before the look at them */
	for (int g = 0; g < r->groups; g++) {
		struct rma_pause p = {
		    .min_ns = READERS_LOOK_MIN_NS, .max_ns = READERS_LOOK_MAX_NS, .lazy = true};

		while (!had_its_turn(r, &looks[g])) {
			rma_pause(c, &p, "the readers' turn to end");
			get_look(r, slot, g, &looks[g]);
			/* orders the gets before the look at them */
			rma_flush(c, readers_word(r, c, slot->lock, g, IN));
		}
	}
}

/* C and D. */
static void close_all(const struct lock_space *s, const struct readers *r, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	int64_t *before = slot->scratch;

	/* C: close the gates, and learn who came before; (A). */
	for (int g = 0; g < r->groups; g++)
		rma_fao(c, readers_word(r, c, slot->lock, g, IN), RMA_SUM, CLOSED, &before[g]);
	rma_flush_all(c, readers_far(s)); /* orders the closing before the look at before[] */
	/* The next opening begins with these arrivals. */
	for (int g = 0; g < r->groups; g++)
		rma_put(c, readers_word(r, c, slot->lock, g, BASE), arrivals(before[g]));
#ifdef BREAK_RW_DRAIN
	rma_flush_all(c, readers_far(s)); /* orders BASE before the next writer's look (L) */
	return;
#endif
	/* D: wait until they all have left; (C). */
	for (int g = 0; g < r->groups; g++)
		rma_await(c, readers_word(r, c, slot->lock, g, OUT), INT64_MAX >> 1, RMA_EQ,
			  arrivals(before[g]), RMA_SOON, "the readers inside to leave");
	rma_flush_all(c, readers_far(s)); /* orders BASE before the next writer's look (L) */
}

static void close_gates(const struct lock_space *s, const struct readers *r, struct lock_slot *slot)
{
	look_at_all(s, r, slot);
	close_all(s, r, slot);
}

/* O. */
static void open_gates(const struct lock_space *s, const struct readers *r, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct rma_word mine = readers_word(r, c, slot->lock, readers_own_group(r, c), IN);
	int64_t in;

	/* The gates of all counters are in one state, and only we change them. */
	rma_get(c, mine, &in);
	rma_flush(c, mine); /* orders the get before the look at the gate */
	/* O: one step on, modulo 4, whatever arrived. */
	for (int g = 0; g < r->groups; g++)
		rma_acc(c, readers_word(r, c, slot->lock, g, IN),
			(in & GATE_MASK) == GATE_MASK ? -GATE_MASK : 1);
	rma_flush_all(c, readers_far(s)); /* orders the opening before we leave the root queue,
					   * so before the next closing (C) */
}

static bool try_close(const struct lock_space *s, const struct readers *r, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct look *looks = (struct look *)(void *)slot->scratch;
	int64_t *before = slot->scratch, *out = before + r->groups;
	bool inside = false;

	/* OUT before IN: if they agree, nobody was inside when OUT was read, and
	 * nobody, also none who waits for an opening, has come since. So the gate
	 * does not move under a reader that has yet to see its opening. */
	for (int g = 0; g < r->groups; g++)
		rma_get(c, readers_word(r, c, slot->lock, g, OUT), &looks[g].out);
	rma_flush_all(c, readers_far(s)); /* orders OUT before IN */
	for (int g = 0; g < r->groups; g++)
		rma_get(c, readers_word(r, c, slot->lock, g, IN), &looks[g].in);
	rma_flush_all(c, readers_far(s)); /* orders the gets before the look at them */
	for (int g = 0; g < r->groups; g++)
		if (!is_idle(&looks[g]))
			return false;
	for (int g = 0; g < r->groups; g++)
		rma_fao(c, readers_word(r, c, slot->lock, g, IN), RMA_SUM, CLOSED, &before[g]);
	rma_flush_all(c, readers_far(s)); /* orders the closing before the look at who left */
	for (int g = 0; g < r->groups; g++) {
		rma_put(c, readers_word(r, c, slot->lock, g, BASE), arrivals(before[g]));
		rma_get(c, readers_word(r, c, slot->lock, g, OUT), &out[g]);
	}
	rma_flush_all(c, readers_far(s)); /* orders the gets before the look at them */
	for (int g = 0; g < r->groups; g++)
		inside = inside || difference(arrivals(before[g]), out[g]) != 0;
	if (inside)
		open_gates(s, r, slot);
	return !inside;
}

static bool idle(const int64_t *counter, char *err, size_t errlen)
{
	const struct ticket *t = (const struct ticket *)(const void *)counter;

	snprintf(err, errlen, "a reader counter has IN 0x%llx and OUT 0x%llx",
		 (unsigned long long)t->in, (unsigned long long)t->out);
	return !(t->in & CLOSED) && difference(arrivals(t->in), t->out) == 0;
}

/* A few arrivals before their wrap, and the gate before its own. */
static void age(int64_t *counter)
{
	struct ticket *t = (struct ticket *)(void *)counter;

	t->out = t->base = (INT64_C(1) << 62) - 3;
	t->in = -3 * (int64_t)ARRIVAL + 2;
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
