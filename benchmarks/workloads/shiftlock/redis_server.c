/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Redis server. A shell starts it and waits for the end of its input, a pipe that only
 * this process can write to. So the server ends with this process, even if that is killed, and
 * leaves nothing behind. It has no port and no persistence.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "redis.h"

enum { NOT_FOUND = 127, TRIES = 500, TRY_NS = 20000000 };

static pid_t keeper;
static int lifeline = -1;

static const char script[] =
    "command -v redis-server || { rm -rf \"$1\"; exit 127; }\n"
    "redis-server --port 0 --unixsocket \"$1/socket\" --unixsocketperm 600 --save '' \\\n"
    "	--appendonly no --daemonize no --dir \"$1\" --logfile \"$1/log\" &\n"
    "trap '' HUP INT TERM\n"
    "cat\n"
    "kill $!\n"
    "wait $!\n"
    "rm -rf \"$1\"\n";

static int spawn_keeper(char *folder, int input)
{
	char sh[] = "sh", c[] = "-c", name[] = "pawl-bank", text[sizeof script];
	char *const argv[] = {sh, c, text, name, folder, NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	char **environment = child_environment();
	int rc;

	if (!environment)
		return ENOMEM;
	memcpy(text, script, sizeof script);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&how);
	/* Its own session, so that a launcher that kills our process group does not end it
	 * before it has cleaned up; and no output that a launcher would wait for. */
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID);
	posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	rc = posix_spawnp(&keeper, sh, &files, &how, argv, environment);
	free(environment);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&how);
	return rc;
}

static bool open_folder(char *path, char *why, size_t whylen)
{
	const char *tmp = getenv("TMPDIR");

	if (snprintf(path, REDIS_PATH, "%s/pawl-bank-XXXXXX", tmp && *tmp ? tmp : "/tmp") >=
	    REDIS_PATH - (int)sizeof "/socket") {
		snprintf(why, whylen, "TMPDIR: too long for the name of a socket");
		return false;
	}
	if (mkdtemp(path))
		return true;
	snprintf(why, whylen, "cannot make a folder %s: %s", path, strerror(errno));
	return false;
}

/* Wait until the socket takes connections. */
static bool wait_for_server(const char *path, char *why, size_t whylen)
{
	for (int i = 0; i < TRIES; i++) {
		int status;

		if (redis_connect(path, why, whylen)) {
			redis_disconnect();
			return true;
		}
		if (waitpid(keeper, &status, WNOHANG) == keeper) {
			keeper = 0;
			snprintf(why, whylen, "%s",
				 WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND
				     ? "redis-server is not in PATH: apt-get install redis-server"
				     : "redis-server ended at once");
			return false;
		}
		nanosleep(&(struct timespec){.tv_nsec = TRY_NS}, NULL);
	}
	return false;
}

bool redis_start(char *path, char *why, size_t whylen)
{
	int ends[2], rc;

	if (!open_folder(path, why, whylen))
		return false;
	rc = pipe2(ends, O_CLOEXEC) ? errno : 0;
	if (!rc) {
		rc = spawn_keeper(path, ends[0]);
		close(ends[0]);
		lifeline = ends[1];
	}
	if (rc) {
		snprintf(why, whylen, "cannot start redis-server: %s", strerror(rc));
		rmdir(path);
		return false;
	}
	strcat(path, "/socket");
	if (wait_for_server(path, why, whylen))
		return true;
	redis_stop();
	return false;
}

void redis_stop(void)
{
	if (lifeline >= 0)
		close(lifeline);
	lifeline = -1;
	if (keeper > 0)
		waitpid(keeper, NULL, 0);
	keeper = 0;
}
