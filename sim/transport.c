/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transport of virtual ranks. A NODE word is accessed by CPU: as a whole, after the time that
 * the access takes. Any other operation goes through the network and takes effect when the timing
 * says, in any order. Its result is in place only after the flush. Until then the buffer has a
 * poison value, which a protocol finds if it looks too early.
 *
 * Operations fail in three ways. With SIM_MPI_ERRORS a call of the MPI returns an error, and has
 * been performed or not; what the client has issued before takes effect soon, or was never sent.
 * With SIM_CUTS a connection is lost: operations that were on their way may have been performed,
 * later ones are not, and the client learns it at its flush. With SIM_UNREACHED a rank cannot reach
 * another one at first: a call that begins there ends, and any other one waits.
 */
#include <stdlib.h>

#include "sim/sim.h"

/* In every second world; in the others 0, as with transport ucx. */
#define POISON INT64_C(0x5a5ada7a5a5ada7a)

static struct sim_rank *rank_of(struct rma_client *c)
{
	return c->rma->state;
}

static const struct sim_timing *timing_of(const struct sim_rank *r)
{
	return r->world->request.timing;
}

static void end_op(struct sim_rank *r, struct sim_op **at);

/* ------------------------------------------------------------------ failures */

/* Since when a client knows of a failure, and in which wait. */
struct sim_client {
	struct rma_doubt doubt;
	bool broken;
};
_Static_assert(sizeof(struct sim_client) <= RMA_FEW_BELOW, "it fits into a client");

static void break_one(struct sim_rank *r, struct rma_client *c)
{
	struct sim_client *own = rma_own(c);

	r->world->locks[c->lock].broken = true;
	r->process->losses += !own->broken;
	own->broken = true;
}

void sim_break(struct rma_client *c)
{
	struct sim_rank *r = rank_of(c);

	for (int i = 0; i < slots_used(&r->process->clients); i++) {
		struct rma_client *other = &r->process->clients.slots[i].client;

		if (other == c || (c->on_loss && other->on_loss == c->on_loss)) /* of a part */
			break_one(r, other);
	}
}

/* As in ucx/transport.c: leave the protocol where it is. */
static void give_up(struct rma_client *c)
{
	struct sim_rank *r = rank_of(c);

	c->failed = false;
	if (!c->on_loss)
		return;
	if (!c->unreached)
		sim_break(c);
	sim_note(r, "gives up");
	r->what = NULL;
	r->has_word = false;
	sim_unwind(r);
	longjmp(*c->on_loss, 1);
}

/* Give up if c has waited for too long since a failure. Otherwise the time when it will have; 0:
 * there is no such time yet. */
static sim_time limit_wait(struct rma_client *c)
{
	struct sim_client *own = rma_own(c);
	struct sim_world *w = rank_of(c)->world;
	uint64_t now = engine_now() / SIM_NS, most = w->request.doubt_ns;

	if (!most || c->rma->outlives || !(w->deaths || w->failures) || !c->on_loss)
		return 0;
	if (!own->doubt.since_ns || own->doubt.wait != c->waits)
		own->doubt = (struct rma_doubt){now, c->waits};
	if (now - own->doubt.since_ns >= most) {
		if (w->request.calm && !w->locks[c->lock].broken)
			sim_fail(w, SIM_STUCK,
				 "rank %d has waited for lock %llu for long, and no operation on it"
				 " has failed",
				 rank_of(c)->id, (unsigned long long)c->lock);
		give_up(c);
	}
	return (own->doubt.since_ns + most) * SIM_NS;
}

/* The MPI has returned an error. What the client has issued before is on its way, or was never
 * sent; nobody looks at its results. */
static void fail_call(struct rma_client *c)
{
	struct sim_rank *r = rank_of(c);
	bool sent = sim_below(&r->random, 2);

	sim_note(r, "gets an error");
	for (struct sim_op *op = r->process->ops; op; op = op->next) {
		if (op->client != c)
			continue;
		op->result = NULL;
		if (op->held && sent)
			timing_of(r)->push(op);
		op->held = op->held && !sent;
	}
	r->world->failures++;
	sim_doubt(r->world);
	give_up(c);
}

/* Operations of a rank between two errors of the MPI. */
enum { MOST_BETWEEN = 50 };

