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
 *   ../measure    * clock, random numbers, histograms, medians
 *   watchdog.c    ends a run that hangs
 *   medians.c     * medians over the repetitions
 *   report.c      * the table; json.c: * the JSON lines
 *   native.c      the name of the MPI, and a setting that it needs
 */
#ifndef PAWL_BENCH_H
#define PAWL_BENCH_H

#include "benchmarks/harness/contestants.h"
#include "benchmarks/harness/native.h"
#include "benchmarks/harness/outcome.h"
#include "benchmarks/harness/picks.h"
#include "benchmarks/harness/report.h"
#include "benchmarks/harness/settings.h"
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
#include "benchmarks/workloads/alock/locktable.h"
#include "benchmarks/workloads/rma_rw/rma_rw.h"
#include "benchmarks/workloads/shiftlock/shiftlock.h"

/* Exit codes. */
enum { BENCH_OK = 0, BENCH_VIOLATION = 1, BENCH_USAGE = 2, BENCH_HANG = 3 };

#endif
