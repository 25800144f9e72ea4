/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timing of a machine.
 *
 * By CPU: a cache line is with the rank that changed it last, and moves to the client that accesses
 * it. The innermost element that contains both determines the cost. Changes of one line happen one
 * after the other.
 *
 * Through the network: a rank spends "send" on each operation; its node's NIC sends one message
 * each "gap"; the message travels for "latency"; the target's NIC serves one message after the
 * other, and atomics on one word one after the other; the answer travels back. Operations on the
 * own node go the same way, with a latency of their own ("loopback"); those that wait in the NIC
 * slow each other down ("backlog").
 *
 * If the machine has a network (network.h), messages and answers also take the links of their
 * route. Each link has a latency, and a gap between two messages. Messages take a link in the order
 * in which they were sent.
 */
#include "sim/machine.h"

#include <stdlib.h>

struct nic {
	sim_time out, in; /* when it is free to send, and to serve */
	uint64_t looping; /* messages of its own node that it has not served yet */
};

struct machine_state {
	const struct machine *machine;
	sim_time *link; /* when each link of the network is free */
	struct nic nic[];
};

struct machine_state *machine_start(const struct machine *m, int nodes)
{
	struct machine_state *s = calloc(1, sizeof *s + (size_t)nodes * sizeof s->nic[0]);

	if (!s)
		return NULL;
	s->machine = m;
	s->link = calloc((size_t)network_links() + 1, sizeof *s->link);
	if (s->link)
		return s;
	free(s);
	return NULL;
}

void machine_end(struct machine_state *s)
{
	if (s)
		free(s->link);
	free(s);
}

static struct machine_state *state_of(const struct sim_rank *r)
{
	return r->world->request.timing_state;
}

const struct machine *machine_of(const struct sim_world *w)
{
	const struct machine_state *s = w->request.timing_state;

	return s->machine;
}

/* The type of the innermost element that contains both ranks. */
static enum topo_type nearest(const struct topo *t, int p, int q)
{
	for (int i = t->nlevels; i > 1; i--)
		if (topo_element(t, p, i) == topo_element(t, q, i))
			return t->level[i - 1].type;
	return t->nnodes == 1 ? TOPO_NODE : TOPO_MACHINE;
}

static sim_time later(sim_time a, sim_time b)
{
	return a > b ? a : b;
}

/* ---------------------------------------------------------------------- by CPU */

static int place_of(const struct sim_rank *r, const struct sim_line *line)
{
	if (line->owner == 0)
		return MACHINE_MEMORY;
	if (line->owner == r->id + 1)
		return MACHINE_OWN;
	return (int)nearest(r->world->topo, r->id, line->owner - 1);
}

static bool changes(enum sim_call call)
{
	return call != SIM_GET && call != SIM_PEEK;
}

static sim_time access_time(struct sim_rank *r, struct rma_word w, enum sim_call call)
{
	const struct machine *m = state_of(r)->machine;
	struct sim_line *line = sim_line(r->world, w);
	int place = place_of(r, line);
	sim_time now = engine_now();

	if (!changes(call))
		return m->read[place];
	line->free = later(now, line->free) + m->write[place];
	line->owner = r->id + 1;
	return line->free - now;
}

static sim_time notice_time(struct sim_rank *r, struct rma_word w)
{
	const struct machine *m = state_of(r)->machine;

	return m->look / 2 + m->read[place_of(r, sim_line(r->world, w))];
}

static sim_time pause_time(struct sim_rank *r, uint64_t ns)
{
	const struct machine *m = state_of(r)->machine;

	return ns ? ns * SIM_NS : m->look;
}

/* --------------------------------------------------------- through the network */

static enum machine_op op_of(enum sim_call call)
{
	return call == SIM_PUT ? MACHINE_PUT : call == SIM_GET ? MACHINE_GET : MACHINE_ATOMIC;
}

static bool is_loopback(const struct sim_op *op)
{
	return !(op->word.flags & RMA_FAR);
}

static sim_time latency_of(struct sim_world *w, int from, int to, bool is_near)
{
	const struct machine *m = machine_of(w);
	enum topo_type k = is_near ? TOPO_NODE : nearest(w->topo, from, to);
	double part = (double)(sim_random(&w->random) >> 11) * 0x1p-53;

	return m->latency[k] + (sim_time)((double)m->latency[k] * m->jitter * part);
}

