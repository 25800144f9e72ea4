/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conditions and semaphores, in worlds of the adversary. A buffer: some ranks put things into it
 * and notify, the others wait until there is one; each thing is taken once, and no rank waits for
 * ever. A semaphore: never more clients have a permit than there are, none waits for ever, and at
 * the end the words are those of a semaphore that nobody uses. Waits have deadlines, or not. The
 * faults of events.c and semaphore.c must be found. Prints TAP.
 */
#include <stdio.h>

#include "client/events.h"
#include "lock/kinds.h"
#include "sim/adversary.h"
#include "tests/faults/faults.h"
#include "tests/tap.h"

enum { RANKS = 5, THINGS = 6, TURNS = 5, PERMITS = 2, SEEDS = 400, LOCK = 1 };

static int things, taken, inside;
static const char *wrong;

static void claim(bool right, const char *what)
{
	if (!right && !wrong)
		wrong = what;
}

static uint64_t draw_deadline(struct sim_rank *r)
{
	static const uint64_t most[] = {1, 100, 3000, 50000};
	uint64_t ns = sim_below(&r->random, most[sim_below(&r->random, 4)]);

	return sim_below(&r->random, 3) ? sim_now_ns(r) + ns + 1 : 0;
}

static struct lock_slot *acquire(struct sim_rank *r)
{
	int rc = PAWL_SUCCESS;
	struct lock_slot *slot = client_claim(&r->clients, LOCK, PAWL_EXCLUSIVE, NULL, &rc);

	if (slot)
		rc = client_enter(&r->clients, slot, rc, PAWL_EXCLUSIVE, NULL, 0, false);
	claim(rc == PAWL_SUCCESS && !inside++, "two holders");
	return slot;
}

static void release(struct sim_rank *r, struct lock_slot *slot)
{
	inside--;
	claim(client_release(&r->clients, slot) == PAWL_SUCCESS, "a release fails");
}

static void await_notification(struct sim_rank *r, struct lock_slot *slot)
{
	int early, rc;

	rc = event_enter(&r->clients, slot, 0);
	inside--;
	if (rc == PAWL_SUCCESS)
		rc = event_leave(&r->clients, slot);
	claim(rc == PAWL_SUCCESS, "a wait does not begin");
	early = event_await(&r->clients, slot, draw_deadline(r));
	rc = event_return(&r->clients, slot);
	claim(rc == PAWL_SUCCESS && !inside++, "two holders after a wait");
	rc = event_end(&r->clients, slot, 0);
	claim(rc == PAWL_SUCCESS || (rc == PAWL_ERR_TIMEOUT && early == rc), "a lost notification");
}

static void play_buffer(struct sim_rank *r)
{
	bool puts = r->id < 2;
	struct lock_slot *slot;
	int64_t woken;

	for (;;) {
		slot = acquire(r);
		if (puts && things < THINGS) {
			things++;
			event_notify(&r->clients, slot, 0, 1 + (int64_t)sim_below(&r->random, 2),
				     &woken);
		}
		while (!puts && things == taken && taken < THINGS)
			await_notification(r, slot);
		if (!puts && taken < things)
			taken++;
		/* The last thing: nobody else needs to wait. */
		if (taken == THINGS)
			event_notify(&r->clients, slot, 0, RANKS, &woken);
		release(r, slot);
		if (puts ? things == THINGS : taken == THINGS)
			return;
		sim_sleep(r, (sim_time)sim_below(&r->random, 2000) * SIM_NS);
	}
}

/* By one call, or in steps, after some of which the client still waits. */
static int take_permit(struct sim_rank *r)
{
	const bool tries = sim_below(&r->random, 4) == 0;
	struct lock_slot *slot;
	int rc;

	if (sim_below(&r->random, 2))
		return semaphore_acquire(&r->clients, LOCK, draw_deadline(r), tries);
	rc = semaphore_begin(&r->clients, LOCK, tries);
	if (rc != SEMAPHORE_QUEUED)
		return rc;
	slot = event_find(&r->clients, LOCK);
	do
		rc = semaphore_await(&r->clients, slot, draw_deadline(r));
	while (rc == PAWL_ERR_TIMEOUT && sim_below(&r->random, 3));
	return rc == PAWL_ERR_TIMEOUT ? semaphore_give_up(&r->clients, slot) : rc;
}

