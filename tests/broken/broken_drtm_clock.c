/* SPDX-License-Identifier: BSD-3-Clause */
/* A DrTM whose writers trust their clock. Only where clocks differ does that show, so it
 * takes the simulator to catch it. */
#define BREAK_DRTM_CLOCK
#define DRTM_NAME "broken-drtm-clock"
#define DRTM_PROTOCOL lock_broken_drtm_clock
#include "baselines/drtm.c"
