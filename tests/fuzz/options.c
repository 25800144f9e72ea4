/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options: a text of lines NAME=VALUE, as keys of an MPI_Info and as variables of the
 * environment. The first byte says which options the kind takes, and whether PAWL_STRICT is set.
 *
 * An accepted value lies in the range of its option, and its text gives the same value; a
 * refused one leaves the option unchanged, with a message that names the option and what is
 * accepted. Options are read from the environment as if each were set by itself, and an unknown
 * option is refused if PAWL_STRICT is set, and only then.
 */
#include "property.h"

#include <ctype.h>
#include <mpi.h>
#include <pawl.h>

#include "lock/kinds.h"
#include "options/option_spec.h"

enum { LINES = 64, STRICT = 1, FEW = 2, KEYS = 4 };

/* Options of each type; a kind has all of them or two. */
struct own_options {
	int64_t t_l[LOCK_LEVEL_TYPES];
	struct lock_backoff backoff;
	int64_t t_r;
	int growth;
};

#define TWO_OPTIONS                                                                       \
	LOCK_LEVELS(struct own_options, t_l, "t_l", 1, 1048575,                           \
		    "group:64,node:256,package:32,numa:32,cache:32,gang:1024", "levels"), \
	    LOCK_NUMBER(struct own_options, t_r, "t_r", 1, 2147483647, "1024", "a number")

static const struct option_spec few[] = {TWO_OPTIONS, LOCK_OPTIONS_END};
static const struct option_spec many[] = {
    TWO_OPTIONS, LOCK_BACKOFF(struct own_options, backoff),
    LOCK_CHOICE(struct own_options, growth, "growth", "auto | call", "auto", "a choice"),
    LOCK_OPTIONS_END};

static struct lock_protocol kind = {.kind = {.name = "fuzz"}};
/* So that all options are known. */
static const struct lock_protocol knowing = {.kind = {.name = "knowing"}, .options = many};

const struct lock_protocol *kinds_get(int index)
{
	return index == 0 ? &kind : index == 1 ? &knowing : NULL;
}

/* --------------------------------------------------------------- keys of an MPI_Info */

/* Replaces the MPI's function, which may not be called before MPI_Init. */
static struct {
	char key[MPI_MAX_INFO_KEY], value[MPI_MAX_INFO_VAL];
} keys[LINES];
static int nkeys;

static int find_key(const char *key)
{
	for (int i = 0; i < nkeys; i++)
		if (strcmp(keys[i].key, key) == 0)
			return i;
	return -1;
}

int PMPI_Info_get_nkeys(MPI_Info info, int *n)
{
	(void)info;
	*n = nkeys;
	return MPI_SUCCESS;
}

int PMPI_Info_get_nthkey(MPI_Info info, int n, char *key)
{
	(void)info;
	property(n >= 0 && n < nkeys, "only keys that are there are asked for");
	strcpy(key, keys[n].key);
	return MPI_SUCCESS;
}

static bool find(const char *key, const char **value)
{
	int i = find_key(key);

	property(strlen(key) < MPI_MAX_INFO_KEY, "keys are of the MPI's length");
	if (i >= 0)
		*value = keys[i].value;
	return i >= 0;
}

#if MPI_VERSION >= 4
int PMPI_Info_get_string(MPI_Info info, const char *key, int *size, char *value, int *found)
{
	const char *text = "";

	(void)info;
	*found = find(key, &text);
	if (*found && *size > 0)
		snprintf(value, (size_t)*size, "%s", text);
	if (*found)
		*size = (int)strlen(text) + 1;
	return MPI_SUCCESS;
}
#else
int PMPI_Info_get(MPI_Info info, const char *key, int len, char *value, int *found)
{
	const char *text = "";

	(void)info;
	*found = find(key, &text);
	if (*found)
		snprintf(value, (size_t)len + 1, "%s", text);
	return MPI_SUCCESS;
}

int PMPI_Info_get_valuelen(MPI_Info info, const char *key, int *len, int *found)
{
	const char *text = "";

	(void)info;
	*found = find(key, &text);
	if (*found)
		*len = (int)strlen(text);
	return MPI_SUCCESS;
}
#endif

/* ------------------------------------------------------------------------- one value */

static void get(const struct options *o, const struct option_spec *s, char *text, size_t len)
{
	const char *value = option_value_get(o, s, text, len);

	if (value != text)
		snprintf(text, len, "%s", value);
}

