/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The word of a reader-writer bakery, and the steps on it: DSLR, SIGMOD'18. dslr.c is the lock,
 * with leases and their recovery; ss.c has one word for each segment of a space, without leases.
 *
 * The word has two pairs of counters: MAX_X and MAX_S, the tickets given to writers and readers,
 * and N_X and N_S, how many of these are done. BEAT and ERA are for leases; without leases they
 * stay 0. Counters have 13 bits and are compared modulo 2^13, which is more than the number of
 * clients.
 *
 * A carry never reaches another counter, and a release has nothing to mend, whatever it finds:
 *   - MAX_X and MAX_S have a guard bit above them. The client whose ticket carries into the guard
 *     clears it by compare-and-swap before it waits. A client that sees one of these guards does
 *     not enter. So while it is set, each client adds to the counter at most once, and because
 *     there are fewer than 2^13 clients, the guard does not overflow.
 *   - N_X has a guard bit, too. N_X changes only when a writer that is in leaves, or clears the
 *     guard. A writer that finds the guard set when it comes in clears it before it leaves, so N_X
 *     is at most 2^13 when the next one comes in. This guard keeps no client out.
 *   - N_S, to which several readers add in any order, has the highest bits, and its carry leaves
 *     the word.
 *
 * Posted releases. Without leases the answer of a release decides nothing, and it may be posted
 * (rma_post()). Until the addition takes effect, the word is that of a client which is in: it
 * excludes the clients that a holder would exclude, and these wait for the addition, not for the
 * client that issued it. The slot is used again when the addition has been answered, so tickets
 * that are not done are at most as many as slots, which is less than 2^13. The word does not tell a
 * holder from a client whose addition is on its way; so a try that is refused waits for the
 * additions of its own process and tries once more (posts_unmarked).
 */
#ifndef LOCK_SS_BAKERY_H
#define LOCK_SS_BAKERY_H

#include "lock/lock.h"
#include "lock/pauses.h"

enum { BAKERY_BYTES = 8 };
_Static_assert(BAKERY_BYTES == sizeof(int64_t), "one word a lock at its home");

/* Where the parts of the word begin. */
enum { N_X = 0, MAX_X = 14, MAX_S = 28, BEAT = 42, ERA = 45, N_S = 51, ERA_BITS = N_S - ERA };
#define BAKERY_COUNT UINT64_C(0x1fff)
#define BAKERY_GUARD (BAKERY_COUNT + 1)
#define BAKERY_GUARDS ((BAKERY_GUARD << MAX_X) | (BAKERY_GUARD << MAX_S)) /* keep clients out */
#define BEATS UINT64_C(7)
#define ERAS ((UINT64_C(1) << ERA_BITS) - 1)
#define TICKETS \
	(((BAKERY_COUNT | BAKERY_GUARD) << MAX_X) | ((BAKERY_COUNT | BAKERY_GUARD) << MAX_S))
_Static_assert(MAX_S + 14 == BEAT && BEAT + 3 == ERA && N_S + 13 == 64, "the parts fill the word");

RMA_INLINE uint64_t bakery_count_of(uint64_t word, int at)
{
	return (word >> at) & BAKERY_COUNT;
}

RMA_INLINE uint64_t bakery_era_of(uint64_t word)
{
	return (word >> ERA) & ERAS;
}

RMA_INLINE int bakery_max_of(int mode)
{
	return mode == PAWL_SHARED ? MAX_S : MAX_X;
}

RMA_INLINE int bakery_done_of(int mode)
{
	return mode == PAWL_SHARED ? N_S : N_X;
}

/* Whether an addition to MAX_X or MAX_S, which found word, has set its guard. */
RMA_INLINE bool bakery_sets_guard(uint64_t word, int at)
{
	return ((word >> at) & (BAKERY_COUNT | BAKERY_GUARD)) == BAKERY_COUNT;
}

/* The word after an addition to a counter by compare-and-swap, which needs no guard. */
static inline uint64_t bakery_counted(uint64_t word, int at)
{
	return bakery_count_of(word, at) == BAKERY_COUNT ? word & ~(BAKERY_COUNT << at)
							 : word + (UINT64_C(1) << at);
}

/* Whether a client that comes in has to clear the guard of N_X. */
RMA_INLINE bool bakery_has_carried(uint64_t word, int mode)
{
	return mode != PAWL_SHARED && (word & BAKERY_GUARD << N_X) && !FAULT(dslr_carry);
}

/* Whether all clients that have drawn a ticket are done. */
static inline bool bakery_is_idle(uint64_t word)
{
	return !(word & BAKERY_GUARDS) &&
	       bakery_count_of(word, N_X) == bakery_count_of(word, MAX_X) &&
	       bakery_count_of(word, N_S) == bakery_count_of(word, MAX_S);
}

/* An idle word whose counters wrap soon, as does the guard of N_X if no client clears it. */
static inline uint64_t bakery_aged(void)
{
	uint64_t x = BAKERY_COUNT - 1, readers = BAKERY_COUNT - 2;

	return (BAKERY_GUARD | x) << N_X | readers << N_S | x << MAX_X | readers << MAX_S;
}

