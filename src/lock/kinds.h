/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of lock kinds. */
#ifndef CORE_KINDS_H
#define CORE_KINDS_H

#include "lock/lock.h"

/* index 0, 1, ...; NULL past the last one. */
const struct lock_protocol *kinds_get(int index);
/* By name, or NULL. */
const struct lock_protocol *kinds_find(const char *name);
/* All names, for messages: "d-mcs, rma-mcs, ...". */
const char *kinds_list(char *text, size_t len);
/* " (did you mean NAME?)" for a name of none, or "". */
const char *kinds_hint(const char *name, char *text, size_t len);

#endif
