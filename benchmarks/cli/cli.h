/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A command line from a table: each row is an option with its value's type, its range, and its
 * help. Used by pawl-bench, pawl-sim, pawl-tune and win-bench; needs neither Pawl nor an MPI.
 *
 * getopt_long() reads the words. What it lacks is here: values with ranges, messages that say what
 * an option accepts, one table for programs that share most of their options, and the help. argp
 * would print the help, which takes 50 lines here; but it is glibc's alone, and the rest of what it
 * does would have to be replaced: its messages name no option, and its parser is a switch in which
 * each program lists all options again.
 */
#ifndef PAWL_BENCH_CLI_H
#define PAWL_BENCH_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum cli_type {
	CLI_END,
	CLI_HEADING, /* a heading of the help */
	CLI_FLAG,    /* bool: true */
	CLI_REAL,    /* double, from low to high */
	CLI_SECONDS, /* the same, of seconds; also with a unit, as 300ms */
	CLI_COUNT,   /* uint64_t, from least to most */
	CLI_INT,     /* int, from least to most */
	CLI_CHOICE,  /* an enum whose values are the places in words */
	CLI_TEXT,    /* const char * */
	CLI_CALL,    /* call sets it */
	CLI_PLACE    /* an argument that is not an option; call sets it */
};

struct cli_row {
	enum cli_type type;
	unsigned programs; /* a bit for each program that has the option; 0: all */
	const char *name;
	char letter;
	const char *argument; /* its name in the help; "[FILE]": optional */
	const char *help;
	size_t offset; /* in the settings */
	double low, high;
	uint64_t least, most;
	const char *words; /* "home, remote" */
	bool (*call)(void *settings, const struct cli_row *row, const char *value);
};

/* Sets the values of the command line. False: cli_error() has a message that names the option and
 * what it accepts. Arguments that are not options go to the rows of type CLI_PLACE, in their order.
 */
bool cli_parse(const struct cli_row *rows, unsigned program, void *settings, int argc, char **argv);
const char *cli_error(void);
/* Sets the message; returns false. */
bool cli_wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Print the options of that program with their help. */
void cli_help(FILE *out, const struct cli_row *rows, unsigned program);

/* Functions for CLI_CALL. */
bool cli_count(const struct cli_row *row, const char *text, uint64_t *value);

/* The length of the first word of a list, whose words are separated by commas or blanks; or 0. */
size_t list_word(const char **list);
bool list_has_word(const char *list, const char *name, size_t len);
bool list_has(const char *list, const char *name);

#endif
