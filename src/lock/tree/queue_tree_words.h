/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of the tree of queues, for queue_tree.c and queue_tree_layout.c. */
#ifndef LOCK_QUEUE_TREE_WORDS_H
#define LOCK_QUEUE_TREE_WORDS_H

#include <stdint.h>

enum { TAIL_OFFSET = 0, LINKS_OFFSET = 8, WORD_BYTES = 8 };
/* Of an element of level 2, at a rank of the element, where the root queue is posted. */
enum { ROOT_NEXT = 0, ROOT_STAY = 8, ROOT_BYTES = 16 };
_Static_assert(LINKS_OFFSET == TAIL_OFFSET + WORD_BYTES, "links follow the tail");

/* STATUS: in its low bits one of these, and above it the counts. Every grant differs from
 * STATUS_WAIT in its low bits, for futexes. */
enum { STATUS_WAIT = 0, STATUS_LOCKED = 1, STATUS_PARENT = 2, STATUS_REOPENED = 3 };
enum { STATUS_GRANT_BITS = 2, STATUS_GRANT_MASK = 3, STATUS_BITS = 63 };
/* STATUS of a slot that was withdrawn at a leaf and is no longer in the queue. */
#define STATUS_FREE INT64_C(-1)
/* Not a value of STATUS: this client has withdrawn, or has found the queue occupied. */
#define STATUS_NONE INT64_C(-2)

/* Flags of a link: its waiter may withdraw; the place was withdrawn, and the link has the member
 * instead of the slot. LINK_DONE: the element's place was passed over. */
#define LINK_TIMED (INT64_C(1) << 62)
#define LINK_AWAY (INT64_C(1) << 61)
#define LINK_FLAGS (LINK_TIMED | LINK_AWAY)
#define LINK_DONE INT64_C(-1)

/* A member of a root queue that is posted: the element, from 1 on, and above it the stay. It goes
 * along with a grant, and has to be below the flags of a link. */
enum { ROOT_ELEMENT_BITS = 24, ROOT_STAY_BITS = 36 };
_Static_assert((INT64_C(1) << (ROOT_ELEMENT_BITS + ROOT_STAY_BITS)) <= LINK_AWAY &&
		   ROOT_ELEMENT_BITS + ROOT_STAY_BITS + STATUS_GRANT_BITS < STATUS_BITS,
	       "a member fits into a link and into a grant");

#endif
