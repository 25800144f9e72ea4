/* SPDX-License-Identifier: BSD-3-Clause */
/* The workloads that pawl-bench and pawl-sim both have: members of struct workload, to which each
 * of the programs adds its own. */
#ifndef PAWL_BENCH_DESCRIBED_H
#define PAWL_BENCH_DESCRIBED_H

#include "benchmarks/harness/bench.h"
#include "benchmarks/workloads/citron/ranges.h"
#include "benchmarks/workloads/shiftlock/txn.h"

/* clang-format off */
#define DESCRIBED_LB .name = "lb", .n = 1, .fw = 100, \
	.summary = "latency of acquire + release"

#define DESCRIBED_ECSB .name = "ecsb", .n = 1, .fw = 100, .flags = W_PACED, \
	.summary = "throughput, empty critical section"

#define DESCRIBED_SOB .name = "sob", .n = 1, .fw = 100, .flags = W_PACED, \
	.summary = "throughput, one memory access in the critical section"

#define DESCRIBED_OSOB .name = "osob", .n = 1, .fw = 20, .flags = W_OPTIMISTIC, \
	.summary = "throughput, as sob, with optimistic reads (kinds with that capability)"

#define DESCRIBED_WCSB .name = "wcsb", .n = 1, .fw = 100, .flags = W_PACED, \
	.summary = "throughput, increment of a counter and 1-4 us of work in the critical section"

#define DESCRIBED_WARB .name = "warb", .n = 1, .fw = 100, .flags = W_PACED, \
	.summary = "throughput, 1-4 us of work after the release"

#define DESCRIBED_DHT .name = "dht", .n = 1, .fw = 100, .flags = W_BY_ITSELF, \
	.summary = "distributed hash table: inserts (--fw) and look-ups in one rank's volume"

#define DESCRIBED_LOCKTABLE .name = "locktable", .n = 1000, .fw = 100, \
	.flags = W_CDF | W_NEAR_AND_FAR | W_PACED, \
	.summary = "throughput, locks of the client's own node (--locality) and of others"

#define DESCRIBED_MICRO .name = "micro", .n = 100000, .fw = 50, .held = 1, .series = micro_series, \
	.flags = W_PACED, \
	.summary = "throughput and parts of the latency, readers and writers at many locks"

#define DESCRIBED_TATP .name = "tatp", .n = TATP_LOCKS, .fw = 100, .held = TATP_HELD, \
	.series = tatp_types, .flags = W_CDF | W_FIXED | W_TRANSACTIONS, \
	.summary = "transactions of TATP (telecom, 80 % readers), two-phase locking"

#define DESCRIBED_TPCC .name = "tpcc", .n = TPCC_LOCKS, .fw = 100, .held = TPCC_HELD, \
	.series = tpcc_types, .flags = W_CDF | W_DEALT | W_FIXED | W_TRANSACTIONS, \
	.summary = "transactions of TPC-C (87 % writers), two-phase locking"

#define DESCRIBED_BANK .name = "bank", .n = 1000000, .fw = 85, .held = BANK_LOCKS, \
	.series = bank_series, .flags = W_CDF | W_FREE_ANYWHERE | W_TRANSACTIONS, \
	.summary = "transfers (--fw) and reads of balances in a Redis server"

#define DESCRIBED_BTIO .name = "btio", .n = 1, .fw = 100, .flags = W_FIXED | W_RANGES | W_FILES, \
	.reference = "ss", .series = file_series, .units = btio_units, \
	.summary = "interleaved writes and reads of BT-IO, in a file in memory (--grid)"

#define DESCRIBED_OLTP .name = "oltp", .n = OLTP_FILES, .fw = 100, \
	.flags = W_FIXED | W_RANGES | W_FILES, \
	.reference = "ss", .series = oltp_series, .units = oltp_units, \
	.summary = "reads and writes of Filebench's OLTP, in 11 files in memory (--file)"

#define DESCRIBED_RANGE .name = "range", .n = 1, .fw = 100, .zipf = 0.9, .space = 1 << 28, \
	.flags = W_RANGES | W_LENGTHS, .reference = "ss", .series = range_series, \
	.summary = "throughput, ranges of one space (--length, --space, --zipf)"

#define DESCRIBED_RANGE_GROW .name = "range-grow", .n = 1, .fw = 100, .space = 1 << 10, \
	.flags = W_FIXED | W_RANGES | W_FRESH | W_TIMELINE | W_GROWS, .reference = "ss", \
	.summary = "throughput over time, records of IO500's hard write in a space that grows"
/* clang-format on */

#endif
