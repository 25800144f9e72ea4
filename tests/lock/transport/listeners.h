/* SPDX-License-Identifier: BSD-3-Clause */
/* The ports on which this process listens. */
#ifndef TESTS_LISTENERS_H
#define TESTS_LISTENERS_H

#include <stdbool.h>

enum { MOST_LISTENERS = 100 };
struct listener {
	unsigned address; /* in network order */
	unsigned port;
	unsigned long inode;
};

/* Fill in its TCP sockets in state LISTEN; returns their number, up to MOST_LISTENERS. An IPv6
 * address is given as 0, "any". */
int listeners_find(struct listener *l);
/* Whether it accepts a connection within a moment. */
bool listener_takes(const struct listener *l);
bool listeners_have(const struct listener *l, int n, unsigned long inode);

#endif
