/* SPDX-License-Identifier: BSD-3-Clause */
/* For the layer under MPI_Win_lock: acquires with a deadline, in the time of CLOCK_MONOTONIC, that
 * the caller need not read the clock for; 0: none. As pawl_lock_timed_acquire(), and the same for
 * pawl_lock_acquire_part(). The kind has PAWL_CAP_TIMED, and table, lock and mode are valid. */
#ifndef BASE_UNTIL_H
#define BASE_UNTIL_H

#include <pawl.h>

__attribute__((visibility("default"))) int pawl_private_acquire(pawl_table *t, uint64_t lock,
								int mode, uint64_t deadline_ns);
__attribute__((visibility("default"))) int pawl_private_acquire_part(pawl_table *t, uint64_t whole,
								     uint64_t part, int mode,
								     uint64_t deadline_ns);

#endif
