/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Redlock, the lock that Redis documents ("Distributed Locks with Redis"), with one
 * server: SET key token NX PX ttl with a token of the client's; a client that fails tries again
 * after a random delay; the lock is good for its time to live, less the time it took and the drift
 * of clocks; a script deletes the key if it still has the token. The number of tries and the delay
 * are those of the reference implementation (antirez/redlock-rb).
 */
#include "redlock.h"

#include <stdio.h>
#include <time.h>

#include "benchmarks/harness/bench.h"

enum { TTL_MS = 10000, TRIES = 3, DELAY_MS = 200, DRIFT_MS = TTL_MS / 100 + 2 };

void redlock_token(char *token, uint64_t *random)
{
	snprintf(token, REDIS_TOKEN, "%016llx%016llx", (unsigned long long)random_next(random),
		 (unsigned long long)random_next(random));
}

static void delay(uint64_t *random)
{
	uint64_t us = random_next(random) % (DELAY_MS * 1000);

	nanosleep(&(struct timespec){.tv_nsec = (long)us * 1000}, NULL);
}

bool redlock_acquire(uint64_t account, const char *token, uint64_t *random, bool *got)
{
	for (int i = 0; i < TRIES; i++) {
		uint64_t start = clock_ns();

		if (!redis_claim(account, token, TTL_MS, got))
			return false;
		if (*got && clock_ns() - start < (uint64_t)(TTL_MS - DRIFT_MS) * 1000000)
			return true;
		if (*got && !redis_unclaim(account, token))
			return false;
		delay(random);
	}
	*got = false;
	return true;
}

bool redlock_release(uint64_t account, const char *token)
{
	return redis_unclaim(account, token);
}
