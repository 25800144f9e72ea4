/* SPDX-License-Identifier: BSD-3-Clause */
/* The counters of broken_rma_rw_withdraw.c. */
#define BREAK_RW_WITHDRAW
#define readers_layout broken_readers_withdraw_layout
#define readers_ticket broken_readers_withdraw

#include "lock/tree/readers.c"
#include "lock/tree/readers_ticket.c"
