/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options of a table. One table here says each option's name, where it goes and
 * what it accepts; messages, MPI_Info keys (pawl_NAME) and environment variables
 * (PAWL_NAME) all come from it.
 *
 * An info key is meant for this very table, so one that its kind does not take
 * is an error. The environment is meant for all tables of the program: there a
 * kind passes over the options of other kinds, and only names that no kind knows
 * are errors.
 */
#include "core/options.h"

#include <ctype.h>
#include <errno.h>
#include <pawl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/kinds.h"

/* In one place, for what is compiled without UCX's flags would see another answer in a header. */
bool options_have_ucx(void)
{
#ifdef PAWL_HAVE_UCX
	return true;
#else
	return false;
#endif
}

enum type { NUMBER, SECONDS, CHOICE, TEXT, LEVELS };

struct spec {
	const char *name;
	enum type type;
	size_t offset;       /* in struct options */
	int64_t min, max;    /* NUMBER, SECONDS */
	const char *choices; /* CHOICE: separated by blanks, numbered from 0 */
	bool common;         /* every kind takes it */
};

#define AT(field) offsetof(struct options, field)

static const struct spec specs[] = {
    {"home", CHOICE, AT(home), 0, 0, "block cyclic", true},
    {"max_held", NUMBER, AT(max_held), 1, 65535, NULL, true},
    {"owner", CHOICE, AT(owner), 0, 0, "thread process", true},
    {"threads", CHOICE, AT(threads), 0, 0, "auto single multiple", true},
    {"topology", TEXT, AT(topology), 0, 0, NULL, true},
    {"topology_file", TEXT, AT(topology_file), 0, 0, NULL, true},
    {"groups", TEXT, AT(groups), 0, 0, NULL, true},
    {"wait", CHOICE, AT(wait), 0, 0, "auto spin yield park", true},
    {"progress", CHOICE, AT(progress), 0, 0, "lazy eager thread", true},
    {"transport", CHOICE, AT(transport), 0, 0, "auto mpi ucx", true},
    {"spin", NUMBER, AT(spin_us), 0, 1000000, NULL, true},
    {"watchdog", SECONDS, AT(watchdog_s), 0, 86400, NULL, true},
    {"t_l", LEVELS, AT(params.t_l), 1, 1048575, NULL, false},
    {"t_dc", NUMBER, AT(params.t_dc), 0, 1048576, NULL, false},
    {"t_r", NUMBER, AT(params.t_r), 1, 2147483647, NULL, false},
    {"t_w", NUMBER, AT(params.t_w), 0, 1048576, NULL, false},
    {"backoff_min", NUMBER, AT(params.backoff_min), 1, 1000000000, NULL, false},
    {"backoff_max", NUMBER, AT(params.backoff_max), 1, 1000000000, NULL, false},
    {"local_budget", NUMBER, AT(params.budget[RMA_NODE]), 1, 1048575, NULL, false},
    {"remote_budget", NUMBER, AT(params.budget[RMA_NET]), 1, 1048575, NULL, false},
    {"lease", NUMBER, AT(params.lease_us), 0, 3600000000, NULL, false},
    {"recoveries", NUMBER, AT(params.recoveries), 1, 16777216, NULL, false},
    {"units", NUMBER, AT(params.units), 1, INT64_C(1) << 40, NULL, false},
    {"units_most", NUMBER, AT(params.units_most), 1, INT64_C(1) << 40, NULL, false},
    {"fast_path", CHOICE, AT(params.only_slow_path), 0, 0, "yes no", false},
    {"growth", CHOICE, AT(params.grow_by_call), 0, 0, "auto call", false},
    {"k", NUMBER, AT(params.k), 0, 8, NULL, false},
    {"m", NUMBER, AT(params.m), 1, 5, NULL, false},
    {"segments", NUMBER, AT(params.segments), 1, 16777216, NULL, false},
    {"segment_units", NUMBER, AT(params.segment_units), 1, INT64_C(1) << 62, NULL, false},
    {"native_window", CHOICE, AT(params.native_create), 0, 0, "allocate create", false},
};

enum { COUNT = sizeof specs / sizeof specs[0] };

static const struct {
	const char *name;
	enum topo_kind kind;
} level_names[] = {
    {"group", TOPO_GROUP},     {"rack", TOPO_GROUP}, {"switch", TOPO_GROUP}, {"node", TOPO_NODE},
    {"package", TOPO_PACKAGE}, {"numa", TOPO_NUMA},  {"cache", TOPO_CACHE},  {"gang", TOPO_GANG},
};

