/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of options, as the files of this room see it. */
#ifndef OPTIONS_OPTION_SPEC_H
#define OPTIONS_OPTION_SPEC_H

#include "options/options.h"

/* index 0, 1, ...: all options, those that every kind has first; NULL past the last one. An option
 * that several kinds have is there once. */
const struct option_spec *option_spec_get(int index);
/* The same, of what a kind has. */
const struct option_spec *option_spec_of(const struct lock_protocol *p, int index);
/* By name, of what a kind has; NULL: none. */
const struct option_spec *option_spec_find(const struct lock_protocol *p, const char *name);

/* option_value.c: set the option from its text; PAWL_ERR_*, and the thread's error. */
int option_value_set(struct options *o, const struct option_spec *s, const char *text);
/* The value as text, the same for equal values. Returns text, or a string of o. */
const char *option_value_get(const struct options *o, const struct option_spec *s, char *text,
			     size_t len);

/* Of a number or a choice. */
int64_t option_value_number(const struct options *o, const struct option_spec *s);

/* environment.c: what options_warn() says once, each time. */
void environment_warn(FILE *out);
/* The variable of an option: PAWL_NAME. Returns text. */
const char *environment_name(const char *option, char *text, size_t len);

#endif
