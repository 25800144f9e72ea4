/* SPDX-License-Identifier: BSD-3-Clause */
/* A Citron that recovers without waiting for leases to run out. */
#define BREAK_CITRON_WAIT true
#define BREAK_PREFIX broken_citron_wait_
#define CITRON_NAME "broken-citron-wait"
#define CITRON_PROTOCOL lock_broken_citron_wait
#include "broken_citron.h"
