/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a rank and of a world: slots and words are free again, unless a rank has died. */
#include "sim/holds.h"

enum { RETRY_NS = 100, RETRY_MOST_NS = 100000 };

/* --------------------------------------------------------- the end of a rank */

/* The slots that are lost; and, at a lock where an operation failed, those that wait for others. */
static int count_lost(const struct sim_rank *r)
{
	const struct client_set *set = &r->clients;
	int lost = 0, waiting = 0;

	for (int i = 0; i < slots_used(set); i++) {
		lost += set->claims[i].owner == SLOTS_LOST;
		waiting +=
		    (set->claims[i].owner == SLOTS_LEFT || set->claims[i].owner == SLOTS_QUEUED ||
		     set->claims[i].owner == SLOTS_ABANDONED) &&
		    r->world->locks[set->slots[i].lock].broken;
	}
	if (lost > r->losses)
		sim_fail(r->world, SIM_MISUSE, "rank %d has lost %d slots by %d failures", r->id,
			 lost, r->losses);
	return lost + waiting;
}

/* Check that all slots can be used again, unless a rank that is needed has died. */
static void reclaim(struct sim_rank *r)
{
	struct client_set *set = &r->clients;
	uint64_t retry_ns = RETRY_NS;
	int most = r->world->setup.max_held, rc = PAWL_SUCCESS;

	while (client_in_use(set) + count_lost(r) < most && !r->world->deaths) {
		while (slots_claim_range(set, 0, &rc))
			;
		if (client_in_use(set) + count_lost(r) < most)
			sim_sleep(r, retry_ns * SIM_NS);
		/* A place in a queue may wait for a recovery, which takes several leases. */
		if (retry_ns < RETRY_MOST_NS)
			retry_ns *= 2;
	}
	for (int i = 0; i < slots_used(set); i++)
		if (slots_is_claimed(set, i))
			slots_give_back(set, &set->slots[i]);
}

void sim_settle(struct sim_rank *r)
{
	sim_join(r);
	/* With a lease, a place in a queue may stay until its client checks whether to recover it,
	 * if no other client comes. */
	if (r->world->request.lease_ns || sim_below(&r->random, 2))
		reclaim(r);
	client_settle(&r->clients);
	for (const struct sim_op *op = r->ops; op; op = op->next)
		if (!op->effective && !r->world->deaths && !r->world->failures)
			sim_fail(r->world, SIM_MISUSE,
				 "rank %d: operations are on their way after its end", r->id);
}

void sim_doubt(struct sim_world *w)
{
	for (struct sim_rank *r = w->ranks; r && w->request.doubt_ns; r = sim_next(r)) {
		if (r->line && (!r->alarm || r->alarm > engine_now() + 1)) {
			r->alarm = engine_now() + 1;
			engine_at(r->alarm, sim_alarm, r);
		}
	}
}

void sim_die(struct sim_rank *r)
{
	for (int i = 0; i < r->nheld; i++)
		sim_end_hold(&r->held[i]);
	r->dead = true;
	r->world->deaths++;
	sim_note(r, "dies");
	sim_recorder_end(r);
	sim_doubt(r->world);
}

void sim_count(const struct sim_rank *r, struct pawl_stats *stats)
{
	client_count(&r->clients, stats);
}

uint64_t sim_waits(const struct sim_rank *r)
{
	uint64_t waits = 0;

	for (int i = 0; i < slots_used(&r->clients); i++)
		waits += r->clients.slots[i].client.waits;
	return waits;
}

/* ------------------------------------------------------------- the end of a world */

static int64_t *word_of(void *arg, int rank, uint64_t offset)
{
	return sim_word(arg, rank, offset);
}

void sim_check_idle(struct sim_world *w)
{
	const struct lock_protocol *p = w->request.protocol;
	struct lock_memory memory = {word_of, w};
	char err[200] = "";

	if (w->failures && p->check && p->check->idle_together)
		return;

	for (uint64_t l = 0; p->check && p->check->idle && l < w->request.locks; l++)
		if (!w->locks[l].broken && !p->check->idle(&w->setup, l, &memory, err, sizeof err))
			sim_fail(w, SIM_NOT_IDLE, "no client holds or awaits lock %llu, but %s",
				 (unsigned long long)l, err);
}

static uint64_t recoveries_of(const struct sim_rank *r)
{
	struct pawl_stats stats;

	sim_count(r, &stats);
	return stats.recoveries;
}

void sim_check_spares(struct sim_world *w)
{
	const struct lock_protocol *p = w->request.protocol;
	struct lock_memory memory = {word_of, w};
	uint64_t recoveries = 0, taken;

	if (!p->check || !p->check->spares)
		return;
	for (int id = 0; id < w->request.ranks; id++)
		recoveries += recoveries_of(&w->ranks[id]);
	taken = p->check->spares(&w->setup, &memory);
	if (taken != recoveries)
		sim_fail(w, SIM_NOT_IDLE, "%llu spare copies are taken, for %llu recoveries",
			 (unsigned long long)taken, (unsigned long long)recoveries);
}

void sim_check_recoveries(struct sim_world *w)
{
	for (int id = 0; w->request.prompt && id < w->request.ranks; id++)
		if (recoveries_of(&w->ranks[id]))
			sim_fail(w, SIM_MISUSE,
				 "a recovery by rank %d, though no rank has died or was late", id);
}

void sim_age(struct sim_world *w)
{
	const struct lock_protocol *p = w->request.protocol;
	struct lock_memory memory = {word_of, w};

	for (uint64_t l = 0; p->check && p->check->age && l < w->request.locks; l++)
		p->check->age(&w->setup, l, &memory);
}
