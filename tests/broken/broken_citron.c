/* SPDX-License-Identifier: BSD-3-Clause */
/* A Citron whose clients at inner nodes do not wait for those below. */
#define BREAK_CITRON_DRAIN true
#define BREAK_PREFIX broken_citron_
#define CITRON_NAME "broken-citron"
#define CITRON_PROTOCOL lock_broken_citron
#include "broken_citron.h"
