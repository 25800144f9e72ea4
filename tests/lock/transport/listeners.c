/* SPDX-License-Identifier: BSD-3-Clause */
/* See listeners.h. */
#include "listeners.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECT_MS = 200 };

static bool is_open_here(unsigned long inode)
{
	DIR *fds = opendir("/proc/self/fd");
	struct dirent *d;
	char wanted[64], is[64];
	bool found = false;

	snprintf(wanted, sizeof wanted, "socket:[%lu]", inode);
	while (fds && !found && (d = readdir(fds))) {
		ssize_t n = readlinkat(dirfd(fds), d->d_name, is, sizeof is - 1);

		is[n < 0 ? 0 : n] = '\0';
		found = strcmp(is, wanted) == 0;
	}
	if (fds)
		closedir(fds);
	return found;
}

/* The sockets of this process in state LISTEN (0A); an IPv6 address is given as 0, "any". */
static int listeners(const char *path, struct listener *l, int n)
{
	FILE *f = fopen(path, "r");
	char line[512], address[64];
	unsigned state;

	while (f && n < MOST_LISTENERS && fgets(line, sizeof line, f)) {
		l[n].address = 0;
		if (sscanf(line, " %*d: %63[0-9A-F]:%x %*[0-9A-F]:%*x %x %*s %*s %*s %*s %*s %lu",
			   address, &l[n].port, &state, &l[n].inode) != 4 ||
		    state != 0x0a || !is_open_here(l[n].inode))
			continue;
		if (strlen(address) == 8)
			l[n].address = (unsigned)strtoul(address, NULL, 16);
		n++;
	}
	if (f)
		fclose(f);
	return n;
}

int listeners_find(struct listener *l)
{
	return listeners("/proc/net/tcp6", l, listeners("/proc/net/tcp", l, 0));
}

bool listeners_have(const struct listener *l, int n, unsigned long inode)
{
	while (n > 0 && l[n - 1].inode != inode)
		n--;
	return n > 0;
}

bool listener_takes(const struct listener *l)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)l->port),
				 .sin_addr.s_addr = l->address};
	struct pollfd fd = {.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0),
			    .events = POLLOUT};
	socklen_t length = sizeof(int);
	int error = 0;

	if (connect(fd.fd, (struct sockaddr *)&to, sizeof to) != 0 && errno != EINPROGRESS)
		error = errno;
	if (!error && poll(&fd, 1, CONNECT_MS) != 1)
		error = ETIMEDOUT;
	if (!error)
		getsockopt(fd.fd, SOL_SOCKET, SO_ERROR, &error, &length);
	close(fd.fd);
	return error == 0;
}
