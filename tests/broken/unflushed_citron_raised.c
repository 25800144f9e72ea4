/* SPDX-License-Identifier: BSD-3-Clause */
/* A Citron that looks below before it is known to be there. */
#define BREAK_FLUSH_OF "raised"
#include "unflushed.h"

#define CITRON_NAME "broken-citron-raised"
#define CITRON_PROTOCOL lock_broken_citron_raised
#define BREAK_PREFIX broken_citron_raised_
#include "broken_citron.h"
