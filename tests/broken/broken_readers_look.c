/* SPDX-License-Identifier: BSD-3-Clause */
/* The counters of broken_rma_rw_look.c. */
#define BREAK_RW_LOOK
#define readers_layout broken_readers_look_layout
#define readers_gate broken_readers_look

#include "lock/tree/readers.c"
#include "lock/tree/readers_gate.c"
