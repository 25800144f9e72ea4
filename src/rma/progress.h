/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that drives the transport while the application computes; see progress.c. */
#ifndef RMA_PROGRESS_H
#define RMA_PROGRESS_H

#include <stdbool.h>

#include "rma/rma.h"

struct rma_progress;

/* Start it for r, whose segments have so many bytes and whose transport may be called by
 * several threads at a time. NULL if there is no memory for it, or no thread. */
struct rma_progress *rma_progress_start(struct rma *r, uint64_t bytes);

/* Stop it, which takes as long as it sleeps (some milliseconds), and free it. NULL is fine. */
void rma_progress_stop(struct rma_progress *p);

#endif
