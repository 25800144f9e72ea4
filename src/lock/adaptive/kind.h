/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind adaptive: what its two protocols have in common. On one node it is that of adaptive.c, on
 * several that of src/lock/cached. */
#ifndef LOCK_ADAPTIVE_KIND_H
#define LOCK_ADAPTIVE_KIND_H

#include "lock/protocol.h"

struct adaptive_options {
	int64_t patience; /* microseconds; -1: the lock decides */
	int64_t stay;     /* acquires; -1: the lock decides */
};
_Static_assert(sizeof(struct adaptive_options) <= LOCK_OPTION_BYTES, "the options fit");

/* Of option stay. */
enum { ADAPTIVE_MOST_STAY = 511 };

extern const struct option_spec adaptive_options[];
extern const struct lock_protocol lock_cached;

#define ADAPTIVE_KIND                                                                            \
	{                                                                                        \
		.name = "adaptive",                                                              \
		.summary = "a running client takes a free lock until a waiter loses patience; "  \
			   "nodes keep what they use",                                           \
		.reference = "Go's sync.Mutex and WebKit's ParkingLot (patience), the VAX lock " \
			     "manager (caching)",                                                \
		.capabilities = PAWL_CAP_SHARED | PAWL_CAP_INTENT | PAWL_CAP_TRY |               \
				PAWL_CAP_TIMED | PAWL_CAP_FAIR,                                  \
	}

static inline const struct adaptive_options *adaptive_options_of(const struct lock_setup *s)
{
	return lock_options(s);
}

#endif
