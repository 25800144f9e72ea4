/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The environment. Variables PAWL_NAME are meant for all tables of the program, so a kind ignores
 * the options of other kinds. PAWL_NAME_TABLE is meant for the tables of one name, and comes before
 * PAWL_NAME; an option that their kind does not have is an error, as in an info. TABLE is the name
 * in upper case, with _ for what is neither a letter nor a digit. Variables are read in the order
 * of the list of options; the order in which a launcher sets them does not matter.
 *
 * Other variables with this prefix may be legitimate: module files, CMake and Spack set PAWL_ROOT,
 * PAWL_DIR and the like for any package of this name. One that resembles an option is probably
 * misspelt, and rank 0 reports it once on stderr. With PAWL_STRICT=1 every unknown variable is an
 * error, except the names that an installation may set.
 */
#include <ctype.h>
#include <pawl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/loaded.h"
#include "options/option_spec.h"
#include "base/similar.h"

static const char prefix[] = "PAWL_";

enum { PREFIX = sizeof prefix - 1 };

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* Names after the prefix: the kind of tables for which the program names none, ... */
static const char of_kind[] = "KIND";
/* ... those of the layers under other interfaces (src/layers), ... */
static const char *const of_layer[] = {"LOCK", "ATOMICS"};
/* ... those of observers (src/observe), ... */
static const char *const of_observers[] = {
    "STATS",          "STATS_ROWS",     "TRACE",       "TRACE_MIB",   "PROBES",    "INJECT",
    "WATCHDOG_WORDS", "TRACE_FILE_MIB", "TRACE_RANKS", "TRACE_LOCKS", "TRACE_TIME"};
/* ... and those that module files, build systems and package managers set. */
static const char *const of_installation[] = {
    "ARCH",           "BASE",        "BIN",         "BINDIR",
    "BUILD",          "CFLAGS",      "DATADIR",     "DIR",
    "DOCDIR",         "HOME",        "INC",         "INCDIR",
    "INCLUDE",        "LDFLAGS",     "INCLUDE_DIR", "INCLUDE_DIRS",
    "INCLUDES",       "INSTALL_DIR", "LIB",         "LIBDIR",
    "LIBRARIES",      "LIBRARY",     "LIBRARY_DIR", "LIBRARY_DIRS",
    "LIBS",           "MANDIR",      "MODULE",      "PATH",
    "PREFIX",         "ROOT",        "SRC",         "SRCDIR",
    "INSTALL_PREFIX", "SOURCE_DIR",  "CPPFLAGS",    "VERSION",
};
static const char strict[] = "STRICT";

/* Defined only if a layer is in this process. */
#pragma weak pawl_private_layer

/* The name of an option's variable, PAWL_NAME. Returns text. */
static const char *variable_name(const char *option, char *text, size_t len)
{
	size_t used = (size_t)snprintf(text, len, "%s", prefix);

	for (; *option && used + 1 < len; option++)
		text[used++] =
		    (char)(isalnum((unsigned char)*option) ? toupper((unsigned char)*option) : '_');
	text[used] = '\0';
	return text;
}

/* The variable of an option for the tables of one name. */
static const char *variable_of(const char *option, const char *table,
			       char text[OPTIONS_VARIABLE_BYTES])
{
	char both[OPTIONS_VARIABLE_BYTES];

	snprintf(both, sizeof both, "%s_%s", option, table);
	return variable_name(both, text, OPTIONS_VARIABLE_BYTES);
}

static const char *value_of(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value ? value : NULL;
}

const char *options_kind(const char *asked, const char *name, char variable[OPTIONS_VARIABLE_BYTES])
{
	const bool none = !asked || strcmp(asked, "auto") == 0;
	const char *kind = NULL;

	if (none && *name)
		kind = value_of(variable_of(of_kind, name, variable));
	if (none && !kind)
		kind = value_of(variable_name(of_kind, variable, OPTIONS_VARIABLE_BYTES));
	if (!kind)
		variable[0] = '\0';
	return kind ? kind : asked;
}

/* ------------------------------------------------------ tables with names */

/* The names of tables that this process has created, as variables have them. */
static struct {
	pthread_mutex_t mutex;
	size_t n;
	bool more; /* than are kept */
	char names[64][OPTIONS_NAME_BYTES];
} created = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static bool is_created(const char *name, size_t len)
{
	bool found = created.more;

	for (size_t i = 0; i < created.n && !found; i++)
		found =
		    strlen(created.names[i]) == len && strncmp(created.names[i], name, len) == 0;
	return found;
}

static void note_created(const char *table)
{
	char text[OPTIONS_VARIABLE_BYTES];
	const char *name = variable_name(table, text, sizeof text) + PREFIX;

	pthread_mutex_lock(&created.mutex);
	if (!is_created(name, strlen(name))) {
		if (created.n == LENGTH(created.names))
			created.more = true;
		else
			strcpy(created.names[created.n++], name);
	}
	pthread_mutex_unlock(&created.mutex);
}

