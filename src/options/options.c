/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options of a table. Those of all kinds are listed here, those of one kind or several in the
 * kinds' tables (lock/option.h). Messages, MPI_Info keys (pawl_NAME), environment variables
 * (PAWL_NAME) and programs (pawl_option_get()) use these tables.
 *
 * An info key is meant for one table, so a key that the kind does not have is an error. The
 * environment is meant for all tables: environment.c.
 */
#include "options/options.h"

#include <pawl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/info.h"
#include "lock/kinds.h"
#include "options/option_spec.h"
#include "base/similar.h"

/* A function, because in a header its value would depend on how the including file is compiled. */
bool options_have_ucx(void)
{
#ifdef PAWL_HAVE_UCX
	return true;
#else
	return false;
#endif
}

/* Options that every kind has. */
#define COMMON(name, values, preset, summary, type, field, min, max)                              \
	OPTION_LINE(name, values, preset, summary, 1, type, offsetof(struct options, field), min, \
		    max)
#define NUMBER(name, field, min, max, preset, summary) \
	COMMON(name, #min " .. " #max, preset, summary, OPTION_NUMBER, field, min, max)
#define SECONDS(name, field, min, max, preset, summary) \
	COMMON(name, #min " .. " #max, preset, summary, OPTION_SECONDS, field, min, max)
#define CHOICE(name, field, words, preset, summary) \
	COMMON(name, words, preset, summary, OPTION_CHOICE, field, 0, 0)
#define TEXT(name, field, values, preset, summary) \
	COMMON(name, values, preset, summary, OPTION_TEXT, field, 0, 0)

static const struct option_spec common[] = {
    CHOICE("distribution", home, "block | cyclic", "block",
	   "home of lock l on P ranks: rank l / ceil(n/P), or l mod P"),
    NUMBER("max_held", max_held, 1, 65535, "16 (fewer, if the kind counts no more for all ranks)",
	   "locks that one process may hold or wait for at a time"),
    CHOICE("owner", owner, "thread | process", "thread",
	   "a lock is released by the thread that acquired it, or by any of its process"),
    CHOICE("threads", threads, "auto | single | multiple", "auto",
	   "whether each thread of a rank is a client of its own"),
    TEXT("topology", topology, "a string", "(discovered)",
	 "the machine, in place of discovery: \"rack:2 node:4 package:2 core:8\""),
    TEXT("topology_file", topology_file, "a path", "(none)",
	 "a file with the rack and the switch of each host"),
    TEXT("groups", groups, "auto | none | N", "(auto)",
	 "groups of nodes: those of SLURM, none, or N nodes each"),
    CHOICE("wait", wait, "auto | spin | yield | park", "auto",
	   "how a client waits: it polls, yields its core between looks, or sleeps"),
    CHOICE("progress", progress, "lazy | far | eager | thread", "lazy",
	   "how often a waiting rank drives the MPI: seldom, often if there are several hosts, "
	   "often; or a thread drives it, while ranks compute, too"),
    CHOICE("transport", transport, "auto | mpi | ucx", "auto",
	   "what carries operations between nodes: windows of the MPI, or UCX"),
    NUMBER("connections", connections, 0, 1000000, "0 (as file descriptors allow)",
	   "over UCX, the most ranks that a process connects to, where a node takes one at least"),
    CHOICE("events", events, "no | yes", "no",
	   "whether locks have conditions, semaphores and counters, 64 bytes of memory for each"),
    CHOICE("names", names, "no | yes", "no",
	   "whether locks can have names (pawl_lock_named()), 64 bytes of memory for each"),
    COMMON("spin", "0 .. 1000000", "(by ranks and cores)",
	   "microseconds that a waiting client polls before it gives its core away", OPTION_US,
	   spin_us, 0, 1000000),
    SECONDS("watchdog", watchdog_s, 0, 86400, "0 (off)",
	    "seconds after which a waiting client says on stderr what it waits for"),
};

enum { COMMON_COUNT = sizeof common / sizeof common[0], MOST_OPTIONS = 64 };

/* ---------------------------------------------------------------- the lists */

static int own_count(const struct lock_protocol *p)
{
	int n = 0;

	while (p->options && p->options[n].is.name)
		n++;
	return n;
}

const struct option_spec *option_spec_of(const struct lock_protocol *p, int index)
{
	if (index < 0 || index >= COMMON_COUNT + own_count(p))
		return NULL;
	return index < COMMON_COUNT ? &common[index] : &p->options[index - COMMON_COUNT];
}

const struct option_spec *option_spec_find(const struct lock_protocol *p, const char *name)
{
	const struct option_spec *s;

	for (int i = 0; (s = option_spec_of(p, i)); i++)
		if (strcmp(s->is.name, name) == 0)
			return s;
	return NULL;
}

/* All options as they are shown: an option that kinds share shows all their defaults. */
static struct {
	const struct option_spec *spec;
	struct pawl_option shown;
	char preset[120];
} all[MOST_OPTIONS];
static pthread_once_t listed = PTHREAD_ONCE_INIT;

/* "4096 (citron: 16)", "0 (rma-rw: product of t_l + 1; shiftlock: 32)": the default of the first
 * kind, then other kinds' defaults. */
static void print_preset(const struct option_spec *first, const char *first_kind, char *text,
			 size_t len)
{
	size_t plain = strcspn(first->is.preset, "("), used;
	const char *note = first->is.preset + plain;
	const struct lock_protocol *p;
	const struct option_spec *s;
	bool open = *note, named = false;

	while (plain > 0 && first->is.preset[plain - 1] == ' ')
		plain--;
	used = (size_t)snprintf(text, len, "%s", first->is.preset);
	if (open)
		text[--used] = '\0';
	for (int i = 0; (p = kinds_get(i)) && used < len; i++) {
		const char *rest;

		s = option_spec_find(p, first->is.name);
		if (!s || strcmp(s->is.preset, first->is.preset) == 0)
			continue;
		rest = s->is.preset;
		if (strncmp(rest, first->is.preset, plain) == 0 && rest[plain] == ' ') {
			/* The same value, with another meaning. */
			rest += plain + 2;
			if (!named)
				used = (size_t)snprintf(text, len, "%.*s (%s: %.*s", (int)plain,
							first->is.preset, first_kind,
							(int)strcspn(note + 1, ")"), note + 1);
			named = open = true;
		}
		used += (size_t)snprintf(text + used, len - used, "%s%s: %.*s", open ? "; " : " (",
					 p->kind.name, (int)strcspn(rest, ")"), rest);
		open = true;
	}
	if (open && used < len)
		snprintf(text + used, len - used, ")");
}

static void list_all(void)
{
	const struct lock_protocol *p;
	int n = 0;

	for (int i = 0; i < COMMON_COUNT; i++, n++) {
		all[n].spec = &common[i];
		all[n].shown = common[i].is;
	}
	for (int k = 0; (p = kinds_get(k)); k++)
		for (int i = 0; i < own_count(p); i++) {
			const struct option_spec *s = &p->options[i];
			int same = 0;

			while (same < n && strcmp(all[same].spec->is.name, s->is.name) != 0)
				same++;
			if (same < n || n == MOST_OPTIONS)
				continue;
			print_preset(s, p->kind.name, all[n].preset, sizeof all[n].preset);
			all[n].spec = s;
			all[n].shown = s->is;
			all[n].shown.preset = all[n].preset;
			n++;
		}
}

const struct option_spec *option_spec_get(int index)
{
	pthread_once(&listed, list_all);
	return index >= 0 && index < MOST_OPTIONS ? all[index].spec : NULL;
}

const struct pawl_option *pawl_option_get(int index)
{
	return option_spec_get(index) ? &all[index].shown : NULL;
}

/* --------------------------------------------------------------- defaults */

/* The value is the part before " ("; if that is empty, the value stays zero. */
static int set_preset(struct options *o, const struct option_spec *s)
{
	size_t len = strcspn(s->is.preset, "(");
	char text[100];

	while (len > 0 && s->is.preset[len - 1] == ' ')
		len--;
	snprintf(text, sizeof text, "%.*s", (int)len, s->is.preset);
	return len > 0 ? option_value_set(o, s, text) : PAWL_SUCCESS;
}

int options_default(struct options *o, const struct lock_protocol *p)
{
	const struct option_spec *s;
	int rc = PAWL_SUCCESS;

	memset(o, 0, sizeof *o);
	o->protocol = p;
	o->spin_us = -1;
	for (int i = 0; rc == PAWL_SUCCESS && (s = option_spec_of(p, i)); i++)
		rc = set_preset(o, s);
	o->held_given = false;
	return rc;
}

/* ---------------------------------------------------------------- sources */

static const char info_prefix[] = "pawl_";
/* Names of options that the environment does not override, separated by blanks. */
static const char final_key[] = "pawl_final";
/* The name of the table. */
static const char name_key[] = "pawl_name";

int options_check_name(const char *name, int code, const char *what)
{
	size_t len = 0;

	while (name[len] && (unsigned char)name[len] >= ' ' && name[len] != '"')
		len++;
	if (!name[len] && len < OPTIONS_NAME_BYTES)
		return PAWL_SUCCESS;
	return error_set(code,
			 "%s: at most %d bytes, without quotation marks and control characters",
			 what, OPTIONS_NAME_BYTES - 1);
}

int options_name(MPI_Info info, char name[OPTIONS_NAME_BYTES])
{
	char value[MPI_MAX_INFO_VAL + 1] = "";
	int rc;

	name[0] = '\0';
	if (info == MPI_INFO_NULL || !info_get(info, name_key, value, sizeof value))
		return PAWL_SUCCESS;
	rc = options_check_name(value, PAWL_ERR_OPTION, "info key pawl_name");
	if (rc == PAWL_SUCCESS)
		strcpy(name, value);
	return rc;
}

static bool is_known(const char *name)
{
	const struct option_spec *s;

	for (int i = 0; (s = option_spec_get(i)); i++)
		if (strcmp(s->is.name, name) == 0)
			return true;
	return false;
}

void option_kinds(const char *name, char *text, size_t len)
{
	const struct lock_protocol *p;
	size_t used = 0;

	text[0] = '\0';
	for (int i = 0; (p = kinds_get(i)) && used < len; i++)
		if (option_spec_find(p, name))
			used += (size_t)snprintf(text + used, len - used, "%s%s", used ? ", " : "",
						 p->kind.name);
}

/* List the options of the kind, with a hint if the name is misspelt. */
static int no_such_option(const struct lock_protocol *p, const char *name, const char *what)
{
	struct similar near = similar_to(name, strlen(name));
	const struct option_spec *s;
	char list[400] = "", hint[64], kinds[200];
	size_t used = 0;

	for (int i = 0; (s = option_spec_of(p, i)) && used < sizeof list; i++) {
		similar_try(&near, s->is.name, strlen(s->is.name));
		used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "",
					 s->is.name);
	}
	option_kinds(name, kinds, sizeof kinds);
	if (is_known(name))
		return error_set(
		    PAWL_ERR_OPTION,
		    "%.80s: %s has no option %s (kinds that have it: %s); it takes: %s", what,
		    p->kind.name, name, kinds, list);
	return error_set(PAWL_ERR_OPTION, "%.80s: there is no option %.80s%s; %s takes: %s", what,
			 name, similar_hint(&near, "", hint, sizeof hint), p->kind.name, list);
}

int options_set(struct options *o, const struct lock_protocol *p, const char *name,
		const char *value, const char *what)
{
	const struct option_spec *s = option_spec_find(p, name);

	return s ? option_value_set(o, s, value) : no_such_option(p, name, what);
}

static int read_info_key(struct options *o, const struct lock_protocol *p, MPI_Info info,
			 const char *key)
{
	char value[MPI_MAX_INFO_VAL + 1] = "", what[MPI_MAX_INFO_KEY + 16];

	if (strncmp(key, info_prefix, strlen(info_prefix)) != 0)
		return error_set(PAWL_ERR_OPTION,
				 "info key %s: keys of Pawl are in lower case, as in pawl_max_held",
				 key);
	info_get(info, key, value, sizeof value);
	snprintf(what, sizeof what, "info key %s", key);
	return options_set(o, p, key + strlen(info_prefix), value, what);
}

static int read_info(struct options *o, const struct lock_protocol *p, MPI_Info info)
{
	int n, rc = PAWL_SUCCESS;

	if (info == MPI_INFO_NULL)
		return PAWL_SUCCESS;
	PMPI_Info_get_nkeys(info, &n);
	for (int i = 0; i < n && rc == PAWL_SUCCESS; i++) {
		char key[MPI_MAX_INFO_KEY + 1];

		PMPI_Info_get_nthkey(info, i, key);
		if (strncasecmp(key, info_prefix, strlen(info_prefix)) == 0 &&
		    strcmp(key, final_key) != 0 && strcmp(key, name_key) != 0)
			rc = read_info_key(o, p, info, key);
	}
	return rc;
}

void options_warn_info(FILE *out, MPI_Info info)
{
	char key[MPI_MAX_INFO_KEY + 1];
	int n;

	PMPI_Info_get_nkeys(info, &n);
	for (int i = 0; i < n; i++) {
		PMPI_Info_get_nthkey(info, i, key);
		if (is_known(key))
			fprintf(out, "pawl: info key %s has no effect; did you mean %s%s?\n", key,
				info_prefix, key);
	}
}

/* For the options that pawl_final names, info overrides the environment. */
static int read_final(struct options *o, const struct lock_protocol *p, MPI_Info info)
{
	char names[MPI_MAX_INFO_VAL + 1] = "", *rest = names, *name, key[MPI_MAX_INFO_KEY];
	int rc = PAWL_SUCCESS;
	bool found = info != MPI_INFO_NULL && info_get(info, final_key, names, sizeof names);

	while (found && rc == PAWL_SUCCESS && (name = strsep(&rest, " "))) {
		snprintf(key, sizeof key, "%s%s", info_prefix, name);
		if (info_has(info, key))
			rc = read_info_key(o, p, info, key);
	}
	return rc;
}

int64_t options_number(const struct options *o, const char *name, int64_t otherwise)
{
	const struct option_spec *s = option_spec_find(o->protocol, name);

	return s ? option_value_number(o, s) : otherwise;
}

const int64_t *options_levels(const struct options *o, const char *name)
{
	const struct option_spec *s = option_spec_find(o->protocol, name);

	return s ? (const int64_t *)(const void *)(o->own + s->offset) : NULL;
}

int options_check(const struct options *o)
{
	int64_t least = options_number(o, "backoff_min", 0);
	int64_t most = options_number(o, "backoff_max", INT64_MAX);

	if (least > most)
		return error_set(PAWL_ERR_OPTION,
				 "option backoff_min: %lld is more than backoff_max, %lld",
				 (long long)least, (long long)most);
	if (o->events == EVENTS_YES && options_number(o, "lease", 0) > 0)
		return error_set(PAWL_ERR_OPTION,
				 "option events: a table with a lease has none, because a holder"
				 " that is taken for dead may be in the middle of a change");
	if (o->transport == TRANSPORT_UCX && !options_have_ucx())
		return error_set(PAWL_ERR_OPTION, "option transport: this build of Pawl has no ucx"
						  " (configure --with-ucx); accepted: auto, mpi");
	return PAWL_SUCCESS;
}

int options_read(struct options *o, const struct lock_protocol *p, MPI_Info info)
{
	int rc = options_default(o, p);

	if (rc == PAWL_SUCCESS)
		rc = options_name(info, o->name);
	if (rc == PAWL_SUCCESS)
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
