/* SPDX-License-Identifier: BSD-3-Clause */
/* Timing of a machine that a file describes; see machine.c, and pawl-sim(1) for the file. */
#ifndef SIM_MACHINE_H
#define SIM_MACHINE_H

#include "sim/network/network.h"
#include "sim/sim.h"

enum machine_op { MACHINE_PUT, MACHINE_GET, MACHINE_ATOMIC, MACHINE_OPS };

/* Where a cache line was before, as seen by the client that accesses it: with a rank of the same
 * element of a level, by enum topo_type; with the client itself; or in memory. */
enum { MACHINE_OWN = TOPO_GANG + 1, MACHINE_MEMORY, MACHINE_PLACES };

/* A server that answers requests by messages (servers.c); all in picoseconds. */
struct machine_server {
	int threads;      /* 0: the machine has none */
	sim_time request; /* to receive a request and to answer it */
	/* A call of the structure of it, llc and mt: [0] in any case, and [1] for each doubling of
	 * the held ranges (it, mt), or for each held range (llc). */
	sim_time it[2], llc[2], mt[2];
};

struct machine {
	char summary[160], topology[160];
	int ranks; /* unless the command says otherwise */
	/* All in picoseconds. */
	sim_time read[MACHINE_PLACES], write[MACHINE_PLACES]; /* of a cache line */
	sim_time look;                                        /* between two looks at a word */
	sim_time send, gap;                                   /* of a rank; of its NIC */
	sim_time latency[TOPO_GANG + 1]; /* one way; [TOPO_NODE] to the own node */
	sim_time serve[MACHINE_OPS];     /* of the target's NIC */
	sim_time same_word, loopback;    /* added for atomics on one word; for the own node */
	sim_time backlog;                /* added for each waiting message of the own node */
	sim_time extra[MACHINE_OPS];     /* added to the time of the answer */
	bool half_duplex;                /* one engine of a NIC sends and serves */
	bool ordered;                    /* operations of a rank on another keep their order */
	double jitter;                   /* of latencies, as a fraction */
	struct network_plan network;     /* between nodes; adds latency by route */
	sim_time link_gap;               /* of each of the network's links */
	struct machine_server server;
};

/* False: err has the message. */
bool machine_read(struct machine *m, const char *path, char *err, size_t errlen);
/* The same, from an open file; path: its name in messages. */
bool machine_read_from(struct machine *m, FILE *in, const char *path, char *err, size_t errlen);

/* sim_request.timing_state: a machine and the state of its NICs in one world. */
struct machine_state;
/* NULL: no memory. */
struct machine_state *machine_start(const struct machine *m, int nodes);
void machine_end(struct machine_state *s);
extern const struct sim_timing machine_timing;
const struct machine *machine_of(const struct sim_world *w);

/* A message from a rank to another, whose NIC it occupies like a put. */
struct machine_message {
	struct sim_world *world;
	int from, to;
	void (*arrived)(void *arg);
	void *arg;
};
/* The message leaves now, or when the NIC is free. It must exist until it has arrived. */
void machine_send(struct machine_message *m);

/* servers.c: the servers of a world whose timing is machine_timing. */
struct server_carrier;
extern const struct server_carrier machine_servers;

#endif
