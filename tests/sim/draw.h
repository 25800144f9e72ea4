/* SPDX-License-Identifier: BSD-3-Clause */
/* A world drawn from a seed, and what its ranks do; see draw.c. */
#ifndef TESTS_SIM_DRAW_H
#define TESTS_SIM_DRAW_H

#include "sim/adversary.h"

struct draw {
	struct sim_request request;
	struct options options;
	struct adversary adversary;
	int attempts;        /* of each rank, */
	bool until_all_done; /* or more, until all have that many */
	int lagging;         /* ranks that do not have that many yet */
	bool victim_may_lag; /* the adversary's victim need not have that many */
	int writers;         /* per cent of acquires */
	int sharers;         /* of the others, if the kind has intents */
	int tries, timed;    /* per cent of acquires, if the kind has them */
	int several;         /* per cent of sections in which a rank acquires a second lock */
	int many;            /* per cent of attempts at several locks at once */
	int requests;        /* per cent of acquires that are requests */
	int reads;           /* per cent of attempts that read without the lock */
	int forgets;         /* per mille of sections whose lock is forgotten */
	int deaths;          /* ranks that die */
	uint64_t within;     /* an operation of a rank fails, within so many */
	uint64_t naps; /* ranks are stopped for several leases, after at most this many accesses */
	int sleeps;    /* per mille of sections that outlast their lease */
	bool suspends; /* in some of these the clock of the rank stands still */
	uint64_t inside, away; /* the longest section and the longest pause, in nanoseconds, */
	uint64_t outstay;      /* and the shortest section that outlasts a lease */
	int leaves; /* per cent of the requests that do not wait for their locks: left to a thread
		     */
	int beside; /* per cent of the tests of a request with another call before them */
	bool wide;  /* a topology of up to WIDE_NODES nodes */
	enum limits limits;
	char topology[64];
	char text[300]; /* a description, for output */
};

/* The worlds that are drawn: all; wide ones only; or those of so many nodes and ranks a node. */
struct draw_size {
	bool wide;
	int nodes, cores; /* 0: drawn */
};

/* False, with the thread's error: the kind cannot be simulated. */
bool draw(struct draw *d, const struct lock_protocol *p, uint64_t seed,
	  const struct draw_size *size);

/* features.c: what worlds have had, by feature. Worlds are small and mostly alike, so a part of a
 * protocol that only rare worlds reach may never run; a feature that no world of a kind had is a
 * failure of the test. */
enum { FEATURES = 23 };
struct features {
	uint64_t worlds[FEATURES];
};
void features_add(struct features *f, const struct draw *d, const struct sim_world *w);
/* The first feature that no world had although the kind can have it; NULL: there is none. */
const char *features_missing(const struct features *f, const struct lock_protocol *p);
/* A line of the table for each kind, and its head (p is NULL). */
void features_print(const struct features *f, const struct lock_protocol *p);

#endif
