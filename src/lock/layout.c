/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of layouts (layout.h), and access to option lease (setup.h). */
#include "lock/lock.h"

#include <stdio.h>
#include <string.h>

uint64_t lock_reserve(struct lock_setup *s, uint64_t locks, uint64_t bytes)
{
	uint64_t at = s->bytes, size;

	if (at > LOCK_MOST_BYTES || s->areas || __builtin_mul_overflow(locks, bytes, &size) ||
	    size > LOCK_MOST_BYTES)
		s->bytes = UINT64_MAX;
	else
		s->bytes += (size + 63) / 64 * 64;
	return at;
}

int lock_node_level(const struct lock_setup *s)
{
	for (int i = 2; s->domain == RMA_NET && i <= s->topo->nlevels; i++)
		if (s->topo->level[i - 1].type == TOPO_NODE)
			return i;
	return 0;
}

/* Items of a rank whose element has so many ranks. */
static uint64_t share(const struct lock_area *a, int size)
{
	return (a->n + (uint64_t)size - 1) / (uint64_t)size;
}

void lock_reserve_area(struct lock_setup *s, struct lock_area *a, int min_size, int count)
{
	const int areas = s->areas;

	s->areas = 0; /* this one comes behind them */
	a->base = lock_reserve(s, share(a, min_size), a->bytes);
	a->before = areas;
	a->moves = s->uneven;
	s->area[areas] = *a;
	s->areas = areas + 1;
	s->uneven = s->uneven || (int64_t)count * min_size != s->topo->nranks;
}

void lock_reserve_at_level(struct lock_setup *s, struct lock_area *a, int level, uint64_t n,
			   uint64_t bytes)
{
	const struct topo_level *l = &s->topo->level[level - 1];

	*a = (struct lock_area){
	    .element = l->element,
	    .first = l->first,
	    .members = l->members,
	    .n = n,
	    .bytes = bytes,
	};
	lock_reserve_area(s, a, l->min_size, l->count);
}

/* The offset behind the first areas, in the segment of a rank. */
static uint64_t behind(const struct lock_setup *s, int areas, int rank)
{
	uint64_t at = s->area[0].base;

	for (int i = 0; i < areas; i++) {
		const struct lock_area *a = &s->area[i];
		int j = a->element[rank];

		at += (share(a, a->first[j + 1] - a->first[j]) * a->bytes + 63) / 64 * 64;
	}
	return at;
}

uint64_t lock_area_moved(const struct lock_setup *s, const struct lock_area *a, int rank)
{
	return behind(s, a->before, rank);
}

uint64_t lock_segment_bytes(const struct lock_setup *s, int rank)
{
	uint64_t most = 0, bytes;

	if (!s->uneven)
		return s->bytes;
	for (int i = 0; i < s->topo->nranks; i++)
		if (s->topo->node[i] == s->topo->node[rank]) {
			bytes = behind(s, s->areas, i);
			most = bytes > most ? bytes : most;
		}
	return most;
}

/* Print that a kind's words cannot count so many clients. advice: what else would help. */
static void refuse_clients(const struct lock_setup *s, uint64_t most, const char *advice, char *err,
			   size_t errlen)
{
	uint64_t ranks = (uint64_t)s->topo->nranks;
	const char *name = s->protocol->kind.name;

	if (ranks > most)
		snprintf(err, errlen,
			 "%s counts at most %llu clients at a lock, and there are %llu ranks", name,
			 (unsigned long long)most, (unsigned long long)ranks);
	else
		snprintf(err, errlen,
			 "option max_held: %s counts at most %llu clients at a lock, and those of"
			 " %llu ranks with max_held %d may be more; accepted here: 1 to %llu%s",
			 name, (unsigned long long)most, (unsigned long long)ranks, s->max_held,
			 (unsigned long long)(most / ranks), advice);
}

bool lock_counts_clients(const struct lock_setup *s, uint64_t most, char *err, size_t errlen)
{
	if (s->clients <= most)
		return true;
	refuse_clients(s, most, ", or option threads=single", err, errlen);
	return false;
}

bool lock_counts_slots(const struct lock_setup *s, uint64_t most, char *err, size_t errlen)
{
	if (lock_all_slots(s) <= most)
		return true;
	refuse_clients(s, most, "", err, errlen);
	return false;
}

/* ------------------------------------------------------------------- option lease */

static const struct option_spec *lease_option(const struct lock_setup *s)
{
	for (const struct option_spec *o = s->protocol->options; o && o->is.name; o++)
		if (strcmp(o->is.name, "lease") == 0)
			return o;
	return NULL;
}

int64_t lock_lease_us(const struct lock_setup *s)
{
	const struct option_spec *o = lease_option(s);
	int64_t us = 0;

	if (o)
		memcpy(&us, s->options + o->offset, sizeof us);
	return us;
}

void lock_set_lease_us(struct lock_setup *s, int64_t us)
{
	memcpy(s->options + lease_option(s)->offset, &us, sizeof us);
}
