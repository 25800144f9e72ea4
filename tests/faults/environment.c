/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A lock test that is linked with this file runs with the fault that TEST_FAULT names, and with the
 * kinds of lock that show it; without the variable it runs without a fault.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/ranks.h"
#include "faults.h"

__attribute__((constructor)) static void read_environment(void)
{
	static char kind[32];
	const char *name = getenv("TEST_FAULT");

	if (!name)
		return;
	fault_on = fault_find(name);
	if (fault_on == FAULT_NONE) {
		fprintf(stderr, "TEST_FAULT: no fault \"%s\"; accepted:\n", name);
		fault_print_all(stderr);
		_exit(2);
	}
	snprintf(kind, sizeof kind, "%.*s", (int)strcspn(fault_kinds(fault_on), ","),
		 fault_kinds(fault_on));
	tap_only = kind;
}
