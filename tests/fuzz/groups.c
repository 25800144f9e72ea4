/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups of hosts: the file of option topology_file, and Slurm's addresses. The first byte is "s"
 * for the latter. The first line has the names of the hosts, and the rest is the file; with Slurm,
 * each line has the pattern and the address of a host.
 *
 * A second, simple parser reads the file: both must give the same answers, and
 * a refusal has a message that names the line or the host.
 */
#include "property.h"

#include "topo/groups.h"

enum { HOSTS = 12, LINES = 400, WORDS = 12, NAME = 64 };

static const char blank[] = " \t\r\n\v\f";

static struct topo_host hosts[HOSTS];
static int nhosts;

/* The line at *at, terminated; moves *at to the next line. */
static char *next_line(char **at)
{
	char *line = *at, *end = strchr(line, '\n');

	if (end)
		*end = '\0';
	*at = end ? end + 1 : line + strlen(line);
	return line;
}

/* --------------------------------------------------------------------------- the file */

struct expected {
	char *word[WORDS]; /* host, groups */
	int words;
};

static struct expected expected[LINES];
static int lines;

/* Whether the file is valid. */
static bool expect_file(char *text)
{
	lines = 0;
	while (*text && lines < LINES) {
		struct expected *e = &expected[lines];
		char *line = next_line(&text), *rest;

		line[strcspn(line, "#")] = '\0';
		e->words = 0;
		for (char *w = strtok_r(line, blank, &rest); w; w = strtok_r(NULL, blank, &rest)) {
			if (e->words == 1 + TOPO_MAX_GROUPS)
				return false;
			e->word[e->words++] = w;
		}
		if (e->words == 1 || (lines > 0 && e->words && e->words != expected[0].words))
			return false;
		for (int i = 0; e->words && i < lines; i++)
			if (strcmp(expected[i].word[0], e->word[0]) == 0)
				return false;
		lines += e->words > 0;
	}
	return lines > 0;
}

static bool names_agree(const char *file, const char *job)
{
	size_t short_job = strcspn(job, "."), short_file = strcspn(file, ".");

	if (short_job != short_file || strncmp(file, job, short_job) != 0)
		return false;
	return !file[short_file] || !job[short_job];
}

/* The line of a host; NULL: none, or more than one. */
static const struct expected *expect_line(const char *name)
{
	const struct expected *found = NULL;
	int agree = 0;

	for (int i = 0; i < lines; i++) {
		if (strcmp(expected[i].word[0], name) == 0)
			return &expected[i];
		if (names_agree(expected[i].word[0], name)) {
			found = &expected[i];
			agree++;
		}
	}
	return agree == 1 ? found : NULL;
}

static void read_hosts(const char *line)
{
	nhosts = 0;
	for (size_t len; (line += strspn(line, blank), len = strcspn(line, blank)); line += len)
		if (nhosts < HOSTS && len < NAME)
			snprintf(hosts[nhosts++].name, NAME, "%.*s", (int)len, line);
	if (!nhosts)
		snprintf(hosts[nhosts++].name, NAME, "h1");
}

static void check_file(const char *text, size_t size)
{
	int ids[HOSTS][TOPO_MAX_GROUPS];
	struct topo_groups groups = {0};
	char err[512] = "", *copy = text_of((const uint8_t *)text, size);
	FILE *f = size ? fmemopen((void *)(uintptr_t)text, size, "r") : fopen("/dev/null", "r");
	bool good = strlen(text) == size && expect_file(copy);
	const struct expected *line[HOSTS];
	int rc;

	property(f, "the text can be read as a file");
	rc = topo_groups_file(&groups, f, "hosts.txt", hosts, nhosts, ids, err, sizeof err);
	fclose(f);
	for (int h = 0; h < nhosts && good; h++) {
		line[h] = expect_line(hosts[h].name);
		good = line[h] != NULL;
	}
	if (rc != 0)
		property(strncmp(err, "topology_file: ", 15) == 0 && strstr(err, "hosts.txt") &&
			     strstr(err, "accepted "),
			 "a refusal names the option, the file and what is accepted");
	if ((rc == 0) != good)
		fprintf(stderr, "%s\n", rc ? err : "accepted");
	property((rc == 0) == good, "it is accepted exactly if the text fits the hosts");
	if (rc == 0) {
		property(groups.n == expected[0].words - 1, "a level for each group of a line");
		for (int g = 0; g < groups.n; g++) {
			property(strcmp(groups.name[g], "group") == 0, "levels are called group");
			for (int h = 1; h < nhosts; h++)
				for (int i = 0; i < h; i++)
					property((ids[h][g] == ids[i][g]) ==
						     (strcmp(line[h]->word[g + 1],
							     line[i]->word[g + 1]) == 0),
						 "equal number, equal label");
		}
	}
	free(copy);
}

