/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations that each rank issues in virtual time; see count.h. */
#include "count.h"

#include "lock/kinds.h"
#include "sim/adversary.h"

static int status;

/* The turns are far apart, so that all leases are over after a whole round. */
static sim_time time_of(int turn)
{
	return (sim_time)(turn / COUNT_RANKS) * SIM_S + (sim_time)(turn % COUNT_RANKS + 1) * SIM_MS;
}

static void play(struct sim_rank *r)
{
	for (int turn = r->id; turn < COUNT_TURNS; turn += COUNT_RANKS) {
		sim_sleep(r, time_of(turn) - engine_now());
		sim_acquire(r, (uint64_t)turn % COUNT_LOCKS,
			    count_mode(&r->world->request.protocol->kind, turn), SIM_ACQUIRE, 0);
		sim_release(r);
	}
}

static void report(const struct sim_world *w)
{
	for (int id = 0; id < COUNT_RANKS; id++) {
		struct pawl_stats s;

		sim_count(&w->ranks[id], &s);
		count_print(w->request.protocol->kind.name, w->request.topology, id, &s);
	}
}

static void simulate(const struct lock_protocol *p, const char *topology)
{
	struct adversary calm = {.quick = 50, .slow = -1, .victim = -1};
	struct options o;
	struct sim_world *w;
	struct sim_request q = {
	    .protocol = p,
	    .options = &o,
	    .topology = topology,
	    .ranks = COUNT_RANKS,
	    .locks = COUNT_LOCKS,
	    .seed = 1,
	    .timing = &adversary_timing,
	    .timing_state = &calm,
	    .play = play,
	};

	options_default(&o, p);
	if (count_has(pawl_kind_find(p->kind.name), "lease"))
		options_set(&o, p, "lease", COUNT_LEASE, "the test");
	if (count_has(pawl_kind_find(p->kind.name), "patience"))
		options_set(&o, p, "patience", COUNT_PATIENCE, "the test");
	if (count_has(pawl_kind_find(p->kind.name), "stay"))
		options_set(&o, p, "stay", COUNT_STAY, "the test");
	w = sim_world_create(&q);
	if (!w || sim_world_run(w) != SIM_FINE) {
		fprintf(stderr, "%s: %s\n", p->kind.name, w ? w->why : pawl_error_message());
		status = 1;
	} else {
		report(w);
	}
	if (w)
		sim_world_free(w);
}

/* Kinds of locks, except the MPI's own. */
static bool plays(const struct lock_protocol *p)
{
	return !p->mpi && !(p->kind.capabilities & PAWL_CAP_RANGES);
}

static void simulate_all(void *arg)
{
	const struct lock_protocol *p;

	(void)arg;
	for (int i = 0; (p = kinds_get(i)); i++)
		for (int k = 0; count_topologies[k] && plays(p); k++)
			simulate(p, count_topologies[k]);
}

int main(void)
{
	return engine_run(simulate_all, NULL) || status;
}
