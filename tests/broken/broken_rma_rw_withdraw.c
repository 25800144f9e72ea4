/* SPDX-License-Identifier: BSD-3-Clause */
/* An RMA-RW whose readers that give up count as those who were
 * in and left, at ticket counters. The tests have to catch it. */
#define readers_layout broken_readers_withdraw_layout
#define readers_ticket broken_readers_withdraw

#define RMA_RW_NAME "broken-rma-rw-withdraw"
#define RMA_RW_PROTOCOL lock_broken_rma_rw_withdraw
#include "lock/tree/rma_rw.c"
