/* SPDX-License-Identifier: BSD-3-Clause */
/* NET words through UCX; see transport.c. */
#ifndef RMA_UCX_UCX_H
#define RMA_UCX_UCX_H

#include "rma/memory/segments.h"

/* File descriptors of a process and table over TCP: those of its three workers, with one interface
 * (6 more for each further one), and for each other rank a connection in each direction. */
enum { UCX_OWN_DESCRIPTORS = 15, UCX_PEER_DESCRIPTORS = 2 };

/* Collective: open the segments in r->map to all ranks. If that fails, it fails on all ranks, err
 * has the message, and r is unchanged. */
enum rma_failure ucx_open(struct rma *r, const struct rma_request *q, char *err, size_t errlen);

#endif
