/* SPDX-License-Identifier: BSD-3-Clause */
/* The layout of a table: a pure function of kind, topology and options. */
#ifndef TABLE_SETUP_H
#define TABLE_SETUP_H

#include "options/options.h"
#include "lock/lock.h"

/* The kind's protocol on such a topology. */
const struct lock_protocol *setup_protocol(const struct lock_protocol *p, const struct topo *topo);
/* The inputs. Homes are as the options say; the caller may set a map afterwards. */
void setup_begin(struct lock_setup *s, const struct lock_protocol *p, const struct topo *topo,
		 const struct options *o, uint64_t n);
/* The layout that follows: slots, and the words of the protocol. If the kind refuses the default of
 * max_held for so many ranks, it gets half of it, and so on. Sets the thread's error message. Call
 * setup_free() also if it fails. */
int setup_layout(struct lock_setup *s);
void setup_free(struct lock_setup *s);

#endif
