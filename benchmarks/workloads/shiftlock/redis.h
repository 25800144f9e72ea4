/* SPDX-License-Identifier: BSD-3-Clause */
/* A Redis server of the benchmark's own, and what the bank asks it for. */
#ifndef PAWL_BENCH_REDIS_H
#define PAWL_BENCH_REDIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REDIS_PATH = 100, REDIS_TOKEN = 33 };

/* Start a server on a socket of a new folder, and say which: it ends, and the folder
 * goes, with redis_stop() or with this process, however that ends. False: why has the
 * sentence. */
bool redis_start(char *path, char *why, size_t whylen);
void redis_stop(void);

/* Whether this build can talk to a server at all. */
bool redis_usable(char *why, size_t whylen);

/* Of this process. False: why has the sentence. */
bool redis_connect(const char *path, char *why, size_t whylen);
void redis_disconnect(void);
/* Of the last call that failed. */
const char *redis_error(void);

/* Accounts 0 .. n-1 with this balance each; the sum of all. */
bool redis_fill(uint64_t n, int64_t balance);
bool redis_sum(uint64_t n, int64_t *sum);
bool redis_read(uint64_t account, int64_t *balance);
/* One message each; by themselves, not atomic together. */
bool redis_read_two(const uint64_t *account, int64_t *balance);
bool redis_write_two(const uint64_t *account, const int64_t *balance);

/* SET key token NX PX ttl; and delete it if it still has the token. *got: done. */
bool redis_claim(uint64_t account, const char *token, int ttl_ms, bool *got);
bool redis_unclaim(uint64_t account, const char *token);

#endif
