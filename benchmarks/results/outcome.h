/* SPDX-License-Identifier: BSD-3-Clause */
/* What one repetition measured. */
#ifndef BENCH_OUTCOME_H
#define BENCH_OUTCOME_H

#include <stdbool.h>

#include "benchmarks/measure/spread.h"

/* The most series of times of a workload, and the parts of the time in which acquires are counted.
 */
enum { MAX_SERIES = 12, TIMELINE = 50, MAX_ROWS = 24, MAX_COLUMNS = 8 };

/* The results of one repetition, the same on all ranks. */
struct outcome {
	uint64_t acquires, exclusive, violations;
	double seconds, throughput; /* seconds: the slowest rank's */
	double p50, p99, max;       /* ns of acquire and release together */
	double fairness, slowest;   /* slowest: acquires/s of the slowest active rank */
	bool counted;               /* this kind counts its operations */
	double atomic, get, put, flush, far;
	double far_atomic, far_get, far_put; /* the parts of far */
	double waits, parks;
	uint64_t abandoned, leases_lost;
	uint64_t requests, reader_requests;
	double bytes;                          /* a second */
	struct spread all, series[MAX_SERIES]; /* of the workload's series */
	double timeline[TIMELINE];             /* acquires/s, by part of the time */
	double
	    halves; /* acquires of the second half of the time for each of the first; simulated */
	char unsteady[64]; /* why the run is not steady, or ""; simulated */
	int lengthened;    /* how often it was made longer; simulated */
	double aborts;     /* of ranges, per acquire; 0 if not counted */
	int rows;          /* of the workload's */
	double row[MAX_ROWS][MAX_COLUMNS];
};

#endif
