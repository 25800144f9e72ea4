/* SPDX-License-Identifier: BSD-3-Clause */
/* What the worlds of a kind have had; see draw.h. */
#include "draw.h"

#include <stdio.h>

/* More nodes than a directory of a lock of kind adaptive has bits for in some worlds. */
enum { MANY_NODES = 17, ALIASED_NODES = 20 };

static bool any(const struct lock_protocol *p)
{
	(void)p;
	return true;
}

static bool tries(const struct lock_protocol *p)
{
	return p->kind.capabilities & PAWL_CAP_TRY;
}

static bool is_timed(const struct lock_protocol *p)
{
	return p->kind.capabilities & PAWL_CAP_TIMED;
}

static bool requests(const struct lock_protocol *p)
{
	return !(p->kind.capabilities & PAWL_CAP_RANGES);
}

static bool tries_beside(const struct lock_protocol *p)
{
	return requests(p) && tries(p);
}

static bool timed_beside(const struct lock_protocol *p)
{
	return requests(p) && is_timed(p);
}

static bool is_wide(const struct draw *d, const struct sim_world *w)
{
	(void)w;
	return d->wide;
}

static bool has_many_nodes(const struct draw *d, const struct sim_world *w)
{
	(void)d;
	return w->topo->nnodes >= MANY_NODES;
}

static bool has_aliases(const struct draw *d, const struct sim_world *w)
{
	(void)d;
	return w->topo->nnodes >= ALIASED_NODES;
}

/* A node with one rank beside larger ones. */
static bool is_uneven(const struct draw *d, const struct sim_world *w)
{
	int last = -1, smallest = w->topo->nranks, largest = 0, size = 0;

	(void)d;
	for (int i = 0; i <= w->topo->nranks; i++) {
		int node = i < w->topo->nranks ? w->topo->node[w->topo->order[i]] : -1;

		if (node != last && size) {
			smallest = size < smallest ? size : smallest;
			largest = size > largest ? size : largest;
			size = 0;
		}
		size++;
		last = node;
	}
	return smallest == 1 && largest > 1;
}

static bool has_limits(const struct draw *d, const struct sim_world *w)
{
	(void)w;
	return d->limits == LIMITS_AS_BUILT;
}

static bool has_tried_nodes(const struct draw *d, const struct sim_world *w)
{
	(void)d;
	return w->topo->nnodes > 1 && w->calls[SIM_TRY];
}

static bool has_requested(const struct draw *d, const struct sim_world *w)
{
	(void)d;
	return w->calls[SIM_REQUEST];
}

static bool has_acquired_beside(const struct draw *d, const struct sim_world *w)
{
	(void)d;
	return w->beside[SIM_ACQUIRE];
}

static bool has_tried_beside(const struct draw *d, const struct sim_world *w)
{
	(void)d;
	return w->beside[SIM_TRY];
}

static bool has_timed_beside(const struct draw *d, const struct sim_world *w)
{
	(void)d;
	return w->beside[SIM_TIMED];
}

static bool has_requested_beside(const struct draw *d, const struct sim_world *w)
{
	(void)d;
	return w->beside[SIM_REQUEST];
}

static bool has_left(const struct draw *d, const struct sim_world *w)
{
	(void)d;
	return w->left;
}

static bool has_two(const struct draw *d, const struct sim_world *w)
{
	(void)d;
	return w->second;
}

static bool begins_at_home(const struct lock_protocol *p)
{
	return p->first_at_home;
}

static bool tells(const struct lock_protocol *p)
{
	return p->recover && p->recover->life;
}

static bool has_told(const struct draw *d, const struct sim_world *w)
{
	(void)d;
	return w->told;
}

static bool has_repaired(const struct draw *d, const struct sim_world *w)
{
	(void)d;
	return w->repairs;
}

static bool has_numbers(const struct draw *d, const struct sim_world *w)
{
	(void)d;
	return w->told && w->tokens > 1;
}

static bool changes(const struct lock_protocol *p)
{
	return p->change;
}

