/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups of the hosts of a job: by a file, or by the addresses that Slurm gives to hosts. One rank
 * finds them for all, without MPI and hwloc.
 */
#ifndef TOPO_GROUPS_H
#define TOPO_GROUPS_H

#include <stdio.h>

/* Levels of groups: what the other levels leave of TOPO_MAX_LEVELS. */
enum { TOPO_MAX_GROUPS = 6 };

/* What the job says of a host. */
struct topo_host {
	char name[256], addr[256], pattern[128];
};

struct topo_groups {
	int n;                          /* levels, outermost first */
	char name[TOPO_MAX_GROUPS][24]; /* of each level */
};

/* ids[host][level]: equal number, equal group. Both: 0, or -1 and a message. */

/* Lines "HOST GROUP [GROUP...]", the outermost group first; the hosts by name, with or without
 * their domain. path: how messages call the file. */
int topo_groups_file(struct topo_groups *g, FILE *f, const char *path,
		     const struct topo_host *hosts, int n, int (*ids)[TOPO_MAX_GROUPS], char *err,
		     size_t errlen);

/* Addresses as "s0.s1.node12" by the pattern "switch.switch.node". No option asks for these groups,
 * so addresses that make no sense are no error: there are no groups. Cuts the addresses. */
int topo_groups_slurm(struct topo_groups *g, struct topo_host *hosts, int n,
		      int (*ids)[TOPO_MAX_GROUPS], char *err, size_t errlen);

struct topo_label {
	const char *text;
	int host;
};

/* Numbers for the labels of one level: equal text, equal number. Sorts the labels. */
void topo_number_labels(struct topo_label *labels, int n, int (*ids)[TOPO_MAX_GROUPS], int level);
/* Of two labels, by their texts: for qsort(). */
int topo_label_compare(const void *a, const void *b);

#endif
