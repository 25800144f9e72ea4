/* SPDX-License-Identifier: BSD-3-Clause */
/* A D-MCS whose release returns without having flushed the grant. */
#define BREAK_FLUSH_OF "grant"
#include "unflushed.h"

#define DMCS_NAME "broken-d-mcs-grant"
#define DMCS_PROTOCOL lock_broken_dmcs_grant
#include "lock/mcs/dmcs.c"
