/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of a command line that a table of options cannot express: names of locks, workloads and
 * options of the library, and which of them go together.
 */
#include <string.h>

#include "base/similar.h"
#include "benchmarks/harness/bench.h"
#include "cli.h"

#define SIMULATED_OPTIONS "distribution,topology"

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

bool check_locks(const char *option, const char *list)
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
		return cli_wrong("--%s: there is no lock \"%.*s\"%s; accepted: %s", option,
				 (int)len, p, similar_hint(&near, "", hint, sizeof hint), names);
	}
	return list_word(&list) ? true : cli_wrong("--%s: no name given", option);
}

bool check_benches(const char *list)
{
	char names[256] = "";
	size_t len;

	for (const char *p = list; (len = list_word(&p)); p += len) {
		if (workload_find(p, len))
			continue;
		for (const struct workload *w = workloads; w->name; w++)
			append(names, sizeof names, w->name);
		return cli_wrong("--bench: there is no workload \"%.*s\"; accepted: %s", (int)len,
				 p, names);
	}
	return list_word(&list) ? true : cli_wrong("--bench: no name given");
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
	return cli_wrong("-o: there is no option \"%.*s\"%s; accepted: %s", (int)len, text,
			 similar_hint(&near, "", hint, sizeof hint), names);
}

/* NAME=VALUE. The library checks the value. */
bool add_lock_option(struct settings *s, const char *text)
{
	const char *equals = strchr(text, '=');
	const struct pawl_option *o;
	size_t len;

	if (!equals || equals == text)
		return cli_wrong("-o: \"%s\" is not NAME=VALUE", text);
	len = (size_t)(equals - text);
	o = find_option(text, len);
	if (!o)
		return no_such_option(text, len);
	if (s->simulate && o->common && !list_has_word(SIMULATED_OPTIONS, text, len))
		return cli_wrong(
		    "-o: %s has no effect in virtual time; of the options of all kinds,"
		    " accepted: " SIMULATED_OPTIONS,
		    o->name);
	if (s->lock_options == MAX_LOCK_OPTIONS)
		return cli_wrong("-o: at most %d of them", MAX_LOCK_OPTIONS);
	s->lock_option[s->lock_options++] = text;
	return true;
}

/* A forgotten lock is free again when its lease is over. */
static bool choose_lease(struct settings *s)
{
	for (int i = 0; i < s->lock_options; i++) {
		if (strcmp(s->lock_option[i], "lease=0") == 0)
			return cli_wrong(
			    "--fail: with option lease=0 no lock is recovered; accepted: 1 to"
			    " 3600000000, or none (10000)");
		if (strncmp(s->lock_option[i], "lease=", strlen("lease=")) == 0)
			return true;
	}
	return add_lock_option(s, "lease=10000");
}

/* --fail is for micro and for locks that recover. */
static bool check_fail(struct settings *s)
{
	const char *list = settings_benches(s);
	const struct contestant *c;
	char names[512] = "";
	size_t len;

	if (s->fail <= 0)
		return true;
	for (; (len = list_word(&list)); list += len)
		if (!list_has_word("micro", list, len))
			return cli_wrong("--fail: not with workload %.*s; accepted with: micro",
					 (int)len, list);
	for (int i = 0; (c = contestant_get(i)); i++)
		if (c->kind && (c->kind->capabilities & PAWL_CAP_RECOVERS))
			append(names, sizeof names, c->name);
	if (!names[0])
		return cli_wrong("--fail: no lock of this build recovers from a holder that died");
	for (list = s->locks; list && (len = list_word(&list)); list += len) {
		c = find_contestant(list, len);
		if (!c->kind || !(c->kind->capabilities & PAWL_CAP_RECOVERS))
			return cli_wrong("--fail: %s does not recover from a holder that died;"
					 " accepted: %s",
					 c->name, names);
	}
	return choose_lease(s);
}

/* --burst and --rest go together; the workloads are those that take turns. */
static bool check_pace(const struct settings *s)
{
	const struct pace *p = &s->pace;
	const char *list = settings_benches(s);
	size_t len;

	if (!p->burst != !p->rest)
		return cli_wrong("%s goes with %s", p->burst ? "--burst" : "--rest",
				 p->burst ? "--rest" : "--burst");
	if (!p->section && !p->think && !p->burst)
		return true;
	for (; (len = list_word(&list)); list += len) {
		char names[200] = "";

		if (workload_is(workload_find(list, len), W_PACED))
			continue;
		for (const struct workload *w = workloads; w->name; w++)
			if (workload_is(w, W_PACED))
				append(names, sizeof names, w->name);
		return cli_wrong("%s: not with workload %.*s; accepted with: %s",
				 p->section ? "--section"
				 : p->think ? "--think"
					    : "--burst",
				 (int)len, list, names);
	}
	return true;
}

/* Each named lock takes part in each workload. */
static bool check_parts(const struct settings *s)
{
	const char *list = settings_benches(s);
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
			return cli_wrong(
			    "--bench: none of the locks named (%s) takes part in %s, which is"
			    " for: %s",
			    s->locks, w->name, names);
	}
	return true;
}

/* Whether a lock that takes part takes the option. */
static bool is_taken(const struct settings *s, const char *name, size_t name_len)
{
	const char *list = settings_benches(s);
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
		return cli_wrong(
		    "-o: none of the locks that take part has option %.*s; those that have:"
		    " %s",
		    (int)len, name, names);
	}
	return true;
}

bool settings_check(struct settings *s)
{
	return check_fail(s) && check_pace(s) && check_parts(s) && check_taken(s);
}

/* Whether the contestant takes part in one of the workloads. */
static bool plays_any(const struct contestant *c, const struct settings *s)
{
	const char *list = settings_benches(s);
	size_t len;

	for (; (len = list_word(&list)); list += len)
		if (contestant_plays(c, workload_find(list, len), s))
			return true;
	return false;
}

void settings_notes(const struct settings *s, FILE *out)
{
	const struct contestant *c;

	for (int i = 0; i < s->lock_options; i++) {
		const char *name = s->lock_option[i];
		size_t len = strcspn(name, "=");
		char names[1024] = "";

		for (int k = 0; (c = contestant_get(k)); k++)
			if (c->kind && plays_any(c, s) && !kind_takes(c->kind, name, len))
				append(names, sizeof names, c->name);
		if (names[0])
			fprintf(out, "note: option %.*s is none of %s\n", (int)len, name, names);
	}
}

struct settings settings_for(const struct settings *s, const struct workload *w)
{
	struct settings mine = *s;

	if (!mine.n)
		mine.n = w->n;
	if (mine.fw < 0 || workload_is(w, W_FIXED))
		mine.fw = w->fw;
	if (mine.zipf < 0)
		mine.zipf = w->zipf;
	if (w->units)
		mine.space = w->units(s);
	else if (!mine.space)
		mine.space = w->space;
	if (workload_is(w, W_NEAR_AND_FAR) || workload_is(w, W_FIXED))
		mine.zipf = 0; /* it has its own law */
	if (w->reference && !s->own_reference)
		mine.reference = w->reference;
	return mine;
}
