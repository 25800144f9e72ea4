/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DecLock: a queue at the lock's home, and a hand-over from client to client. Zhang, Cheng, Chen,
 * Wei and Chen, "DecLock: A Case of Decoupled Locking for Disaggregated Memory" (arXiv 2505.17641),
 * cooperative queue-notify locking; written from its description, without its code.
 *
 * Words, at the home: HEADER, and behind it a ring of entries. HEADER has
 *   HEAD     how many clients have left, modulo 2^32
 *   SIZE     how many hold or await the lock
 *   WRITERS  the exclusive ones of these
 *   VERSION  how many exclusive ones have left, modulo 2^v
 * acquire: one fetch-and-add draws position HEAD + SIZE. In: exclusive if SIZE = 0, shared if
 *   WRITERS = 0. Else the entry (position, slot, mode) at position modulo the size of the ring, and
 *   wait for the grant in STATUS of the own slot.
 * release: one fetch-and-add, whose result says whether others wait. Then a grant,
 *   exclusive: to the client behind, or if that is shared, to all shared ones up to the next
 *     exclusive one. Each of their entries becomes the mark DONE.
 *   shared: to the exclusive client at position HEAD. No entry there: a shared client that is in,
 *     or an exclusive one that has not written its entry yet. It leaves the mark TURN, which the
 *     exclusive client finds when it writes its entry, and is in.
 * overdue: a shared client that waits at a position before HEAD, because others came and left while
 *   an exclusive client that has left lets shared clients in. A client that replaces its entry
 *   grants to it. If it finds the entry of a later position in its place, or DONE of its own, it is
 *   in. Positions are compared modulo 2^32, so the client at every 2^24th position replaces what is
 *   older than the round before its own by DONE of that round, in all places of the ring.
 *
 * Fairness: first come, first served, by the order of the positions; shared clients that follow one
 * another hold the lock together.
 *
 * Optimistic reads (pawl_lock_read_begin) change no word: (H). Changes of mode: C1 to C5.
 *
 * Uncontended: acquire and release 1 atomic in 1 round trip each, in both modes; to become
 * exclusive 5 round trips, a sharer 2. In addition
 *   to wait     exclusive 1 atomic (the entry), shared 1 get and 1 atomic
 *   hand-over   between exclusive clients 1 get, in the round trip of the release's atomic if
 *               others waited at the hand-over before, and 1 put
 *   to let in   a shared client: 1 get, 1 atomic and 1 put, in 3 round trips for every 8
 *   to leave    a shared client while an exclusive one waits: 1 get, perhaps 1 compare-and-swap
 *
 * Guarantees
 *   (A) WRITERS of the result is above 0 as long as the last exclusive client before it has not
 *       left, and exclusive clients leave in the order of their positions. So a shared client that
 *       waits is counted in what that exclusive client finds when it leaves, and that one sees its
 *       entry, or sees that it was overdue.
 *   (B) While an exclusive client at position q waits, HEAD is at most q: all that could leave have
 *       positions before q. When HEAD becomes q, all of them have left. One addition makes it q;
 *       the client that issued it grants the lock, and no other client does.
 *   (C) The additions that draw and leave are atomic. So a client that waits is counted in what the
 *       client that has to grant finds.
 *   (D) An entry and TURN exclude each other: one is written by an atomic that fetches, the other
 *       by a compare-and-swap, so the second one sees the first. TURN replaces only what is older
 *       than its position. Positions distinguish the rounds of the ring, and in each place of the
 *       ring they only grow.
 *   (E) SIZE is at most the size of the ring. So if position p + (size of the ring) has been drawn,
 *       HEAD is above p, and if the client at p has not left, a client of a later position has,
 *       which can only be if all exclusive clients before it have left: the client at p is shared,
 *       and may enter. The entry of a shared client that waits is replaced once, by an atomic that
 *       sees it. The client that has replaced it grants to it, and no other client does.
 *   (F) The client that sweeps has drawn a position, so no exclusive client waits at the positions
 *       of the round before its own, for which it writes DONE, and shared ones there are overdue.
 *   (G) A slot's STATUS is written by the one client of (B) or (E), and reset by its owner before
 *       its entry makes the slot known. What a holder did in node memory is visible to the next
 *       one: the grant is stored after it, and awaited with acquire semantics; or both are ordered
 *       by HEADER or by the entry.
 *
 *   (H), (I), optimistic reads, and (J) to (L), changes of mode: at their code.
 *
 * Deadlines: mcs.h, (D) and (E). The client that grants to an abandoned place leaves in its stead
 * by another fetch-and-add, and marks the slot as passed over after that. So SIZE counts the place,
 * and the ring has room for all slots of all ranks.
 *
 * Progress: starvation-free if holders release, and changes of mode end. C2 is repeated while
 * sharers come and go. A release of an exclusive client may wait for a client that has drawn a
 * position and has not written its entry yet (as in MCS). A release takes extra steps for abandoned
 * places and for the shared clients that it lets in.
 *
 * Different from the paper
 *   - Positions are 32 bits and entries 64, so no client resets a lock because a ring is full or a
 *     count wraps; nor because a client failed: the lock of a holder that dies stays held. (An
 *     operation that is under way while 2^31 clients leave is not considered.)
 *   - No timestamps in the entries, by which clients of the same mode can go first.
 *   - Notifications are remote writes into the slot of the waiter, not messages.
 *   - A shared client that enters at once writes no entry; TURN makes up for it.
 *
 * A lock has 16 bytes, and 8 for each slot of each rank (option max_held), rounded up to a power of
 * two.
 *
 * Model: models/declock.pml, whose steps are named below.
 */
