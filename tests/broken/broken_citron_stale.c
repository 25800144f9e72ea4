/* SPDX-License-Identifier: BSD-3-Clause */
/* A Citron in which a client whose look at the root is old looks once more, and does not ask how
 * long that took. */
#define BREAK_CITRON_STALE true
#define BREAK_PREFIX broken_citron_stale_
#define CITRON_NAME "broken-citron-stale"
#define CITRON_PROTOCOL lock_broken_citron_stale
#include "broken_citron.h"
