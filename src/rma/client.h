/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of operations: a process's view of the segments of a table, and its clients. */
#ifndef RMA_CLIENT_H
#define RMA_CLIENT_H

#include <setjmp.h>

#include "rma/transport.h"

/* Kinds of operations in the statistics. */
enum rma_kind { RMA_ATOMIC, RMA_GET, RMA_PUT, RMA_FLUSH, RMA_NKINDS };

/* How clients of a process wait; see wait.c. */
struct rma_waiting {
	uint64_t spin_ns[2]; /* look again and again for so long, by enum rma_patience */
	bool crowded;        /* ranks outnumber cores: give way between looks */
	bool park;           /* then sleep on the word; or else give way for ever */
	double watchdog;     /* seconds until the first report on stderr; 0: never */
	const char *self;    /* for reports: this rank, */
	const char *table;   /* and the table */
	unsigned looks;      /* at the word between two calls that drive the MPI */
	/* Whether the holders that c waits for are likely to need this process to
	 * drive the MPI, so that it must not sleep yet; NULL: no. */
	bool (*serves)(const struct rma_client *c);
	const void *space; /* for serves */
};

/* The clock that the ranks of a table share: that of rank 0, as far as this rank
 * knows it. Between hosts it is compared once, and drifts apart from then on. */
struct rma_shared_clock {
	int64_t offset_ns;  /* to add to rma_now_ns() */
	uint64_t error_ns;  /* the most by which the sum was wrong */
	uint64_t since_ns;  /* at that time, */
	uint64_t drift_ppm; /* and how fast it gets worse */
};

/* A process's view of the segments of a table. */
struct rma {
	const struct rma_transport *transport;
	char **map;      /* [nranks] segments mapped here, NULL for other nodes */
	const int *node; /* [nranks] */
	int rank, my_node;
	bool net;      /* others operate on this segment through what this process drives */
	bool outlives; /* waits end also if the awaited rank died: the kind recovers */
	struct rma_waiting waiting;
	struct rma_shared_clock clock; /* of kinds that ask for it; else this rank's own */
	void *state;                   /* the transport's own */
	void *segments;                /* of what made them: segments.c */
};

enum { RMA_OPERANDS = 64, RMA_NO_TARGET = -1, RMA_MANY_TARGETS = -2 };

/* One client: a thread of a rank at one lock. Never used by two at a time. */
struct rma_client {
	struct rma *rma;
	uint64_t count[RMA_NKINDS][2];
	uint64_t waits, parks;
	bool sleeps_on_upper;          /* half of the word; wait.c */
	uint64_t lock;                 /* the one being worked on, for reports */
	unsigned operands;             /* the transport's: operations in flight, */
	int target;                    /* the one rank they go to, if it is one, */
	int64_t operand[RMA_OPERANDS]; /* and their origin buffers; */
	int64_t *answer[RMA_OPERANDS]; /* where the results come, as far as it looks there; */
	int64_t ignored[RMA_OPERANDS]; /* and those that nobody wants */
	/* Where ranks may die: operations that were not answered yet, whether one of them
	 * failed, and where to go on then, if not behind the operation. */
	_Atomic(unsigned) flying;
	bool failed;
	void *open, *ready; /* what was issued and is not on its way; and room for more */
	jmp_buf *escape;
	uint64_t dead_since_ns, dead_wait; /* since when, and in which wait */
};

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

RMA_INLINE void rma_count(struct rma_client *c, enum rma_kind kind, struct rma_word w)
{
	c->count[kind][(w.flags & RMA_FAR) != 0]++;
}

#endif
