/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clients of one process at the locks of one table: what becomes of a slot from acquire to
 * release. The public calls (api/lock.c, api/range.c) check arguments and word errors; the
 * simulator's virtual ranks call the same functions, so that the adversary tests them.
 *
 *   client.c   acquire and release: a slot is claimed, the protocol acts, the slot is settled
 *   slots.c    the states of slots, and which of them may be claimed (slots.h)
 *   guard.c    leaves a protocol whose operation failed
 *
 * A set knows its lock_space, its slots and the transport; it uses neither MPI nor tables.
 */
#ifndef CLIENT_CLIENT_H
#define CLIENT_CLIENT_H

#include "client/slots.h"

/* What acquires and releases return beside the codes of the library: all slots are taken. Then
 * PAWL_ERR_TOO_MANY is the protocol's, and says that there is no room for another recovery. */
enum { CLIENT_NO_SLOT = -4 };
_Static_assert((int)CLIENT_NO_SLOT < (int)LOCK_PASSED, "it differs from the codes of protocols");

/* The units of a range. */
struct client_units {
	int64_t first, last;
};

/* False: out of memory. client_close() is to be called even so. */
bool client_open(struct client_set *set, const struct lock_space *s, struct rma *r);
void client_close(struct client_set *set);

/* guard.c: how(), or how_part() of two slots, or PAWL_ERR_PEER if a rank died that it needs. */
int guard_run(const struct lock_space *s, struct lock_slot *slot,
	      int (*how)(const struct lock_space *, struct lock_slot *));
int guard_run_part(const struct lock_space *s, struct lock_slot *whole, struct lock_slot *part,
		   int (*how)(const struct lock_space *, struct lock_slot *, struct lock_slot *));

/* The protocol acts. */
RMA_INLINE int client_perform(struct client_set *set, struct lock_slot *slot,
			      int (*how)(const struct lock_space *, struct lock_slot *))
{
	if (__builtin_expect(set->can_fail, 0))
		return guard_run(set->space, slot, how);
	return how(set->space, slot);
}

/* The acquire did not succeed, or the release did not just end, but with this code: what becomes
 * of the slot, and the code of the call. */
int client_end(struct client_set *set, struct lock_slot *slot, int rc);

/* Acquire what the slot was claimed for. */
RMA_INLINE int client_act(struct client_set *set, struct lock_slot *slot, int mode,
			  uint64_t deadline_ns, bool tries)
{
	const struct lock_protocol *p = set->space->protocol;
	int rc;

	slot->mode = mode;
	slot->deadline_ns = deadline_ns;
	rc = client_perform(set, slot, tries ? p->try_acquire : p->acquire);
	if (__builtin_expect(rc != PAWL_SUCCESS, 0))
		return client_end(set, slot, rc);
	slot->acquires++;
	return PAWL_SUCCESS;
}

/* Acquire from the place that the slot may have in the queue. */
int client_resume(struct client_set *set, struct lock_slot *slot, uint64_t deadline_ns, bool tries);
/* Whether the calling thread would wait for itself at the range of this slot. */
bool client_meets_itself(const struct client_set *set, struct lock_slot *slot);

/*
 * Acquire a lock (units is NULL) or a range of a space, with the protocol's acquire or
 * try_acquire; deadline_ns 0: none. PAWL_SUCCESS, and *got is the slot; or
 *   PAWL_ERR_BUSY, PAWL_ERR_TIMEOUT   not acquired, and nothing is held
 *   PAWL_ERR_HELD                     this client holds the lock, or a range that keeps others
 *                                     out of some of the units
 *   PAWL_ERR_TOO_MANY                 there is no room for another recovery
 *   PAWL_ERR_PEER                     a rank died that is needed; the slot is lost
 *   CLIENT_NO_SLOT                    all slots are taken
 */
RMA_INLINE int client_acquire(struct client_set *set, uint64_t lock, int mode,
			      const struct client_units *units, uint64_t deadline_ns, bool tries,
			      struct lock_slot **got)
{
	struct lock_slot *slot = units ? NULL : slots_claim_only(set, lock);
	int rc = PAWL_SUCCESS;

	if (!slot)
		slot =
		    units ? slots_claim_range(set, lock, &rc) : slots_claim(set, lock, mode, &rc);
	*got = slot;
	if (!slot)
		return rc;
	if (__builtin_expect(rc == LOCK_QUEUED, 0))
		return client_resume(set, slot, deadline_ns, tries);
	if (units) {
		slot->first = units->first;
		slot->last = units->last;
		if (client_meets_itself(set, slot))
			return client_end(set, slot, PAWL_ERR_HELD);
	}
	return client_act(set, slot, mode, deadline_ns, tries);
}

/* Release what this slot holds. PAWL_SUCCESS; PAWL_ERR_LEASE_LOST: others may have had it since;
 * PAWL_ERR_PEER: a rank died that is needed, and the slot is lost. Nothing is held afterwards. */
RMA_INLINE int client_release(struct client_set *set, struct lock_slot *slot)
{
	int rc = client_perform(set, slot, set->space->protocol->release);

	if (__builtin_expect(rc != PAWL_SUCCESS, 0))
		return client_end(set, slot, rc);
	slots_give_back(set, slot);
	return PAWL_SUCCESS;
}

/* The slot with which the calling thread holds a lock, or NULL; and a range, by its name. */
static inline struct lock_slot *client_find(struct client_set *set, uint64_t lock)
{
	return slots_find(set, lock);
}

static inline struct lock_slot *client_find_range(struct client_set *set, const pawl_range *range)
{
	return slots_find_range(set, range->opaque[0], range->opaque[1]);
}

/* The name of a range that was just acquired. */
static inline pawl_range client_name_range(const struct client_set *set,
					   const struct lock_slot *slot)
{
	return (pawl_range){{(uint64_t)slot->index, set->claims[slot->index].uses}};
}

/* whole with an intent and part exclusively or shared; codes as of client_acquire(), where
 * *about is the one that is held already. And both back. */
int client_acquire_part(struct client_set *set, uint64_t whole, uint64_t part, int mode,
			uint64_t *about);
int client_release_part(struct client_set *set, struct lock_slot *whole, struct lock_slot *part);

/* Forget what this slot holds: it is for others to recover. */
void client_abandon(struct client_set *set, struct lock_slot *slot);

/* Spaces that grow and shrink, as of struct lock_protocol; codes as of client_acquire(). */
int client_grow(struct client_set *set, uint64_t space, int64_t *units);
int client_shrink(struct client_set *set, uint64_t space, int64_t units);
/* Every slot forgets what it knew of the space before it became smaller. */
void client_forget(struct client_set *set);

/* At the end: until all that slots have issued was answered. */
void client_settle(struct client_set *set);

/* Locks held or awaited by this process; and the first few of them, for messages. */
int client_in_use(const struct client_set *set);
void client_tell(const struct client_set *set, char *text, size_t len);

/* What the slots have counted, in all; and to count from zero. */
void client_count(const struct client_set *set, struct pawl_stats *stats);
void client_reset(struct client_set *set);

#endif
