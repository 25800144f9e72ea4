/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line. */
#ifndef BENCH_SETTINGS_H
#define BENCH_SETTINGS_H

#include <pawl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { MAX_LOCK_OPTIONS = 32 };
enum placement { ON_HOME, ON_REMOTE };
enum homes { HOMES_ALL, HOMES_FIRST_NODE };
enum when { AUTO, ALWAYS, NEVER };

/* Times that clients take besides acquires and releases, in nanoseconds: in the critical section,
 * after each release, and after one of so many (burst) releases; 0: none. Each is drawn uniformly
 * from half to one and a half of it. */
struct pace {
	uint64_t section, think, burst, rest;
};

struct settings {
	const char *locks, *benches; /* lists, or NULL */
	const char *reference;       /* ratios are to this one */
	bool own_reference;          /* chosen by the command line */
	double fw;                   /* percent; negative: as the workload has it */
	uint64_t n;                  /* 0: likewise */
	double zipf;                 /* negative: as the workload has it */
	double locality;             /* percent */
	double fail;                 /* probability */
	struct pace pace;
	uint64_t subscribers, warehouses;
	uint64_t space;                 /* units; 0: as the workload has it */
	uint64_t length;                /* of ranges; 0: mixed */
	uint64_t grid, file;            /* points along a side; bytes */
	double seconds, warmup, verify; /* warmup < 0: a tenth of seconds */
	uint64_t iterations;            /* 0: by time */
	int repetitions;
	int active; /* 0: all */
	enum placement active_on;
	enum when progress;
	int timeout;
	uint64_t seed;
	bool json;
	const char *json_file; /* NULL: stdout */
	bool help, version, list;
	bool baselines; /* without --lock: these, too; pawl-bench only */
	/* pawl-sim only. */
	bool simulate;
	enum homes homes;
	bool steady;
	int lengthen;
	const char *machine, *machines; /* a name or file, and the folder of machines */
	const char *platform;           /* SimGrid's; NULL: as the machine has it */
	const char *trace;              /* the file for the time line; NULL: none */
	int ranks;                      /* 0: as the machine has it */
	int lock_options;
	const char *lock_option[MAX_LOCK_OPTIONS]; /* NAME=VALUE */
	/* pawl-tune only. */
	int goal;
	double fairness;
};

/* The programs; each has its own options. */
enum { FOR_BENCH = 1, FOR_SIM = 2, FOR_TUNE = 4 };

/* False: cli_error() has a message. Prints nothing, does not call the MPI. */
bool settings_parse(struct settings *s, unsigned program, int argc, char **argv);
/* The workloads to run, in a list. */
const char *settings_benches(const struct settings *s);
/* Print the options with their help. */
void settings_help(FILE *out, unsigned program);
/* Print which of the locks that take part do not take an option that was given by -o. */
void settings_notes(const struct settings *s, FILE *out);

/* checks.c; false: cli_error() has a message. */
bool check_locks(const char *option, const char *list);
bool check_benches(const char *list);
bool add_lock_option(struct settings *s, const char *text);
bool settings_check(struct settings *s);

/* The value of the command line, or else that of the workload. */
struct workload;
struct settings settings_for(const struct settings *s, const struct workload *w);

/* Whether a kind takes this option. */
bool kind_takes(const struct pawl_kind *kind, const char *name, size_t len);

#endif
