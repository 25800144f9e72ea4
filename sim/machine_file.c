/* SPDX-License-Identifier: BSD-3-Clause */
/* Read the description of a machine: one setting a line; "#" starts a comment. */
#include "sim/machine.h"

#include <ctype.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum type { TEXT, COUNT, TIME, TWO_TIMES, PER_CENT, DUPLEX, ORDER, NETWORK };

#define AT(field) offsetof(struct machine, field)
#define CPU(word, place)                                                         \
	{                                                                        \
		"cpu " word, TWO_TIMES, AT(read[place]), AT(write[place]), false \
	}
#define SERVER(word, field)                                                                \
	{                                                                                  \
		"server " word, TWO_TIMES, AT(server.field[0]), AT(server.field[1]), false \
	}
#define NET(word, field)                               \
	{                                              \
		"net " word, TIME, AT(field), 0, false \
	}

static const struct {
	const char *name;
	enum type type;
	size_t at, also;
	bool needed;
} settings[] = {
    {"summary", TEXT, AT(summary), 0, true},
    {"topology", TEXT, AT(topology), 0, true},
    {"ranks", COUNT, AT(ranks), 0, true},
    CPU("own", MACHINE_OWN),
    CPU("cache", TOPO_CACHE),
    CPU("numa", TOPO_NUMA),
    CPU("package", TOPO_PACKAGE),
    CPU("node", TOPO_NODE),
    CPU("memory", MACHINE_MEMORY),
    {"cpu look", TIME, AT(look), 0, true},
    NET("send", send),
    NET("gap", gap),
    NET("latency loopback", latency[TOPO_NODE]),
    NET("latency group", latency[TOPO_GROUP]),
    NET("latency machine", latency[TOPO_MACHINE]),
    NET("serve put", serve[MACHINE_PUT]),
    NET("serve get", serve[MACHINE_GET]),
    NET("serve atomic", serve[MACHINE_ATOMIC]),
    NET("serve same-word", same_word),
    NET("serve loopback", loopback),
    NET("serve backlog", backlog),
    NET("extra put", extra[MACHINE_PUT]),
    NET("extra get", extra[MACHINE_GET]),
    NET("extra atomic", extra[MACHINE_ATOMIC]),
    {"net jitter", PER_CENT, AT(jitter), 0, false},
    {"net duplex", DUPLEX, AT(half_duplex), 0, false},
    {"net order", ORDER, AT(ordered), 0, false},
    {"net route", NETWORK, AT(network), 0, false},
    NET("link latency", network.link),
    NET("link gap", link_gap),
    {"server threads", COUNT, AT(server.threads), 0, false},
    {"server request", TIME, AT(server.request), 0, false},
    SERVER("it", it),
    SERVER("llc", llc),
    SERVER("mt", mt),
};

enum { SETTINGS = sizeof settings / sizeof settings[0], MAX_NS = 1000000000, MAX_RANKS = 1 << 20 };

