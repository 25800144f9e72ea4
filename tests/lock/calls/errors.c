/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrong calls: each returns its code on every rank, with a message that names what is at
 * fault and what is accepted, and no lock that is held is lost.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/lock/tables.h"

/* ---------------------------------------------------------------- options */

struct mistake {
	const char *kind, *option, *value;
	int code;
	const char *words[3]; /* in the message */
};

static const struct mistake mistakes[] = {
    {"no-such-lock", NULL, NULL, PAWL_ERR_KIND, {"no-such-lock", "d-mcs", "rma-rw"}},
    {"d-mcs", "xyz", "1", PAWL_ERR_OPTION, {"xyz", "max_held", "topology"}},
    {"d-mcs", "t_r", "5", PAWL_ERR_OPTION, {"t_r", "kinds that have it: rma-rw", "max_held"}},
    {"d-mcs", "max_held", "0", PAWL_ERR_OPTION, {"max_held", "1", "65535"}},
    {"d-mcs", "max_held", "65536", PAWL_ERR_OPTION, {"max_held", "1", "65535"}},
    {"d-mcs", "max_held", "many", PAWL_ERR_OPTION, {"max_held", "many", "65535"}},
    {"d-mcs", "max_held", "", PAWL_ERR_OPTION, {"max_held", "65535", NULL}},
    {"dmcs", NULL, NULL, PAWL_ERR_KIND, {"did you mean d-mcs?", "rma-rw", NULL}},
    {"d-mcs", "maxheld", "1", PAWL_ERR_OPTION, {"did you mean max_held?", NULL, NULL}},
    {"d-mcs", "MAX_HELD", "1", PAWL_ERR_OPTION, {"did you mean max_held?", NULL, NULL}},
    {"d-mcs", "max_held", "+5", PAWL_ERR_OPTION, {"max_held", "+5", NULL}},
    {"d-mcs", "home", "cyclic", PAWL_ERR_OPTION, {"home", "distribution", NULL}},
    {"d-mcs", "distribution", "moon", PAWL_ERR_OPTION, {"distribution", "block", "cyclic"}},
    {"d-mcs", "wait", "patiently", PAWL_ERR_OPTION, {"wait", "spin", "park"}},
    {"d-mcs", "spin", "-1", PAWL_ERR_OPTION, {"spin", "-1", "1000000"}},
    {"d-mcs", "watchdog", "1,5", PAWL_ERR_OPTION, {"watchdog", "1,5", "86400"}},
    {"d-mcs", "watchdog", "86400.5", PAWL_ERR_OPTION, {"watchdog", "86400.5", "86400"}},
    {"d-mcs", "transport", "pigeon", PAWL_ERR_OPTION, {"transport", "mpi", "ucx"}},
    {"d-mcs", "topology", "moon:2", PAWL_ERR_TOPOLOGY, {"moon", "node", "package"}},
    {"d-mcs", "topology", "node:0", PAWL_ERR_TOPOLOGY, {"node", "0", NULL}},
    {"d-mcs",
     "topology_file",
     "/no/such/file",
     PAWL_ERR_TOPOLOGY,
     {"topology_file", "/no/such/file", NULL}},
    {"d-mcs", "groups", "-3", PAWL_ERR_TOPOLOGY, {"groups", "-3", "none"}},
    {"rma-mcs", "t_l", "0", PAWL_ERR_OPTION, {"t_l", "0", "1048575"}},
    {"rma-mcs", "t_l", "moon:3", PAWL_ERR_OPTION, {"t_l", "moon", "package"}},
    {"rma-mcs", "t_l", "node:5,node:6", PAWL_ERR_OPTION, {"t_l", "node", "one level"}},
    {"rma-mcs", "t_l", "node:x", PAWL_ERR_OPTION, {"t_l", "x", "1048575"}},
    {"rma-rw", "t_r", "0", PAWL_ERR_OPTION, {"t_r", "1", "2147483647"}},
    {"rma-rw", "t_w", "1048577", PAWL_ERR_OPTION, {"t_w", "0", "1048576"}},
    {"rma-rw", "t_dc", "-1", PAWL_ERR_OPTION, {"t_dc", "0", "1048576"}},
    {"adaptive", "patience", "1000001", PAWL_ERR_OPTION, {"patience", "-1", "1000000"}},
    {"alock", "local_budget", "0", PAWL_ERR_OPTION, {"local_budget", "1", "1048575"}},
    {"alock", "remote_budget", "1048576", PAWL_ERR_OPTION, {"remote_budget", "1", "1048575"}},
    {"ss", "segments", "0", PAWL_ERR_OPTION, {"segments", "1", "16777216"}},
    {"ss", "segment_units", "-1", PAWL_ERR_OPTION, {"segment_units", "1", "4611686018427387904"}},
    {"lld", "segments", "4", PAWL_ERR_OPTION, {"segments", "lld", "max_held"}},
    {"cas-backoff",
     "backoff_min",
     "1000000",
     PAWL_ERR_OPTION,
     {"backoff_min", "backoff_max", NULL}},
    {"mpi-win-lock",
     "native_window",
     "other",
     PAWL_ERR_OPTION,
     {"native_window", "allocate", "create"}},
};

