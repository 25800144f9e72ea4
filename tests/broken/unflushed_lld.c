/* SPDX-License-Identifier: BSD-3-Clause */
/* A list whose clients link a node without having flushed the node's own link. */
#define BREAK_FLUSH_OF "own"
#include "unflushed.h"

#define LLD_NAME "broken-lld-link"
#define LLD_PROTOCOL lock_broken_lld_link
#include "baselines/lld.c"
