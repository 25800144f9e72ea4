/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue of ranges and each structure under it, compared with the model of range_model.h: after
 * each random request, release and cancel the same clients hold and wait, and the structure is
 * sound. A wrong tree must not pass. Prints TAP.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../range_model.h"
#include "lock/fault.h"
#include "tests/tap.h"

enum { SPACES = 2 };

enum fault fault_on;

static void says(bool good, const char *store, const char *what)
{
	ok(good, "%s: %s", store, what);
}

/* splitmix64 */
static uint64_t seed;

static uint64_t draw(uint64_t n)
{
	uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (z ^ (z >> 31)) % n;
}

/* ------------------------------------------------------------------------ a run */

struct world {
	uint64_t clients;
	int64_t units, longest; /* ranges begin below units */
	int steps, busy;        /* requests in 16 turns */
	const char *what;
};

static const struct world worlds[] = {
    {12, 8, 4, 20000, 8, "few clients at few units"},
    {60, 200, 30, 20000, 10, "long queues"},
    {60, INT64_MAX, INT64_MAX, 10000, 8, "all units there are"},
    {MODEL_CLIENTS, 20000, 6, 12000, 12, "many ranges at a time"},
};

static bool notified[MODEL_CLIENTS];

static void granted(void *arg, uint64_t client)
{
	(void)arg;
	notified[client] = true;
}

static struct range draw_range(const struct world *w, const struct range_store *store)
{
	struct range r = {.first = (int64_t)draw((uint64_t)w->units)};
	int64_t room = INT64_MAX - r.first;
	uint64_t length = draw((uint64_t)w->longest);

	r.last = r.first + (length < (uint64_t)room ? (int64_t)length : room);
	/* The B-tree is for disjoint ranges. */
	r.shared = store != &range_btree && draw(3) == 0;
	if (w->longest == INT64_MAX && draw(4) == 0)
		r.first = r.last;
	return r;
}

static bool ask(struct range_queue *q, const struct world *w, const struct range_store *store,
		uint64_t client)
{
	struct range r = draw_range(w, store);
	bool waits = draw(4) != 0;
	uint64_t space = draw(8) == 0;
	enum range_state state = model_ask(client, space, &r, waits);

	return range_queue_ask(q, space, client, &r, waits) == state;
}

static bool leave(struct range_queue *q, uint64_t client)
{
	bool held = model[client].state == RANGE_HELD;

	if (held && range_queue_cancel(q, client, granted, NULL))
		return false; /* nothing to cancel */
	model_leave(client);
	if (held)
		range_queue_release(q, client, granted, NULL);
	else if (!range_queue_cancel(q, client, granted, NULL))
		return false;
	return true;
}

/* Check that all states are those of the model, and that each client that was granted its range was
 * notified. */
static bool agrees(const struct range_queue *q, const struct range_store *store,
		   const enum range_state *before)
{
	uint64_t held[SPACES] = {0}, in, all = 0;

	for (uint64_t i = 0; i < model_clients; i++) {
		bool got_on = before[i] == RANGE_AWAITED && model[i].state == RANGE_HELD;

		if (range_queue_state(q, i) != model[i].state || notified[i] != got_on)
			return false;
		notified[i] = false;
		held[model[i].space] += model[i].state == RANGE_HELD;
	}
	for (uint64_t s = 0; s < SPACES; s++) {
		if (!store->is_sound(range_queue_held(q, s), &in))
			return false;
		if (fault_on == FAULT_NONE && in != held[s])
			return false;
		all += in;
	}
	return all > 0 || !store->pool_left ||
	       store->pool_left(range_queue_pool(q)) == model_clients;
}

