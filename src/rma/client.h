/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of operations: a process's view of the segments of a table, and its clients. */
#ifndef RMA_CLIENT_H
#define RMA_CLIENT_H

#include <setjmp.h>

#include "rma/transport.h"

/* Kinds of operations in the statistics. */
enum rma_call { RMA_ATOMIC, RMA_GET, RMA_PUT, RMA_FLUSH, RMA_NCALLS };

/* How the clients of a process wait; see wait.c. */
struct rma_waiting {
	uint64_t spin_ns[2]; /* how long to spin, by enum rma_patience */
	bool crowded;        /* ranks outnumber cores: yield between looks */
	bool park;           /* after spinning, sleep on the word; else keep yielding */
	double watchdog;     /* seconds until the first report on stderr; 0: never */
	bool words;          /* reports name the awaited word */
	unsigned looks;      /* looks at the word for each call that drives the MPI */
	/* Whether the holders that c waits for are likely to need this process to drive the MPI, so
	 * that it must not sleep yet; NULL: no. */
	bool (*serves)(const struct rma_client *c);
	const void *serves_arg; /* argument of serves */
	/* Called by a waiter at intervals, with the time waited and the awaited event, for
	 * observers; NULL: there are none. */
	void (*observe)(void *arg, const struct rma_client *c, uint64_t waited_ns,
			const char *what);
	void *observe_arg;
	/* Called by a waiter when a report of option watchdog is due; NULL: nobody reports. */
	void (*report)(void *arg, const struct rma_client *c, uint64_t waited_ns, const char *what);
	void *report_arg;
};

/* The clock that the ranks of a table share: rank 0's clock, as far as this rank knows it. Clocks
 * of different hosts are compared once and drift apart from then on. */
struct rma_shared_clock {
	int64_t offset_ns; /* to add to rma_now_ns() */
	uint64_t error_ns; /* bound on the error of the sum at since_ns */
	uint64_t since_ns;
	uint64_t drift_ppm; /* growth of that bound */
};

/* A process's view of the segments of a table. */
struct rma {
	const struct rma_transport *transport;
	char **map;      /* [nranks] segments mapped here; NULL: on another node */
	const int *node; /* [nranks] the node of each rank */
	int rank, my_node, ranks;
	bool net;      /* others reach this segment only while this process drives the transport */
	bool outlives; /* the kind recovers: a wait ends even if the awaited rank died */
	_Atomic(int) mpi_error; /* the first error that the MPI reported in an operation here */
	struct rma_waiting waiting;
	/* The rank of the first word that a call on c's lock changes or reads, beyond words of its
	 * own that nobody else looks at yet; NULL: it depends. */
	int (*first_rank)(const struct rma_client *c);
	struct rma_shared_clock clock; /* for kinds that ask for it; else the rank's own clock */
	/* Of the transport: the device that performs its atomics, and which, for messages; NULL: it
	 * does not know. */
	const char *atomics;
	void *state;    /* of the transport */
	void *segments; /* of segments.c */
};

/* How a client that waits for nobody goes on with an acquire that has to wait (client/request.c).
 * The acquire runs on a stack of its own; wait.c leaves that stack where it would wait. */
struct rma_steps {
	/* Return to the client; returns when the client takes the next step. */
	void (*leave)(struct rma_steps *steps);
	bool waits;        /* from now on the client waits, as in any other acquire */
	uint64_t until_ns; /* ... but until this time at most (rma_now_ns()); 0: without end */
	bool hurries;      /* deadline `never` has passed */
	uint64_t never;    /* the deadline of the acquire; 0: the kind has none */
};

/* Since when a client knows that an operation of the table has failed, and in which wait. */
struct rma_doubt {
	uint64_t since_ns, wait;
};

/* Room for what a transport keeps of a client. */
enum { RMA_OWN_BYTES = 2816 };

/* One client: a thread of a rank at one lock. Two threads never use it at the same time. All of it
 * but rma is zero at first. */
struct rma_client {
	struct rma *rma;
	uint64_t count[RMA_NCALLS][2];
	uint64_t waits, parks;
	bool sleeps_on_upper; /* on the upper half of the word; see wait.c */
	bool inside;          /* the call may have changed words, whatever first_rank() says */
	bool no_mpi;          /* its thread may call neither the MPI nor observers */
	uint64_t lock;        /* the lock in use, for reports */
	/* With a transport that can fail: whether an operation has failed, and the jump target for
	 * that case (client/guard.c); NULL: the call returns. */
	_Atomic(bool) failed; /* a thread of the transport may set it */
	bool unreached;       /* it has not begun, because the first rank cannot be reached */
	jmp_buf *on_loss;
	/* Of the failed operation: how the connection was lost, if no process need have died; NULL
	 * or empty: one has. */
	const char *loss;
	struct rma_steps *steps; /* NULL: the client waits */
	/* What the transport keeps: the structure of rma_own(). */
	_Alignas(int64_t) unsigned char own[RMA_OWN_BYTES];
};

/* For a transport to read as its own structure; an assertion says that it fits. */
RMA_INLINE void *rma_own(struct rma_client *c)
{
	return c->own;
}

RMA_INLINE struct rma_word rma_word(const struct rma *r, enum rma_domain domain, int rank,
				    uint64_t offset)
{
	char *base = r->map[rank];
	struct rma_word w = {0, offset, rank, 0};

	if (base) {
		w.map = (_Atomic(int64_t) *)(void *)(base + offset);
		w.flags = domain == RMA_NODE ? RMA_CPU : 0;
	} else if (r->node[rank] != r->my_node) {
		w.flags = RMA_FAR;
	} else if (domain == RMA_NODE) {
		w.flags = RMA_NODE_WORD;
	}
	return w;
}

/* Operations on other nodes so far. */
static inline uint64_t rma_far_operations(const struct rma_client *c)
{
	uint64_t n = 0;

	for (int op = 0; op < RMA_FLUSH; op++)
		n += c->count[op][1];
	return n;
}

RMA_INLINE void rma_count(struct rma_client *c, enum rma_call call, struct rma_word w)
{
	c->count[call][(w.flags & RMA_FAR) != 0]++;
}

#endif
