/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A time line whose name ends in ".gz" is compressed. A gzip file (RFC 1952) consists of members,
 * whose texts follow each other when it is read:
 *
 *   begin   the first lines of the time line, stored: trace_claim.c reads the name of the job
 *   table   one for each table, compressed by gzip(1), so that the library needs no other one
 *   end     the last lines, stored, with the number of bytes of text before them; the next table
 *           replaces it
 *
 * gzip writes to the open file. The text goes there through a socket, since a write to one whose
 * reader has ended can be an error instead of a signal. Whether gzip has written all of it, the
 * length of the text at the end of its member says; if it has not, the member is removed.
 */
#include "observe/trace_gzip.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/child.h"

/* Their fields have the lowest byte first. */
enum { HEADER = 10, BLOCK = 5, CHECK = 8, LENGTH = 4, MOST = 1024 };

static const char end[] = "\n], \"pawlBytes\": %20" PRIu64 "}\n";
enum { END = sizeof "\n], \"pawlBytes\": }\n" - 1 + 20 };
_Static_assert((int)HEADER + (int)BLOCK == (int)TRACE_GZIP_TEXT, "where the first text begins");

struct trace_gzip {
	int fd; /* the time line */
	off_t at;
	uint64_t before, bytes; /* of text */
	int socket;
	pid_t child;
};

bool trace_gzip_named(const char *path)
{
	size_t len = strlen(path);

	return len > 3 && strcmp(path + len - 3, ".gz") == 0;
}

static uint32_t checksum(const char *text, size_t n)
{
	uint32_t c = UINT32_MAX;

	for (size_t i = 0; i < n; i++) {
		c ^= (unsigned char)text[i];
		for (int bit = 0; bit < 8; bit++)
			c = c >> 1 ^ (c & 1 ? 0xedb88320 : 0);
	}
	return ~c;
}

static char *put_number(char *to, uint32_t number, int bytes)
{
	for (int i = 0; i < bytes; i++)
		*to++ = (char)(number >> 8 * i);
	return to;
}

/* A member that is not compressed. */
static bool store(int fd, const char *text)
{
	static const char header[HEADER] = {'\x1f', '\x8b', 8, 0, 0, 0, 0, 0, 0, '\xff'};
	size_t n = strlen(text);
	char member[HEADER + BLOCK + MOST + CHECK], *to = member + HEADER;
	ssize_t size;

	if (n > MOST)
		return false;
	memcpy(member, header, HEADER);
	*to++ = 1; /* the last block, stored */
	to = put_number(to, (uint32_t)n, 2);
	to = put_number(to, ~(uint32_t)n, 2);
	memcpy(to, text, n);
	to = put_number(to + n, checksum(text, n), 4);
	to = put_number(to, (uint32_t)n, 4);
	size = to - member;
	return write(fd, member, (size_t)size) == size;
}

static bool store_end(int fd, uint64_t bytes)
{
	char text[END + 1];

	snprintf(text, sizeof text, end, bytes);
	return store(fd, text);
}

bool trace_gzip_begin(int fd, const char *text)
{
	return store(fd, text) && store_end(fd, strlen(text));
}

bool trace_gzip_is_there(void)
{
	char program[] = "gzip", version[] = "--version", *arguments[] = {program, version, NULL};
	pid_t child;

	if (!child_spawn(arguments, -1, -1, &child))
		return false;
	child_await(child);
	return true;
}

/* ----------------------------------------------------------------------- a table */

static ssize_t pass_on(void *cookie, const char *text, size_t n)
{
	struct trace_gzip *g = cookie;
	size_t done = 0;

	while (done < n) {
		ssize_t now = send(g->socket, text + done, n - done, MSG_NOSIGNAL);

		if (now < 0 && errno == EINTR)
			continue;
		if (now <= 0)
			return 0;
		done += (size_t)now;
	}
	g->bytes += n;
	return (ssize_t)n;
}

/* The end, which the file goes on after. False: there is none. */
static bool find_end(struct trace_gzip *g)
{
	char text[END + 1] = "";

	g->at = lseek(g->fd, 0, SEEK_END) - (HEADER + BLOCK + END + CHECK);
	return g->at > 0 && pread(g->fd, text, END, g->at + HEADER + BLOCK) == END &&
	       sscanf(text, end, &g->before) == 1 && lseek(g->fd, g->at, SEEK_SET) == g->at;
}

static FILE *start(struct trace_gzip *g)
{
	char program[] = "gzip", flags[] = "-c1", *arguments[] = {program, flags, NULL};
	const cookie_io_functions_t calls = {.write = pass_on};
	int ends[2];
	FILE *f;
	bool well;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return NULL;
	g->socket = ends[0];
	f = fopencookie(g, "w", calls);
	well =
	    f && ftruncate(g->fd, g->at) == 0 && child_spawn(arguments, ends[1], g->fd, &g->child);
	close(ends[1]);
	if (well)
		return f;
	close(ends[0]);
	if (f)
		fclose(f);
	return NULL;
}

FILE *trace_gzip_open(int fd, uint64_t *before, struct trace_gzip **gzip)
{
	struct trace_gzip *g = calloc(1, sizeof *g);
	FILE *f = NULL;

	if (g) {
		g->fd = fd;
		if (find_end(g)) {
			f = start(g);
			if (!f)
				store_end(fd, g->before);
		}
		*before = g->before;
	}
	if (!f)
		free(g);
	*gzip = g;
	return f;
}

/* Whether the last member has all of the text. */
static bool is_whole(const struct trace_gzip *g)
{
	unsigned char length[LENGTH];
	char wanted[LENGTH];
	off_t at = lseek(g->fd, 0, SEEK_END);

	put_number(wanted, (uint32_t)g->bytes, LENGTH);
	return at >= g->at + HEADER + CHECK &&
	       pread(g->fd, length, LENGTH, at - LENGTH) == LENGTH &&
	       memcmp(length, wanted, LENGTH) == 0;
}

bool trace_gzip_close(FILE *f, struct trace_gzip *g)
{
	bool well = fclose(f) == 0;
	uint64_t bytes = g->before;

	close(g->socket);
	child_await(g->child);
	well = well && is_whole(g);
	if (well)
		bytes += g->bytes;
	else if (ftruncate(g->fd, g->at) == 0)
		lseek(g->fd, g->at, SEEK_SET);
	if (!store_end(g->fd, bytes))
		well = false;
	if (close(g->fd) != 0)
		well = false;
	free(g);
	return well;
}
