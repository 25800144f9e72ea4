/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues of Citron's clients that have met another client's bits. Not in the paper, whose clients
 * repeat the masked compare-and-swap until it succeeds.
 *
 * A space has QUEUES words of tickets. A client of the fast path that finds bits of its range set
 * draws a ticket of one of them and tries again in its turn, until it has its range. Then it ends
 * its turn, before the critical section. So of many clients that want the same units, one at a time
 * asks for them, in the order of arrival; the others look at the word of the queue now and then.
 * On one node a client does so only after some tries: see may_queue() in citron.c.
 *
 * A client that has found MANY clients in the queue of its ranges the last time queues before its
 * first try; it does so until it finds fewer. If it tried first, it would often find the units
 * free, between a release and the request of the next in the queue: without this rule a third of
 * the clients came in that way (192 clients, machine cx6-4nodes), and the others waited for longer.
 * Each client keeps the index of one such queue for each index modulo KNOWN_QUEUES. A short range
 * that waited in the queue of a block is not kept: there it waited for long ranges.
 *
 * There is a queue for each block of 256 units, and one for each place and length of ranges of up
 * to 64 units. Long ranges take the queue of the block in which they begin, and count themselves in
 * BELOW there until their turn ends. Short ranges take it while a long one does, and otherwise that
 * of their own place. Short ones by themselves do not wait for each other in vain; among long ones
 * they would otherwise get their bits again and again, each in one round trip, before the long one
 * has all of its bits at a time.
 *
 * A client ends its turn with its first request, if its last critical section (on one node, its
 * last one after a turn in a queue) took less than half a round trip: the request of the next
 * client then comes after the release, and a hand-over takes a round trip and a half in place of
 * two and a half. If the request finds bits of others, the client asks once more (F4 in
 * citron_fast.c); if that comes to nothing, it gives its bits back and queues again, because the
 * next client asks as well, and the two would keep each other's bits. After three such misses in a
 * row it keeps its turn until it has its range. To try again without a new turn does not help: the
 * next in the queue asks just when the bits are released. In simulation (192 clients, machine
 * cx6-4nodes) ranges of 16 units have 32 % more acquires by this and by queueing first, those of
 * 256 units 42 %, and the 99 % latency is less than half as long.
 *
 * A second request that finds all bits clear is no miss. Once a request has found the bits of
 * another client, as those of a range that begins in the next block, the bits are cleared a round
 * trip later than the next client expects, so that it needs a second request, too, and so do those
 * after it: nearly all clients of a queue that is never empty. The requests follow each other as
 * quickly as before, because the second ones are sent between the release of the client before and
 * the first request of the next one.
 *
 * The period of such hand-overs is what the 99 % latency of popular units consists of: nearly all
 * clients wait in one queue. A request must not come before the release of the client before it,
 * which follows that client's own request by a round trip; a waiter sees the end of a turn up to a
 * look's round trip late; so on average half a look is lost. Therefore a turn ends in two steps:
 *   Q0  a client begins when it sees that the turn before has ended, or that it has ended by half
 *   Q1  it adds 1 to DONE, then sends its announcements and bits
 *   Q2  it adds 1 to DONE again, then looks above
 * A waiter whose look came between Q1 and Q2 has seen the end of the turn sooner than others. It
 * waits for 7/8 of the time that its own last request took to be sent, which is about the time
 * between the two, and at most that share of half a look's round trip; then it begins. (If it waits
 * for all of that time, each hand-over is 1 % longer; for 6/8, 5 % of the clients with ranges of
 * 256 units come to nothing after their turn, in place of 3.5 %.) So the time from one request to
 * the next varies by less than a look, and its mean falls, for ranges of 256 units to 3.5 us with
 * 192 clients: their rate is 8 % higher than if turns end by one sum, and the 99 % latency 663 us
 * in place of 730. The next client looks all the time; the one behind it, which cannot begin yet,
 * waits for a quarter of a round trip between looks. Where more than eight queues share the word of
 * a leaf, as those of ranges of a few units do, that word is the limit, and a request that comes
 * too early takes others' time: there a turn ends by one sum (with two, ranges of one unit had 8 %
 * less acquires).
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
