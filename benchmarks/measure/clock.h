/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock of the benchmarks. */
#ifndef MEASURE_CLOCK_H
#define MEASURE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* A cheap clock: the processor's counter if that is steady. */
extern double ticks_per_ns;
void clock_calibrate(void);
uint64_t clock_ns(void);

#if defined(__x86_64__)
extern bool clock_is_tsc;
static inline uint64_t ticks(void)
{
	return __builtin_expect(clock_is_tsc, 1) ? __builtin_ia32_rdtsc() : clock_ns();
}
#else
static inline uint64_t ticks(void)
{
	return clock_ns();
}
#endif

#endif
