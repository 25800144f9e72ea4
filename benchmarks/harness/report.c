/* SPDX-License-Identifier: BSD-3-Clause */
/* The output for users: tables, lists and the progress. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "baselines/baselines.h"
#include "bench.h"

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
	used += (size_t)snprintf(
	    text + used, sizeof text - used, ", %llu %s%s", (unsigned long long)r->n,
	    workload_is(r->what, W_RANGES) ? "space" : "lock", r->n == 1 ? "" : "s");
	if (workload_is(r->what, W_RANGES))
		used += (size_t)snprintf(text + used, sizeof text - used, " of %llu units",
					 (unsigned long long)s->space);
	if (workload_is(r->what, W_LENGTHS) && s->length)
		used += (size_t)snprintf(text + used, sizeof text - used, ", length %llu",
					 (unsigned long long)s->length);
	else if (workload_is(r->what, W_LENGTHS))
		used += (size_t)snprintf(text + used, sizeof text - used, ", mixed lengths");
	if (!workload_is(r->what, W_FIXED))
		used += (size_t)snprintf(text + used, sizeof text - used, ", F_W = %g %%", r->fw);
	if (s->zipf > 0)
		used += (size_t)snprintf(text + used, sizeof text - used, ", zipf %g", s->zipf);
	if (workload_is(r->what, W_NEAR_AND_FAR))
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

	printf("  %-14s%11s%11s%11s%11s%11s%9.3f%11s%9s%7s%11llu", r->who->name,
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

	for (int i = 0; r->what->series[i]; i++) {
		const struct spread *s = &o.series[i];

		if (s->count)
			printf("  %-14s  %-18s%11llu%11s%11s%11s%11s\n", r->who->name,
			       r->what->series[i], (unsigned long long)s->count,
			       duration(s->mean).s, duration(s->p50).s, duration(s->p99).s,
			       duration(s->max).s);
	}
	if (o.counted)
		printf("  %-14s  per %s: atomics %.2f (far %.2f), gets %.2f (%.2f), puts %.2f"
		       " (%.2f); waits %.3f\n",
		       r->who->name,
		       workload_is(r->what, W_TRANSACTIONS) ? "transaction" : "acquire", o.atomic,
		       o.far_atomic, o.get, o.far_get, o.put, o.far_put, o.waits);
	if (o.bytes > 0)
		printf("  %-14s  %sB/s read and written\n", r->who->name, rate(o.bytes).s);
	if (o.requests)
		printf("  %-14s  %.2f locks a transaction, %.1f %% of the requests by readers\n",
		       r->who->name, (double)o.requests / (double)o.acquires,
		       100.0 * (double)o.reader_requests / (double)o.requests);
	if (o.abandoned || o.leases_lost)
		printf("  %-14s  %llu locks abandoned, %llu leases lost\n", r->who->name,
		       (unsigned long long)o.abandoned, (unsigned long long)o.leases_lost);
}

static void all_rows(const struct result *r)
{
	struct outcome o = result_sum(r);

	printf("\n  %-14s", r->who->name);
	for (int k = 0; r->what->columns[k]; k++)
		printf("%15s", r->what->columns[k]);
	for (int i = 0; i < o.rows; i++) {
		printf("\n  %-14s", "");
		for (int k = 0; r->what->columns[k]; k++)
			printf("%15.6g", o.row[i][k]);
	}
	printf("\n");
}

static void all_parts(const struct result *results, int count)
{
	if (!results[0].what->series)
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
		if (contestant_shares(results[i].who) || results[i].skipped[0])
			continue;
		printf("%s%s",
		       any ? ", " : "  readers acquire exclusively: ", results[i].who->name);
		any = true;
	}
	printf("%s", any ? "\n" : "");
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
		if (strcmp(results[i].who->name, s->reference) == 0 && !results[i].skipped[0])
			reference = result_sum(&results[i]).throughput;
	heading(s, &results[0]);
	columns(workload_is(results[0].what, W_TRANSACTIONS));
	if (reference > 0)
		printf("  vs %s", s->reference);
	printf("\n");
	for (int i = 0; i < count; i++) {
		if (results[i].skipped[0])
			printf("  %-14s  left out: %s\n", results[i].who->name, results[i].skipped);
		else
			row(&results[i], reference);
	}
	if (results[0].fw < 100 ||
	    (workload_is(results[0].what, W_FIXED) && !workload_is(results[0].what, W_TIMELINE)))
		note_readers(results, count);
	all_parts(results, count);
	for (int i = 0; i < count && results[0].what->rows; i++)
		if (!results[i].skipped[0])
			all_rows(&results[i]);
	fflush(stdout);
}

static bool can(const struct contestant *c, unsigned capability)
{
	return c->kind && (c->kind->capabilities & capability);
}

/* A line for each kind; doc/locks.md and pawl(3) have the same lines (tests/docs.sh). */
static void list_capabilities(FILE *out, bool baselines)
{
	static const struct {
		const char *name;
		unsigned bit;
	} columns[] = {
	    {"shared", PAWL_CAP_SHARED}, {"try", PAWL_CAP_TRY},
	    {"timed", PAWL_CAP_TIMED},   {"fair", PAWL_CAP_FAIR},
	    {"intent", PAWL_CAP_INTENT}, {"recovers", PAWL_CAP_RECOVERS},
	    {"ranges", PAWL_CAP_RANGES},
	};
	enum { COLUMNS = sizeof columns / sizeof columns[0] };
	const struct pawl_kind *kind;

	fprintf(out, "\nCapabilities%s:\n  %-14s", baselines ? " of those to compare with" : "",
		"lock");
	for (int i = 0; i < COLUMNS; i++)
		fprintf(out, "%-10s", columns[i].name);
	fprintf(out, "\n");
	for (int k = 0; (kind = pawl_kind_get(k)); k++) {
		if (pawl_private_is_baseline(kind) != baselines)
			continue;
		fprintf(out, "  %-14s", kind->name);
		for (int i = 0; i < COLUMNS; i++)
			fprintf(out, "%-10s", kind->capabilities & columns[i].bit ? "yes" : "-");
		fprintf(out, "\n");
	}
}

