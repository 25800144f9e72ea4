/* SPDX-License-Identifier: BSD-3-Clause */
/* The faults of lock/fault.h by name, for programs that turn one on. */
#ifndef TESTS_FAULTS_H
#define TESTS_FAULTS_H

#include <stdbool.h>
#include <stdio.h>

#include "lock/fault.h"

/* The fault whose name begins there and ends at a comma or the end; FAULT_NONE: there is none. */
enum fault fault_find(const char *name);
/* The name of a fault. */
const char *fault_name(enum fault f);
/* The kinds of lock that show a fault, separated by commas; and whether a kind does. */
const char *fault_kinds(enum fault f);
bool fault_is_of(enum fault f, const char *kind);
/* Print all faults, a line each. */
void fault_print_all(FILE *out);

#endif
