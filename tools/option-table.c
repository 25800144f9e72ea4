/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints the options of tables, from pawl_option_get(): "option-table markdown" for
 * doc/options.md, "option-table man" for pawl(3). build-aux/option-tables inserts both.
 */
#include <pawl.h>
#include <stdio.h>
#include <string.h>

static int takes(const struct pawl_kind *kind, const char *name)
{
	size_t len = strlen(name);

	for (const char *w = kind->options; *w; w += strcspn(w, " "), w += strspn(w, " "))
		if (strcspn(w, " ") == len && strncmp(w, name, len) == 0)
			return 1;
	return 0;
}

/* Markdown tables need an escape before a bar, manual pages one before a hyphen; there, lines may
 * break after a comma. */
static void print(const char *text, int man)
{
	for (; *text; text++) {
		if ((man && *text == '-') || (!man && *text == '|'))
			putchar('\\');
		putchar(*text);
		if (man && *text == ',' && text[1] != ' ')
			fputs("\\:", stdout);
	}
}

static void print_kinds(const struct pawl_option *o, int man)
{
	const struct pawl_kind *kind;
	const char *between = "";

	if (o->common)
		printf("all");
	for (int i = 0; !o->common && (kind = pawl_kind_get(i)); i++)
		if (takes(kind, o->name)) {
			printf("%s", between);
			print(kind->name, man);
			between = ", ";
		}
}

int main(int argc, char **argv)
{
	int man = argc == 2 && strcmp(argv[1], "man") == 0;
	const struct pawl_option *o;

	if (argc != 2 || (!man && strcmp(argv[1], "markdown") != 0)) {
		fprintf(stderr, "Usage: option-table markdown|man\n");
		return 2;
	}
	if (!man)
		printf("| option | values | default | kinds | meaning |\n| --- | --- | --- | --- | "
		       "--- |\n");
	for (int i = 0; (o = pawl_option_get(i)); i++) {
		printf(man ? ".TP\n.B %s\n" : "| `%s` | ", o->name);
		print(man ? o->summary : o->values, man);
		printf(man ? ".\nValues: " : " | ");
		print(man ? o->values : o->preset, man);
		printf(man ? "; default: " : " | ");
		if (man)
			print(o->preset, man);
		printf(man ? "; kinds: " : "");
		print_kinds(o, man);
		printf(man ? ".\n" : " | ");
		if (!man)
			print(o->summary, man);
		printf(man ? "" : " |\n");
	}
	return 0;
}
