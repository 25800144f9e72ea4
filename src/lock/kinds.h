/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of lock of a library or program. */
#ifndef LOCK_KINDS_H
#define LOCK_KINDS_H

#include "lock/lock.h"

/* All of them, and NULL at the end: src/lock/list.c or, with those to compare with,
 * baselines/list.c. */
extern const struct lock_protocol *const lock_kinds[];
/* What a program is told of each: room for pawl_kind_get(), filled in by it. */
struct kind_told {
	struct pawl_kind kind;
	char options[160];
};
extern struct kind_told lock_kinds_told[];
#define KINDS_TOLD struct kind_told lock_kinds_told[sizeof lock_kinds / sizeof lock_kinds[0]]
#define KIND_DECLARE(protocol) extern const struct lock_protocol protocol;
#define KIND_ADDRESS(protocol) &protocol,

/* index 0, 1, ...; NULL past the last one. */
const struct lock_protocol *kinds_get(int index);
/* By name, or NULL. */
const struct lock_protocol *kinds_find(const char *name);
/* As a program is told of it: with the names of its options. */
const struct pawl_kind *kinds_tell(const struct lock_protocol *p);
/* All names, for messages: "d-mcs, rma-mcs, ...". */
const char *kinds_list(char *text, size_t len);
/* " (did you mean NAME?)" for a name of none, or "". */
const char *kinds_hint(const char *name, char *text, size_t len);

#endif
