/* SPDX-License-Identifier: BSD-3-Clause */
/* What people read: tables, lists and the line of progress. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

typedef double outcome_field(const struct outcome *o);

static double field_throughput(const struct outcome *o)
{
	return o->throughput;
}
static double field_p50(const struct outcome *o)
{
	return o->p50;
}
static double field_p99(const struct outcome *o)
{
	return o->p99;
}
static double field_fairness(const struct outcome *o)
{
	return o->fairness;
}
static double field_slowest(const struct outcome *o)
{
	return o->slowest;
}

static double field_atomic(const struct outcome *o)
{
	return o->atomic;
}
static double field_get(const struct outcome *o)
{
	return o->get;
}
static double field_put(const struct outcome *o)
{
	return o->put;
}
static double field_flush(const struct outcome *o)
{
	return o->flush;
}
static double field_far(const struct outcome *o)
{
	return o->far;
}

static double middle(const struct result *r, outcome_field *field)
{
	double *values = malloc(sizeof *values * (size_t)r->repetitions), m;

	for (int i = 0; i < r->repetitions; i++)
		values[i] = field(&r->outcome[i]);
	m = median(values, r->repetitions);
	free(values);
	return m;
}

struct outcome result_sum(const struct result *r)
{
	struct outcome sum = {
	    .throughput = middle(r, field_throughput),
	    .p50 = middle(r, field_p50),
	    .p99 = middle(r, field_p99),
	    .fairness = middle(r, field_fairness),
	    .slowest = middle(r, field_slowest),
	    .atomic = middle(r, field_atomic),
	    .get = middle(r, field_get),
	    .put = middle(r, field_put),
	    .flush = middle(r, field_flush),
	    .far = middle(r, field_far),
	};

	for (int i = 0; i < r->repetitions; i++) {
		const struct outcome *o = &r->outcome[i];

		sum.acquires += o->acquires;
		sum.exclusive += o->exclusive;
		sum.violations += o->violations;
		sum.seconds += o->seconds;
		sum.max = fmax(sum.max, o->max);
		sum.counted = sum.counted || o->counted;
	}
	return sum;
}

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

	printf("\n%s: %s\n", r->what->name, r->what->summary);
	used = (size_t)snprintf(text, sizeof text, "%s, %d rank%s on %d node%s", native_name(),
				r->ranks, r->ranks == 1 ? "" : "s", r->nodes,
				r->nodes == 1 ? "" : "s");
	if (r->active < r->ranks)
		used +=
		    (size_t)snprintf(text + used, sizeof text - used, " (%d active)", r->active);
	used += (size_t)snprintf(text + used, sizeof text - used, ", %llu lock%s, F_W = %g %%",
				 (unsigned long long)r->n, r->n == 1 ? "" : "s", r->fw);
	if (s->zipf > 0)
		used += (size_t)snprintf(text + used, sizeof text - used, ", zipf %g", s->zipf);
	printf("%s; median of %d\n", text, r->repetitions);
}

static void row(const struct result *r, double reference)
{
	struct outcome o = result_sum(r);
	double per_acquire = o.throughput > 0 ? 1e9 / o.throughput : 0;

	printf("  %-14s%11s%11s%11s%11s%11s%9.3f%11s%9s%7s%11llu", r->who->name,
	       rate(o.throughput).s, duration(per_acquire).s, duration(o.p50).s, duration(o.p99).s,
	       duration(o.max).s, o.fairness, rate(o.slowest).s, operations(&o, o.atomic).s,
	       operations(&o, o.far).s, (unsigned long long)o.violations);
	if (reference > 0)
		printf("%10s", ratio(o.throughput / reference).s);
	printf("\n");
}

void report_table(const struct settings *s, const struct result *results, int count)
{
	double reference = 0;

	for (int i = 0; i < count; i++)
		if (strcmp(results[i].who->name, s->reference) == 0 && !results[i].skipped[0])
			reference = result_sum(&results[i]).throughput;
	heading(s, &results[0]);
	printf("  %-14s%11s%11s%33s%9s%11s%9s%7s\n", "", "", "time per",
	       "latency of acquire + release", "fair-", "slowest", "atomics", "far");
	printf("  %-14s%11s%11s%11s%11s%11s%9s%11s%9s%7s%11s", "lock", "acquires/s", "acquire",
	       "p50", "p99", "max", "ness", "rank", "/acq.", "/acq.", "violations");
	if (reference > 0)
		printf("  vs %s", s->reference);
	printf("\n");
	for (int i = 0; i < count; i++) {
		if (results[i].skipped[0])
			printf("  %-14s  left out: %s\n", results[i].who->name, results[i].skipped);
		else
			row(&results[i], reference);
	}
	fflush(stdout);
}

void report_list(FILE *out)
{
	const struct contestant *c;

	fprintf(out, "Locks (--lock):\n");
	for (int i = 0; (c = contestant_get(i)); i++)
		fprintf(out, "  %-14s%s%s\n", c->name, c->summary,
			c->kind && (c->kind->capabilities & PAWL_CAP_SHARED) ? " [readers share]"
									     : "");
	fprintf(out, "\nWorkloads (--bench):\n");
	for (const struct workload *w = workloads; w->name; w++)
		fprintf(out, "  %-14s%s\n", w->name, w->summary);
}

void report_progress(const struct settings *s, const char *fmt, ...)
{
	va_list args;

	if (s->progress == NEVER || (s->progress == AUTO && !isatty(STDERR_FILENO)))
		return;
	va_start(args, fmt);
	fprintf(stderr, "\r\033[K");
	vfprintf(stderr, fmt, args);
	fflush(stderr);
	va_end(args);
}
