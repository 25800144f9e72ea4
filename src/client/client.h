/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clients of a process at the locks of a table: the life of a slot from acquire to release. The
 * public calls (api/lock.c, api/range.c) check arguments and write error messages. The simulator's
 * virtual ranks call the same functions, so the adversary tests them.
 *
 *   client.c   acquire and release: claim a slot, let the protocol act, settle the slot
 *   many.c     acquire and release several locks
 *   events.c   wait for a notification of other clients (events.h); semaphore.c
 *   names.c    names of locks
 *   read.c     read without the lock, and look whether it was acquired exclusively meanwhile
 *   request.c  acquire by steps, between which the client does something else
 *   slots.c    the states of slots, and which slots may be claimed (slots.h)
 *   guard.c    leave a protocol whose operation has failed; what holds then
 *
 * A set knows its lock_setup, its slots and the transport, but neither MPI nor tables.
 */
#ifndef CLIENT_CLIENT_H
#define CLIENT_CLIENT_H

#include "client/slots.h"

/* A result of acquire besides the library's codes: all slots are in use. (PAWL_ERR_TOO_MANY comes
 * from the protocol: no room for another recovery.) */
enum { CLIENT_NO_SLOT = -4 };
_Static_assert((int)CLIENT_NO_SLOT < (int)LOCK_PASSED, "it differs from the codes of protocols");

/* Room for a name of a lock, with its end. */
enum { CLIENT_NAME_BYTES = 64 };

/* The units of a range. */
struct client_units {
	int64_t first, last;
};

/* False: out of memory; client_close() has to be called nevertheless. */
bool client_open(struct client_set *set, const struct lock_setup *s, struct rma *r);
void client_close(struct client_set *set);

/* Whether a call that ended with this code has lost its slots: an operation failed, and others may
 * still write their words. */
static inline bool client_has_lost(int rc)
{
	return rc == PAWL_ERR_PEER || rc == PAWL_ERR_MPI;
}

/* Whether an acquire that ended with this code has got what it asked for. */
static inline bool client_has_got(int rc)
{
	return rc == PAWL_SUCCESS || rc == PAWL_RECOVERED;
}

/* guard.c: run how(), or how_part() on two slots. PAWL_ERR_PEER: a rank that it needs has died.
 * PAWL_ERR_MPI: the MPI has reported an error. */
int guard_run(const struct lock_setup *s, struct lock_slot *slot,
	      int (*how)(const struct lock_setup *, struct lock_slot *));
int guard_run_part(const struct lock_setup *s, struct lock_slot *whole, struct lock_slot *part,
		   int (*how)(const struct lock_setup *, struct lock_slot *, struct lock_slot *));
/* Of this thread's last call that ended with PAWL_ERR_PEER: how a connection was lost, if no
 * process need have died; NULL: one has. */
const char *guard_loss(void);

/* Run a function of the protocol. */
RMA_INLINE int client_perform(struct client_set *set, struct lock_slot *slot,
			      int (*how)(const struct lock_setup *, struct lock_slot *))
{
	if (__builtin_expect(set->can_fail, 0))
		return guard_run(set->setup, slot, how);
	return how(set->setup, slot);
}

/* After an acquire or a release that did not return PAWL_SUCCESS: set the slot's state and return
 * the code for the caller. */
int client_end(struct client_set *set, struct lock_slot *slot, int rc);
/* The same, if the step has lost its slot. */
static inline int client_end_if_lost(struct client_set *set, struct lock_slot *slot, int rc)
{
	return client_has_lost(rc) ? client_end(set, slot, rc) : rc;
}

/* After a try that found the lock taken, in a table whose releases are posted. */
int client_try_again(struct client_set *set, struct lock_slot *slot);

/* Acquire the lock or range for which the slot was claimed. */
RMA_INLINE int client_act(struct client_set *set, struct lock_slot *slot, int mode,
			  uint64_t deadline_ns, bool tries)
{
	const struct lock_protocol *p = set->setup->protocol;
	int rc;

	slot->mode = mode;
	slot->deadline_ns = deadline_ns;
	rc = client_perform(set, slot, tries ? p->try_acquire : p->acquire);
	if (__builtin_expect(rc != PAWL_SUCCESS, 0)) {
		if (rc == PAWL_ERR_BUSY && set->setup->posts)
			rc = client_try_again(set, slot);
		if (rc != PAWL_SUCCESS)
			return client_end(set, slot, rc);
	}
	slot->acquires++;
	return PAWL_SUCCESS;
}

