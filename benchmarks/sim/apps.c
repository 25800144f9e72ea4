/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transactions and files of pawl-bench in virtual time: tatp, tpcc, bank, btio, oltp. What they
 * lock is drawn by the code that pawl-bench runs. The latency of a turn is that of the whole
 * transaction or operation on a file.
 *
 * An account of the bank, and a block of a file, is one operation on a word of the rank that has
 * it: the lock's home, or the rank of the block. So a server of accounts costs no more than its
 * NIC, and a block no more than a word.
 */
#include "sim_bench.h"

#include <stdlib.h>

static bool shares(const struct sim_run *run)
{
	return contestant_shares(run->contestant);
}

/* ------------------------------------------------------------------ transactions */

static uint64_t account(void *rank)
{
	return sim_pick(rank);
}

static void draw(struct sim_rank *r, struct txn *x)
{
	struct sim_run *run = sim_run_of(r);
	struct tatp tatp = {.subscribers = run->set->subscribers, .locks = run->set->n};
	double transfers = run->set->fw / 100; /* also where readers cannot share */

	if (sim_workload_of(run) == PLAY_TATP)
		tatp_draw(&tatp, &r->random, x);
	else if (sim_workload_of(run) == PLAY_TPCC)
		tpcc_draw(&sim_part_of(r)->tpcc, &r->random, x);
	else
		bank_draw((double)(sim_random(&r->random) >> 11) * 0x1p-53 < transfers, account, r,
			  x);
}

/* The transaction itself. A transfer reads both accounts by one message and writes both by
 * another. */
static void execute(struct sim_rank *r, const struct txn *x)
{
	enum sim_workload work = sim_workload_of(sim_run_of(r));

	if (work == PLAY_TATP)
		sim_sleep(r, TATP_NS * SIM_NS);
	if (work == PLAY_TPCC)
		sim_sleep(r, TPCC_NS * SIM_NS);
	if (work != PLAY_BANK)
		return;
	sim_touch(r, x->want[0].lock, false);
	if (x->type == BANK_TRANSFER)
		sim_touch(r, x->want[0].lock, true);
}

void sim_transaction_turn(struct sim_rank *r)
{
	struct sim_run *run = sim_run_of(r);
	sim_time start = engine_now();
	bool writes = false;
	struct txn x;

	draw(r, &x);
	for (int i = 0; i < x.n; i++) {
		writes = writes || x.want[i].mode == PAWL_EXCLUSIVE;
		sim_enter(r, x.want[i].lock, shares(run) ? x.want[i].mode : PAWL_EXCLUSIVE);
	}
	execute(r, &x);
	for (int i = 0; i < x.n; i++)
		sim_leave(r);
	sim_note_part(run, x.type, engine_now() - start);
	sim_note_turn(r, engine_now() - start, writes);
}

/* ------------------------------------------------------------------------- files */

/* Block b is at rank b mod ranks, as in stripes.c. */
static struct rma_word block_word(struct sim_rank *r, int64_t b)
{
	const struct lock_setup *s = &r->world->setup;

	return rma_word(&r->rma, s->domain, (int)(b % r->world->request.ranks),
			s->bytes + (uint64_t)b % SIM_CELLS * 64);
}

static void move_blocks(struct sim_rank *r, struct span of, bool writes)
{
	struct rma_client *c = &sim_part_of(r)->data;
	int64_t seen;

	for (int64_t b = of.first; b <= of.last; b++) {
		if (writes)
			rma_put(c, block_word(r, b), r->id);
		else
			rma_get(c, block_word(r, b), &seen);
	}
	/* orders the accesses before what comes next: the puts, or the release */
	for (int64_t b = of.first; b <= of.last; b++)
		rma_flush(c, block_word(r, b));
}

/* A run of BT-IO's grid, all of which a client writes and then reads; returns whether it writes. */
static bool next_run(struct sim_part *part, struct span *s)
{
	bool reads = part->reads;

	*s = grid_span(&part->run[part->next]);
	if (++part->next == part->runs) {
		part->next = 0;
		part->reads = !reads;
	}
	return !reads;
}

void sim_file_turn(struct sim_rank *r)
{
	struct sim_run *run = sim_run_of(r);
	struct sim_part *part = sim_part_of(r);
	sim_time start = engine_now();
	struct span units, place;
	uint64_t space = 0;
	bool writes;
	int what;

	if (sim_workload_of(run) == PLAY_BTIO) {
		writes = next_run(part, &units);
		place = units;
		what = writes ? BTIO_WRITE : BTIO_READ;
	} else {
		struct oltp_access a = oltp_draw(run->set->space, &r->random);

		units = a.blocks;
		place = oltp_place(&a, run->set->space);
		space = (uint64_t)a.file;
		what = a.kind;
		writes = a.kind != OLTP_READ;
	}
	sim_acquire_range(r, space, units.first, units.last,
			  writes || !shares(run) ? PAWL_EXCLUSIVE : PAWL_SHARED, SIM_ACQUIRE, 0);
	move_blocks(r, place, false);
	if (writes)
		move_blocks(r, place, true);
	sim_leave(r);
	sim_note_part(run, what, engine_now() - start);
	sim_note_turn(r, engine_now() - start, writes);
}

/* ---------------------------------------------------------------- start and end */

static struct tpcc tpcc_of(const struct sim_run *run, int nodes, int node)
{
	return (struct tpcc){.warehouses = run->set->warehouses,
			     .nodes = (uint64_t)nodes,
			     .node = (uint64_t)node,
			     .locks = run->set->n};
}

bool sim_apps_fit(const struct sim_run *run, int nodes, char *why, size_t whylen)
{
	enum sim_workload work = sim_workload_of(run);
	struct tpcc tpcc = tpcc_of(run, nodes, 0);
	uint64_t least = work == PLAY_TPCC ? tpcc_least(&tpcc) : work == PLAY_BANK ? BANK_LOCKS : 1;

	if (run->set->n < least)
		snprintf(why, whylen, "--locks: too few for %s; accepted: from %llu on",
			 run->workload->name, (unsigned long long)least);
	else if (workload_is(run->workload, W_FILES) && run->set->n != run->workload->n)
		snprintf(why, whylen, "--locks: %s has a space for each file; accepted: %llu",
			 run->workload->name, (unsigned long long)run->workload->n);
	else if (run->workload->held > run->world->setup.max_held)
		snprintf(why, whylen, "%s holds %d locks at a time, and %s has %d with %d ranks",
			 run->workload->name, run->workload->held, run->contestant->name,
			 run->world->setup.max_held, run->ranks);
	else
		return true;
	return false;
}

bool sim_apps_start(struct sim_rank *r)
{
	struct sim_run *run = sim_run_of(r);
	struct sim_part *part = sim_part_of(r);

	part->tpcc = tpcc_of(run, r->world->topo->nnodes, r->world->topo->node[r->id]);
	if (sim_workload_of(run) != PLAY_BTIO)
		return true;
	part->run = grid_runs(run->set->grid, part->client, run->active, &part->runs);
	return part->run && part->runs;
}

void sim_apps_end(struct sim_part *part)
{
	free(part->run);
}
