/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transport of virtual ranks. A NODE word is accessed by CPU: as a whole, after the time that
 * the access takes. Any other operation goes through the network and takes effect when the timing
 * says, in any order. Its result is in place only after the flush. Until then the buffer has a
 * poison value, which a protocol finds if it looks too early.
 */
#include <stdlib.h>

#include "sim/sim.h"

#define POISON INT64_C(0x5a5ada7a5a5ada7a)

static struct sim_rank *rank_of(struct rma_client *c)
{
	return c->rma->state;
}

static const struct sim_timing *timing_of(const struct sim_rank *r)
{
	return r->world->request.timing;
}

/* ------------------------------------------------------------------ failures */

/* As in ucx/transport.c: leave the protocol where it is. */
static void give_up(struct rma_client *c)
{
	struct sim_rank *r = rank_of(c);

	c->failed = false;
	if (!c->on_loss)
		return;
	sim_note(r, "gives up");
	r->what = NULL;
	r->has_word = false;
	sim_unwind(r);
	longjmp(*c->on_loss, 1);
}

/* Since when a client knows of a death, and in which wait. */
struct sim_client {
	uint64_t dead_since_ns, dead_wait;
};
_Static_assert(sizeof(struct sim_client) <= RMA_OWN_BYTES, "it fits into a client");

/* Give up if c has waited for too long since a death. Otherwise the time when it will have; 0:
 * there is no such time yet. */
static sim_time limit_wait(struct rma_client *c)
{
	struct sim_client *own = rma_own(c);
	const struct sim_world *w = rank_of(c)->world;
	uint64_t now = engine_now() / SIM_NS, most = w->request.death_wait_ns;

	if (!most || c->rma->outlives || !w->deaths || !c->on_loss)
		return 0;
	if (!own->dead_since_ns || own->dead_wait != c->waits) {
		own->dead_since_ns = now;
		own->dead_wait = c->waits;
	}
	if (now - own->dead_since_ns >= most)
		give_up(c);
	return (own->dead_since_ns + most) * SIM_NS;
}

/* ---------------------------------------------------------------- operations */

static bool is_inside(const struct sim_rank *r)
{
	for (int i = 0; i < r->nheld; i++)
		if (r->held[i].counted)
			return true;
	return false;
}

void sim_nap(struct sim_rank *r)
{
	if (r->nheld && r->world->request.protocol->recover &&
	    r->world->request.protocol->recover->unchecked_release)
		return;
	if (__builtin_expect(!r->nap_after || (r->nap_after == 1 && is_inside(r)), 1) ||
	    --r->nap_after)
		return;
	sim_note(r, "is stopped");
	sim_sleep(r, 1 + sim_below(&r->random, r->nap));
	r->nap_after = --r->naps > 0 ? 1 + sim_below(&r->random, r->nap_within) : 0;
	sim_note(r, "goes on");
}

static int64_t access_word(struct sim_rank *r, struct rma_word w, enum sim_call call,
			   enum rma_op op, int64_t operand, int64_t expected)
{
	sim_step(r);
	sim_nap(r);
	sim_sleep(r, timing_of(r)->access(r, w, call));
	return sim_perform(r, w, call, op, operand, expected);
}

static struct sim_op *new_op(struct sim_rank *r)
{
	struct sim_op *op = r->world->spare;

	if (op)
		r->world->spare = op->next;
	else
		op = malloc(sizeof *op);
	if (!op)
		abort();
	return op;
}

static void issue(struct rma_client *c, struct rma_word w, enum sim_call call, enum rma_op what,
		  int64_t operand, int64_t expected, int64_t *result)
{
	struct sim_rank *r = rank_of(c);
	struct sim_op *op;

	if (w.flags & RMA_NODE_WORD) {
		int64_t old = access_word(r, w, call, what, operand, expected);

		if (result)
			*result = old;
		return;
	}
	sim_step(r);
	sim_nap(r);
	op = new_op(r);
	*op = (struct sim_op){
	    .next = r->ops,
	    .rank = r,
	    .client = c,
	    .word = w,
	    .call = call,
	    .op = what,
	    .operand = operand,
	    .expected = expected,
	    .result = result,
	};
	r->ops = op;
	if (result)
		*result = POISON;
	sim_sleep(r, timing_of(r)->send(op));
}

