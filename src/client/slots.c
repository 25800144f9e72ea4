/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slots: the queue nodes of this process, claimed by a thread for one lock from
 * acquire to release. They belong to the process and not to the lock, so their
 * number limits how many locks it holds or awaits at a time, and nothing else.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/error.h"
#include "core/table.h"

/* Who the calling thread is: the address of something of its own, or what all
 * threads are together. */
static uintptr_t self(const pawl_table *t)
{
	static _Thread_local char mine __attribute__((tls_model("initial-exec")));

	return t->threaded && !t->by_process ? (uintptr_t)&mine : SLOTS_ONLY_OWNER;
}

static bool take(pawl_table *t, struct slot_claim *claim, uintptr_t me)
{
	uintptr_t nobody = 0;

	if (t->threaded)
		return atomic_compare_exchange_strong_explicit(
		    &claim->owner, &nobody, me, memory_order_acquire, memory_order_relaxed);
	atomic_store_explicit(&claim->owner, me, memory_order_relaxed);
	return true;
}

/* Before the first use, for there may be thousands that are never used: memory that is not
 * touched is not taken. The slot's own id says whether that was done. */
static void prepare(pawl_table *t, int index)
{
	const struct lock_space *s = &t->space;
	uint64_t words = s->protocol->scratch_words ? s->protocol->scratch_words(s) : 0;

	if (t->slots[index].id == 0)
		lock_slot_init(s, &t->slots[index], &t->rma, index,
			       t->scratch + (uint64_t)index * words);
}

static struct lock_slot *claimed(pawl_table *t, int index, uint64_t lock)
{
	struct lock_slot *slot = &t->slots[index];

	prepare(t, index);
	slots_set_lock(&t->claims[index], lock);
	slot->lock = slot->client.lock = lock;
	return slot;
}

/* Of a slot that is not free, but in this state: this thread's, to look whether it may be. */
static bool take_from(struct slot_claim *claim, uintptr_t state, uintptr_t me)
{
	return atomic_compare_exchange_strong_explicit(&claim->owner, &state, me,
						       memory_order_acquire, memory_order_relaxed);
}

/* A slot whose lock was abandoned, if the protocol lets one go. The claim is this
 * thread's while it asks. */
static int take_abandoned(pawl_table *t, uintptr_t me)
{
	const struct lock_protocol *p = t->space.protocol;
	int top = atomic_load_explicit(&t->top, memory_order_relaxed);

	for (int i = 0; i < top && p->abandon; i++) {
		if (!take_from(&t->claims[i], SLOTS_ABANDONED, me))
			continue;
		if (p->abandon(&t->space, &t->slots[i]))
			return i;
		slots_abandon(t, &t->slots[i]);
	}
	return -1;
}

/* A slot that was never used: threads race for it. */
static int take_new(pawl_table *t, uintptr_t me)
{
	for (;;) {
		int top = atomic_load_explicit(&t->top, memory_order_relaxed);

		if (top >= t->space.max_held)
			return -1;
		if (atomic_compare_exchange_strong(&t->top, &top, top + 1) &&
		    take(t, &t->claims[top], me))
			return top;
	}
}

static bool take_settled(pawl_table *t, int index, uintptr_t me)
{
	struct lock_slot *slot = &t->slots[index];
	bool settled;

	if (!take_from(&t->claims[index], SLOTS_LEFT, me))
		return false;
	settled = t->space.protocol->settled(&t->space, slot);
	if (slot->client.failed)
		slots_lose(t, slot);
	else if (!settled)
		slots_leave(t, slot);
	else
		return true;
	return false;
}

static bool take_passed(pawl_table *t, int index, uintptr_t me, bool drive)
{
	struct lock_slot *slot = &t->slots[index];

	if (!take_from(&t->claims[index], SLOTS_QUEUED, me))
		return false;
	if (drive)
		t->rma.transport->progress(&slot->client);
	if (t->space.protocol->passed(&t->space, slot))
		return true;
	slots_queue(t, slot);
	return false;
}

/* A slot that is free now and used before. */
static int take_free(pawl_table *t, uintptr_t me)
{
	int top = atomic_load_explicit(&t->top, memory_order_relaxed);

	for (int i = 0; i < top; i++) {
		uintptr_t owner = atomic_load_explicit(&t->claims[i].owner, memory_order_relaxed);

		if ((owner == 0 && take(t, &t->claims[i], me)) ||
		    (owner == SLOTS_LEFT && take_settled(t, i, me)) ||
		    (owner == SLOTS_QUEUED && take_passed(t, i, me, false)))
			return i;
	}
	return -1;
}

