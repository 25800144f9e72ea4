/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that arrive over UCX. The first byte says how: as they are, without the key; or, so that
 * the fuzzer gets past the tag, sealed as a rank of the table would send them.
 */
#include <stdlib.h>
#include <string.h>

#include "rma/ucx/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RANKS = 4, ME = 2, SEALED = 1, FROM_RANK = 2, IS_ANSWER = 4, NUMBERS = 8 };

static const struct siphash_key key = {{1, 2}};
static const struct wire_limits limits = {64, 1 << 20};

/* A request without the key is not accepted, and the operations of an accepted one lie within the
 * limits. */
static void take(const uint8_t *message, size_t size, const struct wire_expected *e, bool sealed)
{
	struct wire_op op[WIRE_OPS_MOST];
	struct wire_header h;
	int n, results = 0;

	if (!wire_open(&key, e, message, size, &h))
		return;
	if (!sealed || h.from < 0 || h.from >= RANKS || h.to != ME || h.type != (uint32_t)e->type)
		abort();
	if (e->type == WIRE_ANSWER)
		return;
	n = wire_operations(&limits, message, size, op);
	for (int i = 0; i < n; i++) {
		uint64_t offset = wire_offset(&op[i]);

		if (offset % 8 || offset < limits.first || offset >= limits.end)
			abort();
		results += wire_has_result(wire_operation(&op[i]));
	}
	if (results > WIRE_OPERANDS || n > WIRE_OPS_MOST)
		abort();
}

/* A number is accepted at most once. */
static void number(const uint8_t *data, size_t size)
{
	struct wire_window w = {0, 0};
	uint64_t last = 0;

	for (size_t i = 0; i < size; i++) {
		uint64_t next = data[i] < 128 ? last + data[i] : last - (data[i] - 128u);
		bool above = next > w.highest;

		if (!wire_is_new(&w, next) && above)
			abort();
		if (wire_is_new(&w, next))
			abort();
		last = next;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *message, how;
	struct wire_expected e = {WIRE_REQUEST, ME, RANKS};
	struct wire_header h;

	if (size < 1)
		return 0;
	how = data[0];
	/* Of exactly this size, so that an access behind the end is noticed. */
	size--;
	message = malloc(size ? size : 1);
	if (!message)
		abort();
	memcpy(message, data + 1, size);
	if (how & IS_ANSWER)
		e.type = WIRE_ANSWER;
	if (how & NUMBERS) {
		number(message, size);
	} else if (how & SEALED && size >= sizeof h) {
		memcpy(&h, message, sizeof h);
		if (how & FROM_RANK) {
			h.type = (uint32_t)e.type;
			h.to = ME;
			h.from = (int32_t)((uint32_t)h.from % RANKS);
		}
		wire_seal(&key, &h, message, size);
		take(message, size, &e, true);
	} else {
		take(message, size, &e, false);
	}
	free(message);
	return 0;
}
