/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the options of tables, from pawl_option_get(), as the table of doc/options.md, into which
 * build-aux/option-tables inserts it. */
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

/* A bar ends a cell without an escape. */
static void print(const char *text, const char *end)
{
	for (; *text; text++) {
		if (*text == '|')
			putchar('\\');
		putchar(*text);
	}
	fputs(end, stdout);
}

static void print_kinds(const struct pawl_option *o)
{
	const struct pawl_kind *kind;
	const char *between = "";

	if (o->common)
		printf("all");
	for (int i = 0; !o->common && (kind = pawl_kind_get(i)); i++)
		if (takes(kind, o->name)) {
			printf("%s%s", between, kind->name);
			between = ", ";
		}
	printf(" | ");
}

int main(void)
{
	const struct pawl_option *o;

	printf(
	    "| option | values | default | kinds | meaning |\n| --- | --- | --- | --- | --- |\n");
	for (int i = 0; (o = pawl_option_get(i)); i++) {
		printf("| `%s` | ", o->name);
		print(o->values, " | ");
		print(o->preset, " | ");
		print_kinds(o);
		print(o->summary, " |\n");
	}
	return 0;
}
