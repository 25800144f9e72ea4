/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls on locks, and those for information about a table. */
#include <string.h>

#include "base/error.h"
#include "base/until.h"
#include "lock/kinds.h"
#include "table/table.h"

static bool is_intent(int mode)
{
	return (mode & ~PAWL_AHEAD) == PAWL_INTENT || (mode & ~PAWL_AHEAD) == PAWL_INTENT_SHARED;
}

int call_check_lock(const pawl_table *t, uint64_t lock, int mode)
{
	if (!t)
		return error_set(PAWL_ERR_ARG, "table is a null handle");
	if (life_check(t) != PAWL_SUCCESS)
		return life_check(t);
	if (mode != PAWL_EXCLUSIVE && mode != PAWL_SHARED && !is_intent(mode))
		return error_set(PAWL_ERR_ARG,
				 "mode: %d is none of PAWL_EXCLUSIVE (%d), PAWL_SHARED (%d),"
				 " PAWL_INTENT (%d) and PAWL_INTENT_SHARED (%d), the last two with"
				 " PAWL_AHEAD (+ %d) or without",
				 mode, PAWL_EXCLUSIVE, PAWL_SHARED, PAWL_INTENT, PAWL_INTENT_SHARED,
				 PAWL_AHEAD);
	if (call_check_name(t, lock) != PAWL_SUCCESS)
		return PAWL_ERR_RANGE;
	if (t->setup.protocol->kind.capabilities & PAWL_CAP_RANGES)
		return error_set(PAWL_ERR_UNSUPPORTED,
				 "%s has ranges, and no locks: pawl_range_acquire() takes them",
				 t->setup.protocol->kind.name);
	if (mode == PAWL_SHARED && !(t->setup.protocol->kind.capabilities & PAWL_CAP_SHARED))
		return error_set(PAWL_ERR_UNSUPPORTED, "%s has no mode PAWL_SHARED",
				 t->setup.protocol->kind.name);
	if (is_intent(mode) && !(t->setup.protocol->kind.capabilities & PAWL_CAP_INTENT))
		return error_set(PAWL_ERR_UNSUPPORTED, "%s has no mode %s",
				 t->setup.protocol->kind.name,
				 mode & PAWL_INTENT ? "PAWL_INTENT" : "PAWL_INTENT_SHARED");
	return PAWL_SUCCESS;
}

/* Whether call_check_lock() would succeed. */
static inline bool is_plain(const pawl_table *t, uint64_t lock, int mode)
{
	return t && lock < t->plain &&
	       (mode == PAWL_EXCLUSIVE || ((unsigned)mode < 32 && (t->plain_modes >> mode & 1)));
}

static int lost(const pawl_table *t, uint64_t lock, int rc)
{
	char why[CALL_LOSS_LENGTH];

	return error_set(
	    rc, "lock %llu%s: %s", (unsigned long long)lock, t->of_name,
	    call_loss(t, rc, "its home has died, or a rank that holds or awaits it", why));
}

RMA_SLOW_PATH int call_refused_lock(const pawl_table *t, uint64_t lock, int rc)
{
	if (client_has_lost(rc))
		return lost(t, lock, rc);
	if (rc == PAWL_ERR_HELD)
		return error_set(rc, "lock %llu%s is held by this thread already",
				 (unsigned long long)lock, t->of_name);
	if (rc == PAWL_ERR_BUSY)
		return error_note(rc, "another client has the lock");
	return call_refused(t, lock, rc);
}

/* After the checks. observe: those that look on, or NULL. Where nobody looks on, callers pass a
 * constant NULL, so that the compiler makes a copy without observers. One copy that tests
 * t->observe takes 32 instructions more for an acquire and a release in a table with several slots,
 * and 42 more for a try, since it saves more registers. */
RMA_INLINE int acquire(pawl_table *t, struct observe *observe, uint64_t lock, int mode,
		       uint64_t deadline_ns, bool tries, const void *site)
{
	int rc = PAWL_SUCCESS;
	struct lock_slot *slot = client_claim(&t->clients, lock, mode, NULL, &rc);
	struct observe_record r;

	if (!slot)
		return call_refused_lock(t, lock, rc);
	if (observe)
		r = observe_begin(observe, slot, mode, NULL, site);
	rc = client_enter(&t->clients, slot, rc, mode, NULL, deadline_ns, tries);
	if (observe)
		observe_acquired(observe, &r, slot, rc);
	return __builtin_expect(rc == PAWL_SUCCESS, 1) ? rc : call_refused_lock(t, lock, rc);
}

static RMA_SLOW_PATH int acquire_observed(pawl_table *t, uint64_t lock, int mode,
					  uint64_t deadline_ns, bool tries, const void *site)
{
	return acquire(t, t->observe, lock, mode, deadline_ns, tries, site);
}

