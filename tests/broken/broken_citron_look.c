/* SPDX-License-Identifier: BSD-3-Clause */
/* A Citron whose fast path looks above in the round trip of its announcements, and not after it. */
#define BREAK_CITRON_LOOK true
#define BREAK_PREFIX broken_citron_look_
#define CITRON_NAME "broken-citron-look"
#define CITRON_PROTOCOL lock_broken_citron_look
#include "broken_citron.h"
