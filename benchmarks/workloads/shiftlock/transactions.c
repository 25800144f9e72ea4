/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TATP and TPCC: transactions under strict two-phase locking, as in the ShiftLock paper
 * (FAST'25), section 4.4: a client acquires all locks in ascending order, executes the transaction
 * (busy for 2.8 us, or 7 us), then releases all. The latency of a transaction
 * is the sum of these. Locks that readers cannot share are acquired exclusively.
 */
#include <stdlib.h>

#include "benchmarks/harness/bench.h"
#include "txn.h"

static struct tatp tatp;
static struct tpcc tpcc;

static void take(struct trial *t, const struct txn *x, bool shares)
{
	for (int i = 0; i < x->n; i++) {
		int mode = shares ? x->want[i].mode : PAWL_EXCLUSIVE;

		if (trial_refused(pawl_lock_acquire(t->table, x->want[i].lock, mode)))
			trial_abort(t, "acquire");
	}
}

static void give_back(struct trial *t, const struct txn *x)
{
	for (int i = x->n - 1; i >= 0; i--)
		trial_release(t, x->want[i].lock);
}

static void execute(uint64_t ns)
{
	uint64_t start = ticks(), wanted = (uint64_t)((double)ns * ticks_per_ns);

	while (ticks() - start < wanted)
		;
}

static void count(struct trial *t, const struct txn *x)
{
	bool writes = false;

	for (int i = 0; i < x->n; i++) {
		t->reader_requests += x->want[i].mode == PAWL_SHARED;
		writes = writes || x->want[i].mode == PAWL_EXCLUSIVE;
	}
	t->requests += (uint64_t)x->n;
	t->exclusive += writes;
}

/* Run one transaction. */
static void perform(struct trial *t, const struct txn *x, uint64_t ns, bool shares)
{
	uint64_t start = ticks(), took;

	take(t, x, shares);
	execute(ns);
	give_back(t, x);
	took = ticks() - start;
	times_add(&t->hist, took);
	times_add(&t->series[x->type], took);
	count(t, x);
}

static void loop(struct trial *t, bool is_tatp)
{
	const uint64_t start = ticks();
	const bool shares = contestant_shares(t->contestant);
	uint64_t now, done = 0;
	struct txn x;

	while ((now = ticks()) - start < t->ticks && done < t->limit) {
		if (is_tatp)
			tatp_draw(&tatp, &t->random, &x);
		else
			tpcc_draw(&tpcc, &t->random, &x);
		perform(t, &x, is_tatp ? TATP_NS : TPCC_NS, shares);
		done++;
	}
	t->acquires = done;
	t->elapsed_ns = (double)(now - start) / ticks_per_ns;
}

void tatp_run(struct trial *t)
{
	loop(t, true);
}

void tpcc_run(struct trial *t)
{
	loop(t, false);
}

/* ------------------------------------------------------------------------- set-up */

int tatp_open(struct trial *t, char *why, size_t whylen)
{
	(void)why;
	(void)whylen;
	tatp = (struct tatp){.subscribers = t->set->subscribers, .locks = t->set->n};
	return BENCH_OK;
}

int tpcc_open(struct trial *t, char *why, size_t whylen)
{
	int nodes = 1;

	for (int r = 0; r < t->team->ranks; r++)
		nodes = trial_node_of(t, r) >= nodes ? trial_node_of(t, r) + 1 : nodes;
	tpcc = (struct tpcc){
	    .warehouses = t->set->warehouses,
	    .nodes = (uint64_t)nodes,
	    .node = (uint64_t)trial_node_of(t, t->team->rank),
	    .locks = t->set->n,
	};
	if (tpcc.locks >= tpcc_least(&tpcc))
		return BENCH_OK;
	snprintf(why, whylen,
		 "--locks: tpcc needs more than %d for each of %llu warehouses; accepted: from"
		 " %llu on, or fewer --warehouses",
		 TPCC_OWN, (unsigned long long)(tpcc.warehouses * tpcc.nodes),
		 (unsigned long long)tpcc_least(&tpcc));
	return BENCH_USAGE;
}
