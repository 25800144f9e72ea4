/* SPDX-License-Identifier: BSD-3-Clause */
/* An RMA-RW whose writers do not look for the readers that a closing which
 * was undone has left in a gate counter. The tests have to catch it. */
#define readers_layout broken_readers_look_layout
#define readers_gate broken_readers_look

#define RMA_RW_NAME "broken-rma-rw-look"
#define RMA_RW_PROTOCOL lock_broken_rma_rw_look
#include "lock/tree/rma_rw.c"
