/* SPDX-License-Identifier: BSD-3-Clause */
/* See ucx/wire.h. */
#include "rma/ucx/wire.h"

#include <string.h>

enum { TAG_BYTES = sizeof(uint64_t) };

static uint64_t tag_of(const struct siphash_key *key, const void *bytes, size_t length)
{
	return siphash(key, (const char *)bytes + TAG_BYTES, length - TAG_BYTES);
}

void wire_seal(const struct siphash_key *key, const struct wire_header *h, void *bytes,
	       size_t length)
{
	uint64_t tag;

	memcpy(bytes, h, sizeof *h);
	tag = tag_of(key, bytes, length);
	memcpy(bytes, &tag, sizeof tag);
}

bool wire_open(const struct siphash_key *key, const struct wire_expected *e, const void *bytes,
	       size_t length, struct wire_header *h)
{
	const size_t most[WIRE_TYPES] = {[WIRE_REQUEST] = WIRE_REQUEST_BYTES,
					 [WIRE_ANSWER] = WIRE_ANSWER_BYTES,
					 [WIRE_TASK] = WIRE_TASK_BYTES};

	if (length < sizeof *h || length > most[e->type] || length % sizeof(int64_t))
		return false;
	memcpy(h, bytes, sizeof *h);
	if (h->type != (uint32_t)e->type || h->to != e->to || h->from < 0 || h->from >= e->ranks)
		return false;
	/* One comparison of two registers, so its time reveals nothing about the tag. */
	return (tag_of(key, bytes, length) ^ h->tag) == 0;
}

static bool is_allowed(const struct wire_limits *l, const struct wire_op *op)
{
	uint64_t offset = wire_offset(op);

	/* Any value of the bits is an operation. */
	_Static_assert((int)WIRE_AND == (int)WIRE_OPERATION_MASK, "no code is unused");
	return offset % sizeof(int64_t) == 0 && offset >= l->first && offset < l->end;
}

int wire_operations(const struct wire_limits *l, const void *bytes, size_t length,
		    struct wire_op op[WIRE_OPS_MOST])
{
	const char *at = (const char *)bytes + sizeof(struct wire_header);
	int n = 0, results = 0;
	size_t left, size;

	if (length < sizeof(struct wire_header))
		return -1;
	left = length - sizeof(struct wire_header);
	for (; left > 0; at += size, left -= size, n++) {
		if (n == WIRE_OPS_MOST || left < WIRE_OP_LEAST)
			return -1;
		op[n].expected = 0;
		memcpy(&op[n], at, WIRE_OP_LEAST);
		size = wire_op_bytes(wire_operation(&op[n]));
		if (left < size || !is_allowed(l, &op[n]))
			return -1;
		memcpy(&op[n], at, size);
		results += wire_has_result(wire_operation(&op[n]));
		if (results > WIRE_OPERANDS)
			return -1;
	}
	return n;
}

bool wire_is_new(struct wire_window *w, uint64_t number)
{
	uint64_t behind, ahead;

	if (number > w->highest) {
		ahead = number - w->highest;
		w->seen = ahead < WIRE_WINDOW ? w->seen << ahead | 1 : 1;
		w->highest = number;
		return true;
	}
	behind = w->highest - number;
	if (behind >= WIRE_WINDOW || w->seen >> behind & 1)
		return false;
	w->seen |= UINT64_C(1) << behind;
	return true;
}
