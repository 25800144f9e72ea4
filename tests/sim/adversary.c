/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every kind of lock against an adversary: thousands of small worlds in virtual
 * time, each of which follows from a seed. In TAP. Locks whose names begin with
 * "broken-" are wrong ones, and the test is whether that is seen.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "lock/kinds.h"
#include "draw.h"

enum { SEEDS = 2000, BROKEN_SEEDS = 10000, LONG_SEEDS = 1000000, TWICE = 25, TAIL_LINES = 160 };

static struct {
	const char *locks;     /* NULL: all */
	uint64_t first, count; /* count 0: as many as befit */
	bool timeline;
} set = {.first = 1};

static const char *program;
static int results, failed;

/* --------------------------------------------------------------------- reports */

static void result(bool good, const char *kind, const char *what)
{
	printf("%sok %d - %s: %s\n", good ? "" : "not ", ++results, kind, what);
	fflush(stdout);
	failed += !good;
}

/* The last lines of a text. */
static void print_tail(const char *text)
{
	const char *at = text + strlen(text);
	int lines = 0;

	while (at > text && lines <= TAIL_LINES)
		lines += *--at == '\n';
	if (at > text)
		printf("# ... (all of it: the command above)\n%s", at + 1);
	else
		printf("%s", text);
}

static enum sim_verdict run(const struct lock_protocol *p, uint64_t seed, FILE *timeline,
			    struct sim_world **world, struct draw *d)
{
	if (!draw(d, p, seed))
		return SIM_MISUSE;
	d->request.timeline = timeline;
	*world = sim_world_create(&d->request);
	return *world ? sim_world_run(*world) : SIM_MISUSE;
}

static bool is_broken(const struct lock_protocol *p)
{
	return strncmp(p->kind.name, "broken-", 7) == 0;
}

/* Run the seed once more, with a time line; how it ended. */
static enum sim_verdict report(const struct lock_protocol *p, uint64_t seed)
{
	enum sim_verdict v;
	struct sim_world *w = NULL;
	struct draw d;
	char *text = NULL;
	size_t len;
	FILE *timeline = open_memstream(&text, &len);

	v = run(p, seed, timeline, &w, &d);
	fclose(timeline);
	printf("# %s\n", d.text);
	printf("# to see it again: %s --lock=%s --seed=%llu --timeline\n", program, p->kind.name,
	       (unsigned long long)seed);
	if (set.timeline)
		printf("%s", text);
	else if (v != SIM_FINE && !is_broken(p))
		print_tail(text);
	printf("# seed %llu: %s\n", (unsigned long long)seed,
	       !w              ? pawl_error_message()
	       : v == SIM_FINE ? "all well"
			       : w->why);
	if (w)
		sim_world_free(w);
	free(text);
	return v;
}

/* ---------------------------------------------------------------------- checks */

/* Of all worlds. */
struct sums {
	uint64_t hash; /* of their schedules */
	uint64_t acquires, shortages, peers;
};

/* The first seed that fails, or 0. */
static uint64_t find_failure(const struct lock_protocol *p, uint64_t first, uint64_t count,
			     struct sums *sums)
{
	memset(sums, 0, sizeof *sums);
	for (uint64_t seed = first; seed - first < count; seed++) {
		struct sim_world *w = NULL;
		struct draw d;
		enum sim_verdict v = run(p, seed, NULL, &w, &d);

		if (w) {
			sums->hash = (sums->hash ^ w->hash) * UINT64_C(1099511628211);
			sums->acquires += w->acquires;
			sums->shortages += w->shortages;
			sums->peers += w->peers;
			sim_world_free(w);
		}
		if (v != SIM_FINE)
			return seed;
	}
	return 0;
}

static void check_broken(const struct lock_protocol *p)
{
	struct sums sums;
	uint64_t seed;
	char text[80] = "is caught";

	seed = find_failure(p, set.first, set.count ? set.count : BROKEN_SEEDS, &sums);
	if (seed)
		snprintf(text, sizeof text, "is caught, by seed %llu", (unsigned long long)seed);
	result(seed != 0, p->kind.name, text);
	if (seed)
		result(report(p, seed) != SIM_FINE, p->kind.name, "and once more");
}

