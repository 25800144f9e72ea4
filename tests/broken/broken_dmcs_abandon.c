/* SPDX-License-Identifier: BSD-3-Clause */
/* A D-MCS whose waiter abandons its place by a look and a put: a grant between them is lost. */
#define BREAK_MCS_ABANDON
#define DMCS_NAME "broken-d-mcs-abandon"
#define DMCS_PROTOCOL lock_broken_dmcs_abandon
#include "lock/mcs/dmcs.c"
