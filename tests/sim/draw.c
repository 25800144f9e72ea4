/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Draws a world from a seed. Worlds are small, because errors show with few ranks, and many small
 * worlds have more orders than a big one. A few are wide, for what depends on the number of nodes.
 * In some of them ranks go on until the slowest has had its share, which tests kinds that claim to
 * be fair. In some of these no rank stops, and critical sections outlast releases; there the kind's
 * bound on overtaking is checked.
 */
#include "draw.h"

#include "options/option_spec.h"

#include <stdio.h>
#include <string.h>

enum { MOST_ACCESSES = 1000000, OUTSTAY_NS = 5000, PER_CENT = 100, PER_MILLE = 1000 };
enum { LIFE = 200 /* the most accesses until a rank dies */ };
enum { UNITS = 20 /* units of a space, for kinds without a tree */ };
enum {
	SHORTAGE_NS =
	    2000 /* the longest time until the next attempt of a rank without a free slot */
};
enum { CALM_NS = 4000000 /* no wait of a calm world takes longer, if no operation fails */ };
enum { NAPS = 4, NAPPERS = 60 /* per cent of the ranks */ };
enum {
	MOST_ATTEMPTS = 20000, /* of a rank, until all have had their share; */
	MOST_UNTESTED = 1000   /* then a request is tested after so many ns */
};

static const struct {
	const char *text;
	int ranks;
} topologies[] = {
    {"core:2", 2},
    {"core:3", 3},
    {"package:2 core:2", 4},
    {"node:2 core:1", 2},
    {"node:3 core:1", 3},
    {"node:2 core:2", 4},
    {"node:2 core:2", 3},
    {"node:4 core:2", 8},
    {"cyclic node:2 core:3", 6},
    {"node:2 package:2 core:2", 8},
    {"rack:2 node:2 core:1", 4},
    {"rack:2 node:2 core:2", 7},
};

enum { TOPOLOGIES = sizeof topologies / sizeof topologies[0], VALUES = 4 };

/* Small thresholds, which are reached soon; "" is the default. */
static const struct {
	const char *name;
	const char *value[VALUES];
} choices[] = {
    {"t_l", {"1", "2", "3", ""}},           {"t_dc", {"0", "1", "2", "4"}},
    {"t_r", {"1", "2", "8", ""}},           {"t_w", {"0", "1", "2", "3"}},
    {"backoff_min", {"1", "1", "10", ""}},  {"local_budget", {"1", "2", "3", ""}},
    {"remote_budget", {"1", "2", "4", ""}}, {"patience", {"0", "1", "20", ""}},
    {"stay", {"0", "1", "3", ""}},
};

enum { CHOICES = sizeof choices / sizeof choices[0] };

static bool takes(const struct lock_protocol *p, const char *name)
{
	return option_spec_find(p, name) != NULL;
}

/* Wide worlds have more nodes than any field of a word has bits for, than are asked at a time, and
 * than have first shares or posted releases; and nodes of several sizes. They are rare because each
 * takes as long as ten others. */
enum {
	NARROW_RANKS = 8,
	WIDE_ONE_OF = 60,
	WIDE_NODES = 24,
	WIDE_RANKS = 43,
	WIDE_LEAST = 9,
	WIDE_ATTEMPTS = 4
};

static void draw_topology(struct draw *d, uint64_t *random, const struct draw_size *size)
{
	static const char *const forms[] = {"", "cyclic ", "package:2 "};
	int nodes = sim_below(random, 3) ? 2 + (int)sim_below(random, WIDE_NODES - 1)
					 : WIDE_NODES - (int)sim_below(random, 8);
	int cores = 1 + (int)sim_below(random, 4), form = (int)sim_below(random, 3), ranks, most;

	if (!(size->wide || size->nodes || sim_below(random, WIDE_ONE_OF) == 0))
		return;
	if (nodes * cores < WIDE_LEAST)
		cores = 2 * cores + WIDE_LEAST / nodes;
	if (nodes * cores > WIDE_RANKS)
		cores = (WIDE_RANKS - 1) / (nodes - 1);
	/* The last node has one rank, all that it can have, or some. */
	most = nodes * cores < WIDE_RANKS ? nodes * cores : WIDE_RANKS;
	ranks = (nodes - 1) * cores + 1;
	if (sim_below(random, 3) && ranks < most)
		ranks = sim_below(random, 2)
			    ? most
			    : ranks + (int)sim_below(random, (uint64_t)(most - ranks));
	if (ranks < WIDE_LEAST)
		ranks = WIDE_LEAST;
	if (size->nodes) {
		nodes = size->nodes;
		cores = size->cores;
		ranks = nodes * cores;
	}
	snprintf(d->topology, sizeof d->topology, "%snode:%d %score:%d", form == 1 ? forms[1] : "",
		 nodes, form == 2 && cores % 2 == 0 ? forms[2] : "",
		 form == 2 && cores % 2 == 0 ? cores / 2 : cores);
	d->wide = true;
	d->attempts = 1 + d->attempts % WIDE_ATTEMPTS;
	d->lagging = ranks;
	d->request.topology = d->topology;
	d->request.ranks = ranks;
	/* All of them poll. */
	d->request.most_accesses = MOST_ACCESSES / NARROW_RANKS * (uint64_t)ranks;
}

