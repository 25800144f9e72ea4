/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The environment. Variables PAWL_NAME are meant for all tables of the program, so a kind ignores
 * the options of other kinds. Variables are read in the order of the list of options; the order in
 * which a launcher sets them does not matter.
 *
 * Other variables with this prefix may be legitimate: module files, CMake and Spack set PAWL_ROOT,
 * PAWL_DIR and the like for any package of this name. One that resembles an option is probably
 * misspelt, and rank 0 reports it once on stderr. With PAWL_STRICT=1 every unknown variable is an
 * error, except the names that an installation may set.
 */
#include <ctype.h>
#include <pawl.h>
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

/* Names after the prefix: the kind of tables for which the program names none, ... */
static const char of_kind[] = "KIND";
/* ... those of the layers under other interfaces (src/layers), ... */
static const char *const of_layer[] = {"LOCK"};
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

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* Defined only if a layer is in this process. */
#pragma weak pawl_private_layer

const char *environment_name(const char *option, char *text, size_t len)
{
	size_t used = (size_t)snprintf(text, len, "%s", prefix);

	for (; *option && used + 1 < len; option++)
		text[used++] = (char)toupper((unsigned char)*option);
	text[used] = '\0';
	return text;
}

const char *options_kind(const char *asked)
{
	char name[32];
	const char *set = getenv(environment_name(of_kind, name, sizeof name));

	return (!asked || strcmp(asked, "auto") == 0) && set && *set ? set : asked;
}

/* ------------------------------------------------------- whose a name is */

static bool is_strict(void)
{
	char name[32];
	const char *value = getenv(environment_name(strict, name, sizeof name));

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
		if (is_one(environment_name(s->is.name, known, sizeof known) + PREFIX, name, len))
			return true;
	return false;
}

static bool is_unknown(const char *name, size_t len)
{
	return len > 0 && !is_option(name, len) && !is_one(strict, name, len) &&
	       !is_one(of_kind, name, len) && !among(of_layer, LENGTH(of_layer), name, len) &&
	       !among(of_observers, LENGTH(of_observers), name, len) &&
	       !among(of_installation, LENGTH(of_installation), name, len);
}

/* Whether an unknown variable resembles a known one; text is the known one. */
static bool resembles(const char *name, size_t len, char *text, size_t room)
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
		return false;
	snprintf(best, sizeof best, "%.*s", (int)near.best_len, near.best);
	environment_name(best, text, room);
	return true;
}

/* ---------------------------------------------------------------- reading */

extern char **environ;

/* PAWL_STRICT: refuse unknown variables. */
static int check_names(void)
{
	const char *name;
	char meant[64];
	size_t len;

	for (char **e = environ; e && *e; e++) {
		len = name_of(*e, &name);
		if (!len || !is_unknown(name, len))
			continue;
		bool near = resembles(name, len, meant, sizeof meant);

		return error_set(
		    PAWL_ERR_OPTION,
		    "environment variable %s%.*s is no option%s%s%s, and PAWL_STRICT is"
		    " set; accepted: the options of pawl(3), in upper case behind PAWL_",
		    prefix, (int)len, name, near ? " (did you mean " : "", near ? meant : "",
		    near ? "?)" : "");
	}
	return PAWL_SUCCESS;
}

int options_environment(struct options *o, const struct lock_protocol *p)
{
	const struct option_spec *s;
	int rc = is_strict() ? check_names() : PAWL_SUCCESS;

	for (int i = 0; rc == PAWL_SUCCESS && (s = option_spec_of(p, i)); i++) {
		char name[64];
		const char *value = getenv(environment_name(s->is.name, name, sizeof name));

		if (value)
			rc = option_value_set(o, s, value);
	}
	return rc;
}

void environment_warn(FILE *out)
{
	const char *name;
	char meant[64];
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
		else if (is_unknown(name, len) && resembles(name, len, meant, sizeof meant))
			fprintf(out,
				"pawl: environment variable %s%.*s is no option and has no effect;"
				" did you mean %s? (PAWL_STRICT=1 makes this an error)\n",
				prefix, (int)len, name, meant);
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

		if (!getenv(environment_name(s->is.name, name, sizeof name)) ||
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