#include "lock/mcs/mcs.h"

#include <stdio.h>
#include <stdlib.h>

enum { WORD_BYTES = 8, BATCH = 8 };
_Static_assert(WORD_BYTES == sizeof(int64_t), "words are 64 bits");

/* HEADER, from its low bits: WRITERS, VERSION, SIZE, HEAD. HEAD wraps out of the word. WRITERS has
 * as few bits as can count the slots of the table; VERSION has the rest of the 16 bits below SIZE,
 * and in the build for the tests at most one. */
enum { SIZE_AT = 16, HEAD_AT = 32, MOST_SLOTS = 0xffff };
#define VERSION_BITS ATTEMPTS_OR(SIZE_AT, 1)

/* An entry, from its low bits: state, TIMED, number of the slot, and from ENTRY_AT on the position.
 * TURN and DONE have a position only. An entry that was never written is 0. */
enum { NONE, WAITS_X, WAITS_S, TURN, DONE, STATES = 7, TIMED = 8, SLOT_AT = 4, ENTRY_AT = 32 };

/* So often a client brings the marks of all places of the ring up to date. */
#define SWEEP ATTEMPTS_OR(1 << 24, 16)

/* A grant: the slot id of the client that granted, and whether others waited behind. */
enum { MORE = 1, GRANT_AT = 1 };

struct constants {
	uint64_t bytes;    /* of a lock */
	uint32_t mask;     /* size of the ring - 1 */
	uint32_t writers;  /* mask of WRITERS in the header; VERSION begins at writers + 1 */
	uint32_t versions; /* 2^v */
};

struct declock_slot {
	struct rma_word header;
	uint64_t seen; /* the header after the last departure that this client counted */
	uint32_t at;   /* its position */
	uint64_t left; /* what this client adds when it leaves */
	bool more;     /* others waited behind this client when it was granted the lock */
};
_Static_assert(sizeof(struct declock_slot) <= LOCK_OWN_BYTES, "it fits into a slot");

RMA_INLINE struct declock_slot *own_of(struct lock_slot *slot)
{
	return lock_own(slot);
}

/* ------------------------------------------------------------------- layout */

static int layout(struct lock_setup *s, char *err, size_t errlen)
{
	uint64_t slots = lock_all_slots(s), ring = 2;
	struct constants *k = s->state;

	(void)err;
	(void)errlen;
	while (ring < slots) /* (E) */
		ring *= 2;
	k->mask = (uint32_t)(ring - 1);
	k->versions = 1 << VERSION_BITS;
	while ((MOST_SLOTS + 1) / k->versions <= slots)
		k->versions /= 2;
	k->writers = (MOST_SLOTS + 1) / k->versions - 1;
	k->bytes = (2 + ring) * WORD_BYTES;
	s->words = lock_reserve(s, s->block, k->bytes);
	return PAWL_SUCCESS;
}

static void describe(const struct lock_setup *s, char *text, size_t len)
{
	const struct constants *k = s->state;

	snprintf(text, len, "%llu bytes a lock", (unsigned long long)k->bytes);
}

RMA_INLINE struct rma_word header_of(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;

	return lock_home_word(s, &slot->client, s->domain, s->words, k->bytes, slot->lock);
}

/* The entry of a position at the slot's lock. */
static inline struct rma_word entry_of(const struct lock_setup *s, struct lock_slot *slot,
				       uint32_t at)
{
	const struct constants *k = s->state;
	struct rma_word header = own_of(slot)->header;

	return rma_word(slot->client.rma, s->domain, header.rank,
			header.offset + (uint64_t)(1 + (at & k->mask)) * WORD_BYTES);
}

/* UPGRADER, behind the ring: whether a sharer is about to be exclusive. */
static inline struct rma_word upgrader_of(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;
	struct rma_word header = own_of(slot)->header;

	return rma_word(slot->client.rma, s->domain, header.rank,
			header.offset + (k->bytes - WORD_BYTES));
}

/* ------------------------------------------------------------- header, entries */

RMA_INLINE uint32_t writers_in(const struct lock_setup *s, uint64_t header)
{
	const struct constants *k = s->state;

	return (uint32_t)header & k->writers;
}

RMA_INLINE uint32_t size_in(uint64_t header)
{
	return (header >> SIZE_AT) & MOST_SLOTS;
}

RMA_INLINE uint32_t head_in(uint64_t header)
{
	return (uint32_t)(header >> HEAD_AT);
}

/* What a client adds when it comes. */
RMA_INLINE uint64_t coming(int mode)
{
	return (UINT64_C(1) << SIZE_AT) + (mode != PAWL_SHARED);
}