enum { LEVEL_NAMES = sizeof level_names / sizeof level_names[0] };

/* Where crossing costs more, the lock stays longer before it crosses. */
void options_default(struct options *o, const struct lock_protocol *p)
{
	memset(o, 0, sizeof *o);
	o->max_held = 16;
	o->spin_us = -1;
	o->params.t_l[TOPO_GROUP] = 64;
	o->params.t_l[TOPO_NODE] = 256;
	o->params.t_l[TOPO_PACKAGE] = 32;
	o->params.t_l[TOPO_NUMA] = 32;
	o->params.t_l[TOPO_CACHE] = 32;
	o->params.t_l[TOPO_GANG] = 1024;
	o->params.t_r = 1024;
	o->params.backoff_min = 500;
	o->params.backoff_max = 100000;
	o->params.budget[RMA_NODE] = 5;
	o->params.budget[RMA_NET] = 20;
	o->params.lease_us = 10000;
	o->params.recoveries = 4096;
	o->params.units = 1 << 20;
	o->params.k = 2;
	o->params.m = 4;
	o->params.segments = 64;
	o->params.segment_units = 16384;
	if (p->defaults)
		p->defaults(&o->params);
	o->hash = UINT64_C(14695981039346656037);
}

static void hash_text(struct options *o, const char *text)
{
	do
		o->hash = (o->hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
	while (*text++);
}

/* ------------------------------------------------------------- membership */

static bool in_list(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = list; p && *p;) {
		size_t word = strcspn(p, " ");

		if (word == len && strncmp(p, name, len) == 0)
			return true;
		p += word;
		p += strspn(p, " ");
	}
	return false;
}

static bool takes(const struct lock_protocol *p, const struct spec *s)
{
	return s->common || in_list(p->kind.options, s->name);
}

static const struct spec *find_spec(const char *name)
{
	for (int i = 0; i < COUNT; i++)
		if (strcmp(specs[i].name, name) == 0)
			return &specs[i];
	return NULL;
}

/* "home, max_held, ..." of a kind. */
static const char *accepted(const struct lock_protocol *p, char *text, size_t len)
{
	size_t used = 0;

	text[0] = '\0';
	for (int i = 0; i < COUNT && used < len; i++)
		if (takes(p, &specs[i]))
			used += (size_t)snprintf(text + used, len - used, "%s%s", used ? ", " : "",
						 specs[i].name);
	return text;
}

/* ----------------------------------------------------------------- values */

static bool parse_number(const char *text, int64_t *value)
{
	char *end;
	long long v;

	errno = 0;
	v = strtoll(text, &end, 10);
	*value = v;
	return errno == 0 && end != text && *end == '\0' && !isspace((unsigned char)text[0]);
}

static int set_number(struct options *o, const struct spec *s, const char *text)
{
	int64_t value;

	if (!parse_number(text, &value) || value < s->min || value > s->max)
		return error_set(PAWL_ERR_OPTION,
				 "option %s: \"%s\" is not a number from %lld to %lld", s->name,
				 text, (long long)s->min, (long long)s->max);
	*(int64_t *)(void *)((char *)o + s->offset) = value;
	return PAWL_SUCCESS;
}

/* Digits, and behind a point, whatever the locale, more of them. */
static bool parse_seconds(const char *text, double *value)
{
	double unit = 1;
	bool digits = false;

	*value = 0;
	for (; isdigit((unsigned char)*text); text++, digits = true)
		*value = *value * 10 + (*text - '0');
	if (*text == '.')
		for (text++; isdigit((unsigned char)*text); text++, digits = true)
			*value += (*text - '0') * (unit /= 10);
	return digits && *text == '\0';
}

static int set_seconds(struct options *o, const struct spec *s, const char *text)
{
	double value;

	if (!parse_seconds(text, &value) || value < (double)s->min || value > (double)s->max)
		return error_set(
		    PAWL_ERR_OPTION,
		    "option %s: \"%s\" is not a number of seconds from %lld to %lld, as"
		    " 2 or 0.5",
		    s->name, text, (long long)s->min, (long long)s->max);
	*(double *)(void *)((char *)o + s->offset) = value;
	return PAWL_SUCCESS;
}