/* ---------------------------------------------------------------------------- Slurm */

/* The n-th part of a text between dots; its length, or -1 if there are fewer. */
static int part_of(const char *text, int n, const char **part)
{
	for (; n > 0; n--) {
		text = strchr(text, '.');
		if (!text)
			return -1;
		text++;
	}
	*part = text;
	return (int)strcspn(text, ".");
}

static int parts_of(const char *text)
{
	int n = 1;

	while ((text = strchr(text, '.'))) {
		text++;
		n++;
	}
	return n;
}

/* The number of levels of the addresses; 0: they are not valid. */
static int expect_levels(void)
{
	int levels = parts_of(hosts[0].pattern) - 1;
	const char *last = NULL;

	for (int h = 0; h < nhosts; h++) {
		if (!hosts[h].addr[0] || strcmp(hosts[h].pattern, hosts[0].pattern) != 0 ||
		    parts_of(hosts[h].addr) < levels + 1)
			return 0;
		for (int i = 0; i < h; i++)
			if (strcmp(hosts[i].addr, hosts[h].addr) == 0)
				return 0;
	}
	if (levels < 1 || levels > TOPO_MAX_GROUPS || part_of(hosts[0].pattern, levels, &last) < 0)
		return 0;
	return strcmp(last, "node") == 0 ? levels : 0;
}

static void read_addresses(char *text)
{
	for (nhosts = 0; *text && nhosts < HOSTS; nhosts++) {
		char *line = next_line(&text);
		size_t len = strcspn(line, blank);
		const char *addr = line + len + strspn(line + len, blank);
		struct topo_host *h = &hosts[nhosts];

		memset(h, 0, sizeof *h);
		snprintf(h->pattern, sizeof h->pattern, "%.*s", len < 128 ? (int)len : 127, line);
		snprintf(h->addr, sizeof h->addr, "%.255s", addr);
	}
	if (!nhosts)
		memset(&hosts[nhosts++], 0, sizeof hosts[0]);
}

static void check_slurm(char *text)
{
	int ids[HOSTS][TOPO_MAX_GROUPS], levels;
	struct topo_host before[HOSTS];
	struct topo_groups groups = {0};
	char err[512] = "";

	read_addresses(text);
	levels = expect_levels();
	memcpy(before, hosts, sizeof before);
	property(topo_groups_slurm(&groups, hosts, nhosts, ids, err, sizeof err) == 0 && !err[0],
		 "addresses are never an error");
	property(groups.n == levels, "groups are there exactly if the addresses make sense");
	for (int g = 0; g < levels; g++) {
		property(groups.name[g][0] && !groups.name[g][sizeof groups.name[g] - 1],
			 "a level has a name");
		for (int h = 1; h < nhosts; h++)
			for (int i = 0; i < h; i++) {
				const char *a = "", *b = "";
				int x = part_of(before[h].addr, g, &a);
				int y = part_of(before[i].addr, g, &b);

				property((ids[h][g] == ids[i][g]) ==
					     (x == y && strncmp(a, b, (size_t)x) == 0),
					 "equal number, equal part of the address");
			}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text, *at;

	if (size < 1)
		return 0;
	text = at = text_of(data + 1, size - 1);
	if (data[0] == 's') {
		check_slurm(text);
	} else {
		read_hosts(next_line(&at));
		check_file(at, size - 1 - (size_t)(at - text));
	}
	free(text);
	return 0;
}
