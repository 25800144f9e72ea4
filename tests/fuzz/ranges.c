/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranges of a server: the queue of holders and waiters, over a list, an interval tree or a
 * B-tree, which the first byte names. Each byte after it is a client's turn: an idle client
 * asks for units that the next bytes draw, 0 and INT64_MAX among them; one that holds or waits
 * leaves.
 *
 * After each turn the states of all clients are those of the model in range_model.h, each client
 * that was granted its range was notified, and the structure is sound and has the ranges that are
 * held.
 */
#include "property.h"

#include "../range_model.h"

enum { CLIENTS = 48, SPACES = 2 };

static const struct range_store *store;
static struct range_queue *queue;

static bool notified[CLIENTS];

/* ---------------------------------------------------------------------------- turns */

static void granted(void *arg, uint64_t client)
{
	property(arg == &notified && client < CLIENTS && !notified[client],
		 "a client is notified once");
	notified[client] = true;
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
	uint8_t how = next_byte(in);
	int64_t a = draw_unit(in), b = draw_unit(in);
	struct range r = {.first = a < b ? a : b, .last = a < b ? b : a};
	bool waits = how & 1;
	uint64_t space = how >> 1 & 1;
	enum range_state state;

	/* The B-tree is for ranges that do not overlap. */
	r.shared = how & 4 && store != &range_btree;
	state = model_ask(client, space, &r, waits);
	property(range_queue_ask(queue, space, client, &r, waits) == state,
		 "a range is granted exactly if it meets no other");
}

static void leave(uint64_t client)
{
	bool held = model[client].state == RANGE_HELD, waited[CLIENTS];

	memset(notified, 0, sizeof notified);
	if (held)
		property(!range_queue_cancel(queue, client, granted, &notified),
			 "a range that is held is not cancelled");
	for (int i = 0; i < CLIENTS; i++)
		waited[i] = model[i].state == RANGE_AWAITED;
	model_leave(client);
	if (held)
		range_queue_release(queue, client, granted, &notified);
	else
		property(range_queue_cancel(queue, client, granted, &notified),
			 "one that waits is cancelled");
	for (int i = 0; i < CLIENTS; i++)
		property(notified[i] == (waited[i] && model[i].state == RANGE_HELD),
			 "clients that were granted their ranges are notified");
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
	model_start(CLIENTS);
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
