/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues of Citron's clients that have met another client's bits. Not in the paper, whose clients
 * repeat the masked compare-and-swap until it succeeds.
 *
 * A space has QUEUES words of tickets. A client of the fast path that finds bits of its range set
 * draws a ticket of one of them, tries again in its turn until it has its range, and ends its turn
 * before the critical section. So of many clients that want the same units, one at a time asks for
 * them, in the order of arrival; the others look at the word now and then. (On one node only after
 * some tries: may_queue() in citron.c.) Figures: 192 clients, machine cx6-4nodes.
 *
 * Which queue. Up to 64 units: that of the range's place and length, so short ranges do not wait
 *   for each other in vain. More: that of the block of 256 units in which the range begins; its
 *   client is counted in BELOW there until its turn ends. While BELOW is not 0, short ranges take
 *   that queue, too. Else they would get their bits again and again, each in one round trip, before
 *   the long one has all of its bits at a time.
 * A client queues first, before it tries, if the queue had MANY clients the last time, until it has
 *   fewer. Else a third of the clients came in between a release and the request of the next in the
 *   queue, and the others waited for longer. A client keeps one such queue for each index modulo
 *   KNOWN_QUEUES; none for a short range that waited in a block's, where it waited for long ones.
 * It ends its turn with its first request, if its last critical section (on one node, its last one
 *   after a turn) took less than half a round trip: a hand-over takes 1.5 round trips, not 2.5. If
 *   the request finds bits of others, it asks once more (F4 in citron_fast.c); then it gives its
 *   bits back and queues again: the next client asks as well, and the two would keep each other's
 *   bits. (A try without a new turn comes just when the next one asks.) After three such misses in
 *   a row it keeps its turn until it has its range. By these two rules ranges of 16 and of 256
 *   units have 32 and 42 % more acquires, at less than half the p99.
 *   A second request that finds all bits clear is no miss. Once a request has found bits of a range
 *   that begins in the next block, all after it in the queue need a second one, as bits are cleared
 *   a round trip later than the next client expects. They follow each other as quickly as before:
 *   the second ones are sent between a release and the first request of the next client.
 * It ends its turn in two steps. The period of hand-overs makes the p99 of popular units: a range
 *   is released a round trip after its request, and a waiter sees the end of a turn half a look's
 *   round trip late, on average.
 *   Q0  a client begins when it sees that the turn before has ended, or that it has ended by half
 *   Q1  it adds 1 to DONE, then sends its announcements and bits
 *   Q2  it adds 1 to DONE again, then looks above
 *   A waiter whose look came between Q1 and Q2 is early. It waits for 7/8 of the time that its own
 *   last request took to be sent, about the time between the two, and at most that share of half a
 *   look's round trip; then it begins. (8/8: each hand-over 1 % longer; 6/8: 5 % of the clients
 *   with ranges of 256 units miss, not 3.5 %.) So the period varies by less than a look: for 256
 *   units 3.5 us, 8 % more acquires than by one sum, and a p99 of 663 us, not 730. The next client
 *   looks all the time, the one behind it each quarter of a round trip. Where more than eight
 *   queues share a leaf's word, that word is the limit, and a request that is too early takes
 *   others' time: there a turn ends by one sum (with two, ranges of one unit had 8 % fewer).
 *
 * Order (models/citron_queue.pml). A place counts two in NEXT. DONE counts steps, of which clients
 * whose turn has not come have made none. So when a client begins, at an odd or an even value,
 * those before it have begun, in whatever order their steps take effect, and no value goes by
 * unseen: those after a client make no step before it has made one. At the last place before DONE
 * wraps a sum that sets it to 0 has to know its value: there the client does not begin early, and
 * ends its turn by that sum.
 *
 * The queues decide only when a client tries. No argument about safety depends on them.
 *
 * No deadlock. A client that waits here holds nothing of the space; a client that holds other
 * ranges of it does not queue, and neither do tries and acquires with a deadline, which have no
 * patience for clients before them. A client in its turn waits for holders, for clients whose turn
 * it is elsewhere, and for no client that waits here. As with a cover that is rounded up, a client
 * may wait here for one that wants other units; therefore a client with an exact cover (option k 0)
 * does not queue either.
 *
 * With a lease, a client that waits here waits as for a turn at an inner node (citron_lease.c). A
 * client in its turn that sees the space frozen ends its turn, so the word changes.
 */