static sim_time latency(const struct sim_op *op)
{
	return latency_of(op->rank->world, op->rank->id, op->word.rank, is_loopback(op));
}

/* The time that a message takes on the links between two nodes from start on. */
static sim_time route_time(struct machine_state *s, int from, int to, sim_time start)
{
	const struct network_route *route;
	sim_time at = start;

	if (from == to || !network_nodes())
		return 0;
	route = network_find(from, to);
	if (!s->machine->link_gap)
		return route->all;
	for (int i = 0; i < route->links; i++) {
		sim_time *next = &s->link[route->link[i]];

		at = later(at, *next);
		*next = at + s->machine->link_gap;
		at += route->latency[i];
	}
	return at - start;
}

static sim_time transfer_time(const struct sim_op *op, int from, int to, sim_time start)
{
	return route_time(state_of(op->rank), from, to, start);
}

static int node_of(const struct sim_op *op, int rank)
{
	return op->rank->world->topo->node[rank];
}

/* The NIC of the own node has served this operation. */
static void effect_near(void *arg)
{
	struct sim_op *op = arg;

	state_of(op->rank)->nic[node_of(op, op->word.rank)].looping--;
	sim_effect(op);
}

static void arrive(void *arg)
{
	struct sim_op *op = arg;
	struct sim_world *w = op->rank->world;
	struct machine_state *s = state_of(op->rank);
	const struct machine *m = s->machine;
	struct nic *nic = &s->nic[w->topo->node[op->word.rank]];
	sim_time *server = m->half_duplex ? &nic->out : &nic->in;
	struct sim_line *line = sim_line(w, op->word);
	enum machine_op what = op_of(op->call);
	sim_time done;

	*server = later(engine_now(), *server) + m->serve[what];
	if (is_loopback(op))
		*server += m->loopback + m->backlog * nic->looping++;
	done = *server;
	if (what == MACHINE_ATOMIC)
		done = line->free = later(done, line->free) + m->same_word;
	if (changes(op->call))
		line->owner = 0;
	if (done > engine_now())
		engine_at(done, is_loopback(op) ? effect_near : sim_effect, op);
	else
		(is_loopback(op) ? effect_near : sim_effect)(op);
}

static sim_time send_op(struct sim_op *op)
{
	struct machine_state *s = state_of(op->rank);
	const struct machine *m = s->machine;
	struct nic *nic = &s->nic[op->rank->world->topo->node[op->rank->id]];
	sim_time leaves = later(engine_now() + m->send, nic->out);

	nic->out = leaves + m->gap;
	engine_at(
	    leaves + latency(op) +
		transfer_time(op, node_of(op, op->rank->id), node_of(op, op->word.rank), leaves),
	    arrive, op);
	return m->send;
}

static void message_arrives(void *arg)
{
	struct machine_message *m = arg;
	struct machine_state *s = m->world->request.timing_state;
	struct nic *nic = &s->nic[m->world->topo->node[m->to]];
	sim_time *server = s->machine->half_duplex ? &nic->out : &nic->in;

	*server = later(engine_now(), *server) + s->machine->serve[MACHINE_PUT];
	engine_at(*server, m->arrived, m->arg);
}

void machine_send(struct machine_message *m)
{
	struct machine_state *s = m->world->request.timing_state;
	int from = m->world->topo->node[m->from], to = m->world->topo->node[m->to];
	sim_time leaves = later(engine_now(), s->nic[from].out);

	s->nic[from].out = leaves + s->machine->gap;
	engine_at(leaves + latency_of(m->world, m->from, m->to, from == to) +
		      route_time(s, from, to, leaves),
		  message_arrives, m);
}

/* This timing holds nothing back. */
static void push_op(struct sim_op *op)
{
	(void)op;
}

static sim_time answer_time(const struct sim_op *op)
{
	int here = node_of(op, op->word.rank), there = node_of(op, op->rank->id);

	return latency(op) + transfer_time(op, here, there, engine_now()) +
	       state_of(op->rank)->machine->extra[op_of(op->call)];
}

const struct sim_timing machine_timing = {
    .access = access_time,
    .send = send_op,
    .push = push_op,
    .answer = answer_time,
    .notice = notice_time,
    .pause = pause_time,
};
