/* SPDX-License-Identifier: BSD-3-Clause */
/* Find the name in a list that a misspelt name probably stands for. */
#ifndef BASE_SIMILAR_H
#define BASE_SIMILAR_H

#include <stddef.h>

/* Start with similar_to() and try every name of the list. best is then the nearest name, or NULL if
 * none is near. Case does not matter, and '-' equals '_'. */
struct similar {
	const char *name;
	size_t len;
	const char *best;
	size_t best_len; /* best may be a word within a longer text */
	int distance;
	int abbreviates; /* the name is the beginning of best */
};

struct similar similar_to(const char *name, size_t len);
void similar_try(struct similar *s, const char *word, size_t len);

/* " (did you mean NAME?)" with prefix before NAME, or "". Returns text. */
const char *similar_hint(const struct similar *s, const char *prefix, char *text, size_t len);

#endif
