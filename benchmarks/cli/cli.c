/* SPDX-License-Identifier: BSD-3-Clause */
/* See cli.h. Only the help is printed here. */
#include "cli.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"

enum { MOST_ROWS = 64, LINE = 79, INDENT = 25, FIRST_VALUE = 256 };

static char error[1200];

bool cli_wrong(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(error, sizeof error, fmt, args);
	va_end(args);
	return false;
}

const char *cli_error(void)
{
	return error;
}

/* -------------------------------------------------------------------- lists */

size_t list_word(const char **list)
{
	*list += strspn(*list, ", ");
	return strcspn(*list, ", ");
}

bool list_has_word(const char *list, const char *name, size_t len)
{
	size_t word;

	for (; list && (word = list_word(&list)); list += word)
		if (word == len && strncmp(list, name, len) == 0)
			return true;
	return false;
}

bool list_has(const char *list, const char *name)
{
	return list_has_word(list, name, strlen(name));
}

/* ------------------------------------------------------------------- values */

/* Seconds may have a unit. */
static bool to_real(const struct cli_row *row, const char *text, double *value)
{
	const bool seconds = row->type == CLI_SECONDS;
	char *end;
	double ns;

	errno = 0;
	*value = strtod(text, &end); /* has exponents */
	if (errno || end == text || *end)
		*value = seconds && duration_parse(text, 1e9, &ns) ? ns / 1e9 : NAN;
	if (*value >= row->low && *value <= row->high)
		return true;
	return cli_wrong("--%s: \"%s\" is not a number%s from %g to %g%s", row->name, text,
			 seconds ? " of seconds" : "", row->low, row->high,
			 seconds ? ", as 2, 0.5 or 300ms" : "");
}

bool cli_count(const struct cli_row *row, const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	if (errno || end == text || *end || text[0] < '0' || text[0] > '9' || *value < row->least ||
	    *value > row->most)
		return cli_wrong("--%s: \"%s\" is not a whole number from %llu to %llu", row->name,
				 text, (unsigned long long)row->least,
				 (unsigned long long)row->most);
	return true;
}

static bool to_int(const struct cli_row *row, const char *text, int *value)
{
	uint64_t count = 0;

	if (!cli_count(row, text, &count))
		return false;
	*value = (int)count;
	return true;
}

/* The place of the value in the list of words. */
static bool to_choice(const struct cli_row *row, const char *text, int *value)
{
	size_t len;
	int place = 0;

	for (const char *p = row->words; (len = list_word(&p)); p += len, place++)
		if (strlen(text) == len && strncmp(text, p, len) == 0) {
			*value = place;
			return true;
		}
	return cli_wrong("--%s: \"%s\" is not one of: %s", row->name, text, row->words);
}

static bool set_one(const struct cli_row *row, void *settings, const char *value)
{
	void *to = (char *)settings + row->offset;

	switch (row->type) {
	case CLI_FLAG:
		*(bool *)to = true;
		return true;
	case CLI_REAL:
	case CLI_SECONDS:
		return to_real(row, value, to);
	case CLI_COUNT:
		return cli_count(row, value, to);
	case CLI_INT:
		return to_int(row, value, to);
	case CLI_CHOICE:
		return to_choice(row, value, to);
	case CLI_TEXT:
		*(const char **)to = value;
		return true;
	case CLI_CALL:
	case CLI_PLACE:
		return row->call(settings, row, value);
	default:
		return false;
	}
}

/* --------------------------------------------------------- the command line */

static bool is_of(const struct cli_row *row, unsigned program)
{
	return !row->programs || (row->programs & program);
}

static bool is_option(const struct cli_row *row, unsigned program)
{
	return row->type != CLI_HEADING && row->type != CLI_PLACE && is_of(row, program);
}

