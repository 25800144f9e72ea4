/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls on locks, and what a table tells about itself. */
#include <setjmp.h>
#include <string.h>

#include "core/error.h"
#include "core/table.h"

static int check_lock(const pawl_table *t, uint64_t lock)
{
	int rc = life_check(t);

	if (rc == PAWL_SUCCESS && lock >= t->space.n)
		rc = error_set(PAWL_ERR_RANGE, "%s %llu is not in 0 to %llu",
			       t->ranges ? "space" : "lock", (unsigned long long)lock,
			       (unsigned long long)t->space.n - 1);
	return rc;
}

static bool is_intent(int mode)
{
	return (mode & ~PAWL_AHEAD) == PAWL_INTENT || (mode & ~PAWL_AHEAD) == PAWL_INTENT_SHARED;
}

static int check(const pawl_table *t, uint64_t lock, int mode)
{
	if (!t)
		return error_set(PAWL_ERR_ARG, "table is a null handle");
	if (life_check(t) != PAWL_SUCCESS)
		return PAWL_ERR_MPI;
	if (mode != PAWL_EXCLUSIVE && mode != PAWL_SHARED && !is_intent(mode))
		return error_set(PAWL_ERR_ARG,
				 "mode: %d is none of PAWL_EXCLUSIVE (%d), PAWL_SHARED (%d),"
				 " PAWL_INTENT (%d) and PAWL_INTENT_SHARED (%d), the last two with"
				 " PAWL_AHEAD (+ %d) or without",
				 mode, PAWL_EXCLUSIVE, PAWL_SHARED, PAWL_INTENT, PAWL_INTENT_SHARED,
				 PAWL_AHEAD);
	if (check_lock(t, lock) != PAWL_SUCCESS)
		return PAWL_ERR_RANGE;
	if (mode == PAWL_SHARED && !(t->space.protocol->kind.capabilities & PAWL_CAP_SHARED))
		return error_set(PAWL_ERR_UNSUPPORTED, "%s has no mode PAWL_SHARED",
				 t->space.protocol->kind.name);
	if (is_intent(mode) && !(t->space.protocol->kind.capabilities & PAWL_CAP_INTENT))
		return error_set(PAWL_ERR_UNSUPPORTED, "%s has no mode %s",
				 t->space.protocol->kind.name,
				 mode & PAWL_INTENT ? "PAWL_INTENT" : "PAWL_INTENT_SHARED");
	if (t->space.protocol->kind.capabilities & PAWL_CAP_RANGES)
		return error_set(PAWL_ERR_UNSUPPORTED,
				 "%s has ranges, and no locks: pawl_range_acquire() takes them",
				 t->space.protocol->kind.name);
	return PAWL_SUCCESS;
}

static inline bool is_plain(const pawl_table *t, uint64_t lock, int mode)
{
	return t && mode == PAWL_EXCLUSIVE && lock < t->usable && !t->ranges;
}

static int peer_died(uint64_t lock)
{
	return error_set(PAWL_ERR_PEER,
			 "lock %llu: a rank died that is its home, or holds or awaits it",
			 (unsigned long long)lock);
}

/* The slot has not got the lock. */
static RMA_SLOW_PATH int refused(pawl_table *t, struct lock_slot *slot, int rc)
{
	uint64_t lock = slot->lock;

	if (rc == PAWL_ERR_PEER) {
		slots_lose(t, slot);
		return peer_died(lock);
	}
	if (rc == LOCK_QUEUED) {
		slots_queue(t, slot);
		rc = PAWL_ERR_TIMEOUT;
	} else {
		slots_give_back(t, slot);
	}
	if (rc == PAWL_ERR_TOO_MANY)
		return error_set(rc,
				 "lock %llu: its home has no room for another recovery from"
				 " a failure (option recoveries)",
				 (unsigned long long)lock);
	return error_note(rc,
			  rc == PAWL_ERR_BUSY ? "somebody else has the lock" : "the time is over");
}

