/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranges of a server: the queue of those who hold and who wait, over a list, an interval tree or a
 * B-tree, which the first byte names. Each byte after it is a client's turn: one that has nothing
 * asks, in the units that the next bytes draw, 0 and INT64_MAX among them; one that holds or waits
 * leaves.
 *
 * The model compares all with all. After each turn all clients have what the model says, those who
 * got on were told so, and the structure is sound and has as many ranges as are held.
 */
#include "property.h"

#include "baselines/server/range_queue.h"

enum { CLIENTS = 48, SPACES = 2 };

static const struct range_store *store;
static struct range_queue *queue;

/* ---------------------------------------------------------------------------- model */

struct expected {
	struct range range;
	uint64_t space, arrived;
	enum range_state state;
};

static struct expected model[CLIENTS];
static uint64_t arrivals;
static bool told[CLIENTS];

static bool clash(const struct expected *a, const struct expected *b)
{
	return a->space == b->space && !(a->range.shared && b->range.shared) &&
	       a->range.first <= b->range.last && b->range.first <= a->range.last;
}

/* Nobody holds some of it, nor came before and waits for some. */
static bool may_hold(const struct expected *e)
{
	for (int i = 0; i < CLIENTS; i++) {
		const struct expected *o = &model[i];

		if (o == e || o->state == RANGE_NONE || !clash(e, o))
			continue;
		if (o->state == RANGE_HELD || o->arrived < e->arrived)
			return false;
	}
	return true;
}

/* Those who waited and hold now, in got_on. */
static void settle(bool *got_on)
{
	bool again = true;

	memset(got_on, 0, CLIENTS * sizeof *got_on);
	while (again) {
		again = false;
		for (int i = 0; i < CLIENTS; i++)
			if (model[i].state == RANGE_AWAITED && may_hold(&model[i])) {
				model[i].state = RANGE_HELD;
				got_on[i] = again = true;
			}
	}
}

/* ---------------------------------------------------------------------------- turns */

static void granted(void *arg, uint64_t client)
{
	property(arg == &told && client < CLIENTS && !told[client], "a client is told once");
	told[client] = true;
}

/* Small ones, those next to both ends, and any. */
static int64_t draw_unit(struct input *in)
{
	uint8_t b = next_byte(in);

	switch (b >> 6) {
	case 0:
	case 1:
		return b & 127;
	case 2:
		return INT64_MAX - (b & 63);
	default:
		return (int64_t)(next_word(in) >> 1);
	}
}

static void ask(struct input *in, uint64_t client)
{
	struct expected *e = &model[client];
	uint8_t how = next_byte(in);
	int64_t a = draw_unit(in), b = draw_unit(in);
	bool waits = how & 1;

	*e = (struct expected){.space = how >> 1 & 1, .arrived = ++arrivals};
	e->range.first = a < b ? a : b;
	e->range.last = a < b ? b : a;
	/* The B-tree is for ranges that do not overlap. */
	e->range.shared = how & 4 && store != &range_btree;
	e->state = may_hold(e) ? RANGE_HELD : waits ? RANGE_AWAITED : RANGE_NONE;
	property(range_queue_ask(queue, e->space, client, &e->range, waits) == e->state,
		 "a range is granted exactly if it meets nobody");
}

static void leave(uint64_t client)
{
	struct expected *e = &model[client];
	bool held = e->state == RANGE_HELD, got_on[CLIENTS];

	memset(told, 0, sizeof told);
	if (held)
		property(!range_queue_cancel(queue, client, granted, &told),
			 "a range that is held is not cancelled");
	e->state = RANGE_NONE;
	settle(got_on);
	if (held)
		range_queue_release(queue, client, granted, &told);
	else
		property(range_queue_cancel(queue, client, granted, &told),
			 "one that waits is cancelled");
	property(memcmp(told, got_on, sizeof told) == 0, "those who got on are told so");
}

static void check_all(void)
{
	uint64_t held[SPACES] = {0}, in, all = 0;

	for (uint64_t i = 0; i < CLIENTS; i++) {
		property(range_queue_state(queue, i) == model[i].state, "states are the model's");
		held[model[i].space] += model[i].state == RANGE_HELD;
	}
	for (uint64_t s = 0; s < SPACES; s++) {
		property(store->is_sound(range_queue_held(queue, s), &in),
			 "the structure is sound");
		property(in == held[s], "it has the ranges that are held");
		all += in;
	}
	property(all || !store->pool_left || store->pool_left(range_queue_pool(queue)) == CLIENTS,
		 "all nodes are back in the pool");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct range_store *const stores[] = {&range_list, &range_tree, &range_btree};
	struct input in = {data, size};

	store = stores[next_byte(&in) % 3];
	queue = range_queue_create(store, SPACES, CLIENTS);
	property(queue, "there is memory");
	memset(model, 0, sizeof model);
	arrivals = 0;
	while (in.size) {
		uint64_t client = next_byte(&in) % CLIENTS;

		if (model[client].state == RANGE_NONE)
			ask(&in, client);
		else
			leave(client);
		check_all();
	}
	for (uint64_t i = 0; i < CLIENTS; i++)
		if (model[i].state != RANGE_NONE) {
			leave(i);
			check_all();
		}
	range_queue_free(queue);
	return 0;
}
