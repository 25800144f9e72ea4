/* SPDX-License-Identifier: BSD-3-Clause */
/* A Citron that opens a frozen space again in the era before, so that TOP has a value twice. */
#define BREAK_CITRON_ERA true
#define BREAK_PREFIX broken_citron_era_
#define CITRON_NAME "broken-citron-era"
#define CITRON_PROTOCOL lock_broken_citron_era
#include "broken_citron.h"
