/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of pawl-bench share. pawl-sim uses those marked with * as well.
 *
 *   pawl-bench.c  main: contestants take turns in each repetition
 *   options.c     * the table of options; cli.c: * reads a command line by it; checks.c: * which
 *                 names and options go together
 *   contestants.c * the locks that take part
 *   trial.c       one contestant, one workload, once: set up, verify, time
 *   list.c        the workloads; loops.c: the measured loops
 *   bank.c        accounts in a Redis server; redis.c, redis_server.c, redlock.c
 *   transactions.c  TATP and TPC-C; their generators: tatp.c, tpcc.c, txn.c, txn.h
 *   outcome.c     combines the measurements of all ranks
 *   verify.c      the data that locks protect, and the check of mutual exclusion
 *   dht.c         the distributed hash table
 *   locktable.c   * near and far locks
 *   picks.c       draws locks and modes
 *   micro.c       parts of the latency, and clients that fail
 *   ranges.h      the workloads over ranges, and their files
 *   measure.c     * clock, random numbers, histograms, medians
 *   spread.c      * mean, quantiles and distribution of a histogram
 *   zipf.c        * Zipf's law
 *   watchdog.c    ends a run that hangs
 *   medians.c     * medians over the repetitions
 *   report.c      * the table; json.c: * the JSON lines
 *   native.c      the name of the MPI, and a setting that it needs
 */
#ifndef PAWL_BENCH_H
#define PAWL_BENCH_H

#include <mpi.h>
#include <pawl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Exit codes. */
enum { BENCH_OK = 0, BENCH_VIOLATION = 1, BENCH_USAGE = 2, BENCH_HANG = 3 };

/* ---------------------------------------------------------------- settings */

enum { MAX_LOCK_OPTIONS = 32 };
enum placement { ON_HOME, ON_REMOTE };
enum homes { HOMES_ALL, HOMES_FIRST_NODE };
enum when { AUTO, ALWAYS, NEVER };

