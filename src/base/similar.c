/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Misspelt names. The distance of two names is the number of letters inserted, left out, replaced,
 * or swapped with their neighbour (optimal string alignment). The first four or more letters of a
 * name count as one wrong letter, and come before another word with one.
 */
#include "base/similar.h"

#include <ctype.h>
#include <stdio.h>

enum { LONGEST = 40, FAR = LONGEST, ABBREVIATED = 4 };

static int letter(char c)
{
	return c == '-' ? '_' : tolower((unsigned char)c);
}

static int least(int a, int b)
{
	return a < b ? a : b;
}

static int distance(const char *a, size_t na, const char *b, size_t nb)
{
	int row[LONGEST + 1][LONGEST + 1];

	if (na > LONGEST || nb > LONGEST)
		return FAR;
	for (size_t i = 0; i <= na; i++)
		row[i][0] = (int)i;
	for (size_t k = 0; k <= nb; k++)
		row[0][k] = (int)k;
	for (size_t i = 1; i <= na; i++)
		for (size_t k = 1; k <= nb; k++) {
			int x = letter(a[i - 1]), y = letter(b[k - 1]);

			row[i][k] = least(row[i - 1][k], row[i][k - 1]) + 1;
			row[i][k] = least(row[i][k], row[i - 1][k - 1] + (x != y));
			if (i > 1 && k > 1 && x == letter(b[k - 2]) && y == letter(a[i - 2]))
				row[i][k] = least(row[i][k], row[i - 2][k - 2] + 1);
		}
	return row[na][nb];
}

/* Whether the name is an abbreviation of the word. */
static int begins_with(const char *word, size_t len, const char *name, size_t name_len)
{
	return name_len >= ABBREVIATED && name_len < len &&
	       distance(word, name_len, name, name_len) == 0;
}

/* One wrong letter is too much in a short name. */
static int most_wrong(size_t len)
{
	return len < 3 ? 0 : len < 6 ? 1 : 2;
}

struct similar similar_to(const char *name, size_t len)
{
	return (struct similar){.name = name, .len = len, .distance = FAR};
}

void similar_try(struct similar *s, const char *word, size_t len)
{
	int abbreviates = begins_with(word, len, s->name, s->len);
	int d = abbreviates ? 1 : distance(s->name, s->len, word, len);

	if (d > most_wrong(s->len) || d > s->distance ||
	    (d == s->distance && (!abbreviates || s->abbreviates)))
		return;
	s->best = word;
	s->best_len = len;
	s->distance = d;
	s->abbreviates = abbreviates;
}

const char *similar_hint(const struct similar *s, const char *prefix, char *text, size_t len)
{
	text[0] = '\0';
	if (s->best)
		snprintf(text, len, " (did you mean %s%.*s?)", prefix, (int)s->best_len, s->best);
	return text;
}
