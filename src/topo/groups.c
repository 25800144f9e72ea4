/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers for the labels of hosts, and groups from the addresses that Slurm gives to hosts. */
#include "topo/groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* For qsort(). */
static int compare_texts(const void *a, const void *b)
{
	return strcmp(((const struct topo_label *)a)->text, ((const struct topo_label *)b)->text);
}

void topo_number_labels(struct topo_label *labels, int n, int (*ids)[TOPO_MAX_GROUPS], int level)
{
	int id = 0;

	qsort(labels, (size_t)n, sizeof(*labels), compare_texts);
	for (int i = 0; i < n; i++) {
		if (i > 0 && compare_texts(&labels[i - 1], &labels[i]) != 0)
			id++;
		ids[labels[i].host][level] = id;
	}
}

/* Cut text at its dots into at most n parts; the last part gets the rest. */
static int split_dots(char *text, char **part, int n)
{
	int k = 0;

	while (k < n) {
		part[k++] = text;
		text = k < n ? strchr(text, '.') : NULL;
		if (!text)
			break;
		*text++ = '\0';
	}
	return k;
}

/* Whether the addresses are plausible: all of the same form and all different. A launcher that
 * forwards its own node's environment gives the same address to all. */
static int addresses_hold(struct topo_label *labels, const struct topo_host *hosts, int n)
{
	for (int h = 0; h < n; h++) {
		if (!hosts[h].addr[0] || strcmp(hosts[h].pattern, hosts[0].pattern) != 0)
			return 0;
		labels[h] = (struct topo_label){hosts[h].addr, h};
	}
	qsort(labels, (size_t)n, sizeof(*labels), compare_texts);
	for (int h = 1; h < n; h++) {
		if (compare_texts(&labels[h - 1], &labels[h]) == 0)
			return 0;
	}
	return 1;
}

int topo_groups_slurm(struct topo_groups *groups, struct topo_host *hosts, int n,
		      int (*ids)[TOPO_MAX_GROUPS], char *err, size_t errlen)
{
	enum { PARTS = TOPO_MAX_GROUPS + 1 };
	struct topo_label *labels = calloc((size_t)n * PARTS, sizeof(*labels));
	char *type[PARTS + 1], *part[PARTS];
	int levels;

	if (!labels) {
		snprintf(err, errlen, "topology: no memory for %d hosts", n);
		errno = ENOMEM;
		return -1;
	}
	if (!hosts[0].pattern[0] || !addresses_hold(labels, hosts, n))
		goto out;
	levels = split_dots(hosts[0].pattern, type, PARTS + 1) - 1;
	if (levels < 1 || levels > TOPO_MAX_GROUPS || strcmp(type[levels], "node") != 0)
		goto out;
	for (int h = 0; h < n; h++) {
		if (split_dots(hosts[h].addr, part, levels + 1) != levels + 1)
			goto out;
		for (int g = 0; g < levels; g++)
			labels[g * n + h] = (struct topo_label){part[g], h};
	}
	for (int g = 0; g < levels; g++) {
		topo_number_labels(labels + g * n, n, ids, g);
		snprintf(groups->name[g], sizeof(groups->name[g]), "%.23s",
			 type[g][0] ? type[g] : "group");
	}
	groups->n = levels;
out:
	free(labels);
	return 0;
}
