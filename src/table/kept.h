/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tables of one communicator share: its duplicate, and the topology of its ranks. It is
 * made for the first table and freed with the last one; tables with other options for the topology
 * or for connections share another one.
 *
 * The communicator has an attribute that points to it. Tables are created and freed by collective
 * calls over the communicator, so all ranks find the same.
 */
#ifndef TABLE_KEPT_H
#define TABLE_KEPT_H

#include <mpi.h>
#include <stdbool.h>

#include "topo/discover.h"

struct kept {
	struct topo_job job;
	bool networked;      /* a table over it has had a network */
	void *network;       /* what the transport keeps for them; NULL: nothing */
	MPI_Comm of;         /* the program's communicator; MPI_COMM_NULL: it is freed */
	char *asked[3];      /* the options for the topology, */
	int64_t connections; /* and option connections */
	int tables;          /* that share it */
	struct kept *next;   /* of the same communicator, with other options */
};

/* The one for these options, which are the same on all ranks; made if there is none. Collective. 0,
 * or as topo_discover(). */
int kept_take(MPI_Comm comm, const struct topo_request *req, int64_t connections, struct kept **k,
	      char *err, size_t errlen);
/* A table does not need it any more. Collective with KEPT_FREE, else local: the MPI has ended, or
 * ranks have, and what the MPI has of it stays. */
enum kept_end { KEPT_FREE, KEPT_LEAVE, KEPT_ENDED };
void kept_leave(struct kept *k, enum kept_end end);

#endif