static void one_mistake(const struct mistake *m)
{
	pawl_table *table = NULL;
	MPI_Info info;
	int code;

	MPI_Info_create(&info);
	if (m->option) {
		char key[64] = "pawl_";

		strcat(key, m->option);
		MPI_Info_set(info, key, m->value[0] ? m->value : " ");
	}
	MPI_Info_set(info, "somebody_elses_key", "is left alone");
	code = pawl_table_create(MPI_COMM_WORLD, m->kind, 1, info, &table);
	expect_code(code, m->code, "create");
	expect(!table, "a table came of it");
	for (int i = 0; i < 3 && m->words[i]; i++)
		expect_message(m->words[i]);
	MPI_Info_free(&info);
	result("%s with %s=%s", m->kind, m->option ? m->option : "no option",
	       m->value ? m->value : "");
}

/* Keys in upper case are refused, too. */
static void upper_case(void)
{
	pawl_table *table = (pawl_table *)(uintptr_t)&table; /* neither NULL nor a table */
	MPI_Info info;

	MPI_Info_create(&info);
	MPI_Info_set(info, "PAWL_MAX_HELD", "5");
	expect_code(pawl_table_create(MPI_COMM_WORLD, "d-mcs", 1, info, &table), PAWL_ERR_OPTION,
		    "create");
	expect_message("PAWL_MAX_HELD");
	expect_message("lower case");
	expect(!table, "*table is not NULL after a failure");
	MPI_Info_free(&info);
	result("an info key in upper case; *table is NULL after a failure");
}

static void expect_kind(const char *asked, const char *kind)
{
	struct pawl_table_info info;
	pawl_table *table = table_open(asked, 1, NULL, NULL);

	expect_code(pawl_table_get_info(table, &info), PAWL_SUCCESS, "info");
	expect(strcmp(info.kind->name, kind) == 0, "the kind is %s", info.kind->name);
	table_close(table);
}

