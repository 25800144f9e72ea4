/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that this library and its tools start. They get the environment without LD_PRELOAD: what
 * it names is for the MPI program, and would load the MPI into each of them. */
#ifndef BASE_CHILD_H
#define BASE_CHILD_H

#include <stdio.h>
#include <sys/types.h>

/* That environment, to be freed; its texts are those of environ. NULL: out of memory. */
char **child_environment(void);
/* Start a program, by posix_spawnp(), which neither copies this process nor runs handlers of
 * fork(). Returns its output, or NULL; *child is to be waited for. */
FILE *child_start(char **arguments, pid_t *child);

#endif
