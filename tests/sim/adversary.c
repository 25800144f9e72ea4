/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every kind of lock against an adversary: thousands of small worlds in virtual
 * time, each determined by a seed. Prints TAP. With a fault (lock/fault.h) on, the
 * test passes if some seed finds it.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "lock/kinds.h"
#include "../faults/faults.h"
#include "draw.h"
#include "tests/tap.h"

enum {
	SEEDS = 2000,
	FAULT_SEEDS = 200000,
	LONG_SEEDS = 100000,
	TWICE = 25,
	TAIL_LINES = 160,
	MOST_RANKS = 1024
};

static struct {
	const char *locks;     /* NULL: all */
	const char *faults;    /* NULL: all, unless locks are named */
	bool right;            /* the locks without faults */
	uint64_t first, count; /* count 0: the default */
	bool timeline, draws;
	struct draw_size size;
	const char *nodes; /* of size; NULL: none */
	const char *trace; /* NULL: none */
} set = {.first = 1};

static const char *program;
static unsigned traced; /* number of worlds in set.trace */

/* --------------------------------------------------------------------- reports */

static void result(bool good, const char *kind, const char *what)
{
	ok(good, "%s: %s", kind, what);
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

/* The time line, in the format of PAWL_TRACE. */
static void write_trace(const struct sim_world *w, const struct lock_protocol *p, uint64_t seed)
{
	char about[160];

	snprintf(about, sizeof about, "%s, seed %llu%s%s", p->kind.name, (unsigned long long)seed,
		 fault_on ? ", fault " : "", fault_on ? fault_name(fault_on) : "");
	if (sim_recorder_write(w, set.trace, ++traced, about))
		printf("# its time line: pawl-trace %s\n", set.trace);
	else
		result(false, p->kind.name, "--trace: the file cannot be written");
}

/* timeline: where to print it, and whether to record acquires; NULL: neither. */
static enum sim_verdict run(const struct lock_protocol *p, uint64_t seed, FILE *timeline,
			    struct sim_world **world, struct draw *d)
{
	if (!draw(d, p, seed, &set.size))
		return SIM_MISUSE;
	d->request.timeline = timeline;
	d->request.recorded = timeline && set.trace;
	*world = sim_world_create(&d->request);
	return *world ? sim_world_run(*world) : SIM_MISUSE;
}

/* Run the seed once more, with a time line; returns its verdict. */
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
	printf("# to see it again: %s --lock=%s%s%s%s%s%s --seed=%llu --timeline\n", program,
	       p->kind.name, set.size.wide ? " --wide" : "", set.nodes ? " --nodes=" : "",
	       set.nodes ? set.nodes : "", fault_on ? " --fault=" : "",
	       fault_on ? fault_name(fault_on) : "", (unsigned long long)seed);
	if (set.timeline)
		printf("%s", text);
	else if (v != SIM_FINE && !fault_on)
		print_tail(text);
	printf("# seed %llu: %s\n", (unsigned long long)seed,
	       !w              ? pawl_error_message()
	       : v == SIM_FINE ? "all well"
			       : w->why);
	if (w && set.trace)
		write_trace(w, p, seed);
	if (w)
		sim_world_free(w);
	free(text);
	return v;
}

/* ---------------------------------------------------------------------- checks */

/* Sums over all worlds. */
struct sums {
	uint64_t hash; /* of their schedules */
	uint64_t acquires, shortages, peers;
	struct features features;
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
			sums->hash = hash_add(sums->hash, w->hash);
			sums->acquires += w->acquires;
			sums->shortages += w->shortages;
			sums->peers += w->peers;
			features_add(&sums->features, &d, w);
			sim_world_free(w);
		}
		if (v != SIM_FINE)
			return seed;
	}
	return 0;
}

/* The seed that has shown the fault, or 0. */
static uint64_t known_seed(const struct lock_protocol *p)
{
	static const struct {
		const char *kind, *fault;
		uint64_t seed;
	} known[] = {
#include "known_seeds.h"
	};

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strcmp(known[i].kind, p->kind.name) == 0 &&
		    strcmp(known[i].fault, fault_name(fault_on)) == 0)
			return known[i].seed;
	return 0;
}

/* The first seed that finds the fault, or 0. Most of the time goes to the few faults that thousands
 * of worlds do not show, so the seed that has shown one is tried before the others. */