/* What a client adds when it leaves. wraps: VERSION wraps if the client is exclusive; (I). */
RMA_INLINE uint64_t leaving(const struct lock_setup *s, int mode, bool wraps)
{
	const struct constants *k = s->state;
	uint64_t left = (UINT64_C(1) << HEAD_AT) - coming(mode);

	if (mode == PAWL_SHARED || FAULT(declock_version))
		return left;
	return left + k->writers + 1 - ((uint64_t)(wraps && !FAULT(declock_carry)) << SIZE_AT);
}

/* What an exclusive client adds when it goes on as a sharer, at its position. */
static inline uint64_t sharing(const struct lock_setup *s, uint64_t left)
{
	return left - leaving(s, PAWL_SHARED, false);
}

/* Whether a client that adds this when it leaves is counted in WRITERS. */
static inline bool is_counted(const struct lock_setup *s, uint64_t left)
{
	return left != leaving(s, PAWL_SHARED, false);
}

/* Whether VERSION, as it is in this header, wraps when the next exclusive client leaves; (I). */
RMA_INLINE bool is_last_version(const struct lock_setup *s, uint64_t header)
{
	const struct constants *k = s->state;

	return (uint16_t)(header | k->writers) == MOST_SLOTS;
}

/* The same header when all of its WRITERS have left, as far as VERSION goes. */
static inline uint64_t without_writers(const struct lock_setup *s, uint64_t header)
{
	const struct constants *k = s->state;
	uint64_t writers = writers_in(s, header);

	return header - writers + writers * (k->writers + 1);
}

/* Whether a client that found this header may enter. */
RMA_INLINE bool is_free(const struct lock_setup *s, uint64_t header, int mode)
{
	if (FAULT(declock_drain))
		return writers_in(s, header) == 0;
	return mode == PAWL_SHARED ? writers_in(s, header) == 0 : size_in(header) == 0;
}

/* TURN or DONE of a position. */
static inline int64_t mark_at(uint32_t at, int state)
{
	return (int64_t)((uint64_t)at << ENTRY_AT | (uint64_t)state);
}

static inline int state_in(int64_t entry)
{
	return (int)(entry & STATES);
}

/* How far the position of an entry is ahead of this one; less than 0: it is older. */
static inline int32_t round_of(int64_t entry, uint32_t at)
{
	if (state_in(entry) == NONE)
		return -1;
	if (FAULT(declock_round))
		return 0;
	return (int32_t)((uint32_t)((uint64_t)entry >> ENTRY_AT) - at);
}

/* Whether it is the entry of a client in this state at this position. */
static inline bool is_entry(int64_t entry, uint32_t at, int state)
{
	return state_in(entry) == state && round_of(entry, at) == 0;
}

/* Whether the client at this position has still to write its entry. */
static inline bool is_unwritten(int64_t entry, uint32_t at)
{
	return round_of(entry, at) < 0 || is_entry(entry, at, TURN);
}

/* Whether it is the entry of a shared client at an earlier position that waits; (E). */
static inline bool is_overdue(int64_t entry, uint32_t at)
{
	return state_in(entry) == WAITS_S && round_of(entry, at) < 0;
}

static inline int64_t make_entry(const struct lock_setup *s, const struct lock_slot *slot,
				 uint32_t at)
{
	uint64_t number =
	    (uint64_t)slot->client.rma->rank * (uint64_t)s->max_held + (uint64_t)slot->index;

	return (int64_t)((uint64_t)at << ENTRY_AT | number << SLOT_AT |
			 (slot->deadline_ns ? TIMED : 0) |
			 (slot->mode == PAWL_SHARED ? WAITS_S : WAITS_X));
}

/* The slot id in an entry. */
static inline int64_t slot_in(const struct lock_setup *s, int64_t entry)
{
	uint32_t number = (uint32_t)entry >> SLOT_AT;

	return slot_make_id((int)(number / (uint32_t)s->max_held),
			    (int)(number % (uint32_t)s->max_held));
}

/* ------------------------------------------------------------------ release */

/* R1: count a client out that leaves; the header after it. If next is not NULL, it is the entry
 * behind this client's, as found in the same round trip. */
RMA_INLINE uint64_t count_out(const struct lock_setup *s, struct lock_slot *slot, uint64_t left,
			      int64_t *next)
{
	struct rma_client *c = &slot->client;
	struct rma_word header = own_of(slot)->header;
	int64_t found;

	rma_fao(c, header, RMA_SUM, (int64_t)left, &found);
	if (next)
		rma_get(c, entry_of(s, slot, own_of(slot)->at + 1), next);
	/* Orders the addition before the looks at its result, and before the grant; the get needs
	 * no order, because an entry stays until its owner has left. */
	rma_flush(c, header);
	return (uint64_t)found + left;
}

/* R4: issue the grant to the client of an entry. *old becomes MCS_ABANDONED, after a flush, if it
 * has abandoned its place. */
static struct rma_word grant(const struct lock_setup *s, struct lock_slot *slot, int64_t entry,
			     bool more, int64_t *old)
{
	struct rma_client *c = &slot->client;
	struct rma_word given = slot_status(s, c, s->domain, slot_in(s, entry));
	int64_t status = slot->id << GRANT_AT | (more ? MORE : 0);

	*old = MCS_WAIT;
	if (entry & TIMED)
		rma_give(c, given, status, old);
	else
		rma_put(c, given, status);
	return given;
}