/* Limits as in the library; a random sequence of its own, as in draw_many(). */
static void draw_limits(struct draw *d, uint64_t seed)
{
	uint64_t random = sim_seed(seed, 1u << 25);

	d->limits = fault_on != FAULT_NONE || sim_below(&random, 4) ? LIMITS_FEW
		    : sim_below(&random, 2)                         ? LIMITS_AS_BUILT
								    : LIMITS_SIZES_AS_BUILT;
	fault_limits = d->limits;
}

/* Leases. If they serve recovery, no rank that lives may lose a lock by the adversary's
 * short stops; if readers depend on them, readers may. */
static bool draw_lease(struct draw *d, const struct lock_protocol *p, uint64_t *random)
{
	static const int forgets[] = {0, 0, 50, 300};
	static const char *const recovery[VALUES] = {"0", "0", "1000", "10000"};
	static const char *const reading[VALUES] = {"5", "20", "50", "200"};
	/* Leases of ranges: a waiter looks at each step of a lease, and needs many steps. */
	static const char *const steps[VALUES] = {"0", "0", "1000", "2000"};
	bool recovers = p->kind.capabilities & PAWL_CAP_RECOVERS;
	const char *const *values = !recovers ? reading : takes(p, "units") ? steps : recovery;
	const char *value = values[sim_below(random, VALUES)];
	size_t used = strlen(d->text);

	if (!takes(p, "lease"))
		return true;
	snprintf(d->text + used, sizeof d->text - used, ", lease %s", value);
	if (options_set(&d->options, p, "lease", value, "the test") != PAWL_SUCCESS)
		return false;
	d->request.lease_ns = (uint64_t)options_number(&d->options, "lease", 0) * 1000;
	d->adversary.dozes = values == steps && d->request.lease_ns;
	/* Long enough for a recovery to happen meanwhile, and too short to cause one. */
	if (d->adversary.dozes && sim_below(random, 2))
		d->inside = d->request.lease_ns / 5;
	/* Many ranks wait for each other, each holds for most of a lease, and all live. */
	d->request.prompt = d->adversary.dozes && sim_below(random, 3) == 0;
	if (d->request.prompt) {
		d->inside = d->request.lease_ns / 5 * 4;
		d->away = 1;
		return true;
	}
	if (!recovers) {
		d->request.clock_error_ns = sim_below(random, 2) ? d->request.lease_ns / 2 : 0;
		d->sleeps = sim_below(random, 2) ? 200 : 0;
	} else if (d->request.lease_ns && !d->until_all_done) {
		d->deaths = (int)sim_below(random, (uint64_t)d->request.ranks);
		d->forgets = forgets[sim_below(random, 4)];
		d->sleeps = sim_below(random, 2) ? 50 : 0;
		d->naps = sim_below(random, 3) ? 10u << sim_below(random, 4) : 0;
	}
	return true;
}

static bool draw_options(struct draw *d, const struct lock_protocol *p, uint64_t *random)
{
	size_t used = strlen(d->text);

	options_default(&d->options, p);
	d->options.home = sim_below(random, 2) ? LOCK_HOME_CYCLIC : LOCK_HOME_BLOCK;
	for (int i = 0; i < CHOICES; i++) {
		const char *value = choices[i].value[sim_below(random, VALUES)];

		/* With the default an element may keep the lock for tens of
		 * thousands of acquires, which is fair but takes too long here. */
		if (!value[0] && d->until_all_done && strcmp(choices[i].name, "t_l") == 0)
			value = "8";
		/* The same of a node that is asked for the lock. */
		if (!value[0] && d->until_all_done && strcmp(choices[i].name, "stay") == 0)
			value = "8";
		/* The same of a client that comes back before the patience of the head is over. */
		if (!value[0] && d->until_all_done && strcmp(choices[i].name, "patience") == 0)
			value = "1";
		/* A client that waits for the other cohort polls; fewer turns make fewer polls. */
		if (!value[0] && d->until_all_done && strstr(choices[i].name, "budget"))
			value = "4";
		if (!takes(p, choices[i].name) || !value[0])
			continue;
		if (options_set(&d->options, p, choices[i].name, value, "the test") != PAWL_SUCCESS)
			return false;
		used += (size_t)snprintf(d->text + used, sizeof d->text - used, ", %s %s",
					 choices[i].name, value);
	}
	return true;
}