/* The slot is in the queue of its lock, as far as we know. */
static RMA_SLOW_PATH int resume(pawl_table *t, struct lock_slot *slot, uint64_t deadline_ns,
				int (*how)(const struct lock_space *, struct lock_slot *))
{
	const struct lock_protocol *p = t->space.protocol;
	bool tries = how == p->try_acquire;
	int rc;

	slot->deadline_ns = tries ? 1 : deadline_ns; /* long over */
	rc = guard_perform(t, slot, p->resume);
	slot->deadline_ns = deadline_ns;
	if (rc == LOCK_PASSED)
		rc = guard_perform(t, slot, how);
	if (rc != PAWL_SUCCESS) {
		rc = refused(t, slot, rc);
		if (rc == PAWL_ERR_TIMEOUT && tries)
			rc = error_note(PAWL_ERR_BUSY, "somebody else has the lock");
		return rc;
	}
	slot->acquires++;
	return PAWL_SUCCESS;
}

/* The one way in: claim a slot, let the protocol acquire, or give it back. */
static inline int acquire_by(pawl_table *t, uint64_t lock, int mode, uint64_t deadline_ns,
			     int (*how)(const struct lock_space *, struct lock_slot *))
{
	struct lock_slot *slot;
	int rc = PAWL_SUCCESS;

	slot = slots_claim(t, lock, mode, &rc);
	if (!slot)
		return rc;
	if (rc == LOCK_QUEUED)
		return resume(t, slot, deadline_ns, how);
	slot->mode = mode;
	slot->deadline_ns = deadline_ns;
	rc = guard_perform(t, slot, how);
	if (__builtin_expect(rc != PAWL_SUCCESS, 0))
		return refused(t, slot, rc);
	slot->acquires++;
	return PAWL_SUCCESS;
}

int pawl_lock_acquire(pawl_table *t, uint64_t lock, int mode)
{
	if (!is_plain(t, lock, mode)) {
		int rc = check(t, lock, mode);

		if (rc != PAWL_SUCCESS)
			return rc;
	}
	return acquire_by(t, lock, mode, 0, t->space.protocol->acquire);
}

int pawl_lock_try_acquire(pawl_table *t, uint64_t lock, int mode)
{
	int rc = check(t, lock, mode);

	if (rc != PAWL_SUCCESS)
		return rc;
	if (!(t->space.protocol->kind.capabilities & PAWL_CAP_TRY))
		return error_set(PAWL_ERR_UNSUPPORTED, "%s has no try-acquire",
				 t->space.protocol->kind.name);
	return acquire_by(t, lock, mode, 0, t->space.protocol->try_acquire);
}

int pawl_lock_timed_acquire(pawl_table *t, uint64_t lock, int mode, double seconds)
{
	int rc = check(t, lock, mode);
	double ns = seconds * 1e9;

	if (rc != PAWL_SUCCESS)
		return rc;
	if (!(seconds >= 0))
		return error_set(PAWL_ERR_ARG, "seconds: %g is negative or not a number", seconds);
	if (!(t->space.protocol->kind.capabilities & PAWL_CAP_TIMED))
		return error_set(PAWL_ERR_UNSUPPORTED, "%s has no timed acquire",
				 t->space.protocol->kind.name);
	/* More than a century is for ever. */
	return acquire_by(t, lock, mode, ns < 4e18 ? rma_now_ns() + (uint64_t)ns : 0,
			  t->space.protocol->acquire);
}

int pawl_lock_release(pawl_table *t, uint64_t lock)
{
	struct lock_slot *slot;
	int rc;

	if (!t)
		return error_set(PAWL_ERR_ARG, "table is a null handle");
	if (lock >= t->usable) {
		rc = check_lock(t, lock);
		if (rc != PAWL_SUCCESS)
			return rc;
	}
	slot = slots_find(t, lock);
	if (!slot)
		return error_set(PAWL_ERR_NOT_HELD, "lock %llu is not held by this thread",
				 (unsigned long long)lock);
	rc = guard_perform(t, slot, t->space.protocol->release);
	if (__builtin_expect(rc == PAWL_ERR_PEER, 0)) {
		slots_lose(t, slot);
		return peer_died(lock);
	}
	if (rc == LOCK_LEFT) {
		slots_leave(t, slot);
		return PAWL_SUCCESS;
	}
	slots_give_back(t, slot);
	if (rc == PAWL_ERR_LEASE_LOST)
		return error_set(
		    rc,
		    "lock %llu was held longer than its lease, and others may have had it"
		    " since",
		    (unsigned long long)lock);
	return rc;
}