static uint64_t find_fault(const struct lock_protocol *p)
{
	struct sums sums;
	uint64_t seed =
	    set.count || set.first > 1 || set.size.wide || set.nodes ? 0 : known_seed(p);

	if (seed && find_failure(p, seed, 1, &sums))
		return seed;
	if (seed)
		printf("# %s: seed %llu of known_seeds.h does not find %s\n", p->kind.name,
		       (unsigned long long)seed, fault_name(fault_on));
	return find_failure(p, set.first, set.count ? set.count : FAULT_SEEDS, &sums);
}

/* With a fault on. */
static void check_found(const struct lock_protocol *p)
{
	uint64_t seed = find_fault(p);
	char text[120];

	snprintf(text, sizeof text, "fault %s is %sfound", fault_name(fault_on),
		 seed ? "" : "not ");
	if (seed)
		snprintf(text + strlen(text), sizeof text - strlen(text), ", by seed %llu",
			 (unsigned long long)seed);
	result(seed != 0, p->kind.name, text);
	if (seed)
		result(report(p, seed) != SIM_FINE, p->kind.name, "and once more");
}

static void check(const struct lock_protocol *p)
{
	struct sums sums, again;
	uint64_t seed, count = set.count;
	const char *is_long = getenv("TEST_LONG"), *missing;
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
	if (seed || set.timeline || set.trace)
		report(p, seed ? seed : set.first);
	if (set.draws)
		features_print(&sums.features, p);
	if (seed)
		return;
	missing = count < SEEDS ? NULL : features_missing(&sums.features, p);
	if (missing)
		snprintf(text, sizeof text, "no world has had: %s", missing);
	if (count >= SEEDS)
		result(!missing, p->kind.name, missing ? text : "worlds with each feature");
	find_failure(p, set.first, TWICE, &sums);
	find_failure(p, set.first, TWICE, &again);
	result(sums.hash == again.hash, p->kind.name, "same seed, same schedule");
}

/* Whether the word is in a list separated by commas; NULL has all words. */
static bool named(const char *list, const char *word)
{
	size_t len = strlen(word);
	const char *at = list;

	if (!list)
		return true;
	for (; (at = strstr(at, word)); at += len)
		if ((at == list || at[-1] == ',') && (!at[len] || at[len] == ','))
			return true;
	return false;
}

static void check_kinds(void (*check_one)(const struct lock_protocol *))
{
	const struct lock_protocol *p;

	for (int i = 0; (p = kinds_get(i)); i++)
		if (named(set.locks, p->kind.name) && !p->mpi &&
		    (!fault_on || fault_is_of(fault_on, p->kind.name)))
			check_one(p);
}

static void check_all(void *arg)
{
	bool all = !set.faults || strcmp(set.faults, "all") == 0;

	(void)arg;
	if (set.right && set.draws)
		features_print(NULL, NULL);
	if (set.right)
		check_kinds(check);
	if (set.right && (set.faults || set.locks))
		return;
	for (fault_on = FAULT_NONE + 1; fault_on < FAULT_COUNT; fault_on++)
		if (all || named(set.faults, fault_name(fault_on)))
			check_kinds(check_found);
	fault_on = FAULT_NONE;
}

/* ---------------------------------------------------------------- command line */

static int usage(FILE *out, const char *wrong)
{
	char names[4096];

	if (wrong)
		fprintf(out, "%s: %s\n", program, wrong);
	fprintf(
	    out,
	    "usage: %s [--lock=NAME,...] [--fault=FAULT,...] [--first=SEED] [--seeds=COUNT]\n"
	    "       [--seed=SEED] [--timeline] [--trace=FILE] [--wide] [--nodes=NxM] [--draws]\n"
	    "NAME: %s\n"
	    "FAULT: all, none, or names; --fault=help lists them\n"
	    "SEED, COUNT: 1 to 18446744073709551615\n"
	    "FILE: where to write the time line of a seed that fails, or else of the first "
	    "one, for\n"
	    "pawl-trace and ui.perfetto.dev\n"
	    "--wide: worlds of 9 to 43 ranks only; --nodes: of N nodes with M ranks each, at most "
	    "1024\nranks; --draws: a table of how many worlds have had "
	    "what.\n"
	    "Without --fault: the locks as they are, and, unless some are named, all faults.\n",
	    program, kinds_list(names, sizeof names));
	return out == stderr ? 2 : 0;
}

