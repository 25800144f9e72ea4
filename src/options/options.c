/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options of a table. One list here says each option's name, what it accepts, its default,
 * its meaning in a line, and where it goes; messages, MPI_Info keys (pawl_NAME), environment
 * variables (PAWL_NAME) and the programs (pawl_option_get()) all come from it.
 *
 * An info key is meant for this very table, so one that its kind does not take is an
 * error. The environment is another matter: environment.c.
 */
#include "options/options.h"

#include <pawl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "lock/kinds.h"
#include "options/option_spec.h"
#include "base/similar.h"

/* In one place, for what is compiled without UCX's flags would see another answer in a header. */
bool options_have_ucx(void)
{
#ifdef PAWL_HAVE_UCX
	return true;
#else
	return false;
#endif
}

#define ENTRY(name, values, preset, summary, common, type, field, min, max)                     \
	{                                                                                       \
		{name, values, preset, summary, common}, type, offsetof(struct options, field), \
		    min, max                                                                    \
	}
#define NUMBER(name, field, common, min, max, preset, summary) \
	ENTRY(name, #min " .. " #max, preset, summary, common, OPTION_NUMBER, field, min, max)
#define SECONDS(name, field, common, min, max, preset, summary) \
	ENTRY(name, #min " .. " #max, preset, summary, common, OPTION_SECONDS, field, min, max)
#define CHOICE(name, field, common, words, preset, summary) \
	ENTRY(name, words, preset, summary, common, OPTION_CHOICE, field, 0, 0)
#define TEXT(name, field, values, preset, summary) \
	ENTRY(name, values, preset, summary, ALL, OPTION_TEXT, field, 0, 0)
#define LEVELS(name, field, min, max, preset, summary)                                        \
	ENTRY(name, "N | LEVEL:N[,LEVEL:N...], N = " #min " .. " #max, preset, summary, SOME, \
	      OPTION_LEVELS, field, min, max)

enum { SOME = 0, ALL = 1 /* kinds take it */ };

/* A default is what stands before " ("; what is in parentheses is for people, kinds that have
 * another one among it (lock_protocol.defaults). */
static const struct option_spec specs[] = {
    CHOICE("distribution", home, ALL, "block | cyclic", "block",
	   "where lock l lives: rank l / ceil(n/P), or l mod P"),
    NUMBER("max_held", max_held, ALL, 1, 65535, "16",
	   "locks that one process holds or awaits at a time"),
    CHOICE("owner", owner, ALL, "thread | process", "thread",
	   "who may release a lock: its thread, or any of the process"),
    CHOICE("threads", threads, ALL, "auto | single | multiple", "auto",
	   "whether threads of a rank are told apart"),
    TEXT("topology", topology, "a string", "(discovered)",
	 "the machine, such as \"rack:2 node:4 package:2 core:8\""),
    TEXT("topology_file", topology_file, "a path", "(none)",
	 "a file that says which rack and switch a host is at"),
    TEXT("groups", groups, "auto | none | N", "(auto)",
	 "groups of nodes: SLURM's, none, or N each"),
    CHOICE("wait", wait, ALL, "auto | spin | yield | park", "auto", "how a client waits"),
    CHOICE("progress", progress, ALL, "lazy | eager | thread", "lazy",
	   "how often a waiting rank drives the MPI; thread: while it computes, too"),
    CHOICE("transport", transport, ALL, "auto | mpi | ucx", "auto",
	   "what carries operations between nodes"),
    NUMBER("spin", spin_us, ALL, 0, 1000000, "(by ranks and cores)",
	   "microseconds to look before a waiting client gives its core away"),
    SECONDS("watchdog", watchdog_s, ALL, 0, 86400, "0 (off)",
	    "seconds until a waiting client says on stderr what it waits for"),
    LEVELS("t_l", params.t_l, 1, 1048575, "group:64,node:256,package:32,numa:32,cache:32,gang:1024",
	   "hand-overs within an element of a level before the lock leaves it"),
    NUMBER("t_dc", params.t_dc, SOME, 0, 1048576, "0 (a node's)",
	   "ranks that share a counter of readers"),
    NUMBER("t_r", params.t_r, SOME, 1, 2147483647, "1024",
	   "readers that a counter admits before a waiting writer shuts it"),
    NUMBER("t_w", params.t_w, SOME, 0, 1048576, "0 (rma-rw: product of t_l + 1; shiftlock: 16)",
	   "writers in a row before readers get their turn"),
    NUMBER("backoff_min", params.backoff_min, SOME, 1, 1000000000, "500",
	   "nanoseconds of the shortest pause between two attempts"),
    NUMBER("backoff_max", params.backoff_max, SOME, 1, 1000000000, "100000",
	   "nanoseconds of the longest pause between two attempts"),
    NUMBER("local_budget", params.budget[RMA_NODE], SOME, 1, 1048575, "5",
	   "acquires in a row of the home's node while other nodes wait"),
    NUMBER("remote_budget", params.budget[RMA_NET], SOME, 1, 1048575, "20",
	   "acquires in a row of other nodes while the home's node waits"),
    NUMBER("lease", params.lease_us, SOME, 0, 3600000000, "0 (off; drtm: 10000)",
	   "microseconds until a silent holder may be taken for dead; 0: never"),
    NUMBER("recoveries", params.recoveries, SOME, 1, 16777216, "4096 (citron: 16)",
	   "times that locks of one home can start anew after a failure"),
    NUMBER("units", params.units, SOME, 1, 1099511627776, "1048576",
	   "units of a space that its tree covers"),
    NUMBER("units_most", params.units_most, SOME, 1, 1099511627776, "(as units)",
	   "units that the tree may grow to"),
    CHOICE("fast_path", params.only_slow_path, SOME, "yes | no", "yes",
	   "whether short ranges are first tried as a whole"),
    CHOICE("growth", params.grow_by_call, SOME, "auto | call", "auto",
	   "who makes the tree larger: a client that needs it, or pawl_range_grow()"),
    NUMBER("k", params.k, SOME, 0, 8, "2", "nodes of the tree that a long range is rounded up to"),
    NUMBER("m", params.m, SOME, 1, 5, "4", "levels of the tree that a client looks at"),
    NUMBER("segments", params.segments, SOME, 1, 16777216, "64", "segments of a space"),
    NUMBER("segment_units", params.segment_units, SOME, 1, 4611686018427387904, "16384",
	   "units of a segment"),
    CHOICE("native_window", params.native_create, SOME, "allocate | create", "allocate",
	   "how mpi-win-lock makes its windows"),
};

enum { COUNT = sizeof specs / sizeof specs[0] };

const struct option_spec *option_spec_get(int index)
{
	return index >= 0 && index < COUNT ? &specs[index] : NULL;
}

const struct option_spec *option_spec_find(const char *name)
{
	for (int i = 0; i < COUNT; i++)
		if (strcmp(specs[i].is.name, name) == 0)
			return &specs[i];
	return NULL;
}

const struct pawl_option *pawl_option_get(int index)
{
	const struct option_spec *s = option_spec_get(index);

	return s ? &s->is : NULL;
}

static bool in_list(const char *list, const char *name)
{
	size_t len = strlen(name), word;

	for (const char *p = list; p && (word = strcspn(p, " ")); p += strspn(p, " ")) {
		if (word == len && strncmp(p, name, len) == 0)
			return true;
		p += word;
	}
	return false;
}

bool option_spec_fits(const struct option_spec *s, const struct lock_protocol *p)
{
	return s->is.common || in_list(p->kind.options, s->is.name);
}

/* --------------------------------------------------------------- defaults */

void options_default(struct options *o, const struct lock_protocol *p)
{
	memset(o, 0, sizeof *o);
	o->spin_us = -1;
	for (int i = 0; i < COUNT; i++) {
		char text[100];
		const char *preset = specs[i].is.preset, *note = strchr(preset, '(');
		size_t len = note ? (size_t)(note - preset) : strlen(preset);

		while (len > 0 && preset[len - 1] == ' ')
			len--;
		snprintf(text, sizeof text, "%.*s", (int)len, preset);
		if (len > 0)
			option_value_set(o, &specs[i], text);
	}
	if (p->defaults)
		p->defaults(&o->params);
}

/* ---------------------------------------------------------------- sources */

static const char info_prefix[] = "pawl_";
/* Names of options that the environment does not override, with blanks in between. */
static const char final_key[] = "pawl_final";

/* "max_held, owner, ..." of a kind, and the one that was meant. */
static int no_such_option(const struct lock_protocol *p, const char *name, const char *what,
			  bool known)
{
	struct similar near = similar_to(name, strlen(name));
	char list[400] = "", hint[64];
	size_t used = 0;

	for (int i = 0; i < COUNT && used < sizeof list; i++) {
		if (!option_spec_fits(&specs[i], p))
			continue;
		similar_try(&near, specs[i].is.name, strlen(specs[i].is.name));
		used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "",
					 specs[i].is.name);
	}
	if (known)
		return error_set(PAWL_ERR_OPTION, "%.80s: %s has no option %s; it takes: %s", what,
				 p->kind.name, name, list);
	return error_set(PAWL_ERR_OPTION, "%.80s: there is no option %.80s%s; %s takes: %s", what,
			 name, similar_hint(&near, "", hint, sizeof hint), p->kind.name, list);
}

int options_set(struct options *o, const struct lock_protocol *p, const char *name,
		const char *value, const char *what)
{
	const struct option_spec *s = option_spec_find(name);

	if (!s || !option_spec_fits(s, p))
		return no_such_option(p, name, what, s != NULL);
	return option_value_set(o, s, value);
}

static int read_info_key(struct options *o, const struct lock_protocol *p, MPI_Info info,
			 const char *key)
{
	char value[MPI_MAX_INFO_VAL + 1] = "", what[MPI_MAX_INFO_KEY + 16];
	int found;

	if (strncmp(key, info_prefix, strlen(info_prefix)) != 0)
		return error_set(PAWL_ERR_OPTION,
				 "info key %s: keys of Pawl are in lower case, as in pawl_max_held",
				 key);
	PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
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
		PMPI_Info_get(info, final_key, MPI_MAX_INFO_VAL, names, &found);
	while (found && rc == PAWL_SUCCESS && (name = strsep(&rest, " "))) {
		snprintf(key, sizeof key, "%s%s", info_prefix, name);
		PMPI_Info_get_valuelen(info, key, &len, &there);
		if (there)
			rc = read_info_key(o, p, info, key);
	}
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