/* Acquire with a slot that may still be in the queue. */
int client_resume(struct client_set *set, struct lock_slot *slot, uint64_t deadline_ns, bool tries);
/* Whether the calling thread would wait for itself at this slot's range. */
bool client_meets_itself(const struct client_set *set, struct lock_slot *slot);

/*
 * Acquire a lock (units is NULL) or a range of a space, in two steps, between which observers look:
 * claim a slot (NULL: *code is the result), and acquire with it by the protocol's acquire or
 * try_acquire; claimed is the *code of the claim, deadline_ns 0: no deadline. After PAWL_SUCCESS of
 * the second step the client has it. Else:
 *   PAWL_RECOVERED                    the client has it, and is told of a recovery (lock/life.c)
 *   PAWL_ERR_BUSY, PAWL_ERR_TIMEOUT   not acquired; the client holds nothing
 *   PAWL_ERR_HELD                     this client holds the lock, or a range that keeps others out
 *                                     of some of the units
 *   PAWL_ERR_TOO_MANY                 no room for another recovery
 *   PAWL_ERR_PEER, PAWL_ERR_MPI       an operation failed (client_has_lost()); the slot is lost
 *   CLIENT_NO_SLOT                    all slots are in use
 */
RMA_INLINE struct lock_slot *client_claim(struct client_set *set, uint64_t lock, int mode,
					  const struct client_units *units, int *code)
{
	struct lock_slot *slot = units ? NULL : slots_claim_only(set, lock);

	if (slot)
		return slot;
	return units ? slots_claim_range(set, lock, code) : slots_claim(set, lock, mode, code);
}

RMA_INLINE int client_enter(struct client_set *set, struct lock_slot *slot, int claimed, int mode,
			    const struct client_units *units, uint64_t deadline_ns, bool tries)
{
	if (__builtin_expect(claimed == LOCK_QUEUED, 0))
		return client_resume(set, slot, deadline_ns, tries);
	if (units) {
		slot->first = units->first;
		slot->last = units->last;
		if (client_meets_itself(set, slot))
			return client_end(set, slot, PAWL_ERR_HELD);
	}
	return client_act(set, slot, mode, deadline_ns, tries);
}

/* The two steps of client_release(): let the protocol release, and set the slot's state by the
 * protocol's code. */
RMA_INLINE int client_leave(struct client_set *set, struct lock_slot *slot)
{
	return client_perform(set, slot, set->setup->protocol->release);
}

RMA_INLINE int client_give_back(struct client_set *set, struct lock_slot *slot, int rc)
{
	if (__builtin_expect(rc != PAWL_SUCCESS, 0))
		return client_end(set, slot, rc);
	slots_give_back(set, slot);
	return PAWL_SUCCESS;
}

/* Release what this slot holds; the client holds nothing afterwards. PAWL_ERR_LEASE_LOST: others
 * may have had it since. PAWL_ERR_PEER and PAWL_ERR_MPI: an operation failed; the slot is lost. */
RMA_INLINE int client_release(struct client_set *set, struct lock_slot *slot)
{
	return client_give_back(set, slot, client_leave(set, slot));
}

/* The slot with which the calling thread holds a lock, or a range; NULL: there is none. */
static inline struct lock_slot *client_find(struct client_set *set, uint64_t lock)
{
	return slots_find(set, lock);
}

static inline struct lock_slot *client_find_range(struct client_set *set, const pawl_range *range)
{
	return slots_find_range(set, range->opaque[0], range->opaque[1]);
}

/* The handle of a range that has just been acquired. */
static inline pawl_range client_name_range(const struct client_set *set,
					   const struct lock_slot *slot)
{
	return (pawl_range){{(uint64_t)slot->index, slots_uses(&set->claims[slot->index])}};
}

/* Acquire whole with an intent and part exclusively or shared, in two steps as client_claim() and
 * client_enter(); *about is the lock that an error is about. */
bool client_claim_part(struct client_set *set, uint64_t whole, uint64_t part, struct lock_slot **w,
		       struct lock_slot **p, uint64_t *about, int *code);
int client_enter_part(struct client_set *set, struct lock_slot *w, struct lock_slot *p, int mode,
		      uint64_t deadline_ns);
