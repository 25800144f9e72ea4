/* SPDX-License-Identifier: BSD-3-Clause */
/* What a seed stands for: a small world, and what its ranks do; see draw.c. */
#ifndef TESTS_SIM_DRAW_H
#define TESTS_SIM_DRAW_H

#include "sim/adversary.h"

struct draw {
	struct sim_request request;
	struct options options;
	struct adversary adversary;
	int attempts;          /* of each rank, */
	bool until_all_done;   /* or more, until all have so many */
	int lagging;           /* how many have not */
	int writers;           /* per cent of acquires */
	int sharers;           /* of the others, if the kind has intents */
	int tries, timed;      /* per cent of acquires, if the kind has them */
	int several;           /* per cent of sections in which a rank acquires a second lock */
	int forgets;           /* per mille of sections whose lock is forgotten */
	int deaths;            /* ranks that die */
	uint64_t naps;         /* ranks are stopped for leases, after so many accesses at most */
	int sleeps;            /* per mille of sections that outlast their lease */
	uint64_t inside, away; /* at most so many nanoseconds in and between, */
	uint64_t outstay;      /* and at least so many in */
	char text[300];        /* for people */
};

/* False, and the thread's error: the kind cannot be simulated. */
bool draw(struct draw *d, const struct lock_protocol *p, uint64_t seed);

#endif