RMA_INLINE int acquire_either(pawl_table *t, uint64_t lock, int mode, uint64_t deadline_ns,
			      bool tries, const void *site)
{
	return t->observe ? acquire_observed(t, lock, mode, deadline_ns, tries, site)
			  : acquire(t, NULL, lock, mode, deadline_ns, tries, NULL);
}

int call_acquire_lock(pawl_table *t, uint64_t lock, int mode, const void *site)
{
	return acquire_either(t, lock, mode, 0, false, site);
}

static __attribute__((noinline)) int acquire_checked(pawl_table *t, uint64_t lock, int mode,
						     uint64_t deadline_ns, const void *site)
{
	int rc = call_check_lock(t, lock, mode);

	return rc == PAWL_SUCCESS ? acquire_either(t, lock, mode, deadline_ns, false, site) : rc;
}

/* The common case of client_enter() is here; all else is a call, so that this needs few
 * registers. */
static __attribute__((noinline)) int acquire_general(pawl_table *t, uint64_t lock, int mode)
{
	return acquire(t, NULL, lock, mode, 0, false, NULL);
}

/* The end of a step that did not succeed; explain sets the message. */
static RMA_SLOW_PATH int end(pawl_table *t, struct lock_slot *slot, int rc,
			     int (*explain)(const pawl_table *, uint64_t, int))
{
	uint64_t lock = slot->lock;

	rc = client_end(&t->clients, slot, rc);
	return rc == PAWL_SUCCESS ? rc : explain(t, lock, rc);
}

RMA_INLINE int acquire_plain(pawl_table *t, struct lock_slot *slot, int mode, uint64_t deadline_ns)
{
	int rc;

	slot->mode = mode;
	slot->deadline_ns = deadline_ns;
	rc = t->setup.protocol->acquire(&t->setup, slot);
	if (__builtin_expect(rc != PAWL_SUCCESS, 0))
		return end(t, slot, rc, call_refused_lock);
	slot->acquires++;
	return PAWL_SUCCESS;
}

int pawl_lock_acquire(pawl_table *t, uint64_t lock, int mode)
{
	struct lock_slot *slot;

	if (!is_plain(t, lock, mode))
		return acquire_checked(t, lock, mode, 0, OBSERVE_SITE());
	if (__builtin_expect(t->clients.can_fail, 0))
		return acquire_general(t, lock, mode);
	slot = slots_claim_only(&t->clients, lock);
	if (__builtin_expect(!slot, 0))
		return acquire_general(t, lock, mode);
	return acquire_plain(t, slot, mode, 0);
}

int pawl_private_acquire(pawl_table *t, uint64_t lock, int mode, uint64_t deadline_ns)
{
	struct lock_slot *slot = NULL;

	if (t->plain && !t->clients.can_fail)
		slot = slots_claim_only(&t->clients, lock);
	if (__builtin_expect(!slot, 0))
		return acquire_checked(t, lock, mode, deadline_ns, OBSERVE_SITE());
	return acquire_plain(t, slot, mode, deadline_ns);
}

int pawl_lock_try_acquire(pawl_table *t, uint64_t lock, int mode)
{
	int rc = call_check_lock(t, lock, mode);

	if (rc == PAWL_SUCCESS)
		rc = call_check_try(t);
	return rc == PAWL_SUCCESS ? acquire_either(t, lock, mode, 0, true, OBSERVE_SITE()) : rc;
}

int pawl_lock_timed_acquire(pawl_table *t, uint64_t lock, int mode, double seconds)
{
	int rc = call_check_lock(t, lock, mode);
	uint64_t deadline_ns = 0;

	if (rc == PAWL_SUCCESS)
		rc = call_check_time(t, seconds, &deadline_ns);
	return rc == PAWL_SUCCESS
		   ? acquire_either(t, lock, mode, deadline_ns, false, OBSERVE_SITE())
		   : rc;
}

int call_not_held(const pawl_table *t, uint64_t lock)
{
	return error_set(PAWL_ERR_NOT_HELD, "lock %llu%s is not held by this thread%s",
			 (unsigned long long)lock, t->of_name,
			 client_other_thread_has(&t->clients, lock)
			     ? "; another thread of this process has it (with option owner=process"
			       " any thread may release it)"
			     : "");
}

struct lock_slot *call_held_lock(pawl_table *t, uint64_t lock, int *code)
{
	struct lock_slot *slot;

	*code = t ? call_check_lock(t, lock, PAWL_EXCLUSIVE)
		  : error_set(PAWL_ERR_ARG, "table is a null handle");
	if (*code != PAWL_SUCCESS)
		return NULL;
	slot = client_find(&t->clients, lock);
	if (!slot)
		*code = call_not_held(t, lock);
	return slot;
}