/* S: the client of this entry has abandoned its place: leave for it. The header after it. */
static uint64_t leave_for(const struct lock_setup *s, struct lock_slot *slot, int64_t entry)
{
	int mode = state_in(entry) == WAITS_S ? PAWL_SHARED : PAWL_EXCLUSIVE;
	struct rma_client *c = &slot->client;
	struct rma_word given = slot_status(s, c, s->domain, slot_in(s, entry));
	/* No other client leaves exclusively meanwhile, so VERSION is as it was seen; (I). */
	bool wraps = is_last_version(s, own_of(slot)->seen);
	uint64_t header = count_out(s, slot, leaving(s, mode, wraps), NULL);

	own_of(slot)->seen = header;
	rma_put(c, given, MCS_PASSED);
	rma_flush(c, given); /* orders the mark before the return */
	return header;
}

/* Grant the lock to one exclusive client. Returns its entry if it has abandoned its place, else
 * 0. */
static int64_t grant_to_writer(const struct lock_setup *s, struct lock_slot *slot, int64_t entry,
			       uint64_t header)
{
	int64_t old;
	struct rma_word given = grant(s, slot, entry, size_in(header) > 1, &old);

	/* Orders the grant before the return, and before the look at old; pairs with A3. */
	rma_flush(&slot->client, given);
	return old == MCS_ABANDONED && !FAULT(declock_abandoned) ? entry : 0;
}

static int64_t end_sharing(const struct lock_setup *s, struct lock_slot *slot, uint64_t header);

/* Grant the lock to a shared client whose entry this client has taken from the ring. If it has
 * abandoned its place, leave for it. Returns the entry of an exclusive client behind it that would
 * have the lock and has abandoned its place, else 0. */
static RMA_SLOW_PATH int64_t grant_to_sharer(const struct lock_setup *s, struct lock_slot *slot,
					     int64_t entry)
{
	int64_t old;
	struct rma_word given = grant(s, slot, entry, false, &old);

	rma_flush(&slot->client, given); /* as in grant_to_writer() */
	return old == MCS_ABANDONED ? end_sharing(s, slot, leave_for(s, slot, entry)) : 0;
}

/* R2: a shared client has left, after which the header has this value. If an exclusive client is
 * next, it gets the lock; (B). Returns its entry if it has abandoned its place, else 0. */
static RMA_SLOW_PATH int64_t end_sharing(const struct lock_setup *s, struct lock_slot *slot,
					 uint64_t header)
{
	struct rma_client *c = &slot->client;
	uint32_t at = head_in(header);
	struct rma_word w = entry_of(s, slot, at);
	int64_t entry, found;

	if (writers_in(s, header) == 0)
		return 0;
	rma_get(c, w, &found);
	rma_flush(c, w); /* orders the get before the look at its result */
	do {
		entry = found;
		if (is_entry(entry, at, WAITS_X))
			return grant_to_writer(s, slot, entry, header);
		if (round_of(entry, at) >= 0 || FAULT(declock_turn))
			return 0;
		rma_cas(c, w, entry, mark_at(at, TURN), &found);
		rma_flush(c, w); /* orders the mark before the look at what it met; (D) */
	} while (found != entry);
	return is_overdue(entry, at) ? grant_to_sharer(s, slot, entry) : 0;
}

/* R3: the entries from a position on, so many. Waits for the first one to be written. Returns how
 * many are known, up to that of an exclusive client, which does not count. */
static int known_sharers(const struct lock_setup *s, struct lock_slot *slot, uint32_t at, int most,
			 int64_t *entry)
{
	struct rma_client *c = &slot->client;
	struct rma_pause p = {.rounds = 0};
	int n = 0;

	for (;;) {
		for (int i = 0; i < most; i++)
			rma_get(c, entry_of(s, slot, at + (uint32_t)i), &entry[i]);
		/* Orders the gets before the looks at their results; pairs with A2. */
		rma_flush(c, own_of(slot)->header);
		if (!is_unwritten(entry[0], at))
			break;
		rma_pause(c, &p, "a client to write its entry");
	}
	for (; n < most; n++, at++)
		if (is_unwritten(entry[n], at) || is_entry(entry[n], at, WAITS_X))
			break;
	return n;
}

/* R3 and R4: take the entries of shared clients, from a position on, and grant the lock to those
 * that this client could take; for those that have abandoned their places, leave. Returns the entry
 * of an exclusive client behind them that would have the lock and has abandoned its place, else
 * 0. */