/* For getopt_long(): the long options, with the numbers of their rows, and the letters. */
static void usable(const struct cli_row *rows, unsigned program, struct option *options,
		   char *letters)
{
	*letters++ = ':';
	for (int i = 0; i < MOST_ROWS && rows[i].type != CLI_END; i++) {
		const struct cli_row *row = &rows[i];

		if (!is_option(row, program))
			continue;
		*options++ =
		    (struct option){.name = row->name,
				    .has_arg = !row->argument            ? no_argument
					       : row->argument[0] == '[' ? optional_argument
									 : required_argument,
				    .val = FIRST_VALUE + i};
		if (!row->letter)
			continue;
		*letters++ = row->letter;
		if (row->argument)
			*letters++ = ':';
	}
	*options = (struct option){.name = NULL};
	*letters = '\0';
}

static const struct cli_row *chosen(const struct cli_row *rows, unsigned program, int which)
{
	if (which >= FIRST_VALUE)
		return &rows[which - FIRST_VALUE];
	for (; rows->type != CLI_END; rows++)
		if (rows->letter == which && is_option(rows, program))
			return rows;
	return NULL;
}

/* Arguments that are not options. */
static bool parse_places(const struct cli_row *rows, unsigned program, void *settings, int argc,
			 char **argv)
{
	int next = optind;

	for (; rows->type != CLI_END && next < argc; rows++)
		if (rows->type == CLI_PLACE && is_of(rows, program) &&
		    !set_one(rows, settings, argv[next++]))
			return false;
	if (next < argc)
		return cli_wrong("\"%s\": only options are expected%s; see --help", argv[next],
				 next > optind ? " here" : "");
	return true;
}

bool cli_parse(const struct cli_row *rows, unsigned program, void *settings, int argc, char **argv)
{
	struct option options[MOST_ROWS + 1];
	char letters[2 * MOST_ROWS + 2];
	int which;

	usable(rows, program, options, letters);
	opterr = 0;
	while ((which = getopt_long(argc, argv, letters, options, NULL)) != -1) {
		const char *given = argv[optind - 1];
		const struct cli_row *row;

		if (which == '?' && optopt && optopt < FIRST_VALUE)
			return cli_wrong("unknown option -%c; see --help", optopt);
		if (which == '?')
			return cli_wrong(
			    "option %s: unknown, ambiguous, or takes no value; see --help", given);
		if (which == ':')
			return cli_wrong("option %s needs a value; see --help", given);
		row = chosen(rows, program, which);
		if (!row || !set_one(row, settings, optarg))
			return false;
	}
	return parse_places(rows, program, settings, argc, argv);
}

/* ---------------------------------------------------------------------- help */

/* Print "--json[=FILE]", "-o, --option=NAME=VALUE", "--list"; returns its length. */
static int put_name(FILE *out, const struct cli_row *row)
{
	const char *argument = row->argument ? row->argument : "";
	bool optional = argument[0] == '[';
	int len = fprintf(out, "  ");

	if (row->letter)
		len += fprintf(out, "-%c, ", row->letter);
	len += fprintf(out, "--%s", row->name);
	if (optional)
		len += fprintf(out, "[=%s", argument + 1);
	else if (*argument)
		len += fprintf(out, "=%s", argument);
	return len;
}

/* Print the text from that column on, in lines of at most LINE characters. */
static void put_wrapped(FILE *out, const char *text, int column)
{
	while (*text) {
		size_t len = strcspn(text, " ");

		if (column > INDENT && column + 1 + (int)len > LINE) {
			fprintf(out, "\n%*s", INDENT, "");
			column = INDENT;
		} else if (column > INDENT) {
			column += fprintf(out, " ");
		}
		column += fprintf(out, "%.*s", (int)len, text);
		text += len;
		text += strspn(text, " ");
	}
	fprintf(out, "\n");
}

void cli_help(FILE *out, const struct cli_row *rows, unsigned program)
{
	for (; rows->type != CLI_END; rows++) {
		int column;

		if (!is_of(rows, program) || rows->type == CLI_PLACE)
			continue;
		if (rows->type == CLI_HEADING) {
			fprintf(out, "\n%s\n", rows->help);
			continue;
		}
		column = put_name(out, rows);
		if (column >= INDENT) {
			fprintf(out, "\n");
			column = 0;
		}
		fprintf(out, "%*s", INDENT - column, "");
		put_wrapped(out, rows->help, INDENT);
	}
}
