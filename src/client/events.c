/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conditions of locks: pawl_lock_wait() and pawl_lock_notify().
 *
 * A condition has a queue of clients that wait: two words at its home, head and tail, by slot id;
 * 0: none. A slot has two words in its own segment: NEXT, and WOKEN, on which its client waits.
 *
 * The queue is changed only by clients that hold its lock exclusively, and each of them completes
 * its changes before it releases the lock (flushes below). So the queue is sequential code, and
 * needs no order beyond that of the lock.
 *
 *   (A) A client joins the queue before it releases the lock, so a notification by a later holder
 *       finds it: none is lost between the release and the wait.
 *   (B) WOKEN is 0 when a client joins, and is set once, by the client that takes it out of the
 *       queue. It stays until the client joins again, which needs the lock. So at each moment at
 *       which the lock is held, a client that waits is in the queue, or WOKEN is 1, and not both.
 *   (C) A client whose deadline has passed acquires the lock, and decides by (B) whether it was
 *       notified: if not, it takes itself out of the queue.
 *
 * Clients are woken in the order in which they joined. A table with a lease has no events: a holder
 * that is taken for dead may be in the middle of a change.
 *
 * Cost: joining takes 2 round trips to the home and the last waiter, waking one as many; both
 * within the hold.
 */
#include "client/events.h"

enum { TAIL = 8, NEXT = 0, WOKEN = 8 };

struct rma_word event_word(const struct lock_setup *s, struct lock_slot *slot,
			   enum event_word which)
{
	return lock_home_word(s, &slot->client, s->domain, s->events + which, EVENT_BYTES,
			      event_of(slot)->number);
}

static struct rma_word node_word(const struct lock_setup *s, struct lock_slot *slot, int64_t id,
				 uint64_t which)
{
	return rma_word(slot->client.rma, s->domain, slot_rank(id),
			s->event_nodes + ((uint64_t)(id - 1) & 0xffff) * EVENT_BYTES + which);
}

int64_t event_get(struct lock_slot *slot, struct rma_word w)
{
	int64_t value;

	rma_get(&slot->client, w, &value);
	rma_flush(&slot->client, w); /* orders the get before the look at value */
	return value;
}

void event_put(struct lock_slot *slot, struct rma_word w, int64_t value)
{
	rma_put(&slot->client, w, value);
	/* Orders the change before the release of the lock; pairs with the gets of later holders,
	 * and with event_sleep(). */
	rma_flush(&slot->client, w);
}

/* -------------------------------------------------------------------- queues */

static struct rma_word head_of(const struct lock_setup *s, struct lock_slot *slot)
{
	return event_word(s, slot, event_of(slot)->queue);
}

static struct rma_word tail_of(const struct lock_setup *s, struct lock_slot *slot)
{
	return event_word(s, slot, event_of(slot)->queue + TAIL);
}

int event_join(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t last = event_get(slot, tail_of(s, slot));

	event_put(slot, node_word(s, slot, slot->id, NEXT), 0);
	event_put(slot, node_word(s, slot, slot->id, WOKEN), 0);
	event_put(slot, last ? node_word(s, slot, last, NEXT) : head_of(s, slot), slot->id);
	event_put(slot, tail_of(s, slot), slot->id);
	return PAWL_SUCCESS;
}

bool event_is_woken(const struct lock_setup *s, struct lock_slot *slot)
{
	return event_get(slot, node_word(s, slot, slot->id, WOKEN));
}

int event_quit(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t before = 0, at, next;

	if (event_is_woken(s, slot))
		return PAWL_SUCCESS; /* (B) */
	at = event_get(slot, head_of(s, slot));
	while (at && at != slot->id) {
		before = at;
		at = event_get(slot, node_word(s, slot, at, NEXT));
	}
	next = event_get(slot, node_word(s, slot, slot->id, NEXT));
	event_put(slot, before ? node_word(s, slot, before, NEXT) : head_of(s, slot), next);
	if (!next)
		event_put(slot, tail_of(s, slot), before);
	return PAWL_ERR_TIMEOUT;
}

