/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The network between the nodes of a machine: which links a message takes. Built by
 * SimGrid's own platforms and routing (network.cpp); time on the links is counted by
 * machine.c.
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
	sim_time link; /* latency of each link, but those of a file, which says it itself */
};

/* Before engine_run(), which builds it. False: the text is no such plan, and err has the
 * sentence. */
bool network_choose(const struct network_plan *plan, char *err, size_t errlen);

/* From here on while the engine runs. Nodes of the network, 0 if there is none, and links. */
int network_nodes(void);
int network_links(void);

struct network_route {
	int links;
	const int *link;         /* in the order in which a message takes them */
	const sim_time *latency; /* of each */
	sim_time all;            /* of all of them */
};
/* From one node to another. Kept once it has been asked for. */
const struct network_route *network_find(int from, int to);

#ifdef __cplusplus
}
#endif

#endif
