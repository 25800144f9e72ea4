/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of results. */
#include <stdlib.h>
#include <string.h>

#include "benchmarks/harness/bench.h"

/* ------------------------------------------------------------------- numbers */

struct text {
	char s[24];
};

/* Three digits and a unit: "12.3 us". */
static struct text scaled(double value, const char *const *units, double step)
{
	struct text t;
	int digits;

	while (value >= step && units[1]) {
		value /= step;
		units++;
	}
	digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
	snprintf(t.s, sizeof t.s, "%.*f%s", digits, value, units[0]);
	return t;
}

static struct text duration(double ns)
{
	static const char *const units[] = {" ns", " us", " ms", " s", NULL};

	return scaled(ns, units, 1000);
}

static struct text rate(double per_second)
{
	static const char *const units[] = {" ", " k", " M", " G", NULL};

	return scaled(per_second, units, 1000);
}

static struct text ratio(double value)
{
	struct text t;

	snprintf(t.s, sizeof t.s, "%.*f x", value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2, value);
	return t;
}

static struct text operations(const struct outcome *o, double value)
{
	struct text t = {.s = "-"};

	if (o->counted)
		snprintf(t.s, sizeof t.s, "%.2f", value);
	return t;
}

/* -------------------------------------------------------------------- tables */

static void heading(const struct settings *s, const struct result *r)
{
	size_t used;
	char text[256];

	printf("\n%s: %s\n", r->workload->name, r->workload->summary);
	used = (size_t)snprintf(text, sizeof text, "%s, %d rank%s on %d node%s", native_name(),
				r->ranks, r->ranks == 1 ? "" : "s", r->nodes,
				r->nodes == 1 ? "" : "s");
	if (r->active < r->ranks)
		used +=
		    (size_t)snprintf(text + used, sizeof text - used, " (%d active)", r->active);
	used += (size_t)snprintf(
	    text + used, sizeof text - used, ", %llu %s%s", (unsigned long long)r->n,
	    workload_is(r->workload, W_RANGES) ? "space" : "lock", r->n == 1 ? "" : "s");
	if (workload_is(r->workload, W_RANGES))
		used += (size_t)snprintf(text + used, sizeof text - used, " of %llu units",
					 (unsigned long long)s->space);
	if (workload_is(r->workload, W_LENGTHS) && s->length)
		used += (size_t)snprintf(text + used, sizeof text - used, ", length %llu",
					 (unsigned long long)s->length);
	else if (workload_is(r->workload, W_LENGTHS))
		used += (size_t)snprintf(text + used, sizeof text - used, ", mixed lengths");
	if (!workload_is(r->workload, W_FIXED))
		used += (size_t)snprintf(text + used, sizeof text - used, ", F_W = %g %%", r->fw);
	if (s->zipf > 0)
		used += (size_t)snprintf(text + used, sizeof text - used, ", zipf %g", s->zipf);
	if (workload_is(r->workload, W_NEAR_AND_FAR))
		used += (size_t)snprintf(text + used, sizeof text - used, ", locality %g %%%s",
					 r->nodes > 1 ? s->locality : 100.0,
					 r->nodes > 1 ? "" : " (one node)");
	if (s->fail > 0)
		used += (size_t)snprintf(text + used, sizeof text - used, ", failures %g", s->fail);
	printf("%s; median of %d\n", text, r->repetitions);
}

static void row(const struct result *r, double reference)
{
	struct outcome o = result_sum(r);
	double per_acquire = o.throughput > 0 ? 1e9 / o.throughput : 0;

	printf("  %-14s%11s%11s%11s%11s%11s%9.3f%11s%9s%7s%11llu", r->contestant->name,
	       rate(o.throughput).s, duration(per_acquire).s, duration(o.p50).s, duration(o.p99).s,
	       duration(o.max).s, o.fairness, rate(o.slowest).s, operations(&o, o.atomic).s,
	       operations(&o, o.far).s, (unsigned long long)o.violations);
	if (reference > 0)
		printf("%10s", ratio(o.throughput / reference).s);
	printf("\n");
}

