/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The acquires of a world in virtual time, for a file in the format of PAWL_TRACE, which the
 * library's own code writes (observe/trace_file.c).
 *
 * A world keeps its last acquires (RECORDS). What its ranks hold and await when it ends is in the
 * file, too, marked as unfinished: in a deadlock that is all that matters.
 */
#include <stdio.h>
#include <stdlib.h>

#include "observe/trace.h"
#include "sim/sim.h"

enum { RECORDS = 1 << 18, RECORDS_FIRST = 1024 };

/* The acquire or hold of a slot. */
struct open_record {
	bool is_open;
	uint64_t waits; /* of the slot, before the acquire */
	struct trace_record record;
};

struct sim_recorder {
	struct open_record *open; /* [ranks * max_held] */
	struct trace_record *ring;
	uint64_t size, next; /* next: number of records so far */
	int64_t *lost;       /* [ranks] */
	bool stopped;
	uint64_t end_ns; /* when it was stopped */
	bool short_of_memory;
};

static uint64_t now_ns(void)
{
	return engine_now() / SIM_NS;
}

struct sim_recorder *sim_recorder_create(const struct sim_world *w)
{
	struct sim_recorder *c = calloc(1, sizeof *c);
	size_t ranks = (size_t)w->request.ranks;

	if (!c)
		return NULL;
	c->open = calloc(ranks * (size_t)w->setup.max_held, sizeof *c->open);
	c->lost = calloc(ranks, sizeof *c->lost);
	if (c->open && c->lost)
		return c;
	sim_recorder_free(c);
	return NULL;
}

void sim_recorder_free(struct sim_recorder *c)
{
	if (!c)
		return;
	free(c->open);
	free(c->lost);
	free(c->ring);
	free(c);
}

/* ---------------------------------------------------------------------- events */

static struct open_record *open_of(struct sim_rank *r, const struct lock_slot *slot)
{
	return &r->world->recorder->open[r->id * r->world->setup.max_held + slot->index];
}

static void grow(struct sim_recorder *c)
{
	uint64_t size = c->size ? 2 * c->size : RECORDS_FIRST;
	struct trace_record *more = realloc(c->ring, size * sizeof *more);

	c->short_of_memory = !more;
	if (!more)
		return;
	c->ring = more;
	c->size = size;
}

static void keep(struct sim_recorder *c, struct open_record *o)
{
	struct trace_record *to;

	o->is_open = false;
	if (c->next == c->size && c->size < RECORDS && !c->short_of_memory)
		grow(c);
	if (!c->size)
		return;
	to = &c->ring[c->next % c->size];
	if (c->next >= c->size)
		c->lost[to->rank]++;
	*to = o->record;
	c->next++;
}

void sim_recorder_begin(struct sim_rank *r, struct lock_slot *slot, int mode)
{
	if (!r->world->recorder || r->world->recorder->stopped)
		return;
	slot->from = 0;
	*open_of(r, slot) = (struct open_record){
	    .is_open = true,
	    .waits = slot->client.waits,
	    .record = {.begin_ns = now_ns(),
		       .lock = slot->lock,
		       .rank = r->id,
		       .from = -1,
		       .slot = slot->index,
		       .mode = mode,
		       .code = PAWL_ERR_TIMEOUT},
	};
}

void sim_recorder_acquired(struct sim_rank *r, const struct lock_slot *slot, int code)
{
	struct open_record *o;
	struct trace_record *t;

	if (!r->world->recorder)
		return;
	o = open_of(r, slot);
	if (!o->is_open)
		return;
	code = client_has_got(code) ? PAWL_SUCCESS : code;
	t = &o->record;
	t->acquired_ns = now_ns();
	t->first = slot->first;
	t->last = slot->last;
	t->code = code;
	t->waited =
	    code == PAWL_SUCCESS ? slot->client.waits != o->waits : code == PAWL_ERR_TIMEOUT;
	if (t->waited && slot->from > 0)
		t->from = slot_rank(slot->from);
	if (code != PAWL_SUCCESS)
		keep(r->world->recorder, o);
}

void sim_recorder_release(struct sim_rank *r, const struct lock_slot *slot)
{
	if (r->world->recorder)
		open_of(r, slot)->record.release_ns = now_ns();
}

void sim_recorder_released(struct sim_rank *r, const struct lock_slot *slot)
{
	struct open_record *o;

	if (!r->world->recorder)
		return;
	o = open_of(r, slot);
	if (!o->is_open)
		return;
	o->record.released_ns = now_ns();
	keep(r->world->recorder, o);
}

void sim_recorder_end(struct sim_rank *r)
{
	const struct sim_world *w = r->world;

	for (int i = 0; w->recorder && i < w->setup.max_held; i++) {
		struct open_record *o = &w->recorder->open[r->id * w->setup.max_held + i];
		struct trace_record *t = &o->record;

		if (!o->is_open)
			continue;
		t->unfinished = 1;
		if (t->code != PAWL_SUCCESS)
			t->acquired_ns = now_ns();
		else if (!t->release_ns)
			t->release_ns = now_ns();
		t->released_ns = now_ns();
		keep(w->recorder, o);
	}
}

void sim_recorder_stop(struct sim_world *w)
{
	if (!w->recorder || w->recorder->stopped)
		return;
	for (int id = 0; id < w->request.ranks; id++)
		sim_recorder_end(&w->ranks[id]);
	w->recorder->stopped = true;
	w->recorder->end_ns = now_ns();
}

/* ------------------------------------------------------------------------ file */

bool sim_recorder_begin_file(const char *path)
{
	return trace_file_create(path);
}

bool sim_recorder_write(const struct sim_world *w, const char *path, unsigned number,
			const char *about)
{
	struct sim_recorder *c = w->recorder;
	struct trace_all all = {
	    .about = about,
	    .failure = w->verdict == SIM_FINE ? NULL : w->why,
	    .failure_ns = c->end_ns,
	    .number = number,
	    .ranges = w->request.protocol->kind.capabilities & PAWL_CAP_RANGES,
	    .ranks = w->request.ranks,
	    .record = c->ring,
	    .n = c->next < c->size ? c->next : c->size,
	};
	bool well;

	all.rank = calloc((size_t)all.ranks, sizeof *all.rank);
	if (!all.rank || c->short_of_memory) {
		free(all.rank);
		return false;
	}
	for (int id = 0; id < all.ranks; id++) {
		all.rank[id].world = all.rank[id].number = id;
		all.rank[id].thread = (int)number * w->setup.max_held;
		all.rank[id].lost = c->lost[id];
		snprintf(all.rank[id].host, sizeof all.rank[id].host, "node %d", w->topo->node[id]);
	}
	well = trace_file_add(path, &all);
	free(all.rank);
	return well;
}
