/* SPDX-License-Identifier: BSD-3-Clause */
/* Times as text: "300ms". */
#ifndef BASE_DURATION_H
#define BASE_DURATION_H

#include <stdbool.h>

/* Digits, optionally a point and more digits, in any locale, and a unit: ns, us, ms or s. unit_ns
 * is the unit of a number without one, in nanoseconds; 0: there has to be a unit. */
bool duration_parse(const char *text, double unit_ns, double *ns);

#endif
