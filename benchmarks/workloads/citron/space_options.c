/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options of kinds that state the size of a space: that of the workload, in SEGMENTS segments. If
 * the user sets one of the two options for segments, neither is set here.
 */
#include <string.h>

#include "ranges.h"

enum { SEGMENTS = 65536 };

int space_options(const struct settings *s, const struct workload *w, const struct pawl_kind *kind,
		  int (*set)(void *arg, const char *name, uint64_t value), void *arg)
{
	const uint64_t units = s->space;
	const struct {
		const char *name;
		uint64_t value;
		bool wanted;
	} option[] = {
	    {"units", units, true},
	    {"units_most", units < RANGE_GROW_MOST ? RANGE_GROW_MOST : units,
	     workload_is(w, W_GROWS)},
	    {"segments", SEGMENTS, true},
	    {"segment_units", (units + SEGMENTS - 1) / SEGMENTS, true},
	};
	bool chosen = false;
	int rc = 0;

	for (int i = 0; i < s->lock_options; i++)
		chosen = chosen || strncmp(s->lock_option[i], "segment", 7) == 0;
	for (size_t i = 0; i < sizeof option / sizeof *option && rc == 0; i++) {
		const char *name = option[i].name;

		if (option[i].wanted && kind_takes(kind, name, strlen(name)) &&
		    !(chosen && strncmp(name, "segment", 7) == 0))
			rc = set(arg, name, option[i].value);
	}
	return rc;
}
