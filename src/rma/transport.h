/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What carries operations on words that this process does not perform by CPU.
 *
 * Asynchrony. An operation is complete, and its result valid, only after a flush of its target;
 * until then operations may take effect in any order, unless the transport is ordered. Operands
 * are copied, results must stay where they are until the flush.
 *
 * Failures. With a transport that can fail, put, get, acc, fao, cas, flush, flush_all, progress,
 * await and pause may not return: where an operation on a rank that died fails, or a wait has
 * become hopeless, they leave by longjmp() to the client's escape, if that is set
 * (client/guard.c). The protocol is left where it stands, with operations that may yet take
 * effect. So a caller has nothing to release that the guard does not know, and locals that are
 * read after the guard are volatile or unchanged. Without an escape an operation that failed
 * leaves its result undefined. Those that cannot fail always return.
 *
 * State. What a transport keeps is its own: rma.state, of the process.
 */
#ifndef RMA_TRANSPORT_H
#define RMA_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "rma/word.h"

enum rma_op { RMA_REPLACE, RMA_SUM, RMA_OR, RMA_AND };

/* Fetch and op on a word that this process maps, by CPU. */
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

/* What a transport can. Nobody outside of it asks which one it is. */
struct rma_capabilities {
	bool can_fail;  /* an operation or a flush may not return: see above */
	bool is_served; /* a thread performs what others ask of this rank, whatever it does */
	bool posts;     /* rma_post() may be true */
	/* Up to RMA_OPERANDS operations of a client on one rank since its last flush take effect
	 * in the order of issue. */
	bool ordered;
};

/* What a transport provides, for words that are not mapped NODE words. One for
 * tables of NODE words only has but a name and progress. That of virtual ranks,
 * which map nothing, serves NODE words too: its operations on them are atomic,
 * complete on return, and go on with no flush. */
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
	/* rma_post() and rma_answered(); NULL where it cannot post. */
	bool (*post)(struct rma_client *c, struct rma_word w);
	bool (*answered)(struct rma_client *c, const int64_t *result);
	/* Let the MPI do what others, and the application, ask of this rank. */
	void (*progress)(struct rma_client *c);
	/* Virtual time replaces these five; NULL on real machines. await is for
	 * words of the client's node, and counts c->waits; pause is rma_pause(). */
	int64_t (*peek)(struct rma_client *c, struct rma_word w);
	void (*poke)(struct rma_client *c, struct rma_word w, int64_t value);
	bool (*await)(struct rma_client *c, struct rma_word w, int64_t mask, enum rma_cond cond,
		      int64_t ref, uint64_t deadline_ns, const char *what, int64_t *value);
	bool (*pause)(struct rma_client *c, uint64_t nanoseconds, uint64_t deadline_ns,
		      const char *what);
	/* And this one the clock of rma_clock(). */
	uint64_t (*clock)(const struct rma_client *c);
	/* Where a thread of the transport brings others' operations: sleep for at most ns
	 * while a mapped NET word has this value, and be woken when it changes. NULL: only
	 * the thread that drives the transport sees a change. */
	void (*sleep)(struct rma_client *c, struct rma_word w, int64_t value, uint64_t ns);
	/* Any of these is NULL where there is nothing to do. Collective: the end of all that it
	 * made, when all ranks are done with their operations. */
	void (*close)(struct rma *r);
	/* Collective, while MPI_Finalize runs: the end of what the MPI must not be left with. */
	void (*finalize)(struct rma *r);
	/* Local, once MPI has ended or the process is about to; it may come twice. The end of
	 * the transport's threads. What else there is goes with the process. */
	void (*leave)(struct rma *r);
};

#endif
