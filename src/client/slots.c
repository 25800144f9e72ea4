/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slots belong to the process, not to a lock: their number limits how many locks the process holds
 * or awaits at a time.
 */
#include "client/client.h"

#include <sched.h>

/* The owner of the calling thread's slots: an address that is unique to the thread, or one value
 * for all threads of the process. */
static uintptr_t self(const struct client_set *set)
{
	static _Thread_local char mine __attribute__((tls_model("initial-exec")));

	return set->threaded && !set->by_process ? (uintptr_t)&mine : SLOTS_ONLY_OWNER;
}

static bool take(struct client_set *set, struct slot_claim *claim, uintptr_t me)
{
	uintptr_t nobody = 0;

	if (set->threaded)
		return atomic_compare_exchange_strong_explicit(
		    &claim->owner, &nobody, me, memory_order_acquire, memory_order_relaxed);
	atomic_store_explicit(&claim->owner, me, memory_order_relaxed);
	return true;
}

void slots_prepare(struct client_set *set, int index)
{
	const struct lock_setup *s = set->setup;
	struct lock_slot *slot = &set->slots[index];
	uint64_t words;

	if (slot->id != 0)
		return;
	words = s->protocol->scratch_words ? s->protocol->scratch_words(s) : 0;
	lock_slot_init(s, slot, set->rma, index, set->scratch + (uint64_t)index * words);
}

static struct lock_slot *claimed(struct client_set *set, int index, uint64_t lock)
{
	struct lock_slot *slot = &set->slots[index];

	slots_prepare(set, index);
	slot->client.no_mpi = false;
	slots_count_use(&set->claims[index]);
	slots_set_lock(&set->claims[index], lock);
	slot->lock = slot->client.lock = lock;
	return slot;
}

/* Claim a slot in this state, to ask the protocol whether it may be used again. */
static bool take_from(struct slot_claim *claim, uintptr_t state, uintptr_t me)
{
	return atomic_compare_exchange_strong_explicit(&claim->owner, &state, me,
						       memory_order_acquire, memory_order_relaxed);
}

/* Whether the protocol lets the slot be used again. If not, the slot gets its state back, or is
 * lost if a rank that is needed has died. */
static bool is_let_go(struct client_set *set, struct lock_slot *slot,
		      int (*ask)(const struct lock_setup *, struct lock_slot *),
		      void (*keep)(struct client_set *, struct lock_slot *))
{
	int rc = client_perform(set, slot, ask);

	if (client_has_lost(rc))
		slots_lose(set, slot);
	else if (rc != PAWL_SUCCESS)
		keep(set, slot);
	return rc == PAWL_SUCCESS;
}

static int ask_abandon(const struct lock_setup *s, struct lock_slot *slot)
{
	return s->protocol->recover->abandon(s, slot) ? PAWL_SUCCESS : PAWL_ERR_BUSY;
}

static int ask_settled(const struct lock_setup *s, struct lock_slot *slot)
{
	return s->protocol->settled(s, slot) ? PAWL_SUCCESS : PAWL_ERR_BUSY;
}

static int ask_passed(const struct lock_setup *s, struct lock_slot *slot)
{
	return s->protocol->timed->passed(s, slot) ? PAWL_SUCCESS : PAWL_ERR_BUSY;
}

/* A slot whose lock was abandoned, if the protocol lets it be used again. */
static int take_abandoned(struct client_set *set, uintptr_t me)
{
	int top = slots_used(set);

	for (int i = 0; i < top && set->setup->protocol->recover; i++)
		if (take_from(&set->claims[i], SLOTS_ABANDONED, me) &&
		    is_let_go(set, &set->slots[i], ask_abandon, slots_abandon))
			return i;
	return -1;
}

