/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations take effect. Only here do words of virtual ranks change. A client that waits for a
 * word is notified when the word fits. It looks again when it runs, and waits on if the word has
 * changed once more.
 */
#include "sim/sim.h"

void sim_watch(struct sim_rank *r, struct rma_word w, int64_t mask, enum rma_cond cond, int64_t ref)
{
	struct sim_line *line = sim_line(r->world, w);

	r->word = w;
	r->mask = mask;
	r->cond = cond;
	r->ref = ref;
	r->line = line;
	r->next_watcher = line->watchers;
	line->watchers = r;
}

static void wake(void *arg)
{
	struct sim_rank *r = arg;

	engine_wake(r->actor);
}

void sim_alarm(void *arg)
{
	struct sim_rank *r = arg, **at;

	/* The alarm of an earlier wait, or of one that has just ended. */
	if (!r->alarm || engine_now() < r->alarm || !r->line)
		return;
	for (at = &r->line->watchers; *at != r; at = &(*at)->next_watcher)
		;
	*at = r->next_watcher;
	r->line = NULL;
	engine_wake(r->actor);
}

static void changed(struct sim_world *w, struct rma_word x, int64_t value)
{
	struct sim_rank **at = &sim_line(w, x)->watchers, *r;

	while ((r = *at)) {
		if (r->word.rank != x.rank || r->word.offset != x.offset ||
		    !rma_holds(value, r->mask, r->cond, r->ref)) {
			at = &r->next_watcher;
			continue;
		}
		*at = r->next_watcher;
		r->line = NULL;
		engine_at(engine_now() + w->request.timing->notice(r, x), wake, r);
	}
}

static void store(struct sim_world *w, struct rma_word x, int64_t *word, int64_t value)
{
	*word = value;
	if (sim_line(w, x)->watchers)
		changed(w, x, value);
}

static int64_t sum(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static const char *const verbs[] = {
    [SIM_PUT] = "put",     [SIM_GET] = "get",   [SIM_ACC] = "add",    [SIM_FAO] = "fetch-op",
    [SIM_CAS] = "swap-if", [SIM_PEEK] = "load", [SIM_POKE] = "store",
};

/* The word after an operation that finds it so. */
static int64_t after(enum sim_call call, enum rma_op op, int64_t old, int64_t operand,
		     int64_t expected)
{
	switch (call) {
	case SIM_PUT:
	case SIM_POKE:
		return operand;
	case SIM_ACC:
		return sum(old, operand);
	case SIM_FAO:
		return op == RMA_REPLACE ? operand
		       : op == RMA_SUM   ? sum(old, operand)
		       : op == RMA_OR    ? old | operand
					 : old & operand;
	case SIM_CAS:
		return old == expected ? operand : old;
	case SIM_GET:
	case SIM_PEEK:
		break;
	}
	return old;
}

int64_t sim_perform(struct sim_rank *r, struct rma_word w, enum sim_call call, enum rma_op op,
		    int64_t operand, int64_t expected)
{
	struct sim_world *world = r->world;
	int64_t *word = sim_word(world, w.rank, w.offset), old = *word;
	int64_t new = after(call, op, old, operand, expected);

	sim_trace(r, verbs[call], w, old, new);
	if (call != SIM_GET && call != SIM_PEEK)
		store(world, w, word, new);
	return old;
}

/* Whether the target is dead, so that nothing performs the operation. */
static bool is_for_dead(const struct sim_op *op)
{
	const struct sim_world *w = op->rank->world;

	return w->request.doubt_ns && w->ranks[op->word.rank].dead && (op->word.flags & RMA_FAR);
}

static void end_effect(struct sim_op *op)
{
	/* That waits for it: a thread may have issued it for the rank, which waits at its end. */
	struct sim_rank *r = op->client->rma->state;

	op->effective = true;
	op->known = engine_now() + r->world->request.timing->answer(op);
	if (op->fails) {
		op->client->failed = true;
		sim_break(op->client);
		r->world->failures += !is_for_dead(op);
		sim_doubt(r->world);
	}
	if (r->flusher != op->client ||
	    (r->flushing != SIM_ALL_TARGETS && (r->flushing != op->word.rank || op->posted))) {
		if (op->posted)
			sim_reap(r);
		return;
	}
	/* A flush waits for this operation; it ends when the last one is known. */
	if (--r->unfinished == 0)
		engine_at(op->known, wake, r);
}

/* Whether one operation has to wait for the other: the same client has issued it, later, at the
 * same rank. */
static bool follows(const struct sim_op *later, const struct sim_op *op)
{
	return later->client == op->client && later->word.rank == op->word.rank;
}

static bool is_behind(const struct sim_op *op)
{
	for (const struct sim_op *o = op->next; o; o = o->next)
		if (!o->effective && follows(op, o))
			return true;
	return false;
}

/* The earliest operation of this client at this rank that has arrived and has none before it. */
static struct sim_op *next_in_order(const struct sim_rank *r, const struct rma_client *c, int rank)
{
	struct sim_op *first = NULL;

	for (struct sim_op *o = r->process->ops; o; o = o->next)
		if (o->client == c && o->word.rank == rank && !o->effective)
			first = o;
	return first && first->arrived ? first : NULL;
}

static void take_effect(struct sim_op *op);

/* The effect of op has ended, which may be freed since. */
static void go_on(struct sim_rank *r, const struct rma_client *c, int rank)
{
	struct sim_op *next = NULL;

	if (c->rma->transport->can.ordered)
		next = next_in_order(r, c, rank);
	if (next)
		take_effect(next);
}

/* The adapter writes. */
static void write_back(void *arg)
{
	struct sim_op *op = arg;
	struct sim_rank *r = op->rank;
	const struct rma_client *c = op->client;
	struct rma_word w = op->word;

	sim_trace(r, verbs[op->call], w, op->value, op->after);
	if (op->after != op->value)
		store(r->world, w, sim_word(r->world, w.rank, w.offset), op->after);
	end_effect(op);
	go_on(r, c, w.rank);
}

static void again(void *arg)
{
	take_effect(arg);
}

/* Whether an adapter performs op, now or later. */
static bool is_by_adapter(struct sim_op *op)
{
	const struct sim_timing *t = op->rank->world->request.timing;
	struct sim_line *line = sim_line(op->rank->world, op->word);
	sim_time now = engine_now(), takes;

	if (!t->atomic || op->call == SIM_PUT || op->call == SIM_GET)
		return false;
	if (line->atomic_until && line->atomic_until >= now) {
		engine_at(line->atomic_until + 1, again, op);
		return true;
	}
	takes = t->atomic(op);
	if (!takes)
		return false;
	line->atomic_until = now + takes;
	op->value = *sim_word(op->rank->world, op->word.rank, op->word.offset);
	op->after = after(op->call, op->op, op->value, op->operand, op->expected);
	engine_at(now + takes, write_back, op);
	return true;
}

static void take_effect(struct sim_op *op)
{
	struct sim_rank *r = op->rank;
	const struct rma_client *c = op->client;
	int rank = op->word.rank;

	if (is_for_dead(op))
		op->fails = op->lost = true;
	else if (!op->lost && is_by_adapter(op))
		return;
	else if (!op->lost)
		op->value = sim_perform(r, op->word, op->call, op->op, op->operand, op->expected);
	end_effect(op);
	go_on(r, c, rank);
}

void sim_effect(void *arg)
{
	struct sim_op *op = arg;

	op->arrived = true;
	if (!op->client->rma->transport->can.ordered || !is_behind(op))
		take_effect(op);
}
