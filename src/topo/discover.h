/* SPDX-License-Identifier: BSD-3-Clause */
/* Discover the topology through MPI and hwloc. */
#ifndef TOPO_DISCOVER_H
#define TOPO_DISCOVER_H

#include <mpi.h>
#include <stdbool.h>

#include "topo/topo.h"

struct topo_request {
	const char *synthetic; /* option topology, or NULL: discover */
	const char *file;      /* option topology_file: lines "HOST GROUP [GROUP...]", or NULL */
	const char *groups;    /* option groups: "auto" (SLURM_TOPOLOGY_ADDR if set), "none",
				* "N" (N nodes to a group), or NULL for auto */
	const char *trouble; /* a failure of the caller on this rank, to be told to all; or NULL */
	int failure;         /* TOPO_*, of which kind that is */
};

struct topo_job {
	struct topo *topo; /* its arrays are in memory that the ranks of a host share */
	MPI_Win win;       /* that memory; or MPI_WIN_NULL: ... */
	void *memory;      /* ... a few ranks have copies of their own */
	MPI_Comm comm;     /* a duplicate of the caller's, whose errors return */
	MPI_Comm
	    node_comm; /* the ranks of this rank's node in the topology, in the order of comm */
	MPI_Comm host_comm; /* the ranks of this rank's host, if a synthetic string divides it into
			     * nodes; else MPI_COMM_NULL: the same as node_comm */
	MPI_Comm leaders;   /* the first ranks of all hosts, on these; else MPI_COMM_NULL */
	int host_ranks;     /* ranks of comm on this host, whatever a synthetic string says */
	int host_cores;     /* cores that these ranks may use together (affinity masks) */
	int one_host;       /* whether all of comm runs on one host */
	/* No table has used it yet; so the first rank of a host still knows the memory of its
	 * tables that is not touched, and whether the ranks share no folder of shared memory. */
	bool is_new;
	uint64_t untouched;
	bool apart;
	char warning[256]; /* about the first host that is taken as flat; empty: there is none */
};

/* Collective over comm, with the same options on all ranks. Returns 0, or a failure and a message
 * in err; the result is the same on all ranks. TOPO_OPTIONS: the options do not fit the job; groups
 * and topology_file exclude each other and topology. TOPO_APART: the ranks of a host share no
 * memory. What a machine does not tell is no failure: its ranks are then one flat node, and
 * job->warning says why on all ranks. host_ranks and host_cores are those of this rank's host. If
 * ranks outnumber cores, gangs are added, but not to a synthetic string, which may have a level
 * "gang:N".
 *
 * The first rank of each host builds the tree, and the ranks of the host share it: a rank keeps
 * nothing that grows with the number of ranks, and a host 4 (3 levels + 3) bytes a rank of comm. */
enum { TOPO_OPTIONS = -1, TOPO_NO_MEMORY = -2, TOPO_MPI = -3, TOPO_APART = -4 };
int topo_discover(MPI_Comm comm, const struct topo_request *req, struct topo_job *job, char *err,
		  size_t errlen);
/* Collective. forget, in its place after MPI has ended, is local. */
void topo_job_free(struct topo_job *job);
void topo_job_forget(struct topo_job *job);

/* Whether the options are the same on all ranks: 0, or the failure and a message. Collective. */
int topo_compare_options(MPI_Comm comm, const struct topo_request *req, char *err, size_t errlen);

/* Up to so many ranks have copies of the tree, without a window: 256. Tests set 0. */
extern int topo_few_ranks;

#endif
