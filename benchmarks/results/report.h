/* SPDX-License-Identifier: BSD-3-Clause */
/* What is reported of a run: the table and the JSON lines; the lists. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "benchmarks/harness/workload.h"

/* All repetitions of one contestant at one workload. */
struct result {
	const struct contestant *contestant;
	const struct workload *workload;
	int ranks, nodes, active, repetitions;
	double fw;
	uint64_t n;
	char skipped[200]; /* why it did not run, or "" */
	char transport[16], topology[128], parameters[160];
	pawl_table *table;       /* from one repetition to the next */
	struct outcome *outcome; /* by repetition */
};

/* Medians over the repetitions; sums for acquires, seconds and violations. */
struct outcome result_sum(const struct result *r);
void report_table(const struct settings *s, const struct result *results, int count);
void report_json(FILE *out, const struct settings *s, const struct result *r);
void report_list(FILE *out);

#endif
