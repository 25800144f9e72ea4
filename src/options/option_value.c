/* SPDX-License-Identifier: BSD-3-Clause */
/* Convert values of options from text and to text. */
#include <errno.h>
#include <pawl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/error.h"
#include "options/option_spec.h"

/* Messages show at most 120 bytes of a value, so that there is room for what is accepted. */

static const struct {
	const char *name;
	enum topo_type type;
} level_names[] = {
    {"group", TOPO_GROUP},     {"rack", TOPO_GROUP}, {"switch", TOPO_GROUP}, {"node", TOPO_NODE},
    {"package", TOPO_PACKAGE}, {"numa", TOPO_NUMA},  {"cache", TOPO_CACHE},  {"gang", TOPO_GANG},
};

enum { LEVEL_NAMES = sizeof level_names / sizeof level_names[0] };

static void *field(const struct options *o, const struct option_spec *s)
{
	return (char *)(uintptr_t)(s->is.common ? (const char *)o : (const char *)o->own) +
	       s->offset;
}

/* ---------------------------------------------------------------- numbers */

static bool parse_number(const char *text, int64_t *value)
{
	const char *digits = text[0] == '-' ? text + 1 : text;
	char *end;
	long long v;

	errno = 0;
	v = strtoll(text, &end, 10);
	*value = v;
	/* strtoll would also accept blanks and "+". */
	return digits[0] >= '0' && digits[0] <= '9' && errno == 0 && *end == '\0';
}

static int number_in_range(const struct option_spec *s, const char *text, int64_t *value)
{
	if (parse_number(text, value) && *value >= s->min && *value <= s->max)
		return PAWL_SUCCESS;
	return error_set(PAWL_ERR_OPTION, "option %s: \"%.120s\" is not a number from %lld to %lld",
			 s->is.name, text, (long long)s->min, (long long)s->max);
}

static int set_number(struct options *o, const struct option_spec *s, const char *text)
{
	int64_t value;
	int rc = number_in_range(s, text, &value);

	if (rc == PAWL_SUCCESS)
		*(int64_t *)field(o, s) = value;
	return rc;
}

/* ---------------------------------------------------------------- times */

/* To the nearest unit of the option, but not to 0. A negative number, where the option has one, is
 * no time. */
static int set_time(struct options *o, const struct option_spec *s, const char *text)
{
	const bool us = s->type == OPTION_US;
	double unit_ns = us ? 1e3 : 1, ns;
	int64_t value;

	if (text[0] == '-' && parse_number(text, &value) && value >= s->min) {
		*(int64_t *)field(o, s) = value;
		return PAWL_SUCCESS;
	}
	if (!duration_parse(text, unit_ns, &ns) || ns < (double)s->min * unit_ns ||
	    ns > (double)s->max * unit_ns)
		return error_set(PAWL_ERR_OPTION,
				 "option %s: \"%.120s\" is not a time from %lld to %lld %s; a"
				 " number is in %s, and 10us, 300ms and 2s are times, too",
				 s->is.name, text, (long long)s->min, (long long)s->max,
				 us ? "us" : "ns", us ? "microseconds" : "nanoseconds");
	value = (int64_t)(ns / unit_ns + 0.5);
	*(int64_t *)field(o, s) = value == 0 && ns > 0 ? 1 : value;
	return PAWL_SUCCESS;
}

/* To the nanosecond, in the form that duration_parse() accepts. */
static const char *seconds_text(double value, char *text, size_t len)
{
	long long ns = (long long)(value * 1e9 + 0.5);
	int used = snprintf(text, len, "%lld.%09lld", ns / 1000000000, ns % 1000000000);

	while (text[used - 1] == '0')
		text[--used] = '\0';
	if (text[used - 1] == '.')
		text[used - 1] = '\0';
	return text;
}

static int set_seconds(struct options *o, const struct option_spec *s, const char *text)
{
	double ns;

	if (!duration_parse(text, 1e9, &ns) || ns < (double)s->min * 1e9 ||
	    ns > (double)s->max * 1e9)
		return error_set(
		    PAWL_ERR_OPTION,
		    "option %s: \"%.120s\" is not a number of seconds from %lld to %lld, as"
		    " 2, 0.5 or 300ms",
		    s->is.name, text, (long long)s->min, (long long)s->max);
	*(double *)field(o, s) = ns / 1e9;
	return PAWL_SUCCESS;
}

/* ---------------------------------------------------------------- choices */

/* The next word of a list of choices: its length, or 0 at the end. */
static size_t next_choice(const char **at)
{
	*at += strspn(*at, " |");
	return strcspn(*at, " |");
}

_Static_assert(sizeof(enum lock_home) == sizeof(int) && sizeof(enum option_wait) == sizeof(int) &&
		   sizeof(enum option_threads) == sizeof(int) &&
		   sizeof(enum option_owner) == sizeof(int) &&
		   sizeof(enum option_progress) == sizeof(int) &&
		   sizeof(enum option_transport) == sizeof(int) &&
		   sizeof(enum option_names) == sizeof(int) &&
		   sizeof(enum option_events) == sizeof(int),
	       "choices are stored as int");

static int set_choice(struct options *o, const struct option_spec *s, const char *text)
{
	int which = 0;
	size_t len;

	for (const char *p = s->is.values; (len = next_choice(&p)); p += len, which++)
		if (strlen(text) == len && strncmp(p, text, len) == 0) {
			*(int *)field(o, s) = which;
			return PAWL_SUCCESS;
		}
	return error_set(PAWL_ERR_OPTION, "option %s: \"%.120s\" is not one of: %s", s->is.name,
			 text, s->is.values);
}