/* The workload's own times: a heading, then a row for each. */
static void parts(const struct result *r)
{
	struct outcome o = result_sum(r);

	for (int i = 0; r->workload->series[i]; i++) {
		const struct spread *s = &o.series[i];

		if (s->count)
			printf("  %-14s  %-18s%11llu%11s%11s%11s%11s\n", r->contestant->name,
			       r->workload->series[i], (unsigned long long)s->count,
			       duration(s->mean).s, duration(s->p50).s, duration(s->p99).s,
			       duration(s->max).s);
	}
	if (o.counted)
		printf("  %-14s  per %s: atomics %.2f (far %.2f), gets %.2f (%.2f), puts %.2f"
		       " (%.2f); waits %.3f\n",
		       r->contestant->name,
		       workload_is(r->workload, W_TRANSACTIONS) ? "transaction" : "acquire",
		       o.atomic, o.far_atomic, o.get, o.far_get, o.put, o.far_put, o.waits);
	if (o.bytes > 0)
		printf("  %-14s  %sB/s read and written\n", r->contestant->name, rate(o.bytes).s);
	if (o.requests)
		printf("  %-14s  %.2f locks a transaction, %.1f %% of the requests by readers\n",
		       r->contestant->name, (double)o.requests / (double)o.acquires,
		       100.0 * (double)o.reader_requests / (double)o.requests);
	if (o.abandoned || o.leases_lost)
		printf("  %-14s  %llu locks abandoned, %llu leases lost\n", r->contestant->name,
		       (unsigned long long)o.abandoned, (unsigned long long)o.leases_lost);
}

static void all_rows(const struct result *r)
{
	struct outcome o = result_sum(r);

	printf("\n  %-14s", r->contestant->name);
	for (int k = 0; r->workload->columns[k]; k++)
		printf("%15s", r->workload->columns[k]);
	for (int i = 0; i < o.rows; i++) {
		printf("\n  %-14s", "");
		for (int k = 0; r->workload->columns[k]; k++)
			printf("%15.6g", o.row[i][k]);
	}
	printf("\n");
}

static void all_parts(const struct result *results, int count)
{
	if (!results[0].workload->series)
		return;
	printf("\n  %-14s  %-18s%11s%11s%11s%11s%11s\n", "lock", "times", "samples", "mean", "p50",
	       "p99", "max");
	for (int i = 0; i < count; i++)
		if (!results[i].skipped[0])
			parts(&results[i]);
}

/* If some acquires are readers', the locks that readers do not share. */
static void note_readers(const struct result *results, int count)
{
	bool any = false;

	for (int i = 0; i < count; i++) {
		if (contestant_shares(results[i].contestant) || results[i].skipped[0])
			continue;
		printf("%s%s",
		       any ? ", " : "  readers acquire exclusively: ", results[i].contestant->name);
		any = true;
	}
	printf("%s", any ? "\n" : "");
}

static void note_unsteady(const struct result *results, int count)
{
	for (int i = 0; i < count; i++) {
		struct outcome o = {.acquires = 0};

		if (!results[i].skipped[0])
			o = result_sum(&results[i]);
		if (o.unsteady[0])
			printf("  %s is not steady: %s\n", results[i].contestant->name, o.unsteady);
	}
}

static void columns(bool transactions)
{
	const char *each = transactions ? "/trans." : "/acq.";

	printf("  %-14s%11s%11s%33s%9s%11s%9s%7s\n", "", "", "time per",
	       transactions ? "latency of a transaction" : "latency of acquire + release", "fair-",
	       "slowest", "atomics", "far");
	printf("  %-14s%11s%11s%11s%11s%11s%9s%11s%9s%7s%11s", "lock",
	       transactions ? "trans./s" : "acquires/s", transactions ? "trans." : "acquire", "p50",
	       "p99", "max", "ness", "rank", each, transactions ? "" : each, "violations");
}

void report_table(const struct settings *s, const struct result *results, int count)
{
	double reference = 0;

	for (int i = 0; i < count; i++)
		if (strcmp(results[i].contestant->name, s->reference) == 0 &&
		    !results[i].skipped[0])
			reference = result_sum(&results[i]).throughput;
	heading(s, &results[0]);
	columns(workload_is(results[0].workload, W_TRANSACTIONS));
	if (reference > 0)
		printf("  vs %s", s->reference);
	printf("\n");
	for (int i = 0; i < count; i++) {
		if (results[i].skipped[0])
			printf("  %-14s  left out: %s\n", results[i].contestant->name,
			       results[i].skipped);
		else
			row(&results[i], reference);
	}
	if (results[0].fw < 100 || (workload_is(results[0].workload, W_FIXED) &&
				    !workload_is(results[0].workload, W_TIMELINE)))
		note_readers(results, count);
	note_unsteady(results, count);
	all_parts(results, count);
	for (int i = 0; i < count && results[0].workload->rows; i++)
		if (!results[i].skipped[0])
			all_rows(&results[i]);
	fflush(stdout);
}