static int list_faults(FILE *out, const char *wrong)
{
	if (wrong)
		fprintf(out, "%s: %s; accepted:\n", program, wrong);
	fault_print_all(out);
	return out == stderr ? 2 : 0;
}

static bool to_number(const char *text, uint64_t *value)
{
	char *end;

	*value = strtoull(text, &end, 10);
	return end != text && !*end && *value > 0 && text[0] != '-';
}

/* Nodes and ranks a node, as in 32x4. */
static bool to_size(const char *text)
{
	char *end;
	long nodes = strtol(text, &end, 10), cores = *end == 'x' ? strtol(end + 1, &end, 10) : 0;

	set.nodes = text;
	set.size.nodes = (int)nodes;
	set.size.cores = (int)cores;
	return !*end && nodes > 0 && cores > 0 && nodes * cores <= MOST_RANKS;
}

static const char *next_of(const char *at)
{
	at += strcspn(at, ",");
	return *at ? at + 1 : at;
}

static bool known_locks(void)
{
	for (const char *at = set.locks; at && *at; at = next_of(at)) {
		char name[64];

		snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
		if (!kinds_find(name))
			return false;
	}
	return true;
}

/* Whether a lock that takes part shows the fault. */
static bool takes_part(enum fault f)
{
	const struct lock_protocol *p;

	for (int i = 0; (p = kinds_get(i)); i++)
		if (fault_is_of(f, p->kind.name) && !p->mpi && named(set.locks, p->kind.name))
			return true;
	return false;
}

/* Print a message; returns false. */
static bool known_faults(char *text, size_t len)
{
	if (!set.faults || strcmp(set.faults, "all") == 0)
		return true;
	for (const char *at = set.faults; *at; at = next_of(at)) {
		enum fault f = fault_find(at);

		if (f != FAULT_NONE && takes_part(f))
			continue;
		if (f == FAULT_NONE)
			snprintf(text, len, "no fault \"%.*s\"", (int)strcspn(at, ","), at);
		else if (set.locks)
			snprintf(text, len, "fault %s belongs to %s, not to %s", fault_name(f),
				 fault_kinds(f), set.locks);
		else
			snprintf(text, len, "fault %s belongs to %s, which is not simulated",
				 fault_name(f), fault_kinds(f));
		return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
	    {"lock", required_argument, NULL, 'l'},  {"fault", required_argument, NULL, 'w'},
	    {"first", required_argument, NULL, 'f'}, {"seeds", required_argument, NULL, 'n'},
	    {"seed", required_argument, NULL, 's'},  {"timeline", no_argument, NULL, 't'},
	    {"trace", required_argument, NULL, 'c'}, {"wide", no_argument, NULL, 'd'},
	    {"nodes", required_argument, NULL, 'z'}, {"draws", no_argument, NULL, 'r'},
	    {"help", no_argument, NULL, 'h'},        {NULL, 0, NULL, 0},
	};
	char wrong[200];
	bool ok = true;
	int which;

	program = argv[0];
	while ((which = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (which == 'l')
			set.locks = optarg;
		else if (which == 'w')
			set.faults = optarg;
		else if (which == 'f')
			ok = ok && to_number(optarg, &set.first);
		else if (which == 'n')
			ok = ok && to_number(optarg, &set.count);
		else if (which == 's')
			ok = ok && to_number(optarg, &set.first) && (set.count = 1);
		else if (which == 't')
			set.timeline = true;
		else if (which == 'd')
			set.size.wide = true;
		else if (which == 'z')
			ok = ok && to_size(optarg);
		else if (which == 'r')
			set.draws = true;
		else if (which == 'c')
			set.trace = optarg;
		else
			return usage(which == 'h' ? stdout : stderr, NULL);
	}
	if (!ok || optind < argc || !known_locks())
		return usage(stderr, "a value that is not accepted");
	if (set.faults && strcmp(set.faults, "help") == 0)
		return list_faults(stdout, NULL);
	set.right = !set.faults || strcmp(set.faults, "none") == 0;
	if (!set.right && !known_faults(wrong, sizeof wrong))
		return list_faults(stderr, wrong);
	if (set.trace && !sim_recorder_begin_file(set.trace))
		return usage(stderr, "--trace: that file cannot be written");
	engine_run(check_all, NULL);
	return tap_plan();
}
