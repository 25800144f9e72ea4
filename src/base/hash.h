/* SPDX-License-Identifier: BSD-3-Clause */
/* FNV-1a: to tell whether values are equal, not for values that an adversary chooses. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdint.h>

#define HASH_BEGIN UINT64_C(14695981039346656037)

static inline uint64_t hash_add(uint64_t h, uint64_t value)
{
	return (h ^ value) * UINT64_C(1099511628211);
}

/* The characters of text, without its end. */
static inline uint64_t hash_text(uint64_t h, const char *text)
{
	for (; *text; text++)
		h = hash_add(h, (unsigned char)*text);
	return h;
}

#endif
