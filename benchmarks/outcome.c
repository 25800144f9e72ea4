/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a trial measured, put together from all ranks: in as few collectives as
 * can be, and with a yield between looks, for where ranks outnumber cores a
 * collective of an MPI that spins takes longer than the trial.
 */
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* Of one rank. */
struct part {
	uint64_t is_active, acquires, exclusive, violations;
	uint64_t atomic, get, put, flush, far;
	uint64_t written[2], held[2]; /* increments of word and counter; their sums */
	uint64_t slowest_sample;
	double elapsed_ns;
};

static void finish(MPI_Request *request)
{
	int done = 0;

	while (MPI_Test(request, &done, MPI_STATUS_IGNORE), !done)
		sched_yield();
}

static struct part my_part(struct trial *t)
{
	struct pawl_stats s = {.acquires = 0};
	struct part p = {.is_active = t->is_active,
			 .acquires = t->acquires,
			 .exclusive = t->exclusive,
			 .written = {t->verified, t->counted},
			 .slowest_sample = t->hist.max,
			 .elapsed_ns = t->elapsed_ns};

	if (t->table)
		pawl_table_get_stats(t->table, &s);
	p.atomic = s.atomics[0] + s.atomics[1];
	p.get = s.gets[0] + s.gets[1];
	p.put = s.puts[0] + s.puts[1];
	p.flush = s.flushes[0] + s.flushes[1];
	p.far = s.atomics[1] + s.gets[1] + s.puts[1];
	if (t->what->by_itself)
		dht_close(t);
	else
		cells_sum(t, p.held);
	p.violations = t->violations;
	return p;
}

static uint64_t difference(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static void add_up(const struct part *parts, int ranks, struct outcome *out)
{
	struct part sum = {.acquires = 0};
	double *acquires = malloc(sizeof *acquires * (size_t)ranks), n, least = HUGE_VAL;
	int active = 0;

	for (int r = 0; r < ranks; r++) {
		const struct part *p = &parts[r];

		sum.acquires += p->acquires;
		sum.exclusive += p->exclusive;
		sum.violations += p->violations;
		sum.atomic += p->atomic;
		sum.get += p->get;
		sum.put += p->put;
		sum.flush += p->flush;
		sum.far += p->far;
		for (int i = 0; i < 2; i++) {
			sum.written[i] += p->written[i];
			sum.held[i] += p->held[i];
		}
		sum.elapsed_ns = fmax(sum.elapsed_ns, p->elapsed_ns);
		if (p->slowest_sample > sum.slowest_sample)
			sum.slowest_sample = p->slowest_sample;
		if (p->is_active) {
			acquires[active++] = (double)p->acquires;
			least = fmin(least, (double)p->acquires);
		}
	}
	out->acquires = sum.acquires;
	out->exclusive = sum.exclusive;
	out->violations = sum.violations + difference(sum.written[0], sum.held[0]) +
			  difference(sum.written[1], sum.held[1]);
	out->seconds = sum.elapsed_ns * 1e-9;
	out->throughput = out->seconds > 0 ? (double)sum.acquires / out->seconds : 0;
	out->slowest = out->seconds > 0 ? least / out->seconds : 0;
	out->fairness = jain(acquires, active);
	out->max = (double)sum.slowest_sample / ticks_per_ns;
	/* A kind that issued no operation at all does not count. */
	out->counted = sum.atomic + sum.get + sum.put > 0;
	n = sum.acquires ? (double)sum.acquires : 1;
	out->atomic = (double)sum.atomic / n;
	out->get = (double)sum.get / n;
	out->put = (double)sum.put / n;
	out->flush = (double)sum.flush / n;
	out->far = (double)sum.far / n;
	free(acquires);
}

void outcome_gather(struct trial *t, struct outcome *out)
{
	const struct team *team = t->team;
	struct part mine = my_part(t), *parts = calloc((size_t)team->ranks, sizeof *parts);
	MPI_Request request;

	MPI_Iallgather(&mine, sizeof mine, MPI_BYTE, parts, sizeof mine, MPI_BYTE, team->comm,
		       &request);
	finish(&request);
	add_up(parts, team->ranks, out);
	free(parts);
	MPI_Iallreduce(MPI_IN_PLACE, t->hist.count, HIST_BUCKETS, MPI_UINT64_T, MPI_SUM, team->comm,
		       &request);
	finish(&request);
	t->hist.max = (uint64_t)(out->max * ticks_per_ns) + 1;
	out->p50 = histogram_quantile(&t->hist, 0.5) / ticks_per_ns;
	out->p99 = histogram_quantile(&t->hist, 0.99) / ticks_per_ns;
}
