/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fetch-or and fetch-and of the simulator's transport: each rank sets and clears a bit of its own
 * in a word that all share. An operation that is not atomic loses another rank's bit. Prints TAP;
 * any failed check fails the program.
 */

#include "lock/kinds.h"
#include "sim/adversary.h"
#include "tests/tap.h"

enum { RANKS = 4, ROUNDS = 20, SEEDS = 20 };

static bool lost;

/* A word of rank 0 that no lock uses, since nobody acquires one. */
static struct rma_word shared_word(struct sim_rank *r)
{
	const struct lock_setup *s = &r->world->setup;

	return rma_word(&r->rma, s->domain, 0,
			s->slots + (s->domain == RMA_NODE ? SLOT_NEXT_NODE : SLOT_NEXT_NET));
}

static int64_t change(struct rma_client *c, struct rma_word w, enum rma_op op, int64_t value)
{
	int64_t old;

	rma_fao(c, w, op, value, &old);
	rma_flush(c, w); /* orders the operation before the look at old */
	return old;
}

static void play(struct sim_rank *r)
{
	struct rma_client c = {.rma = &r->rma};
	struct rma_word w = shared_word(r);
	int64_t mine = INT64_C(1) << (r->id * 20);

	for (int i = 0; i < ROUNDS; i++) {
		lost = lost || (change(&c, w, RMA_OR, mine) & mine);
		sim_sleep(r, (sim_time)sim_below(&r->random, 1000));
		lost = lost || !(change(&c, w, RMA_OR, mine) & mine);
		lost = lost || !(change(&c, w, RMA_AND, ~mine) & mine);
	}
}

/* Whether some bit was lost, in worlds of this kind. */
static void simulate(const char *topology, const char *what)
{
	struct options o;

	lost = false;
	options_default(&o, kinds_find("d-mcs"));
	for (int seed = 1; seed <= SEEDS && !lost; seed++) {
		struct adversary calm = {.quick = 50, .slow = -1, .victim = -1};
		struct sim_request q = {
		    .protocol = kinds_find("d-mcs"),
		    .options = &o,
		    .topology = topology,
		    .ranks = RANKS,
		    .locks = 1,
		    .seed = (uint64_t)seed,
		    .timing = &adversary_timing,
		    .timing_state = &calm,
		    .play = play,
		};
		struct sim_world *w = sim_world_create(&q);

		lost = lost || !w || sim_world_run(w) != SIM_FINE;
		if (w)
			sim_world_free(w);
	}
	ok(!lost, "fetch-or and fetch-and: %s", what);
}

static void simulate_all(void *arg)
{
	(void)arg;
	simulate("node:2 core:2", "words of the network");
	simulate("core:4", "words of a node");
}

int main(void)
{
	int rc = engine_run(simulate_all, NULL);

	return tap_plan() || rc;
}
