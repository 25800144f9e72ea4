/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of pawl-bench share. pawl-sim uses those marked with * as well.
 *
 *   pawl-bench.c    main: contestants take turns in each repetition
 *   contestants.c   * the locks that take part
 *   trial.c         one contestant, one workload, once: set up, verify, time
 *   verify.c        the data that locks protect, and the check of mutual exclusion
 *   picks.c         draws locks and modes
 *   native.c        the name of the MPI, and a setting that it needs
 *   watchdog.c      ends a run that hangs
 *   ../cli/         * options.c: the table of options; cli.c: reads a command line by it;
 *                   checks.c: which names and options go together
 *   ../measure/     * clock, random numbers, histograms, medians
 *   ../results/     outcome.c combines the measurements of all ranks; * medians over the
 *                   repetitions, the table, JSON lines, lists, progress
 *   ../workloads/   list.c: all of them; a folder for each paper
 */
#ifndef PAWL_BENCH_H
#define PAWL_BENCH_H

#include "benchmarks/cli/settings.h"
#include "benchmarks/harness/contestants.h"
#include "benchmarks/harness/native.h"
#include "benchmarks/harness/pace.h"
#include "benchmarks/harness/picks.h"
#include "benchmarks/harness/team.h"
#include "benchmarks/harness/trial.h"
#include "benchmarks/harness/verify.h"
#include "benchmarks/harness/watchdog.h"
#include "benchmarks/harness/workload.h"
#include "benchmarks/measure/clock.h"
#include "benchmarks/measure/random.h"
#include "benchmarks/measure/spread.h"
#include "benchmarks/measure/statistics.h"
#include "benchmarks/measure/zipf.h"
#include "benchmarks/results/outcome.h"
#include "benchmarks/results/progress.h"
#include "benchmarks/results/report.h"
#include "benchmarks/workloads/alock/locktable.h"
#include "benchmarks/workloads/rma_rw/rma_rw.h"
#include "benchmarks/workloads/shiftlock/shiftlock.h"

/* Exit codes. */
enum { BENCH_OK = 0, BENCH_VIOLATION = 1, BENCH_USAGE = 2, BENCH_HANG = 3 };

#endif
