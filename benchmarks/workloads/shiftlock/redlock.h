/* SPDX-License-Identifier: BSD-3-Clause */
/* Redlock on the bank's accounts. False: the server failed, redis_error() says how. */
#ifndef PAWL_BENCH_REDLOCK_H
#define PAWL_BENCH_REDLOCK_H

#include "redis.h"

/* A new token, of REDIS_TOKEN bytes. */
void redlock_token(char *token, uint64_t *random);
/* *got: whether the client has the lock, or gave up. */
bool redlock_acquire(uint64_t account, const char *token, uint64_t *random, bool *got);
bool redlock_release(uint64_t account, const char *token);

#endif
