/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of options: defaults, values to and from text, the environment, and layouts that
 * are refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pawl.h>

#include "lock/kinds.h"
#include "options/option_spec.h"
#include "base/similar.h"
#include "table/setup.h"
#include "tests/tap.h"

static void check(bool good, const char *name, const char *detail)
{
	ok(good, "%s%s%s", name, good ? "" : " # ", good ? "" : detail);
}

/* ---------------------------------------------------------------- the list */

/* Options of the same name differ in their defaults only. */
static bool means_the_same(const struct option_spec *s)
{
	const struct option_spec *first;

	for (int i = 0; (first = option_spec_get(i)); i++)
		if (strcmp(first->is.name, s->is.name) == 0)
			return strcmp(first->is.values, s->is.values) == 0 &&
			       strcmp(first->is.summary, s->is.summary) == 0 &&
			       first->is.common == s->is.common && first->type == s->type &&
			       first->min == s->min && first->max == s->max;
	return false;
}

static void names(void)
{
	const struct lock_protocol *p;
	const struct option_spec *s;
	const struct pawl_option *o;
	char bad[200] = "";

	for (int i = 0; (o = pawl_option_get(i)); i++) {
		if (!o->name[0] || !o->values[0] || !o->preset[0] || !o->summary[0])
			snprintf(bad, sizeof bad, "%s lacks something", o->name);
		for (int k = 0; k < i; k++)
			if (strcmp(pawl_option_get(k)->name, o->name) == 0)
				snprintf(bad, sizeof bad, "%s is there twice", o->name);
		if (strcmp(o->name, "home") == 0 || strcmp(o->name, "root") == 0 ||
		    strcmp(o->name, "dir") == 0 || strcmp(o->name, "prefix") == 0)
			snprintf(bad, sizeof bad, "%s is what installations set", o->name);
	}
	for (int i = 0; (p = kinds_get(i)); i++)
		for (int k = 0; (s = option_spec_of(p, k)); k++)
			if (!means_the_same(s))
				snprintf(bad, sizeof bad, "%s of %s", s->is.name, p->kind.name);
	check(!bad[0], "every option is listed once, and means the same in all kinds that have it",
	      bad);
	check(!pawl_option_get(-1) && !pawl_option_get(1000), "and there are no others", "");
}

/* The text about defaults has those of all kinds: "VALUE", "VALUE (KIND: VALUE)". */
static void presets(void)
{
	const struct lock_protocol *p;
	const struct option_spec *s;
	const struct pawl_option *shown;
	char bad[200] = "";

	for (int i = 0; (p = kinds_get(i)); i++) {
		struct options o;

		options_default(&o, p);
		for (int k = 0; (s = option_spec_of(p, k)); k++) {
			char text[256], own[300];
			const char *value = option_value_get(&o, s, text, sizeof text);
			size_t len = strlen(value);

			for (int n = 0; (shown = pawl_option_get(n)); n++)
				if (strcmp(shown->name, s->is.name) == 0)
					break;
			snprintf(own, sizeof own, "%s: %s", p->kind.name, value);
			if (s->is.preset[0] == '(' || !shown ||
			    (strncmp(shown->preset, value, len) == 0 &&
			     (!shown->preset[len] || shown->preset[len] == ' ')) ||
			    strstr(shown->preset, own))
				continue;
			snprintf(bad, sizeof bad, "%s, %s: %s is not in %s", p->kind.name,
				 s->is.name, value, shown->preset);
		}
		options_free(&o);
	}
	check(!bad[0], "the documented defaults are those in force", bad);
}

/* An option that two kinds have with different defaults, and one for which 0 has another meaning.
 */
static void told_presets(void)
{
	static const struct {
		const char *name, *preset;
	} cases[] = {
	    {"max_held", "16 (fewer, if the kind counts no more for all ranks)"},
	    {"t_dc", "0 (those of a node)"},
	    {"t_w", "0 (rma-rw: product of t_l + 1; shiftlock: 32; rma-rw-entry: 16)"},
	    {"recoveries", "4096 (citron: 16)"},
	    {"lease", "0 (off; drtm: 10000)"},
	    {"units_most", "(as units)"},
	};
	const struct pawl_option *o;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		for (int k = 0; (o = pawl_option_get(k)); k++)
			if (strcmp(o->name, cases[i].name) == 0)
				break;
		check(o && strcmp(o->preset, cases[i].preset) == 0, cases[i].preset,
		      o ? o->preset : "no such option");
	}
}

static void own_names(void)
{
	const struct pawl_kind *k = pawl_kind_find("rma-rw");

	check(k && strcmp(k->options, "t_l t_dc t_r t_w") == 0, "a kind names its options",
	      k ? k->options : "");
	k = pawl_kind_find("d-mcs");
	check(k && strcmp(k->options, "") == 0, "or none", k ? k->options : "");
}