/* A slot that was never used. Threads race for it. */
static int take_new(struct client_set *set, uintptr_t me)
{
	for (;;) {
		int top = slots_used(set);

		if (top >= set->setup->max_held)
			return -1;
		if (atomic_compare_exchange_strong(&set->top, &top, top + 1) &&
		    take(set, &set->claims[top], me))
			return top;
	}
}

static bool take_settled(struct client_set *set, int index, uintptr_t me)
{
	return take_from(&set->claims[index], SLOTS_LEFT, me) &&
	       is_let_go(set, &set->slots[index], ask_settled, slots_leave);
}

static bool take_passed(struct client_set *set, int index, uintptr_t me, bool drive)
{
	struct lock_slot *slot = &set->slots[index];

	if (!take_from(&set->claims[index], SLOTS_QUEUED, me))
		return false;
	if (drive)
		set->rma->transport->progress(&slot->client);
	return is_let_go(set, slot, ask_passed, slots_queue);
}

/* A slot that was used before and is free now. */
static int take_free(struct client_set *set, uintptr_t me)
{
	int top = slots_used(set);

	for (int i = 0; i < top; i++) {
		uintptr_t owner = atomic_load_explicit(&set->claims[i].owner, memory_order_relaxed);

		if ((owner == 0 && take(set, &set->claims[i], me)) ||
		    (owner == SLOTS_ENDED && take_from(&set->claims[i], SLOTS_ENDED, me)) ||
		    (owner == SLOTS_LEFT && take_settled(set, i, me)) ||
		    (owner == SLOTS_QUEUED && take_passed(set, i, me, false)))
			return i;
	}
	return -1;
}

static int await_settled(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_pause p = {.rounds = 0};

	while (!s->protocol->settled(s, slot) && !slot->client.failed)
		rma_pause(&slot->client, &p, "its last release to be answered");
	return PAWL_SUCCESS;
}

int slots_settle(struct client_set *set, struct lock_slot *slot)
{
	return client_perform(set, slot, await_settled);
}

/* The next slot from this index on whose last release was posted: wait until it is answered. */
static int settle_next(struct client_set *set, int from, uintptr_t me)
{
	int top = slots_used(set);

	for (int i = from; i < top; i++) {
		struct lock_slot *slot = &set->slots[i];

		if (!take_from(&set->claims[i], SLOTS_LEFT, me))
			continue;
		if (slots_settle(set, slot) == PAWL_SUCCESS)
			return i;
		slots_lose(set, slot);
	}
	return -1;
}

static int take_when_settled(struct client_set *set, uintptr_t me)
{
	return settle_next(set, 0, me);
}

void slots_settle_left(struct client_set *set)
{
	uintptr_t me = self(set);

	for (int i = 0; (i = settle_next(set, i, me)) >= 0; i++)
		slots_give_back(set, &set->slots[i]);
}

/* A queued slot that may have been passed over by now. This does not wait, because the client that
 * would pass it over may wait for a lock of this one. */
static int take_when_passed(struct client_set *set, uintptr_t me)
{
	int top = slots_used(set);

	for (int i = 0; i < top && lock_keeps_places(set->setup->protocol); i++)
		if (take_passed(set, i, me, true))
			return i;
	return -1;
}

static int take_once(struct client_set *set, uintptr_t me)
{
	int index = take_free(set, me);

	if (index < 0)
		index = take_new(set, me);
	if (index < 0)
		index = take_when_settled(set, me);
	if (index < 0)
		index = take_abandoned(set, me);
	if (index < 0)
		index = take_when_passed(set, me);
	return index;
}

/* The number of claims so far. *changing: another thread is about to claim a slot, or to give one
 * up. */
static uint64_t count_claims(const struct client_set *set, bool *changing)
{
	int top = slots_used(set);
	uint64_t n = 0;

	for (int i = 0; i < top; i++) {
		const struct slot_claim *claim = &set->claims[i];

		/* The slot's claim or its return is seen, and so is the use that was counted
		 * before; pairs with slots_set_lock() and slots_give_back(). */
		if (slots_is_claimed(set, i) &&
		    atomic_load_explicit(&claim->lock, memory_order_acquire) == SLOTS_NO_LOCK)
			*changing = true;
		n += slots_uses(claim);
	}
	return n;
}

