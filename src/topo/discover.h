/* SPDX-License-Identifier: BSD-3-Clause */
/* Topology by MPI and hwloc. */
#ifndef TOPO_DISCOVER_H
#define TOPO_DISCOVER_H

#include <mpi.h>

#include "topo/topo.h"

struct topo_request {
	const char *synthetic; /* option topology, or NULL: discover */
	const char *file;      /* option topology_file: lines "HOST GROUP [GROUP...]", or NULL */
	const char *groups;    /* option groups: "auto" (SLURM_TOPOLOGY_ADDR if set), "none",
				* "N" (every N nodes one group), or NULL for auto */
};

struct topo_job {
	struct topo *topo;
	MPI_Comm node_comm; /* the ranks of this rank's node, by the topology; ordered as comm */
	MPI_Comm host_comm; /* those of this rank's host, where a synthetic string made other nodes
			     * of them; else MPI_COMM_NULL, for node_comm is that */
	int host_ranks;     /* ranks of comm on this host (really, not by a synthetic string) */
	int host_cores;     /* cores those ranks may use together (affinity masks) */
	int one_host;       /* whether all of comm is on one host, really */
};

/* Collective over comm. 0, or -1 and a message in err; the result is equal on
 * all ranks (also the failure, and options that differ between ranks are one).
 * groups and topology_file exclude each other and topology. host_ranks and host_cores are those of
 * this rank's host. Gangs are added where ranks outnumber cores and no synthetic string was given
 * (a string may have its own "gang:N" level). */
int topo_discover(MPI_Comm comm, const struct topo_request *req, struct topo_job *job, char *err,
		  size_t errlen);
void topo_job_free(struct topo_job *job);

#endif
