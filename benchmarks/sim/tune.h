/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for thresholds; see tune.c. */
#ifndef PAWL_SIM_TUNE_H
#define PAWL_SIM_TUNE_H

#include "sim_bench.h"

enum tune_goal { TUNE_THROUGHPUT, TUNE_P99, TUNE_SLOWEST };

/* One threshold: an option, or a level of option t_l. */
enum { TUNE_VALUES = 24, TUNE_KNOBS = 12, TUNE_TEXT = 160 };
struct tune_knob {
	char name[24]; /* "t_r", or the name of a level */
	bool is_level; /* of t_l */
	int64_t value[TUNE_VALUES];
	int values, now, first; /* first: as the options say, or the nearest value */
};

/* Another kind, with its defaults. */
enum { TUNE_OTHERS = 32 };
struct tune_other {
	const char *name;
	struct outcome outcome;
};

struct tune {
	const struct settings *set;
	const struct machine *machine;
	const struct contestant *contestant;
	const struct workload *workload;
	int ranks;
	enum tune_goal goal;
	double floor; /* of fairness */
	struct tune_knob knob[TUNE_KNOBS];
	int knobs, runs;
	bool found; /* settings that are better than those at first */
	struct outcome defaults, best;
	struct tune_other other[TUNE_OTHERS];
	int others;
	char error[400]; /* why the search failed, or "" */
};

/* The thresholds that the lock has on this machine with these options; false: none, or an error. */
bool tune_begin(struct tune *t);
/* The outcome with the defaults, the best one, and those of the other kinds of libpawl that take
 * part in the workload; runs in the engine. */
void tune_search(void *tune);
/* How much more the second one is worth, in percent. */
double tune_gain(const struct tune *t, const struct outcome *from, const struct outcome *to);
/* The present options, "t_r=64" and "t_l=node:8,group:2"; returns their number. */
int tune_options(const struct tune *t, char text[][TUNE_TEXT]);
/* The value of an outcome for the goal: more is better. */
double tune_score(const struct tune *t, const struct outcome *o);

#endif