static int set_choice(struct options *o, const struct spec *s, const char *text)
{
	int which = 0;

	for (const char *p = s->choices; *p; which++) {
		size_t word = strcspn(p, " ");

		if (strlen(text) == word && strncmp(p, text, word) == 0) {
			/* bool and enums differ in size */
			if (s->offset == AT(params.native_create))
				o->params.native_create = which != 0;
			else
				*(int *)(void *)((char *)o + s->offset) = which;
			return PAWL_SUCCESS;
		}
		p += word;
		p += strspn(p, " ");
	}
	return error_set(PAWL_ERR_OPTION, "option %s: \"%s\" is not one of: %s", s->name, text,
			 s->choices);
}
_Static_assert(sizeof(enum lock_home) == sizeof(int) && sizeof(enum option_wait) == sizeof(int) &&
		   sizeof(enum option_threads) == sizeof(int) &&
		   sizeof(enum option_owner) == sizeof(int) &&
		   sizeof(enum option_progress) == sizeof(int) &&
		   sizeof(enum option_transport) == sizeof(int),
	       "choices are stored as int");

static int set_text(struct options *o, const struct spec *s, const char *text)
{
	char **field = (char **)(void *)((char *)o + s->offset);

	free(*field);
	*field = strdup(text);
	return *field ? PAWL_SUCCESS : error_set(PAWL_ERR_NOMEM, "out of memory");
}

/* One "LEVEL:NUMBER", or a number for all levels. */
static int set_level(struct options *o, const struct spec *s, char *item)
{
	char *colon = strchr(item, ':');
	int64_t value;
	bool known = !colon;

	if (colon)
		*colon = '\0';
	for (int i = 0; colon && i < LEVEL_NAMES; i++)
		known = known || strcmp(level_names[i].name, item) == 0;
	if (!known)
		return error_set(PAWL_ERR_OPTION,
				 "option %s: \"%s\" is no level; accepted: group (rack, switch),"
				 " node, package, numa, cache, gang",
				 s->name, item);
	if (!parse_number(colon ? colon + 1 : item, &value) || value < s->min || value > s->max)
		return error_set(PAWL_ERR_OPTION,
				 "option %s: \"%s\" is not a number from %lld to %lld", s->name,
				 colon ? colon + 1 : item, (long long)s->min, (long long)s->max);
	for (int i = 0; i < LEVEL_NAMES; i++)
		if (!colon || strcmp(level_names[i].name, item) == 0)
			o->params.t_l[level_names[i].kind] = value;
	return PAWL_SUCCESS;
}

static int set_levels(struct options *o, const struct spec *s, const char *text)
{
	char *copy = strdup(text), *rest = copy, *item;
	int rc = PAWL_SUCCESS;

	if (!copy)
		return error_set(PAWL_ERR_NOMEM, "out of memory");
	while (rc == PAWL_SUCCESS && (item = strsep(&rest, ",")))
		rc = set_level(o, s, item);
	free(copy);
	return rc;
}

static int set_value(struct options *o, const struct spec *s, const char *text)
{
	hash_text(o, s->name);
	hash_text(o, text);
	switch (s->type) {
	case NUMBER:
		return set_number(o, s, text);
	case SECONDS:
		return set_seconds(o, s, text);
	case CHOICE:
		return set_choice(o, s, text);
	case TEXT:
		return set_text(o, s, text);
	case LEVELS:
		return set_levels(o, s, text);
	}
	return PAWL_SUCCESS;
}

/* ---------------------------------------------------------------- sources */

static const char info_prefix[] = "pawl_", env_prefix[] = "PAWL_";
/* Names of options that the environment does not override, with blanks in between. */
static const char final_key[] = "pawl_final";

int options_set(struct options *o, const struct lock_protocol *p, const char *name,
		const char *value, const char *what)
{
	const struct spec *s = find_spec(name);
	char list[256];

	if (!s)
		return error_set(PAWL_ERR_OPTION, "%s: there is no option %s; %s takes: %s", what,
				 name, p->kind.name, accepted(p, list, sizeof list));
	if (!takes(p, s))
		return error_set(PAWL_ERR_OPTION, "%s: %s has no option %s; it takes: %s", what,
				 p->kind.name, name, accepted(p, list, sizeof list));
	return set_value(o, s, value);
}