/* Small trees, with all ways for clients to meet. */
static bool draw_tree(struct draw *d, const struct lock_protocol *p, uint64_t *random)
{
	static const char *const names[] = {"units", "units_most", "growth", "k", "m"};
	static const char *const values[][VALUES] = {{"256", "1024", "1024", "4096"},
						     {"4096", "4096", "16384", "65536"},
						     {"auto", "auto", "auto", "call"},
						     {"1", "2", "3", "0"},
						     {"1", "2", "3", "4"}};

	for (int i = 0; i < 5; i++) {
		const char *value = values[i][takes(p, names[i]) ? sim_below(random, VALUES) : 0];
		size_t used = strlen(d->text);

		if (!takes(p, names[i]))
			continue;
		snprintf(d->text + used, sizeof d->text - used, ", %s %s", names[i], value);
		if (options_set(&d->options, p, names[i], value, "the test") != PAWL_SUCCESS)
			return false;
	}
	/* Each death and each long stop may use up one copy. */
	if (takes(p, names[0]) &&
	    options_set(&d->options, p, "recoveries", "256", "the test") != PAWL_SUCCESS)
		return false;
	/* A range takes a few round trips; a rank may stop in any of them. */
	if (takes(p, names[0]) && sim_below(random, 2))
		d->adversary.stall = 80;
	if (d->request.prompt)
		d->adversary.stall = 0;
	/* A rank that stands still at most of its accesses looks at a hundred words for many
	 * leases, and is given up each time. The others still get their share. */
	if (d->until_all_done && d->request.lease_ns && d->adversary.victim >= 0 &&
	    d->adversary.victim < d->request.ranks) {
		d->victim_may_lag = true;
		d->lagging--;
	}
	return true;
}

/* Segments such that ranges take one or several. */
static bool draw_segments(struct draw *d, const struct lock_protocol *p, uint64_t *random)
{
	static const char *const segments[VALUES] = {"2", "5", "30", "64"};
	static const char *const units[VALUES] = {"1", "1", "4", "16384"};
	const char *many = segments[sim_below(random, VALUES)];
	const char *large = units[sim_below(random, VALUES)];
	size_t used = strlen(d->text);

	snprintf(d->text + used, sizeof d->text - used, ", segments %s, segment_units %s", many,
		 large);
	return options_set(&d->options, p, "segments", many, "the test") == PAWL_SUCCESS &&
	       options_set(&d->options, p, "segment_units", large, "the test") == PAWL_SUCCESS;
}

/* ---------------------------------------------------------------- what they do */

static int draw_mode(struct sim_rank *r, const struct draw *d, unsigned capabilities)
{
	if ((int)sim_below(&r->random, PER_CENT) < d->writers || !(capabilities & PAWL_CAP_SHARED))
		return PAWL_EXCLUSIVE;
	if (!(capabilities & PAWL_CAP_INTENT) || (int)sim_below(&r->random, PER_CENT) < d->sharers)
		return PAWL_SHARED;
	return (sim_below(&r->random, 2) ? PAWL_INTENT : PAWL_INTENT_SHARED) |
	       (sim_below(&r->random, 3) ? 0 : PAWL_AHEAD);
}

/* Few places, so that ranges meet; all lengths, so that they meet at all heights; some end
 * behind the tree. */
static int take_range(struct sim_rank *r, const struct draw *d, uint64_t space, int mode,
		      enum sim_how how, uint64_t ns)
{
	static const uint64_t lengths[] = {1, 1, 64, 300, 1200, 1200, 5000};
	uint64_t units = (uint64_t)options_number(&d->options, "units", 0),
		 place = sim_below(&r->random, 4);
	uint64_t length = lengths[sim_below(&r->random, 7)];
	int64_t first = (int64_t)sim_below(&r->random, place == 0   ? 32
						       : place == 1 ? 300
						       : place == 2 ? units + units / 8
								    : 4 * units);

	/* Only a rank that has the whole space can repair it. */
	if (r->told && sim_below(&r->random, 2))
		return sim_acquire_range(r, space, 0, PAWL_RANGE_END, mode, how, ns);
	return sim_acquire_range(r, space, first, first + (int64_t)sim_below(&r->random, length),
				 mode, how, ns);
}

/* For kinds without a tree: few units; some ranges are long, and some have no end. */
static int take_short(struct sim_rank *r, uint64_t space, int mode, enum sim_how how, uint64_t ns)
{
	uint64_t length = sim_below(&r->random, sim_below(&r->random, 3) ? 3 : UNITS);
	int64_t first = (int64_t)sim_below(&r->random, UNITS), last = first + (int64_t)length;

	if (sim_below(&r->random, UNITS) == 0)
		last = PAWL_RANGE_END;
	return sim_acquire_range(r, space, first, last, mode, how, ns);
}

static int take(struct sim_rank *r, const struct draw *d, uint64_t lock, int mode, enum sim_how how,
		uint64_t ns)
{
	const struct lock_protocol *p = r->world->request.protocol;

	if (!(p->kind.capabilities & PAWL_CAP_RANGES))
		return sim_acquire(r, lock, mode, how, ns);
	return takes(p, "units") ? take_range(r, d, lock, mode, how, ns)
				 : take_short(r, lock, mode, how, ns);
}

