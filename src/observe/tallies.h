/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts and times by lock and call site, in memory of fixed size.
 *
 * There is a tally for each pair of a lock and a site, in a hash of sets of eight. If a set is
 * full, the pair that has waited least leaves it, and its tally is added to the rest of its site.
 * So the locks for which clients wait most stay, and sums by site are complete.
 */
#ifndef OBSERVE_TALLIES_H
#define OBSERVE_TALLIES_H

#include "observe/observe.h"

struct tally {
	uint64_t acquires, contended;
	uint64_t wait_ns, wait_most_ns; /* of the contended acquires */
	uint64_t hold_ns, hold_most_ns;
	uint64_t far;                    /* operations on other nodes */
	uint64_t handed[OBSERVE_LEVELS]; /* contended acquires, by where the lock came from */
	int64_t wait_rank, hold_rank;    /* of the longest wait, and hold; ranks of the table */
};

/* Return addresses of one process become module and offset, which are the same in all. */
struct site {
	const void *address;
	uint64_t offset;
	char module[240];
	struct tally rest;
};

struct lock_tally {
	uint64_t lock;
	int64_t site; /* index in sites; -1: the entry is free */
	struct tally tally;
};

enum { TALLY_SITES = 64, TALLY_WAYS = 8, TALLY_SETS = 128, TALLIES = TALLY_WAYS * TALLY_SETS };

struct tallies {
	int64_t n_sites;
	struct site sites[TALLY_SITES];
	struct lock_tally entry[TALLIES];
};

void tallies_clear(struct tallies *t);
/* The index of a site; the last one has all sites for which there is no room. */
int tallies_site(struct tallies *t, const void *address);
struct tally *tallies_find(struct tallies *t, uint64_t lock, int site);
void tally_add(struct tally *to, const struct tally *from);
/* Add from's locks first to first + n - 1, and lock extra, to another structure, with sites by
 * module and offset. everything: all locks, and the rests. */
void tallies_merge(struct tallies *to, const struct tallies *from, uint64_t first, uint64_t n,
		   uint64_t extra, bool everything);
/* Remove these locks. */
void tallies_remove(struct tallies *t, uint64_t first, uint64_t n, uint64_t extra);

/* sites.c: module and offset of an address; and "FUNCTION at FILE:LINE" for n sites, by the debug
 * information of their modules, or else "MODULE+OFFSET". */
void sites_locate(struct site *s);
enum { SITE_TEXT = 320 };
void sites_resolve(const struct site *sites, int n, char (*text)[SITE_TEXT]);

#endif
