/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The socket filter that decides which hosts may connect, with sockets of the loopback interface,
 * whose addresses stand for those of hosts. The kernel runs the filter. Prints TAP.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rma/ucx/filter.h"
#include "unit.h"

enum { REFUSED_MS = 150, MANY = 1000, SPREAD = 1024 };
#define LOOPBACK UINT32_C(0x7f000000)

static struct sockaddr_in at(uint32_t address, uint16_t port)
{
	return (struct sockaddr_in){
	    .sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(address)};
}

/* A socket that listens at 127.0.0.1, and its port. */
static int listen_here(uint16_t *port)
{
	struct sockaddr_in a = at(LOOPBACK + 1, 0);
	socklen_t length = sizeof a;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) != 0 || listen(fd, 16) != 0 ||
	    getsockname(fd, (struct sockaddr *)&a, &length) != 0)
		return -1;
	*port = a.sin_port;
	return fd;
}

/* Connect from that address and send a text; returns what arrived, or NULL if the connection is
 * refused. */
static const char *talk(int listener, uint32_t from, uint16_t port)
{
	static char heard[8];
	struct sockaddr_in mine = at(from, 0), other = at(LOOPBACK + 1, port);
	struct pollfd fd = {.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0),
			    .events = POLLOUT};
	const char *result = NULL;
	int in;

	if (bind(fd.fd, (struct sockaddr *)&mine, sizeof mine) == 0 &&
	    (connect(fd.fd, (struct sockaddr *)&other, sizeof other) == 0 ||
	     errno == EINPROGRESS) &&
	    poll(&fd, 1, REFUSED_MS) == 1 && !(fd.revents & (POLLERR | POLLHUP))) {
		in = accept(listener, NULL, NULL);
		memset(heard, 0, sizeof heard);
		if (write(fd.fd, "hello", 5) == 5 && read(in, heard, sizeof heard - 1) == 5)
			result = heard;
		close(in);
	}
	close(fd.fd);
	return result;
}

static bool gets_in(int listener, uint32_t from, uint16_t port)
{
	const char *heard = talk(listener, from, port);

	return heard && strcmp(heard, "hello") == 0;
}

static void kernel(void)
{
	uint32_t hosts[] = {LOOPBACK + 9, LOOPBACK + 5, LOOPBACK + 6, LOOPBACK + 5};
	struct host_filter g = {.ranges = 0}, none = {.ranges = 0};
	uint16_t port;
	int fd = listen_here(&port);

	ok(fd >= 0 && gets_in(fd, LOOPBACK + 7, port), "an open socket takes anybody");
	filter_admit(&g, hosts, 4);
	ok(g.ranges == 2, "neighbours are one range");
	ok(filter_attach(&g, fd), "the kernel takes the filter");
	ok(gets_in(fd, LOOPBACK + 5, port) && gets_in(fd, LOOPBACK + 6, port) &&
	       gets_in(fd, LOOPBACK + 9, port),
	   "hosts of the job connect, and are heard");
	ok(!gets_in(fd, LOOPBACK + 4, port), "the address below a range is kept out");
	ok(!gets_in(fd, LOOPBACK + 7, port) && !gets_in(fd, LOOPBACK + 8, port),
	   "addresses between ranges are kept out");
	ok(!gets_in(fd, LOOPBACK + 10, port), "the address above is kept out");
	ok(filter_attach(&none, fd) && !gets_in(fd, LOOPBACK + 5, port), "or all are");
	close(fd);
}

static void many(void)
{
	static uint32_t hosts[MANY];
	struct host_filter g = {.ranges = 0};
	uint16_t port;
	bool in_order = true;
	int fd = listen_here(&port), has[2] = {0, 0};

	/* Two networks far apart, without adjacent addresses. */
	for (int i = 0; i < MANY; i++)
		hosts[i] = LOOPBACK + (i % 2 ? 0x800000 : 0) + 16 + (uint32_t)i * SPREAD;
	filter_admit(&g, hosts, MANY);
	for (int i = 0; i < g.ranges; i++)
		in_order =
		    in_order && g.first[i] <= g.last[i] && (i == 0 || g.first[i] > g.last[i - 1]);
	ok(g.ranges == FILTER_RANGES && in_order, "many hosts are joined to ranges, in order");
	for (int i = 0; i < MANY; i++)
		for (int k = 0; k < g.ranges; k++)
			has[0] += hosts[i] >= g.first[k] && hosts[i] <= g.last[k];
	ok(has[0] == MANY, "each of them is in one");
	ok(filter_attach(&g, fd) && gets_in(fd, hosts[0], port) &&
	       gets_in(fd, hosts[MANY - 1], port),
	   "the first and the last are let in");
	ok(!gets_in(fd, LOOPBACK + 2, port) && !gets_in(fd, LOOPBACK + 0x7ffff0, port),
	   "below, and between the networks, no address is");
	close(fd);
}

static void which(void)
{
	struct host_filter none = {.ranges = 0};
	struct filter_listeners before;
	uint16_t port[3];
	int old = listen_here(&port[0]), other, ucx;

	filter_find_listeners(&before);
	other = listen_here(&port[1]);
	ucx = listen_here(&port[2]);
	filter_attach_new(&none, &before, &port[2], sizeof port[2]);
	filter_forget_listeners(&before);
	ok(!gets_in(ucx, LOOPBACK + 1, port[2]), "a new socket whose port is in the address");
	ok(gets_in(old, LOOPBACK + 1, port[0]) && gets_in(other, LOOPBACK + 1, port[1]),
	   "and no other");
	close(old);
	close(other);
	close(ucx);
}

int main(void)
{
	kernel();
	many();
	which();
	return unit_end();
}
