/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of a slot after its protocol has acted. Each call ends with the slot in one of the
 * states of slots.h, and with one code.
 */
#include "client/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sparse.h"

/* ------------------------------------------------------------------ the set */

bool client_open(struct client_set *set, const struct lock_setup *s, struct rma *r)
{
	size_t n = (size_t)s->max_held;
	uint64_t words = s->protocol->scratch_words ? s->protocol->scratch_words(s) : 0;

	set->setup = s;
	set->rma = r;
	set->claims = calloc(n, sizeof *set->claims);
	set->slots = calloc(n, sizeof *set->slots);
	set->scratch_words = n * (words ? words : 1);
	set->scratch = sparse_array(set->scratch_words, sizeof *set->scratch);
	set->requests = calloc(n, sizeof *set->requests);
	if (!set->claims || !set->slots || !set->scratch || !set->requests)
		return false;
	for (size_t i = 0; i < n; i++)
		slots_set_lock(&set->claims[i], SLOTS_NO_LOCK);
	slots_prepare(set, 0); /* table/lease.c uses it to measure an operation */
	return true;
}

void client_close(struct client_set *set)
{
	client_drop_requests(set);
	free(set->claims);
	free(set->slots);
	sparse_free(set->scratch, set->scratch_words, sizeof *set->scratch);
}

/* ------------------------------------------------------------------ acquire */

int client_end(struct client_set *set, struct lock_slot *slot, int rc)
{
	if (client_has_lost(rc)) {
		slots_lose(set, slot);
		return rc;
	}
	if (rc == PAWL_RECOVERED) {
		slot->acquires++;
		return rc;
	}
	if (rc == LOCK_QUEUED) {
		slots_queue(set, slot);
		return PAWL_ERR_TIMEOUT;
	}
	if (rc == LOCK_LEFT) {
		slots_leave(set, slot);
		return PAWL_SUCCESS;
	}
	slots_end(set, slot);
	return rc;
}

/* Whether the calling thread would wait for itself. Also notes in the slot whether the thread has
 * other ranges of the space. Does not look where threads share their ranges, because other threads
 * may acquire and release meanwhile. */
bool client_meets_itself(const struct client_set *set, struct lock_slot *slot)
{
	const struct lock_protocol *p = set->setup->protocol;
	const struct lock_slot *other;
	int i = 0;

	slot->others = false;
	if (FAULT(client_held))
		return false;
	while ((other = slots_next_range(set, slot, &i))) {
		slot->others = true;
		if (!(set->threaded && set->by_process) &&
		    p->range->keeps_out(set->setup, other, slot->first, slot->last))
			return true;
	}
	return false;
}

/* The slot may still be in the queue of its lock. A try resumes with a deadline in the past. */
int client_resume(struct client_set *set, struct lock_slot *slot, uint64_t deadline_ns, bool tries)
{
	int rc;

	slot->deadline_ns = tries ? 1 : deadline_ns;
	rc = client_perform(set, slot, set->setup->protocol->timed->resume);
	slot->deadline_ns = deadline_ns;
	if (rc == LOCK_PASSED)
		rc = client_act(set, slot, slot->mode, deadline_ns, tries);
	else if (rc == PAWL_SUCCESS)
		slot->acquires++;
	else
		rc = client_end(set, slot, rc);
	return rc == PAWL_ERR_TIMEOUT && tries ? PAWL_ERR_BUSY : rc;
}

/* The try came to nothing: it may have met a release of this process that is on its way. */
int client_try_again(struct client_set *set, struct lock_slot *slot)
{
	const struct lock_protocol *p = set->setup->protocol;

	if (!p->posts_unmarked)
		return PAWL_ERR_BUSY;
	if (!FAULT(client_own))
		slots_settle_left(set);
	return client_perform(set, slot, p->try_acquire);
}

/* ---------------------------------------------- what holders do beside releases */

int client_upgrade(struct client_set *set, struct lock_slot *slot, uint64_t deadline_ns)
{
	slot->deadline_ns = deadline_ns;
	return client_end_if_lost(set, slot,
				  client_perform(set, slot, set->setup->protocol->change->upgrade));
}

int client_downgrade(struct client_set *set, struct lock_slot *slot)
{
	return client_end_if_lost(
	    set, slot, client_perform(set, slot, set->setup->protocol->change->downgrade));
}

static bool has_lives(const struct client_set *set, struct lock_slot *slot)
{
	const struct lock_setup *s = set->setup;

	return s->lives && s->protocol->recover->life(s, slot).copy;
}

