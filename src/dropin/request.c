/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is requested for a window. Byte ranges (info key pawl_ranges) have their own table, as large
 * as the window. An option goes to the table whose kind has it, or to both.
 */
#include "dropin/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/info.h"

static const char default_kind[] = "adaptive";
const char no_info[] = "the MPI has no MPI_Info more for this process, or for another one";

/* Hash texts so that "ab", "c" differs from "a", "bc". */
static uint64_t hash(uint64_t h, const char *text)
{
	return hash_text(h, text) * 31;
}

/* Summands of a hash, because info keys come in any order. */
static uint64_t sum_of(const char *key, const char *value)
{
	return hash(hash(HASH_BEGIN, key), value);
}

/* Keys that the layer sets for all windows. */
static bool is_ours(const char *key, const char *value)
{
	return strcmp(key, "pawl_final") == 0 || strcmp(key, "pawl_distribution") == 0 ||
	       (strcmp(key, "pawl_owner") == 0 && strcmp(value, "process") != 0);
}

/* An option that only one of the two kinds has is for that kind. */
static void copy_option(struct request *r, const char *key, const char *value)
{
	const char *name = key + strlen("pawl_");
	const bool targets = options_has(r->kind, name), ranges = options_has(r->ranges, name);

	if (targets || !ranges) {
		PMPI_Info_set(r->options, key, value);
		r->key += sum_of(key, value);
	}
	if (r->ranges && (ranges || !targets)) {
		PMPI_Info_set(r->range_options, key, value);
		r->range_key += sum_of(key, value);
	}
}

static void read_atomics(struct request *r, const char *name, const char *value)
{
	r->atomics = strcmp(value, "1") == 0;
	if (r->atomics || strcmp(value, "0") == 0)
		return;
	r->mistake = true;
	snprintf(r->why, sizeof r->why, "%s: \"%.64s\" is not accepted; accepted: 0, 1", name,
		 value);
}

/* Read the kinds first: they decide which options are for whom. */
static void copy_name(struct request *r, const char *key, const char *value)
{
	if (strcmp(key, "pawl_lock") == 0) {
		snprintf(r->kind_text, sizeof r->kind_text, "%s", value);
		r->kind = r->kind_text;
	} else if (strcmp(key, "pawl_ranges") == 0) {
		r->mistake = !ranges_kind(value, &r->ranges, r->why, sizeof r->why);
	} else {
		read_atomics(r, "info key pawl_atomics", value);
	}
}

static bool is_name(const char *key)
{
	return strcmp(key, "pawl_lock") == 0 || strcmp(key, "pawl_ranges") == 0 ||
	       strcmp(key, "pawl_atomics") == 0;
}

static bool no_locks(MPI_Info info)
{
	char value[16] = "";

	return info_get(info, "no_locks", value, sizeof value) && strcmp(value, "true") == 0;
}

/* Read the keys of the kinds (names), or Pawl's other keys. */
static void read_info(struct request *r, MPI_Info info, bool names)
{
	int n = 0;

	if (info != MPI_INFO_NULL)
		PMPI_Info_get_nkeys(info, &n);
	for (int i = 0; i < n; i++) {
		char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
		bool there;

		PMPI_Info_get_nthkey(info, i, key);
		if (strncmp(key, "pawl_", 5) != 0 || is_name(key) != names)
			continue;
		there = info_get(info, key, value, sizeof value);
		if (there && !names && is_ours(key, value)) {
			r->mistake = true;
			snprintf(r->why, sizeof r->why,
				 "info key %s=%.64s: the layer decides this for windows (locks"
				 " belong to the process, and their homes are their targets)",
				 key, value);
		} else if (there && names)
			copy_name(r, key, value);
		else if (there)
			copy_option(r, key, value);
	}
}

/* A client that gives up there keeps its place, in the way of others (epochs.c, Standing aside). */
static bool is_strict(const struct pawl_kind *k)
{
	return strcmp(k->name, "declock") == 0;
}

/* Whether the kind has shared mode, try-acquire and deadlines, needs no thread, and has no leases:
 * programs that do not know of leases hold locks for any time. */
static bool is_usable(const struct pawl_kind *k)
{
	const unsigned wanted = PAWL_CAP_SHARED | PAWL_CAP_TRY | PAWL_CAP_TIMED,
		       unwanted = PAWL_CAP_RANGES | PAWL_CAP_RECOVERS | PAWL_CAP_THREADS;

	return (k->capabilities & (wanted | unwanted)) == wanted && !is_strict(k);
}

/* "rma-rw, mgl, ...": the kinds that have what a window needs. */
static const char *usable_kinds(char *text, size_t len)
{
	const struct pawl_kind *k;
	size_t used = 0;

	text[0] = '\0';
	for (int i = 0; (k = pawl_kind_get(i)) && used < len; i++)
		if (is_usable(k))
			used += (size_t)snprintf(text + used, len - used, "%s, ", k->name);
	return text;
}

