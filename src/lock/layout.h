/* SPDX-License-Identifier: BSD-3-Clause */
/* For protocols that choose the layout of a table (struct lock_protocol). */
#ifndef LOCK_LAYOUT_H
#define LOCK_LAYOUT_H

#include "lock/setup.h"

/* Take room for locks times bytes in every segment, 64-byte aligned. Where that is more
 * than any address space has, s->bytes stays above LOCK_MOST_BYTES, and no table comes of it. */
#define LOCK_MOST_BYTES (UINT64_C(1) << 48)
uint64_t lock_reserve(struct lock_setup *s, uint64_t locks, uint64_t bytes);
/* Whether a word that counts so many clients at a lock will do; if not, err says so. */
bool lock_has_room(const struct lock_setup *s, uint64_t most, char *err, size_t errlen);
/* The same, of all slots of all ranks: kinds in which each may be at one word. */
bool lock_has_room_for_slots(const struct lock_setup *s, uint64_t most, char *err, size_t errlen);
/* So many bytes, zero at first, in s->state. NULL, and err says so: there is no memory. */
void *lock_constants(struct lock_setup *s, size_t bytes, char *err, size_t errlen);

#endif
