/* SPDX-License-Identifier: BSD-3-Clause */
/* A DrTM whose writers do not wait for the readers' lease to be over. The tests
 * have to catch it. */
#define BREAK_DRTM_LEASE lease_of(s)
#define DRTM_NAME "broken-drtm"
#define DRTM_PROTOCOL lock_broken_drtm
#include "baselines/drtm.c"
