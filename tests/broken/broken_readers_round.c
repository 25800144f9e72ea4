/* SPDX-License-Identifier: BSD-3-Clause */
/* The counters of broken_rma_rw_round.c. */
#define BREAK_RW_ROUND
#define readers_layout broken_readers_round_layout
#define readers_ticket broken_readers_round

#include "lock/tree/readers.c"
#include "lock/tree/readers_ticket.c"