static int await_settled(const struct lock_space *s, struct lock_slot *slot)
{
	struct rma_pause p = {.rounds = 0};

	while (!s->protocol->settled(s, slot) && !slot->client.failed)
		rma_pause(&slot->client, &p, "its last release to be answered");
	return PAWL_SUCCESS;
}

/* A slot that will be free soon. */
static int take_when_settled(pawl_table *t, uintptr_t me)
{
	int top = atomic_load_explicit(&t->top, memory_order_relaxed);

	for (int i = 0; i < top; i++) {
		struct lock_slot *slot = &t->slots[i];

		if (!take_from(&t->claims[i], SLOTS_LEFT, me))
			continue;
		if (guard_perform(t, slot, await_settled) == PAWL_SUCCESS)
			return i;
		slots_lose(t, slot);
	}
	return -1;
}

/* A slot that may have been passed over by now. This does not wait: whoever would pass over it may
 * wait for a lock of ours. */
static int take_when_passed(pawl_table *t, uintptr_t me)
{
	int top = atomic_load_explicit(&t->top, memory_order_relaxed);

	for (int i = 0; i < top && t->space.protocol->passed; i++)
		if (take_passed(t, i, me, true))
			return i;
	return -1;
}

static int take_any(pawl_table *t, uintptr_t me, int *code)
{
	int index = take_free(t, me);

	if (index < 0)
		index = take_new(t, me);
	if (index < 0)
		index = take_when_settled(t, me);
	if (index < 0)
		index = take_abandoned(t, me);
	if (index < 0)
		index = take_when_passed(t, me);
	if (index < 0)
		*code = error_set(
		    PAWL_ERR_TOO_MANY,
		    "this process holds, awaits, has abandoned or is still in the queue of %d %s of"
		    " the table, as many as option max_held allows (1 to 65535)",
		    t->space.max_held,
		    t->space.protocol->kind.capabilities & PAWL_CAP_RANGES ? "ranges" : "locks");
	return index;
}

/* A slot that is in the queue of this lock, if the protocol goes on from there. */
static int take_place(pawl_table *t, uint64_t lock, int mode, uintptr_t me)
{
	int top = atomic_load_explicit(&t->top, memory_order_relaxed);

	for (int i = 0; i < top; i++) {
		struct slot_claim *claim = &t->claims[i];

		if (atomic_load_explicit(&claim->place, memory_order_relaxed) != lock ||
		    !take_from(claim, SLOTS_QUEUED, me))
			continue;
		if (t->slots[i].lock == lock && t->slots[i].mode == mode)
			return i;
		slots_queue(t, &t->slots[i]);
	}
	return -1;
}

struct lock_slot *slots_claim_any(pawl_table *t, uint64_t lock, int mode, int *code)
{
	uintptr_t me = self(t);
	int index = -1;

	if (slots_find_any(t, lock)) {
		*code = error_set(PAWL_ERR_HELD, "lock %llu is held by this thread already",
				  (unsigned long long)lock);
		return NULL;
	}
	if (t->space.protocol->resume && mode)
		index = take_place(t, lock, mode, me);
	if (index >= 0)
		*code = LOCK_QUEUED;
	else
		index = take_any(t, me, code);
	return index < 0 ? NULL : claimed(t, index, lock);
}

struct lock_slot *slots_claim_range(pawl_table *t, uint64_t id, pawl_range *range, int *code)
{
	int index = take_any(t, self(t), code);
	struct lock_slot *slot;

	if (index < 0)
		return NULL;
	slot = claimed(t, index, SLOTS_RANGE);
	slot->lock = slot->client.lock = id;
	*range = (pawl_range){{(uint64_t)index, ++t->claims[index].uses}};
	return slot;
}

struct lock_slot *slots_find_range(pawl_table *t, const pawl_range *range)
{
	uint64_t index = range->opaque[0];

	if (index >= (uint64_t)atomic_load_explicit(&t->top, memory_order_relaxed) ||
	    !slots_is_of(&t->claims[index], self(t), SLOTS_RANGE) ||
	    t->claims[index].uses != range->opaque[1])
		return NULL;
	return &t->slots[index];
}

const struct lock_slot *slots_next_range(const pawl_table *t, const struct lock_slot *slot, int *i)
{
	int top = atomic_load_explicit(&t->top, memory_order_relaxed);

	for (; *i < top; ++*i)
		if (*i != slot->index && slots_is_of(&t->claims[*i], self(t), SLOTS_RANGE) &&
		    t->slots[*i].lock == slot->lock)
			return &t->slots[(*i)++];
	return NULL;
}

struct lock_slot *slots_find_any(pawl_table *t, uint64_t lock)
{
	uintptr_t me = self(t);
	int top = atomic_load_explicit(&t->top, memory_order_relaxed);

