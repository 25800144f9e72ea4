/* SPDX-License-Identifier: BSD-3-Clause */
/* A Citron in which a client takes what it gets, however long ago it looked at the root. */
#define BREAK_CITRON_LATE true
#define BREAK_PREFIX broken_citron_late_
#define CITRON_NAME "broken-citron-late"
#define CITRON_PROTOCOL lock_broken_citron_late
#include "broken_citron.h"