/* ------------------------------------------------------- whose a name is */

static bool is_strict(void)
{
	char name[32];
	const char *value = getenv(variable_name(strict, name, sizeof name));

	return value && value[0] && strcmp(value, "0") != 0;
}

/* The name in an entry of the environment, after the prefix. Returns its length; 0 if the entry
 * does not have the prefix. */
static size_t name_of(const char *entry, const char **name)
{
	*name = entry + PREFIX;
	return strncmp(entry, prefix, PREFIX) == 0 ? strcspn(*name, "=") : 0;
}

static bool is_one(const char *known, const char *name, size_t len)
{
	return strlen(known) == len && strncmp(known, name, len) == 0;
}

/* The length of option_ in a name option_TABLE, or 0. */
static size_t before_table(const char *option, const char *name, size_t len)
{
	char known[OPTIONS_VARIABLE_BYTES];
	size_t n = strlen(option);

	if (len <= n + 1 || name[n] != '_')
		return 0;
	variable_name(option, known, sizeof known);
	return strncmp(known + PREFIX, name, n) == 0 ? n + 1 : 0;
}

enum table_of { OF_NO_TABLE, OF_OTHER_TABLE, OF_CREATED_TABLE };

/* Whether a name is option_TABLE, and this process has created such a table. Two options may be
 * meant: topology for FILE_X, and topology_file for X. */
static enum table_of table_of(const char *name, size_t len)
{
	const struct option_spec *s = NULL;
	enum table_of found = OF_NO_TABLE;

	pthread_mutex_lock(&created.mutex);
	for (int i = -1; i < 0 || (s = option_spec_get(i)); i++) {
		size_t n = before_table(s ? s->is.name : of_kind, name, len);

		if (n && found != OF_CREATED_TABLE)
			found = is_created(name + n, len - n) ? OF_CREATED_TABLE : OF_OTHER_TABLE;
	}
	pthread_mutex_unlock(&created.mutex);
	return found;
}

static bool among(const char *const *list, size_t n, const char *name, size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (is_one(list[i], name, len))
			return true;
	return false;
}

static bool is_option(const char *name, size_t len)
{
	const struct option_spec *s;
	char known[64];

	for (int i = 0; (s = option_spec_get(i)); i++)
		if (is_one(variable_name(s->is.name, known, sizeof known) + PREFIX, name, len))
			return true;
	return false;
}

static bool is_known(const char *name, size_t len)
{
	return is_option(name, len) || is_one(strict, name, len) || is_one(of_kind, name, len) ||
	       among(of_layer, LENGTH(of_layer), name, len) ||
	       among(of_observers, LENGTH(of_observers), name, len) ||
	       among(of_installation, LENGTH(of_installation), name, len);
}

/* The known name that an unknown one resembles, or NULL. Of option_TABLE that is only a longer name
 * with the same option: UNITS_MOTS may be units_most. */
static const char *resembles(const char *name, size_t len, char *text, size_t room)
{
	struct similar near = similar_to(name, len);
	const struct option_spec *s;
	char best[64];

	for (int i = 0; (s = option_spec_get(i)); i++)
		similar_try(&near, s->is.name, strlen(s->is.name));
	for (size_t i = 0; i < LENGTH(of_layer); i++)
		similar_try(&near, of_layer[i], strlen(of_layer[i]));
	for (size_t i = 0; i < LENGTH(of_observers); i++)
		similar_try(&near, of_observers[i], strlen(of_observers[i]));
	similar_try(&near, of_kind, strlen(of_kind));
	similar_try(&near, strict, strlen(strict));
	if (!near.best)
		return NULL;
	snprintf(best, sizeof best, "%.*s", (int)near.best_len, near.best);
	variable_name(best, text, room);
	if (table_of(name, len) != OF_NO_TABLE &&
	    table_of(text + PREFIX, strlen(text + PREFIX)) == OF_NO_TABLE)
		return NULL;
	return text;
}

/* Whether a name has no effect on any table; meant is the name that it resembles, or NULL. */
static bool is_wrong(const char *name, size_t len, char *text, size_t room, const char **meant)
{
	if (!len || is_known(name, len) || table_of(name, len) == OF_CREATED_TABLE)
		return false;
	*meant = resembles(name, len, text, room);
	return *meant || table_of(name, len) == OF_NO_TABLE;
}

/* ---------------------------------------------------------------- reading */

extern char **environ;

/* PAWL_STRICT: refuse unknown variables. */
static int check_names(void)
{
	const char *name, *meant;
	char text[64];
	size_t len;

	for (char **e = environ; e && *e; e++) {
		len = name_of(*e, &name);
		if (is_wrong(name, len, text, sizeof text, &meant))
			return error_set(
			    PAWL_ERR_OPTION,
			    "environment variable %s%.*s is no option%s%s%s, and PAWL_STRICT is"
			    " set; accepted: the options of pawl(3), in upper case behind PAWL_",
			    prefix, (int)len, name, meant ? " (did you mean " : "",
			    meant ? meant : "", meant ? "?)" : "");
	}
	return PAWL_SUCCESS;
}