	for (int i = 0; i < top; i++)
		if (slots_is_of(&t->claims[i], me, lock))
			return &t->slots[i];
	return NULL;
}

/* No search finds it from here on. */
static void put_away(pawl_table *t, struct lock_slot *slot, uintptr_t state)
{
	struct slot_claim *claim = &t->claims[slot->index];

	slots_set_lock(claim, SLOTS_NO_LOCK);
	/* Orders this client's use of the slot before that of who asks for it next;
	 * pairs with the acquire in take_from(). */
	atomic_store_explicit(&claim->owner, state, memory_order_release);
}

void slots_lose(pawl_table *t, struct lock_slot *slot)
{
	put_away(t, slot, SLOTS_LOST);
}

void slots_leave(pawl_table *t, struct lock_slot *slot)
{
	put_away(t, slot, SLOTS_LEFT);
}

void slots_queue(pawl_table *t, struct lock_slot *slot)
{
	atomic_store_explicit(&t->claims[slot->index].place, slot->lock, memory_order_relaxed);
	put_away(t, slot, SLOTS_QUEUED);
}

void slots_abandon(pawl_table *t, struct lock_slot *slot)
{
	put_away(t, slot, SLOTS_ABANDONED);
}

static int complete(const struct lock_space *s, struct lock_slot *slot)
{
	(void)s;
	/* Orders what was posted before the end of the table at its target; pairs with
	 * the barriers there. */
	rma_flush_all(&slot->client, true);
	return PAWL_SUCCESS;
}

void slots_settle(pawl_table *t)
{
	for (int i = 0; t->claims && i < atomic_load(&t->top); i++)
		if (take_from(&t->claims[i], SLOTS_LEFT, SLOTS_ONLY_OWNER)) {
			guard_perform(t, &t->slots[i], complete);
			slots_lose(t, &t->slots[i]);
		}
}

static bool is_in_use(const pawl_table *t, int i)
{
	uintptr_t owner = atomic_load(&t->claims[i].owner);

	return owner != 0 && owner != SLOTS_ABANDONED && owner != SLOTS_LOST &&
	       owner != SLOTS_LEFT && owner != SLOTS_QUEUED;
}

int slots_in_use(const pawl_table *t)
{
	int n = 0;

	for (int i = 0; i < atomic_load(&t->top); i++)
		n += is_in_use(t, i);
	return n;
}

/* "lock 17 exclusively"; of another thread's that has just begun it may be old. */
static size_t tell_one(const struct lock_slot *slot, bool range, char *text, size_t len)
{
	const char *mode = slot->mode == PAWL_SHARED      ? "shared"
			   : slot->mode & PAWL_INTENT     ? "with intent"
			   : slot->mode == PAWL_EXCLUSIVE ? "exclusively"
							  : "";
	unsigned long long lock = slot->lock;

	if (range)
		return (size_t)snprintf(text, len, "units %lld to %lld of space %llu %s",
					(long long)slot->first, (long long)slot->last, lock, mode);
	return (size_t)snprintf(text, len, "lock %llu %s", lock, mode);
}

void slots_tell(const pawl_table *t, char *text, size_t len)
{
	enum { FEW = 4 };
	int told = 0, n = slots_in_use(t);
	size_t used = 0;

	text[0] = '\0';
	for (int i = 0; i < atomic_load(&t->top) && told < FEW && used < len; i++) {
		if (!is_in_use(t, i))
			continue;
		if (told++ > 0)
			used += (size_t)snprintf(text + used, len - used, ", ");
		if (used < len)
			used += tell_one(&t->slots[i], t->ranges, text + used, len - used);
	}
	if (n > told && used < len)
		snprintf(text + used, len - used, " and %d more", n - told);
}

bool slots_create(pawl_table *t)
{
	const struct lock_space *s = &t->space;
	size_t n = (size_t)s->max_held;
	uint64_t words = s->protocol->scratch_words ? s->protocol->scratch_words(s) : 0;

	t->claims = calloc(n, sizeof *t->claims);
	t->slots = calloc(n, sizeof *t->slots);
	t->scratch = calloc(n * (words ? words : 1), sizeof *t->scratch);
	if (!t->claims || !t->slots || !t->scratch)
		return false;
	for (size_t i = 0; i < n; i++)
		slots_set_lock(&t->claims[i], SLOTS_NO_LOCK);
	prepare(t, 0); /* measures how long an operation takes (lease.c) */
	return true;
}

void slots_free(pawl_table *t)
{
	free(t->claims);
	free(t->slots);
	free(t->scratch);
}