static int64_t grant_to_sharers(const struct lock_setup *s, struct lock_slot *slot, uint32_t at,
				int n, const int64_t *entry)
{
	struct rma_client *c = &slot->client;
	struct rma_word given[BATCH];
	int64_t found[BATCH], old[BATCH], gone = 0;
	int taken = 0;

	for (int i = 0; i < n; i++)
		if (is_entry(entry[i], at + (uint32_t)i, WAITS_S))
			rma_cas(c, entry_of(s, slot, at + (uint32_t)i), entry[i],
				mark_at(at + (uint32_t)i, DONE), &found[i]);
	/* Orders the swaps before the looks at their results; (E). */
	rma_flush(c, own_of(slot)->header);
	for (int i = 0; i < n; i++) {
		old[i] = MCS_WAIT;
		given[i] = own_of(slot)->header;
		if (is_entry(entry[i], at + (uint32_t)i, WAITS_S) && found[i] == entry[i]) {
			given[i] = grant(s, slot, entry[i], false, &old[i]);
			taken++;
		}
	}
	for (int i = 0; taken && i < n; i++) /* as in grant_to_writer() */
		rma_flush(c, given[i]);
	for (int i = 0; i < n; i++)
		if (old[i] == MCS_ABANDONED)
			gone = end_sharing(s, slot, leave_for(s, slot, entry[i]));
	return gone;
}

/* R3: let in the sharers from a position on, up to the next exclusive client. An exclusive client
 * that is the first gets the lock, if this one has left. Returns the entry of an exclusive client
 * that would have the lock and has abandoned its place, else 0. */
static int64_t let_sharers_in(const struct lock_setup *s, struct lock_slot *slot, uint64_t header,
			      uint32_t first, uint32_t end, bool has_left)
{
	bool sharers = writers_in(s, header) < size_in(header);
	int64_t entry[BATCH], gone = 0;
	uint32_t at = first;

	while (at != end && gone == 0) {
		int most = !sharers ? 1 : end - at < BATCH ? (int)(end - at) : BATCH;
		int n = known_sharers(s, slot, at, most, entry);

		if (n == 0) /* an exclusive client: the next one, or behind those let in */
			return has_left && at == first ? grant_to_writer(s, slot, entry[0], header)
						       : 0;
		gone = grant_to_sharers(s, slot, at, n, entry);
		if (FAULT(declock_sharers))
			break;
		at += (uint32_t)n;
	}
	return gone;
}

/* R3: an exclusive client has left, after which the header has this value. Grant the lock to the
 * exclusive client behind it, or to the shared ones; (A). next: as at count_out(), or 0. */
static RMA_SLOW_PATH int64_t let_in(const struct lock_setup *s, struct lock_slot *slot,
				    uint64_t header, int64_t next)
{
	uint32_t first = head_in(header);

	if (is_entry(next, first, WAITS_X))
		return grant_to_writer(s, slot, next, header);
	return let_sharers_in(s, slot, header, first, first + size_in(header), true);
}

/* Pass the lock on for an exclusive client of this entry that has abandoned its place, and for
 * those behind it that have, too. 0: there is none. */
static void hand_on(const struct lock_setup *s, struct lock_slot *slot, int64_t gone)
{
	while (gone) {
		uint64_t header = leave_for(s, slot, gone);

		gone = size_in(header) ? let_in(s, slot, header, 0) : 0;
	}
}

/* Others hold or await the lock. */
static RMA_SLOW_PATH void hand_over(const struct lock_setup *s, struct lock_slot *slot,
				    uint64_t header, int64_t next)
{
	own_of(slot)->seen = header;
	hand_on(s, slot,
		is_counted(s, own_of(slot)->left) ? let_in(s, slot, header, next)
						  : end_sharing(s, slot, header));
}

/* ------------------------------------------------------------------ acquire */

/* A4: the client has the lock. On the node, a processor may show the stores of the critical section
 * to others before A1. */
RMA_INLINE int enter(const struct lock_slot *slot)
{
	/* Orders A1 before what an exclusive client stores; pairs with L2; (H). */
	if (slot->mode != PAWL_SHARED)
		atomic_thread_fence(memory_order_release);
	return PAWL_SUCCESS;
}

/* A3: wait for the grant. */
static int await_grant(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t status;

	if (!mcs_await_grant(slot, s->domain, &status))
		return LOCK_QUEUED;
	own_of(slot)->more = status & MORE;
	slot->from = status >> GRANT_AT;
	return enter(slot);
}

/* W: replace everything that is older than the round before this one by DONE of that round, so that
 * no entry is so old that it seems to be a later one. */
static RMA_SLOW_PATH void sweep(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;
	struct rma_client *c = &slot->client;
	uint32_t at = own_of(slot)->at - 2 * k->mask - 1;

	if (FAULT(declock_sweep))
		at += k->mask + 1;
	for (uint32_t i = 0; i <= k->mask; i++, at++) {
		struct rma_word w = entry_of(s, slot, at);
		int64_t entry, found;

		rma_get(c, w, &entry);
		rma_flush(c, w); /* orders the get before the look at its result */
		if (state_in(entry) == NONE || round_of(entry, at) >= 0)
			continue;
		rma_cas(c, w, entry, mark_at(at, DONE), &found);
		rma_flush(c, w); /* orders the swap before the look at its result; (E) */
		if (found == entry && is_overdue(entry, at))
			hand_on(s, slot, grant_to_sharer(s, slot, entry));
	}
}

/* The client has drawn its position from this header. */
RMA_INLINE void take_position(const struct lock_setup *s, struct lock_slot *slot, int mode,
			      uint64_t header)
{
	own_of(slot)->at = head_in(header) + size_in(header);
	own_of(slot)->left = leaving(s, mode, is_last_version(s, header));
	if (__builtin_expect(own_of(slot)->at % SWEEP == SWEEP - 1, 0))
		sweep(s, slot);
}