int pawl_lock_abandon(pawl_table *t, uint64_t lock)
{
	struct lock_slot *slot;
	int rc;

	if (!t)
		return error_set(PAWL_ERR_ARG, "table is a null handle");
	rc = check_lock(t, lock);
	if (rc != PAWL_SUCCESS)
		return rc;
	if (!(t->space.protocol->kind.capabilities & PAWL_CAP_RECOVERS))
		return error_set(PAWL_ERR_UNSUPPORTED,
				 "%s has no way to recover a lock that its holder abandoned",
				 t->space.protocol->kind.name);
	if (!t->space.params.lease_us)
		return error_set(PAWL_ERR_UNSUPPORTED,
				 "option lease is 0, so nobody would recover an abandoned lock");
	slot = slots_find(t, lock);
	if (!slot)
		return error_set(PAWL_ERR_NOT_HELD, "lock %llu is not held by this thread",
				 (unsigned long long)lock);
	slots_abandon(t, slot);
	return PAWL_SUCCESS;
}

/* The intent that announces a part in this mode. */
static int intent_for(int mode)
{
	return mode == PAWL_SHARED ? PAWL_INTENT_SHARED : PAWL_INTENT;
}

static int check_part(const pawl_table *t, uint64_t whole, uint64_t part, int mode)
{
	int rc = check(t, whole, intent_for(mode));

	return rc == PAWL_SUCCESS ? check(t, part, mode) : rc;
}

static void acquire_part(const struct lock_space *s, struct lock_slot *whole,
			 struct lock_slot *part)
{
	s->protocol->acquire_part(s, whole, part);
}

static void release_part(const struct lock_space *s, struct lock_slot *whole,
			 struct lock_slot *part)
{
	s->protocol->release_part(s, whole, part);
}

/* As guard_run(), for two slots. */
static __attribute__((noinline)) int
perform_part(pawl_table *t, struct lock_slot *whole, struct lock_slot *part,
	     void (*how)(const struct lock_space *, struct lock_slot *, struct lock_slot *))
{
	jmp_buf escape;
	bool died = true;

	if (!t->rma.ucx) {
		how(&t->space, whole, part);
		return PAWL_SUCCESS;
	}
	whole->client.escape = part->client.escape = &escape;
	if (setjmp(escape) == 0) {
		how(&t->space, whole, part);
		died = whole->client.failed || part->client.failed;
	}
	whole->client.escape = part->client.escape = NULL;
	whole->client.failed = part->client.failed = false;
	if (!died)
		return PAWL_SUCCESS;
	slots_lose(t, part);
	slots_lose(t, whole);
	return peer_died(whole->lock);
}

int pawl_lock_acquire_part(pawl_table *t, uint64_t whole, uint64_t part, int mode)
{
	struct lock_slot *w, *p;
	int rc;

	if (mode != PAWL_EXCLUSIVE && mode != PAWL_SHARED)
		return error_set(PAWL_ERR_ARG,
				 "mode: %d is none of PAWL_EXCLUSIVE (%d) and PAWL_SHARED (%d), in"
				 " which a part is acquired",
				 mode, PAWL_EXCLUSIVE, PAWL_SHARED);
	rc = check_part(t, whole, part, mode);
	if (rc != PAWL_SUCCESS)
		return rc;
	if (whole == part)
		return error_set(PAWL_ERR_ARG, "whole and part are both lock %llu",
				 (unsigned long long)whole);
	w = slots_claim(t, whole, 0, &rc);
	if (!w)
		return rc;
	p = slots_claim(t, part, 0, &rc);
	if (!p) {
		slots_give_back(t, w);
		return rc;
	}
	w->mode = intent_for(mode);
	p->mode = mode;
	w->deadline_ns = p->deadline_ns = 0;
	rc = perform_part(t, w, p, acquire_part);
	if (rc != PAWL_SUCCESS)
		return rc;
	w->acquires++;
	p->acquires++;
	return PAWL_SUCCESS;
}

