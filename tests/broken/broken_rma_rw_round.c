/* SPDX-License-Identifier: BSD-3-Clause */
/* An RMA-RW whose gates count modulo 4, however many closings
 * are undone in a row. The tests have to catch it. */
#define readers_layout broken_readers_round_layout
#define readers_ticket broken_readers_round

#define RMA_RW_NAME "broken-rma-rw-round"
#define RMA_RW_PROTOCOL lock_broken_rma_rw_round
#include "lock/tree/rma_rw.c"