/* A2, exclusive: no client can have a later position of the same entry; (B). Whether the turn has
 * come already. */
static bool enter_ring(const struct lock_setup *s, struct lock_slot *slot, struct rma_word w,
		       int64_t *before)
{
	struct rma_client *c = &slot->client;
	uint32_t at = own_of(slot)->at;

	rma_fao(c, w, RMA_REPLACE, make_entry(s, slot, at), before);
	/* Orders the entry before the wait, and before the look at what it replaced; pairs with R2
	 * and R3; (D). */
	if (!FAULT(declock_link))
		rma_flush(c, w);
	return *before == mark_at(at, TURN) && !FAULT(declock_mark);
}

/* A2, shared: another client can have a later position of the same entry; then this one may be in;
 * (E). */
static bool enter_ring_shared(const struct lock_setup *s, struct lock_slot *slot, struct rma_word w,
			      int64_t *before)
{
	struct rma_client *c = &slot->client;
	uint32_t at = own_of(slot)->at;
	int64_t found;

	rma_get(c, w, &found);
	rma_flush(c, w); /* orders the get before the look at its result */
	do {
		*before = found;
		if ((round_of(found, at) > 0 || is_entry(found, at, DONE)) && !FAULT(declock_late))
			return true;
		rma_cas(c, w, *before, make_entry(s, slot, at), &found);
		/* Orders the entry before the wait, and before the look at what it met; pairs with
		 * R3. */
		rma_flush(c, w);
	} while (found != *before);
	return false;
}

/* A2: write the entry, and see what it replaces. */
static RMA_SLOW_PATH int wait_behind(const struct lock_setup *s, struct lock_slot *slot,
				     uint64_t header)
{
	struct rma_word w = entry_of(s, slot, own_of(slot)->at);
	int64_t before = 0;
	bool enters;

	own_of(slot)->left = leaving(s, slot->mode, is_last_version(s, without_writers(s, header)));
	slot->from = 0;
	rma_poke(&slot->client, slot->status[s->domain], MCS_WAIT); /* (G) */
	enters = slot->mode == PAWL_SHARED ? enter_ring_shared(s, slot, w, &before)
					   : enter_ring(s, slot, w, &before);
	if (is_overdue(before, own_of(slot)->at) && !FAULT(declock_overdue))
		hand_on(s, slot, grant_to_sharer(s, slot, before));
	return enters ? enter(slot) : await_grant(s, slot);
}

static int acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct declock_slot *own = own_of(slot);
	int64_t found;

	own->header = header_of(s, slot);
	own->more = false;
	/* A1 */
	rma_fao(c, own->header, RMA_SUM, (int64_t)coming(slot->mode), &found);
	rma_flush(c, own->header); /* orders the addition before the look at its result */
	take_position(s, slot, slot->mode, (uint64_t)found);
	return is_free(s, (uint64_t)found, slot->mode) ? enter(slot)
						       : wait_behind(s, slot, (uint64_t)found);
}

/* T: come only if the lock is free. */
static int try_acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct declock_slot *own = own_of(slot);
	int64_t header, found;

	own->header = header_of(s, slot);
	own->more = false;
	rma_get(c, own->header, &found);
	rma_flush(c, own->header); /* orders the get before the look at its result */
	do {
		header = found;
		if (!is_free(s, (uint64_t)header, slot->mode))
			return PAWL_ERR_BUSY;
		rma_cas(c, own->header, header, (int64_t)((uint64_t)header + coming(slot->mode)),
			&found);
		rma_flush(c, own->header); /* orders the swap before the look at its result */
	} while (found != header);
	take_position(s, slot, slot->mode, (uint64_t)header);
	return enter(slot);
}

static int resume(const struct lock_setup *s, struct lock_slot *slot)
{
	int rc = mcs_resume(slot, s->domain, MCS_ABANDONED);

	return rc == PAWL_SUCCESS ? await_grant(s, slot) : rc;
}

static bool passed(const struct lock_setup *s, struct lock_slot *slot)
{
	return mcs_passed(slot, s->domain);
}

static int release(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t next = 0;
	struct declock_slot *own = own_of(slot);
	uint64_t header = count_out(s, slot, own->left, own->more ? &next : NULL);

	if (size_in(header))
		hand_over(s, slot, header, next);
	return PAWL_SUCCESS;
}

/* ----------------------------------------------------------- changes of mode */