struct settings {
	const char *locks, *benches; /* lists, or NULL */
	const char *reference;       /* ratios are to this one */
	bool own_reference;          /* chosen by the command line */
	double fw;                   /* percent; negative: as the workload has it */
	uint64_t n;                  /* 0: likewise */
	double zipf;                 /* negative: as the workload has it */
	double locality;             /* percent */
	double fail;                 /* probability */
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
	/* pawl-sim only. */
	bool simulate;
	enum homes homes;
	const char *machine, *machines; /* a name or file, and the folder of machines */
	const char *platform;           /* SimGrid's; NULL: as the machine has it */
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

/* -------------------------------------------------------------------- team */

/* The ranks and where they are. */
struct team {
	MPI_Comm comm, node_comm;
	int rank, ranks;
	int nodes;    /* hosts, whatever option topology says */
	int *node_of; /* by rank */
};

void team_create(struct team *t);
void team_free(struct team *t);

/* A barrier that drives the MPI. Eager: look again at once. */
void team_wait(const struct team *t, bool eager);
uint64_t team_sum(const struct team *t, uint64_t value);

/* ----------------------------------------------------------------- measure */

/* A cheap clock: the processor's counter if that is steady. */
extern double ticks_per_ns;
void clock_calibrate(void);
uint64_t clock_ns(void);

#if defined(__x86_64__)
extern bool clock_is_tsc;
static inline uint64_t ticks(void)
{
	return __builtin_expect(clock_is_tsc, 1) ? __builtin_ia32_rdtsc() : clock_ns();
}
#else
static inline uint64_t ticks(void)
{
	return clock_ns();
}
#endif

/* xorshift64*: state is never 0. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * UINT64_C(2685821657736338717);
}
uint64_t random_seed(uint64_t seed, int rank);

/* Zipf's law over 0 .. n-1; 0 is the most likely one. zipf_spread() is a permutation of 0 .. n-1
 * that spreads the likely ones. */
struct zipf {
	double n, s, first, last, shift;
};
void zipf_start(struct zipf *z, uint64_t n, double s);
uint64_t zipf_next(const struct zipf *z, uint64_t *random);
static inline uint64_t zipf_spread(uint64_t k, uint64_t n)
{
	return k * UINT64_C(2654435761) % n; /* a prime */
}

/* Counts by the logarithm of the value: 16 buckets to a power of two. */
enum { HIST_SUB = 16, HIST_BUCKETS = 61 * HIST_SUB };
struct histogram {
	uint64_t max, sum;
	uint64_t count[HIST_BUCKETS];
};

static inline void histogram_add(struct histogram *h, uint64_t value)
{
	int shift = value < HIST_SUB ? 0 : 59 - __builtin_clzll(value);

	h->count[(uint64_t)shift * HIST_SUB + (value >> shift)]++;
	h->sum += value;
	if (value > h->max)
		h->max = value;
}
/* The value below which a fraction of all values lies; 0 if there are none. */
double histogram_quantile(const struct histogram *h, double fraction);

/* A summary of a histogram, in nanoseconds. */
enum { CDF_POINTS = 101 };
struct spread {
	uint64_t count;
	double mean, p50, p99, max;
	double cdf[CDF_POINTS]; /* the time that cdf_fraction(i) of all values do not exceed */
};
double cdf_fraction(int point); /* 1 %, 2 %, ..., 99 %, 99.9 %, 100 % */
void spread_of(struct spread *s, const struct histogram *h, double units_per_ns);
void spread_median(struct spread *s, const struct spread *const *of, int count);

double median(const double *values, int count);
double jain(const double *values, int count);

/* ------------------------------------------------------------- contestants */

struct workload;
struct trial;

/* A lock, or a pseudo lock with its own loop. */
struct contestant {
	const char *name, *summary;
	const struct pawl_kind *kind; /* NULL: a pseudo lock */
	const char *only;             /* the workload of a pseudo lock */
	void (*run)(struct trial *t); /* its loop */
};

/* The pseudo locks, up to one without a name. */
extern const struct contestant pseudo_contestants[];

/* The contestant with that index in the list of all, or NULL. */
const struct contestant *contestant_get(int index);
/* Whether readers share it. */
/* It takes part only if --lock names it. */
bool contestant_needs_threads(const struct contestant *c);
bool contestant_shares(const struct contestant *c);
bool contestant_has_ranges(const struct contestant *c);
bool contestant_plays(const struct contestant *c, const struct workload *w,
		      const struct settings *s);

/* ------------------------------------------------------------------ trials */

/* The most series of times of a workload, and the parts of the time in which acquires are counted.
 */
enum { MAX_SERIES = 8, TIMELINE = 50, MAX_ROWS = 24, MAX_COLUMNS = 8 };

/* The results of one repetition, the same on all ranks. */
struct outcome {
	uint64_t acquires, exclusive, violations;
	double seconds, throughput; /* seconds: the slowest rank's */
	double p50, p99, max;       /* ns of acquire and release together */
	double fairness, slowest;   /* slowest: acquires/s of the slowest active rank */
	bool counted;               /* this kind counts its operations */
	double atomic, get, put, flush, far;
	double far_atomic, far_get, far_put; /* the parts of far */
	double waits, parks;
	uint64_t abandoned, leases_lost;
	uint64_t requests, reader_requests;
	double bytes;                          /* a second */
	struct spread all, series[MAX_SERIES]; /* of the workload's series */
	double timeline[TIMELINE];             /* acquires/s, by part of the time */
	double aborts;                         /* of ranges, per acquire; 0 if not counted */
	int rows;                              /* of the workload's */
	double row[MAX_ROWS][MAX_COLUMNS];
};

struct cell;

/* Everything that a loop needs. */
struct trial {
	const struct settings *set;
	const struct team *team;
	const struct contestant *who;
	const struct workload *what;
	pawl_table *table; /* NULL for pseudo locks, and before the table is created */
	bool is_active;
	int active, client; /* how many, and which of them */

	/* Which locks and modes to draw. */
	uint64_t random;
	uint64_t locks;
	uint32_t writers; /* of 2^32 picks */
	uint32_t *ring;
	uint32_t turn;
	const void *law; /* of the ring, for this number of locks */
	uint64_t law_n;
	double local; /* of the ring: the share of near locks */

	uint32_t failures;  /* of 2^32 releases */
	uint32_t transfers; /* of 2^32 transactions of the bank */

	/* When to stop, and how often to check the time. */
	uint64_t ticks, limit, clock_cost;
	uint32_t stride;

	/* The protected data of the first locks. */
	struct cell *cells; /* all of them if one node, else this rank's */
	MPI_Win win;
	uint64_t n_cells;

	/* The results of this rank. */
	uint64_t acquires, exclusive, verified, counted, violations;
	uint64_t abandoned, leases_lost;
	uint64_t requests, reader_requests; /* of locks, by transactions */
	uint64_t bytes;                     /* read and written */
	double elapsed_ns;
	struct histogram hist, series[MAX_SERIES];
	uint64_t timeline[TIMELINE + 1];

