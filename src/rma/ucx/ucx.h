/* SPDX-License-Identifier: BSD-3-Clause */
/* NET words through UCX; see transport.c. */
#ifndef RMA_UCX_UCX_H
#define RMA_UCX_UCX_H

#include "rma/memory/segments.h"

/* Collective: open the segments in r->map to all ranks. If that fails, it fails on all ranks, err
 * has the message, and r is unchanged. */
enum rma_failure ucx_open(struct rma *r, const struct rma_request *q, char *err, size_t errlen);

#endif
