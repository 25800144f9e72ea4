/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Search for thresholds in simulation. Each threshold has a list of values. The search moves one
 * threshold after the other up and down its list for as long as that improves the goal, with
 * strides that halve, until a whole round changes nothing. A run gives the same result each time,
 * so a better figure is not an accident of that run; it may still be an accident of the seed, so an
 * improvement must be more than half a per cent.
 */
#include "tune.h"

#include <stdlib.h>
#include <string.h>

#include "lock/kinds.h"

#define WORTH_IT 1.005

enum { ROUNDS = 6, STRIDE = 4 };

/* Of adaptive, which decides by itself if no patience is given. */
enum { LONGEST_PATIENCE = 500 };

/* Of adaptive, if none is given. */
enum { USUAL_STAY = 61 };

/* ----------------------------------------------------------------- the ladders */

static void add_value(struct tune_knob *k, int64_t value)
{
	if (k->values < TUNE_VALUES)
		k->value[k->values++] = value;
}

/* Powers of two from low to high; zero: 0 precedes them. */
static struct tune_knob *add_knob(struct tune *t, const char *name, bool zero, int64_t low,
				  int64_t high, int64_t at_first)
{
	struct tune_knob *k = &t->knob[t->knobs];

	if (t->knobs == TUNE_KNOBS)
		return NULL;
	t->knobs++;
	snprintf(k->name, sizeof k->name, "%s", name);
	if (zero)
		add_value(k, 0);
	for (int64_t v = low; v <= high; v *= 2)
		add_value(k, v);
	for (int i = 0; i < k->values; i++)
		if (k->value[i] <= at_first)
			k->first = i;
	k->now = k->first;
	return k;
}

/* The levels below the machine that option t_l knows, each once. */
static void add_levels(struct tune *t, const struct topo *topo, const int64_t *t_l)
{
	static const char *const names[] = {
	    [TOPO_GROUP] = "group", [TOPO_NODE] = "node",   [TOPO_PACKAGE] = "package",
	    [TOPO_NUMA] = "numa",   [TOPO_CACHE] = "cache", [TOPO_GANG] = "gang",
	};

	for (int i = 2; i <= topo->nlevels; i++) {
		enum topo_type type = topo->level[i - 1].type;
		struct tune_knob *k;

		if (i > 2 && type == topo->level[i - 2].type)
			continue;
		k = add_knob(t, names[type], false, 1, 4096, t_l[type]);
		if (k)
			k->is_level = true;
	}
}

/* The value of an option, or another one if it is not set, which is -1. */
static int64_t value_of(const struct options *o, const char *name, int64_t otherwise)
{
	int64_t value = options_number(o, name, -1);

	return value < 0 ? otherwise : value;
}

static void explain_none(struct tune *t, const struct topo *topo)
{
	const struct pawl_kind *kind = t->contestant->kind;

	if (kind_takes(kind, "t_l", 3))
		snprintf(t->error, sizeof t->error,
			 "%s has thresholds for the levels of a machine (t_l), and %d ranks are on"
			 " one node without levels (%s); accepted: more --ranks, another -o"
			 " topology",
			 kind->name, t->ranks, topo->text);
	else
		snprintf(t->error, sizeof t->error, "%s has no thresholds", kind->name);
}

bool tune_begin(struct tune *t)
{
	const struct pawl_kind *kind = t->contestant->kind;
	const struct sim_run run = {
	    .set = t->set, .contestant = t->contestant, .workload = t->workload, .ranks = t->ranks};
	struct options o;
	struct topo *topo;

	if (sim_read_options(&run, kinds_find(kind->name), &o) != PAWL_SUCCESS) {
		snprintf(t->error, sizeof t->error, "%s", pawl_error_message());
		options_free(&o);
		return false;
	}
	topo = topo_parse(o.topology ? o.topology : t->machine->topology, t->ranks, t->error,
			  sizeof t->error);
	if (!topo) {
		options_free(&o);
		return false;
	}
	if (kind_takes(kind, "t_dc", 4))
		add_knob(t, "t_dc", true, 1, t->ranks, options_number(&o, "t_dc", 0));
	if (kind_takes(kind, "t_l", 3))
		add_levels(t, topo, options_levels(&o, "t_l"));
	if (kind_takes(kind, "t_w", 3))
		add_knob(t, "t_w", true, 1, 65536, options_number(&o, "t_w", 0));
	if (kind_takes(kind, "t_r", 3))
		add_knob(t, "t_r", false, 1, 65536, options_number(&o, "t_r", 0));
	if (kind_takes(kind, "patience", 8))
		add_knob(t, "patience", true, 1, 65536, value_of(&o, "patience", LONGEST_PATIENCE));
	if (kind_takes(kind, "stay", 4))
		add_knob(t, "stay", true, 1, 524288, value_of(&o, "stay", USUAL_STAY));
	if (kind_takes(kind, "backoff_min", 11))
		add_knob(t, "backoff_min", false, 64, 65536, options_number(&o, "backoff_min", 0));
	if (!t->knobs)
		explain_none(t, topo);
	topo_free(topo);
	options_free(&o);
	return t->knobs > 0;
}

