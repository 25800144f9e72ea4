/* SPDX-License-Identifier: BSD-3-Clause */
/* A Citron whose clients at inner nodes say that somebody is there after they looked below. */
#define BREAK_CITRON_RAISED true
#define BREAK_PREFIX broken_citron_count_
#define CITRON_NAME "broken-citron-count"
#define CITRON_PROTOCOL lock_broken_citron_count
#include "broken_citron.h"
