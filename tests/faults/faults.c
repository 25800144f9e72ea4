/* SPDX-License-Identifier: BSD-3-Clause */
/* See faults.h. */
#include "faults.h"

#include <string.h>

enum { NAME = 64 };

enum fault fault_on;
enum limits fault_limits;

#define FAULT_LINE(name, kinds, what) {#name, kinds, what},

static const struct {
	const char *name, *kinds, *what;
} faults[] = {{"none", "", ""}, FAULTS(FAULT_LINE)};

const char *fault_name(enum fault f)
{
	static char name[NAME];

	snprintf(name, sizeof name, "%s", faults[f].name);
	for (char *at = name; (at = strchr(at, '_'));)
		*at = '-';
	return name;
}

enum fault fault_find(const char *name)
{
	size_t len = strcspn(name, ",");

	for (enum fault f = FAULT_NONE + 1; f < FAULT_COUNT; f++)
		if (strlen(faults[f].name) == len && strncmp(fault_name(f), name, len) == 0)
			return f;
	return FAULT_NONE;
}

const char *fault_kinds(enum fault f)
{
	return faults[f].kinds;
}

bool fault_is_of(enum fault f, const char *kind)
{
	size_t len = strlen(kind), each;

	for (const char *at = faults[f].kinds; *at; at += each + (at[each] == ',')) {
		each = strcspn(at, ",");
		if (each == len && strncmp(at, kind, len) == 0)
			return true;
	}
	return false;
}

void fault_print_all(FILE *out)
{
	for (enum fault f = FAULT_NONE + 1; f < FAULT_COUNT; f++)
		fprintf(out, "  %-20s %-12s %s\n", fault_name(f), faults[f].kinds, faults[f].what);
}
