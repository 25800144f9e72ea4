/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data that the locks protect: for each lock some related words, changed by plain accesses one
 * after the other, so that two holders at the same time leave traces. In shared memory if all ranks
 * share it, else by MPI_Put and MPI_Get in the test's own window.
 */
#ifndef TESTS_PAYLOAD_H
#define TESTS_PAYLOAD_H

#include <pawl.h>
#include <stdbool.h>
#include <stdint.h>

enum { PAYLOAD_LOCKS = 64 };

/* Collective. */
void payload_start(void);
void payload_end(void);
void payload_reset(void);

/* In a critical section of a lock with that home: change the words, or check them. Calls fail() if
 * another client left traces. slowly: give others time in the middle. */
void payload_write(uint64_t lock, int home, bool slowly);
void payload_read(uint64_t lock, int home, bool slowly);

/* The two halves of payload_read(), for readers that learn only later whether they held the lock
 * all the time. */
struct payload_seen {
	int64_t first[4], last[4];
};
void payload_see(uint64_t lock, int home, bool slowly, struct payload_seen *seen);
void payload_judge(uint64_t lock, const struct payload_seen *seen);

/* How often the words of a lock were changed. */
int64_t payload_count(uint64_t lock, int home);
/* Check that the words of the first n locks of the table (NULL: all at home 0) were changed as
 * often as all ranks have done; changes: by this one. Resets them. Collective. */
void payload_expect(const pawl_table *table, uint64_t n, int64_t changes);

#endif