static void check(const struct lock_protocol *p)
{
	struct sums sums, again;
	uint64_t seed, count = set.count;
	const char *is_long = getenv("TEST_LONG");
	char text[200];

	if (!count)
		count = is_long && strcmp(is_long, "1") == 0 ? LONG_SEEDS : SEEDS;
	seed = find_failure(p, set.first, count, &sums);
	snprintf(text, sizeof text,
		 "%llu seeds, %llu acquires, %llu times no slot, %llu calls ended by a death",
		 (unsigned long long)count, (unsigned long long)sums.acquires,
		 (unsigned long long)sums.shortages, (unsigned long long)sums.peers);
	result(!seed && sums.acquires > 0 &&
		   (count < SEEDS || (sums.shortages > 0 && sums.peers > 0)),
	       p->kind.name, text);
	if (seed || set.timeline)
		report(p, seed ? seed : set.first);
	if (seed)
		return;
	find_failure(p, set.first, TWICE, &sums);
	find_failure(p, set.first, TWICE, &again);
	result(sums.hash == again.hash, p->kind.name, "same seed, same schedule");
}

static bool named(const char *name)
{
	const char *at = set.locks;
	size_t len = strlen(name);

	if (!at)
		return true;
	for (; (at = strstr(at, name)); at += len)
		if ((at == set.locks || at[-1] == ',') && (!at[len] || at[len] == ','))
			return true;
	return false;
}

static void check_all(void *arg)
{
	const struct lock_protocol *p;

	(void)arg;
	for (int i = 0; (p = kinds_get(i)); i++)
		if (named(p->kind.name) && !p->open)
			(is_broken(p) ? check_broken : check)(p);
}

/* ---------------------------------------------------------------- command line */

static int usage(FILE *out, const char *wrong)
{
	char names[4096];

	if (wrong)
		fprintf(out, "%s: %s\n", program, wrong);
	fprintf(out,
		"usage: %s [--lock=NAME,...] [--first=SEED] [--seeds=COUNT] [--seed=SEED]\n"
		"       [--timeline]\n"
		"NAME: %s\n"
		"SEED, COUNT: 1 to 18446744073709551615\n",
		program, kinds_list(names, sizeof names));
	return out == stderr ? 2 : 0;
}

static bool to_number(const char *text, uint64_t *value)
{
	char *end;

	*value = strtoull(text, &end, 10);
	return end != text && !*end && *value > 0 && text[0] != '-';
}

static bool known_locks(void)
{
	const char *at = set.locks;

	for (size_t len; at && *at; at += len + (at[len] == ',')) {
		char name[64];

		len = strcspn(at, ",");
		snprintf(name, sizeof name, "%.*s", (int)len, at);
		if (!kinds_find(name))
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
	    {"lock", required_argument, NULL, 'l'},
	    {"first", required_argument, NULL, 'f'},
	    {"seeds", required_argument, NULL, 'n'},
	    {"seed", required_argument, NULL, 's'},
	    {"timeline", no_argument, NULL, 't'},
	    {"help", no_argument, NULL, 'h'},
	    {NULL, 0, NULL, 0},
	};
	bool ok = true;
	int which;

	program = argv[0];
	while ((which = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (which == 'l')
			set.locks = optarg;
		else if (which == 'f')
			ok = ok && to_number(optarg, &set.first);
		else if (which == 'n')
			ok = ok && to_number(optarg, &set.count);
		else if (which == 's')
			ok = ok && to_number(optarg, &set.first) && (set.count = 1);
		else if (which == 't')
			set.timeline = true;
		else
			return usage(which == 'h' ? stdout : stderr, NULL);
	}
	if (!ok || optind < argc || !known_locks())
		return usage(stderr, "a value that is not accepted");
	engine_run(check_all, NULL);
	printf("1..%d\n", results);
	return failed || !results;
}
