/* SPDX-License-Identifier: BSD-3-Clause */
/* A D-MCS that waits without having flushed its link to the predecessor. */
#define BREAK_FLUSH_OF "link"
#include "unflushed.h"

#define DMCS_NAME "broken-d-mcs-link"
#define DMCS_PROTOCOL lock_broken_dmcs_link
#include "lock/mcs/dmcs.c"