static void sim_put(struct rma_client *c, struct rma_word w, int64_t value)
{
	issue(c, w, SIM_PUT, RMA_REPLACE, value, 0, NULL);
}

static void sim_get(struct rma_client *c, struct rma_word w, int64_t *result)
{
	issue(c, w, SIM_GET, RMA_SUM, 0, 0, result);
}

static void sim_acc(struct rma_client *c, struct rma_word w, int64_t value)
{
	issue(c, w, SIM_ACC, RMA_SUM, value, 0, NULL);
}

static void sim_fao(struct rma_client *c, struct rma_word w, enum rma_op op, int64_t value,
		    int64_t *result)
{
	issue(c, w, SIM_FAO, op, value, 0, result);
}

static void sim_cas(struct rma_client *c, struct rma_word w, int64_t expected, int64_t value,
		    int64_t *result)
{
	issue(c, w, SIM_CAS, RMA_REPLACE, value, expected, result);
}

/* -------------------------------------------------------------------- flushes */

/* Whether a flush by this client waits for op. A flush of all targets, as at the end of a table,
 * waits for posted operations, too. */
static bool covers(const struct rma_client *c, int target, const struct sim_op *op)
{
	return op->client == c &&
	       (target == SIM_ALL_TARGETS || (op->word.rank == target && !op->posted));
}

/* Store the result and free the operation. */
static void end_op(struct sim_rank *r, struct sim_op **at)
{
	struct sim_op *op = *at;

	if (op->result)
		*op->result = op->value;
	*at = op->next;
	op->next = r->world->spare;
	r->world->spare = op;
}

/* The same for all operations that a flush covers. */
static void collect(struct sim_rank *r, const struct rma_client *c, int target)
{
	struct sim_op **at = &r->ops, *op;

	while ((op = *at))
		if (covers(c, target, op))
			end_op(r, at);
		else
			at = &op->next;
}

static sim_time last_known(const struct sim_rank *r, const struct rma_client *c, int target)
{
	sim_time last = 0;

	for (const struct sim_op *op = r->ops; op; op = op->next)
		if (covers(c, target, op) && op->known > last)
			last = op->known;
	return last;
}

static void flush(struct rma_client *c, int target)
{
	struct sim_rank *r = rank_of(c);
	const char *what = r->what;
	sim_time last;

	sim_step(r);
	r->unfinished = 0;
	for (struct sim_op *op = r->ops; op; op = op->next) {
		if (!covers(c, target, op) || op->effective)
			continue;
		r->unfinished++;
		if (op->held)
			timing_of(r)->push(op);
		op->held = false;
	}
	if (r->unfinished) {
		r->what = "a flush";
		r->flushing = target;
		r->flusher = c;
		sim_block(r);
		r->flushing = SIM_NO_TARGET;
		r->what = what;
	}
	last = last_known(r, c, target);
	if (last > engine_now())
		sim_sleep(r, last - engine_now());
	collect(r, c, target);
	if (c->failed)
		give_up(c);
	/* What the client has seen may be old when it reads its clock. */
	sim_nap(r);
}

static void flush_all(struct rma_client *c)
{
	flush(c, SIM_ALL_TARGETS);
}

/* -------------------------------------------------------------------- posting */

void sim_reap(struct sim_rank *r)
{
	struct sim_op **at = &r->ops;

	while (*at)
		if ((*at)->posted && (*at)->effective && !(*at)->result)
			end_op(r, at);
		else
			at = &(*at)->next;
}

static bool post(struct rma_client *c, struct rma_word w)
{
	struct sim_rank *r = rank_of(c);

	if (timing_of(r)->may_post && !timing_of(r)->may_post(r))
		return false;
	for (struct sim_op *op = r->ops; op; op = op->next) {
		if (!covers(c, w.rank, op))
			continue;
		op->posted = true;
		if (op->held)
			timing_of(r)->push(op);
		op->held = false;
	}
	sim_reap(r);
	return true;
}

static bool answered(struct rma_client *c, const int64_t *result)
{
	struct sim_rank *r = rank_of(c);
	struct sim_op **at = &r->ops;

	sim_step(r);
	for (const struct sim_op *op = r->ops; op; op = op->next)
		if (op->client == c && op->posted && !op->effective)
			return false;
	while (*at && (*at)->result != result)
		at = &(*at)->next;
	if (!*at)
		return true;
	if (!(*at)->effective || (*at)->known > engine_now())
		return false;
	end_op(r, at);
	return true;
}

