/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What has happened in a world: a hash of all accesses in their order, which is equal for equal
 * schedules, and a readable time line.
 */
#include <stdarg.h>
#include <stdio.h>

#include "base/hash.h"
#include "sim/sim.h"

static void mix(uint64_t *hash, uint64_t value)
{
	*hash = hash_add(*hash, value);
	*hash ^= *hash >> 29;
}

const char *sim_name(const struct sim_world *w, struct rma_word x, char *text, size_t len)
{
	static const char *const parts[] = {"NEXT (node)",  "STATUS (node)", "NEXT (net)",
					    "STATUS (net)", "NEXT (inner)",  "STATUS (inner)"};
	const struct lock_setup *s = &w->setup;
	uint64_t end = s->slots + (uint64_t)s->max_held * SLOT_BYTES;
	uint64_t part = (x.offset - s->slots) % SLOT_BYTES / 8;

	if (x.offset >= s->slots && x.offset < end && part < sizeof parts / sizeof *parts)
		snprintf(text, len, "%s of rank %d", parts[part], x.rank);
	else
		snprintf(text, len, "word %llu at rank %d",
			 (unsigned long long)(x.offset - end) / 8, x.rank);
	return text;
}

static void begin_line(const struct sim_rank *r)
{
	sim_time now = engine_now();

	fprintf(r->world->request.timeline, "# %8llu.%03llu ns  %*srank %d ",
		(unsigned long long)(now / SIM_NS), (unsigned long long)(now % SIM_NS),
		r->world->request.ranks <= 8 ? 2 * r->id : 0, "", r->id);
}

void sim_trace(struct sim_rank *r, const char *verb, struct rma_word w, int64_t a, int64_t b)
{
	struct sim_world *world = r->world;
	FILE *out = world->request.timeline;
	char name[80];

	mix(&world->hash, engine_now());
	mix(&world->hash, (uint64_t)r->id << 32 | (uint64_t)w.rank);
	mix(&world->hash, w.offset);
	mix(&world->hash, (uint64_t)b);
	if (!out)
		return;
	begin_line(r);
	if (a == b)
		fprintf(out, "%s %s: 0x%llx\n", verb, sim_name(world, w, name, sizeof name),
			(unsigned long long)a);
	else
		fprintf(out, "%s %s: 0x%llx -> 0x%llx\n", verb,
			sim_name(world, w, name, sizeof name), (unsigned long long)a,
			(unsigned long long)b);
}

void sim_note(struct sim_rank *r, const char *fmt, ...)
{
	FILE *out = r->world->request.timeline;
	va_list args;

	if (!out)
		return;
	begin_line(r);
	va_start(args, fmt);
	vfprintf(out, fmt, args);
	va_end(args);
	fputc('\n', out);
}
