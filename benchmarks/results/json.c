/* SPDX-License-Identifier: BSD-3-Clause */
/* The results for programs: one JSON object a line (man page pawl-bench(1)). */

#include "base/json.h"
#include "benchmarks/harness/bench.h"

static void put_pace(FILE *out, const struct pace *p)
{
	if (p->section)
		fprintf(out, ",\"section_ns\":%llu", (unsigned long long)p->section);
	if (p->think)
		fprintf(out, ",\"think_ns\":%llu", (unsigned long long)p->think);
	if (p->burst)
		fprintf(out, ",\"burst\":%llu,\"rest_ns\":%llu", (unsigned long long)p->burst,
			(unsigned long long)p->rest);
}

static void put_case(FILE *out, const struct settings *s, const struct result *r)
{
	json_put_member(out, "lock", r->contestant->name);
	fprintf(out, ",");
	json_put_member(out, "bench", r->workload->name);
	fprintf(out, ",");
	json_put_member(out, "version", pawl_version());
	fprintf(out, ",");
	json_put_member(out, "mpi", native_name());
	fprintf(out, ",");
	json_put_member(out, "transport", r->transport);
	fprintf(out,
		",\"ranks\":%d,\"nodes\":%d,\"active\":%d,\"fw\":%g,\"locks\":%llu,\"zipf\":%g"
		",\"repetitions\":%d",
		r->ranks, r->nodes, r->active, r->fw, (unsigned long long)r->n, s->zipf,
		r->repetitions);
	if (workload_is(r->workload, W_NEAR_AND_FAR))
		fprintf(out, ",\"locality\":%g", r->nodes > 1 ? s->locality : 100.0);
	put_pace(out, &s->pace);
	if (s->homes == HOMES_FIRST_NODE)
		fprintf(out, ",\"homes\":\"first-node\"");
	if (workload_is(r->workload, W_RANGES))
		fprintf(out, ",\"units\":%llu", (unsigned long long)s->space);
	if (workload_is(r->workload, W_LENGTHS) && s->length)
		fprintf(out, ",\"length\":\"%llu\"", (unsigned long long)s->length);
	else if (workload_is(r->workload, W_LENGTHS))
		fprintf(out, ",\"length\":\"mixed\"");
	fprintf(out, ",\"readers\":\"%s\"",
		contestant_shares(r->contestant) ? "shared" : "exclusive");
}

static void put_operations(FILE *out, const struct outcome *o)
{
	fprintf(out, ",\"ops_per_acquire\":");
	if (o->counted)
		fprintf(out,
			"{\"atomic\":%.4f,\"get\":%.4f,\"put\":%.4f,\"flush\":%.4f,\"far\":%.4f,"
			"\"far_atomic\":%.4f,\"far_get\":%.4f,\"far_put\":%.4f}",
			o->atomic, o->get, o->put, o->flush, o->far, o->far_atomic, o->far_get,
			o->far_put);
	else
		fprintf(out, "null");
}

static void put_cdf(FILE *out, const struct spread *s)
{
	fprintf(out, ",\"cdf\":[");
	for (int i = 0; i < CDF_POINTS; i++)
		fprintf(out, "%s[%.1f,%g]", i ? "," : "", i < CDF_POINTS - 1 ? s->cdf[i] : s->max,
			cdf_fraction(i));
	fprintf(out, "]");
}

/* The workload's own times, with their distributions if the workload has these. */
static void put_series(FILE *out, const struct result *r, const struct outcome *o)
{
	fprintf(out, ",\"times\":{");
	for (int i = 0; r->workload->series[i]; i++) {
		const struct spread *s = &o->series[i];

		fprintf(out,
			"%s\"%s\":{\"count\":%llu,\"mean\":%.1f,\"p50\":%.1f,\"p99\":%.1f,"
			"\"max\":%.1f",
			i ? "," : "", r->workload->series[i], (unsigned long long)s->count, s->mean,
			s->p50, s->p99, s->max);
		if (workload_is(r->workload, W_CDF) && s->count)
			put_cdf(out, s);
		fprintf(out, "}");
	}
	fprintf(out, "}");
}

