/* SPDX-License-Identifier: BSD-3-Clause */
/* A D-MCS whose holder looks for a successor, and then says that it has left: not in one swap. */
#define BREAK_POSTED_SWAP
#define DMCS_NAME "broken-d-mcs-swap"
#define DMCS_PROTOCOL lock_broken_dmcs_swap
#include "lock/mcs/dmcs.c"
