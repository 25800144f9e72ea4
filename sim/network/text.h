/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of a network that SimGrid's clusters are built from; see text.c. */
#ifndef SIM_NETWORK_TEXT_H
#define SIM_NETWORK_TEXT_H

#include <stdbool.h>

#include "sim/network/network.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of any number, of nodes, and of links. */
enum {
	NETWORK_MOST = 1 << 16,
	NETWORK_MOST_NODES = 1 << 14,
	NETWORK_MOST_LINKS = 1 << 18,
};
enum { NETWORK_PARTS = 4, NETWORK_NUMBERS = sizeof((struct network_plan *)0)->text / 2 };

struct network_numbers {
	int count[NETWORK_PARTS];
	unsigned number[NETWORK_PARTS][NETWORK_NUMBERS];
};

/* The numbers of a dragonfly or a fat tree. False: it is none that can be built, and err has the
 * sentence. */
bool network_read(const struct network_plan *plan, struct network_numbers *n, char *err,
		  size_t errlen);

#ifdef __cplusplus
}
#endif

#endif
