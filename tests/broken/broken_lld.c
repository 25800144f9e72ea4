/* SPDX-License-Identifier: BSD-3-Clause */
/* A list whose clients pass over a range that overlaps once in 16 acquires. The tests
 * have to catch it. */
#define BREAK_LLD_WAIT
#define LLD_NAME "broken-lld"
#define LLD_PROTOCOL lock_broken_lld
#include "baselines/lld.c"
