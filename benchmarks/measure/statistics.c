/* SPDX-License-Identifier: BSD-3-Clause */
/* Median, and Jain's index of fairness. */
#include "benchmarks/measure/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double median(const double *values, int count)
{
	double *sorted = malloc(sizeof *sorted * (size_t)count), m;

	if (!sorted)
		return NAN;
	memcpy(sorted, values, sizeof *sorted * (size_t)count);
	qsort(sorted, (size_t)count, sizeof *sorted, compare);
	m = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
	free(sorted);
	return m;
}

double jain(const double *values, int count)
{
	double sum = 0, squares = 0;

	for (int i = 0; i < count; i++) {
		sum += values[i];
		squares += values[i] * values[i];
	}
	return squares > 0 ? sum * sum / (count * squares) : 1;
}
