/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of pawl-info share. */
#ifndef TOOLS_INFO_H
#define TOOLS_INFO_H

#include <mpi.h>
#include <pawl.h>
#include <stdio.h>

#include "rma/rma.h"
#include "topo/discover.h"
#include "traps.h"

/* The operations that are measured, each with its flush. */
enum info_op { OP_FETCH_ADD, OP_SWAP, OP_CAS, OP_PUT, OP_GET, OPS };

/* A path: two ranks, how near they are, and the domain of the word that is measured. */
struct info_path {
	const char *between; /* "core complex", "package", "node", "remote" */
	int from, to;
	enum rma_domain domain;
	const char *transport; /* "cpu" for NODE words, else the name in pawl_table_info */
	double ns[OPS];        /* medians */
	double asleep_ms;      /* time of an operation while the target slept */
	bool asynchronous;     /* the operation did not wait for the target */
};

/* A path for each class of pairs and each domain; and the windows of an application, by class. */
enum { INFO_PATHS = 8, INFO_WINDOWS = 4 };

struct info {
	struct job job;
	struct topo_job place;
	struct rma rma;
	bool networked;    /* there is a transport between nodes */
	char error[600];   /* why there are no windows, or "" */
	char atomics[256]; /* of its device, as in struct rma, or "" */
	int npaths;
	struct info_path path[INFO_PATHS];
	int nwindows;
	struct info_path window[INFO_WINDOWS];
	const char *no_windows; /* the trap because of which none was measured, or NULL */
	struct trap traps[MAX_TRAPS];
	int ntraps;
	int machines, ranks_per_cpu;
	double round_trip_ns; /* the longest of an atomic */
	bool unbound;         /* no rank is bound to a part of its machine */
};

/* describe.c: fill in the job. Collective; false: out of memory. */
bool info_describe(struct info *in, MPI_Comm comm);
void info_forget(struct info *in);

/* probe.c: choose the pairs, and measure. Collective. */
void info_probe(struct info *in, MPI_Comm comm);
/* The median time of an operation and its flush, in nanoseconds, measured by the origin; batch:
 * operations between two readings of the clock. */
double info_round_trip(void (*operate)(void *arg, enum info_op op), void *arg, enum info_op op,
		       int batch);
/* A barrier that drives the MPI, or yields the core. */
void info_meet(MPI_Comm comm, bool alert);

/* window.c: measure the same pairs on a window of MPI_Win_allocate, such as applications use,
 * unless a known trap makes it fail. Collective. */
void info_probe_windows(struct info *in, MPI_Comm comm);

/* show.c: the report, by rank 0. */
void info_show(FILE *out, const struct info *in);
void info_show_json(FILE *out, const struct info *in);

/* size.c: what a job of so many ranks needs, without one. 0, or -1 and a message. */
int info_show_size(FILE *out, int ranks, int per_node, uint64_t locks, char *err, size_t errlen);

#endif
