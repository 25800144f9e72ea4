/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The description of a machine for the simulator. An accepted description has all values within
 * their ranges, and gives the same machine with its lines in reverse order and with comments,
 * blanks and carriage returns added; a repeated setting is refused. A refusal names the line and
 * what is accepted.
 */
#include "property.h"

#include <ctype.h>

#include "sim/machine.h"

enum { MOST_NS = 1000000000, ERROR = 1000 };

static bool read_from(struct machine *m, const char *text, size_t size, char *err)
{
	FILE *in = size ? fmemopen((void *)(uintptr_t)text, size, "r") : fopen("/dev/null", "r");
	bool good;

	property(in, "the text can be read as a file");
	err[0] = '\0';
	good = machine_read_from(m, in, "x.machine", err, ERROR);
	fclose(in);
	return good;
}

static bool is_time(sim_time t)
{
	return t <= MOST_NS * SIM_NS;
}

static void check_ranges(const struct machine *m)
{
	bool good = is_time(m->look) && is_time(m->send) && is_time(m->gap) &&
		    is_time(m->same_word) && is_time(m->loopback) && is_time(m->backlog) &&
		    is_time(m->link_gap) && is_time(m->network.link);

	for (int i = 0; i < MACHINE_PLACES; i++)
		good = good && is_time(m->read[i]) && is_time(m->write[i]);
	for (int i = 0; i <= TOPO_GANG; i++)
		good = good && is_time(m->latency[i]);
	for (int i = 0; i < MACHINE_OPS; i++)
		good = good && is_time(m->serve[i]) && is_time(m->extra[i]);
	property(good, "times are from 0 to a second");
	property(m->ranks >= 1 && m->ranks <= 1 << 20, "ranks are in their range");
	property(m->jitter >= 0 && m->jitter <= 1, "the jitter is a fraction");
	property(m->summary[0] && strlen(m->summary) < sizeof m->summary, "there is a summary");
	property(m->topology[0] && strlen(m->topology) < sizeof m->topology, "there is a topology");
	property(m->network.shape <= NETWORK_FILE, "the network is of a known shape");
}

/* Whether the line has a setting. */
static bool says_something(const char *line, size_t len)
{
	for (size_t i = 0; i < len && line[i] != '#'; i++)
		if (!isspace((unsigned char)line[i]))
			return true;
	return false;
}

/* The lines of text from the last to the first, with additions that have no meaning. To be freed.
 */
static char *reverse(const char *text)
{
	size_t len = strlen(text), lines = 2, at = 0;
	const char *end = text + len;
	char *other;

	for (const char *c = text; *c; c++)
		lines += *c == '\n';
	other = calloc(len + 20 * lines, 1);
	property(other, "there is memory");
	while (end > text) {
		const char *line = end;

		while (line > text && line[-1] != '\n')
			line--;
		at += (size_t)sprintf(other + at, "\t %.*s \t# more\r\n", (int)(end - line), line);
		end = line > text ? line - 1 : text;
	}
	other[at] = '\0';
	return other;
}

static void check_accepted(const char *text, const struct machine *m)
{
	size_t len = strlen(text), first = 0, n;
	char *other = reverse(text), *twice, err[ERROR];
	struct machine again;
	bool good = read_from(&again, other, strlen(other), err);

	if (!good)
		fprintf(stderr, "%s\n", err);
	property(good && memcmp(&again, m, sizeof again) == 0,
		 "neither order, blanks nor comments matter");
	free(other);
	for (n = strcspn(text, "\n"); !says_something(text + first, n);) {
		first += n + 1;
		n = strcspn(text + first, "\n");
	}
	twice = calloc(len + n + 2, 1);
	property(twice, "there is memory");
	sprintf(twice, "%s\n%.*s", text, (int)n, text + first);
	property(!read_from(&again, twice, strlen(twice), err) && strstr(err, "twice"),
		 "a setting that is given twice is refused");
	free(twice);
}

static void check_refused(const char *text, size_t size, const char *err)
{
	int line = 0, lines = 1;

	for (size_t i = 0; i < size; i++)
		lines += text[i] == '\n';
	property(strncmp(err, "x.machine", 9) == 0, "a refusal names the file");
	if (strstr(err, "is missing"))
		return;
	property(sscanf(err, "x.machine, line %d:", &line) == 1 && line >= 1 && line <= lines,
		 "a refusal says the line");
	if (!strstr(err, "accepted: ") && !strstr(err, "from 0 to ") &&
	    !strstr(err, "from 1 to ") && !strstr(err, "of 1 to ") && !strstr(err, "more than ") &&
	    !strstr(err, " of: ") && !strstr(err, "twice") && !strstr(err, "byte 0")) {
		fprintf(stderr, "%s\n", err);
		property(false, "a refusal says what is accepted");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = text_of(data, size), err[ERROR];
	struct machine m;

	if (read_from(&m, text, size, err)) {
		property(strlen(text) == size, "there is no byte 0 in what is accepted");
		check_ranges(&m);
		check_accepted(text, &m);
	} else {
		check_refused(text, size, err);
	}
	free(text);
	return 0;
}
