/* SPDX-License-Identifier: BSD-3-Clause */
/* A Citron that recovers to a copy that was used before. */
#define BREAK_CITRON_COPY true
#define BREAK_PREFIX broken_citron_copy_
#define CITRON_NAME "broken-citron-copy"
#define CITRON_PROTOCOL lock_broken_citron_copy
#include "broken_citron.h"