/*
 * Changes of mode. A sharer that becomes exclusive sets UPGRADER, a word behind the ring (C1); one
 * that finds it set gets PAWL_ERR_BUSY at once, since the other waits for it. If WRITERS is 0, it
 * leaves as a sharer and comes as an exclusive client, by one compare-and-swap of HEADER (C2), and
 * waits until HEAD is its new position (C3). Else it goes first, as a sharer that is alone: when
 * the entry at HEAD + 1 is that of an exclusive client (C4). A holder that becomes a sharer leaves
 * WRITERS, with a new VERSION, and lets in the sharers behind it; if it was the only one in
 * WRITERS, it gives up its position, too, and comes at the end (C5), as does a client that gives up
 * at C3. A sharer of C4 changes no word.
 *
 *   (J) After C2 the client is in, although it has left as a sharer: exclusive clients have later
 *       positions, because WRITERS was 0, and wait for a HEAD behind its own; sharers that come
 *       find WRITERS. By (B) it is alone when HEAD is its position. It writes no entry there, so no
 *       client grants it the lock, and it looks at HEAD itself. At C4 the first exclusive client q
 *       waits. HEAD is at most q - 1 while this client is in, and is q - 1 only if all others
 *       before q have left; an entry of q at HEAD + 1 says so. Client q stays in WRITERS until this
 *       one has left, also if it abandons its place, so nobody comes in, and (H) holds.
 *   (K) C5 makes a new VERSION without a departure. If it finds another exclusive client, WRITERS
 *       is not 0 before both have left. If not, HEAD grows in the same swap. So whenever WRITERS is
 *       0, HEAD has grown by as much as VERSION, at least, as (H) needs. (I) holds: C2 finds no
 *       WRITERS, and those that come later count this client as one that leaves before them.
 *   (L) One client at a time has UPGRADER, so the WRITERS that it finds at C2 wait.
 */

/* Get a word. */
static int64_t look(struct rma_client *c, struct rma_word w)
{
	int64_t value;

	rma_get(c, w, &value);
	rma_flush(c, w); /* orders the get before the look at its result */
	return value;
}

/* Replace the header. False: *header is another one. */
static bool swap_header(struct lock_slot *slot, uint64_t *header, uint64_t by)
{
	struct rma_word w = own_of(slot)->header;
	uint64_t expected = *header;
	int64_t found;

	rma_cas(&slot->client, w, (int64_t)expected, (int64_t)by, &found);
	rma_flush(&slot->client, w); /* orders the swap before the look at its result */
	*header = (uint64_t)found;
	return *header == expected;
}

/* C2: leave as a sharer, and come as an exclusive client, behind all that are in. False: an
 * exclusive client waits already. */
static bool come_exclusively(const struct lock_setup *s, struct lock_slot *slot)
{
	struct declock_slot *own = own_of(slot);
	uint64_t header = (uint64_t)look(&slot->client, own->header), was;
	const uint64_t change = leaving(s, PAWL_SHARED, false) + coming(PAWL_EXCLUSIVE);

	do {
		if (writers_in(s, header) != 0)
			return false;
		was = header;
	} while (!swap_header(slot, &header, header + change));
	own->more = false;
	take_position(s, slot, PAWL_EXCLUSIVE, was);
	return true;
}

/* C3, or C4: whether this client is the only one that is in. is_first: it is counted in WRITERS;
 * else the exclusive client is next that waits for it. */
static bool is_alone(const struct lock_setup *s, struct lock_slot *slot, bool is_first)
{
	uint32_t head = head_in((uint64_t)look(&slot->client, own_of(slot)->header));

	if (FAULT(declock_upgrade))
		return true;
	if (is_first)
		return head == own_of(slot)->at;
	return is_entry(look(&slot->client, entry_of(s, slot, head + 1)), head + 1, WAITS_X);
}

/* C5: an exclusive client that is counted as such goes on as a sharer, and lets in those that
 * wait. */
static void go_on_sharing(const struct lock_setup *s, struct lock_slot *slot)
{
	struct declock_slot *own = own_of(slot);
	uint64_t header = (uint64_t)look(&slot->client, own->header), was, by;
	uint32_t end;

	do {
		was = header;
		by = was + sharing(s, own->left);
		if (writers_in(s, was) == 1 && !FAULT(declock_stay)) /* (K) */
			by += UINT64_C(1) << HEAD_AT;
	} while (!swap_header(slot, &header, by));
	own->left = leaving(s, PAWL_SHARED, false);
	own->more = false;
	own->seen = by;
	end = head_in(was) + size_in(was);
	if (!FAULT(declock_downgrade))
		let_sharers_in(s, slot, by, own->at + 1, end, false);
}

static int upgrade(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct rma_word upgrader = upgrader_of(s, slot);
	struct rma_pause p = {.deadline_ns = slot->deadline_ns};
	bool is_first, alone;
	int64_t old;

	rma_cas(c, upgrader, 0, 1, &old); /* C1 */
	rma_flush(c, upgrader);           /* orders the swap before the look at its result */
	if (old != 0 && !FAULT(declock_second))
		return PAWL_ERR_BUSY; /* (L) */
	is_first = come_exclusively(s, slot);
	do
		alone = is_alone(s, slot, is_first);
	while (!alone && rma_pause(c, &p, "sharers to leave"));
	if (!alone && is_first)
		go_on_sharing(s, slot);
	rma_put(c, upgrader, 0);
	rma_flush(c, upgrader); /* orders the end of this change before the return; pairs with C1 */
	if (!alone)
		return PAWL_ERR_TIMEOUT;
	slot->mode = PAWL_EXCLUSIVE;
	return enter(slot);
}

/* If it is not counted in WRITERS, an exclusive client waits, and lets in whoever comes. */
static int downgrade(const struct lock_setup *s, struct lock_slot *slot)
{
	slot->mode = PAWL_SHARED;
	if (is_counted(s, own_of(slot)->left))
		go_on_sharing(s, slot);
	return PAWL_SUCCESS;
}

