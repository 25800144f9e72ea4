/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of lock that a library or program has. */
#ifndef LOCK_KINDS_H
#define LOCK_KINDS_H

#include "lock/lock.h"

/* The kinds, and NULL at the end: src/lock/list.c or, in programs with the baselines,
 * baselines/list.c. */
extern const struct lock_protocol *const lock_kinds[];
/* The public description of each kind; pawl_kind_get() fills it in. */
struct kind_public {
	struct pawl_kind kind;
	char options[160];
};
extern struct kind_public lock_kinds_public[];
#define KINDS_PUBLIC struct kind_public lock_kinds_public[sizeof lock_kinds / sizeof lock_kinds[0]]
#define KIND_DECLARE(protocol) extern const struct lock_protocol protocol;
#define KIND_ADDRESS(protocol) &protocol,

/* The kind with this index, from 0; NULL past the last one. */
const struct lock_protocol *kinds_get(int index);
/* The kind with this name, or NULL. */
const struct lock_protocol *kinds_find(const char *name);
/* The name of the kind that a table gets: the default one for NULL and "auto". */
const char *kinds_name(const char *name);
/* The public description of p, with the names of its options. */
const struct pawl_kind *kinds_public(const struct lock_protocol *p);
/* The names of all kinds, for messages: "d-mcs, rma-mcs, ...". */
const char *kinds_list(char *text, size_t len);
/* " (did you mean NAME?)" if a kind has a similar name, else "". */
const char *kinds_hint(const char *name, char *text, size_t len);

#endif