/* -------------------------------------------------------------------- the runs */

int tune_options(const struct tune *t, char text[][TUNE_TEXT])
{
	int n = 0, levels = -1;

	for (int i = 0; i < t->knobs; i++) {
		const struct tune_knob *k = &t->knob[i];
		long long value = k->value[k->now];

		if (!k->is_level) {
			snprintf(text[n++], TUNE_TEXT, "%s=%lld", k->name, value);
		} else if (levels < 0) {
			levels = n++;
			snprintf(text[levels], TUNE_TEXT, "t_l=%s:%lld", k->name, value);
		} else {
			size_t used = strlen(text[levels]);

			snprintf(text[levels] + used, TUNE_TEXT - used, ",%s:%lld", k->name, value);
		}
	}
	return n;
}

static bool run(struct tune *t, const struct contestant *c, bool with_defaults, struct outcome *out)
{
	char text[TUNE_KNOBS][TUNE_TEXT];
	struct settings set = settings_for(t->set, t->workload);
	struct sim_run *r = calloc(1, sizeof *r);
	struct result *ignored = calloc(1, sizeof *ignored);
	int n = with_defaults ? 0 : tune_options(t, text), rc = BENCH_USAGE;

	for (int i = 0; i < n && set.lock_options < MAX_LOCK_OPTIONS; i++)
		set.lock_option[set.lock_options++] = text[i];
	t->runs++;
	if (r && ignored) {
		*r = (struct sim_run){.set = &set,
				      .contestant = c,
				      .workload = t->workload,
				      .machine = t->machine,
				      .ranks = t->ranks};
		rc = sim_run(r, ignored, out, t->error, sizeof t->error);
	}
	free(r);
	free(ignored);
	return rc == BENCH_OK;
}

double tune_score(const struct tune *t, const struct outcome *o)
{
	/* A setting below the floor is worse than all above it, and the better the nearer
	 * it is. */
	if (o->fairness < t->floor)
		return 1e-12 * o->fairness;
	if (t->goal == TUNE_P99)
		return o->p99 > 0 ? 1e9 / o->p99 : 0;
	return t->goal == TUNE_SLOWEST ? o->slowest : o->throughput;
}

/* ------------------------------------------------------------------ the search */

/* Move one threshold for as long as the goal improves; whether it did. */
static bool improve(struct tune *t, struct tune_knob *k)
{
	bool moved = false;

	for (int stride = STRIDE; stride; stride /= 2) {
		for (int sign = -1; sign <= 1; sign += 2) {
			for (;;) {
				struct outcome o;
				int from = k->now, to = from + sign * stride;

				if (to < 0 || to >= k->values)
					break;
				k->now = to;
				if (!run(t, t->contestant, false, &o) ||
				    tune_score(t, &o) < WORTH_IT * tune_score(t, &t->best)) {
					k->now = from;
					break;
				}
				t->best = o;
				t->found = moved = true;
			}
		}
	}
	return moved;
}

double tune_gain(const struct tune *t, const struct outcome *from, const struct outcome *to)
{
	double before = tune_score(t, from);

	return before > 0 ? 100 * (tune_score(t, to) / before - 1) : 0;
}

static void try_others(struct tune *t)
{
	struct settings set = settings_for(t->set, t->workload);
	const struct contestant *c;

	set.locks = NULL;
	for (int i = 0; (c = contestant_get(i)) && t->others < TUNE_OTHERS; i++) {
		struct tune_other *o = &t->other[t->others];

		if (contestant_is_baseline(c) || strcmp(c->name, t->contestant->name) == 0 ||
		    !contestant_plays(c, t->workload, &set))
			continue;
		o->name = c->name;
		t->others += run(t, c, true, &o->outcome);
	}
}

void tune_search(void *arg)
{
	struct tune *t = arg;
	bool moved = true;

	if (!run(t, t->contestant, true, &t->defaults))
		return;
	t->best = t->defaults;
	for (int round = 0; moved && round < ROUNDS; round++) {
		moved = false;
		for (int i = 0; i < t->knobs; i++)
			moved = improve(t, &t->knob[i]) || moved;
	}
	try_others(t);
	/* Settings that the lock refuses are skipped. */
	t->error[0] = '\0';
}