/* Whether this call fails; not one that nobody would tell of it. */
static bool fails(struct rma_client *c, enum sim_errors how)
{
	struct sim_rank *r = rank_of(c)->process;

	if (__builtin_expect(!r->fails_after, 1) || r->world->request.errors != how || !c->on_loss)
		return false;
	if (--r->fails_after)
		return false;
	if (how == SIM_MPI_ERRORS && sim_below(&r->random, 2))
		r->fails_after = 1 + sim_below(&r->random, MOST_BETWEEN);
	return true;
}

/* The connection to a rank is lost, for all clients of this one. */
static void cut(struct sim_rank *r, int rank)
{
	sim_note(r, "loses its connection to rank %d", rank);
	r->cut = rank;
	for (struct sim_op *op = r->ops; op; op = op->next)
		if (op->word.rank == rank && !op->effective) {
			op->fails = true;
			op->lost = sim_below(&r->random, 2);
		}
}

/* Whether c's call begins at the rank that cannot be reached, as in ucx/transport.c. */
static bool begins_apart(const struct rma_client *c)
{
	const struct sim_rank *r = ((const struct sim_rank *)c->rma->state)->process;
	uint64_t index;
	int home;

	lock_home(&r->world->setup, c->lock, &home, &index);
	return r->world->request.protocol->first_at_home && !c->inside && home == r->apart;
}

static bool is_apart(struct sim_rank *r, struct rma_word w)
{
	if (__builtin_expect(r->apart < 0, 1))
		return false;
	if (engine_now() >= r->apart_until)
		r->apart = -1;
	return w.rank == r->apart && (w.flags & RMA_FAR);
}

static bool has_unsent(const struct sim_rank *r, const struct rma_client *c)
{
	for (const struct sim_op *op = r->ops; op; op = op->next)
		if (op->client == c && op->word.rank == r->apart && op->held)
			return true;
	return false;
}

