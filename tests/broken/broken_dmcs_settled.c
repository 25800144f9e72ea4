/* SPDX-License-Identifier: BSD-3-Clause */
/* A D-MCS whose queue node serves again before a successor that got its id has been there. */
#define BREAK_POSTED_SETTLED
#define DMCS_NAME "broken-d-mcs-settled"
#define DMCS_PROTOCOL lock_broken_dmcs_settled
#include "lock/mcs/dmcs.c"
