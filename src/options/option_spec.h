/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of options, for the files of this folder. */
#ifndef OPTIONS_OPTION_SPEC_H
#define OPTIONS_OPTION_SPEC_H

#include "options/options.h"

/* All options, by index 0, 1, ..., the common ones first; NULL after the last. An option that
 * several kinds have is listed once. */
const struct option_spec *option_spec_get(int index);
/* The same, for the options of one kind. */
const struct option_spec *option_spec_of(const struct lock_protocol *p, int index);
/* The names of the kinds of the library that have the option, separated by ", ". */
void option_kinds(const char *name, char *text, size_t len);
/* An option of a kind by name; NULL: none. */
const struct option_spec *option_spec_find(const struct lock_protocol *p, const char *name);

/* option_value.c: set the option from text. On PAWL_ERR_* the thread's error message is set. */
int option_value_set(struct options *o, const struct option_spec *s, const char *text);
/* The value as text; equal values give equal text. Returns text, or a string in o. */
const char *option_value_get(const struct options *o, const struct option_spec *s, char *text,
			     size_t len);

/* The value of a number or a choice. */
int64_t option_value_number(const struct options *o, const struct option_spec *s);

/* environment.c: print the report of options_warn() about names that are no option, each time. */
void environment_warn(FILE *out);
/* options.c: the report of options_warn() about an info. */
void options_warn_info(FILE *out, MPI_Info info);

#endif