RMA_SLOW_PATH int call_failed_lock(const pawl_table *t, uint64_t lock, int rc)
{
	if (client_has_lost(rc))
		return lost(t, lock, rc);
	if (rc == PAWL_ERR_LEASE_LOST)
		return error_set(
		    rc,
		    "lock %llu%s was held longer than its lease, and others may have had it"
		    " since",
		    (unsigned long long)lock, t->of_name);
	return rc;
}

RMA_INLINE int release(pawl_table *t, struct observe *observe, uint64_t lock, const void *site)
{
	struct lock_slot *slot = client_find(&t->clients, lock);
	int rc;

	if (!slot)
		return call_not_held(t, lock);
	if (observe)
		observe_release(observe, slot, site);
	rc = client_leave(&t->clients, slot);
	if (observe)
		observe_released(observe, slot, rc);
	rc = client_give_back(&t->clients, slot, rc);
	return __builtin_expect(rc == PAWL_SUCCESS, 1) ? rc : call_failed_lock(t, lock, rc);
}

static RMA_SLOW_PATH int release_observed(pawl_table *t, uint64_t lock, const void *site)
{
	return release(t, t->observe, lock, site);
}

int call_release_lock(pawl_table *t, uint64_t lock, const void *site)
{
	return t->observe ? release_observed(t, lock, site) : release(t, NULL, lock, NULL);
}

static __attribute__((noinline)) int release_checked(pawl_table *t, uint64_t lock, const void *site)
{
	int rc = call_check_name(t, lock);

	return rc == PAWL_SUCCESS ? call_release_lock(t, lock, site) : rc;
}

static __attribute__((noinline)) int release_general(pawl_table *t, uint64_t lock)
{
	return release(t, NULL, lock, NULL);
}

/* As pawl_lock_acquire(). */
int pawl_lock_release(pawl_table *t, uint64_t lock)
{
	struct lock_slot *slot;
	int rc;

	if (!t)
		return error_set(PAWL_ERR_ARG, "table is a null handle");
	if (lock >= t->plain)
		return release_checked(t, lock, OBSERVE_SITE());
	slot = slots_find_only(&t->clients, lock);
	if (__builtin_expect(!slot || t->clients.can_fail, 0))
		return release_general(t, lock);
	rc = t->setup.protocol->release(&t->setup, slot);
	if (__builtin_expect(rc != PAWL_SUCCESS, 0))
		return end(t, slot, rc, call_failed_lock);
	slots_give_back_only(&t->clients);
	return PAWL_SUCCESS;
}

int pawl_lock_abandon(pawl_table *t, uint64_t lock)
{
	struct lock_slot *slot;
	int rc;

	if (!t)
		return error_set(PAWL_ERR_ARG, "table is a null handle");
	rc = call_check_name(t, lock);
	if (rc == PAWL_SUCCESS)
		rc = call_check_abandon(t);
	if (rc != PAWL_SUCCESS)
		return rc;
	slot = client_find(&t->clients, lock);
	if (!slot)
		return call_not_held(t, lock);
	if (t->observe)
		observe_abandon(t->observe, slot, OBSERVE_SITE());
	client_abandon(&t->clients, slot);
	return PAWL_SUCCESS;
}

static int check_part(const pawl_table *t, uint64_t whole, uint64_t part, int mode)
{
	int rc = call_check_lock(t, whole, mode == PAWL_SHARED ? PAWL_INTENT_SHARED : PAWL_INTENT);

	return rc == PAWL_SUCCESS ? call_check_lock(t, part, mode) : rc;
}

static int enter_part(pawl_table *t, uint64_t whole, uint64_t part, int mode, uint64_t deadline_ns,
		      uint64_t *about, const void *site)
{
	struct client_set *set = &t->clients;
	struct observe_record of_whole, of_part;
	struct lock_slot *w, *p;
	int rc = PAWL_SUCCESS;

	if (!client_claim_part(set, whole, part, &w, &p, about, &rc))
		return rc;
	if (t->observe) {
		of_whole = observe_begin(t->observe, w, client_intent_for(mode), NULL, site);
		of_part = observe_begin(t->observe, p, mode, NULL, site);
	}
	rc = client_enter_part(set, w, p, mode, deadline_ns);
	if (t->observe) {
		observe_acquired(t->observe, &of_whole, w, rc);
		observe_acquired(t->observe, &of_part, p, rc);
	}
	return rc;
}

static int leave_part(pawl_table *t, struct lock_slot *w, struct lock_slot *p, const void *site)
{
	int rc;

	if (t->observe) {
		observe_release(t->observe, p, site);
		observe_release(t->observe, w, site);
	}
	rc = client_leave_part(&t->clients, w, p);
	if (t->observe) {
		observe_released(t->observe, p, rc);
		observe_released(t->observe, w, rc);
	}
	return client_give_back_part(&t->clients, w, p, rc);
}

