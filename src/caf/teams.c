/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From an image of the current team to a process of the communicator over which a coarray was
 * registered. In CHANGE TEAM image numbers are those of the new team, also for coarrays of an
 * ancestor. The lock of a CRITICAL construct has one home, whatever the team: at most one image of
 * the program executes the block.
 */
#include <stdlib.h>

#include "base/ranks.h"
#include "caf/caf.h"

/* Counts the changes of the current team. 0: there was none, and images are processes + 1. */
static unsigned current;

void teams_change(void)
{
	current++;
}

static bool translate(struct coarray *c, MPI_Comm comm)
{
	free(c->processes);
	c->processes = ranks_in(comm, layer_comm(&c->locks), &c->images);
	return c->processes != NULL;
}

int teams_process(struct coarray *c, int image)
{
	MPI_Comm comm;

	if (c->critical)
		return 0;
	if (image == 0)
		return c->locks.rank;
	if (current == 0)
		return image >= 1 && image <= c->locks.size ? image - 1 : -1;
	if (c->team != current) {
		if (!calls_comm(&comm) || !translate(c, comm))
			return -1;
		c->team = current;
	}
	if (image < 1 || image > c->images || c->processes[image - 1] == MPI_UNDEFINED)
		return -1;
	return c->processes[image - 1];
}