/* --------------------------------------------------------- optimistic reads */

/*
 *   (H) An exclusive client is counted in WRITERS from its first operation to the addition by which
 *       it leaves, and that addition changes VERSION. So if one was in between two looks that both
 *       find WRITERS 0, it came after the first and left before the second, and if n of them did,
 *       VERSION grew by n modulo 2^v. HEAD grew by n at least; so if HEAD grew by less than 2^v and
 *       VERSION is the same, n is 0. The first look precedes all that the client reads afterwards,
 *       because it is flushed; the second one is issued after it, and follows what the client has
 *       flushed, or loaded from memory of the node (L2). An exclusive client that has changed what
 *       the reader saw has been counted in WRITERS before, because it has flushed A1, and its loads
 *       and stores come after that (A4). So the second look finds it, or that it has left; and a
 *       first look that finds the VERSION of its departure finds all that it wrote, as the next
 *       holder does, (G).
 *   (I) VERSION does not carry into SIZE. The client that leaves exclusively knows the VERSION that
 *       it will find: what it found when it came, plus the WRITERS that it found, because these
 *       leave before it, one by one, and no other exclusive client does. If that is 2^v - 1, it
 *       subtracts the carry in the same addition. A client that leaves for one that has abandoned
 *       its place (S) has seen the HEADER that made it that one's turn, and VERSION stays as it was
 *       there until then.
 */

/* L1: the look before a read. PAWL_ERR_BUSY: an exclusive client has or awaits the lock. */
static int read_begin(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;
	struct rma_client *c = &slot->client;
	struct rma_word header = header_of(s, slot);

	for (int i = 0;; i++) {
		rma_get(c, header, &slot->first);
		/* Orders the look before what the client reads; pairs with R1. */
		rma_flush(c, header);
		if (writers_in(s, (uint64_t)slot->first) == 0)
			return PAWL_SUCCESS;
		if (i || !rma_spin_briefly(&slot->client, header, k->writers, RMA_EQ, 0))
			return PAWL_ERR_BUSY;
	}
}

/* L2: the look after it. PAWL_ERR_BUSY: what was read is not valid. */
static int read_validate(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;
	struct rma_client *c = &slot->client;
	struct rma_word header = header_of(s, slot);
	uint64_t seen = (uint64_t)slot->first, now;
	int64_t found;

	/* Orders what the client has loaded from memory of the node before the look; pairs with
	 * A4. */
	atomic_thread_fence(memory_order_acquire);
	rma_get(c, header, &found);
	rma_flush(c, header); /* orders the look before the return */
	now = (uint64_t)found;
	if (writers_in(s, now) != 0 && !FAULT(declock_writer))
		return PAWL_ERR_BUSY;
	if (((now ^ seen) & MOST_SLOTS & ~(uint64_t)k->writers) != 0)
		return PAWL_ERR_BUSY;
	if (head_in(now) - head_in(seen) >= k->versions && !FAULT(declock_rounds))
		return PAWL_ERR_BUSY;
	return PAWL_SUCCESS;
}

/* -------------------------------------------------------------- simulator */

static int64_t *header_at(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m)
{
	const struct constants *k = s->state;

	return lock_memory_home(s, m, s->words, k->bytes, lock);
}

static bool idle(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m, char *err,
		 size_t errlen)
{
	const struct constants *k = s->state;
	const int64_t *words = header_at(s, lock, m);
	uint64_t header = (uint64_t)*words, upgrader = (uint64_t)words[k->bytes / WORD_BYTES - 1];

	snprintf(err, errlen, "the header is 0x%llx, UPGRADER %llu", (unsigned long long)header,
		 (unsigned long long)upgrader);
	return size_in(header) == 0 && writers_in(s, header) == 0 && upgrader == 0;
}

static void age(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m)
{
	const struct constants *k = s->state;

	*header_at(s, lock, m) =
	    (int64_t)((UINT64_MAX - 1) << HEAD_AT | (MOST_SLOTS & ~(uint64_t)k->writers));
}

const struct lock_protocol lock_declock = {
    .kind =
	{
	    .name = "declock",
	    .summary = "a queue at the home, with shared mode: a hand-over from client to client",
	    .reference = "arXiv 2505.17641 (DecLock)",
	    .capabilities = PAWL_CAP_SHARED | PAWL_CAP_TRY | PAWL_CAP_TIMED | PAWL_CAP_FAIR |
			    PAWL_CAP_OPTIMISTIC | PAWL_CAP_UPGRADE,
	},
    .state_bytes = sizeof(struct constants),
    .most_slots = MOST_SLOTS,
    .layout = layout,
    .describe = describe,
    .acquire = acquire,
    .try_acquire = try_acquire,
    .release = release,
    .timed = &(const struct lock_timed_calls){.resume = resume, .passed = passed},
    .change = &(const struct lock_change_calls){.upgrade = upgrade, .downgrade = downgrade},
    .read = &(const struct lock_read_calls){.begin = read_begin, .validate = read_validate},
    .check = &(const struct lock_check_calls){.overtakes = lock_others, .idle = idle, .age = age},
    .first_at_home = true,
};