static int acquire_part(pawl_table *t, uint64_t whole, uint64_t part, int mode,
			uint64_t deadline_ns, const void *site)
{
	uint64_t about;
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
	rc = enter_part(t, whole, part, mode, deadline_ns, &about, site);
	return rc == PAWL_SUCCESS ? rc : call_refused_lock(t, about, rc);
}

int pawl_lock_acquire_part(pawl_table *t, uint64_t whole, uint64_t part, int mode)
{
	return acquire_part(t, whole, part, mode, 0, OBSERVE_SITE());
}

int pawl_private_acquire_part(pawl_table *t, uint64_t whole, uint64_t part, int mode,
			      uint64_t deadline_ns)
{
	return acquire_part(t, whole, part, mode, deadline_ns, OBSERVE_SITE());
}

int pawl_lock_release_part(pawl_table *t, uint64_t whole, uint64_t part)
{
	struct lock_slot *w, *p;
	int rc = check_part(t, whole, part, PAWL_EXCLUSIVE);

	if (rc != PAWL_SUCCESS)
		return rc;
	w = client_find(&t->clients, whole);
	p = client_find(&t->clients, part);
	if (!w || !p || !is_intent(w->mode) || is_intent(p->mode))
		return error_set(
		    PAWL_ERR_NOT_HELD,
		    "lock %llu with an intent and lock %llu exclusively or shared%s are"
		    " not both held by this %s",
		    (unsigned long long)whole, (unsigned long long)part, t->of_name,
		    t->clients.by_process ? "process" : "thread");
	rc = leave_part(t, w, p, OBSERVE_SITE());
	return rc == PAWL_SUCCESS ? rc : call_failed_lock(t, whole, rc);
}

int pawl_table_home(const pawl_table *t, uint64_t lock, int *rank)
{
	uint64_t index;
	int rc;

	if (!t || !rank)
		return error_set(PAWL_ERR_ARG, "%s is null", t ? "rank" : "table");
	rc = call_check_name(t, lock);
	if (rc != PAWL_SUCCESS)
		return rc;
	lock_home(&t->setup, lock, rank, &index);
	return PAWL_SUCCESS;
}

/* Copy what the caller has room for; 0 into members that only the caller knows. */
static int give(void *to, size_t room, const void *from, size_t size)
{
	if (!room)
		return error_set(PAWL_ERR_ARG, "size: 0; accepted: that of the structure");
	memcpy(to, from, room < size ? room : size);
	if (room > size)
		memset((char *)to + size, 0, room - size);
	return PAWL_SUCCESS;
}

int pawl_table_get_info_sized(const pawl_table *t, struct pawl_table_info *info, size_t size)
{
	struct pawl_table_info found;

	if (!t || !info)
		return error_set(PAWL_ERR_ARG, "%s is null", t ? "info" : "table");
	if (life_check(t) != PAWL_SUCCESS)
		return life_check(t);
	found = (struct pawl_table_info){
	    .kind = kinds_public(t->setup.protocol),
	    .n = t->setup.n,
	    .ranks = t->setup.topo->nranks,
	    .nodes = t->setup.topo->nnodes,
	    .levels = t->setup.topo->nlevels,
	    .max_held = t->setup.max_held,
	    .bytes = t->bytes,
	    .transport = t->rma.transport->name,
	    .topology = t->setup.topo->text,
	    .parameters = t->parameters,
	    .crowded = t->job->host_ranks > t->job->host_cores,
	    .name = t->name,
	};
	return give(info, size, &found, sizeof found);
}

int pawl_table_set_name(pawl_table *t, const char *name)
{
	int rc;

	if (!t)
		return error_set(PAWL_ERR_ARG, "table is a null handle");
	if (life_check(t) != PAWL_SUCCESS)
		return life_check(t);
	if (!name)
		name = "";
	rc = table_check_name(name);
	if (rc != PAWL_SUCCESS)
		return rc;
	strcpy(t->name, name);
	table_describe(t, t->setup.protocol, t->setup.n);
	return PAWL_SUCCESS;
}

int pawl_table_get_stats_sized(const pawl_table *t, struct pawl_stats *stats, size_t size)
{
	struct pawl_stats found;

	if (!t || !stats)
		return error_set(PAWL_ERR_ARG, "%s is null", t ? "stats" : "table");
	if (life_check(t) != PAWL_SUCCESS)
		return life_check(t);
	client_count(&t->clients, &found);
	return give(stats, size, &found, sizeof found);
}

int pawl_table_reset_stats(pawl_table *t)
{
	if (!t)
		return error_set(PAWL_ERR_ARG, "table is a null handle");
	if (life_check(t) != PAWL_SUCCESS)
		return life_check(t);
	client_reset(&t->clients);
	return PAWL_SUCCESS;
}
