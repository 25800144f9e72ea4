/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a run of the simulator is steady: the second half of its time has as many acquires as the
 * first, and the share of writers is that of --fw, both give or take 5 % or what chance explains.
 * --steady makes a run that is not steady twice as long, up to six times; what was measured before
 * does not count then.
 */
#ifndef PAWL_SIM_STEADY_H
#define PAWL_SIM_STEADY_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/engine.h"

enum { STEADY_MARKS = 512, STEADY_LENGTHENINGS = 6, STEADY_TEXT = 64 };

/* The times of every n-th acquire of the measured part. n is a power of two, first 1; its multiples
 * have none of the bits of n - 1, the mask. */
struct steady {
	uint64_t count, mask;
	int marks, lengthened;
	sim_time mark[STEADY_MARKS];
};

/* Count an acquire. */
void steady_count(struct steady *s, sim_time now);
/* Acquires of the second half of the time for each of the first half. */
double steady_halves(const struct steady *s, sim_time start, sim_time end);
/* halves, and the exclusive ones among the acquires, of which wanted is the share; 0 or 1: any. If
 * the run is not steady, why says so, else it is "". */
bool steady_is(double halves, uint64_t acquires, uint64_t exclusive, double wanted, char *why,
	       size_t whylen);

#endif
