/* SPDX-License-Identifier: BSD-3-Clause */
/* What fuzz targets share: properties that hold for every input, and the input as text. */
#ifndef FUZZ_PROPERTY_H
#define FUZZ_PROPERTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the process by a signal, by which a fuzzer notices a finding. */
static inline void property(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "does not hold: %s\n", what);
	abort();
}

/* A copy of exactly this size, so that the sanitizer notices an access behind the end. To be freed.
 */
static inline char *text_of(const uint8_t *data, size_t size)
{
	char *text = calloc(size + 1, 1);

	property(text, "there is memory");
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

/* The next byte of an input; 0 behind its end. */
struct input {
	const uint8_t *data;
	size_t size;
};

static inline uint8_t next_byte(struct input *in)
{
	if (!in->size)
		return 0;
	in->size--;
	return *in->data++;
}

/* Eight bytes, the lowest first. */
static inline uint64_t next_word(struct input *in)
{
	uint64_t word = 0;

	for (int i = 0; i < 8; i++)
		word |= (uint64_t)next_byte(in) << 8 * i;
	return word;
}

#endif
