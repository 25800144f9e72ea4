/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues of Citron's clients that have met another client's bits. Not in the paper, whose clients
 * repeat the masked compare-and-swap until it succeeds.
 *
 * A space has QUEUES words of tickets. A client of the fast path that finds bits of its range set
 * draws a ticket of one of them, by the place and the length of its range, and tries again in its
 * turn, until it has its range. Then it ends its turn, before the critical section. So of many
 * clients that want the same units, one at a time asks for them, in the order of arrival; the
 * others look at the word of the queue now and then.
 *
 * The queues decide only when a client tries. No argument about safety depends on them.
 *
 * No dead-lock. A client that waits here holds nothing of the space; a client that holds other
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

static int64_t queue_of(const struct citron_view *v)
{
	uint64_t first = (uint64_t)v->slot->first;
	uint64_t length = (uint64_t)(v->slot->last - v->slot->first);
	int bits = 0;

	while (length >> bits)
		bits++;
	first = ((first >> bits) + ((uint64_t)bits << 56)) * UINT64_C(0x9e3779b97f4a7c15);
	return v->k->queues + (int64_t)(first >> 32) % QUEUES;
}

bool citron_enter_queue(struct citron_view *v)
{
	int64_t index = queue_of(v);

	if (!citron_take_turn(v, index, true, &v->h->queue_ticket))
		return false;
	v->h->queue = index;
	return true;
}

void citron_leave_queue(struct citron_view *v)
{
	if (v->h->queue && !v->gone && !FAULT(citron_queue))
		rma_acc(v->c, word_at(v, v->h->queue), end_of_turn(v->h->queue_ticket));
	v->h->queue = 0;
}
