/* SPDX-License-Identifier: BSD-3-Clause */
/* Median, and Jain's index of fairness. */
#ifndef MEASURE_STATISTICS_H
#define MEASURE_STATISTICS_H

double median(const double *values, int count);
double jain(const double *values, int count);

#endif
