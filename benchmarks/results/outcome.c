/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Combines the measurements of all ranks in a trial, in as few collectives as possible and with a
 * yield between looks: where ranks outnumber cores, a collective of an MPI that spins takes longer
 * than the trial.
 */
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "benchmarks/harness/bench.h"

/* Of one rank. */
struct part {
	uint64_t is_active, acquires, exclusive, violations;
	uint64_t atomic[2], get[2], put[2], flush; /* near and far */
	uint64_t waits, parks, abandoned, leases_lost, requests, reader_requests, bytes;
	uint64_t written[2], held[2]; /* increments of word and counter; their sums */
	uint64_t slowest_sample;
	uint64_t series_sum[MAX_SERIES], series_max[MAX_SERIES], hist_sum;
	uint64_t timeline[TIMELINE + 1];
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
	memcpy(p.atomic, s.atomics, sizeof p.atomic);
	memcpy(p.get, s.gets, sizeof p.get);
	memcpy(p.put, s.puts, sizeof p.put);
	p.flush = s.flushes[0] + s.flushes[1];
	p.waits = s.waits;
	p.parks = s.parks;
	p.abandoned = t->abandoned;
	p.leases_lost = t->leases_lost;
	p.requests = t->requests;
	p.reader_requests = t->reader_requests;
	p.bytes = t->bytes;
	p.hist_sum = t->hist.sum;
	for (int i = 0; i < MAX_SERIES; i++) {
		p.series_sum[i] = t->series[i].sum;
		p.series_max[i] = t->series[i].max;
	}
	memcpy(p.timeline, t->timeline, sizeof p.timeline);
	if (workload_is(t->workload, W_BY_ITSELF))
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

/* All counters of a part are summed, but not the times. */
static void add(struct part *sum, const struct part *p)
{
	sum->acquires += p->acquires;
	sum->exclusive += p->exclusive;
	sum->violations += p->violations;
	for (int i = 0; i < 2; i++) {
		sum->atomic[i] += p->atomic[i];
		sum->get[i] += p->get[i];
		sum->put[i] += p->put[i];
		sum->written[i] += p->written[i];
		sum->held[i] += p->held[i];
	}
	sum->flush += p->flush;
	sum->waits += p->waits;
	sum->parks += p->parks;
	sum->abandoned += p->abandoned;
	sum->leases_lost += p->leases_lost;
	sum->requests += p->requests;
	sum->reader_requests += p->reader_requests;
	sum->bytes += p->bytes;
	sum->elapsed_ns = fmax(sum->elapsed_ns, p->elapsed_ns);
	if (p->slowest_sample > sum->slowest_sample)
		sum->slowest_sample = p->slowest_sample;
	sum->hist_sum += p->hist_sum;
	for (int i = 0; i < MAX_SERIES; i++) {
		sum->series_sum[i] += p->series_sum[i];
		if (p->series_max[i] > sum->series_max[i])
			sum->series_max[i] = p->series_max[i];
	}
	for (int i = 0; i <= TIMELINE; i++)
		sum->timeline[i] += p->timeline[i];
}

static void operations(const struct part *sum, struct outcome *out)
{
	double n = sum->acquires ? (double)sum->acquires : 1;

	out->atomic = (double)(sum->atomic[0] + sum->atomic[1]) / n;
	out->get = (double)(sum->get[0] + sum->get[1]) / n;
	out->put = (double)(sum->put[0] + sum->put[1]) / n;
	out->flush = (double)sum->flush / n;
	out->far_atomic = (double)sum->atomic[1] / n;
	out->far_get = (double)sum->get[1] / n;
	out->far_put = (double)sum->put[1] / n;
	out->far = out->far_atomic + out->far_get + out->far_put;
	/* A kind without any operation does not count its operations. */
	out->counted = out->atomic + out->get + out->put > 0;
	out->waits = (double)sum->waits / n;
	out->parks = (double)sum->parks / n;
}

static struct part add_up(const struct trial *t, const struct part *parts, int ranks,
			  struct outcome *out)
{
	struct part sum = {.acquires = 0};
	double *acquires = malloc(sizeof *acquires * (size_t)ranks), least = HUGE_VAL;
	double part_of_time = (double)t->ticks / ticks_per_ns * 1e-9 / TIMELINE;
	int active = 0;

	for (int r = 0; r < ranks; r++) {
		const struct part *p = &parts[r];

		add(&sum, p);
		if (p->is_active) {
			acquires[active++] = (double)p->acquires;
			least = fmin(least, (double)p->acquires);
		}
	}
	out->acquires = sum.acquires;
	out->exclusive = sum.exclusive;
	out->abandoned = sum.abandoned;
	out->leases_lost = sum.leases_lost;
	out->requests = sum.requests;
	out->reader_requests = sum.reader_requests;
	out->violations = sum.violations + difference(sum.written[0], sum.held[0]) +
			  difference(sum.written[1], sum.held[1]);
	out->seconds = sum.elapsed_ns * 1e-9;
	out->throughput = out->seconds > 0 ? (double)sum.acquires / out->seconds : 0;
	out->bytes = out->seconds > 0 ? (double)sum.bytes / out->seconds : 0;
	out->slowest = out->seconds > 0 ? least / out->seconds : 0;
	out->fairness = jain(acquires, active);
	out->max = (double)sum.slowest_sample / ticks_per_ns;
	operations(&sum, out);
	for (int i = 0; i < TIMELINE; i++)
		out->timeline[i] = (double)sum.timeline[i] / part_of_time;
	free(acquires);
	return sum;
}

/* The distribution over all ranks; sum and maximum are known already. */
static void gather_spread(const struct team *team, struct times *times, uint64_t sum, uint64_t max,
			  struct spread *out)
{
	MPI_Request request;

	MPI_Iallreduce(MPI_IN_PLACE, times->of.count, HISTOGRAM_BUCKETS, MPI_UINT64_T, MPI_SUM,
		       team->comm, &request);
	finish(&request);
	times->sum = sum;
	times->max = max;
	spread_of(out, times, ticks_per_ns);
}

void outcome_gather(struct trial *t, struct outcome *out)
{
	const struct team *team = t->team;
	struct part mine = my_part(t), *parts = calloc((size_t)team->ranks, sizeof *parts), sum;
	MPI_Request request;

	MPI_Iallgather(&mine, sizeof mine, MPI_BYTE, parts, sizeof mine, MPI_BYTE, team->comm,
		       &request);
	finish(&request);
	sum = add_up(t, parts, team->ranks, out);
	free(parts);
	gather_spread(team, &t->hist, sum.hist_sum, sum.slowest_sample, &out->all);
	out->p50 = out->all.p50;
	out->p99 = out->all.p99;
	out->rows = t->rows;
	memcpy(out->row, t->row, sizeof out->row);
	for (int i = 0; t->workload->series && t->workload->series[i]; i++)
		gather_spread(team, &t->series[i], sum.series_sum[i], sum.series_max[i],
			      &out->series[i]);
}
