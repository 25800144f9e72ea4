/* SPDX-License-Identifier: BSD-3-Clause */
/* What a workload is, and the list of them. */
#ifndef BENCH_WORKLOAD_H
#define BENCH_WORKLOAD_H

#include "benchmarks/harness/trial.h"

/* Properties of a workload. */
enum workload_flag {
	W_BY_ITSELF = 1 << 0,    /* it has its own data and iterations (dht) */
	W_CDF = 1 << 1,          /* the results have the distribution of its latencies */
	W_DEALT = 1 << 2,        /* nodes have equal pieces of its locks */
	W_FIXED = 1 << 3,        /* --fw and --zipf do not change it */
	W_TRANSACTIONS = 1 << 4, /* it acquires several locks at a time, and counts that as one */
	W_NEAR_AND_FAR = 1 << 5, /* its locks are distributed and drawn by node (locktable.c) */
	W_RANGES = 1 << 6,       /* for kinds with PAWL_CAP_RANGES only */
	W_LENGTHS = 1 << 7,      /* ranges whose lengths are drawn by --length */
	W_FILES = 1 << 8,        /* ranges of files that are spread over all ranks */
	W_FRESH = 1 << 9,        /* each repetition creates its table anew, without verification */
	W_TIMELINE = 1 << 10,    /* the results have the acquires over time */
	W_GROWS = 1 << 11,       /* its spaces grow, if a kind can do that */
	W_COMPUTED = 1 << 12,    /* no lock is acquired; for pseudo locks */
	W_FREE_ANYWHERE = 1 << 13, /* its pseudo locks run on several nodes, too */
	W_OPTIMISTIC = 1 << 14,    /* for kinds with PAWL_CAP_OPTIMISTIC only */
	W_PACED = 1 << 15          /* --section, --think, --burst and --rest change it */
};

struct workload {
	const char *name, *summary;
	unsigned flags; /* of enum workload_flag */
	void (*run)(struct trial *t);
	uint64_t n;                /* locks, unless --locks says */
	double fw, zipf;           /* unless --fw and --zipf say */
	uint64_t space;            /* units, unless --space says */
	const char *reference;     /* ratios are to this one, unless --reference says; or NULL */
	int held;                  /* locks that a rank holds at a time; 0: as the library has it */
	const char *const *series; /* names of times of its own, up to NULL; or NULL */
	const char *rows;          /* the name of its own table, or NULL; and its columns: */
	const char *columns[MAX_COLUMNS + 1]; /* up to NULL */
	/* Allocate and free what it needs besides a table, before and after the loops; NULL:
	 * nothing. Collective. open: BENCH_OK, or BENCH_USAGE with a message in why. */
	int (*open)(struct trial *t, char *why, size_t whylen);
	void (*close)(struct trial *t);
	uint64_t (*units)(const struct settings *s); /* of each space; NULL: --space */
};

static inline bool workload_is(const struct workload *w, enum workload_flag flag)
{
	return w->flags & flag;
}

extern const struct workload workloads[];
const struct workload *workload_find(const char *name, size_t len);

#endif
