/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that this library and its tools start. They get the environment without LD_PRELOAD: what
 * it names is for the MPI program, and would load the MPI into each of them. */
#ifndef BASE_CHILD_H
#define BASE_CHILD_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* That environment, to be freed; its texts are those of environ. NULL: out of memory. */
char **child_environment(void);
/* Start a program, which is looked for in PATH, by posix_spawnp(), which neither copies this
 * process nor runs handlers of fork(). in and out: open files as its standard input and output; -1:
 * /dev/null. What it says on stderr is lost. */
bool child_spawn(char **arguments, int in, int out, pid_t *child);
/* The same with a pipe: returns its output, or NULL. */
FILE *child_start(char **arguments, pid_t *child);
void child_await(pid_t child);

#endif