/* A time-out of 0, or one that may end at any step. */
static uint64_t draw_time(struct sim_rank *r)
{
	static const uint64_t most[] = {1, 50, 1000, 20000};

	return sim_below(&r->random, most[sim_below(&r->random, 4)]);
}

/* A lock with a higher number, so that there is no cycle of waits; for ranges, a try. Then perhaps
 * a third one. They are released in any order; the rank still holds one of them afterwards. */
static void attempt_another(struct sim_rank *r, const struct draw *d, unsigned capabilities)
{
	uint64_t behind = r->held[r->nheld - 1].lock + 1, locks = d->request.locks;
	enum sim_how how = SIM_ACQUIRE;

	if (capabilities & PAWL_CAP_RANGES) {
		how = SIM_TRY;
		behind = 0;
	}
	if (behind >= locks || (how == SIM_TRY && !(capabilities & PAWL_CAP_TRY)))
		return;
	if (take(r, d, behind + sim_below(&r->random, locks - behind),
		 draw_mode(r, d, capabilities) & ~PAWL_AHEAD, how, 0) != PAWL_SUCCESS)
		return;
	sim_sleep(r, sim_below(&r->random, d->inside * SIM_NS));
	if (r->nheld < SIM_HELD && (int)sim_below(&r->random, PER_CENT) < d->several)
		attempt_another(r, d, capabilities);
	if (sim_below(&r->random, 2))
		sim_release_first(r);
	else
		sim_release(r);
}

/* Lock 0 with an intent, and another one; a client that never does so with a deadline draws
 * nothing for it. */
static int take_part(struct sim_rank *r, const struct draw *d)
{
	bool timed = d->timed && (int)sim_below(&r->random, PER_CENT) < d->timed;
	uint64_t ns = timed ? draw_time(r) : 0;
	int mode = (int)sim_below(&r->random, PER_CENT) < d->writers ? PAWL_EXCLUSIVE : PAWL_SHARED;

	return sim_acquire_part(r, 0, 1 + sim_below(&r->random, d->request.locks - 1), mode,
				timed ? SIM_TIMED : SIM_ACQUIRE, ns);
}

static int take_something(struct sim_rank *r, const struct draw *d, unsigned capabilities)
{
	int mode = draw_mode(r, d, capabilities);
	uint64_t lock = sim_below(&r->random, d->request.locks), ns = 0;
	enum sim_how how = SIM_ACQUIRE;

	if ((capabilities & PAWL_CAP_INTENT) && d->request.locks > 1 &&
	    (int)sim_below(&r->random, PER_CENT) < d->several)
		return take_part(r, d);

	if ((capabilities & PAWL_CAP_TRY) && (int)sim_below(&r->random, PER_CENT) < d->tries)
		how = SIM_TRY;
	if ((capabilities & PAWL_CAP_TIMED) && (int)sim_below(&r->random, PER_CENT) < d->timed) {
		how = SIM_TIMED;
		ns = draw_time(r);
	}
	if (how == SIM_TRY)
		mode &= ~PAWL_AHEAD;
	return take(r, d, lock, mode, how, ns);
}

/* Two or three locks at once. */
static int take_many(struct sim_rank *r, const struct draw *d, unsigned capabilities)
{
	uint64_t locks[3], left_out = sim_below(&r->random, 4), ns = 0;
	enum sim_how how = SIM_ACQUIRE;
	int modes[3], n = 0;

	for (uint64_t lock = 0; lock < 3; lock++)
		if (lock != left_out) {
			modes[n] = draw_mode(r, d, capabilities) & ~PAWL_AHEAD;
			locks[n++] = lock;
		}
	if ((capabilities & PAWL_CAP_TRY) && (int)sim_below(&r->random, PER_CENT) < d->tries)
		how = SIM_TRY;
	if ((capabilities & PAWL_CAP_TIMED) && (int)sim_below(&r->random, PER_CENT) < d->timed) {
		how = SIM_TIMED;
		ns = draw_time(r);
	}
	return sim_acquire_many(r, n, locks, modes, how, ns);
}

static void attempt_many(struct sim_rank *r, const struct draw *d, unsigned capabilities)
{
	int rc = take_many(r, d, capabilities);

	if (rc == PAWL_ERR_TOO_MANY)
		sim_sleep(r, sim_below(&r->random, SHORTAGE_NS * SIM_NS));
	if (rc != PAWL_SUCCESS)
		return;
	sim_sleep(r, sim_below(&r->random, d->inside * SIM_NS));
	if (sim_below(&r->random, 2))
		sim_release(r); /* one by itself */
	sim_release_many(r);
}

/* One of so many requests is cancelled or left. */
static enum sim_end draw_end(struct sim_rank *r, const struct draw *d, uint64_t of)
{
	if (sim_below(&r->random, of))
		return SIM_AWAITS;
	return d->leaves && (int)sim_below(&r->random, PER_CENT) < d->leaves ? SIM_LEAVES
									     : SIM_CANCELS;
}

