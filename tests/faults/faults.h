/* SPDX-License-Identifier: BSD-3-Clause */
/* The faults of lock/fault.h by name, for programs that turn one on. */
#ifndef TESTS_FAULTS_H
#define TESTS_FAULTS_H

#include <stdbool.h>
#include <stdio.h>

#include "lock/fault.h"

/* From name to the next comma or the end; FAULT_NONE: there is none of that name. */
enum fault fault_find(const char *name);
/* As users write it. */
const char *fault_name(enum fault f);
/* The kinds of lock that show it, with commas between; and whether that one does. */
const char *fault_kinds(enum fault f);
bool fault_is_of(enum fault f, const char *kind);
/* All of them, a line each. */
void fault_print_all(FILE *out);

#endif
