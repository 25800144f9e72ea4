/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups of a job's hosts, from a file or from the addresses that Slurm gives to hosts. One rank
 * determines them for all ranks, without MPI and hwloc.
 */
#ifndef TOPO_GROUPS_H
#define TOPO_GROUPS_H

#include <stdio.h>

/* At most this many levels of groups: TOPO_MAX_LEVELS less the other levels. */
enum { TOPO_MAX_GROUPS = 6 };

/* What the job knows of a host. */
struct topo_host {
	char name[256], addr[256], pattern[128];
};

struct topo_groups {
	int n;                          /* levels, outermost first */
	char name[TOPO_MAX_GROUPS][24]; /* of each level */
};

/* Both return 0, or -1 and a message; errno is ENOMEM if memory has run out. ids[host][level]:
 * hosts with equal numbers are in one group. */

/* Read lines "HOST GROUP [GROUP...]", the outermost group first. Hosts are named with or without
 * their domain. path: the file's name in messages. */
int topo_groups_file(struct topo_groups *g, FILE *f, const char *path,
		     const struct topo_host *hosts, int n, int (*ids)[TOPO_MAX_GROUPS], char *err,
		     size_t errlen);

/* Use addresses such as "s0.s1.node12" with the pattern "switch.switch.node". No option has asked
 * for these groups, so addresses that make no sense are not an error: there are no groups then.
 * Modifies the addresses. */
int topo_groups_slurm(struct topo_groups *g, struct topo_host *hosts, int n,
		      int (*ids)[TOPO_MAX_GROUPS], char *err, size_t errlen);

struct topo_label {
	const char *text;
	int host;
};

/* Number the labels of one level: equal texts get equal numbers. Sorts the labels. */
void topo_number_labels(struct topo_label *labels, int n, int (*ids)[TOPO_MAX_GROUPS], int level);

#endif
