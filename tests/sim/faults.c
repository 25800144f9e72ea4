/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The adversary finds mistakes of the client layer: slots that serve again too early, and deaths
 * that go unnoticed. Each fault of client/slots.h with a kind of lock that shows it, in the worlds
 * of draw.c. In TAP.
 */
#include <stdio.h>

#include "base/error.h"
#include "lock/kinds.h"
#include "draw.h"

enum { SEEDS = 20000 };

enum client_fault client_fault;

static const struct {
	enum client_fault fault;
	const char *kind;
	const char *what;
} faults[] = {
    {CLIENT_FAULT_LEFT, "d-mcs", "a slot is free before it has settled"},
    {CLIENT_FAULT_QUEUED, "d-mcs", "a slot is free while its place is in the queue"},
    {CLIENT_FAULT_QUEUED, "alock", "a slot is free while its place is in the queue"},
    {CLIENT_FAULT_LOST, "d-mcs", "a slot is free after a rank died"},
    {CLIENT_FAULT_HELD, "ss", "ranges of one client may overlap"},
    {CLIENT_FAULT_SETTLE, "d-mcs", "what was posted is not waited for at the end"},
    {CLIENT_FAULT_GUARD, "d-mcs", "an operation that failed goes unnoticed"},
    {CLIENT_FAULT_GUARD, "lld", "an operation that failed goes unnoticed"},
};

enum { FAULTS = sizeof faults / sizeof faults[0] };

static int failed;

/* How the world of this seed ends, and why. */
static enum sim_verdict run(const struct lock_protocol *p, uint64_t seed, char *why, size_t len)
{
	struct sim_world *w;
	struct draw d;
	enum sim_verdict v;

	w = draw(&d, p, seed) ? sim_world_create(&d.request) : NULL;
	if (!w) {
		snprintf(why, len, "%s", pawl_error_message());
		return SIM_MISUSE;
	}
	v = sim_world_run(w);
	snprintf(why, len, "%s", w->why);
	sim_world_free(w);
	return v;
}

static void check(int i)
{
	const struct lock_protocol *p = kinds_find(faults[i].kind);
	uint64_t seed = 1;
	char why[300];

	client_fault = faults[i].fault;
	while (seed < SEEDS && run(p, seed, why, sizeof why) == SIM_FINE)
		seed++;
	failed += seed == SEEDS;
	printf("%sok %d - %s, %s: %s %llu\n", seed == SEEDS ? "not " : "", i + 1, faults[i].kind,
	       faults[i].what, seed == SEEDS ? "not found by seeds up to" : "found by seed",
	       (unsigned long long)seed);
	if (seed < SEEDS)
		printf("# %s\n", why);
	fflush(stdout);
}

static void check_all(void *arg)
{
	(void)arg;
	for (int i = 0; i < FAULTS; i++)
		check(i);
	printf("1..%d\n", FAULTS);
}

int main(void)
{
	return engine_run(check_all, NULL) || failed;
}