/* ------------------------------------------------------------------ values */

static int set(struct options *o, const char *kind, const char *name, const char *value)
{
	return options_set(o, kinds_find(kind), name, value, "the test");
}

static void values(void)
{
	static const struct {
		const char *kind, *name, *value, *expected; /* NULL: refused */
	} cases[] = {
	    {"d-mcs", "max_held", "5", "5"},
	    {"d-mcs", "max_held", "+5", NULL},
	    {"d-mcs", "max_held", " 5", NULL},
	    {"d-mcs", "max_held", "5 ", NULL},
	    {"d-mcs", "max_held", "0x5", NULL},
	    {"d-mcs", "max_held", "-", NULL},
	    {"d-mcs", "max_held", "99999999999999999999", NULL},
	    {"d-mcs", "spin", "-1", NULL},
	    {"d-mcs", "spin", "7", "7"},
	    {"d-mcs", "spin", "1.5ms", "1500"},
	    {"d-mcs", "spin", "1ns", "1"},
	    {"d-mcs", "spin", "1s", "1000000"},
	    {"d-mcs", "spin", "1001ms", NULL},
	    {"d-mcs", "spin", "us", NULL},
	    {"d-mcs", "spin", "1 us", NULL},
	    {"d-mcs", "spin", "1min", NULL},
	    {"d-mcs", "watchdog", "0.5", "0.5"},
	    {"d-mcs", "watchdog", "300ms", "0.3"},
	    {"d-mcs", "watchdog", "2s", "2"},
	    {"d-mcs", "watchdog", "86400001ms", NULL},
	    {"d-mcs", "watchdog", "1e3", NULL},
	    {"shiftlock", "lease", "300ms", "300000"},
	    {"adaptive", "patience", "2ms", "2000"},
	    {"adaptive", "patience", "-1", "-1"},
	    {"adaptive", "patience", "-2", NULL},
	    {"shiftlock", "lease", "3600s", "3600000000"},
	    {"shiftlock", "lease", "0s", "0"},
	    {"shiftlock", "backoff_min", "2us", "2000"},
	    {"shiftlock", "backoff_max", "2s", NULL},
	    {"d-mcs", "max_held", "5us", NULL},
	    {"d-mcs", "wait", "park", "park"},
	    {"d-mcs", "wait", "", NULL},
	    {"d-mcs", "wait", "|", NULL},
	    {"d-mcs", "distribution", "cyclic", "cyclic"},
	    {"d-mcs", "home", "cyclic", NULL},
	    {"d-mcs", "topology", "node:2", "node:2"},
	    {"mpi-win-lock", "native_window", "create", "create"},
	    {"rma-mcs", "t_l", "5", "group:5,node:5,package:5,numa:5,cache:5,gang:5"},
	    {"rma-mcs", "t_l", "5,node:6", "group:5,node:6,package:5,numa:5,cache:5,gang:5"},
	    {"rma-mcs", "t_l", "rack:7,cache:1",
	     "group:7,node:256,package:32,numa:32,cache:1,gang:1024"},
	    {"rma-mcs", "t_l", "node:5,node:6", NULL},
	    {"rma-mcs", "t_l", "rack:5,group:6", NULL},
	    {"rma-mcs", "t_l", "node:5,6", NULL},
	    {"rma-mcs", "t_l", "5,6", NULL},
	    {"rma-mcs", "t_l", "node:+5", NULL},
	    {"rma-mcs", "t_l", "node:5,", NULL},
	    {"rma-mcs", "t_l", "", NULL},
	};

	struct options defaults;

	options_default(&defaults, kinds_find("shiftlock"));
	check(set(&defaults, "shiftlock", "lease", "5 s") == PAWL_ERR_OPTION &&
		  strstr(pawl_error_message(), "microseconds"),
	      "the message about a time names the unit", pawl_error_message());
	options_free(&defaults);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct options o;
		char text[256], name[200];
		const char *got = "refused";
		bool good;

		options_default(&o, kinds_find(cases[i].kind));
		if (set(&o, cases[i].kind, cases[i].name, cases[i].value) == PAWL_SUCCESS)
			got = option_value_get(
			    &o, option_spec_find(kinds_find(cases[i].kind), cases[i].name), text,
			    sizeof text);
		good = strcmp(got, cases[i].expected ? cases[i].expected : "refused") == 0;
		snprintf(name, sizeof name, "%s=\"%s\" is %s", cases[i].name, cases[i].value,
			 cases[i].expected ? cases[i].expected : "refused");
		check(good, name, got);
		options_free(&o);
	}
}