static void play_semaphore(struct sim_rank *r)
{
	for (int i = 0; i < TURNS; i++) {
		int rc = take_permit(r);

		if (rc != PAWL_SUCCESS) {
			claim(rc == PAWL_ERR_BUSY || rc == PAWL_ERR_TIMEOUT, "a strange code");
			continue;
		}
		claim(++inside <= PERMITS, "too many permits");
		sim_sleep(r, (sim_time)sim_below(&r->random, 3000) * SIM_NS);
		inside--;
		claim(semaphore_release(&r->clients, LOCK, 1, r->id % 2 ? PERMITS : 0) ==
			  PAWL_SUCCESS,
		      "no release");
	}
}

/* The words of the semaphore are at the home of the lock. */
static int64_t *semaphore_word(struct sim_world *w, enum event_word which)
{
	uint64_t index;
	int home;

	lock_home(&w->setup, LOCK, &home, &index);
	return sim_word(w, home, w->setup.events + index * EVENT_BYTES + which);
}

static void run(uint64_t seed, const char *kind, void (*play)(struct sim_rank *))
{
	uint64_t random = sim_seed(seed, 1);
	struct adversary adversary;
	struct options o;
	struct sim_request q = {
	    .protocol = kinds_find(kind),
	    .options = &o,
	    .topology = seed % 2 ? "node:3 core:2" : "core:5",
	    .ranks = RANKS,
	    .locks = 3,
	    .seed = seed,
	    .timing = &adversary_timing,
	    .timing_state = &adversary,
	    .posts = sim_below(&random, 2),
	    .most_accesses = 3000000,
	    .play = play,
	};
	struct sim_world *w;

	adversary_draw(&adversary, &random);
	options_default(&o, q.protocol);
	o.events = EVENTS_YES;
	things = taken = inside = 0;
	w = sim_world_create(&q);
	if (!w) {
		wrong = "no world";
		return;
	}
	*semaphore_word(w, EVENT_PERMITS) = PERMITS;
	if (sim_world_run(w) != SIM_FINE)
		claim(false, "a world that does not end");
	claim(*semaphore_word(w, EVENT_PERMITS) == PERMITS && !*semaphore_word(w, EVENT_GRANTS) &&
		  !*semaphore_word(w, EVENT_PERMIT_QUEUE) && !*semaphore_word(w, EVENT_QUEUE),
	      "words that are not those of an unused semaphore");
	sim_world_free(w);
}

static void simulate(const char *what, void (*play)(struct sim_rank *), bool wanted)
{
	static const char *const kinds[] = {"d-mcs", "mgl", "adaptive", "rma-mcs"};
	uint64_t seed = 1;

	wrong = NULL;
	for (; seed <= SEEDS && !wrong; seed++)
		run(seed, kinds[seed / 2 % 4], play);
	if (wrong)
		ok(wanted, "%s: %s, seed %d", what, wrong, (int)seed - 1);
	else
		ok(!wanted, "%s", what);
}

static void simulate_all(void *arg)
{
	static const struct {
		enum fault fault;
		void (*play)(struct sim_rank *);
	} faults[] = {{FAULT_event_late, play_buffer},
		      {FAULT_event_head, play_buffer},
		      {FAULT_semaphore_grants, play_semaphore},
		      {FAULT_semaphore_woken, play_semaphore}};

	(void)arg;
	simulate("a buffer, by a condition", play_buffer, false);
	simulate("a semaphore", play_semaphore, false);
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
		fault_on = faults[i].fault;
		simulate(fault_name(fault_on), faults[i].play, true);
	}
}

int main(void)
{
	int rc = engine_run(simulate_all, NULL);

	return tap_plan() || rc;
}
