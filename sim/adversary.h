/* SPDX-License-Identifier: BSD-3-Clause */
/* Timing by an adversary; see adversary.c. */
#ifndef SIM_ADVERSARY_H
#define SIM_ADVERSARY_H

#include "sim/sim.h"

struct adversary {
	int quick;  /* per cent of accesses that take no time, */
	int hold;   /* of operations that wait for their flush, */
	int late;   /* and of operations and answers that take long */
	int stall;  /* per mille of accesses before which a rank stops for long */
	bool dozes; /* a client that polls looks seldom, since waits are long */
	int slow;   /* a kind of operation that takes long more often, or -1 */
	int victim; /* a rank that does ten times as often, or -1 */
};

void adversary_draw(struct adversary *a, uint64_t *random);

/* Its timing_state is a struct adversary. */
extern const struct sim_timing adversary_timing;

#endif
