/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines from a table: values of each type, their ranges, refusals and their
 * messages, which program has an option, and the help. Prints TAP. */
#include <stdlib.h>
#include <string.h>

#include "benchmarks/cli/cli.h"
#include "tests/tap.h"

enum { ONE = 1, OTHER = 2, MOST = 16 };

struct settings {
	bool flag;
	double real, seconds;
	uint64_t count;
	int number;
	enum { RED, GREEN, BLUE } colour;
	const char *text, *place, *maybe;
	int calls;
};

static bool set_maybe(void *settings, const struct cli_row *row, const char *value)
{
	struct settings *s = settings;

	(void)row;
	s->maybe = value;
	s->calls++;
	return true;
}

static bool set_place(void *settings, const struct cli_row *row, const char *value)
{
	((struct settings *)settings)->place = value;
	return strcmp(value, "nowhere") != 0 || cli_wrong("%s: not \"nowhere\"", row->name);
}

#define AT(member) .offset = offsetof(struct settings, member)

static const struct cli_row rows[] = {
    {CLI_PLACE, OTHER, "PLACE", .call = set_place},
    {CLI_HEADING, ONE, .help = "Things"},
    {CLI_FLAG, 0, "flag", 'f', AT(flag), .help = "a flag"},
    {CLI_REAL, 0, "real", .argument = "R", AT(real), .low = 0.5, .high = 2, .help = "a real"},
    {CLI_SECONDS, 0, "seconds", .argument = "S", AT(seconds), .low = 1e-6, .high = 60,
     .help = "a time"},
    {CLI_COUNT, 0, "count", .argument = "N", AT(count), .least = 1, .most = UINT64_MAX,
     .help = "a count whose help is so long that it takes more than one line, wrapped at words"},
    {CLI_INT, ONE, "number", 'n', "N", AT(number), .least = 0, .most = 9, .help = "a number"},
    {CLI_CHOICE, 0, "colour", .argument = "C", AT(colour), .words = "red, green, blue",
     .help = "a colour"},
    {CLI_TEXT, OTHER, "text", .argument = "T", AT(text), .help = "a text"},
    {CLI_CALL, 0, "maybe", .argument = "[FILE]", .call = set_maybe, .help = "an optional value"},
    {CLI_END},
};

/* Arguments separated by blanks, after the name of the program. */
static bool parse(struct settings *s, unsigned program, const char *line)
{
	static char text[200];
	char *argv[MOST] = {(char *)"program"};
	int argc = 1;

	extern int optind;

	optind = 0; /* glibc: begin again */
	*s = (struct settings){.number = -1};
	snprintf(text, sizeof text, "%s", line);
	for (char *word = strtok(text, " "); word && argc < MOST - 1; word = strtok(NULL, " "))
		argv[argc++] = word;
	return cli_parse(rows, program, s, argc, argv);
}

static void refuses(unsigned program, const char *line, const char *sentence)
{
	struct settings s;

	if (!ok(!parse(&s, program, line) && strstr(cli_error(), sentence), "%s", line))
		printf("# said: %s\n", cli_error());
}

static void values(void)
{
	struct settings s;

	ok(parse(&s, ONE, "-f --real=1.5 --count 18446744073709551615 -n 7 --colour=blue") &&
	       s.flag && s.real > 1.4 && s.real < 1.6 && s.count == UINT64_MAX && s.number == 7 &&
	       s.colour == BLUE,
	   "a value of each type");
	ok(parse(&s, ONE, "--seconds=300ms") && s.seconds > 0.29 && s.seconds < 0.31 &&
	       parse(&s, ONE, "--seconds=1e-6") && s.seconds < 2e-6 &&
	       parse(&s, ONE, "--seconds=2") && s.seconds > 1.9,
	   "times");
	ok(parse(&s, ONE, "") && !s.flag && s.number == -1, "what is not given stays");
	ok(parse(&s, ONE, "--maybe") && s.calls == 1 && !s.maybe, "an optional value left out");
	ok(parse(&s, ONE, "--maybe=x --maybe=y") && s.calls == 2 && strcmp(s.maybe, "y") == 0,
	   "an option twice");
	ok(parse(&s, OTHER, "--text=a here --flag") && s.flag && strcmp(s.place, "here") == 0,
	   "an argument that is no option, between options");
}

static void lists(void)
{
	const char *list = ", one,two three";
	char seen[40] = "";
	size_t len;

	for (; (len = list_word(&list)); list += len)
		strncat(strncat(seen, list, len), ".", 2);
	ok(strcmp(seen, "one.two.three.") == 0, "words of a list");
	ok(list_has("one,two", "two") && !list_has("one,two", "tw") && !list_has(NULL, "one"),
	   "a word in a list");
}

static void help(void)
{
	char *text = NULL;
	size_t size = 0, longest = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		exit(99);
	cli_help(out, rows, ONE);
	fclose(out);
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
		longest = strcspn(line, "\n") > longest ? strcspn(line, "\n") : longest;
	ok(strstr(text, "\nThings\n") && strstr(text, "  -f, --flag             a flag\n") &&
	       strstr(text, "  --maybe[=FILE]         an") && !strstr(text, "--text") &&
	       longest <= 79,
	   "help: headings, letters, optional values, the program's options alone, short lines");
	free(text);
}

int main(void)
{
	values();
	refuses(ONE, "--real=3", "--real: \"3\" is not a number from 0.5 to 2");
	refuses(ONE, "--real=nan", "--real: \"nan\" is not");
	refuses(ONE, "--seconds=2m", "is not a number of seconds from 1e-06 to 60");
	refuses(ONE, "--count=0", "from 1 to 18446744073709551615");
	refuses(ONE, "--count=-1", "is not a whole number");
	refuses(ONE, "--count=18446744073709551616", "is not a whole number");
	refuses(ONE, "--number=1x", "from 0 to 9");
	refuses(ONE, "--colour=pink", "not one of: red, green, blue");
	refuses(ONE, "--text=a", "option --text=a: unknown");
	refuses(OTHER, "-n 3", "unknown option -n");
	refuses(ONE, "--real", "option --real needs a value");
	refuses(ONE, "stray", "\"stray\": only options are expected");
	refuses(OTHER, "here there", "\"there\": only options are expected here");
	refuses(OTHER, "nowhere", "PLACE: not \"nowhere\"");
	lists();
	help();
	return tap_plan();
}
