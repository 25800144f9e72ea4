/* SPDX-License-Identifier: BSD-3-Clause */
/* See listeners.h. */
#include "listeners.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* The sockets in state LISTEN, 0A, of this process; addresses of IPv6 count as 0, "any". */
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
