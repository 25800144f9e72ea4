/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The network between the nodes of a machine: the links that a message takes. SimGrid's platforms
 * and routing determine them (network.cpp); machine.c counts the time on the links.
 */
#ifndef SIM_NETWORK_H
#define SIM_NETWORK_H

#include <stddef.h>

#include "sim/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

enum network_shape { NETWORK_NONE, NETWORK_DRAGONFLY, NETWORK_FAT_TREE, NETWORK_FILE };

struct network_plan {
	enum network_shape shape;
	/* "GROUPS,LINKS;CHASSIS,LINKS;ROUTERS,LINKS;NODES", "LEVELS;DOWN,..;UP,..;LINKS,..",
	 * or the path of a SimGrid platform. */
	char text[160];
	sim_time link; /* latency of each link; a file has its own */
};

/* Call it before engine_run(), which builds the network. False: the text is not such a plan; err
 * has the message. */
bool network_choose(const struct network_plan *plan, char *err, size_t errlen);

/* While the engine runs: the number of nodes in the network (0: there is none), and of links. */
int network_nodes(void);
int network_links(void);

struct network_route {
	int links;
	const int *link;         /* in the order in which a message takes them */
	const sim_time *latency; /* of each */
	sim_time all;            /* the sum */
};
/* The route from one node to another. Kept after the first call. */
const struct network_route *network_find(int from, int to);

#ifdef __cplusplus
}
#endif

#endif
