/* SPDX-License-Identifier: BSD-3-Clause */
/* See duration.h. */
#include "base/duration.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

bool duration_parse(const char *text, double unit_ns, double *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	double value = 0, part = 1;
	bool digits = false;

	for (; isdigit((unsigned char)*text); text++, digits = true)
		value = value * 10 + (*text - '0');
	if (*text == '.')
		for (text++; isdigit((unsigned char)*text); text++, digits = true)
			value += (*text - '0') * (part /= 10);
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strcmp(text, units[i].name) == 0) {
			unit_ns = units[i].ns;
			text += strlen(text);
			break;
		}
	*ns = value * unit_ns;
	return digits && unit_ns > 0 && *text == '\0';
}