/* Ask for another lock while a request is open. The request counts as held, so the rank waits only
 * for locks with higher numbers. */
static void call_beside(struct sim_rank *r, uint64_t requested)
{
	const struct draw *d = r->world->request.user;
	unsigned capabilities = r->world->request.protocol->kind.capabilities;
	uint64_t locks = d->request.locks, lock = sim_below(&r->random, locks - 1);
	enum sim_how how = (enum sim_how)sim_below(&r->random, SIM_HOWS);
	int mode = draw_mode(r, d, capabilities) & ~PAWL_AHEAD, rc;

	if ((int)sim_below(&r->random, PER_CENT) >= d->beside)
		return;
	lock += lock >= requested;
	if (lock < requested && (how == SIM_ACQUIRE || how == SIM_REQUEST))
		how = SIM_TRY;
	if ((how == SIM_TRY && !(capabilities & PAWL_CAP_TRY)) ||
	    (how == SIM_TIMED && !(capabilities & PAWL_CAP_TIMED)))
		return;
	rc = how == SIM_REQUEST ? sim_acquire_by_steps(r, lock, mode, (int)sim_below(&r->random, 3),
						       draw_time(r), draw_end(r, d, 2), NULL)
				: sim_acquire(r, lock, mode, how, draw_time(r));
	if (rc != PAWL_SUCCESS)
		return;
	sim_sleep(r, sim_below(&r->random, d->inside * SIM_NS));
	sim_release(r);
}

/* A request. The number of tests and the time between them may be such that the lock comes first,
 * or not; where all are to have their share, not so that others acquire MOST_ATTEMPTS times. */
static int take_by_request(struct sim_rank *r, const struct draw *d, unsigned capabilities)
{
	static const uint64_t between[] = {1, 50, 1000, 20000};
	int mode = draw_mode(r, d, capabilities), tests = (int)sim_below(&r->random, 5);
	uint64_t lock = sim_below(&r->random, d->request.locks);
	uint64_t ns = between[sim_below(&r->random, 4)];

	if (d->until_all_done && ns > MOST_UNTESTED)
		ns = MOST_UNTESTED;
	return sim_acquire_by_steps(r, lock, mode, tests, ns, draw_end(r, d, 3),
				    d->beside ? call_beside : NULL);
}

/* A read without the lock, which may end with the lock shared. */
static int take_to_read(struct sim_rank *r, const struct draw *d)
{
	return sim_read(r, sim_below(&r->random, d->request.locks), draw_time(r));
}

/* Hold for up to four leases. The clock of a machine that is suspended meanwhile stands still. */
static void outlast(struct sim_rank *r, const struct draw *d)
{
	uint64_t ns = sim_below(&r->random, 4 * d->request.lease_ns);

	sim_sleep(r, ns * SIM_NS);
	if (d->suspends && sim_below(&r->random, 2))
		r->stood_ns += ns;
}

/* In a table with a lease: take a number, and repair what was recovered. False: the hold has ended
 * by a failure. */
static bool use_lives(struct sim_rank *r)
{
	const struct sim_hold *h = &r->held[r->nheld - 1];
	bool whole = !(r->world->request.protocol->kind.capabilities & PAWL_CAP_RANGES) ||
		     (h->slot->first == 0 && h->slot->last == PAWL_RANGE_END);

	if (!r->world->setup.lives)
		return true;
	if (sim_below(&r->random, 4) == 0 && !sim_number(r))
		return false;
	if (r->told && whole && h->mode == PAWL_EXCLUSIVE && sim_below(&r->random, 2))
		return sim_repair(r);
	return true;
}

/* Of a rank that holds this lock only: an upgrade waits for holders, which may wait for others with
 * higher numbers. False: the hold has ended by a failure. */
static bool change_mode(struct sim_rank *r, const struct draw *d)
{
	bool goes_on = true;

	if (!r->world->request.protocol->change || r->nheld != 1 || sim_below(&r->random, 2))
		return true;
	for (uint64_t i = sim_below(&r->random, 4); i-- > 0 && goes_on;) {
		if (r->held[0].mode == PAWL_SHARED)
			goes_on = sim_upgrade(r, sim_below(&r->random, 2) ? draw_time(r) : 0);
		else if (r->held[0].mode == PAWL_EXCLUSIVE)
			goes_on = sim_downgrade(r);
		if (goes_on)
			sim_sleep(r, sim_below(&r->random, d->inside * SIM_NS));
	}
	return goes_on;
}

