/* SPDX-License-Identifier: BSD-3-Clause */
/* The layout of a table: a pure function of kind, topology and options. */
#ifndef TABLE_SPACE_H
#define TABLE_SPACE_H

#include "options/options.h"
#include "lock/lock.h"

/* The inputs. Homes are as the options say; the caller may set a map afterwards. */
void space_begin(struct lock_space *s, const struct lock_protocol *p, const struct topo *topo,
		 const struct options *o, uint64_t n);
/* The layout that follows: slots, and the words of the protocol. Sets the thread's error message.
 * Call space_free() also if it fails. */
int space_layout(struct lock_space *s);
void space_free(struct lock_space *s);

#endif
