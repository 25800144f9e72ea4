/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line. Nothing is printed here: what is wrong is said in one
 * sentence, which names the option and what it accepts.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "base/similar.h"
#include "benchmarks/workloads/citron/ranges.h"
#include "benchmarks/workloads/shiftlock/txn.h"

#define SIMULATED_OPTIONS "distribution,topology"

/* In the order of the table below. */
enum {
	LIST = 256,
	LOCK,
	BENCH,
	FW,
	LOCKS,
	ZIPF,
	LOCALITY,
	FAIL,
	SUBSCRIBERS,
	WAREHOUSES,
	SPACE,
	LENGTH,
	GRID,
	FILE_BYTES,
	SECONDS,
	ITERATIONS,
	WARMUP,
	REPETITIONS,
	ACTIVE,
	ACTIVE_ON,
	VERIFY,
	NO_VERIFY,
	REFERENCE,
	JSON,
	SEED,
	TIMEOUT,
	PROGRESS,
	VERSION,
	MACHINE,
	MACHINES,
	RANKS,
	HOMES,
	PLATFORM,
	HELP = 'h',
	OPTION = 'o'
};

static const struct option table[] = {
    {"list", no_argument, NULL, LIST},
    {"lock", required_argument, NULL, LOCK},
    {"bench", required_argument, NULL, BENCH},
    {"fw", required_argument, NULL, FW},
    {"locks", required_argument, NULL, LOCKS},
    {"zipf", required_argument, NULL, ZIPF},
    {"locality", required_argument, NULL, LOCALITY},
    {"fail", required_argument, NULL, FAIL},
    {"subscribers", required_argument, NULL, SUBSCRIBERS},
    {"warehouses", required_argument, NULL, WAREHOUSES},
    {"space", required_argument, NULL, SPACE},
    {"length", required_argument, NULL, LENGTH},
    {"grid", required_argument, NULL, GRID},
    {"file", required_argument, NULL, FILE_BYTES},
    {"seconds", required_argument, NULL, SECONDS},
    {"iterations", required_argument, NULL, ITERATIONS},
    {"warmup", required_argument, NULL, WARMUP},
    {"repetitions", required_argument, NULL, REPETITIONS},
    {"active", required_argument, NULL, ACTIVE},
    {"active-on", required_argument, NULL, ACTIVE_ON},
    {"option", required_argument, NULL, OPTION},
    {"verify", required_argument, NULL, VERIFY},
    {"no-verify", no_argument, NULL, NO_VERIFY},
    {"reference", required_argument, NULL, REFERENCE},
    {"json", optional_argument, NULL, JSON},
    {"seed", required_argument, NULL, SEED},
    {"timeout", required_argument, NULL, TIMEOUT},
    {"progress", required_argument, NULL, PROGRESS},
    {"machine", required_argument, NULL, MACHINE},
    {"machines", required_argument, NULL, MACHINES},
    {"ranks", required_argument, NULL, RANKS},
    {"homes", required_argument, NULL, HOMES},
    {"platform", required_argument, NULL, PLATFORM},
    {"help", no_argument, NULL, HELP},
    {"version", no_argument, NULL, VERSION},
    {NULL, 0, NULL, 0},
};

enum { OPTIONS = sizeof table / sizeof table[0] };

/* Whether the program has that option. */
static bool has(bool simulate, int which)
{
	switch (which) {
	case MACHINE:
	case MACHINES:
	case RANKS:
	case HOMES:
	case PLATFORM:
		return simulate;
	case SUBSCRIBERS:
	case WAREHOUSES:
	case GRID:
	case FILE_BYTES:
	case WARMUP:
	case VERIFY:
	case NO_VERIFY:
	case TIMEOUT:
		return !simulate;
	default:
		return true;
	}
}

static struct {
	char *text;
	size_t len;
} error;

static bool wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static bool wrong(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(error.text, error.len, fmt, args);
	va_end(args);
	return false;
}

/* -------------------------------------------------------------------- lists */

size_t list_word(const char **list)
{
	*list += strspn(*list, ", ");
	return strcspn(*list, ", ");
}

static bool list_has_word(const char *list, const char *name, size_t len)
{
	size_t word;

	for (; list && (word = list_word(&list)); list += word)
		if (word == len && strncmp(list, name, len) == 0)
			return true;
	return false;
}

bool list_has(const char *list, const char *name)
{
	return list_has_word(list, name, strlen(name));
}

static const struct pawl_option *find_option(const char *name, size_t len)
{
	const struct pawl_option *o;

	for (int i = 0; (o = pawl_option_get(i)); i++)
		if (strlen(o->name) == len && strncmp(o->name, name, len) == 0)
			return o;
	return NULL;
}