static void environment(void)
{
	pawl_table *table = NULL;

	setenv("PAWL_STRICT", "1", 1);
	setenv("PAWL_XYZ", "1", 1);
	expect_code(pawl_table_create(MPI_COMM_WORLD, "d-mcs", 1, MPI_INFO_NULL, &table),
		    PAWL_ERR_OPTION, "create with PAWL_XYZ");
	expect_message("PAWL_XYZ");
	unsetenv("PAWL_STRICT");
	expect_code(pawl_table_create(MPI_COMM_WORLD, "d-mcs", 1, MPI_INFO_NULL, &table),
		    PAWL_SUCCESS, "create with PAWL_XYZ, and not strict");
	unsetenv("PAWL_XYZ");
	table_close(table);
	result("an unknown environment variable");

	setenv("PAWL_KIND", "rma-rw", 1);
	expect_kind(NULL, "rma-rw");
	expect_kind("auto", "rma-rw");
	expect_kind("d-mcs", "d-mcs");
	setenv("PAWL_KIND", "dmcs", 1);
	expect_code(pawl_table_create(MPI_COMM_WORLD, NULL, 1, MPI_INFO_NULL, &table),
		    PAWL_ERR_KIND, "create with PAWL_KIND=dmcs");
	expect_message("did you mean d-mcs?");
	unsetenv("PAWL_KIND");
	result("PAWL_KIND, where the program names no kind");

	setenv("PAWL_T_R", "none", 1);
	expect_code(pawl_table_create(MPI_COMM_WORLD, "rma-rw", 1, MPI_INFO_NULL, &table),
		    PAWL_ERR_OPTION, "create with PAWL_T_R=none");
	expect_message("t_r");
	expect_code(pawl_table_create(MPI_COMM_WORLD, "d-mcs", 1, MPI_INFO_NULL, &table),
		    PAWL_SUCCESS, "create of a kind without t_r");
	unsetenv("PAWL_T_R");
	table_close(table);
	result("an environment variable for another kind");

	if (tap_size > 1) {
		table = NULL;
		setenv("PAWL_MAX_HELD", tap_rank ? "5" : "6", 1);
		expect_code(pawl_table_create(MPI_COMM_WORLD, "d-mcs", 1, MPI_INFO_NULL, &table),
			    PAWL_ERR_ARG, "create with options that differ");
		expect_message("differ in option max_held: 6 on rank 0, 5 on rank 1");
		unsetenv("PAWL_MAX_HELD");
		result("options that differ between ranks");

		expect_code(pawl_table_create(MPI_COMM_WORLD, tap_rank ? "d-mcs" : "mgl", 1,
					      MPI_INFO_NULL, &table),
			    PAWL_ERR_ARG, "create of kinds that differ");
		expect_message("differ in kind: mgl on rank 0, d-mcs on rank 1");
		expect_code(pawl_table_create(MPI_COMM_WORLD, "d-mcs", tap_rank ? 7 : 8,
					      MPI_INFO_NULL, &table),
			    PAWL_ERR_ARG, "create of as many as differ");
		expect_message("differ in n: 8 on rank 0, 7 on rank 1");
		result("kind and n that differ between ranks");

		setenv("PAWL_MAX_HELD", tap_rank ? "0" : "6", 1);
		expect_code(pawl_table_create(MPI_COMM_WORLD, "d-mcs", 1, MPI_INFO_NULL, &table),
			    PAWL_ERR_OPTION, "create with a bad option on some ranks");
		unsetenv("PAWL_MAX_HELD");
		result("a bad option on some ranks fails on all");
	}
}

/* -------------------------------------------------------------- arguments */

static int off_the_map(uint64_t lock, void *arg)
{
	(void)arg;
	return lock == 3 ? tap_size : 0;
}

static int on_my_rank(uint64_t lock, void *arg)
{
	(void)arg;
	return lock == 5 ? tap_rank : 0;
}

static int one_after_the_other(uint64_t lock, void *arg)
{
	int *calls = arg;

	(void)lock;
	return (*calls)++ / 5 % tap_size;
}

static void homes(void)
{
	pawl_table *table = NULL;
	int calls = 0;

	expect_code(
	    pawl_table_create_homed(MPI_COMM_WORLD, "d-mcs", 8, NULL, NULL, MPI_INFO_NULL, &table),
	    PAWL_ERR_ARG, "no home function");
	expect_message("home");
	if (tap_size > 1) {
		expect_code(pawl_table_create_homed(MPI_COMM_WORLD, "d-mcs", 8, on_my_rank, NULL,
						    MPI_INFO_NULL, &table),
			    PAWL_ERR_ARG, "a home by the rank that asks");
		expect_message("lock 5");
		expect_code(pawl_table_create_homed(MPI_COMM_WORLD, "d-mcs", 8, one_after_the_other,
						    &calls, MPI_INFO_NULL, &table),
			    PAWL_ERR_ARG, "a home that changes");
		expect_message("pure");
	}
	result("home functions that are none");
}

static void range_calls(void)
{
	pawl_table *table = table_open("lld", 4, NULL, NULL);
	pawl_range range;
	int rank;

	expect_code(pawl_range_acquire(table, 4, 0, 1, PAWL_EXCLUSIVE, &range), PAWL_ERR_RANGE,
		    "space 4 of 4");
	expect_message("space 4");
	expect_code(pawl_range_acquire(table, 0, 5, 4, PAWL_EXCLUSIVE, &range), PAWL_ERR_RANGE,
		    "units 5 to 4");
	expect_message("units 5 to 4");
	expect_code(pawl_table_home(table, 4, &rank), PAWL_ERR_RANGE, "home of space 4 of 4");
	expect_message("space 4");
	expect(!strstr(pawl_strerror(PAWL_ERR_RANGE), "lock index"), "%s",
	       pawl_strerror(PAWL_ERR_RANGE));
	table_close(table);
	result("spaces and units out of range are called that");
}

