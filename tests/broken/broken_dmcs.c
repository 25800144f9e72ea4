/* SPDX-License-Identifier: BSD-3-Clause */
/* A D-MCS that does not wait for its predecessor once in a hundred contended
 * acquires. The tests have to catch it. */
static _Thread_local unsigned broken_turn;

#define BREAK_DMCS_WAIT (++broken_turn % 100 == 0)
#define DMCS_NAME "broken-d-mcs"
#define DMCS_PROTOCOL lock_broken_dmcs
#include "locks/dmcs.c"
