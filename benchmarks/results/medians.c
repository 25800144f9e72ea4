/* SPDX-License-Identifier: BSD-3-Clause */
/* Medians over the repetitions, and sums of counts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "benchmarks/harness/bench.h"

/* The members of struct outcome whose median is reported. */
static const size_t fields[] = {
    offsetof(struct outcome, throughput), offsetof(struct outcome, p50),
    offsetof(struct outcome, p99),        offsetof(struct outcome, fairness),
    offsetof(struct outcome, slowest),    offsetof(struct outcome, atomic),
    offsetof(struct outcome, get),        offsetof(struct outcome, put),
    offsetof(struct outcome, flush),      offsetof(struct outcome, far),
    offsetof(struct outcome, far_atomic), offsetof(struct outcome, far_get),
    offsetof(struct outcome, far_put),    offsetof(struct outcome, waits),
    offsetof(struct outcome, parks),      offsetof(struct outcome, bytes),
    offsetof(struct outcome, aborts),     offsetof(struct outcome, halves),
};

static double *field(struct outcome *o, size_t offset)
{
	return (double *)(void *)((char *)o + offset);
}

static void medians(struct outcome *sum, const struct result *r)
{
	double *values = malloc(sizeof *values * (size_t)r->repetitions);

	for (size_t f = 0; values && f < sizeof fields / sizeof fields[0]; f++) {
		for (int i = 0; i < r->repetitions; i++)
			values[i] = *field(&r->outcome[i], fields[f]);
		*field(sum, fields[f]) = median(values, r->repetitions);
	}
	for (int k = 0; values && k < TIMELINE; k++) {
		for (int i = 0; i < r->repetitions; i++)
			values[i] = r->outcome[i].timeline[k];
		sum->timeline[k] = median(values, r->repetitions);
	}
	free(values);
}

static void row_medians(struct outcome *sum, const struct result *r)
{
	double *values = malloc(sizeof *values * (size_t)r->repetitions);

	sum->rows = values ? r->outcome[0].rows : 0;
	for (int k = 0; k < sum->rows * MAX_COLUMNS; k++) {
		for (int i = 0; i < r->repetitions; i++)
			values[i] = r->outcome[i].row[k / MAX_COLUMNS][k % MAX_COLUMNS];
		sum->row[k / MAX_COLUMNS][k % MAX_COLUMNS] = median(values, r->repetitions);
	}
	free(values);
}

static void spreads(struct outcome *sum, const struct result *r)
{
	const struct spread **of = malloc(sizeof(struct spread *) * (size_t)r->repetitions);

	for (int i = 0; of && i < r->repetitions; i++)
		of[i] = &r->outcome[i].all;
	if (of)
		spread_median(&sum->all, of, r->repetitions);
	for (int k = 0; of && k < MAX_SERIES; k++) {
		for (int i = 0; i < r->repetitions; i++)
			of[i] = &r->outcome[i].series[k];
		spread_median(&sum->series[k], of, r->repetitions);
	}
	free(of);
}

struct outcome result_sum(const struct result *r)
{
	struct outcome sum = {.acquires = 0};

	medians(&sum, r);
	spreads(&sum, r);
	row_medians(&sum, r);
	for (int i = 0; i < r->repetitions; i++) {
		const struct outcome *o = &r->outcome[i];

		sum.acquires += o->acquires;
		sum.exclusive += o->exclusive;
		sum.violations += o->violations;
		sum.abandoned += o->abandoned;
		sum.leases_lost += o->leases_lost;
		sum.requests += o->requests;
		sum.reader_requests += o->reader_requests;
		sum.seconds += o->seconds;
		sum.max = fmax(sum.max, o->max);
		sum.counted = sum.counted || o->counted;
		if (o->lengthened > sum.lengthened)
			sum.lengthened = o->lengthened;
		if (o->unsteady[0])
			memcpy(sum.unsteady, o->unsteady, sizeof sum.unsteady);
	}
	return sum;
}
