/* SPDX-License-Identifier: BSD-3-Clause */
/* See siphash.h. Names, constants and rotations are those of the paper's Section 2. */
#include "rma/ucx/siphash.h"

#include <endian.h>
#include <string.h>

struct state {
	uint64_t v0, v1, v2, v3;
};

static inline uint64_t rotate(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static inline void rounds(struct state *s, int n)
{
	for (; n > 0; n--) {
		s->v0 += s->v1;
		s->v2 += s->v3;
		s->v1 = rotate(s->v1, 13) ^ s->v0;
		s->v3 = rotate(s->v3, 16) ^ s->v2;
		s->v0 = rotate(s->v0, 32);
		s->v2 += s->v1;
		s->v0 += s->v3;
		s->v1 = rotate(s->v1, 17) ^ s->v2;
		s->v3 = rotate(s->v3, 21) ^ s->v0;
		s->v2 = rotate(s->v2, 32);
	}
}

static inline void take(struct state *s, uint64_t word)
{
	s->v3 ^= word;
	rounds(s, 2);
	s->v0 ^= word;
}

uint64_t siphash(const struct siphash_key *key, const void *bytes, size_t length)
{
	struct state s = {
	    key->half[0] ^ UINT64_C(0x736f6d6570736575),
	    key->half[1] ^ UINT64_C(0x646f72616e646f6d),
	    key->half[0] ^ UINT64_C(0x6c7967656e657261),
	    key->half[1] ^ UINT64_C(0x7465646279746573),
	};
	const unsigned char *at = bytes;
	uint64_t word, last = (uint64_t)length << 56;

	for (; length >= sizeof word; at += sizeof word, length -= sizeof word) {
		memcpy(&word, at, sizeof word);
		take(&s, le64toh(word));
	}
	for (size_t i = 0; i < length; i++)
		last |= (uint64_t)at[i] << 8 * i;
	take(&s, last);
	s.v2 ^= 0xff;
	rounds(&s, 4);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