/* -------------------------------------------------------------------- waiting */

static int64_t sim_peek(struct rma_client *c, struct rma_word w)
{
	return access_word(rank_of(c), w, SIM_PEEK, RMA_SUM, 0, 0);
}

static void sim_poke(struct rma_client *c, struct rma_word w, int64_t value)
{
	access_word(rank_of(c), w, SIM_POKE, RMA_REPLACE, value, 0);
}

static bool sim_await(struct rma_client *c, struct rma_word w, int64_t mask, enum rma_cond cond,
		      int64_t ref, uint64_t deadline_ns, const char *what, int64_t *value)
{
	struct sim_rank *r = rank_of(c);
	bool in_time = true;

	*value = sim_peek(c, w);
	if (rma_holds(*value, mask, cond, ref))
		return true;
	c->waits++;
	sim_begin_wait(r);
	r->what = what;
	r->word = w;
	r->has_word = true;
	while (!rma_holds(*sim_word(r->world, w.rank, w.offset), mask, cond, ref)) {
		if (deadline_ns && engine_now() >= sim_time_of(r, deadline_ns)) {
			in_time = false;
			break;
		}
		r->alarm = limit_wait(c);
		if (deadline_ns && (!r->alarm || sim_time_of(r, deadline_ns) < r->alarm))
			r->alarm = sim_time_of(r, deadline_ns);
		sim_watch(r, w, mask, cond, ref);
		if (r->alarm)
			engine_at(r->alarm, sim_alarm, r);
		sim_block(r);
		r->alarm = 0;
		sim_step(r);
	}
	r->what = NULL;
	r->has_word = false;
	*value = sim_perform(r, w, SIM_PEEK, RMA_SUM, 0, 0);
	return in_time;
}

static bool sim_pause(struct rma_client *c, uint64_t ns, uint64_t deadline_ns, const char *what)
{
	struct sim_rank *r = rank_of(c);
	const char *before = r->what;

	if (deadline_ns && sim_now_ns(r) >= deadline_ns)
		return false;
	limit_wait(c);
	sim_begin_wait(r);
	r->what = what;
	sim_step(r);
	sim_sleep(r, timing_of(r)->pause(r, ns));
	r->what = before;
	return true;
}

/* Virtual time, with the error of this rank's clock. */
static uint64_t sim_clock(const struct rma_client *c)
{
	const struct sim_rank *r = c->rma->state;

	return sim_now_ns(r) + r->world->request.clock_error_ns + (uint64_t)r->skew_ns;
}

/* Virtual ranks need no progress, but a client that does not wait learns of deaths here. */
static void progress(struct rma_client *c)
{
	if (c->steps)
		limit_wait(c);
}

const struct rma_transport sim_node_transport = {
    .name = "node",
    .put = sim_put,
    .get = sim_get,
    .acc = sim_acc,
    .fao = sim_fao,
    .cas = sim_cas,
    .flush = flush,
    .progress = progress,
    .peek = sim_peek,
    .poke = sim_poke,
    .await = sim_await,
    .pause = sim_pause,
    .clock = sim_clock,
};

/* can_fail is false: whether ranks die depends on the world, which sets client_set.can_fail. */
const struct rma_transport sim_net_transport = {
    .name = "mpi",
    .can = {.posts = true},
    .put = sim_put,
    .get = sim_get,
    .acc = sim_acc,
    .fao = sim_fao,
    .cas = sim_cas,
    .flush = flush,
    .flush_all = flush_all,
    .post = post,
    .answered = answered,
    .progress = progress,
    .peek = sim_peek,
    .poke = sim_poke,
    .await = sim_await,
    .pause = sim_pause,
    .clock = sim_clock,
};

/* The same, with operations in their order; effect.c. */
const struct rma_transport sim_ordered_transport = {
    .name = "mpi",
    .can = {.posts = true, .ordered = true},
    .put = sim_put,
    .get = sim_get,
    .acc = sim_acc,
    .fao = sim_fao,
    .cas = sim_cas,
    .flush = flush,
    .flush_all = flush_all,
    .post = post,
    .answered = answered,
    .progress = progress,
    .peek = sim_peek,
    .poke = sim_poke,
    .await = sim_await,
    .pause = sim_pause,
    .clock = sim_clock,
};
