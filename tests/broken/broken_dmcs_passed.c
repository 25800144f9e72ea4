/* SPDX-License-Identifier: BSD-3-Clause */
/* A D-MCS whose queue node serves again while its abandoned place is still in the queue. */
#define BREAK_MCS_PASSED
#define DMCS_NAME "broken-d-mcs-passed"
#define DMCS_PROTOCOL lock_broken_dmcs_passed
#include "lock/mcs/dmcs.c"
