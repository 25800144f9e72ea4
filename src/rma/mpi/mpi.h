/* SPDX-License-Identifier: BSD-3-Clause */
/* NET words through the MPI; see transport.c. */
#ifndef RMA_MPI_MPI_H
#define RMA_MPI_MPI_H

#include "rma/memory/segments.h"

/* Collective: create a window over the segments in r->map of all ranks. The result is the same on
 * all ranks. On failure, too, r->transport frees what was made. */
enum rma_failure mpi_open(struct rma *r, const struct rma_request *q, char *err, size_t errlen);

/* Whether a window over the nodes would end the program; and what the user can do about windows,
 * after `what`. */
bool mpi_would_crash(bool one_host);
void mpi_tell_cure(const char *what, char *err, size_t errlen);

/* room.c: whether the MPI will have the shared memory that it takes by itself for a window over the
 * nodes; if not, err says so. Collective, with the same result on all ranks. */
bool mpi_has_room(const struct rma_request *q, char *err, size_t errlen);

#endif
