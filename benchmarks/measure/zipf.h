/* SPDX-License-Identifier: BSD-3-Clause */
/* Zipf's law. */
#ifndef MEASURE_ZIPF_H
#define MEASURE_ZIPF_H

#include <stdint.h>

/* Zipf's law over 0 .. n-1; 0 is the most likely one. zipf_spread() is a permutation of 0 .. n-1
 * that spreads the likely ones. */
struct zipf {
	double n, s, first, last, shift;
};
void zipf_start(struct zipf *z, uint64_t n, double s);
uint64_t zipf_next(const struct zipf *z, uint64_t *random);
static inline uint64_t zipf_spread(uint64_t k, uint64_t n)
{
	return k * UINT64_C(2654435761) % n; /* a prime */
}

#endif
