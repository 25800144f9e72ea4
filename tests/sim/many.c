/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time and the operations of an acquire of several free locks, in virtual time where a message
 * takes a microsecond: with kinds that have tries in two steps, k locks at any homes take one round
 * trip, and their release one. Prints TAP.
 */
#include "lock/kinds.h"
#include "sim/sim.h"
#include "tests/tap.h"

#include <stdio.h>

enum { RANKS = 4, LOCKS = 8, MOST = SIM_HELD };
#define MESSAGE (1000 * SIM_NS)

static int at_once;      /* locks of this world */
static sim_time took[2]; /* acquire, release */
static struct pawl_stats issued;

static sim_time no_time(struct sim_rank *r, struct rma_word w, enum sim_call call)
{
	(void)r, (void)w, (void)call;
	return 0;
}

static sim_time send_op(struct sim_op *op)
{
	engine_at(engine_now() + MESSAGE, sim_effect, op);
	return 0;
}

static sim_time answer_time(const struct sim_op *op)
{
	(void)op;
	return MESSAGE;
}

static sim_time at_once_noticed(struct sim_rank *r, struct rma_word w)
{
	(void)r, (void)w;
	return 0;
}

static sim_time pause_time(struct sim_rank *r, uint64_t ns)
{
	(void)r;
	return (ns + 1) * SIM_NS;
}

static const struct sim_timing timing = {
    .access = no_time,
    .send = send_op,
    .push = NULL, /* nothing is held back */
    .answer = answer_time,
    .notice = at_once_noticed,
    .pause = pause_time,
};

static void play(struct sim_rank *r)
{
	static const uint64_t locks[] = {2, 4, 6}; /* at homes 1, 2 and 3 */
	static const int modes[] = {PAWL_EXCLUSIVE, PAWL_EXCLUSIVE, PAWL_EXCLUSIVE};
	sim_time began = engine_now();

	if (r->id != 0)
		return;
	sim_acquire_many(r, at_once, locks, modes, SIM_ACQUIRE, 0);
	took[0] = engine_now() - began;
	began = engine_now();
	sim_release_many(r);
	took[1] = engine_now() - began;
	sim_count(r, &issued);
}

static bool simulate(const struct lock_protocol *p, int n)
{
	struct options o;
	struct sim_world *w;
	struct sim_request q = {
	    .protocol = p,
	    .options = &o,
	    .topology = "node:4 core:1",
	    .ranks = RANKS,
	    .locks = LOCKS,
	    .seed = 1,
	    .timing = &timing,
	    .slots = MOST,
	    .play = play,
	};
	bool fine;

	options_default(&o, p);
	at_once = n;
	w = sim_world_create(&q);
	fine = w && sim_world_run(w) == SIM_FINE;
	if (!fine)
		printf("# %s: %s\n", p->kind.name, w ? w->why : "no world");
	if (w)
		sim_world_free(w);
	return fine;
}

static void simulate_kind(const struct lock_protocol *p)
{
	bool fine = simulate(p, MOST);
	/* of the latency that one message needs, rounded */
	int trips[2] = {(int)((took[0] + MESSAGE) / (2 * MESSAGE)),
			(int)((took[1] + MESSAGE) / (2 * MESSAGE))};

	fine = fine && issued.acquires == MOST && issued.atomics[1] == 2 * MOST &&
	       issued.gets[1] + issued.puts[1] == 0 && trips[0] == 1 && trips[1] == 1;
	ok(fine,
	   "%s: %d free locks at %d homes: %d round trip to acquire, %d to release, %d atomics",
	   p->kind.name, MOST, MOST, trips[0], trips[1], (int)issued.atomics[1]);
}

static void simulate_all(void *arg)
{
	const struct lock_protocol *p;

	(void)arg;
	for (int i = 0; (p = kinds_get(i)); i++)
		if (p->many)
			simulate_kind(p);
}

int main(void)
{
	int rc = engine_run(simulate_all, NULL);

	return tap_plan() || rc;
}