/* A search that other threads disturb may pass over a slot that becomes free behind it. It proves
 * that all slots were in use at one time only if none was claimed meanwhile: each slot was then
 * claimed before the search began, and still when the search came to it. */
static int take_disturbed(struct client_set *set, uintptr_t me)
{
	for (;;) {
		bool changing = false;
		uint64_t before = count_claims(set, &changing);
		int index = take_free(set, me);

		if (index >= 0)
			return index;
		if (count_claims(set, &changing) == before && !changing)
			return -1;
		sched_yield(); /* the other thread needs some instructions, or an answer */
	}
}

static int take_any(struct client_set *set, uintptr_t me, int *code)
{
	int index = take_once(set, me);

	if (index < 0 && set->threaded)
		index = take_disturbed(set, me);
	if (index < 0)
		*code = CLIENT_NO_SLOT;
	return index;
}

/* A slot in the queue of this lock, if the protocol can resume from there. */
static int take_place(struct client_set *set, uint64_t lock, int mode, uintptr_t me)
{
	int top = slots_used(set);

	for (int i = 0; i < top; i++) {
		struct slot_claim *claim = &set->claims[i];

		if (atomic_load_explicit(&claim->place, memory_order_relaxed) != lock ||
		    !take_from(claim, SLOTS_QUEUED, me))
			continue;
		if (set->slots[i].lock == lock && set->slots[i].mode == mode)
			return i;
		slots_queue(set, &set->slots[i]);
	}
	return -1;
}

/* Whether the thread holds, awaits or has requested the lock. */
static bool has_claim(const struct client_set *set, uint64_t lock, uintptr_t me)
{
	int top = slots_used(set);

	for (int i = 0; i < top; i++) {
		const struct slot_claim *claim = &set->claims[i];

		/* As in slots_is_of(). */
		if (atomic_load_explicit(&claim->owner, memory_order_acquire) == me &&
		    (atomic_load_explicit(&claim->lock, memory_order_relaxed) & ~SLOTS_REQUESTED) ==
			lock)
			return true;
	}
	return false;
}

struct lock_slot *slots_claim(struct client_set *set, uint64_t lock, int mode, int *code)
{
	uintptr_t me = self(set);
	int index = -1;

	if (has_claim(set, lock, me)) {
		*code = PAWL_ERR_HELD;
		return NULL;
	}
	if (mode && lock_keeps_places(set->setup->protocol))
		index = take_place(set, lock, mode, me);
	if (index >= 0)
		*code = LOCK_QUEUED;
	else
		index = take_any(set, me, code);
	return index < 0 ? NULL : claimed(set, index, lock);
}

struct lock_slot *slots_claim_range(struct client_set *set, uint64_t space, int *code)
{
	int index = take_any(set, self(set), code);
	struct lock_slot *slot;

	if (index < 0)
		return NULL;
	slot = claimed(set, index, SLOTS_RANGE);
	slot->lock = slot->client.lock = space;
	return slot;
}

struct lock_slot *slots_find_range(struct client_set *set, uint64_t index, uint64_t claim)
{
	if (index >= (uint64_t)slots_used(set) ||
	    !slots_is_of(&set->claims[index], self(set), SLOTS_RANGE) ||
	    slots_uses(&set->claims[index]) != claim)
		return NULL;
	return &set->slots[index];
}

struct lock_slot *slots_find_request(struct client_set *set, uint64_t index, uint64_t claim)
{
	const struct slot_claim *at;

	if (index >= (uint64_t)slots_used(set))
		return NULL;
	at = &set->claims[index];
	if ((!slots_is_of(at, self(set), set->slots[index].lock | SLOTS_REQUESTED) &&
	     !slots_is_of(at, self(set), SLOTS_RANGE_REQUESTED)) ||
	    slots_uses(at) != claim)
		return NULL;
	return &set->slots[index];
}