static void put_timeline(FILE *out, const struct settings *s, const struct outcome *o)
{
	fprintf(out, ",\"fail\":%g,\"abandoned\":%llu,\"goodput\":[", s->fail,
		(unsigned long long)o->abandoned);
	for (int i = 0; i < TIMELINE; i++)
		fprintf(out, "%s%.1f", i ? "," : "", o->timeline[i]);
	fprintf(out, "]");
}

/* Pairs of a time in seconds, the middle of a part of the run, and the acquires/s in that part. */
static void put_over_time(FILE *out, const struct settings *s, const struct outcome *o)
{
	fprintf(out, ",\"over_time\":[");
	for (int i = 0; i < TIMELINE; i++)
		fprintf(out, "%s[%.6f,%.1f]", i ? "," : "", (i + 0.5) * s->seconds / TIMELINE,
			o->timeline[i]);
	fprintf(out, "]");
}

static void put_steady(FILE *out, const struct outcome *o)
{
	fprintf(out, ",\"halves\":%.4f,\"lengthened\":%d", o->halves, o->lengthened);
	if (!o->unsteady[0])
		return;
	fprintf(out, ",");
	json_put_member(out, "unsteady", o->unsteady);
}

static void put_rows(FILE *out, const struct result *r, const struct outcome *o)
{
	fprintf(out, ",\"%s\":[", r->workload->rows);
	for (int i = 0; i < o->rows; i++) {
		for (int k = 0; r->workload->columns[k]; k++)
			fprintf(out, "%s%.9g", k ? "," : i ? ",[" : "[", o->row[i][k]);
		fprintf(out, "]");
	}
	fprintf(out, "]");
}

void report_json(FILE *out, const struct settings *s, const struct result *r)
{
	struct outcome o;

	if (r->skipped[0])
		return;
	o = result_sum(r);
	fprintf(out, "{");
	put_case(out, s, r);
	fprintf(out, ",\"acquires\":%llu,\"exclusive\":%llu,\"seconds\":%.6f,\"throughput\":%.1f",
		(unsigned long long)o.acquires, (unsigned long long)o.exclusive, o.seconds,
		o.throughput);
	fprintf(out, ",\"throughputs\":[");
	for (int i = 0; i < r->repetitions; i++)
		fprintf(out, "%s%.1f", i ? "," : "", r->outcome[i].throughput);
	fprintf(out,
		"],\"latency_ns\":{\"p50\":%.1f,\"p99\":%.1f,\"max\":%.1f},\"fairness\":%.4f,"
		"\"slowest\":%.1f",
		o.p50, o.p99, o.max, o.fairness, o.slowest);
	put_operations(out, &o);
	fprintf(out, ",\"waits\":%.4f,\"parks\":%.4f,\"leases_lost\":%llu", o.waits, o.parks,
		(unsigned long long)o.leases_lost);
	if (s->simulate)
		put_steady(out, &o);
	if (s->simulate && workload_is(r->workload, W_RANGES))
		fprintf(out, ",\"aborts\":%.6g", o.aborts);
	if (o.requests)
		fprintf(out, ",\"locks_each\":%.4f,\"reader_requests\":%.4f",
			(double)o.requests / (double)o.acquires,
			(double)o.reader_requests / (double)o.requests);
	if (r->workload->rows)
		put_rows(out, r, &o);
	if (o.bytes > 0)
		fprintf(out, ",\"bytes_per_second\":%.0f", o.bytes);
	if (workload_is(r->workload, W_TIMELINE) && !s->iterations)
		put_over_time(out, s, &o);
	if (r->workload->series)
		put_series(out, r, &o);
	if (workload_is(r->workload, W_CDF))
		put_cdf(out, &o.all);
	if (s->fail > 0)
		put_timeline(out, s, &o);
	fprintf(out, ",\"violations\":%llu,", (unsigned long long)o.violations);
	json_put_member(out, "parameters", r->parameters);
	fprintf(out, ",");
	json_put_member(out, "topology", r->topology);
	fprintf(out, "}\n");
	fflush(out);
}
