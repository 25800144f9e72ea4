/* SPDX-License-Identifier: BSD-3-Clause */
/* A Citron that tells where the new root is before the old one is shut. */
#define BREAK_CITRON_ORDER true
#define BREAK_PREFIX broken_citron_order_
#define CITRON_NAME "broken-citron-order"
#define CITRON_PROTOCOL lock_broken_citron_order
#include "broken_citron.h"
