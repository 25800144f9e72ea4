/* SPDX-License-Identifier: BSD-3-Clause */
/* Timing of a machine that a file describes; see machine.c, and pawl-sim(1) for the
 * file. */
#ifndef SIM_MACHINE_H
#define SIM_MACHINE_H

#include "sim/network.h"
#include "sim/sim.h"

enum machine_op { MACHINE_PUT, MACHINE_GET, MACHINE_ATOMIC, MACHINE_OPS };

/* Where a line was before, seen from the client that wants it: with somebody of the same
 * element of a level, by enum topo_kind; or there is no such somebody. */
enum { MACHINE_OWN = TOPO_GANG + 1, MACHINE_MEMORY, MACHINE_PLACES };

struct machine {
	char summary[160], topology[160];
	int ranks; /* if nobody says otherwise */
	/* All in picoseconds. */
	sim_time read[MACHINE_PLACES], write[MACHINE_PLACES]; /* of a cache line */
	sim_time look;                                        /* between two looks at a word */
	sim_time send, gap;                                   /* of a rank, and of its NIC */
	sim_time latency[TOPO_GANG + 1]; /* one way; [TOPO_NODE] to one's own node */
	sim_time serve[MACHINE_OPS];     /* of the target's NIC */
	sim_time same_word, loopback;    /* more for an atomic of one word; of one's own node, */
	sim_time backlog;                /* and for each message of one's own node that waits */
	sim_time extra[MACHINE_OPS];     /* more until the answer */
	bool half_duplex;                /* a NIC sends and serves with one engine */
	double jitter;                   /* of latencies, as a fraction */
	struct network_plan network;     /* between nodes; more latency by route */
	sim_time link_gap;               /* of each of its links */
};

/* False: err has the sentence. */
bool machine_read(struct machine *m, const char *path, char *err, size_t errlen);
/* The same of an open file; path: how the sentence calls it. */
bool machine_read_from(struct machine *m, FILE *in, const char *path, char *err, size_t errlen);

/* Its timing_state: a machine and the state of its NICs in one world. */
struct machine_state;
/* NULL: no memory. */
struct machine_state *machine_start(const struct machine *m, int nodes);
void machine_end(struct machine_state *s);
extern const struct sim_timing machine_timing;

#endif
