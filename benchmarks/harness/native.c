/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The name of the MPI, and the one setting that it needs to take part.
 *
 * In Open MPI 4 the default one-sided component, osc/rdma, crashes when it creates
 * windows on one node (open-mpi/ompi issue 7027) and fails over TCP. Pawl's
 * locks need no such window on one node, but the MPI's own lock does. So pawl-bench leaves
 * that component out, unless the user chose one: in the environment, to which
 * mpirun --mca writes it, too, or in the user's file of parameters.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static const char *note;

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
/* Whether the user's parameter file has a line "osc = ...". */
static bool in_parameter_file(void)
{
	const char *home = getenv("HOME");
	char path[4096], line[512];
	bool found = false;
	FILE *f;

	if (!home ||
	    snprintf(path, sizeof path, "%s/.openmpi/mca-params.conf", home) >= (int)sizeof path)
		return false;
	f = fopen(path, "r");
	while (f && !found && fgets(line, sizeof line, f)) {
		const char *p = line + strspn(line, " \t");

		if (strncmp(p, "osc", 3) == 0)
			found = p[3 + strspn(p + 3, " \t")] == '=';
	}
	if (f)
		fclose(f);
	return found;
}

void native_prepare(void)
{
	if (getenv("OMPI_MCA_osc") || in_parameter_file())
		return;
	setenv("OMPI_MCA_osc", "^rdma", 1);
	note =
	    "Open MPI's osc/rdma is left out, because it crashes on one node (open-mpi/ompi issue"
	    " 7027); choose with OMPI_MCA_osc";
}
#else
void native_prepare(void)
{
}
#endif

const char *native_note(void)
{
	return note;
}

const char *native_name(void)
{
	static char name[64];
	char text[MPI_MAX_LIBRARY_VERSION_STRING], *version;
	int len;

	if (name[0])
		return name;
	MPI_Get_library_version(text, &len);
	if (strncmp(text, "Open MPI v", 10) == 0) {
		snprintf(name, sizeof name, "Open MPI %.*s", (int)strcspn(text + 10, ", \n"),
			 text + 10);
	} else if (strncmp(text, "MPICH Version:", 14) == 0) {
		version = text + 14;
		while (isspace((unsigned char)*version))
			version++;
		snprintf(name, sizeof name, "MPICH %.*s", (int)strcspn(version, " \t\n"), version);
	} else {
		snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ",\n"), text);
	}
	return name;
}
