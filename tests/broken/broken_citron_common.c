/* SPDX-License-Identifier: BSD-3-Clause */
/* A Citron that waits at nodes above one that it holds, as the paper has it: a dead-lock with who
 * waits there for the node that is held. */
#define BREAK_CITRON_COMMON true
#define BREAK_PREFIX broken_citron_common_
#define CITRON_NAME "broken-citron-common"
#define CITRON_PROTOCOL lock_broken_citron_common
#include "broken_citron.h"
