/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SipHash-2-4: a keyed hash of 64 bits for short messages. Without the key, the hash of a message
 * that was not hashed before can only be guessed, with probability 2^-64. Aumasson and Bernstein,
 * "SipHash: a fast short-input PRF", INDOCRYPT 2012.
 */
#ifndef RMA_UCX_SIPHASH_H
#define RMA_UCX_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

struct siphash_key {
	uint64_t half[2];
};

uint64_t siphash(const struct siphash_key *key, const void *bytes, size_t length);

#endif