/* ------------------------------------------------------------- misspelt names */

static void misspelt(void)
{
	static const struct {
		const char *name, *meant; /* NULL: nothing */
	} cases[] = {
	    {"maxheld", "max_held"},
	    {"max-held", "max_held"},
	    {"MAX_HELD", "max_held"},
	    {"topolgy", "topology"},
	    {"topo", "topology"},
	    {"laese", "lease"},
	    {"lock_stats", NULL},
	    {"prefix", NULL},
	    {"root", NULL},
	    {"x", NULL},
	    {"", NULL},
	    {"recoverys", "recoveries"},
	    {"a_name_that_is_longer_than_any_option_of_the_list", NULL},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct similar near = similar_to(cases[i].name, strlen(cases[i].name));
		const struct pawl_option *o;
		char name[200];
		bool good;

		for (int k = 0; (o = pawl_option_get(k)); k++)
			similar_try(&near, o->name, strlen(o->name));
		good = cases[i].meant ? near.best && strcmp(near.best, cases[i].meant) == 0
				      : !near.best;
		snprintf(name, sizeof name, "\"%s\" may be meant to be %s", cases[i].name,
			 cases[i].meant ? cases[i].meant : "nothing");
		check(good, name, near.best ? near.best : "nothing");
	}
}

/* --------------------------------------------------------------- environment */

static int lines_in(const char *text)
{
	int n = 0;

	for (; (text = strchr(text, '\n')); text++)
		n++;
	return n;
}

static void environment(void)
{
	const struct lock_protocol *p = kinds_find("d-mcs");
	struct options o;
	FILE *out = tmpfile();
	char said[2000] = "";

	setenv("PAWL_HOME", "/opt/pawl", 1);
	setenv("PAWL_ROOT", "/opt/pawl", 1);
	setenv("PAWL_COLOUR", "blue", 1);
	setenv("PAWL_MAX_HOLD", "5", 1);
	setenv("PAWL_STAT", "1", 1); /* PAWL_STAY is as near */
	setenv("PAWL_LOCK", "rma-rw", 1);
	setenv("PAWL_T_R", "none", 1); /* no option of this kind */
	setenv("PAWL_WAIT", "yield", 1);
	options_default(&o, p);
	check(options_environment(&o, p) == PAWL_SUCCESS && o.wait == WAIT_YIELD &&
		  o.max_held == 16,
	      "the environment: options are read, others are left alone", pawl_error_message());
	if (out) {
		options_warn(out, p, MPI_INFO_NULL);
		options_warn(out, p, MPI_INFO_NULL);
		rewind(out);
		said[fread(said, 1, sizeof said - 1, out)] = '\0';
		fclose(out);
	}
	check(strstr(said, "PAWL_MAX_HOLD is no option") && strstr(said, "mean PAWL_MAX_HELD?"),
	      "a misspelt one is reported, with a suggestion", said);
	check(strstr(said, "mean PAWL_STATS?"), "the beginning of a name", said);
	check(strstr(said, "PAWL_LOCK has no effect") && strstr(said, "libpawl-mpi"),
	      "one of the layer that is not loaded is reported", said);
	check(strstr(said, "PAWL_T_R has no effect on a table of kind d-mcs") &&
		  strstr(said, "kinds with option t_r: rma-rw"),
	      "an option of other kinds is reported, with these kinds", said);
	check(lines_in(said) == 4, "nothing else, and once", said);
	unsetenv("PAWL_STAT");
	setenv("PAWL_STRICT", "1", 1);
	check(options_environment(&o, p) == PAWL_ERR_OPTION, "PAWL_STRICT=1: an error", "none");
	unsetenv("PAWL_MAX_HOLD");
	check(options_environment(&o, p) == PAWL_ERR_OPTION &&
		  strstr(pawl_error_message(), "PAWL_COLOUR"),
	      "PAWL_STRICT=1: also where nothing is like it", pawl_error_message());
	unsetenv("PAWL_COLOUR");
	check(options_environment(&o, p) == PAWL_SUCCESS,
	      "PAWL_STRICT=1: but for the names of installations", pawl_error_message());
	options_free(&o);
}

/* ------------------------------------------------------------------- layouts */

static int lay_out(const char *kind, const char *topology, int ranks, uint64_t n,
		   const char *option, const char *value)
{
	const struct lock_protocol *p = kinds_find(kind);
	char err[200];
	struct topo *topo = topo_parse(topology, ranks, err, sizeof err);
	struct options o;
	struct lock_setup s;
	int rc;

	if (!topo || !p)
		return -1;
	options_default(&o, p);
	rc = option ? set(&o, kind, option, value) : PAWL_SUCCESS;
	if (rc == PAWL_SUCCESS) {
		setup_begin(&s, p, topo, &o, n);
		rc = setup_layout(&s);
		setup_free(&s);
	}
	options_free(&o);
	topo_free(topo);
	return rc;
}

