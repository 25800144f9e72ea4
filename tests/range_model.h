/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model of a queue of ranges (baselines/server/range_queue.h), which compares all ranges
 * with all. A range is granted if it meets no range that is held, and none that waits and came
 * before it.
 */
#ifndef TESTS_RANGE_MODEL_H
#define TESTS_RANGE_MODEL_H

#include <string.h>

#include "baselines/server/range_queue.h"

enum { MODEL_CLIENTS = 700 }; /* the most clients */

struct expected {
	struct range range;
	uint64_t space, arrived;
	enum range_state state;
};

static struct expected model[MODEL_CLIENTS];
static uint64_t model_clients, model_arrivals;

static inline void model_start(uint64_t clients)
{
	memset(model, 0, sizeof model);
	model_clients = clients;
	model_arrivals = 0;
}

static inline bool model_meet(const struct expected *a, const struct expected *b)
{
	return a->space == b->space && !(a->range.shared && b->range.shared) &&
	       a->range.first <= b->range.last && b->range.first <= a->range.last;
}

static inline bool model_may_hold(const struct expected *e)
{
	for (uint64_t i = 0; i < model_clients; i++) {
		const struct expected *o = &model[i];

		if (o == e || o->state == RANGE_NONE || !model_meet(e, o))
			continue;
		if (o->state == RANGE_HELD || o->arrived < e->arrived)
			return false;
	}
	return true;
}

/* The state of a client that asks. */
static inline enum range_state model_ask(uint64_t client, uint64_t space, const struct range *r,
					 bool waits)
{
	struct expected *e = &model[client];

	*e = (struct expected){*r, space, ++model_arrivals, RANGE_NONE};
	e->state = model_may_hold(e) ? RANGE_HELD : waits ? RANGE_AWAITED : RANGE_NONE;
	return e->state;
}

/* A client that holds or waits leaves; others that waited may hold now. */
static inline void model_leave(uint64_t client)
{
	bool again = true;

	model[client].state = RANGE_NONE;
	while (again) {
		again = false;
		for (uint64_t i = 0; i < model_clients; i++)
			if (model[i].state == RANGE_AWAITED && model_may_hold(&model[i])) {
				model[i].state = RANGE_HELD;
				again = true;
			}
	}
}

#endif
