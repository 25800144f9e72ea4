/* SPDX-License-Identifier: BSD-3-Clause */
/* Timing by an adversary; see adversary.c. */
#ifndef SIM_ADVERSARY_H
#define SIM_ADVERSARY_H

#include "sim/sim.h"

struct adversary {
	int quick;  /* percentage of accesses that take no time */
	int hold;   /* percentage of operations that wait for their flush */
	int late;   /* percentage of operations and answers that take long */
	int stall;  /* per mille of accesses before which a rank stops for long */
	bool dozes; /* a client that polls looks rarely, because waits are long */
	int slow;   /* a call that takes long more often; -1: none */
	int victim; /* a rank that stops ten times as often; -1: none */
	int torn;   /* percentage of atomics by an adapter that write a while after they read */
};

void adversary_draw(struct adversary *a, uint64_t *random);

/* sim_request.timing_state is a struct adversary. */
extern const struct sim_timing adversary_timing;

#endif
