/* SPDX-License-Identifier: BSD-3-Clause */
/* --list: the locks and what they are capable of, the workloads, the options of the locks. */
#include <string.h>

#include "baselines/baselines.h"
#include "benchmarks/harness/bench.h"

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
	    {"shared", PAWL_CAP_SHARED},         {"try", PAWL_CAP_TRY},
	    {"timed", PAWL_CAP_TIMED},           {"fair", PAWL_CAP_FAIR},
	    {"intent", PAWL_CAP_INTENT},         {"recovers", PAWL_CAP_RECOVERS},
	    {"ranges", PAWL_CAP_RANGES},         {"upgrade", PAWL_CAP_UPGRADE},
	    {"optimistic", PAWL_CAP_OPTIMISTIC},
	};
	enum { COLUMNS = sizeof columns / sizeof columns[0] };
	const struct pawl_kind *kind;

	fprintf(out, "\nCapabilities%s:\n  %-14s", baselines ? " of those to compare with" : "",
		"lock");
	for (int i = 0; i < COLUMNS; i++)
		fprintf(out, "%-9s", columns[i].name);
	fprintf(out, "\n");
	for (int k = 0; (kind = pawl_kind_get(k)); k++) {
		if (pawl_private_is_baseline(kind) != baselines)
			continue;
		fprintf(out, "  %-14s", kind->name);
		for (int i = 0; i < COLUMNS; i++)
			fprintf(out, "%-9s", kind->capabilities & columns[i].bit ? "yes" : "-");
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
		if (!contestant_is_baseline(c))
			list_contestant(out, c);
	fprintf(out, "\nLocks to compare with, not in libpawl (--lock):\n");
	for (int i = 0; (c = contestant_get(i)); i++)
		if (contestant_is_baseline(c))
			list_contestant(out, c);
	fprintf(out, "\nWorkloads (--bench):\n");
	for (const struct workload *w = workloads; w->name; w++)
		fprintf(out, "  %-14s%s\n", w->name, w->summary);
	list_capabilities(out, false);
	list_capabilities(out, true);
	list_options(out);
}
