/* SPDX-License-Identifier: BSD-3-Clause */
/* It ends a run that hangs. */
#ifndef BENCH_WATCHDOG_H
#define BENCH_WATCHDOG_H

#include "benchmarks/harness/team.h"

/* The time that a step may take beyond its expected time; 0: for ever. */
void watchdog_start(const struct team *t, int seconds, double expected);
/* The next step, and its expected time. The strings must stay valid; table may be NULL. */
void watchdog_step(const char *contestant, const char *workload, const char *step);
void watchdog_at(const char *at); /* for the report; cheap */
void watchdog_rest(void);

#endif
