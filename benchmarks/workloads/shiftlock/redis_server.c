/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Redis server. A shell starts it and waits for the end of its input, a pipe that only
 * this process can write to. So the server ends with this process, even if that is killed, and
 * leaves nothing behind. It has no persistence; for clients on one host it has no port.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "redis.h"

/* Of the folder's name, with the end. */
enum { FOLDER = REDIS_PATH - (int)sizeof "/socket" };
enum { NOT_FOUND = 127, TRIES = 500, TRY_NS = 20000000 };

static pid_t keeper;
static int lifeline = -1;

static const char script[] = "command -v redis-server || { rm -rf \"$1\"; exit 127; }\n"
			     "redis-server \"$1/conf\" &\n"
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

	if (snprintf(path, FOLDER, "%s/pawl-bank-XXXXXX", tmp && *tmp ? tmp : "/tmp") >= FOLDER) {
		snprintf(why, whylen, "TMPDIR: too long for the name of a socket");
		return false;
	}
	if (mkdtemp(path))
		return true;
	snprintf(why, whylen, "cannot make a folder %s: %s", path, strerror(errno));
	return false;
}

/* ------------------------------------------------------------------ its settings */

/* The first address of this host that others may reach. */
static bool own_address(struct sockaddr_in *own)
{
	struct ifaddrs *all, *i;
	bool found = false;

	if (getifaddrs(&all))
		return false;
	for (i = all; i && !found; i = i->ifa_next) {
		if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET || !(i->ifa_flags & IFF_UP) ||
		    (i->ifa_flags & IFF_LOOPBACK))
			continue;
		memcpy(own, i->ifa_addr, sizeof *own);
		found = true;
	}
	freeifaddrs(all);
	return found;
}

/* A port of the address that is free now. */
static bool free_port(struct sockaddr_in *own)
{
	socklen_t len = sizeof *own;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool ok;

	own->sin_port = 0;
	ok = fd >= 0 && bind(fd, (struct sockaddr *)own, len) == 0 &&
	     getsockname(fd, (struct sockaddr *)own, &len) == 0;
	if (fd >= 0)
		close(fd);
	return ok;
}

/* The lines for clients on other hosts; where: as redis_connect() takes it. */
static bool listen_to_hosts(FILE *conf, char *where)
{
	char address[INET_ADDRSTRLEN];
	struct sockaddr_in own;
	uint64_t password[2];

	if (!own_address(&own) || !free_port(&own) ||
	    getrandom(password, sizeof password, 0) != sizeof password ||
	    !inet_ntop(AF_INET, &own.sin_addr, address, sizeof address))
		return false;
	snprintf(where, REDIS_PATH, "%s %d %016llx%016llx", address, ntohs(own.sin_port),
		 (unsigned long long)password[0], (unsigned long long)password[1]);
	fprintf(conf, "bind %s\nport %d\nrequirepass %s\n", address, ntohs(own.sin_port),
		strrchr(where, ' ') + 1);
	return true;
}

/* The server's file, in the folder; none but this user can read it. */
static bool configure(const char *folder, bool for_hosts, char *where)
{
	char path[REDIS_PATH];
	FILE *conf;
	bool ok = true;

	snprintf(path, sizeof path, "%s/conf", folder);
	conf = fopen(path, "w");
	if (!conf)
		return false;
	fprintf(conf, "save \"\"\nappendonly no\ndaemonize no\ndir \"%s\"\nlogfile \"%s/log\"\n",
		folder, folder);
	if (for_hosts) {
		ok = listen_to_hosts(conf, where);
	} else {
		snprintf(where, REDIS_PATH, "%s/socket", folder);
		fprintf(conf, "port 0\nunixsocket \"%s\"\nunixsocketperm 600\n", where);
	}
	return fclose(conf) == 0 && ok;
}

/* Wait until the socket takes connections. */
static bool wait_for_server(const char *where, char *why, size_t whylen)
{
	for (int i = 0; i < TRIES; i++) {
		int status;

		if (redis_connect(where, why, whylen)) {
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

static void remove_folder(const char *folder)
{
	char path[REDIS_PATH];

	snprintf(path, sizeof path, "%s/conf", folder);
	unlink(path);
	rmdir(folder);
}

bool redis_start(char *where, bool for_hosts, char *why, size_t whylen)
{
	char folder[FOLDER];
	int ends[2], rc;

	if (!open_folder(folder, why, whylen))
		return false;
	if (!configure(folder, for_hosts, where)) {
		snprintf(why, whylen, "cannot configure redis-server: %s",
			 for_hosts ? "this host has no address for others, or the folder is full"
				   : strerror(errno));
		remove_folder(folder);
		return false;
	}
	rc = pipe2(ends, O_CLOEXEC) ? errno : 0;
	if (!rc) {
		rc = spawn_keeper(folder, ends[0]);
		close(ends[0]);
		lifeline = ends[1];
	}
	if (rc) {
		snprintf(why, whylen, "cannot start redis-server: %s", strerror(rc));
		remove_folder(folder);
		return false;
	}
	if (wait_for_server(where, why, whylen))
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