/* Whether it is the turn of the client that drew its ticket when the word had the value ticket. */
RMA_INLINE bool bakery_is_turn(uint64_t word, uint64_t ticket, int mode)
{
	/* Writers behind may have passed a reader, which must not wait for ever. */
	if (FAULT(dslr_readers) && ((bakery_count_of(word, N_X) - bakery_count_of(ticket, MAX_X)) &
				    BAKERY_COUNT) < (mode == PAWL_SHARED ? BAKERY_GUARD / 2 : 1))
		return !(word & BAKERY_GUARDS);
	return !(word & BAKERY_GUARDS) &&
	       bakery_count_of(word, N_X) == bakery_count_of(ticket, MAX_X) &&
	       (mode == PAWL_SHARED ||
		bakery_count_of(word, N_S) == bakery_count_of(ticket, MAX_S));
}

/* How many clients are ahead of the ticket; at least 1, because a guard may be set. */
static inline uint64_t bakery_ahead_of(uint64_t word, uint64_t ticket, int mode)
{
	uint64_t n = (bakery_count_of(ticket, MAX_X) - bakery_count_of(word, N_X)) & BAKERY_COUNT;

	if (mode == PAWL_EXCLUSIVE)
		n += (bakery_count_of(ticket, MAX_S) - bakery_count_of(word, N_S)) & BAKERY_COUNT;
	return n ? n : 1;
}

/*
 * How long to pause before the next look, in proportion to the clients ahead and to the measured
 * time of a hand-over, as in DSLR, and for backoff_max at most.
 *
 * A hand-over takes a release and a look, about one round trip. trip is the quickest look of this
 * wait so far, or 0 before the first, when backoff_min takes its place. The pause is a quarter of
 * it for each client ahead, because readers ahead leave together, and because a waiter that looks
 * too late delays all those behind it; the waiter that is next looks all the time. still is the
 * time for which this waiter has seen no client proceed. A hand-over that has taken longer than 16
 * round trips, because a holder stays, counts with a 16th of that time, also for the waiter that is
 * next: otherwise that one looks all the time while a holder computes, or until a dead one is given
 * up, for 0 to 0.9 % more throughput in simulation.
 *
 * The average time between two hand-overs, as a waiter sees it, cannot take the place of the round
 * trip: it contains the pauses of the clients ahead, and pauses in proportion to it lengthen each
 * other. With half of it for each client ahead dslr has 0.24 million acquires a second in
 * simulation, in place of 7.1 million (machine cx5-6nodes, 240 clients, a million locks, Zipf 0.99,
 * half writers).
 */
enum { BAKERY_TRIP_SHARE = 4 };

static inline uint64_t bakery_pause_ns(const struct lock_backoff *b, uint64_t ahead, uint64_t trip,
				       uint64_t still)
{
	uint64_t each = trip ? trip / BAKERY_TRIP_SHARE : (uint64_t)b->min;

	each = slow_pause_ns(ahead == 1 ? 0 : each, still);
	return ahead * each < (uint64_t)b->max ? ahead * each : (uint64_t)b->max;
}

/* Whether a client has proceeded between two looks. */
RMA_INLINE bool bakery_moves(uint64_t before, uint64_t after)
{
	return ((before ^ after) & ~TICKETS) != 0;
}

static inline uint64_t bakery_look(struct rma_client *c, struct rma_word w)
{
	int64_t word;

	rma_get(c, w, &word);
	rma_flush(c, w); /* orders the get before the use of its result */
	return (uint64_t)word;
}

/* Draw a ticket, or leave with a look at what was there. Returns the previous value of the word. */
RMA_INLINE uint64_t bakery_add(struct rma_client *c, struct rma_word w, int at)
{
	int64_t word;

	rma_fao(c, w, RMA_SUM, (int64_t)(UINT64_C(1) << at), &word);
	rma_flush(c, w); /* orders the addition before what follows; pairs with others' looks */
	return (uint64_t)word;
}

/* Leave; the caller completes the addition, or posts it. */
RMA_INLINE void bakery_leave(struct rma_client *c, struct rma_word w, int mode)
{
	rma_acc(c, w, (int64_t)(UINT64_C(1) << bakery_done_of(mode)));
}

/* Replace *word by another value. False: *word is the value found instead. */
static inline bool bakery_swap(struct rma_client *c, struct rma_word w, uint64_t *word, uint64_t by)
{
	int64_t seen;

	rma_cas(c, w, (int64_t)*word, (int64_t)by, &seen);
	rma_flush(c, w); /* orders the swap before the look at its result */
	if ((uint64_t)seen == *word)
		return true;
	*word = (uint64_t)seen;
	return false;
}

/* G: clear a guard, unless the era is over: that of a counter of tickets, which this client's
 * addition has set; or that of N_X, which it found. No client adds more than once meanwhile, so
 * this ends. */
static inline void bakery_clear_guard(struct rma_client *c, struct rma_word w, int at, uint64_t era)
{
	uint64_t word = bakery_look(c, w);

	while (bakery_era_of(word) == era)
		if (bakery_swap(c, w, &word, word & ~(BAKERY_GUARD << at)))
			return;
}

#endif