/* Messages have "1 .. 65535" as "1 to 65535", and a list of words unchanged. */
static bool tells_accepted(const struct option_spec *s, const char *message)
{
	char range[100];

	if (s->type == OPTION_CHOICE)
		return strstr(message, s->is.values);
	snprintf(range, sizeof range, "from %lld to %lld", (long long)s->min, (long long)s->max);
	return strstr(message, range) ||
	       (s->type == OPTION_LEVELS &&
		(strstr(message, "accepted: group (rack, switch), node") ||
		 strstr(message, "one number") || strstr(message, "first")));
}

static void check_refused(const struct option_spec *s)
{
	const char *message = pawl_error_message();
	char named[100];

	snprintf(named, sizeof named, "option %s: ", s->is.name);
	if (strncmp(message, named, strlen(named)) != 0 || !tells_accepted(s, message))
		fprintf(stderr, "%s\n", message);
	property(strncmp(message, named, strlen(named)) == 0, "a refusal names the option");
	property(tells_accepted(s, message), "a refusal says what is accepted");
}

static void check_in_range(const struct options *o, const struct option_spec *s)
{
	const char *field = (s->is.common ? (const char *)o : (const char *)o->own) + s->offset;
	int64_t number;
	double seconds;

	if (s->type == OPTION_NUMBER || s->type == OPTION_NS || s->type == OPTION_US) {
		memcpy(&number, field, sizeof number);
		property(number >= s->min && number <= s->max, "a number is in its range");
	} else if (s->type == OPTION_SECONDS) {
		memcpy(&seconds, field, sizeof seconds);
		property(seconds >= (double)s->min && seconds <= (double)s->max,
			 "seconds are in their range");
	} else if (s->type == OPTION_LEVELS) {
		for (int i = TOPO_GROUP; i <= TOPO_GANG; i++) {
			memcpy(&number, field + (size_t)i * sizeof number, sizeof number);
			property(number >= s->min && number <= s->max, "a level is in its range");
		}
	}
}

static void check_value(const struct option_spec *s, const char *value)
{
	static char before[5000], after[5000], again[5000];
	struct options o, other;

	options_default(&o, &kind);
	options_default(&other, &kind);
	get(&o, s, before, sizeof before);
	if (options_set(&o, &kind, s->is.name, value, "the input") != PAWL_SUCCESS) {
		check_refused(s);
		get(&o, s, after, sizeof after);
		property(strcmp(before, after) == 0, "a refused value leaves the option as it was");
	} else {
		check_in_range(&o, s);
		get(&o, s, after, sizeof after);
		property(options_set(&other, &kind, s->is.name, after, "again") == PAWL_SUCCESS,
			 "the text of a value is accepted");
		get(&other, s, again, sizeof again);
		property(strcmp(after, again) == 0, "the text of a value gives the value");
		if (options_check(&o) != PAWL_SUCCESS)
			property(strncmp(pawl_error_message(), "option ", 7) == 0,
				 "a refusal names the option");
	}
	options_free(&o);
	options_free(&other);
}

/* An option that does not exist, or that the kind does not take. */
static void check_unknown(const char *name, const char *value)
{
	struct options o;
	char shown[30];

	options_default(&o, &kind);
	property(options_set(&o, &kind, name, value, "the input") == PAWL_ERR_OPTION,
		 "what is no option of the kind is refused");
	snprintf(shown, sizeof shown, "%.20s", name);
	property(strstr(pawl_error_message(), "the input: ") == pawl_error_message() &&
		     strstr(pawl_error_message(), shown) &&
		     strstr(pawl_error_message(), "max_held"),
		 "the sentence has the name, and the options that there are");
	options_free(&o);
}

/* -------------------------------------------------------------------------- sources */

static char *line[LINES];
static int nlines;

/* NAME of NAME=VALUE, in small letters; NULL: too long for an option. */
static const char *name_of(const char *text, char *name, size_t room)
{
	size_t len = strcspn(text, "=");

	if (len >= room)
		return NULL;
	for (size_t i = 0; i < len; i++)
		name[i] = (char)tolower((unsigned char)text[i]);
	name[len] = '\0';
	return name;
}

static const char *value_of(const char *text)
{
	const char *equals = strchr(text, '=');

	return equals ? equals + 1 : "";
}

/* The VALUE of NAME=VALUE; a line without "=" is not a variable of the environment. */
static const struct option_spec *option_of(const char *text)
{
	char name[64];

	return strchr(text, '=') && name_of(text, name, sizeof name) ? option_spec_find(&kind, name)
								     : NULL;
}

static bool accepts(const struct option_spec *s, const char *value)
{
	struct options o;
	bool good;

	options_default(&o, &kind);
	good = option_value_set(&o, s, value) == PAWL_SUCCESS;
	options_free(&o);
	return good;
}