bool kind_takes(const struct pawl_kind *kind, const char *name, size_t len)
{
	const struct pawl_option *o = find_option(name, len);

	return o && (o->common || list_has_word(kind->options, name, len));
}

/* ------------------------------------------------------------------- values */

static bool to_real(const char *option, const char *text, double min, double max, double *value)
{
	char *end;

	errno = 0;
	*value = strtod(text, &end);
	if (errno || end == text || *end || !(*value >= min && *value <= max))
		return wrong("--%s: \"%s\" is not a number from %g to %g", option, text, min, max);
	return true;
}

static bool to_count(const char *option, const char *text, uint64_t min, uint64_t max,
		     uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	if (errno || end == text || *end || text[0] < '0' || text[0] > '9' || *value < min ||
	    *value > max)
		return wrong("--%s: \"%s\" is not a whole number from %llu to %llu", option, text,
			     (unsigned long long)min, (unsigned long long)max);
	return true;
}

static bool to_int(const char *option, const char *text, int min, int max, int *value)
{
	uint64_t v = 0;

	if (!to_count(option, text, (uint64_t)min, (uint64_t)max, &v))
		return false;
	*value = (int)v;
	return true;
}

/* Units, or 0 for "mixed". */
static bool to_length(const char *text, uint64_t *value)
{
	char rest[200];

	*value = 0;
	if (strcmp(text, "mixed") == 0 || to_count("length", text, 1, UINT64_C(1) << 40, value))
		return true;
	snprintf(rest, sizeof rest, "%s", error.text);
	return wrong("%s, and not \"mixed\"", rest);
}

/* One of the words, by its place. */
static bool to_choice(const char *option, const char *text, const char *words, int *value)
{
	size_t len;

	*value = 0;
	for (const char *p = words; (len = list_word(&p)); p += len, (*value)++)
		if (strlen(text) == len && strncmp(text, p, len) == 0)
			return true;
	return wrong("--%s: \"%s\" is not one of: %s", option, text, words);
}

static const struct contestant *find_contestant(const char *name, size_t len)
{
	const struct contestant *c;

	for (int i = 0; (c = contestant_get(i)); i++)
		if (strlen(c->name) == len && strncmp(c->name, name, len) == 0)
			return c;
	return NULL;
}

static void append(char *text, size_t len, const char *word)
{
	size_t used = strlen(text);

	snprintf(text + used, len - used, "%s%s", used ? ", " : "", word);
}

static bool check_locks(const char *option, const char *list)
{
	char names[1024] = "", hint[64];
	const struct contestant *c;
	size_t len;

	for (const char *p = list; (len = list_word(&p)); p += len) {
		struct similar near = similar_to(p, len);

		if (find_contestant(p, len))
			continue;
		for (int i = 0; (c = contestant_get(i)); i++) {
			append(names, sizeof names, c->name);
			similar_try(&near, c->name, strlen(c->name));
		}
		return wrong("--%s: there is no lock \"%.*s\"%s; accepted: %s", option, (int)len, p,
			     similar_hint(&near, "", hint, sizeof hint), names);
	}
	return list_word(&list) ? true : wrong("--%s: no name given", option);
}

static bool check_benches(const char *list)
{
	char names[256] = "";
	size_t len;

	for (const char *p = list; (len = list_word(&p)); p += len) {
		if (workload_find(p, len))
			continue;
		for (const struct workload *w = workloads; w->name; w++)
			append(names, sizeof names, w->name);
		return wrong("--bench: there is no workload \"%.*s\"; accepted: %s", (int)len, p,
			     names);
	}
	return list_word(&list) ? true : wrong("--bench: no name given");
}

static bool no_such_option(const char *text, size_t len)
{
	struct similar near = similar_to(text, len);
	const struct pawl_option *o;
	char names[1024] = "", hint[64];

	for (int i = 0; (o = pawl_option_get(i)); i++) {
		append(names, sizeof names, o->name);
		similar_try(&near, o->name, strlen(o->name));
	}
	return wrong("-o: there is no option \"%.*s\"%s; accepted: %s", (int)len, text,
		     similar_hint(&near, "", hint, sizeof hint), names);
}

/* NAME=VALUE. The library checks the value. */
static bool add_lock_option(struct settings *s, const char *text)
{
	const char *equals = strchr(text, '=');
	const struct pawl_option *o;
	size_t len;

	if (!equals || equals == text)
		return wrong("-o: \"%s\" is not NAME=VALUE", text);
	len = (size_t)(equals - text);
	o = find_option(text, len);
	if (!o)
		return no_such_option(text, len);
	if (s->simulate && o->common && !list_has_word(SIMULATED_OPTIONS, text, len))
		return wrong("-o: %s means nothing in virtual time; of the options of all kinds,"
			     " accepted: " SIMULATED_OPTIONS,
			     o->name);
	if (s->lock_options == MAX_LOCK_OPTIONS)
		return wrong("-o: at most %d of them", MAX_LOCK_OPTIONS);
	s->lock_option[s->lock_options++] = text;
	return true;
}