static void layouts(void)
{
	static const struct {
		const char *kind, *option, *value;
		int ranks;
		uint64_t n;
		int code;
		const char *word;
	} cases[] = {
	    {"shiftlock", NULL, NULL, 32767, 1, PAWL_SUCCESS, ""},
	    {"shiftlock", NULL, NULL, 32768, 1, PAWL_ERR_OPTION, "32768 ranks"},
	    {"shiftlock", "threads", "multiple", 32767, 1, PAWL_SUCCESS, ""},
	    {"shiftlock", "threads", "multiple", 32768, 1, PAWL_ERR_OPTION, "32768 ranks"},
	    {"mgl", NULL, NULL, (1 << 20) - 1, 1, PAWL_SUCCESS, ""},
	    {"mgl", NULL, NULL, 1 << 20, 1, PAWL_ERR_OPTION, "1048576 ranks"},
	    {"mgl", "threads", "multiple", 1 << 16, 1, PAWL_SUCCESS, ""},
	    {"citron", "units", "1099511627776", 1, 1, PAWL_SUCCESS, ""},
	    {"citron", "units", "1099511627776", 1, (UINT64_C(1) << 40) - 1, PAWL_ERR_NOMEM,
	     "spaces"},
	    {"citron", "units", "1099511627776", 3, UINT64_C(1) << 33, PAWL_ERR_NOMEM, "spaces"},
	    {"shiftlock", NULL, NULL, 1, (UINT64_C(1) << 40) - 1, PAWL_SUCCESS, ""},
	    {"d-mcs", NULL, NULL, 1, (UINT64_C(1) << 40) - 1, PAWL_SUCCESS, ""},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		int rc = lay_out(cases[i].kind, "core:1", cases[i].ranks, cases[i].n,
				 cases[i].option, cases[i].value);
		char name[200], detail[600];

		snprintf(name, sizeof name, "%s, %llu of them, %d ranks%s%s: %s", cases[i].kind,
			 (unsigned long long)cases[i].n, cases[i].ranks,
			 cases[i].option ? ", " : "", cases[i].option ? cases[i].option : "",
			 pawl_strerror(cases[i].code));
		snprintf(detail, sizeof detail, "%s: %s", pawl_strerror(rc), pawl_error_message());
		check(rc == cases[i].code && (!rc || strstr(pawl_error_message(), cases[i].word)),
		      name, detail);
	}
}

/* -------------------------------------------------------------------- codes */

static void codes(void)
{
	static const int all[] = {
	    PAWL_SUCCESS,         PAWL_ERR_ARG,      PAWL_ERR_KIND,    PAWL_ERR_OPTION,
	    PAWL_ERR_UNSUPPORTED, PAWL_ERR_THREAD,   PAWL_ERR_WINDOW,  PAWL_ERR_TOPOLOGY,
	    PAWL_ERR_MPI,         PAWL_ERR_NOMEM,    PAWL_ERR_RANGE,   PAWL_ERR_TOO_MANY,
	    PAWL_ERR_HELD,        PAWL_ERR_NOT_HELD, PAWL_ERR_BUSY,    PAWL_ERR_TIMEOUT,
	    PAWL_ERR_LEASE_LOST,  PAWL_ERR_PEER,     PAWL_ERR_CONNECT, PAWL_RECOVERED,
	};
	enum { CODES = sizeof all / sizeof all[0] };
	char version[40], bad[100] = "";

	for (int i = 0; i < CODES; i++) {
		const char *text = pawl_strerror(all[i]);

		if (strcmp(text, pawl_strerror(-12345)) == 0)
			snprintf(bad, sizeof bad, "%d is unknown", all[i]);
		for (int k = 0; k < i; k++)
			if (strcmp(text, pawl_strerror(all[k])) == 0)
				snprintf(bad, sizeof bad, "%d and %d are the same", all[i], all[k]);
	}
	check(!bad[0], "each code has its own text", bad);
	snprintf(version, sizeof version, "%d.%d.%d", PAWL_VERSION_MAJOR, PAWL_VERSION_MINOR,
		 PAWL_VERSION_PATCH);
	check(strcmp(pawl_version(), version) == 0, "the version is the header's", pawl_version());
}

int main(void)
{
	codes();
	names();
	presets();
	told_presets();
	own_names();
	values();
	misspelt();
	environment();
	layouts();
	return tap_plan();
}
