/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of kinds of libpawl. Programs with baselines have baselines/list.c in its place. */
#include "lock/list.h"

#include "lock/kinds.h"

LIBRARY_KINDS(KIND_DECLARE)

const struct lock_protocol *const lock_kinds[] = {LIBRARY_KINDS(KIND_ADDRESS) NULL};
KINDS_PUBLIC;