static bool wrong(char *err, size_t errlen, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static bool wrong(char *err, size_t errlen, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(err, errlen, fmt, args);
	va_end(args);
	return false;
}

/* Read a number of nanoseconds at *text and move *text behind it. */
static bool to_time(char **text, sim_time *time)
{
	char *end;
	double ns = strtod(*text, &end);

	if (end == *text || !(ns >= 0 && ns <= MAX_NS))
		return false;
	*time = (sim_time)(ns * (double)SIM_NS + 0.5);
	*text = end + strspn(end, " \t");
	return true;
}

/* "dragonfly TEXT", "fat-tree TEXT", "file PATH". */
static bool set_network(struct network_plan *plan, char *value, char *err, size_t errlen)
{
	static const char *const shapes[] = {
	    [NETWORK_DRAGONFLY] = "dragonfly",
	    [NETWORK_FAT_TREE] = "fat-tree",
	    [NETWORK_FILE] = "file",
	};
	size_t len = strcspn(value, " \t");
	const char *text = value + len + strspn(value + len, " \t");

	for (int i = NETWORK_DRAGONFLY; i <= NETWORK_FILE; i++) {
		if (strlen(shapes[i]) != len || strncmp(value, shapes[i], len) != 0)
			continue;
		plan->shape = (enum network_shape)i;
		if (snprintf(plan->text, sizeof plan->text, "%s", text) >= (int)sizeof plan->text)
			return wrong(err, errlen, "net route: more than %zu bytes",
				     sizeof plan->text - 1);
		return true;
	}
	return wrong(err, errlen,
		     "net route: \"%.120s\" is none of: dragonfly PARTS, fat-tree PARTS, file PATH",
		     value);
}

static bool set(struct machine *m, int i, char *value, char *err, size_t errlen)
{
	char *field = (char *)m + settings[i].at, *end = value;
	sim_time *time = (sim_time *)(void *)field;
	const char *name = settings[i].name;
	long number;

	switch (settings[i].type) {
	case TEXT:
		if (!*value || strlen(value) >= sizeof m->topology)
			return wrong(err, errlen, "%s: a text of 1 to %zu bytes is expected", name,
				     sizeof m->topology - 1);
		memcpy(field, value, strlen(value) + 1);
		return true;
	case COUNT:
		number = isdigit((unsigned char)*value) ? strtol(value, &end, 10) : 0;
		if (*end || number < 1 || number > MAX_RANKS)
			return wrong(err, errlen, "%s: \"%.120s\" is not a number from 1 to %d",
				     name, value, MAX_RANKS);
		*(int *)(void *)field = (int)number;
		return true;
	case TIME:
		if (!to_time(&end, time) || *end)
			return wrong(err, errlen, "%s: \"%.120s\" is not a time from 0 to %d ns",
				     name, value, MAX_NS);
		return true;
	case TWO_TIMES:
		if (!to_time(&end, time) ||
		    !to_time(&end, (sim_time *)(void *)((char *)m + settings[i].also)) || *end)
			return wrong(
			    err, errlen,
			    "%s: \"%.120s\" is not two times, of a read and a change, from 0"
			    " to %d ns",
			    name, value, MAX_NS);
		return true;
	case PER_CENT:
		m->jitter = strtod(value, &end) / 100;
		if (end == value || *end || !(m->jitter >= 0 && m->jitter <= 1))
			return wrong(err, errlen, "%s: \"%.120s\" is not a number from 0 to 100",
				     name, value);
		return true;
	case ORDER:
		m->ordered = strcmp(value, "kept") == 0;
		if (!m->ordered && strcmp(value, "any") != 0)
			return wrong(err, errlen, "%s: \"%.120s\" is not one of: any, kept", name,
				     value);
		return true;
	case DUPLEX:
		m->half_duplex = strcmp(value, "half") == 0;
		if (!m->half_duplex && strcmp(value, "full") != 0)
			return wrong(err, errlen, "%s: \"%.120s\" is not one of: full, half", name,
				     value);
		return true;
	case NETWORK:
		return set_network(&m->network, value, err, errlen);
	}
	return false;
}

static int find(const char *line, size_t *len)
{
	for (int i = 0; i < SETTINGS; i++) {
		*len = strlen(settings[i].name);
		if (strncmp(line, settings[i].name, *len) == 0 &&
		    (line[*len] == '\0' || isspace((unsigned char)line[*len])))
			return i;
	}
	return -1;
}

/* Strip the comment, and blanks at both ends. */
static char *trim(char *line)
{
	char *end;

	line[strcspn(line, "#\n")] = '\0';
	line += strspn(line, " \t");
	for (end = line + strlen(line); end > line && isspace((unsigned char)end[-1]);)
		*--end = '\0';
	return line;
}

static bool read_line(struct machine *m, char *line, uint64_t *given, char *err, size_t errlen)
{
	char names[600] = "";
	size_t len = 0, used = 0;
	int i = find(line, &len);

	if (i < 0) {
		for (i = 0; i < SETTINGS && used < sizeof names; i++)
			used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
						 i ? ", " : "", settings[i].name);
		return wrong(err, errlen, "\"%.120s\" is no setting; accepted: %s", line, names);
	}
	if (*given & UINT64_C(1) << i)
		return wrong(err, errlen, "%s is given twice", settings[i].name);
	*given |= UINT64_C(1) << i;
	line += len;
	return set(m, i, line + strspn(line, " \t"), err, errlen);
}

/* Read the next line. Text after a null byte would be ignored, so that is an error. */
static bool next_line(FILE *in, char **text, size_t *room, bool *end, char *err, size_t errlen)
{
	ssize_t len = getline(text, room, in);

	*end = len < 0;
	if (*end || strlen(*text) == (size_t)len)
		return true;
	return wrong(err, errlen, "there is a byte 0 in it");
}

static bool read_lines(struct machine *m, FILE *in, const char *path, uint64_t *given, char *err,
		       size_t errlen)
{
	char *text = NULL, why[800] = "";
	size_t room = 0;
	bool ok = true, end = false;

	for (int number = 1; ok && !end; number++) {
		char *line;

		ok = next_line(in, &text, &room, &end, why, sizeof why);
		if (ok && !end) {
			line = trim(text);
			ok = !*line || read_line(m, line, given, why, sizeof why);
		}
		if (!ok)
			wrong(err, errlen, "%s, line %d: %s", path, number, why);
	}
	free(text);
	return ok;
}

bool machine_read_from(struct machine *m, FILE *in, const char *path, char *err, size_t errlen)
{
	uint64_t given = 0;

	memset(m, 0, sizeof *m);
	if (!read_lines(m, in, path, &given, err, errlen))
		return false;
	for (int i = 0; i < SETTINGS; i++)
		if (settings[i].needed && !(given & UINT64_C(1) << i))
			return wrong(err, errlen, "%s: %s is missing", path, settings[i].name);
	return true;
}

bool machine_read(struct machine *m, const char *path, char *err, size_t errlen)
{
	FILE *in = fopen(path, "r");
	bool ok;

	if (!in)
		return wrong(err, errlen, "cannot read %s", path);
	ok = machine_read_from(m, in, path, err, errlen);
	fclose(in);
	return ok;
}