int client_repair(struct client_set *set, struct lock_slot *slot)
{
	if (!has_lives(set, slot))
		return PAWL_SUCCESS;
	return client_end_if_lost(set, slot, client_perform(set, slot, life_repair));
}

static int look(const struct lock_setup *s, struct lock_slot *slot)
{
	return life_is_told(s, slot, s->protocol->recover->life(s, slot).copy) ? PAWL_RECOVERED
									       : PAWL_SUCCESS;
}

int client_is_repaired(struct client_set *set, struct lock_slot *slot, bool *repaired)
{
	int rc = has_lives(set, slot) ? client_perform(set, slot, look) : PAWL_SUCCESS;

	*repaired = rc == PAWL_SUCCESS;
	return client_has_got(rc) ? PAWL_SUCCESS : client_end_if_lost(set, slot, rc);
}

int client_number(struct client_set *set, struct lock_slot *slot, int64_t *token)
{
	int rc = client_end_if_lost(set, slot, client_perform(set, slot, life_number));

	*token = slot->token;
	return rc;
}

/* ------------------------------------------------------------------ release */

void client_abandon(struct client_set *set, struct lock_slot *slot)
{
	slots_abandon(set, slot);
}

static int complete(const struct lock_setup *s, struct lock_slot *slot)
{
	(void)s;
	/* Orders posted operations before the end of the table at their target; pairs with the
	 * barriers there. */
	rma_flush_all(&slot->client, true);
	return PAWL_SUCCESS;
}

void client_settle(struct client_set *set)
{
	for (int i = 0; set->claims && i < slots_used(set) && !FAULT(client_settle); i++)
		if (slots_claim_left(set, i)) {
			client_perform(set, &set->slots[i], complete);
			slots_lose(set, &set->slots[i]);
		}
}

/* -------------------------------------------------------------------- parts */

static int release_part(const struct lock_setup *s, struct lock_slot *whole, struct lock_slot *part)
{
	return s->protocol->part->release(s, whole, part);
}

static int perform_part(struct client_set *set, struct lock_slot *whole, struct lock_slot *part,
			int (*how)(const struct lock_setup *, struct lock_slot *,
				   struct lock_slot *))
{
	if (set->can_fail)
		return guard_run_part(set->setup, whole, part, how);
	return how(set->setup, whole, part);
}

bool client_claim_part(struct client_set *set, uint64_t whole, uint64_t part, struct lock_slot **w,
		       struct lock_slot **p, uint64_t *about, int *code)
{
	*about = whole;
	*w = slots_claim(set, whole, 0, code);
	if (!*w)
		return false;
	*p = slots_claim(set, part, 0, code);
	if (*p)
		return true;
	*about = part;
	slots_give_back(set, *w);
	return false;
}

int client_enter_part(struct client_set *set, struct lock_slot *w, struct lock_slot *p, int mode,
		      uint64_t deadline_ns)
{
	int rc;

	w->mode = client_intent_for(mode);
	p->mode = mode;
	w->deadline_ns = p->deadline_ns = deadline_ns;
	rc = perform_part(set, w, p, set->setup->protocol->part->acquire);
	if (rc == PAWL_ERR_TIMEOUT) {
		client_end(set, p, p->code);
		client_end(set, w, w->code);
		return rc;
	}
	if (rc != PAWL_SUCCESS)
		return client_give_back_part(set, w, p, rc);
	w->acquires++;
	p->acquires++;
	return PAWL_SUCCESS;
}

int client_leave_part(struct client_set *set, struct lock_slot *w, struct lock_slot *p)
{
	return perform_part(set, w, p, release_part);
}

/* Neither slot holds anything now. Both are lost if a rank that they need has died. */
int client_give_back_part(struct client_set *set, struct lock_slot *w, struct lock_slot *p, int rc)
{
	client_end(set, p, rc);
	return client_end(set, w, rc);
}

int client_release_part(struct client_set *set, struct lock_slot *whole, struct lock_slot *part)
{
	return client_give_back_part(set, whole, part, client_leave_part(set, whole, part));
}

/* ------------------------------------------------------- spaces of other sizes */

/* The protocol's grow and shrink in the form that the guard runs. grow stores in slot->last the
 * number of units that the space then has; shrink takes the new number from slot->first. */
static int grow(const struct lock_setup *s, struct lock_slot *slot)
{
	return s->protocol->range->grow(s, slot, &slot->last);
}

static int shrink(const struct lock_setup *s, struct lock_slot *slot)
{
	s->protocol->range->shrink(s, slot, slot->first);
	return PAWL_SUCCESS;
}