static void check_lines(void)
{
	for (int i = 0; i < nlines; i++) {
		char *equals = strchr(line[i], '='), *end = line[i] + strcspn(line[i], "=");
		const char *value = value_of(line[i]);
		const struct option_spec *s;

		/* Keys are case-sensitive. */
		*end = '\0';
		s = option_spec_find(&kind, line[i]);
		if (s)
			check_value(s, value);
		else
			check_unknown(line[i], value);
		if (equals)
			*equals = '=';
	}
}

/* Set each line as PAWL_NAME=VALUE. */
static void check_environment(bool strict)
{
	extern char **environ;
	static char *entries[LINES + 2], stricter[] = "PAWL_STRICT=1";
	char **before = environ;
	bool good = true;
	struct options o;
	FILE *out = fopen("/dev/null", "w");
	int n = 0, rc;

	property(out, "there is /dev/null");
	for (int i = 0; i < nlines; i++) {
		size_t len = strlen(line[i]);
		char *entry = calloc(len + 6, 1);
		const struct option_spec *s = option_of(line[i]);
		bool first = true;

		property(entry, "there is memory");
		snprintf(entry, len + 6, "PAWL_%s", line[i]);
		for (size_t k = 5; entry[k] && entry[k] != '='; k++)
			entry[k] = (char)toupper((unsigned char)entry[k]);
		/* The first line of a name counts. */
		for (int k = 0; k < i; k++)
			first = first && option_of(line[k]) != s;
		if (s && first)
			good = good && accepts(s, value_of(line[i]));
		if (strncmp(entry, "PAWL_STRICT", 11) == 0)
			free(entry);
		else
			entries[n++] = entry;
	}
	entries[n] = strict ? stricter : NULL;
	entries[n + strict] = NULL;
	environ = entries;
	options_default(&o, &kind);
	rc = options_environment(&o, &kind);
	property(rc == PAWL_SUCCESS || rc == PAWL_ERR_OPTION, "success, or a bad option");
	property(rc != PAWL_SUCCESS || good, "a bad value in the environment is refused");
	if (!strict)
		property((rc == PAWL_SUCCESS) == good, "nothing else in the environment is");
	else if (rc != PAWL_SUCCESS && good)
		property(strncmp(pawl_error_message(), "environment variable PAWL_", 26) == 0,
			 "PAWL_STRICT names the variable");
	environment_warn(out);
	environ = before;
	options_free(&o);
	fclose(out);
	for (int i = 0; i < n; i++)
		free(entries[i]);
}

/* Set each line with "=" as key pawl_NAME, or as it is if it has that prefix. */
static void check_info(void)
{
	struct options o;
	bool good = true;
	int rc;

	nkeys = 0;
	for (int i = 0; i < nlines; i++) {
		const struct option_spec *s;
		char key[MPI_MAX_INFO_KEY];
		int len = (int)strcspn(line[i], "=");

		if (!line[i][len] ||
		    snprintf(key, sizeof key, "%s%.*s",
			     strncasecmp(line[i], "pawl_", 5) == 0 ? "" : "pawl_", len,
			     line[i]) >= (int)sizeof key ||
		    find_key(key) >= 0)
			continue;
		strcpy(keys[nkeys].key, key);
		snprintf(keys[nkeys].value, sizeof keys[0].value, "%s", value_of(line[i]));
		if (strcmp(key, "pawl_name") == 0) {
			good = good && options_check_name(keys[nkeys].value, PAWL_ERR_OPTION,
							  "it") == PAWL_SUCCESS;
		} else if (strcmp(key, "pawl_final") != 0) {
			s = strncmp(key, "pawl_", 5) == 0 ? option_spec_find(&kind, key + 5) : NULL;
			good = good && s && accepts(s, keys[nkeys].value);
		}
		nkeys++;
	}
	rc = options_read(&o, &kind, MPI_INFO_ENV);
	property(rc == PAWL_SUCCESS || rc == PAWL_ERR_OPTION, "success, or a bad option");
	property(rc != PAWL_SUCCESS || good, "a bad key is refused");
	/* A longest pause below the shortest is refused, too, a transport that the build lacks, and
	 * events with a lease. */
	property(rc == PAWL_SUCCESS || !good || strstr(pawl_error_message(), "backoff_min") ||
		     strstr(pawl_error_message(), "transport") ||
		     strstr(pawl_error_message(), "option events"),
		 "nothing else is");
	options_free(&o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text, *rest, *each;
	int how;

	if (size < 1)
		return 0;
	how = data[0];
	kind.options = how & FEW ? few : many;
	text = rest = text_of(data + 1, size - 1);
	nlines = 0;
	while ((each = strsep(&rest, "\n")) && nlines < LINES)
		line[nlines++] = each;
	if (how & KEYS)
		check_info();
	else
		check_environment(how & STRICT);
	check_lines();
	free(text);
	return 0;
}