/* Variables for the tables of this name. */
static int read_of_table(struct options *o, const struct lock_protocol *p)
{
	char variable[OPTIONS_VARIABLE_BYTES], what[OPTIONS_VARIABLE_BYTES + 32];
	const struct option_spec *s;
	int rc = PAWL_SUCCESS;

	for (int i = 0; rc == PAWL_SUCCESS && (s = option_spec_get(i)); i++) {
		const char *name = variable_of(s->is.name, o->name, variable);
		const char *value = getenv(name);

		if (!value || is_known(name + PREFIX, strlen(name + PREFIX)))
			continue;
		snprintf(what, sizeof what, "environment variable %s", name);
		rc = options_set(o, p, s->is.name, value, what);
	}
	return rc;
}

int options_environment(struct options *o, const struct lock_protocol *p)
{
	const struct option_spec *s;
	int rc;

	if (*o->name)
		note_created(o->name);
	rc = is_strict() ? check_names() : PAWL_SUCCESS;
	for (int i = 0; rc == PAWL_SUCCESS && (s = option_spec_of(p, i)); i++) {
		char name[64];
		const char *value = getenv(variable_name(s->is.name, name, sizeof name));

		if (value)
			rc = option_value_set(o, s, value);
	}
	return rc == PAWL_SUCCESS && *o->name ? read_of_table(o, p) : rc;
}

void environment_warn(FILE *out)
{
	const char *name, *meant;
	char text[64];
	size_t len;

	for (char **e = environ; e && *e; e++) {
		len = name_of(*e, &name);
		if (!len)
			continue;
		if (among(of_layer, LENGTH(of_layer), name, len) && !pawl_private_layer)
			fprintf(out,
				"pawl: environment variable %s%.*s has no effect: it is for"
				" libpawl-mpi and other layers, none of which this program has"
				" loaded\n",
				prefix, (int)len, name);
		else if (is_wrong(name, len, text, sizeof text, &meant) && meant)
			fprintf(out,
				"pawl: environment variable %s%.*s is no option and has no effect;"
				" did you mean %s? (PAWL_STRICT=1 makes this an error)\n",
				prefix, (int)len, name, meant);
	}
}

void options_warn_kind(FILE *out, const char *asked, const char *name)
{
	static atomic_flag done = ATOMIC_FLAG_INIT;
	char variable[OPTIONS_VARIABLE_BYTES];

	if (!*name || options_kind(asked, name, variable) != asked ||
	    !value_of(variable_of(of_kind, name, variable)) || atomic_flag_test_and_set(&done))
		return;
	fprintf(out,
		"pawl: environment variable %s has no effect: the program names the kind of this"
		" table, %s\n",
		variable, asked);
}

void options_warn_unused(FILE *out)
{
	const char *name;

	for (char **e = environ; e && *e; e++) {
		size_t len = name_of(*e, &name);

		if (!len || is_known(name, len) || table_of(name, len) != OF_OTHER_TABLE)
			continue;
		fprintf(out,
			"pawl: environment variable %s%.*s had no effect on rank 0, which created"
			" no table of that name (info key pawl_name)%s",
			prefix, (int)len, name, created.n ? "; its tables are " : "\n");
		for (size_t i = 0; i < created.n; i++)
			fprintf(out, "%s%s", created.names[i], i + 1 < created.n ? ", " : "\n");
	}
}

/* Variables of options that the kind does not have. */
static void warn_of_others(FILE *out, const struct lock_protocol *p)
{
	static atomic_uint_fast64_t said; /* bit i: option i */
	const struct option_spec *s;
	char name[64], kinds[200];

	for (int i = 0; (s = option_spec_get(i)); i++) {
		uint64_t bit = UINT64_C(1) << i;

		if (!getenv(variable_name(s->is.name, name, sizeof name)) ||
		    option_spec_find(p, s->is.name) || (atomic_fetch_or(&said, bit) & bit))
			continue;
		option_kinds(s->is.name, kinds, sizeof kinds);
		fprintf(out,
			"pawl: environment variable %s has no effect on a table of kind %s; kinds"
			" with option %s: %s\n",
			name, p->kind.name, s->is.name, kinds);
	}
}

void options_warn(FILE *out, const struct lock_protocol *p, MPI_Info info)
{
	static atomic_flag done = ATOMIC_FLAG_INIT;

	if (!atomic_flag_test_and_set(&done))
		environment_warn(out);
	if (p)
		warn_of_others(out, p);
	if (info != MPI_INFO_NULL)
		options_warn_info(out, info);
}
