/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that this library and its tools start. */
#include "base/child.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

char **child_environment(void)
{
	static const char preload[] = "LD_PRELOAD=";
	size_t n = 0, kept = 0;
	char **plain;

	while (environ[n])
		n++;
	plain = calloc(n + 1, sizeof *plain);
	for (size_t i = 0; plain && i < n; i++)
		if (strncmp(environ[i], preload, sizeof preload - 1) != 0)
			plain[kept++] = environ[i];
	return plain;
}

FILE *child_start(char **arguments, pid_t *child)
{
	posix_spawn_file_actions_t actions;
	char **environment = child_environment();
	int ends[2], rc;

	if (!environment || pipe2(ends, O_CLOEXEC) != 0) {
		free(environment);
		return NULL;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	rc = posix_spawnp(child, arguments[0], &actions, NULL, arguments, environment);
	posix_spawn_file_actions_destroy(&actions);
	free(environment);
	close(ends[1]);
	if (rc == 0)
		return fdopen(ends[0], "r");
	close(ends[0]);
	return NULL;
}
