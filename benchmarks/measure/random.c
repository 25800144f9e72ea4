/* SPDX-License-Identifier: BSD-3-Clause */
/* Seeds of random numbers. */
#include "benchmarks/measure/random.h"

/* splitmix64, so that the seeds of neighbouring ranks are unrelated. */
uint64_t random_seed(uint64_t seed, int rank)
{
	uint64_t x = seed + UINT64_C(0x9e3779b97f4a7c15) * ((uint64_t)rank + 1);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	x ^= x >> 31;
	return x ? x : 1;
}