/* The values of rank 0 and of the others. */
static void intercommunicator(void)
{
	pawl_table *table = NULL;
	MPI_Comm part, both;

	if (tap_size < 2)
		return;
	MPI_Comm_split(MPI_COMM_WORLD, tap_rank > 0, tap_rank, &part);
	MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, tap_rank == 0 ? 1 : 0, 0, &both);
	expect_code(pawl_table_create(both, "d-mcs", 1, MPI_INFO_NULL, &table), PAWL_ERR_ARG,
		    "an inter-communicator");
	expect_message("inter-communicator");
	MPI_Comm_free(&both);
	MPI_Comm_free(&part);
	result("an inter-communicator has no tables");
}

static void arguments(void)
{
	pawl_table *table = NULL;
	struct pawl_table_info info;
	struct pawl_stats stats;
	int rank;

	expect_code(pawl_table_create(MPI_COMM_NULL, "d-mcs", 1, MPI_INFO_NULL, &table),
		    PAWL_ERR_ARG, "MPI_COMM_NULL");
	expect_message("comm");
	expect_code(pawl_table_create(MPI_COMM_WORLD, "", 1, MPI_INFO_NULL, &table), PAWL_ERR_KIND,
		    "no kind");
	expect_code(pawl_table_create(MPI_COMM_WORLD, "d-mcs", 0, MPI_INFO_NULL, &table),
		    PAWL_ERR_ARG, "n = 0");
	expect_code(pawl_table_create(MPI_COMM_WORLD, "d-mcs", UINT64_MAX, MPI_INFO_NULL, &table),
		    PAWL_ERR_ARG, "n = 2^64 - 1");
	expect_code(pawl_table_create(MPI_COMM_WORLD, "d-mcs", 1, MPI_INFO_NULL, NULL),
		    PAWL_ERR_ARG, "no place for the table");
	expect_code(pawl_table_create_homed(MPI_COMM_WORLD, "d-mcs", 8, off_the_map, NULL,
					    MPI_INFO_NULL, &table),
		    PAWL_ERR_ARG, "a home that is no rank");
	expect_message("lock 3");
	expect_code(pawl_table_free(NULL), PAWL_ERR_ARG, "free of NULL");
	expect_code(pawl_table_free(&table), PAWL_ERR_ARG, "free of a null handle");
	result("creation and freeing with bad arguments");

	expect_code(pawl_lock_acquire(NULL, 0, PAWL_EXCLUSIVE), PAWL_ERR_ARG, "acquire");
	expect_code(pawl_lock_try_acquire(NULL, 0, PAWL_EXCLUSIVE), PAWL_ERR_ARG, "try");
	expect_code(pawl_lock_timed_acquire(NULL, 0, PAWL_EXCLUSIVE, 1), PAWL_ERR_ARG, "timed");
	expect_code(pawl_lock_release(NULL, 0), PAWL_ERR_ARG, "release");
	expect_code(pawl_lock_abandon(NULL, 0), PAWL_ERR_ARG, "abandon");
	expect_code(pawl_table_get_info(NULL, &info), PAWL_ERR_ARG, "info");
	expect_code(pawl_table_get_stats(NULL, &stats), PAWL_ERR_ARG, "stats");
	expect_code(pawl_table_reset_stats(NULL), PAWL_ERR_ARG, "reset");
	expect_code(pawl_table_home(NULL, 0, &rank), PAWL_ERR_ARG, "home");
	expect(!pawl_kind_find(NULL) && !pawl_kind_find("moon") && !pawl_kind_get(-1) &&
		   !pawl_kind_get(1000),
	       "kinds that are none");
	result("null handles");
}

