/* SPDX-License-Identifier: BSD-3-Clause */
/* Of a list of names, the one that a misspelt name is probably meant to be. */
#ifndef BASE_SIMILAR_H
#define BASE_SIMILAR_H

#include <stddef.h>

/* Begin with similar_to(), try every name of the list; best is then the nearest one, or NULL if
 * none is near. Upper and lower case are alike, and so are '-' and '_'. */
struct similar {
	const char *name;
	size_t len;
	const char *best;
	size_t best_len; /* best may be a word of a longer text */
	int distance;
};

struct similar similar_to(const char *name, size_t len);
void similar_try(struct similar *s, const char *word, size_t len);

/* " (did you mean NAME?)" with prefix before NAME, or "". Returns text. */
const char *similar_hint(const struct similar *s, const char *prefix, char *text, size_t len);

#endif