/* c's operations on the rank that cannot be reached are dropped, or wait until it can. */
static void reach(struct rma_client *c)
{
	struct sim_rank *by = rank_of(c), *r = by->process;

	if (__builtin_expect(r->apart < 0, 1) || !has_unsent(r, c))
		return;
	if (begins_apart(c) && c->on_loss) {
		for (struct sim_op **at = &r->ops; *at;)
			if ((*at)->client == c && (*at)->word.rank == r->apart)
				end_op(r, at);
			else
				at = &(*at)->next;
		/* The call may reach it while it gives back what it has acquired. */
		c->failed = c->unreached = r->was_apart = true;
		return;
	}
	sim_note(r, "cannot reach rank %d yet", r->apart);
	if (r->apart_until > engine_now())
		sim_sleep(by, r->apart_until - engine_now());
	r->apart = -1;
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
	/* In a release, which may be that of a request that is cancelled. */
	if ((r->nheld || r->requested) && r->world->request.protocol->recover &&
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

static enum sim_kind_of_time kind_of(const struct sim_op *op)
{
	return op->call == SIM_GET   ? SIM_ON_LOOKS
	       : op->call == SIM_PUT ? SIM_ON_PUTS
				     : SIM_ON_ATOMICS;
}

static void issue(struct rma_client *c, struct rma_word w, enum sim_call call, enum rma_op what,
		  int64_t operand, int64_t expected, int64_t *result)
{
	struct sim_rank *r = rank_of(c);
	struct sim_op *op;
	bool error;

	if (w.flags & RMA_NODE_WORD) {
		int64_t old = access_word(r, w, call, what, operand, expected);

		if (result)
			*result = old;
		return;
	}
	sim_step(r);
	sim_nap(r);
	error = fails(c, SIM_MPI_ERRORS);
	if (error && sim_below(&r->random, 2))
		fail_call(c);
	if ((w.flags & RMA_FAR) && fails(c, SIM_CUTS))
		cut(r->process, w.rank);
	op = new_op(r);
	*op = (struct sim_op){
	    .next = r->process->ops,
	    .rank = r,
	    .client = c,
	    .word = w,
	    .call = call,
	    .op = what,
	    .operand = operand,
	    .expected = expected,
	    .result = result,
	    .fails = w.rank == r->process->cut,
	    .lost = w.rank == r->process->cut,
	    .held = is_apart(r->process, w),
	};
	r->process->ops = op;
	if (result)
		*result = r->world->request.seed % 2 ? POISON : 0;
	if (!op->held) {
		sim_time send = timing_of(r)->send(op);

		sim_sleep(r, send);
		r->spent[kind_of(op)] += send;
	}
	if (error)
		fail_call(c);
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
	struct sim_rank *r = rank_of(c);

	if (r->world->request.atomics != SIM_ALL_ATOMICS && op != RMA_SUM && !rma_is_cpu(w))
		sim_fail(r->world, SIM_MISUSE, "rank %d: the network has no such atomic", r->id);
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
	struct sim_op **at = &r->process->ops, *op;

	while ((op = *at))
		if (covers(c, target, op))
			end_op(r, at);
		else
			at = &op->next;
}

static sim_time last_known(const struct sim_rank *r, const struct rma_client *c, int target)
{
	sim_time last = 0;

	for (const struct sim_op *op = r->process->ops; op; op = op->next)
		if (covers(c, target, op) && op->known > last)
			last = op->known;
	return last;
}

static void flush(struct rma_client *c, int target)
{
	struct sim_rank *r = rank_of(c);
	const char *what = r->what;
	sim_time last, began = engine_now();
	enum sim_kind_of_time kind = SIM_ON_LOOKS;
	bool error;

	sim_step(r);
	error = fails(c, SIM_MPI_ERRORS);
	if (error && sim_below(&r->random, 2))
		fail_call(c);
	reach(c);
	if (c->unreached)
		target = SIM_ALL_TARGETS; /* the slot is used again */
	r->unfinished = 0;
	for (struct sim_op *op = r->process->ops; op; op = op->next) {
		if (covers(c, target, op) && kind_of(op) > kind)
			kind = kind_of(op);
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
	r->spent[kind] += engine_now() - began;
	if (error)
		fail_call(c);
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
	struct sim_op **at = &r->process->ops;

	while (*at)
		if ((*at)->posted && (*at)->effective && !(*at)->result)
			end_op(r, at);
		else
			at = &(*at)->next;
}

static bool post(struct rma_client *c, struct rma_word w)
{
	struct sim_rank *r = rank_of(c);

	if ((timing_of(r)->may_post && !timing_of(r)->may_post(r)) || is_apart(r->process, w))
		return false;
	for (struct sim_op *op = r->process->ops; op; op = op->next) {
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
	struct sim_op **at = &r->process->ops;

	sim_step(r);
	for (const struct sim_op *op = r->process->ops; op; op = op->next)
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
	sim_time began = engine_now();
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
	r->spent[SIM_ON_WAITS] += engine_now() - began;
	r->what = NULL;
	r->has_word = false;
	*value = sim_perform(r, w, SIM_PEEK, RMA_SUM, 0, 0);
	return in_time;
}

static bool sim_pause(struct rma_client *c, uint64_t ns, uint64_t deadline_ns, const char *what)
{
	struct sim_rank *r = rank_of(c);
	const char *before = r->what;
	sim_time began;

	if (deadline_ns && sim_now_ns(r) >= deadline_ns)
		return false;
	limit_wait(c);
	sim_begin_wait(r);
	r->what = what;
	sim_step(r);
	began = engine_now();
	sim_sleep(r, timing_of(r)->pause(r, ns));
	r->spent[SIM_ON_LOOKS] += engine_now() - began;
	r->what = before;
	return true;
}

/* Virtual time, with the error of this rank's clock. */
static uint64_t sim_clock(const struct rma_client *c)
{
	const struct sim_rank *r = c->rma->state;

	return sim_now_ns(r) + r->world->request.clock_error_ns + (uint64_t)r->process->skew_ns;
}

/* Virtual ranks need no progress, but a client that does not wait learns of deaths here. */
static void progress(struct rma_client *c)
{
	if (c->steps)
		limit_wait(c);
}

#define CALLS                                                                           \
	.put = sim_put, .get = sim_get, .acc = sim_acc, .fao = sim_fao, .cas = sim_cas, \
	.flush = flush, .progress = progress, .peek = sim_peek, .poke = sim_poke,       \
	.await = sim_await, .pause = sim_pause, .clock = sim_clock

const struct rma_transport sim_node_transport = {
    .name = "node",
    CALLS,
};

/* world.c says whether operations are ordered, and whether and how they fail. */
const struct rma_transport sim_net_transport = {
    .name = "mpi",
    CALLS,
    .can = {.posts = true},
    .flush_all = flush_all,
    .post = post,
    .answered = answered,
};