int pawl_lock_release_part(pawl_table *t, uint64_t whole, uint64_t part)
{
	struct lock_slot *w, *p;
	int rc = check_part(t, whole, part, PAWL_EXCLUSIVE);

	if (rc != PAWL_SUCCESS)
		return rc;
	w = slots_find(t, whole);
	p = slots_find(t, part);
	if (!w || !p || !is_intent(w->mode) || is_intent(p->mode))
		return error_set(PAWL_ERR_NOT_HELD,
				 "lock %llu with an intent and lock %llu exclusively or shared are"
				 " not both held by this %s",
				 (unsigned long long)whole, (unsigned long long)part,
				 t->by_process ? "process" : "thread");
	rc = perform_part(t, w, p, release_part);
	if (rc != PAWL_SUCCESS)
		return rc;
	slots_give_back(t, p);
	slots_give_back(t, w);
	return PAWL_SUCCESS;
}

int pawl_table_home(const pawl_table *t, uint64_t lock, int *rank)
{
	uint64_t index;
	int rc;

	if (!t || !rank)
		return error_set(PAWL_ERR_ARG, "%s is null", t ? "rank" : "table");
	rc = check_lock(t, lock);
	if (rc != PAWL_SUCCESS)
		return rc;
	lock_home(&t->space, lock, rank, &index);
	return PAWL_SUCCESS;
}

int pawl_table_get_info(const pawl_table *t, struct pawl_table_info *info)
{
	if (!t || !info)
		return error_set(PAWL_ERR_ARG, "%s is null", t ? "info" : "table");
	if (life_check(t) != PAWL_SUCCESS)
		return PAWL_ERR_MPI;
	*info = (struct pawl_table_info){
	    .kind = &t->space.protocol->kind,
	    .n = t->space.n,
	    .ranks = t->space.topo->nranks,
	    .nodes = t->space.topo->nnodes,
	    .levels = t->space.topo->nlevels,
	    .max_held = t->space.max_held,
	    .bytes = t->space.bytes,
	    .transport = t->rma.transport->name,
	    .topology = t->space.topo->text,
	    .parameters = t->parameters,
	    .crowded = t->job.host_ranks > t->job.host_cores,
	};
	return PAWL_SUCCESS;
}

int pawl_table_get_stats(const pawl_table *t, struct pawl_stats *stats)
{
	if (!t || !stats)
		return error_set(PAWL_ERR_ARG, "%s is null", t ? "stats" : "table");
	if (life_check(t) != PAWL_SUCCESS)
		return PAWL_ERR_MPI;
	memset(stats, 0, sizeof *stats);
	for (int i = 0; i < t->space.max_held; i++) {
		const struct lock_slot *slot = &t->slots[i];

		stats->acquires += slot->acquires;
		stats->waits += slot->client.waits;
		stats->parks += slot->client.parks;
		stats->aborts += slot->aborts;
		stats->recoveries += slot->recoveries;
		for (int far = 0; far < 2; far++) {
			stats->atomics[far] += slot->client.count[RMA_ATOMIC][far];
			stats->gets[far] += slot->client.count[RMA_GET][far];
			stats->puts[far] += slot->client.count[RMA_PUT][far];
			stats->flushes[far] += slot->client.count[RMA_FLUSH][far];
		}
	}
	return PAWL_SUCCESS;
}

int pawl_table_reset_stats(pawl_table *t)
{
	if (!t)
		return error_set(PAWL_ERR_ARG, "table is a null handle");
	if (life_check(t) != PAWL_SUCCESS)
		return PAWL_ERR_MPI;
	for (int i = 0; i < t->space.max_held; i++) {
		struct lock_slot *slot = &t->slots[i];

		slot->acquires = slot->aborts = slot->recoveries = 0;
		slot->client.waits = slot->client.parks = 0;
		memset(slot->client.count, 0, sizeof slot->client.count);
	}
	return PAWL_SUCCESS;
}
