/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ranges that clients ask for: those of the Citron paper (FAST'23), sections 4.2 and 4.5. No
 * MPI here.
 *
 * As printed, left borders follow Zipf's law on [0, N - L], so popular ranges are neighbours and
 * overlap.
 */
#include "ranges.h"

const int64_t span_sizes[SPAN_SIZES] = {1, 16, 256};

static void add_size(struct spans *s, int64_t units, int64_t length, double skew)
{
	if (length > units)
		length = units;
	s->length[s->sizes] = length;
	zipf_start(&s->border[s->sizes++], (uint64_t)(units - length) + 1, skew);
}

void spans_start(struct spans *s, int64_t units, int64_t length, double skew, int client,
		 int clients)
{
	s->sizes = 0;
	if (length > 0)
		add_size(s, units, length, skew);
	else if (clients >= SPAN_SIZES)
		add_size(s, units, span_sizes[client % SPAN_SIZES], skew);
	for (int i = 0; length == 0 && clients < SPAN_SIZES && i < SPAN_SIZES; i++)
		add_size(s, units, span_sizes[i], skew);
}

struct span spans_next(const struct spans *s, uint64_t *random)
{
	int size = s->sizes > 1 ? (int)((random_next(random) >> 32) % (uint64_t)s->sizes) : 0;
	int64_t first = (int64_t)zipf_next(&s->border[size], random);

	return (struct span){first, first + s->length[size] - 1};
}

int span_size(struct span s)
{
	for (int i = 0; i < SPAN_SIZES; i++)
		if (s.last - s.first + 1 == span_sizes[i])
			return i;
	return -1;
}

struct span span_of_bytes(uint64_t offset, uint64_t bytes)
{
	return (struct span){(int64_t)(offset / BLOCK_BYTES),
			     (int64_t)((offset + bytes - 1) / BLOCK_BYTES)};
}

struct span grow_span(uint64_t turn, int client, int clients)
{
	return span_of_bytes((turn * (uint64_t)clients + (uint64_t)client) * GROW_RECORD,
			     GROW_RECORD);
}