int event_wake(const struct lock_setup *s, struct lock_slot *slot)
{
	struct event *e = event_of(slot);
	int64_t at = event_get(slot, head_of(s, slot));

	for (e->done = 0; at && e->done < e->value; e->done++) {
		int64_t next = event_get(slot, node_word(s, slot, at, NEXT));

		event_put(slot, node_word(s, slot, at, WOKEN), 1);
		at = next;
	}
	if (e->done > 0 && !FAULT(event_head))
		event_put(slot, head_of(s, slot), at);
	if (e->done > 0 && !at)
		event_put(slot, tail_of(s, slot), 0);
	return PAWL_SUCCESS;
}

int event_sleep(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t seen;

	return rma_await_until(&slot->client, node_word(s, slot, slot->id, WOKEN), ~INT64_C(0),
			       RMA_NE, 0, RMA_LATER, slot->deadline_ns, "a notification", &seen)
		   ? PAWL_SUCCESS
		   : PAWL_ERR_TIMEOUT;
}

int event_perform(struct client_set *set, struct lock_slot *slot, struct event *e,
		  int (*how)(const struct lock_setup *, struct lock_slot *))
{
	slot->first = (int64_t)(uintptr_t)e;
	return client_perform(set, slot, how);
}

int event_lock(struct client_set *set, struct lock_slot *slot)
{
	slot->mode = PAWL_EXCLUSIVE;
	slot->deadline_ns = 0;
	return client_perform(set, slot, set->setup->protocol->acquire);
}

int event_unlock(struct client_set *set, struct lock_slot *slot)
{
	int rc = client_leave(set, slot);

	return rc == LOCK_LEFT ? slots_settle(set, slot) : rc;
}

/* ---------------------------------------------------------------- conditions */

int event_enter(struct client_set *set, struct lock_slot *slot, uint64_t number)
{
	struct event e = {.number = number, .queue = EVENT_QUEUE};

	if (FAULT(event_late))
		return PAWL_SUCCESS;
	return client_end_if_lost(set, slot, event_perform(set, slot, &e, event_join));
}

int event_leave(struct client_set *set, struct lock_slot *slot)
{
	int rc = event_unlock(set, slot);
	struct event e = {.number = slot->lock, .queue = EVENT_QUEUE};

	if (FAULT(event_late))
		event_perform(set, slot, &e, event_join);
	if (rc == PAWL_SUCCESS)
		slots_set_lock(&set->claims[slot->index], slot->lock | SLOTS_REQUESTED);
	else
		rc = client_end(set, slot, rc);
	return rc;
}

struct lock_slot *event_find(struct client_set *set, uint64_t lock)
{
	return slots_find(set, lock | SLOTS_REQUESTED);
}

int event_await(struct client_set *set, struct lock_slot *slot, uint64_t deadline_ns)
{
	slot->deadline_ns = deadline_ns;
	return client_perform(set, slot, event_sleep);
}

int event_return(struct client_set *set, struct lock_slot *slot)
{
	int rc = event_lock(set, slot);

	if (rc != PAWL_SUCCESS)
		return client_end(set, slot, rc);
	slots_set_lock(&set->claims[slot->index], slot->lock);
	return rc;
}

int event_end(struct client_set *set, struct lock_slot *slot, uint64_t number)
{
	struct event e = {.number = number, .queue = EVENT_QUEUE};

	return client_end_if_lost(set, slot, event_perform(set, slot, &e, event_quit));
}

int event_notify(struct client_set *set, struct lock_slot *slot, uint64_t number, int64_t n,
		 int64_t *woken)
{
	struct event e = {.number = number, .queue = EVENT_QUEUE, .value = n};
	int rc = client_end_if_lost(set, slot, event_perform(set, slot, &e, event_wake));

	*woken = e.done;
	return rc;
}
