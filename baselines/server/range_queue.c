/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See range_queue.h. Held ranges are in the structure, awaited ranges in a list in the order of
 * arrival. A structure of disjoint ranges could not have awaited ranges, which overlap. So all
 * structures are used alike, and differ in their search.
 *
 * When a range is released, only waiters that overlap it can proceed. A waiter does if it overlaps
 * no held range and no range before it in the list. The list is searched for each, which takes time
 * quadratic in its length.
 */
#include "baselines/server/range_queue.h"

#include <stdlib.h>

struct client {
	struct range range; /* first, so that a range leads to its client */
	uint64_t space;
	enum range_state state;
};

struct space {
	void *held;
	uint64_t holders;
	struct range *waiting, *last;
};

struct range_queue {
	const struct range_store *store;
	struct range_pool *pool;
	struct space *spaces;
	struct client *clients;
	uint64_t compared;
};

struct range_queue *range_queue_create(const struct range_store *store, uint64_t spaces,
				       uint64_t clients)
{
	struct range_queue *q = calloc(1, sizeof *q);

	if (!q)
		return NULL;
	q->store = store;
	q->spaces = calloc(spaces, sizeof *q->spaces);
	q->clients = calloc(clients, sizeof *q->clients);
	if (store->pool_create)
		q->pool = store->pool_create(clients);
	if (q->spaces && q->clients && (q->pool || !store->pool_create))
		return q;
	range_queue_free(q);
	return NULL;
}

void range_queue_free(struct range_queue *q)
{
	if (!q)
		return;
	if (q->pool)
		q->store->pool_free(q->pool);
	free(q->spaces);
	free(q->clients);
	free(q);
}

/* Whether a range before r in the list conflicts with it. If r is not in the list, all ranges there
 * are before it. */
static bool is_behind(struct range_queue *q, const struct space *s, const struct range *r)
{
	for (const struct range *w = s->waiting; w && w != r; w = w->next) {
		q->compared++;
		if (range_conflicts(w, r))
			return true;
	}
	return false;
}

static bool has_turn(struct range_queue *q, const struct space *s, const struct range *r)
{
	return !q->store->meets(s->held, r) && !is_behind(q, s, r);
}

static void hold(struct range_queue *q, struct space *s, struct client *c)
{
	c->state = RANGE_HELD;
	s->holders++;
	q->store->insert(&s->held, q->pool, &c->range);
}

static void append(struct space *s, struct client *c)
{
	c->state = RANGE_AWAITED;
	c->range.next = NULL;
	if (s->last)
		s->last->next = &c->range;
	else
		s->waiting = &c->range;
	s->last = &c->range;
}

/* before: the range before r in the list, or NULL. */
static void take_out(struct space *s, struct range *before, struct range *r)
{
	if (before)
		before->next = r->next;
	else
		s->waiting = r->next;
	if (s->last == r)
		s->last = before;
}

/* gone has left: grant the ranges whose turn it is now. */
static void get_on(struct range_queue *q, struct space *s, const struct range *gone,
		   range_granted *granted, void *arg)
{
	struct range *before = NULL, *next;

	for (struct range *r = s->waiting; r; r = next) {
		struct client *c = (struct client *)r;

		next = r->next;
		q->compared++;
		if (!range_conflicts(gone, r) || !has_turn(q, s, r)) {
			before = r;
			continue;
		}
		take_out(s, before, r);
		hold(q, s, c);
		granted(arg, (uint64_t)(c - q->clients));
	}
}

enum range_state range_queue_ask(struct range_queue *q, uint64_t space, uint64_t client,
				 const struct range *wanted, bool waits)
{
	struct client *c = &q->clients[client];
	struct space *s = &q->spaces[space];

	c->range = *wanted;
	c->space = space;
	if (has_turn(q, s, &c->range))
		hold(q, s, c);
	else if (waits)
		append(s, c);
	return c->state;
}

void range_queue_release(struct range_queue *q, uint64_t client, range_granted *granted, void *arg)
{
	struct client *c = &q->clients[client];
	struct space *s = &q->spaces[c->space];

	q->store->remove(&s->held, q->pool, &c->range);
	s->holders--;
	c->state = RANGE_NONE;
	get_on(q, s, &c->range, granted, arg);
}

bool range_queue_cancel(struct range_queue *q, uint64_t client, range_granted *granted, void *arg)
{
	struct client *c = &q->clients[client];
	struct space *s = &q->spaces[c->space];
	struct range *before = NULL;

	if (c->state != RANGE_AWAITED)
		return false;
	for (struct range *r = s->waiting; r != &c->range; r = r->next)
		before = r;
	take_out(s, before, &c->range);
	c->state = RANGE_NONE;
	get_on(q, s, &c->range, granted, arg);
	return true;
}

uint64_t range_queue_holders(const struct range_queue *q, uint64_t space)
{
	return q->spaces[space].holders;
}

uint64_t range_queue_compared(const struct range_queue *q)
{
	return q->compared;
}

enum range_state range_queue_state(const struct range_queue *q, uint64_t client)
{
	return q->clients[client].state;
}

void *range_queue_held(const struct range_queue *q, uint64_t space)
{
	return q->spaces[space].held;
}

const struct range_pool *range_queue_pool(const struct range_queue *q)
{
	return q->pool;
}
