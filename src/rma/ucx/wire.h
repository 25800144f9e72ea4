/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages of the UCX transport as bytes. These functions know bytes, a key and limits, but not
 * UCX.
 *
 * A request is a header and operations, each of WIRE_OP_LEAST bytes, or of WIRE_OP_BYTES if it has
 * an expected value; an answer is a header and results. Any process that reaches the port of a
 * worker can send bytes to it, so nothing in a message is used before wire_open() has accepted it:
 *   forged    the tag is a keyed hash (SipHash-2-4) of all that follows it. The key is drawn at
 *             random for each communicator with tables and known to its ranks only.
 *   misled    the tag covers type, sender and receiver, so an answer is not taken for a request,
 *             and a message is accepted only by its receiver, and only as its sender's.
 *   replayed  a rank numbers its requests to each other rank, and the receiver accepts a number
 *             once (wire_is_new). An answer has the number of its request; it is accepted once
 *             because the request is answered from then on.
 * The receiver decodes a whole request (wire_operations) before it performs any operation of it. So
 * a message has all of its effects or none.
 */
#ifndef RMA_UCX_WIRE_H
#define RMA_UCX_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rma/ucx/siphash.h"

/* Also the ids of the UCX active messages. */
enum wire_type { WIRE_REQUEST = 1, WIRE_ANSWER = 2, WIRE_TASK = 3, WIRE_TYPES };
enum wire_operation {
	WIRE_PUT,
	WIRE_GET,
	WIRE_ACC,
	WIRE_ADD,
	WIRE_SWAP,
	WIRE_CAS,
	WIRE_OR,
	WIRE_AND
};

struct wire_header {
	uint64_t tag;    /* of all that follows */
	uint64_t number; /* of the request; its sender counts for each receiver */
	uint32_t type;
	uint32_t index; /* of the request's batch at its sender */
	int32_t from, to;
	uint32_t table;  /* the request is for: its number, and ... */
	int32_t segment; /* ... the rank whose segment it names, on the receiver's node */
};

struct wire_op {
	uint64_t where; /* offset in the segment, and enum wire_operation in the low bits */
	int64_t value, expected;
};

enum {
	WIRE_OPERANDS = 64, /* at most, with a result */
	WIRE_OP_LEAST = 16,
	WIRE_OP_BYTES = 24,
	WIRE_REQUEST_BYTES = sizeof(struct wire_header) + WIRE_OPERANDS * WIRE_OP_BYTES,
	/* A task has any bytes, and an answer the results of operations or of a task. */
	WIRE_TASK_BYTES = sizeof(struct wire_header) + 7936,
	WIRE_ANSWER_BYTES = WIRE_TASK_BYTES,
	WIRE_OPS_MOST = WIRE_OPERANDS * WIRE_OP_BYTES / WIRE_OP_LEAST,
	WIRE_OPERATION_BITS = 3,
	WIRE_OPERATION_MASK = (1 << WIRE_OPERATION_BITS) - 1
};
_Static_assert(sizeof(struct wire_header) == 40, "no holes");
_Static_assert(sizeof(struct wire_op) == WIRE_OP_BYTES, "no holes");

static inline size_t wire_op_bytes(unsigned operation)
{
	return operation == WIRE_CAS ? WIRE_OP_BYTES : WIRE_OP_LEAST;
}

static inline bool wire_has_result(unsigned operation)
{
	return operation != WIRE_PUT && operation != WIRE_ACC;
}

static inline unsigned wire_operation(const struct wire_op *op)
{
	return op->where & WIRE_OPERATION_MASK;
}

static inline uint64_t wire_offset(const struct wire_op *op)
{
	return op->where >> WIRE_OPERATION_BITS;
}

/* Write the header, with its tag, at the start of a message of length bytes. */
void wire_seal(const struct siphash_key *key, const struct wire_header *h, void *bytes,
	       size_t length);

/* The messages that a rank accepts: their type, their receiver, and the number of ranks. */
struct wire_expected {
	enum wire_type type;
	int32_t to, ranks;
};

/* Whether bytes are such a message, made by a process that has the key; *h is its header. */
bool wire_open(const struct siphash_key *key, const struct wire_expected *e, const void *bytes,
	       size_t length, struct wire_header *h);

/* The words that requests may name: those with offsets from first to before end. */
struct wire_limits {
	uint64_t first, end;
};

/* Decode the operations of a request that wire_open() has accepted. Returns their number; -1 if an
 * operation is outside the limits, or if there are more results than an answer can hold. */
int wire_operations(const struct wire_limits *l, const void *bytes, size_t length,
		    struct wire_op op[WIRE_OPS_MOST]);

/* The accepted numbers of a sender: the highest, and a bit for each of the WIRE_WINDOW numbers up
 * to it. A message may be overtaken by fewer messages than that. All zero: none was accepted. */
enum { WIRE_WINDOW = 64 };
struct wire_window {
	uint64_t highest, seen;
};

/* Accept the number. False: it was accepted before, or is too old to tell. */
bool wire_is_new(struct wire_window *w, uint64_t number);

#endif
