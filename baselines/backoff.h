/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds that ask again after a pause, and have no other options. */
#ifndef BASELINES_BACKOFF_H
#define BASELINES_BACKOFF_H

#include "lock/lock.h"
#include "lock/pauses.h"

#include <stdio.h>

struct backoff_options {
	struct lock_backoff backoff;
};
_Static_assert(sizeof(struct backoff_options) <= LOCK_OPTION_BYTES, "the options fit");

#define BACKOFF_LINES LOCK_BACKOFF(struct backoff_options, backoff), LOCK_OPTIONS_END

static inline const struct backoff_options *options_of(const struct lock_setup *s)
{
	return lock_options(s);
}

/* In describe(): what comes first, and the pauses. */
static inline void backoff_describe(const struct lock_setup *s, const char *first, char *text,
				    size_t len)
{
	snprintf(text, len, "%sbackoff %lld to %lld ns", first,
		 (long long)options_of(s)->backoff.min, (long long)options_of(s)->backoff.max);
}

#endif
