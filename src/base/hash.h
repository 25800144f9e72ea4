/* SPDX-License-Identifier: BSD-3-Clause */
/* FNV-1a: shows whether values are equal. It does not resist values chosen by an adversary. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdint.h>

#define HASH_BEGIN UINT64_C(14695981039346656037)

static inline uint64_t hash_add(uint64_t h, uint64_t value)
{
	return (h ^ value) * UINT64_C(1099511628211);
}

/* Without the terminating null character. */
static inline uint64_t hash_text(uint64_t h, const char *text)
{
	for (; *text; text++)
		h = hash_add(h, (unsigned char)*text);
	return h;
}

#endif
