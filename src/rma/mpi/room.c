/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared memory that the MPI takes by itself for the first window over several nodes. Open MPI 4's
 * osc/ucx starts UCX then, which maps 4,292,720 bytes of /dev/shm and some pages for each process
 * (UCX 1.13), for all windows of the process. If a rank does not get them, MPI_Win_create returns
 * an error there and never returns on the others, so all ranks ask first whether there is room.
 */
#include "rma/mpi/mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rma/memory/shm.h"

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION <= 4
enum { UCX_BYTES = 17 << 18 }; /* 4,456,448 */
#else
enum { UCX_BYTES = 0 };
#endif

/* Whether a variable of the environment, a list such as "a,b" or "^a,b", allows one of the names.
 */
static bool allows(const char *variable, const char *const names[], int n)
{
	const char *list = getenv(variable);

	if (!list || !list[0])
		return true;
	for (int i = 0; i < n; i++)
		if (strstr(list, names[i]))
			return list[0] != '^';
	return list[0] == '^';
}

/* Whether UCX has its memory already, because of a window or of messages of the program. */
static bool is_mapped(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	bool mapped = false;

	while (maps && !mapped && fgets(line, sizeof line, maps))
		mapped = strstr(line, "/ucx_shm_") != NULL;
	if (maps)
		fclose(maps);
	return mapped;
}

/* Bytes that the MPI will take for this process. */
static uint64_t first_window(void)
{
	static const char *const component[] = {"ucx"};
	static const char *const memory[] = {"all", "sm", "shm", "mm", "posix"};

	if (!allows("OMPI_MCA_osc", component, 1) || !allows("UCX_TLS", memory, 5) || is_mapped())
		return 0;
	return UCX_BYTES;
}

bool mpi_has_room(const struct rma_request *q, char *err, size_t errlen)
{
	struct shm_shortage s;
	size_t used;

	if (!UCX_BYTES)
		return true;
	if (shm_check(q->comm, q->one_host ? q->comm : q->node_comm, first_window(), &s))
		return true;
	shm_tell(&s, "the MPI's first window over several nodes", err, errlen);
	used = strlen(err);
	snprintf(err + used, errlen - used, "; option transport=ucx does without it");
	return false;
}