/* Claims a slot during the call. */
static int resize(struct client_set *set, uint64_t space, int64_t *units,
		  int (*how)(const struct lock_setup *, struct lock_slot *))
{
	int rc = PAWL_SUCCESS;
	struct lock_slot *slot = slots_claim_range(set, space, &rc);

	if (!slot)
		return rc;
	slot->first = *units;
	rc = client_perform(set, slot, how);
	*units = slot->last;
	return client_end(set, slot, rc);
}

int client_grow(struct client_set *set, uint64_t space, int64_t *units)
{
	*units = 0;
	return resize(set, space, units, grow);
}

int client_shrink(struct client_set *set, uint64_t space, int64_t units)
{
	return resize(set, space, &units, shrink);
}

void client_forget(struct client_set *set)
{
	for (int i = 0; i < slots_used(set); i++)
		set->setup->protocol->range->forget(set->setup, &set->slots[i]);
}

/* -------------------------------------------------------------- for messages */

int client_in_use(const struct client_set *set)
{
	int n = 0;

	for (int i = 0; i < slots_used(set); i++)
		n += slots_is_claimed(set, i);
	return n;
}

bool client_is_whole(const struct client_set *set)
{
	for (int i = 0; i < slots_used(set); i++)
		if (atomic_load(&set->claims[i].owner) == SLOTS_LOST)
			return false;
	return true;
}

void client_copy_counts(struct lock_slot *to, const struct lock_slot *from)
{
	to->acquires = from->acquires;
	to->aborts = from->aborts;
	to->recoveries = from->recoveries;
	to->client.waits = from->client.waits;
	to->client.parks = from->client.parks;
	memcpy(to->client.count, from->client.count, sizeof to->client.count);
}

static void begin_anew(struct client_set *set, int index)
{
	struct lock_slot *slot = &set->slots[index], fresh = {.id = 0};
	const uint64_t words = set->scratch_words / (uint64_t)set->setup->max_held;

	if (slot->id == 0)
		return;
	client_copy_counts(&fresh, slot);
	memcpy(slot, &fresh, sizeof fresh);
	memset(set->scratch + (uint64_t)index * words, 0, words * sizeof *set->scratch);
	slots_prepare(set, index);
	slots_give_back(set, slot);
}

void client_begin_anew(struct client_set *set)
{
	for (int i = 0; i < set->setup->max_held; i++)
		begin_anew(set, i);
}

bool client_find_own_range(const struct client_set *set, uint64_t space,
			   const struct client_units *wanted, struct client_units *own)
{
	const struct lock_protocol *p = set->setup->protocol;
	const struct lock_slot none = {.index = -1, .lock = space}, *slot;
	int i = 0;

	while ((slot = slots_next_range(set, &none, &i)))
		if (p->range->keeps_out(set->setup, slot, wanted->first, wanted->last)) {
			*own = (struct client_units){slot->first, slot->last};
			return true;
		}
	return false;
}

/* "lock 17 exclusively". Another thread's slot may change meanwhile. */
static size_t print_one(const struct lock_slot *slot, bool range, char *text, size_t len)
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

void client_list_held(const struct client_set *set, char *text, size_t len)
{
	enum { FEW = 4 };
	bool ranges = set->setup->protocol->kind.capabilities & PAWL_CAP_RANGES;
	int listed = 0, n = client_in_use(set);
	size_t used = 0;

	text[0] = '\0';
	for (int i = 0; i < slots_used(set) && listed < FEW && used < len; i++) {
		if (!slots_is_claimed(set, i))
			continue;
		if (listed++ > 0)
			used += (size_t)snprintf(text + used, len - used, ", ");
		if (used < len)
			used += print_one(&set->slots[i], ranges, text + used, len - used);
	}
	if (n > listed && used < len)
		snprintf(text + used, len - used, " and %d more", n - listed);
}

void client_count(const struct client_set *set, struct pawl_stats *stats)
{
	memset(stats, 0, sizeof *stats);
	for (int i = 0; i < slots_used(set); i++) {
		const struct lock_slot *slot = &set->slots[i];

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
}

void client_reset(struct client_set *set)
{
	for (int i = 0; i < slots_used(set); i++) {
		struct lock_slot *slot = &set->slots[i];

		slot->acquires = slot->aborts = slot->recoveries = 0;
		slot->client.waits = slot->client.parks = 0;
		memset(slot->client.count, 0, sizeof slot->client.count);
	}
}
