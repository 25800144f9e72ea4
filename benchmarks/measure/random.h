/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers. */
#ifndef MEASURE_RANDOM_H
#define MEASURE_RANDOM_H

#include <stdint.h>

/* xorshift64*: state is never 0. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * UINT64_C(2685821657736338717);
}
uint64_t random_seed(uint64_t seed, int rank);

#endif
