/* SPDX-License-Identifier: BSD-3-Clause */
/* The benchmark's own Redis server, and the requests of the bank. */
#ifndef PAWL_BENCH_REDIS_H
#define PAWL_BENCH_REDIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REDIS_PATH = 100, REDIS_TOKEN = 33 };

/* Start a server on a socket in a new folder; or, for clients on other hosts, on a free port of
 * this host's address, with a password. Returns for redis_connect() where it is: the path, or
 * address, port and password. The server ends, and the folder is removed, by redis_stop() or when
 * this process ends, in whatever way. False: why has a message. */
bool redis_start(char *where, bool for_hosts, char *why, size_t whylen);
void redis_stop(void);

/* Whether this build has hiredis. */
bool redis_usable(char *why, size_t whylen);

/* The connection of this process. False: why has a message. */
bool redis_connect(const char *where, char *why, size_t whylen);
void redis_disconnect(void);
/* The message about the last call that failed. */
const char *redis_error(void);

/* Set the balance of accounts 0 .. n-1; the sum of all balances. */
bool redis_fill(uint64_t n, int64_t balance);
bool redis_sum(uint64_t n, int64_t *sum);
bool redis_read(uint64_t account, int64_t *balance);
/* One message each; several are not atomic together. */
bool redis_read_two(const uint64_t *account, int64_t *balance);
bool redis_write_two(const uint64_t *account, const int64_t *balance);

/* SET key token NX PX ttl; and delete the key if it still has the token. *got: whether that
 * succeeded. */
bool redis_claim(uint64_t account, const char *token, int ttl_ms, bool *got);
bool redis_unclaim(uint64_t account, const char *token);

#endif
