/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that drives the transport while the application computes; see progress.c. */
#ifndef RMA_PROGRESS_H
#define RMA_PROGRESS_H

#include <stdbool.h>

#include "rma/rma.h"

struct rma_progress;

/* Start the thread for r, whose own segment has this many bytes. The transport must allow calls
 * from several threads at a time. NULL: no memory, or no thread. */
struct rma_progress *rma_progress_start(struct rma *r, uint64_t bytes);

/* The thread does not look at r from here on, until it goes on with other segments of r, of this
 * many bytes. p may be NULL. */
void rma_progress_pause(struct rma_progress *p);
void rma_progress_go_on(struct rma_progress *p, uint64_t bytes);

/* Stop the thread, which takes as long as it sleeps (some milliseconds), and free it. p may be
 * NULL. */
void rma_progress_stop(struct rma_progress *p);

#endif