/* ----------------------------------------------------------- the command line */

static bool set_one(struct settings *s, int which, const char *value)
{
	int choice = 0;
	bool ok = true;

	switch (which) {
	case LIST:
		s->list = true;
		break;
	case HELP:
		s->help = true;
		break;
	case VERSION:
		s->version = true;
		break;
	case LOCK:
		s->locks = value;
		return check_locks("lock", value);
	case REFERENCE:
		s->reference = value;
		s->own_reference = true;
		return check_locks("reference", value);
	case BENCH:
		s->benches = value;
		return check_benches(value);
	case FW:
		return to_real("fw", value, 0, 100, &s->fw);
	case LOCKS:
		return to_count("locks", value, 1, 4000000000, &s->n);
	case ZIPF:
		return to_real("zipf", value, 0, 10, &s->zipf);
	case LOCALITY:
		return to_real("locality", value, 0, 100, &s->locality);
	case FAIL:
		return to_real("fail", value, 0, 0.5, &s->fail);
	case SUBSCRIBERS:
		return to_count("subscribers", value, 1, 100000000, &s->subscribers);
	case WAREHOUSES:
		return to_count("warehouses", value, 1, 10000, &s->warehouses);
	case SPACE:
		return to_count("space", value, 1, UINT64_C(1) << 40, &s->space);
	case LENGTH:
		return to_length(value, &s->length);
	case GRID:
		return to_count("grid", value, 1, 512, &s->grid);
	case FILE_BYTES:
		return to_count("file", value, OLTP_LOG_BYTES, 1 << 30, &s->file);
	case SECONDS:
		return to_real("seconds", value, s->simulate ? 1e-6 : 0.001, 3600, &s->seconds);
	case ITERATIONS:
		return to_count("iterations", value, 1, 1000000000000, &s->iterations);
	case WARMUP:
		return to_real("warmup", value, 0, 3600, &s->warmup);
	case REPETITIONS:
		return to_int("repetitions", value, 1, 1000, &s->repetitions);
	case ACTIVE:
		return to_int("active", value, 1, 1000000, &s->active);
	case ACTIVE_ON:
		ok = to_choice("active-on", value, "home, remote", &choice);
		s->active_on = (enum placement)choice;
		break;
	case OPTION:
		return add_lock_option(s, value);
	case VERIFY:
		return to_real("verify", value, 0, 3600, &s->verify);
	case NO_VERIFY:
		s->verify = 0;
		break;
	case JSON:
		s->json = true;
		s->json_file = value;
		break;
	case SEED:
		return to_count("seed", value, 0, UINT64_MAX, &s->seed);
	case TIMEOUT:
		return to_int("timeout", value, 0, 86400, &s->timeout);
	case PROGRESS:
		ok = to_choice("progress", value, "auto, always, never", &choice);
		s->progress = (enum when)choice;
		break;
	case MACHINE:
		s->machine = value;
		break;
	case MACHINES:
		s->machines = value;
		break;
	case RANKS:
		return to_int("ranks", value, 1, 1048576, &s->ranks);
	case PLATFORM:
		s->platform = value;
		break;
	case HOMES:
		ok = to_choice("homes", value, "all, first-node", &choice);
		s->homes = (enum homes)choice;
		break;
	default:
		return false;
	}
	return ok;
}

static void set_defaults(struct settings *s, bool simulate)
{
	*s = (struct settings){.reference = "mpi-win-lock",
			       .fw = -1,
			       .zipf = -1,
			       .grid = 64,
			       .file = OLTP_FILE_BYTES,
			       .locality = 95,
			       .subscribers = TATP_SUBSCRIBERS,
			       .warehouses = TPCC_WAREHOUSES,
			       .seconds = 1,
			       .warmup = -1,
			       .verify = 0.2,
			       .repetitions = 3,
			       .timeout = 120,
			       .seed = 1};
	if (!simulate)
		return;
	/* Virtual time is the same each time, and runs until there is enough. */
	s->simulate = true;
	s->reference = "d-mcs";
	s->seconds = 0;
	s->repetitions = 1;
}

/* A lock that is forgotten is free again when its lease is over. */
static bool choose_lease(struct settings *s)
{
	for (int i = 0; i < s->lock_options; i++) {
		if (strcmp(s->lock_option[i], "lease=0") == 0)
			return wrong(
			    "--fail: with option lease=0 nobody recovers a lock; accepted: 1 to"
			    " 3600000000, or none (10000)");
		if (strncmp(s->lock_option[i], "lease=", strlen("lease=")) == 0)
			return true;
	}
	return add_lock_option(s, "lease=10000");
}

