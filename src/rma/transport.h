/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A transport performs the operations on words that this process does not perform by CPU.
 *
 * Asynchrony. An operation is complete, and its result valid, only after a flush of its target.
 * Until then operations may take effect in any order, unless the transport is ordered. The
 * transport copies operands; a result buffer must stay in place until the flush.
 *
 * Failures. With a transport that can fail, put, get, acc, fao, cas, flush, flush_all, progress,
 * await and pause may not return: when an operation fails, because its target has died or the MPI
 * reports an error, or when a wait has become hopeless (rma_is_hopeless()), they leave by longjmp()
 * to the client's on_loss point, if it is set (client/guard.c).
 * The protocol stops where it is, and its operations may still take effect. So a caller must hold
 * nothing that the guard does not know of, and locals that are read after the guard are volatile or
 * unchanged. Without on_loss, a failed operation leaves its result undefined. A transport that
 * cannot fail always returns.
 *
 * State. A transport keeps its own state in rma.state, for each process, and in rma_own(), for each
 * client.
 */
#ifndef RMA_TRANSPORT_H
#define RMA_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "rma/tasks.h"
#include "rma/word.h"

enum rma_op { RMA_REPLACE, RMA_SUM, RMA_OR, RMA_AND };

/* Fetch and op by CPU, on a word that this process maps. */
RMA_INLINE int64_t rma_fetch_by_cpu(_Atomic(int64_t) *word, enum rma_op op, int64_t value)
{
	switch (op) {
	case RMA_REPLACE:
		return atomic_exchange_explicit(word, value, memory_order_seq_cst);
	case RMA_OR:
		return atomic_fetch_or_explicit(word, value, memory_order_seq_cst);
	case RMA_AND:
		return atomic_fetch_and_explicit(word, value, memory_order_seq_cst);
	case RMA_SUM:
		break;
	}
	return atomic_fetch_add_explicit(word, value, memory_order_seq_cst);
}
enum rma_cond { RMA_EQ, RMA_NE };

struct rma;
struct rma_client;

enum { RMA_ORDERED = 64 };

/* What a transport can do. Code outside src/rma reads these and does not ask which transport it
 * is. */
struct rma_capabilities {
	bool can_fail;  /* an operation or a flush may not return (see above) */
	bool by_mpi;    /* ... because of an error of the MPI, and not of the death of a rank */
	bool is_served; /* other ranks' operations are performed at any time, by a thread or a
			   device */
	bool wakes; /* ... by a thread, which wakes the clients that sleep on words it changes */
	bool posts; /* rma_post() may return true */
	/* Up to RMA_ORDERED operations of a client on one rank since its last flush take effect in
	 * the order of issue. */
	bool ordered;
};

/* What a transport provides for words that are not mapped NODE words. The transport of tables with
 * NODE words only has a name and progress, and nothing else. The simulator's virtual ranks map
 * nothing, so their transport performs operations on NODE words, too: these are atomic, complete on
 * return, and need no flush. */
struct rma_transport {
	const char *name;
	struct rma_capabilities can;
	void (*put)(struct rma_client *c, struct rma_word w, int64_t value);
	void (*get)(struct rma_client *c, struct rma_word w, int64_t *result);
	void (*acc)(struct rma_client *c, struct rma_word w, int64_t value); /* SUM */
	void (*fao)(struct rma_client *c, struct rma_word w, enum rma_op op, int64_t value,
		    int64_t *result);
	void (*cas)(struct rma_client *c, struct rma_word w, int64_t expected, int64_t value,
		    int64_t *result);
	void (*flush)(struct rma_client *c, int rank);
	void (*flush_all)(struct rma_client *c);
	/* rma_post() and rma_answered(); NULL: the transport cannot post. */
	bool (*post)(struct rma_client *c, struct rma_word w);
	bool (*answered)(struct rma_client *c, const int64_t *result);
	/* Let the MPI progress: it performs other ranks' operations, and what the application has
	 * started. */
	void (*progress)(struct rma_client *c);
	/* In virtual time these replace loads, stores and waits; NULL on real machines. await is
	 * for words of the client's node and counts c->waits; pause is rma_pause(). */
	int64_t (*peek)(struct rma_client *c, struct rma_word w);
	void (*poke)(struct rma_client *c, struct rma_word w, int64_t value);
	bool (*await)(struct rma_client *c, struct rma_word w, int64_t mask, enum rma_cond cond,
		      int64_t ref, uint64_t deadline_ns, const char *what, int64_t *value);
	bool (*pause)(struct rma_client *c, uint64_t nanoseconds, uint64_t deadline_ns,
		      const char *what);
	/* In virtual time: rma_clock(). */
	uint64_t (*clock)(const struct rma_client *c);
	/* If a thread of the transport performs other ranks' operations: sleep for at most ns while
	 * a mapped NET word has this value; a change wakes the sleeper. NULL: only the thread that
	 * drives the transport sees a change. */
	void (*sleep)(struct rma_client *c, struct rma_word w, int64_t value, uint64_t ns);
	/* Read words of a rank that may not answer for long, because it computes. False: there is
	 * no answer at until_ns. NULL: an operation and a flush do not take long. */
	bool (*look)(struct rma_client *c, int rank, uint64_t offset, int64_t *to, unsigned words,
		     uint64_t until_ns);
	/* Tasks of one rank for another (tasks.h). task sends one, whose bytes it copies. answers
	 * returns when all are answered; false: some may have been performed or not, and c says
	 * why. serve: from now on fn performs those for this rank; false: it does not. NULL: the
	 * transport has none. */
	void (*task)(struct rma_client *c, int rank, const struct rma_task *task);
	bool (*answers)(struct rma_client *c);
	bool (*serve)(struct rma *r, rma_serve *fn, void *arg);
	/* The rest may be NULL. Collective: free everything that the transport has made. All ranks
	 * have completed their operations. */
	void (*close)(struct rma *r);
	/* Collective, within MPI_Finalize: free what the MPI must not find open at its end. */
	void (*finalize)(struct rma *r);
	/* Local, after MPI has ended or when the process is about to exit; may be called twice.
	 * Stops the transport's threads. The rest goes with the process. */
	void (*leave)(struct rma *r);
};

#endif