#include "lock/citron/citron_queue.h"
#include "lock/citron/citron_slow.h"

enum {
	BLOCK_BITS = 8,
	FEW_QUEUES_BITS = 3, /* of places, from which on few queues have the same leaf */
	EARLY_SHARES = 8 /* all but one of these shares of a time is what an early client waits */
};
/* Clients ahead in a queue, from which on a client expects it. */
#define MANY ATTEMPTS_OR(8, 1)

/* The queue of a place: number first >> bits of the places of that size. */
static int64_t queue_at(const struct citron_view *v, int64_t first, int bits)
{
	uint64_t place = (uint64_t)(first >> bits) + ((uint64_t)bits << 40);

	return v->k->queues + (int64_t)(place * UINT64_C(0x9e3779b97f4a7c15) >> 48) % QUEUES;
}

static int64_t queue_of_block(const struct citron_view *v)
{
	return queue_at(v, v->slot->first, BLOCK_BITS);
}

static bool is_long(const struct citron_view *v)
{
	return v->slot->last - v->slot->first >= CITRON_LEAF_UNITS;
}

/* 2 to this power places have the same queue of short ranges of this length. */
static int bits_of_place(const struct citron_view *v)
{
	uint64_t length = (uint64_t)(v->slot->last - v->slot->first);
	int bits = 0;

	while (length >> bits)
		bits++;
	return bits;
}

/* The queue of ranges of this place and length. */
static int64_t own_queue(const struct citron_view *v)
{
	return is_long(v) ? queue_of_block(v) : queue_at(v, v->slot->first, bits_of_place(v));
}

/* Choose the queue, and count a client with a long range in it. */
static int64_t choose_queue(struct citron_view *v)
{
	int64_t block = queue_of_block(v), word;

	v->h->queue_long = is_long(v);
	if (v->h->queue_long)
		return block;
	rma_get(v->c, word_at(v, block), &word);
	rma_flush(v->c, v->root); /* orders the get before the look at its result */
	return word & BELOW_MASK ? block : own_queue(v);
}

static int64_t *known_queue(const struct citron_view *v, int64_t own)
{
	return &v->h->queued[own % KNOWN_QUEUES];
}

bool citron_expects_queue(const struct citron_view *v)
{
	int64_t own = own_queue(v);

	return *known_queue(v, own) == own;
}

bool citron_enter_queue(struct citron_view *v)
{
	int64_t own = own_queue(v), index = choose_queue(v);

	if (!citron_await_turn(v, index, PLACE_STEPS * NEXT_ONE + v->h->queue_long * BELOW_ONE,
			       PLACE_STEPS, &v->h->queue_ticket))
		return false;
	v->h->queue = index;
	v->h->begun = false;
	*known_queue(v, own) = v->h->ahead >= (int64_t)MANY && index == own ? own : 0;
	return true;
}

void citron_begin_request(struct citron_view *v, bool ends)
{
	struct citron_hold *h = v->h;
	uint64_t most = h->sending < h->look / 2 ? h->sending : h->look / 2;
	uint64_t ns = most / EARLY_SHARES * (EARLY_SHARES - 1);
	struct rma_pause p = {.min_ns = ns, .max_ns = ns};

	if (h->early)
		rma_pause(v->c, &p, "its turn in a queue");
	h->early = false;
	h->begun = ends && !rma_is_cpu(v->root) && bits_of_place(v) >= FEW_QUEUES_BITS &&
		   (h->queue_ticket != LAST_PLACE || FAULT(citron_place));
	if (!h->begun)
		return;
	h->sending_since = rma_clock(v->c);
	if (!FAULT(citron_queue))
		rma_acc(v->c, word_at(v, h->queue), DONE_ONE);
}

/* Q2, or both in one. */
static int64_t rest_of_turn(const struct citron_hold *h)
{
	if (h->queue_ticket == LAST_PLACE && !FAULT(citron_place))
		return -(h->queue_ticket << DONE_SHIFT);
	return (PLACE_STEPS - h->begun) * DONE_ONE;
}

void citron_leave_queue(struct citron_view *v)
{
	struct citron_hold *h = v->h;

	if (h->queue && !v->gone && !FAULT(citron_queue))
		rma_acc(v->c, word_at(v, h->queue), rest_of_turn(h) - h->queue_long * BELOW_ONE);
	if (h->queue && h->begun)
		h->sending = rma_clock(v->c) - h->sending_since;
	h->queue = 0;
}