static bool has_upgraded(const struct draw *d, const struct sim_world *w)
{
	(void)d;
	return w->upgrades;
}

static bool has_refused(const struct draw *d, const struct sim_world *w)
{
	(void)d;
	return w->refusals;
}

static bool has_downgraded(const struct draw *d, const struct sim_world *w)
{
	(void)d;
	return w->downgrades;
}

static bool has_erred(const struct draw *d, const struct sim_world *w)
{
	(void)d;
	return w->ended[SIM_MPI_ERRORS];
}

static bool has_been_cut(const struct draw *d, const struct sim_world *w)
{
	(void)d;
	return w->ended[SIM_CUTS];
}

static bool has_not_reached(const struct draw *d, const struct sim_world *w)
{
	(void)d;
	return w->ended[SIM_UNREACHED];
}

static bool has_few_atomics(const struct draw *d, const struct sim_world *w)
{
	return d->request.atomics != SIM_ALL_ATOMICS && w->topo->nnodes > 1;
}

static const struct {
	const char *name, *what;
	bool (*can)(const struct lock_protocol *p);
	bool (*has)(const struct draw *d, const struct sim_world *w);
} features[] = {
    {"wide", "9 to 43 ranks", any, is_wide},
    {"17+", "more than 16 nodes", any, has_many_nodes},
    {"20+", "more than 19 nodes", any, has_aliases},
    {"uneven", "a node of one rank beside larger ones", any, is_uneven},
    {"limits", "limits as in the library", any, has_limits},
    {"tries", "tries over several nodes", tries, has_tried_nodes},
    {"two", "a lock that was acquired while the rank held another", any, has_two},
    {"req", "requests", requests, has_requested},
    {"+acq", "an acquire beside a request", requests, has_acquired_beside},
    {"+try", "a try beside a request", tries_beside, has_tried_beside},
    {"+timed", "a timed acquire beside a request", timed_beside, has_timed_beside},
    {"+req", "a request beside a request", requests, has_requested_beside},
    {"left", "a request that its rank has left, and that has got its lock", requests, has_left},
    {"mpi", "a call that an error of the MPI ends", any, has_erred},
    {"cut", "a call that a lost connection ends", any, has_been_cut},
    {"reach", "a call that ends because a home cannot be reached", begins_at_home, has_not_reached},
    {"few", "a network with addition and compare-and-swap only", any, has_few_atomics},
    {"told", "an acquire after a recovery", tells, has_told},
    {"repair", "a holder that repairs what was recovered", tells, has_repaired},
    {"up", "a sharer that becomes exclusive", changes, has_upgraded},
    {"up2", "a second one, which is refused", changes, has_refused},
    {"down", "an exclusive holder that goes on to share", changes, has_downgraded},
    {"number", "numbers of holders, and a recovery", tells, has_numbers},
};

enum { KNOWN = sizeof features / sizeof features[0] };
_Static_assert((int)KNOWN <= (int)FEATURES, "there is a count for each");

void features_add(struct features *f, const struct draw *d, const struct sim_world *w)
{
	for (int i = 0; i < KNOWN; i++)
		f->worlds[i] += features[i].has(d, w);
}

const char *features_missing(const struct features *f, const struct lock_protocol *p)
{
	for (int i = 0; i < KNOWN; i++)
		if (!f->worlds[i] && features[i].can(p))
			return features[i].what;
	return NULL;
}

void features_print(const struct features *f, const struct lock_protocol *p)
{
	if (!p)
		for (int i = 0; i < KNOWN; i++)
			printf("# %-6s %s\n", features[i].name, features[i].what);
	printf("# %-12s", p ? p->kind.name : "");
	for (int i = 0; i < KNOWN; i++)
		if (!p)
			printf(" %6s", features[i].name);
		else if (features[i].can(p))
			printf(" %6llu", (unsigned long long)f->worlds[i]);
		else
			printf(" %6s", "-");
	printf("\n");
}