const struct lock_slot *slots_next_range(const struct client_set *set, const struct lock_slot *slot,
					 int *i)
{
	int top = slots_used(set);

	for (; *i < top; ++*i)
		if (*i != slot->index && slots_is_of(&set->claims[*i], self(set), SLOTS_RANGE) &&
		    set->slots[*i].lock == slot->lock)
			return &set->slots[(*i)++];
	return NULL;
}

struct lock_slot *slots_find_any(struct client_set *set, uint64_t lock)
{
	uintptr_t me = self(set);
	int top = slots_used(set);

	for (int i = 0; i < top; i++)
		if (slots_is_of(&set->claims[i], me, lock))
			return &set->slots[i];
	return NULL;
}

bool slots_has_other(const struct client_set *set, uint64_t lock)
{
	uintptr_t me = self(set);
	int top = slots_used(set);

	for (int i = 0; i < top; i++)
		if (slots_is_claimed(set, i) && !slots_is_of(&set->claims[i], me, lock) &&
		    atomic_load_explicit(&set->claims[i].lock, memory_order_relaxed) == lock)
			return true;
	return false;
}

/* From here on no search finds the slot. */
static void put_away(struct client_set *set, struct lock_slot *slot, uintptr_t state)
{
	struct slot_claim *claim = &set->claims[slot->index];

	slots_set_lock(claim, SLOTS_NO_LOCK);
	/* Orders this client's use of the slot before the next client's; pairs with the acquire in
	 * take_from(). */
	atomic_store_explicit(&claim->owner, state, memory_order_release);
}

void slots_lose(struct client_set *set, struct lock_slot *slot)
{
	put_away(set, slot, FAULT(client_lost) ? 0 : SLOTS_LOST);
}

void slots_leave(struct client_set *set, struct lock_slot *slot)
{
	put_away(set, slot, FAULT(client_left) ? 0 : SLOTS_LEFT);
}

void slots_queue(struct client_set *set, struct lock_slot *slot)
{
	atomic_store_explicit(&set->claims[slot->index].place, slot->lock, memory_order_relaxed);
	put_away(set, slot, FAULT(client_queued) ? 0 : SLOTS_QUEUED);
}

void slots_abandon(struct client_set *set, struct lock_slot *slot)
{
	put_away(set, slot, FAULT(client_abandoned) ? 0 : SLOTS_ABANDONED);
}

/* The thread of an ENDING slot is none that may call while others do, so the next claim has to be
 * ordered behind it even if calls come from one thread at a time: take_from(). */
void slots_end(struct client_set *set, struct lock_slot *slot)
{
	uintptr_t owner =
	    atomic_load_explicit(&set->claims[slot->index].owner, memory_order_relaxed);

	if (owner == SLOTS_ENDING)
		put_away(set, slot, SLOTS_ENDED);
	else
		slots_give_back(set, slot);
}

void slots_end_request(struct client_set *set, struct lock_slot *slot)
{
	if (!FAULT(client_ending))
		atomic_store(&set->claims[slot->index].owner, SLOTS_ENDING);
}

void slots_return_request(struct client_set *set, struct lock_slot *slot)
{
	atomic_store(&set->claims[slot->index].owner, self(set));
}

bool slots_claim_left(struct client_set *set, int index)
{
	return take_from(&set->claims[index], SLOTS_LEFT, SLOTS_ONLY_OWNER);
}

bool slots_is_claimed(const struct client_set *set, int index)
{
	uintptr_t owner = atomic_load(&set->claims[index].owner);

	return owner != 0 && owner != SLOTS_ABANDONED && owner != SLOTS_LOST &&
	       owner != SLOTS_LEFT && owner != SLOTS_QUEUED && owner != SLOTS_ENDED;
}
