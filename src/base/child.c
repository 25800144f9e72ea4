/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that this library and its tools start. */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
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

static void put(posix_spawn_file_actions_t *actions, int fd, int as)
{
	if (fd >= 0)
		posix_spawn_file_actions_adddup2(actions, fd, as);
	else
		posix_spawn_file_actions_addopen(actions, as, "/dev/null", O_RDWR, 0);
}

bool child_spawn(char **arguments, int in, int out, pid_t *child)
{
	posix_spawn_file_actions_t actions;
	char **environment = child_environment();
	int rc;

	if (!environment)
		return false;
	posix_spawn_file_actions_init(&actions);
	put(&actions, in, STDIN_FILENO);
	put(&actions, out, STDOUT_FILENO);
	put(&actions, -1, STDERR_FILENO);
	rc = posix_spawnp(child, arguments[0], &actions, NULL, arguments, environment);
	posix_spawn_file_actions_destroy(&actions);
	free(environment);
	return rc == 0;
}

FILE *child_start(char **arguments, pid_t *child)
{
	int ends[2];
	bool started;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return NULL;
	started = child_spawn(arguments, -1, ends[1], child);
	close(ends[1]);
	if (started)
		return fdopen(ends[0], "r");
	close(ends[0]);
	return NULL;
}

void child_await(pid_t child)
{
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}
