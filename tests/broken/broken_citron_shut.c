/* SPDX-License-Identifier: BSD-3-Clause */
/* A Citron whose clients do not see that the root has moved. */
#define BREAK_CITRON_SHUT true
#define BREAK_PREFIX broken_citron_shut_
#define CITRON_NAME "broken-citron-shut"
#define CITRON_PROTOCOL lock_broken_citron_shut
#include "broken_citron.h"
