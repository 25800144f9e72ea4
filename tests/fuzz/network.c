/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Networks of the simulator as "dragonfly PARTS" or "fat-tree PARTS". A text is accepted exactly if
 * its parts are numbers from 1 on, as many as the shape has, and the network is not too large;
 * then its numbers, printed, are the text but for leading zeros. A refusal names the shape.
 */
#include "property.h"

#include "sim/network/text.h"

enum { ERROR = 500 };

/* As read_numbers(), by another way: characters, one after the other. */
static bool split(const char *text, struct network_numbers *n)
{
	uint64_t value = 0;
	int part = 0, digits = 0;

	memset(n, 0, sizeof *n);
	for (const char *c = text;; c++) {
		if (*c >= '0' && *c <= '9') {
			value = 10 * value + (uint64_t)(*c - '0');
			if (value > NETWORK_MOST)
				return false;
			digits++;
			continue;
		}
		if (!digits || !value || (*c && *c != ',' && *c != ';'))
			return false;
		n->number[part][n->count[part]++] = (unsigned)value;
		if (!*c)
			return part == NETWORK_PARTS - 1;
		if (*c == ';' && ++part == NETWORK_PARTS)
			return false;
		value = 0;
		digits = 0;
	}
}

static bool has_shape(enum network_shape shape, const struct network_numbers *n)
{
	for (int i = 0; i < NETWORK_PARTS; i++) {
		int wanted = i < 3 ? 2 : 1;

		if (shape == NETWORK_FAT_TREE)
			wanted = i ? (int)n->number[0][0] : 1;
		if (n->count[i] != wanted)
			return false;
	}
	return shape == NETWORK_FAT_TREE || n->number[0][0] <= n->number[2][0];
}

/* As SimGrid counts them. Large numbers need not be exact. */
static void size_of(enum network_shape shape, const struct network_numbers *n, double *nodes,
		    double *links)
{
	double g = n->number[0][0], c = n->number[1][0], r = n->number[2][0], width = 1;

	if (shape == NETWORK_DRAGONFLY) {
		*nodes = g * c * r * n->number[3][0];
		*links = *nodes + g * (c * r * (r - 1) + r * c * (c - 1)) / 2 + g * (g - 1) / 2;
		return;
	}
	for (int i = 0; i < n->count[1]; i++)
		width *= n->number[1][i];
	*nodes = width;
	*links = 0;
	for (int i = 0; i < n->count[1]; i++) {
		*links += width * n->number[2][i] * n->number[3][i];
		width *= (double)n->number[2][i] / n->number[1][i];
	}
}

static void print(const struct network_numbers *n, char *text)
{
	int at = 0;

	for (int i = 0; i < NETWORK_PARTS; i++)
		for (int j = 0; j < n->count[i]; j++)
			at += sprintf(text + at, "%s%u", j ? "," : i ? ";" : "", n->number[i][j]);
}

static void check_accepted(const struct network_plan *plan, const struct network_numbers *n)
{
	struct network_plan again = {.shape = plan->shape};
	struct network_numbers twice;
	char err[ERROR];

	/* No longer than the text that it was read from. */
	print(n, again.text);
	property(network_read(&again, &twice, err, sizeof err) &&
		     memcmp(&twice, n, sizeof twice) == 0,
		 "the numbers of a network, printed, are that network");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = text_of(data, size), err[ERROR] = "";
	const char *parts = text + strcspn(text, " ");
	struct network_plan plan = {.shape = NETWORK_FAT_TREE};
	struct network_numbers n, expected;
	double nodes = 0, links = 0;
	bool good;

	if (strncmp(text, "dragonfly", 9) == 0)
		plan.shape = NETWORK_DRAGONFLY;
	snprintf(plan.text, sizeof plan.text, "%s", parts + strspn(parts, " "));
	good = split(plan.text, &expected) && has_shape(plan.shape, &expected);
	if (good)
		size_of(plan.shape, &expected, &nodes, &links);
	good = good && nodes <= NETWORK_MOST_NODES && links <= NETWORK_MOST_LINKS;
	if (network_read(&plan, &n, err, sizeof err)) {
		property(good && memcmp(&n, &expected, sizeof n) == 0,
			 "what is accepted is a network that can be built");
		check_accepted(&plan, &n);
	} else {
		property(!good, "a network that can be built is accepted");
		property(strncmp(err, plan.shape == NETWORK_DRAGONFLY ? "dragonfly" : "fat-tree",
				 8) == 0 &&
			     (strstr(err, "each from 1 to ") || strstr(err, "more than ")),
			 "a refusal names the shape, and says what is accepted");
	}
	free(text);
	return 0;
}
