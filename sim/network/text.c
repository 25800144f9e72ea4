/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Networks as texts: "a,b;c,d;e,f;g", four parts. How large a network may be is bounded before
 * SimGrid builds it: a route is kept for each pair of nodes, and a link takes a kilobyte.
 */
#include "sim/network/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers by part; false if the text is anything else. */
static bool read_numbers(const char *text, struct network_numbers *n)
{
	int part = 0;

	memset(n, 0, sizeof *n);
	for (const char *at = text;;) {
		char *end;
		unsigned long value = strtoul(at, &end, 10);

		if (*at < '0' || *at > '9' || value < 1 || value > NETWORK_MOST ||
		    n->count[part] == NETWORK_NUMBERS)
			return false;
		n->number[part][n->count[part]++] = (unsigned)value;
		if (*end == '\0')
			return part == NETWORK_PARTS - 1;
		if (*end == ';' && ++part == NETWORK_PARTS)
			return false;
		if (*end != ';' && *end != ',')
			return false;
		at = end + 1;
	}
}

/* SimGrid's links between groups begin at the router of the first chassis that has the
 * other group's number, so there has to be one. */
static bool is_dragonfly(const struct network_numbers *n)
{
	return n->count[0] == 2 && n->count[1] == 2 && n->count[2] == 2 && n->count[3] == 1 &&
	       n->number[0][0] <= n->number[2][0];
}

static bool is_fat_tree(const struct network_numbers *n)
{
	int levels = (int)n->number[0][0];

	return n->count[0] == 1 && n->count[1] == levels && n->count[2] == levels &&
	       n->count[3] == levels;
}

/* A product that stays where it is once it is too large for any bound. */
static uint64_t times(uint64_t a, uint64_t b)
{
	return a > UINT32_MAX || b > UINT32_MAX ? UINT64_MAX : a * b;
}

/* Between all pairs of n. */
static uint64_t pairs(uint64_t n)
{
	return n * (n - 1) / 2;
}

/* Routers of a chassis are all linked, chassis at equal routers, groups, and nodes to their router.
 */
static bool dragonfly_fits(const struct network_numbers *n)
{
	uint64_t groups = n->number[0][0], chassis = n->number[1][0], routers = n->number[2][0];
	uint64_t nodes = times(times(times(groups, chassis), routers), n->number[3][0]);
	uint64_t in_chassis = times(times(groups, chassis), pairs(routers));
	uint64_t in_group = times(times(groups, routers), pairs(chassis));

	return nodes <= NETWORK_MOST_NODES && in_chassis <= NETWORK_MOST_LINKS &&
	       in_group <= NETWORK_MOST_LINKS &&
	       nodes + in_chassis + in_group + pairs(groups) <= NETWORK_MOST_LINKS;
}

/* A switch of level i has DOWN of its level below it, and what is below has UP above it. */
static bool fat_tree_fits(const struct network_numbers *n)
{
	uint64_t width = 1, links = 0;
	int levels = n->count[1];

	for (int i = 0; i < levels; i++)
		width = times(width, n->number[1][i]);
	if (width > NETWORK_MOST_NODES)
		return false;
	for (int i = 0; i < levels; i++) {
		uint64_t up = times(width, n->number[2][i]);
		uint64_t more = times(up, n->number[3][i]);

		if (more > NETWORK_MOST_LINKS)
			return false;
		links += more;
		width = up / n->number[1][i];
	}
	return links <= NETWORK_MOST_LINKS;
}

bool network_read(const struct network_plan *plan, struct network_numbers *n, char *err,
		  size_t errlen)
{
	bool dragonfly = plan->shape == NETWORK_DRAGONFLY;
	const char *shape = dragonfly ? "dragonfly" : "fat-tree";

	if (!read_numbers(plan->text, n) || !(dragonfly ? is_dragonfly(n) : is_fat_tree(n))) {
		snprintf(err, errlen, "%s: \"%s\" is not %s, each from 1 to %d%s", shape,
			 plan->text,
			 dragonfly ? "GROUPS,LINKS;CHASSIS,LINKS;ROUTERS,LINKS;NODES"
				   : "LEVELS;DOWN,...;UP,...;LINKS,... with a number for each"
				     " level",
			 NETWORK_MOST, dragonfly ? ", and GROUPS at most ROUTERS" : "");
		return false;
	}
	if (!(dragonfly ? dragonfly_fits(n) : fat_tree_fits(n))) {
		snprintf(err, errlen, "%s: \"%s\" has more than %d nodes or %d links", shape,
			 plan->text, NETWORK_MOST_NODES, NETWORK_MOST_LINKS);
		return false;
	}
	return true;
}
