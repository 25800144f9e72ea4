/* SPDX-License-Identifier: BSD-3-Clause */
/* What a lock has for events: a condition, a semaphore, a counter (option events). */
#ifndef CLIENT_EVENTS_H
#define CLIENT_EVENTS_H

#include "client/client.h"

/*
 * A wait for a notification, in steps between which observers look. The calling thread holds the
 * lock of the slot exclusively, and has it again at the end; number names the condition, whose
 * queue the lock guards. The slot is lost after PAWL_ERR_PEER and PAWL_ERR_MPI of any step but
 * event_await(), which leaves that to the caller.
 *
 *   event_enter    join the queue
 *   event_leave    release the lock; the slot stays the client's
 *   event_await    PAWL_SUCCESS, or PAWL_ERR_TIMEOUT: not yet; any number of times. 0: no deadline
 *   event_return   acquire the lock
 *   event_end      PAWL_SUCCESS: it was notified; PAWL_ERR_TIMEOUT: it was not, and has left
 */
int event_enter(struct client_set *set, struct lock_slot *slot, uint64_t number);
int event_leave(struct client_set *set, struct lock_slot *slot);
int event_await(struct client_set *set, struct lock_slot *slot, uint64_t deadline_ns);
int event_return(struct client_set *set, struct lock_slot *slot);
int event_end(struct client_set *set, struct lock_slot *slot, uint64_t number);

/* Wake up to n clients that wait for this condition; the caller holds the lock that guards it.
 * *woken is their number. */
int event_notify(struct client_set *set, struct lock_slot *slot, uint64_t number, int64_t n,
		 int64_t *woken);

/* The slot with which the calling thread waits, from event_leave() to event_return(); or NULL. */
struct lock_slot *event_find(struct client_set *set, uint64_t lock);

/* semaphore.c; codes as of client_enter(). */

/* Set a semaphore that no client uses; and look at it. */
int semaphore_init(struct client_set *set, uint64_t number, int64_t value);
int semaphore_value(struct client_set *set, uint64_t number, int64_t *value);
int semaphore_acquire(struct client_set *set, uint64_t number, uint64_t deadline_ns, bool tries);
/* The same in steps. SEMAPHORE_QUEUED: the client is in the queue, with the slot of event_find().
 * It waits, any number of times, until it has a permit or another code ends the call;
 * PAWL_ERR_TIMEOUT: not yet. Or it gives up: PAWL_ERR_TIMEOUT, or PAWL_SUCCESS, with a permit that
 * was on its way. */
enum { SEMAPHORE_QUEUED = -7 };
int semaphore_begin(struct client_set *set, uint64_t number, bool tries);
int semaphore_await(struct client_set *set, struct lock_slot *slot, uint64_t deadline_ns);
int semaphore_give_up(struct client_set *set, struct lock_slot *slot);
/* CLIENT_TOO_MANY_PERMITS: there would be more than most (0: any number); nothing has changed. */
enum { CLIENT_TOO_MANY_PERMITS = -6 };
int semaphore_release(struct client_set *set, uint64_t number, int64_t n, int64_t most);

/* Add to a counter; *before is what it was. */
int counter_add(struct client_set *set, uint64_t number, int64_t value, int64_t *before);

/* events.c, for semaphore.c ------------------------------------------------- */

/* The words of a number, at its home: heads and tails of two queues, and numbers. */
enum event_word {
	EVENT_QUEUE = 0, /* of the condition: head, tail */
	EVENT_PERMIT_QUEUE = 16,
	EVENT_PERMITS = 32,
	EVENT_GRANTS = 40,
	EVENT_COUNTER = 48,
	EVENT_BYTES = 64
};

/* What a step is about, at slot->first while a function of the guard runs. */
struct event {
	uint64_t number;
	enum event_word queue;
	int64_t value, most, done;
};

struct rma_word event_word(const struct lock_setup *s, struct lock_slot *slot,
			   enum event_word which);
int64_t event_get(struct lock_slot *slot, struct rma_word w);
void event_put(struct lock_slot *slot, struct rma_word w, int64_t value);
int event_perform(struct client_set *set, struct lock_slot *slot, struct event *e,
		  int (*how)(const struct lock_setup *, struct lock_slot *));
/* Acquire and release the lock of a claimed slot; codes of the protocol. */
int event_lock(struct client_set *set, struct lock_slot *slot);
int event_unlock(struct client_set *set, struct lock_slot *slot);
/* Functions of the guard, by a client that holds the lock: join the queue; leave it (PAWL_SUCCESS:
 * woken before); wake up to value clients, done of which there were. And without the lock: wait. */
int event_join(const struct lock_setup *s, struct lock_slot *slot);
int event_quit(const struct lock_setup *s, struct lock_slot *slot);
int event_wake(const struct lock_setup *s, struct lock_slot *slot);
bool event_is_woken(const struct lock_setup *s, struct lock_slot *slot);
int event_sleep(const struct lock_setup *s, struct lock_slot *slot);

static inline struct event *event_of(const struct lock_slot *slot)
{
	return (struct event *)(uintptr_t)slot->first;
}

#endif