static const char *choice_text(const struct options *o, const struct option_spec *s, char *text,
			       size_t room)
{
	int which = *(int *)field(o, s);
	size_t len;

	for (const char *p = s->is.values; (len = next_choice(&p)); p += len)
		if (which-- == 0)
			snprintf(text, room, "%.*s", (int)len, p);
	return text;
}

/* ------------------------------------------------------------------- text */

static int set_text(struct options *o, const struct option_spec *s, const char *text)
{
	char **to = field(o, s), *copy = strdup(text);

	if (!copy)
		return error_set(PAWL_ERR_NOMEM, "out of memory");
	free(*to);
	*to = copy;
	return PAWL_SUCCESS;
}

/* ----------------------------------------------------------------- levels */

static int find_level(const char *name)
{
	for (int i = 0; i < LEVEL_NAMES; i++)
		if (strcmp(level_names[i].name, name) == 0)
			return i;
	return -1;
}

/* One "LEVEL:NUMBER", or, as the first item only, a number for all levels. seen: the item that has
 * named each level so far. */
static int set_level(int64_t t_l[LOCK_LEVEL_TYPES], const struct option_spec *s, char *item,
		     bool is_first, const char *seen[LOCK_LEVEL_TYPES])
{
	int64_t value;
	char *colon = strchr(item, ':');
	int level, rc;

	if (!colon && !is_first)
		return error_set(
		    PAWL_ERR_OPTION,
		    "option %s: \"%.120s\", a number for all levels, stands first or is"
		    " left out",
		    s->is.name, item);
	rc = number_in_range(s, colon ? colon + 1 : item, &value);
	if (!colon) {
		for (int i = 0; i < LEVEL_NAMES && rc == PAWL_SUCCESS; i++)
			t_l[level_names[i].type] = value;
		return rc;
	}
	*colon = '\0';
	level = find_level(item);
	if (level < 0)
		return error_set(
		    PAWL_ERR_OPTION,
		    "option %s: \"%.120s\" is no level; accepted: group (rack, switch),"
		    " node, package, numa, cache, gang",
		    s->is.name, item);
	if (rc != PAWL_SUCCESS)
		return rc;
	if (seen[level_names[level].type])
		return error_set(PAWL_ERR_OPTION,
				 "option %s: %s and %s are one level, which has one number",
				 s->is.name, seen[level_names[level].type], item);
	seen[level_names[level].type] = level_names[level].name;
	t_l[level_names[level].type] = value;
	return PAWL_SUCCESS;
}

static int set_levels(struct options *o, const struct option_spec *s, const char *text)
{
	const char *seen[LOCK_LEVEL_TYPES] = {NULL};
	int64_t t_l[LOCK_LEVEL_TYPES];
	char *copy = strdup(text), *rest = copy, *item;
	int rc = PAWL_SUCCESS;

	if (!copy)
		return error_set(PAWL_ERR_NOMEM, "out of memory");
	memcpy(t_l, field(o, s), sizeof t_l);
	while (rc == PAWL_SUCCESS && (item = strsep(&rest, ",")))
		rc = set_level(t_l, s, item, item == copy, seen);
	if (rc == PAWL_SUCCESS)
		memcpy(field(o, s), t_l, sizeof t_l);
	free(copy);
	return rc;
}

static const char *levels_text(const struct options *o, const struct option_spec *s, char *text,
			       size_t len)
{
	const int64_t *t_l = field(o, s);
	size_t used = 0;

	for (int i = 0; i < LEVEL_NAMES && used < len; i++)
		if (i == 0 || level_names[i].type != level_names[i - 1].type)
			used += (size_t)snprintf(text + used, len - used, "%s%s:%lld",
						 used ? "," : "", level_names[i].name,
						 (long long)t_l[level_names[i].type]);
	return text;
}

/* -------------------------------------------------------------- all kinds */

int option_value_set(struct options *o, const struct option_spec *s, const char *text)
{
	o->held_given = o->held_given || strcmp(s->is.name, "max_held") == 0;
	switch (s->type) {
	case OPTION_NUMBER:
		return set_number(o, s, text);
	case OPTION_NS:
	case OPTION_US:
		return set_time(o, s, text);
	case OPTION_SECONDS:
		return set_seconds(o, s, text);
	case OPTION_CHOICE:
		return set_choice(o, s, text);
	case OPTION_TEXT:
		return set_text(o, s, text);
	case OPTION_LEVELS:
		return set_levels(o, s, text);
	}
	return PAWL_SUCCESS;
}

const char *option_value_get(const struct options *o, const struct option_spec *s, char *text,
			     size_t len)
{
	const char *string;
	int64_t number;

	switch (s->type) {
	case OPTION_NUMBER:
	case OPTION_NS:
	case OPTION_US:
		number = *(int64_t *)field(o, s);
		if (number < s->min || number > s->max)
			return "the default";
		snprintf(text, len, "%lld", (long long)number);
		return text;
	case OPTION_SECONDS:
		return seconds_text(*(double *)field(o, s), text, len);
	case OPTION_CHOICE:
		return choice_text(o, s, text, len);
	case OPTION_TEXT:
		string = *(char **)field(o, s);
		return string ? string : "the default";
	case OPTION_LEVELS:
		return levels_text(o, s, text, len);
	}
	return "";
}

int64_t option_value_number(const struct options *o, const struct option_spec *s)
{
	return s->type == OPTION_CHOICE ? *(int *)field(o, s) : *(int64_t *)field(o, s);
}
