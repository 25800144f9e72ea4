/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of options, as the files of core see it. */
#ifndef CORE_OPTION_SPEC_H
#define CORE_OPTION_SPEC_H

#include "options/options.h"

enum option_type { OPTION_NUMBER, OPTION_SECONDS, OPTION_CHOICE, OPTION_TEXT, OPTION_LEVELS };

struct option_spec {
	struct pawl_option is; /* values of a choice: words with " | " in between */
	enum option_type type;
	size_t offset;    /* in struct options */
	int64_t min, max; /* of a number */
};

/* index 0, 1, ...; NULL past the last one. */
const struct option_spec *option_spec_get(int index);
/* By name, or NULL. */
const struct option_spec *option_spec_find(const char *name);
/* Whether locks of that kind take it. */
bool option_spec_fits(const struct option_spec *s, const struct lock_protocol *p);

/* option_value.c: set the option from its text; PAWL_ERR_*, and the thread's error. */
int option_value_set(struct options *o, const struct option_spec *s, const char *text);
/* The value as text, the same for equal values. Returns text, or a string of o. */
const char *option_value_get(const struct options *o, const struct option_spec *s, char *text,
			     size_t len);

/* environment.c: what options_warn() says once, each time. */
void environment_warn(FILE *out);
/* The variable of an option: PAWL_NAME. Returns text. */
const char *environment_name(const char *option, char *text, size_t len);

#endif