static int read_info_key(struct options *o, const struct lock_protocol *p, MPI_Info info,
			 const char *key)
{
	char value[MPI_MAX_INFO_VAL + 1] = "", what[MPI_MAX_INFO_KEY + 16];
	int found;

	MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
	snprintf(what, sizeof what, "info key %s", key);
	return options_set(o, p, key + strlen(info_prefix), value, what);
}

static int read_info(struct options *o, const struct lock_protocol *p, MPI_Info info)
{
	int n, rc = PAWL_SUCCESS;

	if (info == MPI_INFO_NULL)
		return PAWL_SUCCESS;
	MPI_Info_get_nkeys(info, &n);
	for (int i = 0; i < n && rc == PAWL_SUCCESS; i++) {
		char key[MPI_MAX_INFO_KEY + 1];

		MPI_Info_get_nthkey(info, i, key);
		if (strncmp(key, info_prefix, strlen(info_prefix)) == 0 &&
		    strcmp(key, final_key) != 0)
			rc = read_info_key(o, p, info, key);
	}
	return rc;
}

/* Of the options that it names, info has the last word. */
static int read_final(struct options *o, const struct lock_protocol *p, MPI_Info info)
{
	char names[MPI_MAX_INFO_VAL + 1] = "", *rest = names, *name, key[MPI_MAX_INFO_KEY];
	int found = 0, len, there, rc = PAWL_SUCCESS;

	if (info != MPI_INFO_NULL)
		MPI_Info_get(info, final_key, MPI_MAX_INFO_VAL, names, &found);
	while (found && rc == PAWL_SUCCESS && (name = strsep(&rest, " "))) {
		snprintf(key, sizeof key, "%s%s", info_prefix, name);
		MPI_Info_get_valuelen(info, key, &len, &there);
		if (there)
			rc = read_info_key(o, p, info, key);
	}
	return rc;
}

/* Variables that are meant for the layer under MPI_Win_lock (src/dropin). */
static const char foreign[] = "lock stats";

static int read_variable(struct options *o, const struct lock_protocol *p, const char *entry)
{
	char name[64], list[512];
	const char *equals = strchr(entry, '=');
	size_t used = 0, len = 0;
	const struct spec *s;

	if (!equals)
		return PAWL_SUCCESS;
	for (const char *c = entry + strlen(env_prefix); c < equals && len < sizeof name - 1; c++)
		name[len++] = (char)tolower((unsigned char)*c);
	name[len] = '\0';
	s = find_spec(name);
	if (!s && in_list(foreign, name))
		return PAWL_SUCCESS;
	if (s)
		return takes(p, s) ? set_value(o, s, equals + 1) : PAWL_SUCCESS;
	for (int i = 0; i < COUNT && used < sizeof list; i++)
		used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "",
					 specs[i].name);
	return error_set(PAWL_ERR_OPTION,
			 "environment variable %.*s: there is no option %s; accepted, in upper case"
			 " behind PAWL_: %s",
			 (int)(equals - entry), entry, name, list);
}

int options_environment(struct options *o, const struct lock_protocol *p)
{
	extern char **environ;
	int rc = PAWL_SUCCESS;

	for (char **e = environ; e && *e && rc == PAWL_SUCCESS; e++)
		if (strncmp(*e, env_prefix, strlen(env_prefix)) == 0)
			rc = read_variable(o, p, *e);
	return rc;
}

int options_check(const struct options *o)
{
	if (o->params.backoff_min > o->params.backoff_max)
		return error_set(
		    PAWL_ERR_OPTION, "option backoff_min: %lld is more than backoff_max, %lld",
		    (long long)o->params.backoff_min, (long long)o->params.backoff_max);
	if (o->transport == TRANSPORT_UCX && !options_have_ucx())
		return error_set(PAWL_ERR_OPTION, "option transport: this build of Pawl has no ucx"
						  " (configure --with-ucx); accepted: auto, mpi");
	return PAWL_SUCCESS;
}

int options_read(struct options *o, const struct lock_protocol *p, MPI_Info info)
{
	int rc;

	options_default(o, p);
	rc = read_info(o, p, info);
	if (rc == PAWL_SUCCESS)
		rc = options_environment(o, p);
	if (rc == PAWL_SUCCESS)
		rc = read_final(o, p, info);
	return rc == PAWL_SUCCESS ? options_check(o) : rc;
}

void options_free(struct options *o)
{
	free(o->topology);
	free(o->topology_file);
	free(o->groups);
}
