/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timing by an adversary. Everything that the memory model of rma.h leaves open is drawn at random:
 * operations take effect in any order before their flush, or not before a flush fetches them; a
 * rank may stop for long at any access; a client that waits for a word may look late, and miss a
 * value that did not stay. An atomic of the network may read the word and write it later, as that
 * of a network adapter, or of an MPI that performs it on another core: atomic with regard to others
 * of the network, but not to stores and puts.
 *
 * How often each of these happens is drawn once for each world, because a schedule that delays
 * everything alike finds little. In some worlds nothing is held back; in others one rank stands
 * still while the rest goes on many times.
 */
#include "sim/adversary.h"

enum {
	SHORT_NS = 50,
	LONG_NS = 2000,
	STALL_NS = 200000,
	DOZE_NS = 20000,
	PER_CENT = 100,
	PER_MILLE = 1000,
	MOSTLY = 80
};

void adversary_draw(struct adversary *a, uint64_t *random)
{
	static const int quick[] = {30, 70, 90, 98}, hold[] = {0, 20, 60, 90};
	static const int stall[] = {0, 2, 10, 40}, late[] = {0, 20, 50};

	a->quick = quick[sim_below(random, 4)];
	a->hold = hold[sim_below(random, 4)];
	a->stall = stall[sim_below(random, 4)];
	a->late = late[sim_below(random, 3)];
	a->slow = sim_below(random, 3) ? (int)sim_below(random, SIM_CAS + 1) : -1;
	a->victim = sim_below(random, 3) ? -1 : (int)sim_below(random, 8);
}

static const struct adversary *of(const struct sim_rank *r)
{
	return r->world->request.timing_state;
}

static bool chance(struct sim_rank *r, int part, int of_all)
{
	return (int)sim_below(&r->world->random, (uint64_t)of_all) < part;
}

/* A time of 1 to ns nanoseconds; in picoseconds, so that few times are equal. */
static sim_time up_to(struct sim_rank *r, uint64_t ns)
{
	return 1 + sim_below(&r->world->random, ns * SIM_NS);
}

/* A rank may stop at any access. */
static sim_time pace(struct sim_rank *r)
{
	const struct adversary *a = of(r);
	int stall = r->id == a->victim ? 10 * a->stall : a->stall;

	if (stall && chance(r, stall, PER_MILLE))
		return up_to(r, STALL_NS);
	return chance(r, a->quick, PER_CENT) ? 0 : up_to(r, SHORT_NS);
}

static sim_time access_time(struct sim_rank *r, struct rma_word w, enum sim_call call)
{
	(void)w;
	(void)call;
	return pace(r);
}

static sim_time on_its_way(const struct sim_op *op)
{
	const struct adversary *a = of(op->rank);
	int late = (int)op->call == a->slow ? MOSTLY : a->late;

	return up_to(op->rank, chance(op->rank, late, PER_CENT) ? LONG_NS : SHORT_NS);
}

static sim_time send_op(struct sim_op *op)
{
	struct sim_rank *r = op->rank;

	if (chance(r, of(r)->hold, PER_CENT))
		op->held = true;
	else
		engine_at(engine_now() + on_its_way(op), sim_effect, op);
	return pace(r);
}

static void push_op(struct sim_op *op)
{
	engine_at(engine_now() + on_its_way(op), sim_effect, op);
}

static sim_time atomic_time(const struct sim_op *op)
{
	struct sim_rank *r = op->rank;

	return of(r)->torn && chance(r, of(r)->torn, PER_CENT) ? on_its_way(op) : 0;
}

static sim_time answer_time(const struct sim_op *op)
{
	struct sim_rank *r = op->rank;

	return chance(r, of(r)->late, PER_CENT) ? up_to(r, LONG_NS) : 0;
}

static sim_time notice_time(struct sim_rank *r, struct rma_word w)
{
	(void)w;
	return pace(r);
}

static sim_time pause_time(struct sim_rank *r, uint64_t ns)
{
	return ns * SIM_NS + up_to(r, of(r)->dozes ? DOZE_NS : SHORT_NS);
}

/* Always where operations fail: the fault client-lost would follow a rank number that is garbage to
 * memory that the world does not have. */
static bool may_post(struct sim_rank *r)
{
	return r->world->request.doubt_ns || chance(r, 90, PER_CENT);
}

const struct sim_timing adversary_timing = {
    .access = access_time,
    .send = send_op,
    .push = push_op,
    .atomic = atomic_time,
    .answer = answer_time,
    .notice = notice_time,
    .pause = pause_time,
    .may_post = may_post,
};
