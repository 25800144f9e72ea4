/* SPDX-License-Identifier: BSD-3-Clause */
/* Who takes part: the library's kinds, and pseudo locks to compare them with. */
#include <string.h>

#include "bench.h"

static const struct contestant pseudo[] = {
    {.name = "raw-pair",
     .summary = "no lock: an atomic exchange and a compare-exchange (one node; lb)",
     .only = "lb",
     .run = raw_pair_run},
    {.name = "fompi-a",
     .summary = "no lock: the hash table kept right by atomics alone (dht)",
     .only = "dht",
     .run = dht_run},
};

enum { PSEUDO = sizeof pseudo / sizeof pseudo[0], KINDS = 64 };

const struct contestant *contestant_get(int index)
{
	static struct contestant of_kind[KINDS];
	const struct pawl_kind *kind;

	if (index < 0)
		return NULL;
	if (index < PSEUDO)
		return &pseudo[index];
	index -= PSEUDO;
	kind = pawl_kind_get(index);
	if (!kind || index >= KINDS)
		return NULL;
	of_kind[index] = (struct contestant){
	    .name = kind->name,
	    .summary = kind->summary,
	    .kind = kind,
	};
	return &of_kind[index];
}

/* Unless locks are named, the hash table is for those that let readers share. */
bool contestant_plays(const struct contestant *c, const struct workload *w,
		      const struct settings *s)
{
	if (c->only && strcmp(c->only, w->name) != 0)
		return false;
	if (s->locks)
		return list_has(s->locks, c->name);
	return !w->by_itself || !c->kind || (c->kind->capabilities & PAWL_CAP_SHARED);
}
