/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clock is the processor's counter if it is steady (two calibrations agree), as in the RMA-RW
 * paper; else clock_gettime.
 */
#include "benchmarks/measure/clock.h"

#include <math.h>
#include <time.h>

double ticks_per_ns = 1;

uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#if defined(__x86_64__)
bool clock_is_tsc = false;

static double rate(uint64_t ns)
{
	uint64_t start = clock_ns(), first = __builtin_ia32_rdtsc(), now;

	do
		now = clock_ns();
	while (now - start < ns);
	return (double)(__builtin_ia32_rdtsc() - first) / (double)(now - start);
}

void clock_calibrate(void)
{
	for (int tries = 0; tries < 3 && !clock_is_tsc; tries++) {
		double a = rate(5000000), b = rate(10000000);

		if (a > 0.1 && fabs(a - b) < 0.005 * a) {
			ticks_per_ns = b;
			clock_is_tsc = true;
		}
	}
}
#else
void clock_calibrate(void)
{
}
#endif
