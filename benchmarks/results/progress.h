/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress of a run, on stderr. */
#ifndef BENCH_PROGRESS_H
#define BENCH_PROGRESS_H

#include <stdint.h>

#include "benchmarks/cli/settings.h"

/* The progress of a workload: contestants take turns, one repetition each. */
struct progress {
	const char *program, *workload, *contestant;
	int done, total;   /* turns */
	bool ended;        /* it was the last turn of this lock */
	uint64_t since_ns; /* when the first turn began */
	uint64_t said_ns;  /* the last line */
};
/* Before and after each turn; done == total: it is over. */
void progress_report(const struct settings *s, struct progress *p);

#endif