/* Release both; and in two steps. */
int client_release_part(struct client_set *set, struct lock_slot *whole, struct lock_slot *part);
int client_leave_part(struct client_set *set, struct lock_slot *w, struct lock_slot *p);
int client_give_back_part(struct client_set *set, struct lock_slot *w, struct lock_slot *p, int rc);
/* The intent that announces a part in this mode. */
static inline int client_intent_for(int mode)
{
	return mode == PAWL_SHARED ? PAWL_INTENT_SHARED : PAWL_INTENT;
}

/* A lock of a call on several of them. code: of its release. state and told are for many.c. */
struct client_many {
	uint64_t lock;
	int mode;
	struct lock_slot *slot;
	int state, code;
	bool told; /* by PAWL_RECOVERED */
};

/* Acquire n locks, in ascending order of their numbers, in two steps as client_claim() and
 * client_enter(). After PAWL_SUCCESS or PAWL_RECOVERED (of one at least) of the second their slots
 * are set. After a failure of either the client holds none of them; codes as of client_enter(), and
 * *about is the lock that the code is about. */
int client_claim_many(struct client_set *set, struct client_many *m, size_t n, uint64_t *about);
int client_enter_many(struct client_set *set, struct client_many *m, size_t n, uint64_t deadline_ns,
		      bool tries, uint64_t *about);
/* Release what these slots hold, in two steps as client_leave() and client_give_back(); the client
 * holds none of them afterwards. The first code that is not PAWL_SUCCESS is about lock *about. */
void client_leave_many(struct client_set *set, struct client_many *m, size_t n);
int client_give_back_many(struct client_set *set, const struct client_many *m, size_t n,
			  uint64_t *about);

/* A read without the lock; all zero before the first one. */
struct client_read {
	int64_t seen; /* of the protocol */
	int failures; /* looks that met an exclusive client, since the last read that was valid */
};

/* Begin a read. PAWL_ERR_BUSY: there were too many failures, so acquire the lock in mode
 * PAWL_SHARED. Other codes as of client_enter(). */
int client_read_begin(struct client_set *set, uint64_t lock, struct client_read *r);
/* End it. PAWL_ERR_BUSY: what was read is not valid. Other codes as of client_enter(). */
int client_read_validate(struct client_set *set, uint64_t lock, struct client_read *r);

/* A request: an acquire that goes on while its client does something else (request.c). It belongs
 * to its slot; a later request of the slot uses it again. */
struct client_request {
	struct rma_steps steps;
	struct lock_slot *slot;
	int code;     /* CLIENT_PENDING; else the code of the acquire, which has ended */
	bool running; /* on the request's own stack */
	bool is_range;
	bool told;          /* observers know that it waits */
	bool advanced;      /* ended by client_request_advance(): the last step is still to come */
	uint64_t looks;     /* for a fault */
	const void *thread; /* that takes its steps */
	struct request_stack *stack;
	struct steps_thread *thread_of_steps; /* of table/steps.c, which takes them; NULL: none */
	/* For observers: when and where the program made it, and counts of the slot then. */
	uint64_t begin_ns, waits_before, far_before;
	const void *site;
};

/* A result besides those of client_enter(): the acquire has not ended. */
enum { CLIENT_PENDING = -5 };
_Static_assert((int)CLIENT_PENDING < (int)CLIENT_NO_SLOT, "it differs from the other codes");

/* The next step: a look, which does not wait for other clients; to the end, waiting; to the end as
 * if a deadline had passed, so that it waits for other clients only if the kind has no deadlines.
 */
enum client_step { CLIENT_LOOK, CLIENT_WAIT, CLIENT_CANCEL };

/*
 * Claim a slot for a request of a lock (units is NULL) or a range, and take the first step. NULL:
 * *code is as of client_enter(), or PAWL_ERR_NOMEM. never: a time that does not come, for kinds
 * with deadlines; 0: a request that cannot end without the lock.
 */
struct client_request *client_request(struct client_set *set, uint64_t lock, int mode,
				      const struct client_units *units, uint64_t never, int *code);
/* Take a step. CLIENT_PENDING; client_has_got(): the client has the lock, and client_request_end()
 * comes next. Any other code of client_enter(): the request has ended. */
