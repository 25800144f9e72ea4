/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the locks of the tests protect: for each lock some words that belong
 * together and are changed by plain accesses, one after the other, so that two
 * clients inside at once leave traces. In shared memory where all ranks share
 * it, else by MPI_Put and MPI_Get in a window of the test's own.
 */
#ifndef TESTS_PAYLOAD_H
#define TESTS_PAYLOAD_H

#include <stdbool.h>
#include <stdint.h>

enum { PAYLOAD_LOCKS = 64 };

/* Collective. */
void payload_start(void);
void payload_end(void);
void payload_reset(void);

/* Inside a critical section of a lock with that home: change the words, or look
 * at them. fail()s at the sight of another client's traces. slowly: give the
 * others time in the middle. */
void payload_write(uint64_t lock, int home, bool slowly);
void payload_read(uint64_t lock, int home, bool slowly);

/* The halves of payload_read(), for readers that learn only later whether they had the lock
 * all the time. */
struct payload_seen {
	int64_t first[4], last[4];
};
void payload_see(uint64_t lock, int home, bool slowly, struct payload_seen *seen);
void payload_judge(uint64_t lock, const struct payload_seen *seen);

/* How often the words of a lock were changed. */
int64_t payload_count(uint64_t lock, int home);

#endif
