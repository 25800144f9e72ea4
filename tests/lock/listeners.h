/* SPDX-License-Identifier: BSD-3-Clause */
/* What this process listens on. */
#ifndef TESTS_LISTENERS_H
#define TESTS_LISTENERS_H

#include <stdbool.h>

enum { MOST_LISTENERS = 100 };
struct listener {
	unsigned address; /* in network order */
	unsigned port;
	unsigned long inode;
};

/* Its sockets of TCP in state LISTEN; how many, up to MOST_LISTENERS. Addresses of IPv6 count as 0,
 * "any". */
int listeners_find(struct listener *l);
/* Whether it takes a connection from that address (0: any) within a moment; addresses in network
 * order. */
bool listener_takes(const struct listener *l, unsigned from);
bool listeners_have(const struct listener *l, int n, unsigned long inode);

#endif
