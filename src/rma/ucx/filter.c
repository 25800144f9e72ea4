/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel lets only hosts of the job connect to UCX. UCX does not authenticate a process that
 * connects to the port of a worker, and ends its own process on input that it does not expect: UCX
 * 1.13 when a peer leaves during the set-up of a connection (an assertion in
 * ucp_request_send_state_ff), and all versions on TCP message headers that are out of bounds, if
 * UCX is built with assertions, as distributions build it. No option of UCX turns off its handlers
 * for connections and for its wire-up. So nothing that another host sends may reach them.
 *
 * A socket filter (classic BPF, which needs no privilege) on a listening socket drops SYN segments
 * that do not come from a host of the job. Another host cannot use a forged address, because it
 * would not get the answer. All other segments pass: there is no connection without a SYN that has
 * passed. Connections inherit the filter; it costs each segment two instructions.
 *
 * The sockets belong to UCX. To find them, Pawl compares the listening sockets of the process
 * before and after it creates a worker. A socket that another thread of the application has opened
 * meanwhile is told apart by its port, which is not in the worker's address.
 */
#include "rma/ucx/filter.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
	FLAGS_AT = 13,  /* offset of the flags in the TCP header, where a filter begins */
	SYN = 0x02,     /* one of the flags */
	SOURCE_AT = 12, /* offset in the IPv4 header */
	INSTRUCTIONS = 4 + 3 * FILTER_RANGES + 1,
};

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Join the two neighbouring ranges with the smallest gap between them. */
static void join(struct host_filter *g)
{
	int at = 1;

	for (int i = 2; i < g->ranges; i++)
		if (g->first[i] - g->last[i - 1] < g->first[at] - g->last[at - 1])
			at = i;
	g->last[at - 1] = g->last[at];
	g->ranges--;
	memmove(g->first + at, g->first + at + 1, (size_t)(g->ranges - at) * sizeof g->first[0]);
	memmove(g->last + at, g->last + at + 1, (size_t)(g->ranges - at) * sizeof g->last[0]);
}

void filter_admit(struct host_filter *g, uint32_t *address, int n)
{
	qsort(address, (size_t)n, sizeof *address, by_number);
	for (int i = 0; i < n; i++) {
		if (g->ranges > 0 && address[i] - g->last[g->ranges - 1] <= 1) {
			g->last[g->ranges - 1] = address[i];
			continue;
		}
		if (g->ranges == FILTER_RANGES)
			join(g);
		g->first[g->ranges] = g->last[g->ranges] = address[i];
		g->ranges++;
	}
}

static int program(const struct host_filter *g, struct sock_filter *f)
{
	const struct sock_filter pass = BPF_STMT(BPF_RET | BPF_K, UINT32_MAX);
	int n = 0;

	f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_B | BPF_ABS, FLAGS_AT);
	f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, SYN, 1, 0);
	f[n++] = pass;
	f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					      (uint32_t)(SKF_NET_OFF + SOURCE_AT));
	for (int i = 0; i < g->ranges; i++) {
		f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, g->first[i], 0, 2);
		f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, g->last[i], 1, 0);
		f[n++] = pass;
	}
	f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0);
	return n;
}

bool filter_attach(const struct host_filter *g, int fd)
{
	struct sock_filter filter[INSTRUCTIONS];
	struct sock_fprog all = {.filter = filter, .len = (unsigned short)program(g, filter)};

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &all, sizeof all) == 0;
}

/* Whether fd is a listening TCP socket over IPv4; *port is its port in network order. */
static bool is_listener(int fd, uint16_t *port)
{
	struct sockaddr_in a;
	socklen_t length = sizeof(int);
	int listens = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) != 0 || !listens)
		return false;
	length = sizeof a;
	if (getsockname(fd, (struct sockaddr *)&a, &length) != 0 || a.sin_family != AF_INET)
		return false;
	*port = a.sin_port;
	return true;
}

void filter_find_listeners(struct filter_listeners *l)
{
	DIR *fds = opendir("/proc/self/fd");
	struct dirent *d;
	uint16_t port;

	*l = (struct filter_listeners){0};
	while (fds && (d = readdir(fds))) {
		int *more;

		if (d->d_name[0] == '.' || !is_listener(atoi(d->d_name), &port))
			continue;
		more = realloc(l->fd, (size_t)(l->n + 1) * sizeof *more);
		if (!more)
			break;
		l->fd = more;
		l->fd[l->n++] = atoi(d->d_name);
	}
	if (fds)
		closedir(fds);
}

void filter_forget_listeners(struct filter_listeners *l)
{
	free(l->fd);
	*l = (struct filter_listeners){0};
}

static bool has(const struct filter_listeners *l, int fd)
{
	int i = 0;

	while (i < l->n && l->fd[i] != fd)
		i++;
	return i < l->n;
}

void filter_attach_new(const struct host_filter *g, const struct filter_listeners *before,
		       const void *address, size_t bytes)
{
	struct filter_listeners now;
	uint16_t port;

	filter_find_listeners(&now);
	for (int i = 0; i < now.n; i++)
		if (!has(before, now.fd[i]) && is_listener(now.fd[i], &port) &&
		    memmem(address, bytes, &port, sizeof port))
			filter_attach(g, now.fd[i]);
	filter_forget_listeners(&now);
}