	/* The workload's own table, filled in by close, the same on all ranks. */
	int rows;
	double row[MAX_ROWS][MAX_COLUMNS];
};

enum { RING = 1 << 18, MAX_CELLS = 1 << 16 };

/* BENCH_OK and *out; or BENCH_USAGE if the contestant cannot take part:
 * why has a message and *fatal says whether the command line is at fault. */
int trial_run(struct trial *t, struct outcome *out, char *why, size_t whylen, bool *fatal);
void trial_free(struct trial *t); /* the table, if there is one */
/* Collective. */
void outcome_gather(struct trial *t, struct outcome *out);
/* An acquire or a release failed: end the run. */
_Noreturn void trial_abort(const struct trial *t, const char *doing);
/* Release, and count a lost lease. */
void trial_release_failed(struct trial *t, int code);
static inline void trial_release(struct trial *t, uint64_t lock)
{
	int rc = pawl_lock_release(t->table, lock);

	if (__builtin_expect(rc != PAWL_SUCCESS, 0))
		trial_release_failed(t, rc);
}
/* The node of a rank, as the table sees nodes. */
int trial_node_of(const struct trial *t, int rank);

/* Whether a release failed. A lost lease is not a failure. */
static inline bool has_failed(int rc)
{
	return __builtin_expect(rc != PAWL_SUCCESS, 0) && rc != PAWL_ERR_LEASE_LOST;
}

/* --------------------------------------------------------------- workloads */

/* Properties of a workload. */
enum workload_flag {
	W_BY_ITSELF = 1 << 0,    /* it has its own data and iterations (dht) */
	W_CDF = 1 << 1,          /* the results have the distribution of its latencies */
	W_DEALT = 1 << 2,        /* nodes have equal pieces of its locks */
	W_FIXED = 1 << 3,        /* --fw and --zipf do not change it */
	W_TRANSACTIONS = 1 << 4, /* it acquires several locks at a time, and counts that as one */
	W_NEAR_AND_FAR = 1 << 5, /* its locks are distributed and drawn by node (locktable.c) */
	W_RANGES = 1 << 6,       /* for kinds with PAWL_CAP_RANGES only */
	W_LENGTHS = 1 << 7,      /* ranges whose lengths are drawn by --length */
	W_FILES = 1 << 8,        /* ranges of files that are spread over all ranks */
	W_FRESH = 1 << 9,        /* each repetition creates its table anew, without verification */
	W_TIMELINE = 1 << 10,    /* the results have the acquires over time */
	W_GROWS = 1 << 11,       /* its spaces grow, if a kind can do that */
	W_COMPUTED = 1 << 12     /* no lock is acquired; for pseudo locks */
};

struct workload {
	const char *name, *summary;
	unsigned flags; /* of enum workload_flag */
	void (*run)(struct trial *t);
	uint64_t n;                /* locks, unless --locks says */
	double fw, zipf;           /* unless --fw and --zipf say */
	uint64_t space;            /* units, unless --space says */
	const char *reference;     /* ratios are to this one, unless --reference says; or NULL */
	int held;                  /* locks that a rank holds at a time; 0: as the library has it */
	const char *const *series; /* names of times of its own, up to NULL; or NULL */
	const char *rows;          /* the name of its own table, or NULL; and its columns: */
	const char *columns[MAX_COLUMNS + 1]; /* up to NULL */
	/* Allocate and free what it needs besides a table, before and after the loops; NULL:
	 * nothing. Collective. open: BENCH_OK, or BENCH_USAGE with a message in why. */
	int (*open)(struct trial *t, char *why, size_t whylen);
	void (*close)(struct trial *t);
	uint64_t (*units)(const struct settings *s); /* of each space; NULL: --space */
};

static inline bool workload_is(const struct workload *w, enum workload_flag flag)
{
	return w->flags & flag;
}

enum { MICRO_WRITER, MICRO_READER, MICRO_RELEASE, MICRO_WAITED };
extern const char *const micro_series[];
extern const struct workload workloads[];
const struct workload *workload_find(const char *name, size_t len);
/* loops.c */
void lb_run(struct trial *t);
void ecsb_run(struct trial *t);
void sob_run(struct trial *t);
void wcsb_run(struct trial *t);
void warb_run(struct trial *t);
void raw_pair_run(struct trial *t);

/* Draw one lock and one mode. */
struct pick {
	uint64_t lock;
	int mode;
};

/* picks.c: before a trial; false: out of memory. */
bool picks_choose(struct trial *t);
void picks_free(struct trial *t);

static inline struct pick trial_pick(struct trial *t)
{
	uint64_t x = random_next(&t->random);
	struct pick p = {.mode = (uint32_t)x < t->writers ? PAWL_EXCLUSIVE : PAWL_SHARED};

	if (t->writers == UINT32_MAX)
		p.mode = PAWL_EXCLUSIVE;
	if (t->ring)
		p.lock = t->ring[t->turn++ % RING];
	else if (t->locks > 1)
		p.lock = (uint64_t)(((unsigned __int128)x * t->locks) >> 64);
	return p;
}

/* -------------------------------------------------- the workloads' own pieces */

void micro_run(struct trial *t);

/* bank.c; the bank ends with the run. */
extern const char *const bank_series[];
void bank_run(struct trial *t);
int bank_open(struct trial *t, char *why, size_t whylen);
void bank_close(struct trial *t);
void bank_end(void);

/* transactions.c */
void tatp_run(struct trial *t);
void tpcc_run(struct trial *t);
int tatp_open(struct trial *t, char *why, size_t whylen);
int tpcc_open(struct trial *t, char *why, size_t whylen);

/* The locks as a client sees them, near locks first. */
struct locktable {
	uint32_t *lock;
	uint64_t locks, near, far;
	uint32_t local; /* of 2^32 picks */
};
/* Ranks by their nodes; malloc()ed. */
int *locktable_order(const int *node_of, int ranks);
int locktable_home(uint64_t lock, const int *order, int ranks, uint64_t locks);
bool locktable_start(struct locktable *l, uint64_t locks, double locality);
void locktable_add(struct locktable *l, uint64_t lock, bool is_near);
uint64_t locktable_pick(const struct locktable *l, uint64_t *random);
void locktable_end(struct locktable *l);

/* ------------------------------------------------------------------ verify */

/* Words protected by one lock; none of them is atomic, on purpose. */
struct cell {
	volatile int64_t word[4]; /* equal while no client writes */
	volatile int64_t counter, touched;
	volatile int64_t raw; /* of raw-pair */
	int64_t unused;
};

void cells_create(struct trial *t, uint64_t locks);
void cells_free(struct trial *t);
void cells_clear(struct trial *t);
/* The work of SOB and WCSB in the critical section of p. */
void cells_touch(struct trial *t, struct pick p);
void cells_count(struct trial *t, struct pick p);
/* All ranks acquire and check for a while. */
void verify_run(struct trial *t);
/* Now and then prolong a critical section. */
void verify_linger(struct trial *t);
/* The sums of the words and of the counters in this rank's cells. */
void cells_sum(struct trial *t, uint64_t *sums);

/* --------------------------------------------------------------------- dht */

int dht_open(struct trial *t); /* collective */
void dht_close(struct trial *t);
void dht_run(struct trial *t);
uint64_t dht_iterations(const struct trial *t);

/* ---------------------------------------------------------------- watchdog */

/* The time that a step may take beyond its expected time; 0: for ever. */
void watchdog_start(const struct team *t, int seconds, double expected);
/* The next step, and its expected time. The strings must stay valid; table may be NULL. */
void watchdog_step(const char *who, const char *what, const char *step);
void watchdog_at(const char *at); /* for the report; cheap */
void watchdog_rest(void);

/* ------------------------------------------------------------------ report */

/* All repetitions of one contestant at one workload. */
struct result {
	const struct contestant *who;
	const struct workload *what;
	int ranks, nodes, active, repetitions;
	double fw;
	uint64_t n;
	char skipped[200]; /* why it did not run, or "" */
	char transport[16], topology[128], parameters[160];
	pawl_table *table;       /* from one repetition to the next */
	struct outcome *outcome; /* by repetition */
};

/* Medians over the repetitions; sums for acquires, seconds and violations. */
struct outcome result_sum(const struct result *r);
void report_table(const struct settings *s, const struct result *results, int count);
void report_json(FILE *out, const struct settings *s, const struct result *r);
void report_list(FILE *out);
/* The progress of a workload: contestants take turns, one repetition each. */
struct progress {
	const char *program, *what, *who;
	int done, total;   /* turns */
	bool ended;        /* it was the last turn of this lock */
	uint64_t since_ns; /* when the first turn began */
	uint64_t said_ns;  /* the last line */
};
/* Before and after each turn; done == total: it is over. */
void report_progress(const struct settings *s, struct progress *p);

/* ------------------------------------------------------------------ native */

/* Before MPI_Init. */
void native_prepare(void);
/* A sentence about the setting that was made, or NULL. */
const char *native_note(void);
/* "Open MPI 4.1.4" */
const char *native_name(void);

#endif
