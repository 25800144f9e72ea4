/* SPDX-License-Identifier: BSD-3-Clause */
/* A Citron whose clients above an old root do not wait for those who took it for the root. */
#define BREAK_CITRON_OLD true
#define BREAK_PREFIX broken_citron_old_
#define CITRON_NAME "broken-citron-old"
#define CITRON_PROTOCOL lock_broken_citron_old
#include "broken_citron.h"