/* The kinds that take the option: "d-mcs, mgl". */
static void list_takers(FILE *out, const struct pawl_option *o)
{
	const struct pawl_kind *kind;
	bool first = true;

	for (int i = 0; (kind = pawl_kind_get(i)); i++)
		if (kind_takes(kind, o->name, strlen(o->name))) {
			fprintf(out, "%s%s", first ? "" : ", ", kind->name);
			first = false;
		}
}

static void list_options(FILE *out)
{
	const struct pawl_option *o;

	fprintf(out, "\nOptions (-o NAME=VALUE):\n");
	for (int i = 0; (o = pawl_option_get(i)); i++) {
		fprintf(out, "  %-16s%s\n%18s%s; default: %s; of ", o->name, o->summary, "",
			o->values, o->preset);
		if (o->common)
			fprintf(out, "all locks");
		else
			list_takers(out, o);
		fprintf(out, "\n");
	}
}

static bool is_baseline(const struct contestant *c)
{
	return !c->kind || pawl_private_is_baseline(c->kind);
}

static void list_contestant(FILE *out, const struct contestant *c)
{
	fprintf(out, "  %-14s%s%s%s%s%s\n", c->name, c->summary,
		can(c, PAWL_CAP_RANGES) ? " [ranges]" : "",
		can(c, PAWL_CAP_RECOVERS) ? " [recovers]" : "",
		can(c, PAWL_CAP_SHARED) ? " [readers share]" : "",
		can(c, PAWL_CAP_THREADS) ? " [only if named]" : "");
}

void report_list(FILE *out)
{
	const struct contestant *c;

	fprintf(out, "Locks of libpawl (--lock):\n");
	for (int i = 0; (c = contestant_get(i)); i++)
		if (!is_baseline(c))
			list_contestant(out, c);
	fprintf(out, "\nLocks to compare with, not in libpawl (--lock):\n");
	for (int i = 0; (c = contestant_get(i)); i++)
		if (is_baseline(c))
			list_contestant(out, c);
	fprintf(out, "\nWorkloads (--bench):\n");
	for (const struct workload *w = workloads; w->name; w++)
		fprintf(out, "  %-14s%s\n", w->name, w->summary);
	list_capabilities(out, false);
	list_capabilities(out, true);
	list_options(out);
}

/* "about 40 s left", as soon as that can be estimated. */
static void tell_rest(const struct progress *p, uint64_t now)
{
	enum { FEW = 2 };
	double spent = (double)(now - p->since_ns) * 1e-9;

	if (p->done >= FEW)
		fprintf(stderr, ", about %.0f s left",
			ceil(spent / p->done * (p->total - p->done)));
}

/* On a terminal one line, which changes. */
static void draw_progress(const struct progress *p, uint64_t now)
{
	fprintf(stderr, "\r\033[K");
	if (p->done < p->total) {
		fprintf(stderr, "%s: %d of %d: %s", p->what, p->done + !p->ended, p->total, p->who);
		tell_rest(p, now);
	}
	fflush(stderr);
}

/* Elsewhere, as under most launchers, a line when a lock has had all its repetitions, and every
 * LINE_NS; none in the first LINE_NS. */
static void print_progress(struct progress *p, uint64_t now)
{
	const uint64_t LINE_NS = 5000000000;
	bool due = now - p->said_ns >= LINE_NS;

	if (now - p->since_ns < LINE_NS || !(due || p->ended) || p->done == p->total)
		return;
	p->said_ns = now;
	fprintf(stderr, "%s: %s: %d of %d", p->program, p->what, p->done, p->total);
	tell_rest(p, now);
	fprintf(stderr, p->ended ? "; %s has ended\n" : "; now %s\n", p->who);
	fflush(stderr);
}

void report_progress(const struct settings *s, struct progress *p)
{
	uint64_t now = clock_ns();

	if (s->progress == NEVER)
		return;
	if (!p->since_ns)
		p->since_ns = p->said_ns = now;
	if (s->progress == ALWAYS || isatty(STDERR_FILENO))
		draw_progress(p, now);
	else
		print_progress(p, now);
}