static void attempt(struct sim_rank *r, const struct draw *d, unsigned capabilities)
{
	bool reads = d->reads && (int)sim_below(&r->random, PER_CENT) < d->reads;
	bool requests = d->requests && (int)sim_below(&r->random, PER_CENT) < d->requests;
	int rc = reads      ? take_to_read(r, d)
		 : requests ? take_by_request(r, d, capabilities)
			    : take_something(r, d, capabilities);

	if (rc == PAWL_ERR_TOO_MANY)
		sim_sleep(r, sim_below(&r->random, SHORTAGE_NS * SIM_NS));
	if (rc != PAWL_SUCCESS)
		return;
	sim_sleep(r, d->outstay * SIM_NS + sim_below(&r->random, d->inside * SIM_NS));
	if ((int)sim_below(&r->random, PER_MILLE) < d->sleeps)
		outlast(r, d);
	if (!use_lives(r) || !change_mode(r, d))
		return;
	if (r->nheld == 1 && (int)sim_below(&r->random, PER_CENT) < d->several)
		attempt_another(r, d, capabilities);
	if ((int)sim_below(&r->random, PER_MILLE) < d->forgets)
		sim_forget(r);
	else
		sim_release(r);
}

/* Which operation of this rank fails, or which rank it cannot reach, and for how long. */
static void play_errors(struct sim_rank *r, const struct draw *d)
{
	uint64_t random = sim_seed(d->request.seed, (1u << 27) + (uint64_t)r->id);

	if (sim_below(&random, 3) == 0)
		return;
	if (d->request.errors != SIM_UNREACHED) {
		r->fails_after = 1 + sim_below(&random, d->within);
		return;
	}
	r->apart = (int)sim_below(&random, (uint64_t)d->request.ranks);
	if (r->rma.node[r->apart] == r->rma.my_node)
		r->apart = -1;
	r->apart_until = engine_now() + sim_below(&random, LIFE * d->within * SIM_NS);
}

static void play(struct sim_rank *r)
{
	struct draw *d = r->world->request.user;
	unsigned capabilities = r->world->request.protocol->kind.capabilities;
	bool may_lag;

	if (r->id < d->deaths)
		r->lives = 1 + sim_below(&r->random, LIFE);
	if (d->naps && sim_below(&r->random, PER_CENT) < NAPPERS) {
		r->naps = NAPS;
		r->nap_within = d->naps;
		r->nap_after = 1 + sim_below(&r->random, d->naps);
		r->nap = (1 + sim_below(&r->random, 20)) * d->request.lease_ns * SIM_NS;
	}
	if (d->request.errors)
		play_errors(r, d);
	may_lag = d->victim_may_lag && r->id == d->adversary.victim;
	for (int i = 0; (!may_lag && i < d->attempts) || (d->until_all_done && d->lagging); i++) {
		if (d->many && (int)sim_below(&r->random, PER_CENT) < d->many)
			attempt_many(r, d, capabilities);
		else
			attempt(r, d, capabilities);
		if (i == d->attempts - 1 && !may_lag)
			d->lagging--;
		/* A rank that waits for its slot is in no queue: no bound on overtaking applies. */
		if (i == MOST_ATTEMPTS)
			sim_fail(r->world, SIM_STARVED,
				 "rank %d has acquired %d times, and another one has not had its"
				 " share",
				 r->id, i);
		sim_sleep(r, sim_below(&r->random, d->away * SIM_NS));
	}
}

/* Several locks at a time, more than there are slots, and locks that are forgotten. */
static void draw_slots(struct draw *d, uint64_t *random)
{
	bool calm = d->until_all_done || d->request.prompt;
	size_t used = strlen(d->text);

	if (!calm && sim_below(random, 3) == 0)
		d->several = 30;
	if (!d->request.slots && (d->several || d->forgets))
		d->request.slots = 1 + (int)sim_below(random, 3);
	snprintf(d->text + used, sizeof d->text - used, ", slots %d%s%s",
		 d->request.slots ? d->request.slots : 1, d->several ? ", several held" : "",
		 d->forgets ? ", locks forgotten" : "");
}

/* Several locks at once. A random sequence of its own, so that other worlds do not depend on it. */
static void draw_many(struct draw *d, const struct lock_protocol *p, uint64_t seed)
{
	uint64_t random = sim_seed(seed, 1u << 21);
	size_t used = strlen(d->text);

	if (d->until_all_done || d->request.prompt || d->request.lease_ns || d->request.locks < 3 ||
	    (p->kind.capabilities & PAWL_CAP_RANGES) || sim_below(&random, 2))
		return;
	d->many = 20 + (int)sim_below(&random, 60);
	if (d->request.slots < 3)
		d->request.slots = 2 + (int)sim_below(&random, 3);
	snprintf(d->text + used, sizeof d->text - used, ", many at once, slots %d",
		 d->request.slots);
}

/* Clocks that stand still while their ranks hold. Readers by leases, and releases that look at no
 * word, rely on their clocks. */
static void draw_suspends(struct draw *d, const struct lock_protocol *p, uint64_t seed)
{
	uint64_t random = sim_seed(seed, 1u << 25);
	size_t used = strlen(d->text);

	if (!d->sleeps || !(p->kind.capabilities & PAWL_CAP_RECOVERS) ||
	    p->recover->unchecked_release || sim_below(&random, 2))
		return;
	d->suspends = true;
	d->sleeps *= 4;
	snprintf(d->text + used, sizeof d->text - used, ", clocks stand still");
}

