/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file of option topology_file: a line for each host with its groups, outermost first; "#"
 * starts a comment. A host is found by its name; either the file or the job may omit the domain.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "topo/groups.h"

enum { SHOWN = 120 }; /* characters of a value that a message shows */

static const char blank[] = " \t\r\n\v\f";

struct line {
	char *host; /* the line itself, cut into words */
	char *group[TOPO_MAX_GROUPS];
	int number;
};

struct table {
	const char *path; /* for messages */
	char *err;
	size_t errlen;
	struct line *line;
	int n, room, ngroups;
};

static int line_compare(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->host, ((const struct line *)b)->host);
}

static int no_memory(struct table *t)
{
	snprintf(t->err, t->errlen, "topology_file: no memory");
	errno = ENOMEM;
	return -1;
}

static int bad_line(struct table *t, int number, const char *what, const char *value)
{
	snprintf(t->err, t->errlen,
		 "topology_file: \"%.*s\", line %d: %s \"%.*s\"; accepted are lines \"HOST GROUP "
		 "[GROUP ...]\", the outermost group first, with the same number of groups (at "
		 "most %d) for all hosts, and # comments",
		 SHOWN, t->path, number, what, SHOWN, value, TOPO_MAX_GROUPS);
	return -1;
}

/* Moves the host to the start of the text, so that free(host) frees the line. */
static void cut_comment_and_indent(char *text)
{
	size_t indent;

	text[strcspn(text, "#")] = '\0';
	indent = strspn(text, blank);
	memmove(text, text + indent, strlen(text + indent) + 1);
}

static int make_room(struct table *t)
{
	int room = t->room ? 2 * t->room : 64;
	struct line *more;

	if (t->n < t->room)
		return 0;
	more = realloc(t->line, (size_t)room * sizeof(*more));
	if (!more)
		return no_memory(t);
	t->line = more;
	t->room = room;
	return 0;
}

/* 1: the table has taken the text over; 0: the line is empty; -1: error, with a message. */
static int add_line(struct table *t, char *text, int number)
{
	struct line l = {.number = number};
	char *word, *rest = NULL;
	int n = 0;

	cut_comment_and_indent(text);
	l.host = strtok_r(text, blank, &rest);
	if (!l.host)
		return 0;
	while ((word = strtok_r(NULL, blank, &rest)) != NULL) {
		if (n < TOPO_MAX_GROUPS)
			l.group[n] = word;
		n++;
	}
	if (n == 0)
		return bad_line(t, number, "no group for host", l.host);
	if (n > TOPO_MAX_GROUPS || (t->n > 0 && n != t->ngroups))
		return bad_line(t, number, "wrong number of groups for host", l.host);
	if (make_room(t) != 0)
		return -1;
	t->ngroups = n;
	t->line[t->n++] = l;
	return 1;
}

static int read_lines(struct table *t, FILE *f)
{
	char *text = NULL;
	size_t size = 0;
	ssize_t len;
	int added = 0;

	for (int number = 1; added >= 0 && (len = getline(&text, &size, f)) >= 0; number++) {
		/* Text after a null byte would be ignored. */
		if (strlen(text) != (size_t)len)
			added = bad_line(t, number, "a byte 0 after", text);
		else
			added = add_line(t, text, number);
		if (added > 0) {
			text = NULL;
			size = 0;
		}
	}
	if (added >= 0 && ferror(f)) {
		snprintf(t->err, t->errlen, "topology_file: reading \"%.*s\" failed: %s", SHOWN,
			 t->path, strerror(errno));
		added = -1;
	}
	free(text);
	return added < 0 ? -1 : 0;
}

static int sort_lines(struct table *t)
{
	if (t->n == 0) {
		snprintf(t->err, t->errlen,
			 "topology_file: \"%.*s\" has no line; accepted are lines \"HOST GROUP "
			 "[GROUP ...]\"",
			 SHOWN, t->path);
		return -1;
	}
	qsort(t->line, (size_t)t->n, sizeof(*t->line), line_compare);
	for (int i = 1; i < t->n; i++) {
		const struct line *a = &t->line[i - 1], *b = &t->line[i];

		if (line_compare(a, b) == 0)
			return bad_line(t, a->number > b->number ? a->number : b->number,
					"a second line for host", b->host);
	}
	return 0;
}

/* The first line whose host is not before name; t->n if there is none. */
static int lower_bound(const struct table *t, const char *name)
{
	int low = 0, high = t->n;

	while (low < high) {
		int mid = low + (high - low) / 2;

		if (strcmp(t->line[mid].host, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int begins_with(const struct table *t, int i, const char *text, size_t len)
{
	return i < t->n && strncmp(t->line[i].host, text, len) == 0;
}

/* Match name exactly, or without the domain in the file or on the host. NULL: error, with a
 * message. */
static const struct line *find_line(struct table *t, const char *name)
{
	char other[sizeof(((struct topo_host *)0)->name) + 1];
	size_t len = strcspn(name, ".");
	int i = lower_bound(t, name);

	if (i < t->n && strcmp(t->line[i].host, name) == 0)
		return &t->line[i];
	snprintf(other, sizeof(other), "%.*s%s", (int)len, name, name[len] ? "" : ".");
	i = lower_bound(t, other);
	/* Compares the dot, too, or the end of the name. */
	if (!begins_with(t, i, other, len + 1)) {
		snprintf(t->err, t->errlen,
			 "topology_file: \"%.*s\" has no line for host \"%.*s\"; accepted are "
			 "lines \"HOST GROUP [GROUP ...]\" for all hosts of the job",
			 SHOWN, t->path, SHOWN, name);
		return NULL;
	}
	if (!name[len] && begins_with(t, i + 1, other, len + 1)) {
		snprintf(t->err, t->errlen,
			 "topology_file: \"%.*s\" has lines for \"%.*s\" and \"%.*s\", and the job "
			 "has host \"%.*s\"; accepted is one line for it",
			 SHOWN, t->path, SHOWN / 2, t->line[i].host, SHOWN / 2, t->line[i + 1].host,
			 SHOWN / 2, name);
		return NULL;
	}
	return &t->line[i];
}

static int number_hosts(struct topo_groups *g, struct table *t, const struct topo_host *hosts,
			int n, int (*ids)[TOPO_MAX_GROUPS])
{
	struct topo_label *labels = calloc((size_t)n, sizeof(*labels));
	const struct line **lines = calloc((size_t)n, sizeof(*lines));
	int rc = labels && lines ? 0 : no_memory(t);

	for (int h = 0; h < n && rc == 0; h++) {
		lines[h] = find_line(t, hosts[h].name);
		rc = lines[h] ? 0 : -1;
	}
	for (int i = 0; i < t->ngroups && rc == 0; i++) {
		for (int h = 0; h < n; h++)
			labels[h] = (struct topo_label){lines[h]->group[i], h};
		topo_number_labels(labels, n, ids, i);
		snprintf(g->name[i], sizeof(g->name[i]), "group");
		g->n = i + 1;
	}
	free(lines);
	free(labels);
	return rc;
}

int topo_groups_file(struct topo_groups *g, FILE *f, const char *path,
		     const struct topo_host *hosts, int n, int (*ids)[TOPO_MAX_GROUPS], char *err,
		     size_t errlen)
{
	struct table t = {.path = path, .err = err, .errlen = errlen};
	int rc = read_lines(&t, f);

	if (rc == 0)
		rc = sort_lines(&t);
	if (rc == 0)
		rc = number_hosts(g, &t, hosts, n, ids);
	for (int i = 0; i < t.n; i++)
		free(t.line[i].host);
	free(t.line);
	return rc;
}
