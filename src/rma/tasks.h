/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks of one rank of a table for another, for the layers: a thread of the other rank performs
 * them, whatever that rank does meanwhile. A task and its result are bytes, whose meaning is the
 * layer's.
 *
 * A task is performed once, before it is answered. Several ones of a rank may be on their way, and
 * may overtake each other; one that is issued after the answer to another one is performed after
 * it.
 */
#ifndef RMA_TASKS_H
#define RMA_TASKS_H

#include <stddef.h>
#include <stdint.h>

/* The most bytes of a task and of its result, multiples of 8, so that a message of UCX over TCP has
 * a task in one piece (8 KiB); and the most tasks of a rank that may be on their way to another
 * one.
 */
enum { RMA_TASK_BYTES = 7936, RMA_RESULT_BYTES = 7936, RMA_TASKS_MOST = 32 };

struct rma_task {
	const void *bytes;
	size_t length;
	int64_t *result; /* of so many words; written before the answer is known */
	size_t words;
};

/* Perform a task of another rank; result has room for RMA_RESULT_BYTES. Returns the words that it
 * has, as many as the other rank waits for, all of them written. The thread may not call the MPI.
 */
typedef int rma_serve(void *arg, int from, const void *bytes, size_t length, int64_t *result);

#endif