int client_request_step(struct client_set *set, struct client_request *q, enum client_step how);
/* A step that waits until this time (rma_now_ns()) at most; 0: to the end. */
int client_request_wait(struct client_set *set, struct client_request *q, uint64_t until_ns);
/* A step that waits until this time, of a request that has not ended: whether the acquire has
 * ended. Leaves the last step to the next call of one of the other two. Changes only the slot and
 * *q, and may be called by another thread than these, one at a time. */
bool client_request_advance(struct client_request *q, uint64_t until_ns);
/* From here on the client holds the lock, as after client_enter(). */
void client_request_end(struct client_set *set, struct client_request *q);
/* The client does not hold the lock afterwards. Codes as of client_release(). */
int client_request_cancel(struct client_set *set, struct client_request *q);
/* The same for a request that has got its lock. */
int client_request_put_back(struct client_set *set, struct client_request *q);
/* The calling thread leaves the request, which is no client's from here on; it takes it back; and
 * the thread that takes its steps from now on. */
void client_request_leave(struct client_set *set, const struct client_request *q);
void client_request_return(struct client_set *set, const struct client_request *q);
void client_request_take_over(struct client_request *q);
/* Whether the calling thread has made the request. */
bool client_request_is_mine(const struct client_request *q);
/* For the simulator: leave the request on whose stack the caller runs, which is one with this rma;
 * its step returns CLIENT_PENDING, and there is no further one. Does nothing if there is no such
 * request. */
void client_request_escape(struct client_set *set, const struct rma *rma);
void client_drop_requests(struct client_set *set);

/* names.c: the lock of this name, of 1 to CLIENT_NAME_BYTES - 1 bytes, none of which is 1; it takes
 * one if it has none. Takes a slot meanwhile. PAWL_ERR_BUSY: all locks have other names; else codes
 * as of client_enter(). */
int client_named(struct client_set *set, const char *name, uint64_t *lock);

/* Change the mode in which the client holds the lock of its slot: from shared to exclusive, until a
 * deadline (0: none), or from exclusive to shared (struct lock_change_calls). After codes other
 * than those of the kind, as of client_release(). */
int client_upgrade(struct client_set *set, struct lock_slot *slot, uint64_t deadline_ns);
int client_downgrade(struct client_set *set, struct lock_slot *slot);

/* The client has repaired what the lock of its slot protects, which it holds exclusively; whether
 * it is repaired, or was never recovered; a number for its hold (lock/life.c). Codes as of
 * client_release(). */
int client_repair(struct client_set *set, struct lock_slot *slot);
int client_is_repaired(struct client_set *set, struct lock_slot *slot, bool *repaired);
int client_number(struct client_set *set, struct lock_slot *slot, int64_t *token);

/* Give up the slot without a release: other clients recover the lock. */
void client_abandon(struct client_set *set, struct lock_slot *slot);

/* Grow and shrink spaces as in struct lock_protocol; codes as of client_enter(). */
int client_grow(struct client_set *set, uint64_t space, int64_t *units);
int client_shrink(struct client_set *set, uint64_t space, int64_t units);
/* Drop what the slots know of the space from before it became smaller. */
void client_forget(struct client_set *set);

/* At the end: wait until all operations of all slots have been answered. */
void client_settle(struct client_set *set);

/* Whether another thread of this process holds or awaits the lock. */
static inline bool client_other_thread_has(const struct client_set *set, uint64_t lock)
{
	return slots_has_other(set, lock);
}

/* The units of a range of the calling thread that keeps some of these units of the space; false:
 * there is none. */
bool client_find_own_range(const struct client_set *set, uint64_t space,
			   const struct client_units *wanted, struct client_units *own);

/* The table has other words, in which nobody has anything: all slots are free, with their counts.
 * Not while a client has one. */
void client_begin_anew(struct client_set *set);
/* What a slot counts for pawl_table_get_stats(). */
void client_copy_counts(struct lock_slot *to, const struct lock_slot *from);
/* Whether no slot is lost: client_has_lost(). */
bool client_is_whole(const struct client_set *set);

/* The number of locks that this process holds or awaits; and the first few of them, for
 * messages. */
int client_in_use(const struct client_set *set);
void client_list_held(const struct client_set *set, char *text, size_t len);

/* The sum of the slots' counts; and set them to zero. */
void client_count(const struct client_set *set, struct pawl_stats *stats);
void client_reset(struct client_set *set);

#endif
