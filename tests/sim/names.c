/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of locks, in worlds of the adversary: ranks ask for the same names at the same time, in an
 * order of their own, while operations take effect in any order. A name has one lock, on all ranks,
 * and a lock has one name. Without deaths, as many names fit as there are locks. The faults of
 * client/names.c must be found. Prints TAP.
 */
#include <string.h>

#include "lock/kinds.h"
#include "sim/adversary.h"
#include "tests/faults/faults.h"
#include "tests/tap.h"

enum { RANKS = 5, NAMES = 8, SEEDS = 400 };

/* Beginnings of each other, also where a word ends. */
static const char *const names[NAMES] = {
    "12345678",  "1234567",   "123456789", "1234567812345678",
    "12345678a", "12345678b", "x",         "12345678123456781"};

static uint64_t found[RANKS][NAMES]; /* lock + 1; 0: none */
static int refused;

static void play(struct sim_rank *r)
{
	int first = (int)sim_below(&r->random, NAMES), step = (int)sim_below(&r->random, 4) * 2 + 1;
	uint64_t lock;

	/* NAMES is a power of two, and the step is odd. */
	for (int i = 0; i < NAMES; i++) {
		int which = (first + i * step) % NAMES, rc;

		rc = client_named(&r->clients, names[which], &lock);
		if (rc == PAWL_SUCCESS)
			found[r->id][which] = lock + 1;
		else
			refused++;
	}
}

/* NULL: the names are right. */
static const char *check(bool dies)
{
	uint64_t lock[NAMES] = {0};

	for (int i = 0; i < NAMES; i++)
		for (int r = 0; r < RANKS; r++) {
			if (!found[r][i])
				continue;
			if (lock[i] && lock[i] != found[r][i])
				return "a name with two locks";
			lock[i] = found[r][i];
		}
	for (int i = 0; i < NAMES; i++)
		for (int k = 0; k < i; k++)
			if (lock[i] && lock[i] == lock[k])
				return "a lock with two names";
	return refused && !dies ? "no lock for a name" : NULL;
}

static const char *run(uint64_t seed, const char *topology)
{
	uint64_t random = sim_seed(seed, 1);
	struct adversary adversary;
	struct options o;
	struct sim_request q = {
	    .protocol = kinds_find("d-mcs"),
	    .options = &o,
	    .topology = topology,
	    .ranks = RANKS,
	    .locks = NAMES,
	    .seed = seed,
	    .timing = &adversary_timing,
	    .timing_state = &adversary,
	    .play = play,
	};
	struct sim_world *w;
	const char *wrong;
	bool dies = sim_below(&random, 2);

	adversary_draw(&adversary, &random);
	options_default(&o, q.protocol);
	o.names = NAMES_YES;
	o.home = sim_below(&random, 2) ? LOCK_HOME_CYCLIC : LOCK_HOME_BLOCK;
	memset(found, 0, sizeof found);
	refused = 0;
	w = sim_world_create(&q);
	if (!w)
		return "no world";
	for (int i = 0; dies && i < RANKS / 2; i++)
		w->ranks[i].lives = 1 + sim_below(&random, 60);
	wrong = sim_world_run(w) == SIM_FINE ? check(dies) : "a world that does not end";
	sim_world_free(w);
	return wrong;
}

/* wanted: whether a seed has to fail. */
static void simulate(const char *what, bool wanted)
{
	const char *wrong = NULL;
	uint64_t seed = 1;

	for (; seed <= SEEDS && !wrong; seed++)
		wrong = run(seed, seed % 2 ? "node:3 core:2" : "core:5");
	if (wrong)
		ok(wanted, "%s: %s, seed %d", what, wrong, (int)seed - 1);
	else
		ok(!wanted, "%s", what);
}

static void simulate_all(void *arg)
{
	(void)arg;
	simulate("one lock for each name, one name for each lock, no lock left over", false);
	fault_on = FAULT_client_name_swap;
	simulate("a fault is found: a swap that another client was before", true);
	fault_on = FAULT_client_name_end;
	simulate("a fault is found: names without their ends", true);
}

int main(void)
{
	int rc = engine_run(simulate_all, NULL);

	return tap_plan() || rc;
}
