/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages of the UCX transport as bytes; functions of bytes, a key and limits, without UCX.
 *
 * A request is a header and operations, each of WIRE_OP_LEAST bytes or, if it expects a value,
 * WIRE_OP_BYTES; an answer is a header and results. Any process that reaches the port of a worker
 * can send bytes to it, so nothing in a message is used before wire_open() has accepted it:
 *   forged    the tag is a keyed hash (SipHash-2-4) of all that follows it. The key is drawn at
 *             random for each table and known to its ranks only.
 *   misled    kind, sender and receiver are under the tag: an answer is no request, and no message
 *             is taken by a rank, or for one of a rank, that it was not made for.
 *   replayed  a rank numbers its requests to each other rank; the receiver accepts a number once
 *             (wire_is_new). An answer has the number of its request, and is accepted once because
 *             the request is answered then.
 * The receiver decodes a request as a whole (wire_operations) before it performs any of it, so a
 * message has all of its effects or none.
 */
#ifndef RMA_UCX_WIRE_H
#define RMA_UCX_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rma/ucx/siphash.h"

/* Also the names under which UCX hands the messages over. */
enum wire_kind { WIRE_REQUEST = 1, WIRE_ANSWER = 2 };
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
	uint64_t number; /* of the request, among those of its sender to its receiver */
	uint32_t kind;
	uint32_t index; /* of the batch that was sent, at its sender */
	int32_t from, to;
};

struct wire_op {
	uint64_t where; /* offset in the segment, and enum wire_operation in the low bits */
	int64_t value, expected;
};

enum {
	WIRE_OPERANDS = 64, /* results of a request, at most */
	WIRE_OP_LEAST = 16,
	WIRE_OP_BYTES = 24,
	WIRE_REQUEST_BYTES = sizeof(struct wire_header) + WIRE_OPERANDS * WIRE_OP_BYTES,
	WIRE_ANSWER_BYTES = sizeof(struct wire_header) + WIRE_OPERANDS * sizeof(int64_t),
	WIRE_OPS_MOST = WIRE_OPERANDS * WIRE_OP_BYTES / WIRE_OP_LEAST,
	WIRE_OPERATION_BITS = 3,
	WIRE_OPERATION_MASK = (1 << WIRE_OPERATION_BITS) - 1
};
_Static_assert(sizeof(struct wire_header) == 32, "no holes");
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

/* Write the header in front of a message of length bytes, and its tag. */
void wire_seal(const struct siphash_key *key, const struct wire_header *h, void *bytes,
	       size_t length);

/* Which messages a rank accepts: of this kind, to it, from one of so many ranks. */
struct wire_expected {
	enum wire_kind kind;
	int32_t to, ranks;
};

/* Whether it is one of those, made by a process that has the key; *h is its header then. */
bool wire_open(const struct siphash_key *key, const struct wire_expected *e, const void *bytes,
	       size_t length, struct wire_header *h);

/* The words that requests may name: those at offsets from first on and before end, and one more. */
struct wire_limits {
	uint64_t first, end, also;
};

/* The operations of a request that wire_open() accepted; how many; -1 if any of it is not within
 * the limits, or there are more results than fit into an answer. */
int wire_operations(const struct wire_limits *l, const void *bytes, size_t length,
		    struct wire_op op[WIRE_OPS_MOST]);

/* The numbers of a sender that were accepted: the highest, and which of the WIRE_WINDOW up to it.
 * Messages may overtake each other by fewer than that. All zero: none. */
enum { WIRE_WINDOW = 64 };
struct wire_window {
	uint64_t highest, seen;
};

/* Whether the number was not accepted before; now it is. */
bool wire_is_new(struct wire_window *w, uint64_t number);

#endif
