/* SPDX-License-Identifier: BSD-3-Clause */
/* The workload poet: see poet.c. */
#ifndef BENCH_WORKLOADS_APPS_POET_H
#define BENCH_WORKLOADS_APPS_POET_H

#include "benchmarks/harness/bench.h"

enum { POET_BUCKETS = 1 << 11, POET_KEYS = POET_BUCKETS / 4 };

extern const char *const poet_series[];
void poet_run(struct trial *t);
int poet_open(struct trial *t, char *why, size_t whylen);
void poet_close(struct trial *t);

#endif