/* Programs whose structures are shorter or longer than the library's. */
static void sizes(void)
{
	struct {
		struct pawl_stats known;
		unsigned char later[16];
	} longer;
	struct pawl_stats full;
	unsigned char shorter[sizeof full];
	pawl_table *table = table_open("d-mcs", 4, NULL, NULL);
	size_t some = offsetof(struct pawl_stats, gets);
	int filled = 0, kept = 0;

	if (!table)
		return;
	expect_code(pawl_lock_acquire(table, 0, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
	expect_code(pawl_lock_release(table, 0), PAWL_SUCCESS, "release");
	expect_code(pawl_table_get_stats(table, &full), PAWL_SUCCESS, "stats");
	expect(full.acquires == 1, "acquires: %llu", (unsigned long long)full.acquires);
	memset(&longer, 0xff, sizeof longer);
	expect_code(pawl_table_get_stats_sized(table, &longer.known, sizeof longer), PAWL_SUCCESS,
		    "stats of a later version");
	expect(memcmp(&longer.known, &full, sizeof full) == 0, "the known members differ");
	for (size_t i = 0; i < sizeof longer.later; i++)
		filled += longer.later[i] != 0;
	expect(filled == 0, "%d bytes of unknown members are not 0", filled);
	memset(shorter, 0xff, sizeof shorter);
	expect_code(pawl_table_get_stats_sized(table, (void *)shorter, some), PAWL_SUCCESS,
		    "stats of an earlier version");
	expect(memcmp(shorter, &full, some) == 0, "the members of the earlier version differ");
	for (size_t i = some; i < sizeof shorter; i++)
		kept += shorter[i] == 0xff;
	expect(kept == (int)(sizeof shorter - some), "%d bytes behind the structure are changed",
	       (int)(sizeof shorter - some) - kept);
	expect_code(pawl_table_get_stats_sized(table, &full, 0), PAWL_ERR_ARG, "size 0");
	expect_code(pawl_table_get_info_sized(table, NULL, 8), PAWL_ERR_ARG, "info NULL");
	table_close(table);
	result("structures of other versions");
}

/* A table for which the program names no kind has all modes. */
static void default_kind(void)
{
	static const char *const names[] = {NULL, "auto"};
	struct pawl_table_info info;
	pawl_table *table = NULL;

	for (int i = 0; i < 2; i++) {
		now_doing("kind %s", names[i] ? names[i] : "NULL");
		/* Rank 0 may as well name the kind. */
		if (!expect_code(pawl_table_create(MPI_COMM_WORLD,
						   tap_rank == 0 && i ? "adaptive" : names[i], 2,
						   MPI_INFO_NULL, &table),
				 PAWL_SUCCESS, "create"))
			return;
		expect_code(pawl_table_get_info(table, &info), PAWL_SUCCESS, "info");
		expect(strcmp(info.kind->name, "adaptive") == 0, "the kind's name");
		expect_code(pawl_lock_acquire(table, 0, PAWL_SHARED), PAWL_SUCCESS, "shared");
		meet(); /* all of them hold it */
		expect_code(pawl_lock_release(table, 0), PAWL_SUCCESS, "release");
		expect_code(pawl_lock_acquire(table, 0, PAWL_EXCLUSIVE), PAWL_SUCCESS, "exclusive");
		expect_code(pawl_lock_release(table, 0), PAWL_SUCCESS, "release");
		expect_code(pawl_lock_acquire_part(table, 0, 1, PAWL_EXCLUSIVE), PAWL_SUCCESS,
			    "part");
		expect_code(pawl_lock_release_part(table, 0, 1), PAWL_SUCCESS, "release of a part");
		meet();
		table_close(table);
		result("kind %s: adaptive, in all modes", names[i] ? names[i] : "NULL");
	}
}

/* Without option lease no holder loses its lock, however long it takes. */
static void no_lease(void)
{
	const struct pawl_kind *kind;
	pawl_table *table = NULL;

	for (int i = 0; (kind = pawl_kind_get(i)); i++) {
		if (!(kind->capabilities & PAWL_CAP_RECOVERS) ||
		    (kind->capabilities & PAWL_CAP_RANGES))
			continue;
		now_doing("%s, no lease", kind->name);
		/* Not table_open(), which sets option lease. */
		if (!expect_code(
			pawl_table_create(MPI_COMM_WORLD, kind->name, 1, MPI_INFO_NULL, &table),
			PAWL_SUCCESS, "create"))
			break;
		if (tap_rank == 0) {
			expect_code(pawl_lock_acquire(table, 0, PAWL_EXCLUSIVE), PAWL_SUCCESS,
				    "acquire");
			expect_code(pawl_lock_abandon(table, 0), PAWL_ERR_UNSUPPORTED,
				    "abandon without a lease");
			expect_message("lease");
		}
		meet();
		if (tap_rank == 0) {
			linger(0.3); /* the others wait for it */
			expect_code(pawl_lock_release(table, 0), PAWL_SUCCESS,
				    "release after 0.3 s");
		} else {
			expect_code(pawl_lock_acquire(table, 0, PAWL_EXCLUSIVE), PAWL_SUCCESS,
				    "acquire");
			expect_code(pawl_lock_release(table, 0), PAWL_SUCCESS, "release");
		}
		table_close(table);
		result("%s: no lease unless option lease says so", kind->name);
	}
}

/* Calls of another family, and calls on a table that was freed. */
static void wrong_calls(void)
{
	pawl_table *table = table_open("d-mcs", 2, NULL, NULL), *ranges, *copy = table;
	pawl_read read = {{0}};

	expect_code(pawl_lock_read_begin(table, 0, &read), PAWL_ERR_UNSUPPORTED, "read");
	expect_message("d-mcs has no optimistic reads: acquire its locks in mode PAWL_EXCLUSIVE");
	ranges = table_open("citron", 2, NULL, NULL);
	expect_code(pawl_lock_acquire_part(ranges, 0, 1, PAWL_EXCLUSIVE), PAWL_ERR_UNSUPPORTED,
		    "a part");
	expect_message("citron has ranges, and no locks");
	table_close(ranges);
	table_close(table);
	expect_code(pawl_lock_acquire(copy, 0, PAWL_EXCLUSIVE), PAWL_ERR_ARG, "acquire");
	expect_message("was freed");
	expect_code(pawl_lock_release(copy, 0), PAWL_ERR_ARG, "release");
	expect_code(pawl_table_free(&copy), PAWL_ERR_ARG, "free");
	result("calls of another family, and after pawl_table_free()");
}

static void lock_calls(void)
{
	pawl_table *table = table_open("cas-backoff", 4, NULL, NULL);
	int rank;

	expect_code(pawl_lock_acquire(table, 4, PAWL_EXCLUSIVE), PAWL_ERR_RANGE, "acquire 4 of 4");
	expect_message("3");
	expect_code(pawl_lock_acquire(table, UINT64_MAX, PAWL_EXCLUSIVE), PAWL_ERR_RANGE, "-1");
	expect_code(pawl_lock_release(table, 4), PAWL_ERR_RANGE, "release 4 of 4");
	expect_code(pawl_table_home(table, 4, &rank), PAWL_ERR_RANGE, "home of 4 of 4");
	expect_code(pawl_lock_acquire(table, 0, 0), PAWL_ERR_ARG, "mode 0");
	expect_code(pawl_lock_acquire(table, 0, PAWL_EXCLUSIVE | PAWL_SHARED), PAWL_ERR_ARG,
		    "both modes");
	expect_message("PAWL_EXCLUSIVE");
	expect_code(pawl_lock_acquire(table, 0, PAWL_SHARED), PAWL_ERR_UNSUPPORTED, "shared");
	expect_code(pawl_lock_timed_acquire(table, 0, PAWL_EXCLUSIVE, -1), PAWL_ERR_ARG, "-1 s");
	expect_code(pawl_lock_release(table, 0), PAWL_ERR_NOT_HELD, "release of what is free");
	expect_code(pawl_lock_abandon(table, 4), PAWL_ERR_RANGE, "abandon 4 of 4");
	expect_code(pawl_lock_abandon(table, 0), PAWL_ERR_UNSUPPORTED, "abandon without recovery");
	expect_message("recover");
	result("acquire and release with bad arguments");
	sizes();
	default_kind();
	no_lease();
	table_close(table);
	result("and the table is none the worse");
}

/* The name of a table in its messages. */
static void names(void)
{
	static const char longest[] =
	    "a name of 63 bytes, which is as many as a table can have: 01234";
	pawl_table *table = table_open("d-mcs", 4, NULL, NULL);
	struct pawl_table_info info = {.name = NULL};

	expect_code(pawl_table_get_info(table, &info), PAWL_SUCCESS, "info");
	expect(info.name && strcmp(info.name, "") == 0, "a name at first");
	expect_code(pawl_table_set_name(NULL, "orders"), PAWL_ERR_ARG, "no table");
	expect_code(pawl_table_set_name(table, "two\nlines"), PAWL_ERR_ARG, "two lines");
	expect_code(pawl_table_set_name(table, longest), PAWL_SUCCESS, "63 bytes");
	expect_code(pawl_lock_release(table, 1), PAWL_ERR_NOT_HELD, "release of what is free");
	expect_message(longest);
	expect_code(pawl_table_set_name(
			table, "a name of 64 bytes, which is more than a table can have: 0123456"),
		    PAWL_ERR_ARG, "64 bytes");
	expect_message("63");
	expect_code(pawl_table_set_name(table, "orders"), PAWL_SUCCESS, "a name");
	pawl_table_get_info(table, &info);
	expect(strcmp(info.name, "orders") == 0, "the name is %s", info.name);
	expect_code(pawl_lock_acquire(table, 4, PAWL_EXCLUSIVE), PAWL_ERR_RANGE, "lock 4 of 4");
	expect_message("lock 4 of \"orders\" is not in 0 to 3");
	expect_code(pawl_table_set_name(table, NULL), PAWL_SUCCESS, "no name");
	expect_code(pawl_lock_acquire(table, 4, PAWL_EXCLUSIVE), PAWL_ERR_RANGE, "lock 4 of 4");
	expect_message("lock 4 is not in 0 to 3");
	table_close(table);
	result("the name of a table in its messages");
}

/* ---------------------------------------------------------------- holding */

static void holding(const struct pawl_kind *kind)
{
	/* The most locks a rank that this kind can have, below max_held. */
	uint64_t n = 3 * (uint64_t)tap_size, mine = 3 * (uint64_t)tap_rank;
	pawl_table *table, *same;

	now_doing("%s, max_held exceeded", kind->name);
	same = table = table_open(kind->name, n, "max_held", "2");
	if (!table) {
		result("%s: a table", kind->name);
		return;
	}
	expect_code(pawl_lock_acquire(table, mine, PAWL_EXCLUSIVE), PAWL_SUCCESS, "first");
	expect_code(pawl_lock_acquire(table, mine, PAWL_EXCLUSIVE), PAWL_ERR_HELD, "once more");
	expect_message("is held by this thread already");
	expect_code(pawl_lock_acquire(table, mine + 1, PAWL_EXCLUSIVE), PAWL_SUCCESS, "second");
	expect_code(pawl_lock_acquire(table, mine + 2, PAWL_EXCLUSIVE), PAWL_ERR_TOO_MANY, "third");
	expect_message("still in the queue of 2 locks of the table, as many as option max_held");
	expect_message("set info key pawl_max_held or PAWL_MAX_HELD, at most 65535");
	expect_code(pawl_lock_release(table, mine + 2), PAWL_ERR_NOT_HELD, "release of the third");
	expect_code(pawl_lock_release(table, mine + 1), PAWL_SUCCESS, "release of the second");
	expect_code(pawl_lock_acquire(table, mine + 2, PAWL_EXCLUSIVE), PAWL_SUCCESS,
		    "now it fits");
	expect_code(pawl_lock_release(table, mine + 2), PAWL_SUCCESS, "release of the third");
	result("%s: max_held exceeded, nothing lost", kind->name);

	/* Rank 0 still holds one. */
	if (tap_rank > 0)
		expect_code(pawl_lock_release(table, mine), PAWL_SUCCESS, "release of the first");
	expect_code(pawl_table_free(&table), PAWL_ERR_HELD, "free while rank 0 holds");
	expect(table == same, "the handle has changed");
	expect_message("hold");
	if (tap_rank == 0)
		expect_code(pawl_lock_release(table, mine), PAWL_SUCCESS, "release after all");
	result("%s: freed while held", kind->name);
	table_close(table);
	result("%s: freed", kind->name);
}

int main(int argc, char **argv)
{
	const struct pawl_kind *kind;

	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++)
		one_mistake(&mistakes[i]);
	upper_case();
	environment();
	homes();
	range_calls();
	intercommunicator();
	arguments();
	wrong_calls();
	lock_calls();
	names();
	for (int i = 0; (kind = tap_kind(&i));)
		holding(kind);
	if (tap_thread_level < MPI_THREAD_MULTIPLE) {
		const struct mistake m = {"d-mcs",
					  "threads",
					  "multiple",
					  PAWL_ERR_THREAD,
					  {"threads", "MPI_THREAD_MULTIPLE", NULL}};

		one_mistake(&m);
	} else {
		skip("the MPI grants MPI_THREAD_MULTIPLE anyhow", "threads=multiple without it");
	}
	return tap_end();
}
