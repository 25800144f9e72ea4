/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of a survey: whether they are valid, and the same on all ranks. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "topo/survey.h"

void survey_check_options(struct survey *s)
{
	const struct topo_request *r = s->req;
	const char *groups = survey_given(r->groups) ? r->groups : "auto";
	int automatic = strcmp(groups, "auto") == 0, none = strcmp(groups, "none") == 0;
	char *end;
	long n;

	if (!automatic && !none) {
		errno = 0;
		n = strtol(groups, &end, 10);
		if (!isdigit((unsigned char)groups[0]) || *end || errno != 0 || n < 1 ||
		    n > INT_MAX) {
			snprintf(s->err, sizeof(s->err),
				 "groups: \"%.*s\" is not accepted; give \"auto\", \"none\" or how "
				 "many nodes make a group (1 or more)",
				 SHOWN, groups);
			return;
		}
		s->every = (int)n;
	}
	if (survey_given(r->synthetic) && survey_given(r->file))
		snprintf(s->err, sizeof(s->err),
			 "topology_file: \"%.*s\" is given together with topology=\"%.*s\"; "
			 "accepted is one of the two",
			 SHOWN, r->file, SHOWN, r->synthetic);
	else if (survey_given(r->synthetic) && s->every)
		snprintf(s->err, sizeof(s->err),
			 "groups: \"%.*s\" is given together with topology=\"%.*s\"; write the "
			 "groups into topology, as in \"rack:2 node:4\"",
			 SHOWN, groups, SHOWN, r->synthetic);
	else if (survey_given(r->file) && !automatic)
		snprintf(s->err, sizeof(s->err),
			 "groups: \"%.*s\" is given together with topology_file=\"%.*s\", which "
			 "tells the groups; accepted is one of the two",
			 SHOWN, groups, SHOWN, r->file);
}

/* The environment may differ between hosts, and so would the ranks' trees. One reduction finds the
 * largest hash and the complement of the smallest; they match if all ranks have the same
 * strings. */
int topo_compare_options(MPI_Comm comm, const struct topo_request *r, char *err, size_t errlen)
{
	static const char *const names[] = {"topology", "topology_file", "groups"};
	const char *values[] = {r->synthetic, r->file,
				survey_given(r->groups) ? r->groups : "auto"};
	uint64_t mine[6], most[6];
	int rank;

	for (int i = 0; i < 3; i++) {
		mine[i] = hash_text(HASH_BEGIN, values[i] ? values[i] : "");
		mine[i + 3] = ~mine[i];
	}
	PMPI_Comm_rank(comm, &rank);
	if (PMPI_Allreduce(mine, most, 6, MPI_UINT64_T, MPI_MAX, comm) != MPI_SUCCESS) {
		snprintf(err, errlen, "MPI_Allreduce failed");
		return TOPO_MPI;
	}
	for (int i = 0; i < 3; i++) {
		if (most[i] == ~most[i + 3])
			continue;
		snprintf(err, errlen,
			 "%s: the value (\"%.*s\" on rank %d) differs between ranks; give the same"
			 " to all",
			 names[i], SHOWN, values[i] ? values[i] : "", rank);
		return TOPO_OPTIONS;
	}
	return 0;
}
