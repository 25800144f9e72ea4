/* SPDX-License-Identifier: BSD-3-Clause */
/* The counters of broken_rma_rw_look.c. */
#define BREAK_RW_LOOK
#define readers_layout broken_readers_look_layout
#define readers_gate broken_readers_look

#include "locks/readers.c"
#include "locks/readers_gate.c"
