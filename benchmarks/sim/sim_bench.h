/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of pawl-sim share, besides the files of pawl-bench that bench.h marks.
 *
 *   pawl-sim.c   main: one world for each lock, workload and repetition
 *   pawl-tune.c  main of another program: thresholds for a goal
 *   tune.c       its search
 *   machines.c   the files of machines
 *   run.c        a world of a machine: set-up, run, results
 *   play.c       the workloads in virtual time
 *   steady.c     whether a run is steady
 *   table.c      the hash table in virtual time
 *   apps.c       transactions and files in virtual time
 */
#ifndef PAWL_SIM_BENCH_H
#define PAWL_SIM_BENCH_H

#include "benchmarks/harness/bench.h"
#include "benchmarks/cli/cli.h"
#include "benchmarks/sim/steady.h"
#include "benchmarks/workloads/described.h"
#include "sim/machine.h"

/* Words of protected data, each in a cache line. */
enum { SIM_CELLS = 1 << 16 };

/* The counts of a rank in the measured part. */
struct sim_part {
	uint64_t acquires, exclusive;
	uint64_t inserted, missed; /* of the hash table, in the whole run */
	struct rma_client data;    /* for its operations on the protected data */
	struct spans spans;        /* the law of its ranges */
	uint64_t turn;             /* the number of its turn, in workloads that need it */
	sim_time next_poll;        /* of a space that grows by call */
	struct tpcc tpcc;
	struct grid_run *run; /* of BT-IO's grid, */
	uint64_t runs, next;  /* how many, and the next one, */
	bool reads;           /* which is read, as all are written */
	int client;           /* among the active ones */
	bool is_active;
};

/* One contestant, one workload, one repetition. */
struct sim_run {
	const struct settings *set;
	const struct contestant *contestant;
	const struct workload *workload;
	const struct machine *machine;
	int ranks, active;
	uint32_t writers; /* of 2^32 acquires */
	struct zipf zipf; /* by which locks are drawn, if there is a law */
	uint64_t warm, most;
	sim_time limit; /* of the measured part, at least */

	struct sim_world *world;
	struct sim_part *part;
	uint64_t done;
	bool measuring, over;
	sim_time start, end;
	uint64_t before[RMA_NCALLS][2], after[RMA_NCALLS][2];
	uint64_t waits, aborts, leases_lost, forgotten;
	uint32_t failures; /* of 2^32 acquires: the lock is forgotten */
	uint64_t timeline[TIMELINE + 1];
	struct steady steady;
	char unsteady[STEADY_TEXT];            /* why it is not, or "" */
	struct times hist, series[MAX_SERIES]; /* of picoseconds */

	/* The homes of locks, if the options do not determine them. */
	uint64_t *homes; /* by lock */
	uint64_t block;  /* locks a rank, the most */
	/* Of a workload with near and far locks. */
	struct locktable *node_locks; /* by node */

	/* The hash table. */
	uint64_t buckets, heap;
	int owner;
};

/* BENCH_OK and *out; BENCH_USAGE if the contestant cannot take part; BENCH_VIOLATION or BENCH_HANG
 * if a lock failed: why has a message. */
int sim_run(struct sim_run *run, struct result *r, struct outcome *out, char *why, size_t whylen);

/* The options of a run: defaults, those of the command line, then the environment. */
int sim_read_options(const struct sim_run *run, const struct lock_protocol *p, struct options *o);

/* machines.c: a machine by its name, or a file if the name has a slash; false: err has a message.
 */
bool sim_open_machine(const struct settings *s, struct machine *m, char *err, size_t errlen);
bool sim_list_machines(const struct settings *s, FILE *out);

/* play.c: what each rank does. */
void sim_play(struct sim_rank *r);
static inline struct sim_run *sim_run_of(const struct sim_rank *r)
{
	return r->world->request.user;
}
static inline struct sim_part *sim_part_of(const struct sim_rank *r)
{
	return &sim_run_of(r)->part[r->id];
}
/* Acquires, unless the contestant has no lock. */
void sim_enter(struct sim_rank *r, uint64_t lock, int mode);
void sim_leave(struct sim_rank *r);

/* The current workload, a row of workloads[]. */
enum sim_workload {
	PLAY_LB,
	PLAY_ECSB,
	PLAY_SOB,
	PLAY_OSOB,
	PLAY_WCSB,
	PLAY_WARB,
	PLAY_DHT,
	PLAY_LOCKTABLE,
	PLAY_MICRO,
	PLAY_TATP,
	PLAY_TPCC,
	PLAY_BANK,
	PLAY_RANGE,
	PLAY_RANGE_GROW,
	PLAY_BTIO,
	PLAY_OLTP
};
static inline enum sim_workload sim_workload_of(const struct sim_run *run)
{
	return (enum sim_workload)(run->workload - workloads);
}
/* A lock of the workload's law. */
uint64_t sim_pick(struct sim_rank *r);
/* Access the word of a lock, at its home. */
void sim_touch(struct sim_rank *r, uint64_t lock, bool exclusive);
/* Record a turn, unless the warm-up lasts; part: the series that it also belongs to. */
void sim_note_turn(struct sim_rank *r, sim_time took, bool exclusive);
void sim_note_part(struct sim_run *run, int part, sim_time took);

/* apps.c; false: why says what does not fit. */
bool sim_apps_fit(const struct sim_run *run, int nodes, char *why, size_t whylen);
bool sim_apps_start(struct sim_rank *r);
void sim_apps_end(struct sim_part *part);
void sim_transaction_turn(struct sim_rank *r);
void sim_file_turn(struct sim_rank *r);

/* table.c */
uint64_t sim_table_bytes(struct sim_run *run);
/* An insert or a look-up. */
void sim_table_turn(struct sim_rank *r);
/* Elements that are lost or surplus at the end. */
uint64_t sim_table_wrong(struct sim_run *run);

#endif
