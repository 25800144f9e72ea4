/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kind adaptive on one node, where ranks outnumber cores: what a client does that acquires the lock
 * again and again while others wait for it.
 *
 * A client gets to the head of the queue, or is about to be woken there, and then waits for its
 * core until the scheduler takes that from a client that runs, some milliseconds later. The other
 * core may be idle meanwhile: Linux seldom moves a process that is ready to run to a core that is
 * idle for a moment. So a client that acquires the lock again looks now and then whether others
 * queue, and if they do:
 *   - It yields its core, if the time from one acquire to the next is long. If nobody else is ready
 *     to run there, that takes less than a microsecond. It does not do so if the lock leaves no
 *     time to others, because the client comes back at once and is often exclusive; nor if the time
 *     is short, because two clients that run would move the cache lines of the lock from core to
 *     core, which takes longer than a short section.
 *   - When its turn is over, it does not try first, but queues behind them. It sleeps there, and
 *     leaves its core. A turn lasts for as long as the longest patience.
 *
 * Both omit or delay an acquire and nothing else, so that the guarantees and bounds of adaptive.c
 * hold.
 */
#include "lock/adaptive/adaptive.h"

/* A turn is measured by looks, each of which counts for this part of it at most. */
enum { LOOKS_PER_TURN = 16 };

/* The time from an acquire to the next one is long from LONG_NS on. If it is longer than MOST_NS,
 * the client has probably lost its core. */
enum { LONG_NS = 1000, MOST_NS = 1000000 };

/* A client is seldom exclusive if so many of its acquires are shared for each that is not. The
 * looks count them, TURNS_SAMPLE at most. */
enum { SHARES_PER_EXCLUSIVE = 8, TURNS_SAMPLE = 64 };

static void note_mode(struct lock_slot *slot)
{
	struct adaptive_slot *own = lock_own(slot);

	if (own->shares + own->exclusives >= TURNS_SAMPLE) {
		own->shares /= 2;
		own->exclusives /= 2;
	}
	if (slot->mode == PAWL_EXCLUSIVE)
		own->exclusives++;
	else
		own->shares++;
}

/* Whether other clients can use the lock while this one goes on. */
static bool leaves_time(const struct adaptive_slot *own)
{
	return own->is_absent || own->shares >= SHARES_PER_EXCLUSIVE * own->exclusives;
}

/* The acquire after this one looks, too, and so measures the time from the one to the other; or the
 * next look is at a random acquire, so that a program that times one acquire in 16 times neither
 * all those that wait, nor none. */
static void look_again(struct lock_slot *slot, bool next, uint64_t now)
{
	struct adaptive_slot *own = lock_own(slot);

	own->times = next;
	own->look_at = (uint8_t)((next ? own->look_at + 1u : now) % ACQUIRES_PER_LOOK);
}

/* Of the time since the last look, only a small part of a turn counts, because the client may have
 * lost its core. */
bool turn_is_over(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct adaptive_constants *k = s->state;
	struct adaptive_slot *own = lock_own(slot);
	const uint64_t most = k->patience / LOOKS_PER_TURN;
	uint64_t before = own->looked, now, since;
	bool times = own->times && before;

	own->looked = 0;
	own->times = false;
	if (!slot->client.rma->waiting.crowded) {
		own->look_at = NO_LOOK;
		return false;
	}
	if (!rma_peek_ordered(&slot->client, *adaptive_queue(slot)))
		return false;
	now = rma_clock(&slot->client);
	since = now - before;
	if (!before)
		own->turn = 0;
	else
		own->turn += since < most ? since : most;
	own->looked = now;
	look_again(slot, !times, now);
	if (!times) {
		note_mode(slot);
	} else if (since >= LONG_NS && since < MOST_NS && leaves_time(own)) {
		rma_yield(&slot->client);
		own->looked = rma_clock(&slot->client);
	}
	return own->turn >= k->patience;
}