/* Requests. A random sequence of its own, as in draw_many(). */
static void draw_requests(struct draw *d, const struct lock_protocol *p, uint64_t seed)
{
	uint64_t random = sim_seed(seed, 1u << 22);
	size_t used = strlen(d->text);

	if (d->request.prompt || (p->kind.capabilities & PAWL_CAP_RANGES) || sim_below(&random, 3))
		return;
	d->requests = 10 + (int)sim_below(&random, 60);
	if (!d->until_all_done && d->request.locks > 1 && sim_below(&random, 3)) {
		d->beside = 20 + (int)sim_below(&random, 60);
		if (d->request.slots < 2)
			d->request.slots = 1 + (int)sim_below(&random, 4);
	}
	snprintf(d->text + used, sizeof d->text - used, ", requests%s, slots %d",
		 d->beside ? " and other calls beside them" : "",
		 d->request.slots ? d->request.slots : 1);
}

/* Reads without the lock. A random sequence of its own, as in draw_many(). */
static void draw_reads(struct draw *d, const struct lock_protocol *p, uint64_t seed)
{
	uint64_t random = sim_seed(seed, 1u << 24);
	size_t used = strlen(d->text);

	if (!p->read || sim_below(&random, 2))
		return;
	d->reads = 20 + (int)sim_below(&random, 60);
	snprintf(d->text + used, sizeof d->text - used, ", optimistic reads");
}

/* Transports that keep the order of operations, for kinds that ask whether theirs does. A random
 * sequence of its own, as in draw_many(). */
static void draw_order(struct draw *d, const struct lock_protocol *p, uint64_t seed)
{
	uint64_t random = sim_seed(seed, 1u << 23);
	size_t used = strlen(d->text);

	bool asks = takes(p, "units") || takes(p, "stay") || takes(p, "local_budget");

	if (!asks || sim_below(&random, 2))
		return;
	d->request.ordered = true;
	snprintf(d->text + used, sizeof d->text - used, ", in order");
}

/* Networks with addition and compare-and-swap only, whose operations keep no order. A random
 * sequence of its own, as in draw_many(). */
static void draw_atomics(struct draw *d, uint64_t seed)
{
	uint64_t random = sim_seed(seed, 1u << 29);
	size_t used = strlen(d->text);

	if (fault_on != FAULT_NONE && !FAULT(few_once))
		return;
	if (!FAULT(few_once) && (d->request.ordered || sim_below(&random, 3)))
		return;
	d->request.ordered = false;
	d->request.atomics = FAULT(few_once) ? SIM_FEW_ONCE : SIM_FEW_ATOMICS;
	snprintf(d->text + used, sizeof d->text - used, ", few atomics");
}

/* Ranks die, and an operation on a dead rank fails, which ends the call of the client that needs
 * it. */
static void draw_peers(struct draw *d, uint64_t *random)
{
	static const uint64_t wait_ns[] = {2000, 10000, 1000000};
	size_t used = strlen(d->text);

	if (d->until_all_done || d->request.prompt || d->deaths || sim_below(random, 6))
		return;
	d->request.doubt_ns = wait_ns[sim_below(random, 3)];
	d->deaths = 1 + (int)sim_below(random, 2);
	snprintf(d->text + used, sizeof d->text - used, ", deaths seen");
}

/* Requests that their ranks leave to a thread. Each is one more client, so no bound on overtaking
 * applies. A random sequence of its own, as in draw_many(). */
static void draw_leaves(struct draw *d, uint64_t seed)
{
	uint64_t random = sim_seed(seed, 1u << 28);
	size_t used = strlen(d->text);

	if (!d->requests || d->until_all_done || d->deaths || sim_below(&random, 2))
		return;
	d->leaves = 20 + (int)sim_below(&random, 80);
	if (d->request.slots < 2)
		d->request.slots = 1 + (int)sim_below(&random, 3);
	snprintf(d->text + used, sizeof d->text - used, ", requests left, slots %d",
		 d->request.slots);
}

/* Operations of ranks that live fail; guard.c says what holds then. A random sequence of its own,
 * as in draw_many(). In calm worlds every client that waits for long must be at a lock where an
 * operation has failed: nobody stops, and a client at one lock waits for no other. */