/* The number of steps in which queue and model agree; all steps if they always do. */
static int play(const struct world *w, const struct range_store *store, uint64_t *most_held)
{
	struct range_queue *q = range_queue_create(store, SPACES, w->clients);
	enum range_state before[MODEL_CLIENTS];
	int step = 0;

	if (!q)
		return -1;
	model_start(w->clients);
	memset(notified, 0, sizeof notified);
	*most_held = 0;
	for (; step < w->steps + (int)w->clients; step++) {
		bool ends = step >= w->steps;
		uint64_t client = ends ? (uint64_t)(step - w->steps) : draw(w->clients), held = 0;
		bool good = true;

		for (uint64_t i = 0; i < model_clients; i++) {
			before[i] = model[i].state;
			held += before[i] == RANGE_HELD;
		}
		*most_held = held > *most_held ? held : *most_held;
		if (model[client].state == RANGE_NONE && !ends)
			good = draw(16) >= (uint64_t)w->busy || ask(q, w, store, client);
		else if (model[client].state != RANGE_NONE &&
			 (ends || draw(16) >= (uint64_t)w->busy))
			good = leave(q, client);
		if (!good || !agrees(q, store, before))
			break;
	}
	range_queue_free(q);
	return step;
}

static void check(const struct range_store *store, const char *name)
{
	for (size_t i = 0; i < sizeof worlds / sizeof worlds[0]; i++) {
		const struct world *w = &worlds[i];
		uint64_t held;
		int steps;

		seed = 1;
		steps = play(w, store, &held);
		says(steps == w->steps + (int)w->clients, name, w->what);
		printf("# %d steps, %" PRIu64 " ranges held at one time\n", steps, held);
	}
}

/* Some world must show it. */
static void check_broken(void)
{
	bool caught = false;

	fault_on = FAULT_it_most;
	for (size_t i = 0; i < sizeof worlds / sizeof worlds[0]; i++) {
		uint64_t held;

		seed = 1;
		caught = caught || play(&worlds[i], &range_tree, &held) < worlds[i].steps;
	}
	fault_on = FAULT_NONE;
	says(caught, "a tree that forgets what is on its right", "is caught");
}

/* is_sound() notices structures that are not sound. */
static void check_sound(void)
{
	struct range r[3] = {
	    {.first = 1, .last = 2}, {.first = 5, .last = 6}, {.first = 9, .last = 9}};
	void *list = NULL, *tree = NULL;
	struct range *top;
	uint64_t in;

	for (int i = 0; i < 3; i++)
		range_list.insert(&list, NULL, &r[i]);
	says(range_list.is_sound(list, &in) && in == 3, "list", "three ranges are sound");
	r[1].first = 0;
	says(!range_list.is_sound(list, &in), "list", "ranges out of order are not");
	r[1].first = 5;
	for (int i = 0; i < 3; i++)
		range_tree.insert(&tree, NULL, &r[i]);
	top = tree;
	says(range_tree.is_sound(tree, &in) && in == 3 && top == &r[1], "interval tree",
	     "three ranges are sound");
	r[0].first = 7;
	says(!range_tree.is_sound(tree, &in), "interval tree",
	     "one out of order is not, on the left");
	r[0].first = 1;
	r[2].first = 4;
	says(!range_tree.is_sound(tree, &in), "interval tree", "nor on the right");
	r[2].first = 9;
	top->most = 6;
	says(!range_tree.is_sound(tree, &in), "interval tree",
	     "nor one that forgot how far others go");
	top->most = 9;
	r[0].parent = &r[2];
	says(!range_tree.is_sound(tree, &in), "interval tree", "nor one with another parent");
	r[0].parent = top;
	r[0].height = 3;
	says(!range_tree.is_sound(tree, &in), "interval tree", "nor one that leans");
	r[0].height = 1;
	says(range_tree.is_sound(tree, &in) && in == 3, "interval tree", "put right, it is sound");
}

int main(void)
{
	check(&range_list, "list");
	check(&range_tree, "interval tree");
	check(&range_btree, "B-tree");
	check_broken();
	check_sound();
	return tap_plan();
}
