/* SPDX-License-Identifier: BSD-3-Clause */
/* A Citron that does not look where the root is when it has the units behind the tree. */
#define BREAK_CITRON_SPILL true
#define BREAK_PREFIX broken_citron_spill_
#define CITRON_NAME "broken-citron-spill"
#define CITRON_PROTOCOL lock_broken_citron_spill
#include "broken_citron.h"