static void check_kind(struct request *r)
{
	const struct pawl_kind *k = pawl_kind_find(r->kind);
	char kinds[128];

	if (strcmp(r->kind, "native") == 0)
		r->wanted = false;
	else if (!k || !is_usable(k))
		snprintf(r->why, sizeof r->why,
			 "PAWL_LOCK (info key pawl_lock): \"%s\" is %s; accepted: %snative",
			 r->kind,
			 !k             ? "no lock of Pawl"
			 : is_strict(k) ? "no lock for windows: a process that waits there stays"
					  " in the way of others, and programs that end with the"
					  " MPI may deadlock"
			 : k->capabilities & PAWL_CAP_SHARED ? "no lock that fits windows"
							     : "no lock that readers can share",
			 usable_kinds(kinds, sizeof kinds));
	r->mistake = r->why[0] != '\0';
}

const char no_unified[] =
    "the MPI does not give this window the memory model MPI_WIN_UNIFIED, which"
    " is needed";

bool request_is_separate(MPI_Win win)
{
	const int *model = window_attribute(win, MPI_WIN_MODEL);

	return model && *model != MPI_WIN_UNIFIED;
}

/* What the MPI tells of the window. Direct: accesses to it, within a node, are loads and stores:
 * with Open MPI (osc/sm) on windows that the MPI allocates, and in most programs on shared windows.
 * (An MPI_Put of MPICH waits for the target in these, too.) */
static void read_window(struct request *r, MPI_Win win)
{
	static const int allocated = MPI_WIN_FLAVOR_ALLOCATE;
	const int *flavor =
	    win == MPI_WIN_NULL ? &allocated : window_attribute(win, MPI_WIN_CREATE_FLAVOR);

	r->direct = flavor && *flavor == MPI_WIN_FLAVOR_SHARED;
#ifdef OPEN_MPI
	r->direct = r->direct || (flavor && *flavor == MPI_WIN_FLAVOR_ALLOCATE);
#endif
	if (r->why[0])
		return;
	if (!flavor || (win != MPI_WIN_NULL && !window_attribute(win, MPI_WIN_MODEL)))
		snprintf(r->why, sizeof r->why,
			 "the MPI does not tell kind or memory model of a window");
	else if (win != MPI_WIN_NULL && request_is_separate(win))
		snprintf(r->why, sizeof r->why, "%s", no_unified);
}

static void set_progress(struct request *r)
{
	r->key += r->direct; /* the windows of a pool do not differ in this */
	if (info_has(r->options, "pawl_progress"))
		return;
	PMPI_Info_set(r->options, "pawl_progress", r->direct ? "far" : "eager");
	PMPI_Info_set(r->range_options, "pawl_progress", r->direct ? "far" : "eager");
}

/* The names come first: without room for the options the process still takes part in what follows
 * from them. */
static bool make_infos(struct request *r)
{
	if (PMPI_Info_create(&r->options) == MPI_SUCCESS &&
	    PMPI_Info_create(&r->range_options) == MPI_SUCCESS)
		return true;
	if (!r->why[0])
		snprintf(r->why, sizeof r->why, "%s", no_info);
	return false;
}

void request_read(struct request *r, MPI_Comm comm, MPI_Info info, MPI_Win win)
{
	const char *env = getenv("PAWL_LOCK"), *atomics = getenv("PAWL_ATOMICS");
	int size;

	*r = (struct request){
	    .kind = default_kind, .options = MPI_INFO_NULL, .range_options = MPI_INFO_NULL};
	r->no_locks = info != MPI_INFO_NULL && no_locks(info);
	r->wanted = !r->no_locks;
	read_info(r, info, true);
	if (env)
		r->kind = env;
	if (atomics)
		read_atomics(r, "PAWL_ATOMICS", atomics);
	if (!r->mistake)
		check_kind(r);
	PMPI_Comm_size(comm, &size);
	r->range_key = r->atomics; /* not in key: windows with atomics and without share a pool */
	r->atomics = r->atomics && size > 1;
	r->alone = r->wanted && size == 1 && !r->ranges;
	r->wanted = r->wanted && !r->alone;
	if (!make_infos(r))
		return;
	read_info(r, info, false);
	if (r->ranges)
		r->range_key = hash(r->range_key, r->ranges);
	read_window(r, win);
	set_progress(r);
	r->key = hash(r->key, r->kind);
}

void request_free(struct request *r)
{
	if (r->options != MPI_INFO_NULL)
		PMPI_Info_free(&r->options);
	if (r->range_options != MPI_INFO_NULL)
		PMPI_Info_free(&r->range_options);
}