static void draw_errors(struct draw *d, const struct lock_protocol *p, uint64_t seed)
{
	static const uint64_t wait_ns[] = {2000, 10000, 1000000}, within[] = {5, 30, 200};
	static const char *const names[] = {[SIM_MPI_ERRORS] = "errors of the MPI",
					    [SIM_CUTS] = "connections lost",
					    [SIM_UNREACHED] = "a rank not reached at first"};
	uint64_t random = sim_seed(seed, 1u << 26), first;
	size_t used = strlen(d->text);

	if (d->until_all_done || d->request.prompt || d->deaths || sim_below(&random, 5))
		return;
	/* The MPI cannot post. */
	first = d->request.posts ? SIM_CUTS : SIM_MPI_ERRORS;
	d->request.errors =
	    (enum sim_errors)(first + sim_below(&random, SIM_UNREACHED - first + 1));
	d->within = within[sim_below(&random, 3)];
	if (d->request.errors != SIM_UNREACHED)
		d->request.doubt_ns = wait_ns[sim_below(&random, 3)];
	if (d->request.errors != SIM_UNREACHED && (p->kind.capabilities & PAWL_CAP_FAIR) &&
	    !d->wide && !d->several && !d->many && !d->beside && !d->leaves &&
	    sim_below(&random, 2)) {
		d->request.calm = true;
		d->request.most_accesses *= 4; /* while clients poll for CALM_NS */
		d->request.doubt_ns = CALM_NS;
		d->adversary.stall = 0;
	}
	snprintf(d->text + used, sizeof d->text - used, ", %s%s", names[d->request.errors],
		 d->request.calm ? ", calm" : "");
}

/* -------------------------------------------------------------------- the world */

bool draw(struct draw *d, const struct lock_protocol *p, uint64_t seed,
	  const struct draw_size *size)
{
	static const uint64_t inside[] = {1, 50, 1000}, away[] = {1, 20, 200, 5000};
	static const int writers[] = {100, 50, 20, 80}, per_cent[] = {0, 0, 20, 60};
	static const int torn[] = {0, 0, 20, 90};
	uint64_t random = sim_seed(seed, 1u << 20), others = sim_seed(seed, 2u << 20);
	uint64_t shapes = sim_seed(seed, 3u << 20);
	int which = (int)sim_below(&random, TOPOLOGIES);

	memset(d, 0, sizeof *d);
	adversary_draw(&d->adversary, &random);
	/* A mistake may write garbage over the number of a rank, and so lead out of the world. */
	if (fault_on == FAULT_NONE)
		d->adversary.torn = torn[sim_below(&others, 4)];
	d->attempts = 1 + (int)sim_below(&random, sim_below(&random, 2) ? 6 : 40);
	d->until_all_done = (p->kind.capabilities & PAWL_CAP_FAIR) && sim_below(&random, 4) == 0;
	d->writers = writers[sim_below(&random, 4)];
	d->sharers = 100 - writers[sim_below(&random, 4)];
	d->tries = per_cent[sim_below(&random, 4)];
	d->timed = per_cent[sim_below(&random, 4)];
	d->inside = inside[sim_below(&random, 3)];
	d->outstay = d->until_all_done && sim_below(&random, 2) ? OUTSTAY_NS : 0;
	if (d->outstay)
		d->adversary = (struct adversary){.quick = 50, .slow = -1, .victim = -1};
	d->away = away[sim_below(&random, 4)];
	d->lagging = topologies[which].ranks;
	d->request = (struct sim_request){
	    .protocol = p,
	    .options = &d->options,
	    .topology = topologies[which].text,
	    .ranks = topologies[which].ranks,
	    .locks = sim_below(&random, 4) ? 1 : 3,
	    .seed = seed,
	    .timing = &adversary_timing,
	    .timing_state = &d->adversary,
	    .paced = d->outstay > 0,
	    .aged = sim_below(&random, 4) == 0,
	    .most_accesses = MOST_ACCESSES,
	    .play = play,
	    .user = d,
	};
	draw_limits(d, seed);
	draw_topology(d, &shapes, size);
	/* Slots that settle late; with a single slot each acquire waits for it. */
	if ((p->nodes ? p->nodes : p)->settled && sim_below(&random, 2)) {
		d->request.posts = true;
		d->request.slots = 1 + (int)sim_below(&random, 3);
	}
	/* Places left in queues; with a single slot each acquire of another lock finds no slot. */
	if (lock_keeps_places(p) && !d->request.slots)
		d->request.slots = 1 + (int)sim_below(&random, 3);
	snprintf(d->text, sizeof d->text, "%s, %d ranks, %d locks%s%s%s%s%s", d->request.topology,
		 d->request.ranks, (int)d->request.locks, d->adversary.torn ? ", torn atomics" : "",
		 d->request.aged ? ", counters before their wrap" : "",
		 d->request.posts ? ", releases posted" : "",
		 d->until_all_done ? ", until all have had their share" : "",
		 d->limits == LIMITS_FEW        ? ""
		 : d->limits == LIMITS_AS_BUILT ? ", limits as built"
						: ", sizes as built");
	if (!draw_options(d, p, &random) || !draw_lease(d, p, &random) ||
	    !draw_tree(d, p, &random) || (takes(p, "segments") && !draw_segments(d, p, &random)))
		return false;
	draw_slots(d, &random);
	draw_peers(d, &random);
	draw_suspends(d, p, seed);
	draw_many(d, p, seed);
	draw_requests(d, p, seed);
	draw_reads(d, p, seed);
	draw_order(d, p, seed);
	draw_atomics(d, seed);
	draw_leaves(d, seed);
	draw_errors(d, p, seed);
	return true;
}