/* Only micro has failing clients, and only some locks survive them. */
static bool check_fail(struct settings *s)
{
	const char *list = s->benches ? s->benches : "ecsb";
	const struct contestant *c;
	char names[512] = "";
	size_t len;

	if (s->fail <= 0)
		return true;
	for (; (len = list_word(&list)); list += len)
		if (!list_has_word("micro", list, len))
			return wrong("--fail: not with workload %.*s; accepted with: micro",
				     (int)len, list);
	for (int i = 0; (c = contestant_get(i)); i++)
		if (c->kind && (c->kind->capabilities & PAWL_CAP_RECOVERS))
			append(names, sizeof names, c->name);
	if (!names[0])
		return wrong("--fail: no lock of this build recovers from a holder that died");
	for (list = s->locks; list && (len = list_word(&list)); list += len) {
		c = find_contestant(list, len);
		if (!c->kind || !(c->kind->capabilities & PAWL_CAP_RECOVERS))
			return wrong("--fail: %s does not recover from a holder that died;"
				     " accepted: %s",
				     c->name, names);
	}
	return choose_lease(s);
}

/* Locks that were named have something to do in each workload. */
static bool check_parts(const struct settings *s)
{
	const char *list = s->benches ? s->benches : "ecsb";
	const struct contestant *c;
	size_t len;

	for (; s->locks && (len = list_word(&list)); list += len) {
		const struct workload *w = workload_find(list, len);
		char names[1024] = "";
		bool some = false;

		for (int i = 0; (c = contestant_get(i)); i++) {
			struct settings all = *s;

			some = some || contestant_plays(c, w, s);
			all.locks = c->name;
			if (contestant_plays(c, w, &all))
				append(names, sizeof names, c->name);
		}
		if (!some)
			return wrong(
			    "--bench: none of the locks named (%s) takes part in %s, which is"
			    " for: %s",
			    s->locks, w->name, names);
	}
	return true;
}

/* Whether a lock that takes part takes the option. */
static bool is_taken(const struct settings *s, const char *name, size_t name_len)
{
	const char *list = s->benches ? s->benches : "ecsb";
	const struct contestant *c;
	size_t len;

	for (; (len = list_word(&list)); list += len)
		for (int i = 0; (c = contestant_get(i)); i++)
			if (c->kind && kind_takes(c->kind, name, name_len) &&
			    contestant_plays(c, workload_find(list, len), s))
				return true;
	return false;
}

static bool check_taken(const struct settings *s)
{
	for (int i = 0; i < s->lock_options; i++) {
		const char *name = s->lock_option[i];
		size_t len = strcspn(name, "=");
		const struct pawl_kind *kind;
		char names[1024] = "";

		if (is_taken(s, name, len))
			continue;
		for (int k = 0; (kind = pawl_kind_get(k)); k++)
			if (kind_takes(kind, name, len))
				append(names, sizeof names, kind->name);
		return wrong(
		    "-o: none of the locks that take part has option %.*s; those that have:"
		    " %s",
		    (int)len, name, names);
	}
	return true;
}

struct settings settings_for(const struct settings *s, const struct workload *w)
{
	struct settings mine = *s;

	if (!mine.n)
		mine.n = w->n;
	if (mine.fw < 0 || w->fixed)
		mine.fw = w->fw;
	if (mine.zipf < 0)
		mine.zipf = w->zipf;
	if (w->units)
		mine.space = w->units(s);
	else if (!mine.space)
		mine.space = w->space;
	if (w->near_and_far || w->fixed)
		mine.zipf = 0; /* it has a law of its own */
	if (w->reference && !s->own_reference)
		mine.reference = w->reference;
	return mine;
}

bool settings_parse(struct settings *s, int argc, char **argv, bool simulate, char *err,
		    size_t errlen)
{
	static struct option usable[OPTIONS];
	int which, n = 0;

	for (int i = 0; i < OPTIONS; i++)
		if (!table[i].name || has(simulate, table[i].val))
			usable[n++] = table[i];
	set_defaults(s, simulate);
	error.text = err;
	error.len = errlen;
	opterr = 0;
	while ((which = getopt_long(argc, argv, ":ho:", usable, NULL)) != -1) {
		const char *given = argv[optind - 1];

		if (which == '?' && optopt && optopt < 256)
			return wrong("unknown option -%c; see --help", optopt);
		if (which == '?')
			return wrong("option %s: unknown, ambiguous, or takes no value; see --help",
				     given);
		if (which == ':')
			return wrong("option %s needs a value; see --help", given);
		if (!set_one(s, which, optarg))
			return false;
	}
	if (optind < argc)
		return wrong("\"%s\": only options are expected; see --help", argv[optind]);
	if (s->help || s->version || s->list)
		return true;
	return check_fail(s) && check_parts(s) && check_taken(s);
}
